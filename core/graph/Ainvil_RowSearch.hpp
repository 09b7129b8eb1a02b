// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Searching in sorted rows, and graphs defined as unions of sorted lists.

#include "Ainvil_BsrMatrix.hpp"
#include "backend/Ainvil_RowTeams.hpp"

#include <climits>

namespace ainvil {
namespace detail {

/// Position of the first entry >= key in the ascending entries[begin, end), or end.
template <class Entries>
KOKKOS_INLINE_FUNCTION Offset lowerBound(const Entries& entries, Offset begin, Offset end,
                                         Ordinal key) {
  while (begin < end) {
    const Offset middle = begin + (end - begin) / 2;
    if (entries(middle) < key)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// Position of key in the ascending entries[begin, end), or -1.
template <class Entries>
KOKKOS_INLINE_FUNCTION Offset findEntry(const Entries& entries, Offset begin, Offset end,
                                        Ordinal key) {
  const Offset position = lowerBound(entries, begin, end, key);
  return position < end && entries(position) == key ? position : Offset(-1);
}

/// What `next` of a list returns past its last element.
constexpr Ordinal list_end = INT_MAX;

/// The smallest column above `last` in a row of a sorted graph, or list_end.
template <class Device>
KOKKOS_INLINE_FUNCTION Ordinal nextInRow(const Graph<Device>& graph, Ordinal row, Ordinal last) {
  const Offset end = graph.row_map(row + 1);
  const Offset at = lowerBound(graph.entries, graph.row_map(row), end, last + 1);
  return at < end ? graph.entries(at) : list_end;
}

/// Enumerates the sorted union of lists(row, 0), lists(row, 1), ...: one reduction over the lanes
/// finds the smallest element above the last one. Stateless, so any number of lists of any length
/// needs no memory.
template <class Lists, class Device, bool Fill>
struct UnionKernel {
  Lists lists;
  Kokkos::View<Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> entries;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*) const {
    const Ordinal num_lists = lists.count(row);
    Offset found = Fill ? row_map(row) : 0;
    Ordinal last = -1;
    while (true) {
      Ordinal next = list_end;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, num_lists),
          [&](const Ordinal k, Ordinal& smallest) {
            const Ordinal candidate = lists.next(row, k, last);
            if (candidate < smallest)
              smallest = candidate;
          },
          Kokkos::Min<Ordinal>(next));
      if (next == list_end)
        break;
      if (Fill)
        Kokkos::single(Kokkos::PerThread(member), [&]() { entries(found) = next; });
      ++found;
      last = next;
    }
    if (!Fill)
      Kokkos::single(Kokkos::PerThread(member), [&]() { row_map(row) = found; });
  }
};

/// counts(i) <- sum over k < i of counts(k), i = 0 .. n
template <class Device>
struct ExclusiveScan {
  Kokkos::View<Offset*, Device> counts;
  Offset n;

  KOKKOS_FUNCTION void operator()(Offset i, Offset& sum, bool final) const {
    const Offset count = i < n ? counts(i) : 0;
    if (final)
      counts(i) = sum;
    sum += count;
  }
};

/// counts(0 .. n - 1) become offsets(0 .. n): an exclusive scan in place. Returns the total; waits.
template <class Exec, class Device>
Offset countsToOffsets(const Exec& exec, const Kokkos::View<Offset*, Device>& counts) {
  const Offset n = static_cast<Offset>(counts.extent(0)) - 1;
  Kokkos::parallel_scan("Ainvil::scan", Range<Exec>(exec, 0, n + 1),
                        ExclusiveScan<Device>{counts, n});
  return readBack(exec, counts, n);
}

/// The graph whose row i is the union of lists(i, k), k < lists.count(i), where lists.next(i, k,
/// last) is the smallest element of list k above `last`, or list_end. Counts, scans, fills.
/// `mean_lists` is the expected number of lists a row.
template <class Device, class Lists>
Graph<Device> unionGraph(const typename Device::execution_space& exec, Ordinal num_rows,
                         Ordinal num_cols, const Lists& lists, double mean_lists) {
  using Exec = typename Device::execution_space;
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(num_rows) + 1);
  Kokkos::View<Ordinal*, Device> entries;
  const RowTeams shape = RowTeams::forWork<Exec>(mean_lists);
  forEachRow(exec, "Ainvil::unionGraph[count]", num_rows, shape,
             UnionKernel<Lists, Device, false>{lists, row_map, entries});
  const Offset total = countsToOffsets(exec, row_map);
  entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", total);
  forEachRow(exec, "Ainvil::unionGraph[fill]", num_rows, shape,
             UnionKernel<Lists, Device, true>{lists, row_map, entries});
  return {num_rows, num_cols, row_map, entries};
}

} // namespace detail
} // namespace ainvil
