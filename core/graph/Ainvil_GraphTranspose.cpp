// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_GraphAlgebra.hpp"

#include "backend/Ainvil_AllocateTogether.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_Profiling.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "graph/Ainvil_SortRows.hpp"

#include <algorithm>
#include <cstdint>

namespace ainvil {
namespace {

using detail::forLanes;
using detail::Range;

/// Writes row i to the next free place, last(j), of every row j of the transposed graph.
template <class Device>
struct TransposeRow {
  Graph<Device> graph;
  Kokkos::View<Offset*, Device> last; ///< last(j + 1) is the place
  Kokkos::View<Ordinal*, Device> entries;
  Kokkos::View<Offset*, Device> source; ///< may be empty
  bool adds_diagonal;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*) const {
    const Offset begin = graph.row_map(row);
    const Ordinal length = static_cast<Ordinal>(graph.row_map(row + 1) - begin);
    forLanes(member, length, [&](const Ordinal k) {
      const Offset at =
          Kokkos::atomic_fetch_add(&last(Offset(graph.entries(begin + k)) + 1), Offset(1));
      entries(at) = row;
      if (source.data() != nullptr)
        source(at) = begin + k;
    });
    if (adds_diagonal)
      Kokkos::single(Kokkos::PerThread(member), [&]() {
        entries(Kokkos::atomic_fetch_add(&last(Offset(row) + 1), Offset(1))) = row;
      });
  }
};

/// The first and the last column that a group of rows has; of one without entries none lie between.
struct ColumnRange {
  Ordinal first = 0, last = -1;
};

/// Groups of consecutive rows that a thread of a host looks at, or not, as a whole. They live on
/// the stack: a transposition allocates nothing.
struct RowGroupsOfColumns {
  static constexpr int most = 1024;

  int count = 1;
  Offset num_rows = 0;
  ColumnRange columns[most];

  Ordinal begin(int group) const { return static_cast<Ordinal>(group * num_rows / count); }
};

/// Groups with their columns, the diagonal among them if it is added; one group of all columns
/// where one thread has to look at everything.
template <class Device>
RowGroupsOfColumns groupRows(const typename Device::execution_space& exec,
                             const Graph<Device>& graph, bool adds_diagonal, bool by_one) {
  RowGroupsOfColumns groups;
  groups.num_rows = graph.num_rows;
  groups.columns[0] = {0, graph.num_cols - 1};
  if (by_one || graph.num_rows == 0)
    return groups;
  constexpr Ordinal least_rows = 64; // of a group
  groups.count = std::max(1, std::min(groups.most, graph.num_rows / least_rows));
  Kokkos::parallel_for(
      "Ainvil::transpose[columns]", Range<typename Device::execution_space>(exec, 0, groups.count),
      [&](const Offset group) {
        const Ordinal begin = groups.begin(static_cast<int>(group));
        const Ordinal end = groups.begin(static_cast<int>(group) + 1);
        const Ordinal* const columns = graph.entries.data();
        const auto [least, most] =
            std::minmax_element(columns + graph.row_map(begin), columns + graph.row_map(end));
        ColumnRange range;
        if (graph.row_map(end) > graph.row_map(begin))
          range = {*least, *most};
        if (adds_diagonal)
          range = range.last < 0
                      ? ColumnRange{begin, end - 1}
                      : ColumnRange{std::min(range.first, begin), std::max(range.last, end - 1)};
        groups.columns[group] = range;
      });
  compat::fence(exec, "Ainvil::transpose[columns]");
  return groups;
}

/// On a host: a thread takes part of the columns and looks for these through the entries of all
/// groups of rows that have some of them, row by row. It shares no counter with others, and what it
/// writes is sorted. Where rows have columns near and far, more than a few threads would be busy
/// looking.
template <class Device>
void transposeOnHost(const typename Device::execution_space& exec, const Graph<Device>& graph,
                     const Kokkos::View<Offset*, Device>& row_map,
                     const Kokkos::View<Ordinal*, Device>& entries,
                     const Kokkos::View<Offset*, Device>& source, bool adds_diagonal) {
  using Exec = typename Device::execution_space;
  const Offset parts = std::max(1, std::min({exec.concurrency(), 16, graph.num_cols}));
  const Ordinal* const columns = graph.entries.data();
  const RowGroupsOfColumns groups = groupRows(exec, graph, adds_diagonal, parts == 1);
  Kokkos::deep_copy(exec, row_map, Offset(adds_diagonal ? 1 : 0));
  const auto inParts = [&](const char* label, const auto& work) {
    Kokkos::parallel_for(label, Range<Exec>(exec, 0, parts), [&](const Offset part) {
      const Offset first = part * graph.num_cols / parts;
      work(first, (part + 1) * graph.num_cols / parts - first);
    });
    compat::fence(exec, label);
  };
  const auto isOf = [](Ordinal column, Offset first, Offset count) {
    return std::uint64_t(column - first) < std::uint64_t(count);
  };
  /// look(row) for the rows of all groups that reach into these columns.
  const auto forRows = [&](Offset first, Offset count, const auto& look) {
    for (int group = 0; group < groups.count; ++group)
      if (groups.columns[group].first < first + count && groups.columns[group].last >= first)
        for (Ordinal row = groups.begin(group); row < groups.begin(group + 1); ++row)
          look(row);
  };
  inParts("Ainvil::transpose[count]", [&](Offset first, Offset count) {
    forRows(first, count, [&](Ordinal row) {
      for (Offset e = graph.row_map(row); e < graph.row_map(row + 1); ++e)
        if (isOf(columns[e], first, count))
          ++row_map(columns[e]);
    });
  });
  detail::countsToOffsets(exec, row_map);
  // row_map(j) moves from the begin of row j to its end, which is the begin of the next one.
  inParts("Ainvil::transpose[fill]", [&](Offset first, Offset count) {
    forRows(first, count, [&](Ordinal row) {
      if (adds_diagonal && isOf(row, first, count))
        entries(row_map(row)++) = row;
      for (Offset e = graph.row_map(row); e < graph.row_map(row + 1); ++e)
        if (isOf(columns[e], first, count)) {
          const Offset at = row_map(columns[e])++;
          entries(at) = row;
          if (source.data() != nullptr)
            source(at) = e;
        }
    });
  });
  std::copy_backward(row_map.data(), row_map.data() + graph.num_cols,
                     row_map.data() + graph.num_cols + 1);
  row_map(0) = 0;
}

} // namespace

template <class Device>
PermutedGraph<Device> sortRows(const typename Device::execution_space& exec,
                               const Graph<Device>& graph) {
  using Exec = typename Device::execution_space;
  ScopedRegion region("Ainvil::sortRows");
  const Offset nnz = graph.numEntries();
  const auto columns = allocate<Ordinal, Device>(exec, "Ainvil::entries", nnz);
  const auto sources = allocate<Offset, Device>(exec, "Ainvil::source", nnz);
  Kokkos::deep_copy(exec, columns, graph.entries);
  Kokkos::parallel_for(
      "Ainvil::sortRows[identity]", Range<Exec>(exec, 0, nnz),
      KOKKOS_LAMBDA(const Offset e) { sources(e) = e; });
  detail::sortKeys<Device>(exec, "Ainvil::sortRows[sort]", graph.row_map, columns, sources);
  const Graph<Device> sorted(graph.num_rows, graph.num_cols, graph.row_map, columns);
  if (!isSorted(exec, sorted))
    throw InvalidArgument("a row holds the same column twice: sum the duplicates first");
  return {sorted, sources};
}

template <class Device>
Graph<Device>
detail::transposeInto(const typename Device::execution_space& exec, const Graph<Device>& graph,
                      const Kokkos::View<Offset*, Device>& row_map,
                      const Kokkos::View<Ordinal*, Device>& entries,
                      const Kokkos::View<Offset*, Device>& source, Diagonal diagonal) {
  using Exec = typename Device::execution_space;
  const bool adds_diagonal = diagonal == Diagonal::Keep;
  if constexpr (!compat::IsGpu<Exec>::value) {
    transposeOnHost(exec, graph, row_map, entries, source, adds_diagonal);
    return {graph.num_cols, graph.num_rows, row_map, entries};
  }
  const auto columns = graph.entries;
  Kokkos::deep_copy(exec, row_map, Offset(0));
  // Element j + 1 is first the length of row j, then its begin; filling moves that to its end.
  Kokkos::parallel_for(
      "Ainvil::transpose[count]", Range<Exec>(exec, 0, graph.numEntries()),
      KOKKOS_LAMBDA(const Offset e) {
        Kokkos::atomic_fetch_add(&row_map(Offset(columns(e)) + 1), Offset(1));
      });
  Kokkos::parallel_scan(
      "Ainvil::transpose[scan]", Range<Exec>(exec, 0, graph.num_cols),
      KOKKOS_LAMBDA(const Offset j, Offset& sum, const bool final) {
        const Offset count = row_map(j + 1) + (adds_diagonal ? 1 : 0);
        if (final)
          row_map(j + 1) = sum;
        sum += count;
      });
  const double mean = graph.num_rows > 0 ? double(graph.numEntries()) / graph.num_rows : 0.0;
  forEachRow(exec, "Ainvil::transpose[fill]", graph.num_rows, RowTeams::forWork<Exec>(mean),
             TransposeRow<Device>{graph, row_map, entries, source, adds_diagonal});
  // The order in which rows arrived depends on the schedule; sorting makes the result unique.
  sortKeys<Device>(exec, "Ainvil::transpose[sort]", row_map, entries, source);
  return {graph.num_cols, graph.num_rows, row_map, entries};
}

template <class Device>
PermutedGraph<Device> transpose(const typename Device::execution_space& exec,
                                const Graph<Device>& graph) {
  ScopedRegion region("Ainvil::transpose");
  const Offset nnz = graph.numEntries();
  const auto [row_map, source] =
      allocateTogether<Offset, Device>(exec, "Ainvil::row_map", size_t(graph.num_cols) + 1, nnz);
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", nnz);
  return {detail::transposeInto<Device>(exec, graph, row_map, entries, source), source};
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template PermutedGraph<DEVICE> sortRows<DEVICE>(const typename DEVICE::execution_space&,         \
                                                  const Graph<DEVICE>&);                           \
  template PermutedGraph<DEVICE> transpose<DEVICE>(const typename DEVICE::execution_space&,        \
                                                   const Graph<DEVICE>&);                          \
  template Graph<DEVICE> detail::transposeInto<DEVICE>(                                            \
      const typename DEVICE::execution_space&, const Graph<DEVICE>&,                               \
      const Kokkos::View<Offset*, DEVICE>&, const Kokkos::View<Ordinal*, DEVICE>&,                 \
      const Kokkos::View<Offset*, DEVICE>&, Diagonal);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
