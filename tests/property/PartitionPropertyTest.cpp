// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Orderings are permutations, whatever the graph; partitions cover it and count truly.

#include "Ainvil_Ordering.hpp"
#include "Ainvil_Partition.hpp"
#include "property/RandomSystem.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;

/// Any graph: rows empty, shuffled, entries missing on one side of the diagonal.
Graph<HostDevice> anyGraph(std::uint64_t seed) {
  Wanted wanted;
  wanted.flaws = {Flaw::None, Flaw::MissingDiagonals, Flaw::EmptyRow, Flaw::EmptyColumn};
  wanted.max_points = 2400;
  return shuffled(randomSystem(seed, wanted).matrix, seed).graph;
}

TEST(PartitionProperty, OrderingsArePermutations) {
  forSeeds(60, [](std::uint64_t seed) {
    const Graph<HostDevice> graph = anyGraph(seed);
    for (const Ordering method : {Ordering::Natural, Ordering::Rcm, Ordering::NestedDissection,
                                  Ordering::Multicolour, Ordering::BlockMulticolour}) {
      const Permutation<HostDevice> perm = ordering(method, graph);
      const std::vector<Ordinal> order = toHost(perm.new_to_old), back = toHost(perm.old_to_new);
      ASSERT_EQ(Ordinal(order.size()), graph.num_rows);
      ASSERT_EQ(order.size(), back.size());
      for (size_t k = 0; k < order.size(); ++k)
        EXPECT_EQ(back.at(order[k]), Ordinal(k));
      EXPECT_EQ(toHost(ordering(method, graph).new_to_old), order) << "the same at every call";
    }
  });
}

TEST(PartitionProperty, PartsCoverTheRowsAndCountsAreTrue) {
  forSeeds(60, [](std::uint64_t seed) {
    const Graph<HostDevice> graph = anyGraph(seed);
    Random random(seed);
    const Ordinal n = graph.num_rows, asked = 1 + random.below(std::max(n, 1));
    const Partition<HostDevice> found = partition(graph, asked);
    const std::vector<Ordinal> part_of = toHost(found.part_of);
    ASSERT_EQ(Ordinal(part_of.size()), n);
    EXPECT_LE(found.num_parts, asked);
    std::vector<Ordinal> sizes(found.num_parts, 0);
    for (const Ordinal part : part_of)
      ++sizes.at(part);
    EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 0), 0);
    EXPECT_EQ(found.largest, n == 0 ? 0 : *std::max_element(sizes.begin(), sizes.end()));
    std::set<std::pair<Ordinal, Ordinal>> cut;
    const Rows rows = rowsOf(graph);
    Rows within(n);
    for (Ordinal i = 0; i < n; ++i)
      for (const Ordinal j : rows[i])
        if (part_of[i] != part_of[j])
          cut.insert(std::minmax(i, j));
        else
          within[i].push_back(j);
    EXPECT_EQ(found.edge_cut, Offset(cut.size()));
    const auto parts = viewOf<Ordinal, Device>(part_of);
    const PermutedGraph<Device> kept =
        entriesWithinParts<Device>(Exec(), copyTo<Device>(graph), parts);
    EXPECT_EQ(rowsOf(kept.graph), within);
    EXPECT_THROW(partition(graph, std::max(n, 1) + 1), InvalidArgument);
  });
}

} // namespace
