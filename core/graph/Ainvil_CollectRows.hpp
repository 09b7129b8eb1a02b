// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// New patterns whose rows are collected one by one, each from lists of columns in any order.

#include "backend/Ainvil_LoopProgress.hpp"
#include "graph/Ainvil_CollectByTeams.hpp"

#include <atomic>
#include <functional>

namespace ainvil {
namespace detail {

// A collector says what a row is made of. It is copied to the device and has
//   template <class Group, class Set>
//   void collect(const Group& group, Ordinal row, Set& set) const;
// which inserts columns into an empty set, shared by the lanes of the group and joined at the end,
// and may stop early once set.full(); and
//   Ordinal above(Ordinal row) const;
// the columns that the row receives are those of the set above it, -1 for all.

/// On a host: by one pass. Threads take chunks of rows, so that long ones are levelled out, and
/// keep them where they are until the offsets are known. Memory: twice the result for a moment, and
/// for every thread an eighth of a byte a column, and an index for each that is remembered. To tell
/// `progress` all threads stop, each after several chunks.
template <class Device, class Collector>
Graph<Device> collectOnHost(const typename Device::execution_space& exec, const char* label,
                            Ordinal num_rows, Ordinal num_cols, const Collector& collector,
                            const std::function<void(Offset)>& progress) {
  using Exec = typename Device::execution_space;
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(num_rows) + 1);
  const int threads = std::max(1, exec.concurrency());
  const Ordinal at_a_time = rowsOfLaunch(num_rows, 64 * threads, progress);
  const Ordinal chunk = std::max(1, std::min(256, at_a_time / (8 * threads)));
  const auto chunksOf = [=](Ordinal rows) { return rows / chunk + (rows % chunk > 0 ? 1 : 0); };
  const Ordinal num_chunks = chunksOf(num_rows);
  return reportingOutOfMemory(label, [&] {
    std::vector<std::vector<Ordinal>> found(num_chunks);
    std::vector<std::unique_ptr<HostColumnSet>> sets;
    for (Ordinal s = 0; s < std::min<Ordinal>(threads, num_chunks); ++s)
      sets.push_back(std::make_unique<HostColumnSet>(num_cols));
    std::atomic<bool> out_of_memory(false); // no exception may leave a parallel region
    const auto collect = [&](const Ordinal first_row, const Ordinal end_row) {
      // Each set works through the chunks of a launch until none is left.
      std::atomic<Ordinal> next_chunk(first_row / chunk);
      const Ordinal end_chunk = chunksOf(end_row);
      Kokkos::parallel_for(
          label, Kokkos::RangePolicy<Exec>(exec, 0, sets.size()), [&](const int s) {
            try {
              HostColumnSet& set = *sets[s];
              for (Ordinal c = next_chunk++; c < end_chunk; c = next_chunk++) {
                const Ordinal end = std::min<Offset>(num_rows, Offset(c + 1) * chunk);
                for (Ordinal row = c * chunk; row < end; ++row) {
                  const std::size_t before = found[c].size();
                  collector.collect(OneLane(), row, set);
                  set.takeAbove(collector.above(row), found[c]);
                  row_map(row) = static_cast<Offset>(found[c].size() - before);
                }
              }
            } catch (const std::bad_alloc&) {
              out_of_memory = true;
            }
          });
      compat::fence(exec, label);
      if (out_of_memory)
        throw std::bad_alloc();
    };
    launchInPieces(exec, num_rows, chunksOf(at_a_time) * chunk, progress, collect);
    const Offset total = countsToOffsets(exec, row_map);
    const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", total);
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, num_chunks), [&](const int c) {
      std::copy(found[c].begin(), found[c].end(), entries.data() + row_map(Offset(c) * chunk));
      std::vector<Ordinal>().swap(found[c]);
    });
    compat::fence(exec, label);
    return Graph<Device>(num_rows, num_cols, row_map, entries);
  });
}

/// The graph whose rows a collector collects, sorted; of `columns` columns in the mean as in
/// CollectByTeams. `progress`, if there is one, is told how many rows are done: on GPUs in the end.
/// Waits.
template <class Device, class Collector>
Graph<Device> collectRows(const typename Device::execution_space& exec, const char* label,
                          Ordinal num_rows, Ordinal num_cols, const Collector& collector,
                          [[maybe_unused]] double columns,
                          const std::function<void(Offset)>& progress = {}) {
  if constexpr (compat::IsGpu<typename Device::execution_space>::value) {
    const Graph<Device> graph =
        CollectByTeams<Device, Collector>(exec, label, num_rows, num_cols, collector).run(columns);
    if (progress)
      progress(num_rows);
    return graph;
  } else {
    return collectOnHost<Device>(exec, label, num_rows, num_cols, collector, progress);
  }
}

/// The graph whose row i is the union of lists k < lists.count(i) of row i, which have `columns`
/// elements in the mean of all rows; a wrong number costs time only. Cost: an insertion an element
/// of the lists, two on GPUs. Waits.
template <class Device, class Lists>
Graph<Device> unionGraph(const typename Device::execution_space& exec, const char* label,
                         Ordinal num_rows, Ordinal num_cols, const Lists& lists, double columns) {
  return collectRows<Device>(exec, label, num_rows, num_cols, UnionOfLists<Lists>{lists}, columns);
}
/// The same for sorted lists, which hosts treat as any others.
template <class Device, class Lists>
Graph<Device> unionOfSortedLists(const typename Device::execution_space& exec, const char* label,
                                 Ordinal num_rows, Ordinal num_cols, const Lists& lists,
                                 double columns) {
  return collectRows<Device>(exec, label, num_rows, num_cols,
                             UnionOfLists<SortedLists<Lists>>{{lists}}, columns);
}

} // namespace detail
} // namespace ainvil
