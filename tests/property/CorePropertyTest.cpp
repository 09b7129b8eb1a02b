// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Products, pattern algebra, conversions, scaling and files on random matrices, against dense or
/// serial references.

#include "Ainvil_Convert.hpp"
#include "Ainvil_Ordering.hpp"
#include "Ainvil_Scaling.hpp"
#include "graph/Ainvil_LevelSets.hpp"
#include "io/Ainvil_MatrixMarket.hpp"
#include "property/RandomSystem.hpp"

#include <map>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Doubles = std::vector<double>;

/// A rectangular matrix with or without diagonal.
HostBsr rectangular(Random& random, Ordinal max_points = 300) {
  const int bs = randomBlockSize(random, true);
  const Ordinal num_rows = randomSize(random, bs, max_points);
  const Ordinal num_cols = randomSize(random, bs, max_points);
  std::string name;
  const Rows rows = randomPatternOf(random, num_rows, num_cols, random.below(2) == 0, name);
  RandomOptions options;
  options.seed = random.bits() % 1000000;
  return randomMatrix(rows, num_cols, bs, options);
}

Rows squareRows(Random& random) {
  const Ordinal n = randomSize(random, 1, 300);
  std::string name;
  return randomPatternOf(random, n, n, random.below(2) == 0, name);
}

Graph<Device> onDevice(const Rows& rows) {
  return copyTo<Device>(makeGraph(rows));
}

/// y = alpha op(A) x + beta y for all shapes, sums to gamma of their number of terms.
TEST(CoreProperty, Products) {
  forSeeds(60, [](std::uint64_t seed) {
    Random random(seed);
    const HostBsr host = rectangular(random);
    const DeviceBsr a = copyTo<Device>(random.below(2) == 0 ? shuffled(host, seed) : host);
    const SparseOperator<double, Device> balanced(Exec(), a);
    const Doubles dense = toDense(host);
    const size_t columns = 1 + random.below(9);
    for (const Trans trans : {Trans::No, Trans::Yes}) {
      const size_t in = trans == Trans::No ? a.numPointCols() : a.numPointRows();
      const size_t out = trans == Trans::No ? a.numPointRows() : a.numPointCols();
      const Doubles op = trans == Trans::No ? dense : transposed(dense, a.numPointCols());
      const Doubles x = random.vector(in * columns), before = random.vector(out * columns);
      const double alpha = random.below(3) * 0.7 - 0.7, beta = random.below(3) * 0.6 - 0.6;
      const auto y =
          beta == 0 ? poisoned(out, columns, out + 2) : toDevice(before, out, columns, out + 2);
      const auto x_device = toDevice(x, in, columns, in + 1);
      if (random.below(2) == 0)
        balanced.multiply(Exec(), trans, alpha, x_device, beta, y);
      else
        spmv<double, double, Device>(Exec(), trans, alpha, a, x_device, beta, y);
      Doubles expected(out * columns, 0.0), bound(out * columns, 0.0);
      for (size_t j = 0; j < columns; ++j)
        for (size_t i = 0; i < out; ++i) {
          const size_t at = j * out + i;
          for (size_t k = 0; k < in; ++k) {
            expected[at] += alpha * op[i * in + k] * x[j * in + k];
            bound[at] += std::abs(alpha * op[i * in + k] * x[j * in + k]);
          }
          expected[at] += beta == 0 ? 0 : beta * before[at];
          bound[at] = 2 * roundingBound(double(in) + 3) * (bound[at] + std::abs(beta * before[at]));
        }
      expectWithin(toHost(y), expected, bound, trans == Trans::No ? "A x" : "A^T x");
    }
  });
}

TEST(CoreProperty, TransposeAndSortedRows) {
  forSeeds(60, [](std::uint64_t seed) {
    Random random(seed);
    const HostBsr host = rectangular(random);
    const Rows rows = rowsOf(host.graph);
    const Graph<Device> mixed = copyTo<Device>(shuffled(host, seed).graph);
    EXPECT_EQ(rowsOf(sortRows(Exec(), mixed).graph), rows);
    Rows expected(host.numCols());
    for (Ordinal i = 0; i < host.numRows(); ++i)
      for (const Ordinal j : rows[i])
        expected[j].push_back(i);
    const PermutedGraph<Device> turned = transpose(Exec(), mixed);
    EXPECT_EQ(rowsOf(turned.graph), expected);
    const PermutedGraph<Device> back = transpose(Exec(), turned.graph);
    EXPECT_EQ(rowsOf(back.graph), rows);
    const auto source = toHost(composed<Device>(Exec(), back.source, turned.source));
    const auto entries = toHost(mixed.entries), sorted = toHost(back.graph.entries);
    for (size_t e = 0; e < source.size(); ++e)
      ASSERT_EQ(entries[source[e]], sorted[e]) << "entry " << e;
  });
}

/// S((I + T)^p), or the levels of fill, by dense serial passes.
TEST(CoreProperty, PatternPowersAndFill) {
  forSeeds(40, [](std::uint64_t seed) {
    Random random(seed);
    const Rows rows = squareRows(random);
    const Ordinal n = static_cast<Ordinal>(rows.size());
    const Uplo uplo = random.below(2) == 0 ? Uplo::Lower : Uplo::Upper;
    const Graph<Device> factor = triangle(Exec(), onDevice(rows), uplo, Diagonal::Keep);
    const Rows factor_rows = rowsOf(factor);
    Rows power = factor_rows;
    for (int p = 1; p <= 3; ++p) {
      EXPECT_EQ(rowsOf(patternPower(Exec(), factor, p)), power) << "power " << p;
      for (Ordinal i = 0; i < n; ++i) {
        std::set<Ordinal> reached;
        for (const Ordinal j : power[i])
          reached.insert(factor_rows[j].begin(), factor_rows[j].end());
        power[i].assign(reached.begin(), reached.end());
      }
    }
    const int none = 1000;
    std::vector<int> level(size_t(n) * n, none);
    for (Ordinal i = 0; i < n; ++i) {
      level[size_t(i) * n + i] = 0;
      for (const Ordinal j : rows[i])
        level[size_t(i) * n + j] = 0;
    }
    for (Ordinal h = 0; h < n; ++h)
      for (Ordinal i = h + 1; i < n; ++i)
        for (Ordinal j = h + 1; j < n && level[size_t(i) * n + h] < none; ++j)
          level[size_t(i) * n + j] = std::min(
              level[size_t(i) * n + j], level[size_t(i) * n + h] + level[size_t(h) * n + j] + 1);
    for (int k = 0; k <= 2; ++k) {
      Rows expected(n);
      for (Ordinal i = 0; i < n; ++i)
        for (Ordinal j = 0; j < n; ++j)
          if (level[size_t(i) * n + j] <= k)
            expected[i].push_back(j);
      EXPECT_EQ(rowsOf(fillPattern(Exec(), onDevice(rows), k)), expected) << "fill level " << k;
    }
  });
}

/// level(i) = 1 + max level(j) over the entries of the triangle; all rows, level by level.
TEST(CoreProperty, LevelSets) {
  forSeeds(60, [](std::uint64_t seed) {
    Random random(seed);
    const Rows rows = squareRows(random);
    const Ordinal n = static_cast<Ordinal>(rows.size());
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
      const LevelSets<Device> sets = ainvil::levelSets(Exec(), onDevice(rows), uplo);
      const std::vector<Ordinal> order = toHost(sets.rows);
      std::vector<Ordinal> level(n, -1);
      for (int l = 0; l < sets.numLevels(); ++l)
        for (Ordinal k = sets.offsets[l]; k < sets.offsets[l + 1]; ++k)
          level.at(order.at(k)) = l;
      for (Ordinal k = 0; k < n; ++k) {
        const Ordinal i = uplo == Uplo::Lower ? k : n - 1 - k;
        Ordinal expected = 0;
        for (const Ordinal j : rows[i])
          if (uplo == Uplo::Lower ? j < i : j > i)
            expected = std::max(expected, level[j] + 1);
        ASSERT_EQ(level[i], expected) << "row " << i;
      }
    }
  });
}

TEST(CoreProperty, BlocksToPointsAndBack) {
  forSeeds(60, [](std::uint64_t seed) {
    Random random(seed);
    const HostBsr host = rectangular(random);
    const int bs = host.block_size;
    const DeviceBsr points = toPoints(Exec(), copyTo<Device>(host));
    EXPECT_EQ(points.block_size, 1);
    EXPECT_EQ(toDense(points), toDense(host));
    const DeviceBsr again = toBlocks(Exec(), points, bs);
    EXPECT_EQ(rowsOf(again.graph), rowsOf(host.graph));
    EXPECT_EQ(toHost(again.values), toHost(host.values));
    // Entries in any order, blocks of another size.
    const HostBsr mixed = shuffled(copyTo<HostDevice>(points), seed);
    EXPECT_EQ(toDense(toBlocks(Exec(), copyTo<Device>(mixed), bs)), toDense(host));
  });
}

/// A row that holds a column twice is refused wherever it would be ambiguous.
TEST(CoreProperty, DuplicatesAreRefused) {
  forSeeds(30, [](std::uint64_t seed) {
    Random random(seed);
    Rows rows = squareRows(random);
    Ordinal victim = -1;
    for (Ordinal i = 0; i < Ordinal(rows.size()); ++i)
      if (!rows[i].empty() && (victim < 0 || random.below(4) == 0))
        victim = i;
    if (victim < 0)
      return;
    rows[victim].push_back(rows[victim][random.below(Ordinal(rows[victim].size()))]);
    const Graph<Device> graph = onDevice(rows);
    EXPECT_THROW(sortRows(Exec(), graph), InvalidArgument);
    EXPECT_THROW(toBlocks(Exec(), graph, 1), InvalidArgument);
    if (rows.size() % 2 == 0) {
      const BsrMatrix<double, Device> a(
          graph, allocateZeros<double, Device>(Exec(), "a", graph.numEntries()), 1);
      EXPECT_THROW(toBlocks(Exec(), a, 2), InvalidArgument);
    }
    EXPECT_THROW(permuted(Exec(), identityPermutation<Device>(Exec(), graph.num_rows), graph),
                 InvalidArgument);
  });
}

/// (P A P^T)_kl = A_ij with i = new_to_old(k), j = new_to_old(l); P^T P = I.
TEST(CoreProperty, Permutations) {
  forSeeds(60, [](std::uint64_t seed) {
    Random random(seed);
    Wanted wanted;
    wanted.values = {Values::Any};
    const HostBsr a = randomSystem(seed, wanted).matrix;
    const size_t bs = a.block_size, points = a.numPointRows();
    std::vector<Ordinal> order(a.numRows());
    std::iota(order.begin(), order.end(), 0);
    random.shuffle(order);
    const auto perm = makePermutation<Device>(Exec(), viewOf<Ordinal, Device>(order));
    const DeviceBsr turned = permuted(Exec(), perm, copyTo<Device>(shuffled(a, seed)));
    EXPECT_TRUE(isSorted(Exec(), turned.graph));
    const Doubles dense = toDense(a);
    Doubles expected(dense.size());
    for (size_t i = 0; i < points; ++i)
      for (size_t j = 0; j < points; ++j)
        expected[i * points + j] =
            dense[(order[i / bs] * bs + i % bs) * points + order[j / bs] * bs + j % bs];
    EXPECT_EQ(toDense(turned), expected);
    EXPECT_EQ(toDense(permuted(Exec(), inverse(perm), turned)), dense);
    const Doubles x = random.vector(points);
    const auto px = poisoned(points, 1), back = poisoned(points, 1);
    permute<double, Device>(Exec(), Trans::No, perm, a.block_size, toDevice(x, points, 1), px);
    permute<double, Device>(Exec(), Trans::Yes, perm, a.block_size, px, back);
    EXPECT_EQ(toHost(back), x);
  });
}

/// S A S has a unit diagonal, or an error names a row; also where the entries square out of range.
TEST(CoreProperty, Scaling) {
  Wanted wanted;
  wanted.values = {Values::Spd, Values::Dominant, Values::Symmetric, Values::Any};
  wanted.scales = {Scales::One, Scales::Global, Scales::Diagonal, Scales::RowsColumns};
  wanted.flaws = {Flaw::None,        Flaw::None,      Flaw::MissingDiagonals, Flaw::ZeroRow,
                  Flaw::EmptyColumn, Flaw::TinyPivot, Flaw::NotANumber,       Flaw::Infinity};
  forSystems(80, wanted, [](const RandomSystem& system) {
    const DeviceBsr a = copyTo<Device>(system.matrix);
    const size_t n = system.size();
    for (const ScalingRule rule : {ScalingRule::Diagonal, ScalingRule::ColumnNorm}) {
      Vector<double, Device> s;
      try {
        s = scalingFactors(Exec(), a, rule);
      } catch (const InvalidArgument& error) {
        EXPECT_TRUE(std::string(error.what()).find("cannot scale") != std::string::npos);
        EXPECT_NE(system.flaw, Flaw::None) << error.what();
        continue;
      }
      const Doubles factors = toHost(s);
      for (const double factor : factors)
        EXPECT_TRUE(factor > 0 && std::isfinite(factor)) << factor;
      if (rule == ScalingRule::ColumnNorm)
        continue;
      const Doubles dense = toDense(scaled<double, Device>(Exec(), s, a));
      for (size_t i = 0; i < n; ++i)
        EXPECT_LE(std::abs(std::abs(dense[i * n + i]) - 1), roundingBound(8)) << "row " << i;
    }
  });
}

/// Duplicates of a file are summed in its order; what is written reads back bit by bit.
TEST(CoreProperty, MatrixMarketSumsDuplicates) {
  forSeeds(60, [](std::uint64_t seed) {
    Random random(seed);
    const Ordinal num_rows = 1 + randomSize(random, 1, 65),
                  num_cols = 1 + randomSize(random, 1, 65);
    const int lines = random.below(200);
    std::map<std::pair<Ordinal, Ordinal>, double> sums;
    std::string text = message("%%MatrixMarket matrix coordinate real general\n", num_rows, " ",
                               num_cols, " ", lines, "\n");
    for (int k = 0; k < lines; ++k) {
      const Ordinal i = random.below(num_rows), j = random.below(std::min(num_cols, 7));
      const double value = std::ldexp(random.uniform(-1, 1), random.below(900) - 450);
      char digits[40];
      std::snprintf(digits, sizeof digits, "%.17g", value);
      text += message(i + 1, " ", j + 1, " ", digits, "\n");
      sums[{i, j}] += value;
    }
    const HostBsr a = parseMatrixMarket(text, "random");
    Rows rows(num_rows);
    Doubles values;
    for (const auto& [place, value] : sums) {
      rows[place.first].push_back(place.second);
      values.push_back(value);
    }
    EXPECT_EQ(rowsOf(a.graph), rows);
    EXPECT_EQ(toHost(a.values), values);
    const std::string path = testing::TempDir() + message("ainvil-property-", seed, ".mtx");
    writeMatrixMarket(path, a);
    const HostBsr again = readMatrixMarket(path);
    std::remove(path.c_str());
    EXPECT_EQ(rowsOf(again.graph), rows);
    EXPECT_EQ(toHost(again.values), values);
  });
}

} // namespace
