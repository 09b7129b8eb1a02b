// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Partition.hpp"
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <numeric>
#include <set>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;
using HostGraph = Graph<HostDevice>;
using Found = Partition<HostDevice>;

std::vector<Ordinal> sizesOf(const Found& found) {
  std::vector<Ordinal> sizes(found.num_parts, 0);
  for (const Ordinal part : toHost(found.part_of))
    ++sizes.at(part);
  return sizes;
}

/// What holds for every partition: no part is empty, and the counts are true.
void expectConsistent(const Found& found, const HostGraph& graph, Ordinal parts) {
  const std::vector<Ordinal> part_of = toHost(found.part_of), sizes = sizesOf(found);
  EXPECT_EQ(Ordinal(part_of.size()), graph.num_rows);
  EXPECT_LE(found.num_parts, parts);
  EXPECT_EQ(std::count(sizes.begin(), sizes.end(), 0), 0);
  EXPECT_EQ(found.largest, sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end()));
  std::set<std::pair<Ordinal, Ordinal>> cut;
  const Rows rows = rowsOf(graph);
  for (Ordinal i = 0; i < graph.num_rows; ++i)
    for (const Ordinal j : rows[i])
      if (part_of[i] != part_of[j])
        cut.insert(std::minmax(i, j));
  EXPECT_EQ(found.edge_cut, Offset(cut.size()));
}

/// A path in random order through `n` rows.
HostGraph pathGraph(Ordinal n) {
  Rows rows(n);
  for (Ordinal i = 0; i < n; ++i)
    for (const Ordinal j : {i - 1, i, i + 1})
      if (j >= 0 && j < n)
        rows[i].push_back(j);
  return makeGraph(rows);
}

TEST(Partition, CountsAreTrueForEveryGraph) {
  std::vector<std::pair<std::string, HostGraph>> graphs = {
      {"no rows", makeGraph(Rows())},
      {"one row", makeGraph(Rows{{0}})},
      {"no entries", makeGraph(Rows(40))},
      {"path", pathGraph(67)},
      {"one direction only", makeGraph({{1}, {2}, {3}, {}})},
      {"grid", makeProblem("poisson5:31x17").matrix.graph},
      {"full", makeGraph(randomRows(70, 70, 1.0))},
  };
  Rows diagonal(33), star(615), pairs(200), one_edge(50);
  for (Ordinal i = 0; i < 33; ++i)
    diagonal[i] = {i};
  for (Ordinal i = 1; i < 615; ++i)
    star[i] = {0};
  for (Ordinal i = 0; i < 200; ++i)
    pairs[i] = {i, i ^ 1};
  one_edge[20] = {30};
  for (const auto& [name, rows] :
       {std::make_pair("diagonal", diagonal), std::make_pair("star", star),
        std::make_pair("pairs", pairs), std::make_pair("an edge among isolated rows", one_edge)})
    graphs.push_back({name, makeGraph(rows)});
  RandomOptions options;
  options.sorted = false;
  graphs.push_back({"random", makeGraph(randomRows(536, 536, {0, 1, 2, 0, 33}, options))});
  for (const auto& [name, graph] : graphs)
    for (const Ordinal parts : {1, 2, 3, 7, 32, 33, 100, graph.num_rows - 1, graph.num_rows})
      if (parts > 0 && parts <= graph.num_rows) {
        SCOPED_TRACE(name + " in " + std::to_string(parts) + " parts");
        const Found found = partition(graph, parts);
        expectConsistent(found, graph, parts);
        EXPECT_EQ(toHost(partition(graph, parts).part_of), toHost(found.part_of)) << "not repeated";
      }
  expectConsistent(partition(makeGraph(Rows()), 1), makeGraph(Rows()), 1);
}

TEST(Partition, OfOnePartAndOfAPartARow) {
  const HostGraph graph = makeProblem("poisson5:9x7").matrix.graph;
  const Found one = partition(graph, 1);
  EXPECT_EQ(one.num_parts, 1);
  EXPECT_EQ(one.edge_cut, 0);
  EXPECT_EQ(one.largest, 63);
  const Found all = partition(graph, 63);
  EXPECT_EQ(all.num_parts, 63);
  EXPECT_EQ(all.edge_cut, 8 * 7 + 9 * 6);
  EXPECT_EQ(all.largest, 1);
  std::vector<Ordinal> rows(63);
  std::iota(rows.begin(), rows.end(), 0);
  EXPECT_EQ(toHost(all.part_of), rows);
}

TEST(Partition, WithoutEdgesFollowsTheRows) {
  const Found found = partition(makeGraph(Rows(10)), 4);
  EXPECT_EQ(toHost(found.part_of), (std::vector<Ordinal>{0, 0, 0, 1, 1, 2, 2, 2, 3, 3}));
  EXPECT_EQ(found.edge_cut, 0);
  EXPECT_EQ(found.largest, 3);
}

/// A grid of 64 x 64 in 16 parts of 16 x 16 cuts 6 lines of 64 edges; METIS comes near.
TEST(Partition, CutsFewEdgesIntoEqualParts) {
  const Found found = partition(makeProblem("poisson5:64x64").matrix.graph, 16);
  EXPECT_EQ(found.num_parts, 16);
  EXPECT_LT(found.edge_cut, 1.4 * 6 * 64);
  EXPECT_LE(found.largest, 1.05 * 256);
}

/// Interleaved grids without edges between them: a part each.
TEST(Partition, FindsTheComponents) {
  const Rows grid = rowsOf(makeProblem("poisson5:12x9").matrix.graph);
  const Ordinal copies = 4, n = static_cast<Ordinal>(grid.size());
  Rows rows(copies * n);
  for (Ordinal i = 0; i < n; ++i)
    for (Ordinal copy = 0; copy < copies; ++copy)
      for (const Ordinal j : grid[i])
        rows[copies * i + copy].push_back(copies * j + copy);
  const Found found = partition(makeGraph(rows), copies);
  EXPECT_EQ(found.num_parts, copies);
  EXPECT_EQ(found.edge_cut, 0);
  EXPECT_EQ(found.largest, n);
}

TEST(Partition, LooksAtTheUndirectedGraphOnly) {
  const Rows clean = rowsOf(makeProblem("poisson5:13x17").matrix.graph);
  Rows upper(clean.size()), untidy = clean;
  for (size_t i = 0; i < clean.size(); ++i) {
    for (const Ordinal j : clean[i])
      if (size_t(j) > i)
        upper[i].push_back(j);
    std::reverse(untidy[i].begin(), untidy[i].end());
    untidy[i].push_back(clean[i].front());
  }
  const Found expected = partition(makeGraph(clean), 6);
  for (const Rows& rows : {upper, untidy}) {
    const Found found = partition(makeGraph(rows), 6);
    EXPECT_EQ(toHost(found.part_of), toHost(expected.part_of));
    EXPECT_EQ(found.edge_cut, expected.edge_cut);
  }
}

void expectRefusal(const HostGraph& graph, Ordinal parts, const std::string& words) {
  try {
    partition(graph, parts);
    ADD_FAILURE() << parts << " parts: no exception";
  } catch (const InvalidArgument& error) {
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST(Partition, RefusesWhatCannotBe) {
  const HostGraph graph = pathGraph(5);
  expectRefusal(graph, 0, "at least 1");
  expectRefusal(graph, -3, "at least 1");
  expectRefusal(graph, 6, "at most 5");
  expectRefusal(makeGraph(Rows()), 2, "at most 1");
  expectRefusal(makeGraph({{0}, {1}}, 3), 1, "square");
  expectRefusal(makeGraph({{0, 2}, {1}}), 1, "column");
}

TEST(EntriesWithinParts, AreThoseOfTheReference) {
  Random random(5);
  RandomOptions options;
  for (const bool sorted : {true, false})
    for (const Ordinal n : {0, 1, 33, 536, 615})
      for (const Ordinal parts : {1, 3, 40}) {
        options.sorted = sorted;
        const auto a =
            randomMatrix(n, n, 2, std::vector<Ordinal>{1, 31, 32, 33, 65, 300, 0}, options);
        std::vector<Ordinal> part_of(n);
        for (Ordinal& part : part_of)
          part = random.below(parts);
        const auto on_device = copyTo<Device>(a);
        const PermutedGraph<Device> within =
            entriesWithinParts<Device>(Exec(), on_device.graph, viewOf<Ordinal, Device>(part_of));
        Rows expected(n);
        std::vector<Offset> source;
        const auto row_map = toHost(a.graph.row_map);
        const auto columns = toHost(a.graph.entries);
        for (Ordinal i = 0; i < n; ++i)
          for (Offset e = row_map[i]; e < row_map[i + 1]; ++e)
            if (part_of[i] == part_of[columns[e]]) {
              expected[i].push_back(columns[e]);
              source.push_back(e);
            }
        EXPECT_EQ(rowsOf(within.graph), expected) << n << " rows, " << parts << " parts";
        EXPECT_EQ(toHost(within.source), source);
      }
}

TEST(EntriesWithinParts, RefusesOtherSizes) {
  const auto part_of = viewOf<Ordinal, Device>({0, 0, 1});
  for (const HostGraph& graph : {makeGraph({{0}, {1}}), makeGraph({{0}, {1}, {2}}, 4)})
    EXPECT_THROW(entriesWithinParts<Device>(Exec(), copyTo<Device>(graph), part_of),
                 InvalidArgument);
}

TEST(Partition, KernelsAndArraysCarryLabels) {
  const HostGraph graph = makeProblem("poisson5:20").matrix.graph;
  const KernelLabelRecorder recorder;
  const Found found = partition(graph, 5);
  entriesWithinParts<Device>(Exec(), copyTo<Device>(graph), copyTo<Device>(found).part_of);
  EXPECT_GE(recorder.kernels().size(), 8u);
  expectOwnLabels(recorder.labels());
}

} // namespace
