// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Levels of columns that influence each other as the patterns of the current factors tell.

#include "ainv/Ainvil_ColumnsByRow.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "graph/Ainvil_LevelSets.hpp"

namespace ainvil {
namespace detail {

/// What tells of a factor X which columns influence its columns: i influences j > i if y_i has an
/// entry in a row l of B x_j (AINV: if i is such a row).
template <class Scalar, class Device>
struct InfluenceSide {
  Graph<Device> b_transposed;
  SparseColumns<Scalar, Device> supports; ///< of x_j
  ColumnsByRow<Scalar, Device> y_by_row;
};

/// counts(j) = entries of B x_j, one for every product of entries.
template <class Scalar, class Device>
struct CountInfluences {
  InfluenceSide<Scalar, Device> sides[2];
  int num_sides;
  Kokkos::View<Offset*, Device> counts;

  KOKKOS_FUNCTION void operator()(const Offset column) const {
    const Ordinal j = static_cast<Ordinal>(column);
    Offset count = 0;
    for (int s = 0; s < num_sides; ++s) {
      const SparseColumns<Scalar, Device>& supports = sides[s].supports;
      const auto& row_map = sides[s].b_transposed.row_map;
      for (Offset e = supports.begin(j), end = e + supports.count(j); e < end; ++e)
        count += row_map(supports.rows(e) + 1) - row_map(supports.rows(e));
    }
    counts(j) = count;
  }
};

/// entries(row_map(j)), ... = for each of them the last column i < j that influences j through it,
/// j if there is none. Others that do so influence i, too, where X and Y have one pattern and B a
/// diagonal, so that the level of j is above theirs. Else it may not be, and columns computed by
/// these levels may have to be computed again. A thread a column j, a lane an entry of a column of
/// B.
template <class Scalar, class Device>
struct FillInfluences {
  InfluenceSide<Scalar, Device> sides[2];
  int num_sides;
  bool stabilized;
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> entries;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal j, void*) const {
    Offset to = row_map(j);
    for (int s = 0; s < num_sides; ++s) {
      const InfluenceSide<Scalar, Device>& side = sides[s];
      const Offset begin = side.supports.begin(j), end = begin + side.supports.count(j);
      for (Offset k = begin; k < end; ++k) {
        const Offset from = side.b_transposed.row_map(side.supports.rows(k));
        const Ordinal length =
            static_cast<Ordinal>(side.b_transposed.row_map(side.supports.rows(k) + 1) - from);
        forLanes(member, length, [&](const Ordinal e) {
          entries(to + e) = lastBefore(side, j, side.b_transposed.entries(from + e));
        });
        to += length;
      }
    }
  }

  KOKKOS_FUNCTION Ordinal lastBefore(const InfluenceSide<Scalar, Device>& side, Ordinal j,
                                     Ordinal l) const {
    if (!stabilized)
      return l < j ? l : j;
    Ordinal last = -1;
    side.y_by_row.forEach(l, [&](const Ordinal i) { last = i < j && i > last ? i : last; });
    return last >= 0 ? last : j;
  }
};

/// Level sets of the columns, or none if more than `most_entries` entries are to be looked at, of 4
/// bytes each. Waits. \throws OutOfMemory
template <class Scalar, class Device>
LevelSets<Device> columnLevels(const typename Device::execution_space& exec, Ordinal n,
                               const InfluenceSide<Scalar, Device> (&sides)[2], int num_sides,
                               bool stabilized, Offset most_entries) {
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::influences", size_t(n) + 1);
  Kokkos::parallel_for("Ainvil::columnLevels[count]",
                       Range<typename Device::execution_space>(exec, 0, n),
                       CountInfluences<Scalar, Device>{{sides[0], sides[1]}, num_sides, row_map});
  const Offset total = countsToOffsets(exec, row_map);
  if (total > most_entries)
    return {};
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::influences", total);
  forEachRow(exec, "Ainvil::columnLevels[fill]", n, teamsForRowsOf(sides[0].b_transposed),
             FillInfluences<Scalar, Device>{
                 {sides[0], sides[1]}, num_sides, stabilized, row_map, entries});
  return levelSets(exec, Graph<Device>(n, n, row_map, entries), Uplo::Lower);
}

} // namespace detail
} // namespace ainvil
