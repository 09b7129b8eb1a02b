// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ordering.hpp"

#include "backend/Ainvil_Profiling.hpp"
#include "graph/Ainvil_CollectRows.hpp"

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace ainvil {
namespace {

using Exec = HostDevice::execution_space;
using HostGraph = Graph<HostDevice>;

/// Collects the columns of row i in A and in A^T, without i.
struct Adjacency {
  HostGraph graph, transposed;

  Ordinal above(Ordinal) const { return -1; }
  template <class Group, class Set>
  void collect(const Group&, Ordinal row, Set& set) const {
    for (const HostGraph* list : {&graph, &transposed})
      for (Offset e = list->row_map(row); e < list->row_map(row + 1); ++e)
        if (list->entries(e) != row)
          set.insert(list->entries(e));
  }
};

/// Orders an undirected graph component by component.
class CuthillMckee {
public:
  explicit CuthillMckee(const HostGraph& graph) : graph_(graph), seen_(graph.num_rows, 0) {
    order_.reserve(graph.num_rows);
    for (Ordinal row = 0; row < graph.num_rows; ++row)
      if (!seen_[row])
        appendComponent(row);
  }

  /// The rows in their new order.
  const std::vector<Ordinal>& order() const { return order_; }

private:
  Offset degree(Ordinal row) const { return graph_.row_map(row + 1) - graph_.row_map(row); }
  bool isLower(Ordinal a, Ordinal b) const {
    return degree(a) != degree(b) ? degree(a) < degree(b) : a < b;
  }

  /// Breadth-first searches from one end of the component to the other and back, as long as that
  /// finds ends that are farther apart: each starts from the row of lowest degree in the last level
  /// of the one before (a pseudoperipheral row). The last search, turned round, is the order.
  void appendComponent(Ordinal root) {
    const size_t begin = order_.size();
    int farthest = 0;
    for (int levels = search(root, begin); levels > farthest; levels = search(root, begin)) {
      farthest = levels;
      root = *std::min_element(order_.begin() + last_level_, order_.end(),
                               [&](Ordinal a, Ordinal b) { return isLower(a, b); });
    }
    std::reverse(order_.begin() + begin, order_.end());
  }

  /// The component of the root into order_ from `begin` on, over what an earlier search has left
  /// there: level by level, the new neighbours of each row by ascending degree. Returns how many
  /// levels.
  int search(Ordinal root, size_t begin) {
    for (size_t k = begin; k < order_.size(); ++k)
      seen_[order_[k]] = 0;
    order_.resize(begin);
    order_.push_back(root);
    seen_[root] = 1;
    int levels = 0;
    for (size_t at = begin; at < order_.size(); ++levels) {
      last_level_ = at;
      for (const size_t level_end = order_.size(); at < level_end; ++at) {
        const size_t neighbours = order_.size();
        const Ordinal row = order_[at];
        for (Offset e = graph_.row_map(row); e < graph_.row_map(row + 1); ++e)
          if (!seen_[graph_.entries(e)]) {
            seen_[graph_.entries(e)] = 1;
            order_.push_back(graph_.entries(e));
          }
        std::sort(order_.begin() + neighbours, order_.end(),
                  [&](Ordinal a, Ordinal b) { return isLower(a, b); });
      }
    }
    return levels;
  }

  HostGraph graph_;
  std::vector<char> seen_;
  std::vector<Ordinal> order_;
  size_t last_level_ = 0;
};

void requireGraph(const HostGraph& graph) {
  detail::requireSquare("an ordering or a partition", graph.num_rows, graph.num_cols);
  validate(Exec(), graph);
}

Kokkos::View<Ordinal*, HostDevice> newOrder(Ordinal n) {
  return allocate<Ordinal, HostDevice>(Exec(), "Ainvil::new_to_old", n);
}

} // namespace

Graph<HostDevice> adjacency(const Graph<HostDevice>& graph) {
  ScopedRegion region("Ainvil::adjacency");
  requireGraph(graph);
  const Exec exec;
  return detail::collectRows<HostDevice>(exec, "Ainvil::adjacency", graph.num_rows, graph.num_cols,
                                         Adjacency{graph, transpose(exec, graph).graph},
                                         2 * graph.meanRowLength());
}

Permutation<HostDevice> reverseCuthillMcKee(const Graph<HostDevice>& graph) {
  ScopedRegion region("Ainvil::reverseCuthillMcKee");
  return detail::reportingOutOfMemory("reverseCuthillMcKee()", [&] {
    const CuthillMckee found(adjacency(graph));
    const auto new_to_old = newOrder(graph.num_rows);
    std::copy(found.order().begin(), found.order().end(), new_to_old.data());
    return makePermutation<HostDevice>(Exec(), new_to_old);
  });
}

Permutation<HostDevice> ordering(Ordering method, const Graph<HostDevice>& graph) {
  switch (method) {
  case Ordering::Rcm:
    return reverseCuthillMcKee(graph);
  case Ordering::NestedDissection:
    return nestedDissection(graph);
  case Ordering::Natural:
    break;
  }
  requireGraph(graph);
  return identityPermutation<HostDevice>(Exec(), graph.num_rows);
}

Ordinal bandwidth(const Graph<HostDevice>& graph) {
  Ordinal widest = 0;
  Kokkos::parallel_reduce(
      "Ainvil::bandwidth", detail::Range<Exec>(Exec(), 0, graph.num_rows),
      [=](const Offset row, Ordinal& largest) {
        for (Offset e = graph.row_map(row); e < graph.row_map(row + 1); ++e)
          largest = std::max(largest, std::abs(graph.entries(e) - static_cast<Ordinal>(row)));
      },
      Kokkos::Max<Ordinal>(widest));
  return std::max(widest, 0); // without rows Kokkos::Max gives the smallest Ordinal
}

} // namespace ainvil
