// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The command line of ainvil-triangular-sweeps, and the systems that it names.

#include "SolveSystem.hpp"

#include <string>
#include <vector>

namespace ainvil {
namespace perf {

struct SweepsOptions {
  std::string help; ///< not empty: print it and stop, nothing else is set

  std::string study; ///< residuals, cost, solve or factor
  std::vector<std::string> problems, matrices;
  std::string reorder = "none";
  bool on_host = false;
  std::string csv; ///< file, - for stdout, or empty
  int repeat = 5;  ///< measurements of which the median is reported

  int sweeps = 20;           ///< residuals, solve: most sweeps of a triangular solve
  int runs = 50;             ///< residuals: asynchronous runs
  int factor_sweeps = 5;     ///< solve, factor: most sweeps of the factorisation
  int restart = 50;          ///< solve
  double tolerance = 1e-8;   ///< solve
  int max_iterations = 2000; ///< solve
};

/// Parses the arguments behind the name of the program. Does not need Kokkos to be initialised and
/// opens no file. \throws InvalidArgument
SweepsOptions parseSweepsOptions(const std::vector<std::string>& arguments);

struct NamedSystem {
  std::string name;
  LinearSystem system;
};

/// Number of systems that the options name.
inline size_t numSystems(const SweepsOptions& options) {
  return options.problems.size() + options.matrices.size();
}

/// The k-th of them, reordered. \throws as makeSystem()
NamedSystem makeSystem(const SweepsOptions& options, size_t k);

} // namespace perf
} // namespace ainvil
