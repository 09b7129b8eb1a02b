// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Short runs of consecutive rows of a triangular pattern, of which groups of rows are made, and
/// the groups.

#include "backend/Ainvil_KernelArrays.hpp"

#include <vector>

namespace ainvil {
namespace detail {

/// Rows in the order of a substitution: position p is row p of a lower triangle and row n - 1 - p
/// of an upper one, which goes upwards.
struct RowPositions {
  Ordinal num_rows;
  bool lower;

  /// Of a row; or the row at a position.
  Ordinal operator()(Ordinal row) const { return lower ? row : num_rows - 1 - row; }
};

/// Consecutive positions of a triangle, unit by unit.
struct RowUnits {
  std::vector<Ordinal> first;       ///< position; one behind the last
  std::vector<Offset> work;         ///< entries and rows of all units before; one behind the last
  std::vector<Offset> first_source; ///< of each unit; one behind the last
  std::vector<Ordinal> sources;     ///< units before it that rows of a unit have entries in

  Ordinal count() const { return static_cast<Ordinal>(first.size()) - 1; }
  /// Of the units from `begin` up to `end`.
  Offset entries(Ordinal begin, Ordinal end) const {
    return work[end] - work[begin] - (first[end] - first[begin]);
  }
};

/// Units of the triangle `uplo` of a graph on a host with ascending rows; entries outside of the
/// triangle are ignored. A chain, rows each of which has an entry in the one before, is cut into
/// equal parts of at most `longest` rows; parts of two chains are never in one unit, unless both
/// chains have fewer than four rows: then up to `shortest` rows are. Waits. Cost: two passes over
/// the graph by all threads, and one over its rows by one.
RowUnits rowUnits(const HostDevice::execution_space& exec, const KernelGraph& graph, Uplo uplo,
                  Ordinal longest, Ordinal shortest);

/// Groups of consecutive units. A group waits for others as a whole: its step is 1 + the highest
/// step of a group that it has entries in, 0 without any.
struct RowGroups {
  std::vector<Ordinal> first; ///< unit; one behind the last
  std::vector<Ordinal> step;  ///< of each
  std::vector<Ordinal> group; ///< of each unit

  Ordinal count() const { return static_cast<Ordinal>(step.size()); }
  /// Makes joinUnits() of so many units allocate nothing.
  void reserve(Ordinal units) {
    first.reserve(size_t(units) + 1);
    step.reserve(size_t(units));
    group.resize(size_t(units));
  }
};

/// Which units may join the group of those before them. Either has the group of a line of a grid
/// end with the line: the next one begins with what depends on the line before alone, and may be
/// done while that is.
enum class Joining {
  Prompt, ///< those that come in its step anyway: nobody waits for longer than he must
  Chained ///< besides, those that have entries in it, which then waits for what they wait for
};

/// Groups of at most `most_work` entries and rows, or of one unit, by one thread.
void joinUnits(const RowUnits& units, Offset most_work, Joining joining, RowGroups& groups);

} // namespace detail
} // namespace ainvil
