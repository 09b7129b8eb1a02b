// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Part of the entries of a graph, row by row.

#include "Ainvil_GraphAlgebra.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace detail {

/// Counts, in counts(row), the entries e of each row with keep(row, e); a warp a row.
template <class Keep, class Device>
struct CountSelected {
  Graph<Device> graph;
  Keep keep;
  Kokkos::View<Offset*, Device> counts;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*) const {
    const Offset begin = graph.row_map(row);
    const Ordinal length = static_cast<Ordinal>(graph.row_map(row + 1) - begin);
    Offset found = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, length),
        [&](const Ordinal k, Offset& sum) { sum += keep(row, begin + k) ? 1 : 0; }, found);
    Kokkos::single(Kokkos::PerThread(member), [&]() { counts(row) = found; });
  }
};

/// Calls write(to, e) for the entries e of each row with keep(row, e), to = row_map(row),
/// row_map(row) + 1, ... in their order.
template <class Keep, class Write, class Device>
struct WriteSelected {
  Graph<Device> graph;
  Keep keep;
  Write write;
  Kokkos::View<const Offset*, Device> row_map;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*) const {
    const Offset begin = graph.row_map(row), to = row_map(row);
    const Ordinal length = static_cast<Ordinal>(graph.row_map(row + 1) - begin);
    Kokkos::parallel_scan(Kokkos::ThreadVectorRange(member, length),
                          [&](const Ordinal k, Ordinal& position, const bool final) {
                            if (!keep(row, begin + k))
                              return;
                            if (final)
                              write(to + position, begin + k);
                            ++position;
                          });
  }
};

/// row_map becomes that of the entries of `graph` with keep(row, e). Returns how many; waits.
template <class Device, class Keep>
Offset countSelected(const typename Device::execution_space& exec, const Graph<Device>& graph,
                     const Keep& keep, const Kokkos::View<Offset*, Device>& row_map) {
  forEachRow(exec, "Ainvil::countSelected", graph.num_rows, teamsForRowsOf(graph),
             CountSelected<Keep, Device>{graph, keep, row_map});
  return countsToOffsets(exec, row_map);
}

template <class Device, class Keep, class Write>
void writeSelected(const typename Device::execution_space& exec, const Graph<Device>& graph,
                   const Keep& keep, const Write& write,
                   const Kokkos::View<const Offset*, Device>& row_map) {
  forEachRow(exec, "Ainvil::writeSelected", graph.num_rows, teamsForRowsOf(graph),
             WriteSelected<Keep, Write, Device>{graph, keep, write, row_map});
}

template <class Device>
struct WriteColumn {
  Kokkos::View<const Ordinal*, Device> from;
  Kokkos::View<Ordinal*, Device> to;
  Kokkos::View<Offset*, Device> source; ///< or empty

  KOKKOS_FUNCTION void operator()(Offset position, Offset e) const {
    to(position) = from(e);
    if (source.data() != nullptr)
      source(position) = e;
  }
};

/// The graph of the entries of `graph` with keep(row, e), in their order; if wanted, where they
/// come from. Where all are kept, and nobody wants that, it is `graph` itself.
template <class Device, class Keep>
PermutedGraph<Device> select(const typename Device::execution_space& exec,
                             const Graph<Device>& graph, const Keep& keep, bool with_source) {
  const auto row_map =
      allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(graph.num_rows) + 1);
  const Offset total = countSelected(exec, graph, keep, row_map);
  if (total == graph.numEntries() && !with_source)
    return {graph, {}};
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", total);
  Kokkos::View<Offset*, Device> source;
  if (with_source)
    source = allocate<Offset, Device>(exec, "Ainvil::source", total);
  writeSelected(exec, graph, keep, WriteColumn<Device>{graph.entries, entries, source},
                Kokkos::View<const Offset*, Device>(row_map));
  return {Graph<Device>(graph.num_rows, graph.num_cols, row_map, entries), source};
}

template <class Device, class Keep>
Graph<Device> selectEntries(const typename Device::execution_space& exec,
                            const Graph<Device>& graph, const Keep& keep) {
  return select(exec, graph, keep, false).graph;
}

template <class Device, class Keep>
PermutedGraph<Device> selectWithSource(const typename Device::execution_space& exec,
                                       const Graph<Device>& graph, const Keep& keep) {
  return select(exec, graph, keep, true);
}

} // namespace detail
} // namespace ainvil
