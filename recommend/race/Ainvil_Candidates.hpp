// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Which configurations a race tries, in which order, and what comes after the best of them.

#include "Ainvil_Recommend.hpp"
#include "race/Ainvil_MatrixTraits.hpp"

namespace ainvil {
namespace detail {

/// A preconditioner with the solvers that it is tried with.
struct Candidate {
  std::string precond;
  int block_size;
  std::vector<std::pair<std::string, int>> solvers; ///< names and restart lengths
  /// The set-up takes at least about `growth` times that of `parent`, if that has been seen.
  std::string parent = {};
  double growth = 1;
};

/// A specification with another value for a key, or with that key besides. Match, reorder and level
/// come first, power, relax, storage and poly last, and level=0 is left out: the same configuration
/// has the same text.
std::string changed(const std::string& specification, const std::string& key,
                    const std::string& value);

/// What to begin with, the most promising first, and behind them what solves the matrices that
/// these leave unsolved.
std::vector<Candidate> firstCandidates(const MatrixTraits& traits, bool gpu, bool single_precision);

/// What differs in one thing from an entry that converged, or is ahead. May name what has run.
std::vector<Candidate> neighbours(const RaceEntry& entry, const MatrixTraits& traits, bool gpu);

} // namespace detail
} // namespace ainvil
