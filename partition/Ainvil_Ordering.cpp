// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ordering.hpp"

#include "backend/Ainvil_Profiling.hpp"
#include "graph/Ainvil_CollectRows.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>
#include <vector>

namespace ainvil {
namespace {

using Exec = HostDevice::execution_space;
using HostGraph = Graph<HostDevice>;

constexpr std::pair<const char*, Ordering> names[] = {{"natural", Ordering::Natural},
                                                      {"rcm", Ordering::Rcm},
                                                      {"nd", Ordering::NestedDissection},
                                                      {"colour", Ordering::Multicolour},
                                                      {"block-colour", Ordering::BlockMulticolour}};

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

/// Rows of an undirected graph in connected groups of up to `most` rows, each grown breadth first
/// from the first row that is in none yet. Returns the group of each row and how many there are;
/// groups are numbered by their first rows.
std::pair<std::vector<Ordinal>, Ordinal> connectedGroups(const HostGraph& graph, int most) {
  std::vector<Ordinal> group(graph.num_rows, -1), members;
  Ordinal num_groups = 0;
  for (Ordinal first = 0; first < graph.num_rows; ++first) {
    if (group[first] >= 0)
      continue;
    members.assign(1, first);
    group[first] = num_groups;
    for (size_t at = 0; at < members.size(); ++at)
      for (Offset e = graph.row_map(members[at]); e < graph.row_map(members[at] + 1); ++e) {
        const Ordinal row = graph.entries(e);
        if (group[row] >= 0 || members.size() >= static_cast<size_t>(most))
          continue;
        group[row] = num_groups;
        members.push_back(row);
      }
    ++num_groups;
  }
  return {std::move(group), num_groups};
}

/// The elements 0 <= i < keys.size() by ascending key, 0 <= key < num_keys, in their order where
/// keys are equal, and where each key begins.
struct SortedByKey {
  std::vector<Ordinal> elements;
  std::vector<size_t> begin;

  SortedByKey(const std::vector<Ordinal>& keys, Ordinal num_keys)
      : elements(keys.size()), begin(size_t(num_keys) + 1, 0) {
    for (const Ordinal key : keys)
      ++begin[key + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
    std::vector<size_t> next(begin.begin(), begin.end() - 1);
    for (size_t i = 0; i < keys.size(); ++i)
      elements[next[keys[i]]++] = static_cast<Ordinal>(i);
  }
};

/// A colour for each group of rows, the first that no adjacent group has, and how many there are.
std::pair<std::vector<Ordinal>, Ordinal> firstFitColours(const HostGraph& graph,
                                                         const std::vector<Ordinal>& group,
                                                         const SortedByKey& rows) {
  const size_t num_groups = rows.begin.size() - 1;
  std::vector<Ordinal> colour(num_groups, -1), taken_by; // last group that saw a colour beside it
  for (size_t g = 0; g < num_groups; ++g) {
    for (size_t r = rows.begin[g]; r < rows.begin[g + 1]; ++r)
      for (Offset e = graph.row_map(rows.elements[r]); e < graph.row_map(rows.elements[r] + 1); ++e)
        if (const Ordinal beside = colour[group[graph.entries(e)]]; beside >= 0)
          taken_by[beside] = static_cast<Ordinal>(g);
    const auto free = std::find_if(taken_by.begin(), taken_by.end(),
                                   [&](Ordinal last) { return last != static_cast<Ordinal>(g); });
    colour[g] = static_cast<Ordinal>(free - taken_by.begin());
    if (free == taken_by.end())
      taken_by.push_back(-1);
  }
  return {std::move(colour), static_cast<Ordinal>(taken_by.size())};
}

void requireGraph(const HostGraph& graph) {
  detail::requireSquare("an ordering or a partition", graph.num_rows, graph.num_cols);
  validate(Exec(), graph);
}

Kokkos::View<Ordinal*, HostDevice> newOrder(Ordinal n) {
  return allocate<Ordinal, HostDevice>(Exec(), "Ainvil::new_to_old", n);
}

} // namespace

const char* nameOf(Ordering method) {
  for (const auto& [name, named] : names)
    if (named == method)
      return name;
  throw InvalidArgument(message("there is no ordering ", static_cast<int>(method)));
}

Ordering orderingNamed(const std::string& name) {
  for (const auto& [known, method] : names)
    if (name == known)
      return method;
  throw InvalidArgument(message("there is no ordering '", name,
                                "'; known are natural, rcm, nd, colour, block-colour"));
}

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

Permutation<HostDevice> multicolour(const Graph<HostDevice>& graph) {
  return blockMulticolour(graph, 1);
}

Permutation<HostDevice> blockMulticolour(const Graph<HostDevice>& graph, int rows_per_block) {
  ScopedRegion region("Ainvil::multicolour");
  if (rows_per_block < 1)
    throw InvalidArgument(
        message("blockMulticolour(): ", rows_per_block, " rows a block; at least 1 is needed"));
  return detail::reportingOutOfMemory("blockMulticolour()", [&] {
    const HostGraph neighbours = adjacency(graph);
    const auto [group, num_groups] = connectedGroups(neighbours, rows_per_block);
    const SortedByKey rows(group, num_groups);
    const auto [colour, num_colours] = firstFitColours(neighbours, group, rows);
    const auto new_to_old = newOrder(graph.num_rows);
    Ordinal at = 0;
    for (const Ordinal g : SortedByKey(colour, num_colours).elements)
      for (size_t r = rows.begin[g]; r < rows.begin[g + 1]; ++r)
        new_to_old(at++) = rows.elements[r];
    return makePermutation<HostDevice>(Exec(), new_to_old);
  });
}

Permutation<HostDevice> ordering(Ordering method, const Graph<HostDevice>& graph) {
  switch (method) {
  case Ordering::Rcm:
    return reverseCuthillMcKee(graph);
  case Ordering::NestedDissection:
    return nestedDissection(graph);
  case Ordering::Multicolour:
    return multicolour(graph);
  case Ordering::BlockMulticolour:
    return blockMulticolour(graph);
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
