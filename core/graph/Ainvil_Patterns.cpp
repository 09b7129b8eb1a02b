// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_GraphAlgebra.hpp"

#include "backend/Ainvil_LoopProgress.hpp"
#include "backend/Ainvil_Profiling.hpp"
#include "graph/Ainvil_BothTriangles.hpp"
#include "graph/Ainvil_CollectRows.hpp"
#include "graph/Ainvil_Symmetry.hpp"

#include <cmath>

namespace ainvil {
namespace {

using detail::Range;

/// Sorted lists for the pattern power: row i of the power so far, and its rows j for the entries
/// (i, j) of T, which are fewer than those of the power.
template <class Device>
struct PowerLists {
  Graph<Device> power;
  Graph<Device> factor;

  KOKKOS_FUNCTION Ordinal count(Ordinal row) const {
    return static_cast<Ordinal>(factor.row_map(row + 1) - factor.row_map(row)) + 1;
  }
  KOKKOS_FUNCTION Ordinal source(Ordinal row, Ordinal k) const {
    return k == 0 ? row : factor.entries(factor.row_map(row) + k - 1);
  }
  KOKKOS_FUNCTION Offset begin(Ordinal row, Ordinal k) const {
    return power.row_map(source(row, k));
  }
  KOKKOS_FUNCTION Ordinal length(Ordinal row, Ordinal k) const {
    const Ordinal j = source(row, k);
    return static_cast<Ordinal>(power.row_map(j + 1) - power.row_map(j));
  }
  KOKKOS_FUNCTION Ordinal at(Offset position) const { return power.entries(position); }
};

/// Collects the j > i of row i of the factor U of ILU(steps - 1): those that a path of at most
/// `steps` edges of the graph leads to from i, all of whose vertices in between come before i. A
/// search in breadth; the vertices before i are its list, in the order of their distances. The last
/// step looks for none of these: it goes through rows from their ends and leaves them at i.
template <class Device>
struct FillSearch {
  Graph<Device> graph;
  Ordinal steps;

  KOKKOS_FUNCTION Ordinal above(Ordinal row) const { return row; }
  template <class Group, class Set>
  KOKKOS_FUNCTION void collect(const Group& group, Ordinal row, Set& set) const {
    bool last = steps == 1;
    const auto reach = [&](Ordinal from, Ordinal m) {
      const Ordinal j = graph.entries(graph.row_map(from + 1) - 1 - m);
      if (last && j <= row)
        return false;
      if (set.insert(j) && j < row)
        set.remember(j);
      return true;
    };
    group.forEach(1, [&](int) { set.insert(row); });
    const auto length = [&](Ordinal from) {
      return static_cast<Ordinal>(graph.row_map(from + 1) - graph.row_map(from));
    };
    detail::visitLists(
        group, 1, [&](Ordinal) { return length(row); },
        [&](Ordinal, Ordinal m) { return reach(row, m); });
    Ordinal begin = 0;
    for (Ordinal step = 1; step < steps && !set.full(); ++step) {
      const Ordinal end = set.listed();
      group.join(); // before any lane remembers more
      if (begin == end)
        break;
      last = step + 1 == steps;
      detail::visitLists(
          group, end - begin, [&](Ordinal k) { return length(set.list(begin + k)); },
          [&](Ordinal k, Ordinal m) { return reach(set.list(begin + k), m); });
      begin = end;
    }
  }
};

/// Both triangles row by row, the lower one with its diagonal, which comes last.
template <class Device>
Graph<Device> joinTriangles(const typename Device::execution_space& exec,
                            const Graph<Device>& lower, const Graph<Device>& upper) {
  using Exec = typename Device::execution_space;
  const Ordinal n = lower.num_rows;
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(n) + 1);
  const Offset total = lower.numEntries() + upper.numEntries();
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", total);
  Kokkos::parallel_for(
      "Ainvil::joinTriangles", Range<Exec>(exec, 0, Offset(n) + 1), KOKKOS_LAMBDA(const Offset i) {
        Offset at = lower.row_map(i) + upper.row_map(i);
        row_map(i) = at;
        if (i == n)
          return;
        for (Offset e = lower.row_map(i); e < lower.row_map(i + 1); ++e)
          entries(at++) = lower.entries(e);
        for (Offset e = upper.row_map(i); e < upper.row_map(i + 1); ++e)
          entries(at++) = upper.entries(e);
      });
  return {n, n, row_map, entries};
}

/// Throws InvalidArgument unless there is a pattern of fill.
template <class Device>
void checkFill(const Graph<Device>& graph, int level) {
  detail::requireSquare("an incomplete factorisation", graph.num_rows, graph.num_cols);
  if (level < 0)
    throw InvalidArgument(message("the fill level must not be negative, but it is ", level));
}

/// Without the sources of the entries, of a square graph without diagonal entries if they are
/// added.
template <class Device>
Graph<Device> transposedGraph(const typename Device::execution_space& exec,
                              const Graph<Device>& graph, Diagonal diagonal = Diagonal::Drop) {
  const Offset added = diagonal == Diagonal::Keep ? graph.num_rows : 0;
  const auto row_map =
      allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(graph.num_cols) + 1);
  const auto entries =
      allocate<Ordinal, Device>(exec, "Ainvil::entries", graph.numEntries() + added);
  return detail::transposeInto<Device>(exec, graph, row_map, entries, {}, diagonal);
}

/// The pattern of U without its diagonal. A path has no more edges than there are vertices.
template <class Device>
Graph<Device> fillAbove(const typename Device::execution_space& exec, const Graph<Device>& graph,
                        int level, const std::function<void(Offset)>& progress) {
  const Ordinal steps = level < graph.num_rows ? level + 1 : graph.num_rows;
  return detail::collectRows<Device>(exec, "Ainvil::fillPattern", graph.num_rows, graph.num_rows,
                                     FillSearch<Device>{graph, steps},
                                     std::pow(graph.meanRowLength(), steps), progress);
}

} // namespace

template <class Device>
Graph<Device> patternPower(const typename Device::execution_space& exec, const Graph<Device>& graph,
                           int power) {
  detail::requireSquare("a pattern power", graph.num_rows, graph.num_cols);
  if (power < 1)
    throw InvalidArgument(message("the pattern power must be at least 1, but it is ", power));
  ScopedRegion region("Ainvil::patternPower");
  Graph<Device> result = graph;
  Offset before = -1;
  for (int p = 2; p <= power && before < result.numEntries(); ++p) {
    before = result.numEntries();
    result = detail::unionOfSortedLists<Device>(
        exec, "Ainvil::patternPower", graph.num_rows, graph.num_cols,
        PowerLists<Device>{result, graph}, result.meanRowLength() * (1 + graph.meanRowLength()));
  }
  return result;
}

template <class Device>
FillTriangles<Device> fillTriangles(const typename Device::execution_space& exec,
                                    const Graph<Device>& graph, int level,
                                    const std::function<void(Offset)>& progress) {
  checkFill(graph, level);
  ScopedRegion region("Ainvil::fillPattern");
  if (level == 0)
    return detail::bothTriangles(exec, graph);
  // A path to a lower entry (i, j) comes through vertices before j: turned round it is a path from
  // j to i in the transposed graph, an upper entry there.
  const bool symmetric = detail::isSymmetricPattern(exec, graph);
  const Graph<Device> upper =
      fillAbove(exec, graph, level, symmetric ? progress : detail::shareOf(progress, 0, 2));
  const Graph<Device> left = symmetric ? upper
                                       : fillAbove(exec, transposedGraph(exec, graph), level,
                                                   detail::shareOf(progress, graph.num_rows, 2));
  return {transposedGraph(exec, left, Diagonal::Keep), upper};
}

template <class Device>
Graph<Device> fillLower(const typename Device::execution_space& exec, const Graph<Device>& graph,
                        int level, Diagonal diagonal, const std::function<void(Offset)>& progress) {
  checkFill(graph, level);
  ScopedRegion region("Ainvil::fillPattern");
  if (level == 0)
    return triangle(exec, graph, Uplo::Lower, diagonal);
  const Graph<Device> turned =
      detail::isSymmetricPattern(exec, graph) ? graph : transposedGraph(exec, graph);
  return transposedGraph(exec, fillAbove(exec, turned, level, progress), diagonal);
}

template <class Device>
Graph<Device> fillPattern(const typename Device::execution_space& exec, const Graph<Device>& graph,
                          int level) {
  const FillTriangles<Device> factors = fillTriangles(exec, graph, level);
  return joinTriangles(exec, factors.lower, factors.upper);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template Graph<DEVICE> patternPower<DEVICE>(const typename DEVICE::execution_space&,             \
                                              const Graph<DEVICE>&, int);                          \
  template FillTriangles<DEVICE> fillTriangles<DEVICE>(const typename DEVICE::execution_space&,    \
                                                       const Graph<DEVICE>&, int,                  \
                                                       const std::function<void(Offset)>&);        \
  template Graph<DEVICE> fillPattern<DEVICE>(const typename DEVICE::execution_space&,              \
                                             const Graph<DEVICE>&, int);                           \
  template Graph<DEVICE> fillLower<DEVICE>(const typename DEVICE::execution_space&,                \
                                           const Graph<DEVICE>&, int, Diagonal,                    \
                                           const std::function<void(Offset)>&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
