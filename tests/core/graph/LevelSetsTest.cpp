// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"
#include "graph/Ainvil_LevelSets.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

/// Rows of every level, ascending: level(i) = 1 + max level(j) over the entries j of row i that lie
/// in the triangle.
Rows serialLevels(const Rows& rows, Uplo uplo) {
  const int n = static_cast<int>(rows.size());
  std::vector<int> level(n, 0);
  Rows sets;
  for (int k = 0; k < n; ++k) {
    const int i = uplo == Uplo::Lower ? k : n - 1 - k;
    for (const Ordinal j : rows[i])
      if (uplo == Uplo::Lower ? j < i : j > i)
        level[i] = std::max(level[i], level[j] + 1);
  }
  for (int i = 0; i < n; ++i) {
    if (level[i] >= static_cast<int>(sets.size()))
      sets.resize(level[i] + 1);
    sets[level[i]].push_back(i);
  }
  return sets;
}

/// The same from the library; the order of the rows within a level is free.
Rows deviceLevels(const Rows& rows, Uplo uplo) {
  const LevelSets<Device> sets = levelSets(Exec(), copyTo<Device>(makeGraph(rows)), uplo);
  const std::vector<Ordinal> all = toHost(sets.rows);
  EXPECT_EQ(sets.offsets.front(), 0);
  EXPECT_EQ(sets.offsets.back(), static_cast<Ordinal>(rows.size()));
  EXPECT_EQ(all.size(), rows.size());
  const std::vector<unsigned> level = toHost(sets.level), ends = toHost(sets.ends);
  EXPECT_EQ(level.size(), rows.size());
  EXPECT_EQ(ends.size(), size_t(sets.numLevels()));
  Rows levels(sets.numLevels());
  for (int l = 0; l < sets.numLevels(); ++l) {
    EXPECT_EQ(ends[l], unsigned(sets.offsets[l + 1]));
    for (Ordinal at = sets.offsets[l]; at < sets.offsets[l + 1]; ++at)
      EXPECT_EQ(level[all[at]], unsigned(l + 1));
    levels[l].assign(all.begin() + sets.offsets[l], all.begin() + sets.offsets[l + 1]);
    std::sort(levels[l].begin(), levels[l].end());
  }
  return levels;
}

void checkLevels(const Rows& rows, const std::string& what) {
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
    SCOPED_TRACE(what + (uplo == Uplo::Lower ? ", lower" : ", upper"));
    EXPECT_EQ(deviceLevels(rows, uplo), serialLevels(rows, uplo));
  }
}

/// The entries of `rows` that lie strictly in the triangle.
Rows strictPart(Rows rows, Uplo uplo) {
  for (Ordinal i = 0; i < static_cast<Ordinal>(rows.size()); ++i) {
    const auto outside = [&](Ordinal j) { return uplo == Uplo::Lower ? j >= i : j <= i; };
    rows[i].erase(std::remove_if(rows[i].begin(), rows[i].end(), outside), rows[i].end());
  }
  return rows;
}

TEST(LevelSets, MatchASerialComputationOnRandomGraphs) {
  RandomOptions options;
  for (const Ordinal n : {1, 2, 33, 536, 615})
    for (const double per_row : {0.5, 1.5, 5.0})
      for (const bool diagonal : {true, false}) {
        options.diagonal = diagonal;
        options.seed = n + 7 * diagonal;
        const Rows rows = randomRows(n, n, std::min(1.0, per_row / n), options);
        checkLevels(rows, message(n, " rows, ", per_row, " entries a row"));
      }
  const std::vector<Ordinal> long_rows = {1, 31, 0, 32, 33, 65, 300};
  for (const Ordinal n : {536, 615})
    checkLevels(randomRows(n, n, long_rows), message(n, " rows, some long"));
}

TEST(LevelSets, IgnoreTheDiagonalAndTheOtherTriangle) {
  const Rows rows = randomRows(200, 200, 0.02);
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
    EXPECT_EQ(deviceLevels(rows, uplo), deviceLevels(strictPart(rows, uplo), uplo));
}

TEST(LevelSets, TakeUnsortedRows) {
  RandomOptions options;
  options.sorted = false;
  checkLevels(randomRows(300, 300, 0.01, options), "unsorted rows");
}

TEST(LevelSets, AreAsManyAsRowsInAChain) {
  constexpr Ordinal n = 5000;
  Rows chain(n);
  for (Ordinal i = 0; i < n; ++i)
    for (Ordinal j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
      chain[i].push_back(j);
  const Rows lower = deviceLevels(chain, Uplo::Lower), upper = deviceLevels(chain, Uplo::Upper);
  ASSERT_EQ(lower.size(), size_t(n));
  ASSERT_EQ(upper.size(), size_t(n));
  for (Ordinal i = 0; i < n; ++i) {
    EXPECT_EQ(lower[i], std::vector<Ordinal>{i});
    EXPECT_EQ(upper[i], std::vector<Ordinal>{n - 1 - i});
  }
}

TEST(LevelSets, AreOneForADiagonal) {
  Rows diagonal(615);
  for (Ordinal i = 0; i < 615; ++i)
    diagonal[i] = {i};
  checkLevels(diagonal, "diagonal");
  checkLevels(Rows(615), "no entries");
  EXPECT_EQ(deviceLevels(diagonal, Uplo::Lower).size(), 1u);
}

TEST(LevelSets, AreNoneWithoutRows) {
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
    EXPECT_TRUE(deviceLevels(Rows(), uplo).empty());
}

TEST(LevelSets, KernelsAndArraysCarryLabels) {
  const auto graph = copyTo<Device>(makeGraph(randomRows(100, 100, 0.05)));
  const KernelLabelRecorder recorder;
  levelSets(Exec(), graph, Uplo::Lower);
  EXPECT_FALSE(recorder.kernels().empty());
  EXPECT_FALSE(recorder.allocations().empty());
  expectOwnLabels(recorder.labels());
}

} // namespace
