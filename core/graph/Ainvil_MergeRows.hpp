// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Unions of a few sorted lists a row, a thread a row: for GPUs, where short rows leave the lanes
/// of a warp without work.

#include "backend/Ainvil_Lanes.hpp"
#include "graph/Ainvil_ColumnSets.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace detail {

/// Collects unions of lists. `Lists` has count(row), how many there are; length(row, k) of list k;
/// and element(row, k, m), in any order.
template <class Lists>
struct UnionOfLists {
  Lists lists;

  KOKKOS_FUNCTION Ordinal above(Ordinal) const { return -1; }
  template <class Group, class Set>
  KOKKOS_FUNCTION void collect(const Group& group, Ordinal row, Set& set) const {
    visitLists(
        group, lists.count(row), [&](const Ordinal k) { return lists.length(row, k); },
        [&](const Ordinal k, const Ordinal m) {
          set.insert(lists.element(row, k, m));
          return true;
        });
  }
};

/// Sorted lists for UnionOfLists: `Lists` has begin(row, k), where list k begins, and at(position),
/// the element there. Those of a list lie one after the other, in ascending order, equal ones
/// allowed.
template <class Lists>
struct SortedLists : Lists {
  KOKKOS_FUNCTION Ordinal element(Ordinal row, Ordinal k, Ordinal m) const {
    return this->at(this->begin(row, k) + m);
  }
};

/// Whether the rows of a collector can be merged.
template <class Collector>
struct IsMergeable : std::false_type {};
template <class Lists>
struct IsMergeable<UnionOfLists<SortedLists<Lists>>> : std::true_type {};

/// Merges the lists of a row,
///   next column = min_k head_k, and every list with that head goes on,
/// with the heads in registers. Counts the row, -1 where the lists are too many or too long for a
/// thread, or writes it. Cost: lists times columns.
template <class Device, class Lists, bool Fill>
struct MergeRow {
  static constexpr int most_lists = 16;
  /// A thread that merges so many takes about as long as a launch with all others.
  static constexpr Offset most_elements = 2048;
  Lists lists;
  Kokkos::View<Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> entries;

  KOKKOS_FUNCTION void operator()(Offset index) const {
    const Ordinal row = static_cast<Ordinal>(index);
    const Ordinal count = lists.count(row);
    Offset position[most_lists];
    Ordinal left[most_lists], head[most_lists];
    Offset total = 0;
    unrolled<most_lists>([&](const int k) {
      left[k] = k < count ? lists.length(row, k) : 0;
      position[k] = left[k] > 0 ? lists.begin(row, k) : 0;
      head[k] = left[k] > 0 ? lists.at(position[k]) : list_end;
      total += left[k];
    });
    if (count > most_lists || total > most_elements) {
      if (!Fill)
        row_map(row) = -1;
      return;
    }
    Offset next = Fill ? row_map(row) : 0;
    for (;; ++next) {
      Ordinal least = list_end;
      unrolledWhile<most_lists>([&](const int k) {
        least = head[k] < least ? head[k] : least;
        return k + 1 < count;
      });
      if (least == list_end)
        break;
      if constexpr (Fill)
        entries(next) = least;
      unrolledWhile<most_lists>([&](const int k) {
        while (head[k] == least)
          head[k] = --left[k] > 0 ? lists.at(++position[k]) : list_end;
        return k + 1 < count;
      });
    }
    if (!Fill)
      row_map(row) = next;
  }
};

} // namespace detail
} // namespace ainvil
