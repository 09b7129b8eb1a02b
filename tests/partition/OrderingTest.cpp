// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_GraphAlgebra.hpp"
#include "Ainvil_Ordering.hpp"
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "graph/Ainvil_LevelSets.hpp"

#include <set>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Exec = HostDevice::execution_space;
using HostGraph = Graph<HostDevice>;

const Ordering methods[] = {Ordering::Natural, Ordering::Rcm, Ordering::NestedDissection,
                            Ordering::Multicolour, Ordering::BlockMulticolour};

std::vector<Ordinal> orderOf(Ordering method, const HostGraph& graph) {
  return toHost(ordering(method, graph).new_to_old);
}

/// Rows of an undirected graph from its edges.
Rows undirected(Ordinal n, const std::vector<std::pair<Ordinal, Ordinal>>& edges) {
  Rows rows(n);
  for (const auto& [i, j] : edges) {
    rows[i].push_back(j);
    rows[j].push_back(i);
  }
  for (auto& row : rows)
    std::sort(row.begin(), row.end());
  return rows;
}

/// The five-point grid with its rows in random order.
HostGraph shuffledGrid(const std::string& problem, std::uint64_t seed) {
  const HostGraph grid = makeProblem(problem).matrix.graph;
  std::vector<Ordinal> order(grid.num_rows);
  std::iota(order.begin(), order.end(), 0);
  Random(seed).shuffle(order);
  return permuted(Exec(), makePermutation<HostDevice>(Exec(), viewOf(order)), grid).graph;
}

HostGraph reordered(Ordering method, const HostGraph& graph) {
  return permuted(Exec(), ordering(method, graph), graph).graph;
}

/// Entries of the Cholesky factor on a symmetric pattern, diagonal included: column j is merged
/// into the column of its first entry below the diagonal (Liu 1990).
Offset choleskyEntries(const HostGraph& graph) {
  const Rows rows = rowsOf(graph);
  std::vector<std::set<Ordinal>> below(rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    for (const Ordinal j : rows[i])
      if (size_t(j) < i)
        below[j].insert(static_cast<Ordinal>(i));
  Offset entries = 0;
  for (const auto& column : below) {
    entries += 1 + Offset(column.size());
    if (!column.empty())
      below[*column.begin()].insert(std::next(column.begin()), column.end());
  }
  return entries;
}

// ------------------------------------------------------------------------------------- adjacency

TEST(Adjacency, EqualsTheReference) {
  RandomOptions options;
  for (const bool sorted : {true, false})
    for (const Ordinal n : {0, 1, 2, 33, 536, 615}) {
      options.sorted = sorted;
      options.diagonal = n % 2 == 0;
      Rows rows = randomRows(n, n, {1, 2, 0, 5, 33}, options);
      for (size_t i = 0; i < rows.size(); i += 3) // some columns twice
        rows[i].insert(rows[i].end(), rows[i].begin(), rows[i].end());
      std::vector<std::set<Ordinal>> neighbours(n);
      for (Ordinal i = 0; i < n; ++i)
        for (const Ordinal j : rows[i])
          if (i != j) {
            neighbours[i].insert(j);
            neighbours[j].insert(i);
          }
      Rows expected;
      for (const auto& row : neighbours)
        expected.emplace_back(row.begin(), row.end());
      EXPECT_EQ(rowsOf(adjacency(makeGraph(rows))), expected) << n << " rows";
    }
}

TEST(Bandwidth, IsTheLargestDistanceFromTheDiagonal) {
  EXPECT_EQ(bandwidth(makeGraph({})), 0);
  EXPECT_EQ(bandwidth(makeGraph({{}, {}})), 0);
  EXPECT_EQ(bandwidth(makeGraph({{0}, {1}})), 0);
  EXPECT_EQ(bandwidth(makeGraph({{0, 2}, {}, {1}})), 2);
  EXPECT_EQ(bandwidth(makeGraph({{}, {}, {1}, {0}})), 3);
  EXPECT_EQ(bandwidth(makeProblem("poisson5:7x31").matrix.graph), 7);
}

// --------------------------------------------------------------------------- all of the orderings

TEST(Ordering, IsAPermutationOfEveryGraph) {
  // makePermutation() refuses anything else; but the right size it cannot know.
  std::vector<std::pair<std::string, Rows>> graphs = {
      {"empty", {}},
      {"one row", {{}}},
      {"one row with its diagonal", {{0}}},
      {"no entries", Rows(40)},
      {"an edge among isolated rows", undirected(40, {{3, 30}})},
      {"one direction only", {{1}, {2}, {3}, {}}},
      {"full", randomRows(70, 70, 1.0)},
  };
  Rows diagonal(33), star(615), pairs(2000);
  for (Ordinal i = 0; i < 33; ++i)
    diagonal[i] = {i};
  for (Ordinal i = 1; i < 615; ++i)
    star[i] = {0};
  for (Ordinal i = 0; i < 2000; ++i)
    pairs[i] = {i, i ^ 1};
  graphs.insert(graphs.end(), {{"diagonal", diagonal}, {"star", star}, {"pairs", pairs}});
  RandomOptions options;
  options.diagonal = false;
  for (const Ordinal n : {536, 615})
    graphs.push_back({"random", randomRows(n, n, {0, 1, 2, 0, 33}, options)});
  for (const auto& [name, rows] : graphs)
    for (const Ordering method : methods) {
      SCOPED_TRACE(name);
      const HostGraph graph = makeGraph(rows);
      const Permutation<HostDevice> perm = ordering(method, graph);
      EXPECT_EQ(perm.numRows(), graph.num_rows);
      EXPECT_EQ(orderOf(method, graph), toHost(perm.new_to_old)) << "not the same twice";
      EXPECT_EQ(reordered(method, graph).numEntries(), graph.numEntries());
    }
}

TEST(Ordering, LooksAtTheUndirectedGraphOnly) {
  const Rows clean = rowsOf(adjacency(shuffledGrid("poisson5:13x17", 3)));
  Rows diagonal = clean, upper(clean.size()), untidy = clean;
  for (size_t i = 0; i < clean.size(); ++i) {
    diagonal[i].push_back(static_cast<Ordinal>(i));
    std::sort(diagonal[i].begin(), diagonal[i].end());
    for (const Ordinal j : clean[i])
      if (size_t(j) > i)
        upper[i].push_back(j);
    std::reverse(untidy[i].begin(), untidy[i].end());
    untidy[i].push_back(clean[i].front());
  }
  for (const Ordering method : methods) {
    if (method == Ordering::Natural)
      continue;
    const auto expected = orderOf(method, makeGraph(clean));
    EXPECT_EQ(orderOf(method, makeGraph(diagonal)), expected);
    EXPECT_EQ(orderOf(method, makeGraph(upper)), expected);
    EXPECT_EQ(orderOf(method, makeGraph(untidy)), expected);
  }
}

TEST(Ordering, RefusesWhatIsNoSquareGraph) {
  for (const Ordering method : methods) {
    EXPECT_THROW(ordering(method, makeGraph({{0}, {1}}, 3)), InvalidArgument);
    EXPECT_THROW(ordering(method, makeGraph({{0, 2}, {1}})), InvalidArgument);
    EXPECT_THROW(ordering(method, makeGraph({{-1}, {1}})), InvalidArgument);
    EXPECT_THROW(ordering(method, HostGraph(1, 1, viewOf(std::vector<Offset>{0, 2}),
                                            viewOf(std::vector<Ordinal>{0}))),
                 InvalidArgument);
  }
}

TEST(Ordering, NaturalLeavesAllInPlace) {
  EXPECT_EQ(orderOf(Ordering::Natural, makeGraph({{2}, {0}, {1}})),
            (std::vector<Ordinal>{0, 1, 2}));
}

TEST(Ordering, KernelsAndArraysCarryLabels) {
  const HostGraph graph = shuffledGrid("poisson5:20", 1);
  const KernelLabelRecorder recorder;
  for (const Ordering method : methods)
    ordering(method, graph);
  bandwidth(graph);
  EXPECT_GE(recorder.kernels().size(), 20u);
  expectOwnLabels(recorder.labels());
}

// ------------------------------------------------------------------------- reverse Cuthill-McKee

/// By hand. The search from 0 meets 2, 4, 5, 6 (degree 1) and 1, 3 (degree 2); the one from 2, the
/// lowest of them, meets 0, then 4, 5, 6, 1, 3; the one from 4 gets no farther: 4, 0, 2, 5, 6, 1, 3
/// turned round.
TEST(ReverseCuthillMcKee, OrdersAKnownGraph) {
  const Rows rows = undirected(
      10, {{0, 1}, {0, 2}, {0, 3}, {1, 3}, {0, 4}, {0, 5}, {0, 6}, {8, 9}}); // 7 is alone
  EXPECT_EQ(orderOf(Ordering::Rcm, makeGraph(rows)),
            (std::vector<Ordinal>{3, 1, 6, 5, 2, 0, 4, 7, 8, 9}));
}

TEST(ReverseCuthillMcKee, MakesAPathTridiagonal) {
  const Ordinal n = 615;
  std::vector<Ordinal> path(n);
  std::iota(path.begin(), path.end(), 0);
  Random(2).shuffle(path);
  std::vector<std::pair<Ordinal, Ordinal>> edges;
  for (Ordinal k = 1; k < n; ++k)
    edges.push_back({path[k - 1], path[k]});
  const HostGraph graph = makeGraph(undirected(n, edges));
  EXPECT_GT(bandwidth(graph), 100);
  EXPECT_EQ(bandwidth(reordered(Ordering::Rcm, graph)), 1);
}

/// No order of an a x b grid, a <= b, has a bandwidth below a (Chvatalova 1975).
TEST(ReverseCuthillMcKee, FindsTheBandOfAShuffledGrid) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const HostGraph graph = shuffledGrid("poisson5:40x25", seed);
    EXPECT_GT(bandwidth(graph), 500);
    const Ordinal found = bandwidth(reordered(Ordering::Rcm, graph));
    EXPECT_GE(found, 25);
    EXPECT_LE(found, 26);
  }
}

TEST(ReverseCuthillMcKee, KeepsComponentsTogether) {
  // Three interleaved grids with isolated rows between them.
  const Rows grid = rowsOf(shuffledGrid("poisson5:12x9", 4));
  const Ordinal n = static_cast<Ordinal>(grid.size());
  Rows rows(4 * n);
  for (Ordinal i = 0; i < n; ++i)
    for (const Ordinal part : {0, 1, 3})
      for (const Ordinal j : grid[i])
        rows[4 * i + part].push_back(4 * j + part);
  const HostGraph graph = makeGraph(rows);
  std::vector<Ordinal> parts;
  for (const Ordinal row : orderOf(Ordering::Rcm, graph))
    parts.push_back(row % 4);
  // In the order of their first rows: 0, 1, then isolated row 2, then 3, then the other isolated.
  std::vector<Ordinal> expected;
  expected.insert(expected.end(), n, 0);
  expected.insert(expected.end(), n, 1);
  expected.push_back(2);
  expected.insert(expected.end(), n, 3);
  expected.insert(expected.end(), n - 1, 2);
  EXPECT_EQ(parts, expected);
  EXPECT_LE(bandwidth(reordered(Ordering::Rcm, graph)), 10);
}

// ------------------------------------------------------------------------------- nested dissection

TEST(NestedDissection, FillsInLess) {
  const HostGraph grid = makeProblem("poisson5:31x31").matrix.graph;
  const Offset natural = choleskyEntries(grid);
  // The whole band but for the corner in which it begins, minus what lies beyond its end.
  EXPECT_EQ(natural, 961 * 32 - 29 * 30 / 2 - 31 * 32 / 2);
  for (const HostGraph& graph : {grid, shuffledGrid("poisson5:31x31", 5)}) {
    const Offset found = choleskyEntries(reordered(Ordering::NestedDissection, graph));
    EXPECT_LT(found, natural / 2);
    EXPECT_GT(found, grid.numEntries() / 2);
  }
}

/// The hub of a star is its separator; eliminated first it would connect all others.
TEST(NestedDissection, PutsSeparatorsLast) {
  const Ordinal n = 615;
  std::vector<std::pair<Ordinal, Ordinal>> edges;
  for (Ordinal i = 1; i < n; ++i)
    edges.push_back({0, i});
  const HostGraph graph = makeGraph(undirected(n, edges));
  EXPECT_EQ(choleskyEntries(graph), n * (n + 1) / 2);
  EXPECT_EQ(choleskyEntries(reordered(Ordering::NestedDissection, graph)), 2 * n - 1);
}

// ------------------------------------------------------------------------------------- multicolour

int lowerLevels(const HostGraph& graph) {
  return levelSets(Exec(), sortRows(Exec(), graph).graph, Uplo::Lower).numLevels();
}

/// By hand: rows 0, 2, 5 take the first colour, 1 and 3 the second, 4, a neighbour of 2 and 3, the
/// third.
TEST(Multicolour, OrdersAKnownGraph) {
  const HostGraph graph =
      makeGraph(undirected(6, {{0, 1}, {1, 2}, {2, 3}, {2, 4}, {3, 4}, {4, 5}}));
  EXPECT_EQ(orderOf(Ordering::Multicolour, graph), (std::vector<Ordinal>{0, 2, 5, 1, 3, 4}));
}

/// Red and black: rows (x, y) with even x + y first.
TEST(Multicolour, TakesTwoColoursForAGrid) {
  const HostGraph grid = makeProblem("poisson5:7x31").matrix.graph;
  std::vector<Ordinal> expected;
  for (const int parity : {0, 1})
    for (Ordinal i = 0; i < grid.num_rows; ++i)
      if ((i % 7 + i / 7) % 2 == parity)
        expected.push_back(i);
  EXPECT_EQ(orderOf(Ordering::Multicolour, grid), expected);
  EXPECT_EQ(lowerLevels(reordered(Ordering::Multicolour, grid)), 2);
}

/// As many level sets as colours, and no more colours than a row may have neighbours, and one.
TEST(Multicolour, LevelSetsAreColours) {
  for (const std::uint64_t seed : {1, 2, 3}) {
    const HostGraph graph = adjacency(makeGraph(randomRows(615, 615, {1, 2, 0, 5, 9}, {})));
    Offset most = 0;
    for (const auto& row : rowsOf(graph))
      most = std::max<Offset>(most, row.size());
    const int levels = lowerLevels(reordered(Ordering::Multicolour, graph));
    EXPECT_LE(levels, most + 1);
    EXPECT_LT(levels, lowerLevels(graph)) << "seed " << seed;
  }
}

TEST(BlockMulticolour, OneRowABlockIsMulticolour) {
  const HostGraph graph = shuffledGrid("poisson5:13x17", 4);
  EXPECT_EQ(toHost(blockMulticolour(graph, 1).new_to_old), orderOf(Ordering::Multicolour, graph));
}

/// The path 0 1 2 ... in groups of three, of which every second comes first.
TEST(BlockMulticolour, AlternatesGroupsOfAPath) {
  std::vector<std::pair<Ordinal, Ordinal>> edges;
  for (Ordinal i = 1; i < 11; ++i)
    edges.push_back({i - 1, i});
  EXPECT_EQ(toHost(blockMulticolour(makeGraph(undirected(11, edges)), 3).new_to_old),
            (std::vector<Ordinal>{0, 1, 2, 6, 7, 8, 3, 4, 5, 9, 10}));
}

/// A group is connected: rows 0 and 2 are not, though they stand beside each other.
TEST(BlockMulticolour, GroupsAreConnected) {
  const HostGraph graph = makeGraph(undirected(6, {{0, 3}, {2, 5}, {1, 4}, {3, 4}}));
  // Groups of two: {0, 3}, {1, 4}, {2, 5}; the second is beside the first.
  EXPECT_EQ(toHost(blockMulticolour(graph, 2).new_to_old),
            (std::vector<Ordinal>{0, 3, 2, 5, 1, 4}));
}

/// Levels lie between the colours of groups and those times the rows of a group; groups of all rows
/// leave a connected graph in place.
TEST(BlockMulticolour, TradesLevelsForTheOrderWithinGroups) {
  const HostGraph grid = makeProblem("poisson5:40x25").matrix.graph;
  const int multicolour = lowerLevels(reordered(Ordering::Multicolour, grid));
  const int block = lowerLevels(reordered(Ordering::BlockMulticolour, grid));
  EXPECT_GT(block, multicolour);
  EXPECT_LT(block, lowerLevels(grid) / 2);
  const auto whole = toHost(blockMulticolour(grid, 1000).new_to_old);
  EXPECT_TRUE(std::is_sorted(whole.begin(), whole.end()));
  EXPECT_THROW(blockMulticolour(grid, 0), InvalidArgument);
}

TEST(Ordering, NamesAreReadAsTheyAreWritten) {
  for (const Ordering method : methods)
    EXPECT_EQ(orderingNamed(nameOf(method)), method);
  EXPECT_THROW(orderingNamed("none"), InvalidArgument);
  EXPECT_THROW(nameOf(static_cast<Ordering>(99)), InvalidArgument);
}

} // namespace
