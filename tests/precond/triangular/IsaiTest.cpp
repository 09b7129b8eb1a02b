// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/IsaiSupport.hpp"

#include "Ainvil_GraphAlgebra.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace {

using namespace test;
/// Checks (M T)_ij = I_ij or (T M)_ij = I_ij for every block (i, j) of M and its diagonal.
void expectDefinition(const Isai& solver, const TriangularFactor<double, Device>& factor,
                      IsaiSide side, double tolerance) {
  const auto m = denseApproximation(solver, factor.unit);
  const auto t = denseFactor(factor);
  const size_t n = static_cast<size_t>(factor.matrix.numPointRows());
  const auto product = side == IsaiSide::Rows ? multiply(m, t, n) : multiply(t, m, n);
  const auto pattern = copyTo<HostDevice>(solver.inverse().graph);
  const int bs = factor.matrix.block_size;
  for (Ordinal i = 0; i < pattern.num_rows; ++i) {
    const auto check = [&](Ordinal j) {
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < bs; ++c)
          ASSERT_NEAR(product[(size_t(i) * bs + r) * n + size_t(j) * bs + c],
                      i == j && r == c ? 1.0 : 0.0, tolerance)
              << "block " << i << ", " << j;
    };
    check(i);
    for (Offset e = pattern.row_map(i); e < pattern.row_map(i + 1); ++e)
      check(pattern.entries(e));
  }
}

class IsaiBlockSize : public ::testing::TestWithParam<int> {};

TEST_P(IsaiBlockSize, DefinitionHoldsOnThePattern) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(randomPattern(37, 5, 31), bs, 31);
  for (const IsaiSide side : {IsaiSide::Rows, IsaiSide::Columns})
    for (const int power : {1, 2, 3}) {
      Ilu<double, Device> ilu(isaiIlu(power, side));
      setUp(ilu, a);
      expectDefinition(lowerOf(ilu), ilu.factors().lower(), side, 1e-12);
      expectDefinition(upperOf(ilu), ilu.factors().upper(), side, 1e-12);
    }
}

TEST_P(IsaiBlockSize, FullPatternIsTheExactInverseEitherWay) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(fullPattern(9), bs, 32);
  const auto expected = inverse(toDense(a), 9 * bs);
  for (const IsaiSide side : {IsaiSide::Rows, IsaiSide::Columns}) {
    Ilu<double, Device> ilu(isaiIlu(1, side));
    setUp(ilu, a);
    expectNear(denseInverse(ilu), expected, 1e-12);
  }
}

TEST_P(IsaiBlockSize, ApplicationIsTheProductOfBothInverses) {
  const int bs = GetParam();
  const size_t n = 29 * bs;
  const HostBsr a = matrixOn(randomPattern(29, 5, 33), bs, 33);
  Ilu<double, Device> ilu(isaiIlu(1));
  setUp(ilu, a);
  const auto expected =
      multiply(denseApproximation(upperOf(ilu), true), denseApproximation(lowerOf(ilu), false), n);
  expectNear(denseInverse(ilu), expected, 1e-13);
  expectNear(denseInverse(ilu, Trans::Yes), transposed(expected, n), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Sizes, IsaiBlockSize, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 11, 17));

TEST(Isai, RowsOfManyLengths) {
  for (const int bs : {1, 3}) {
    const HostBsr a = matrixOn(longRowsPattern(bs == 1 ? 615 : 536), bs, 34);
    for (const IsaiSide side : {IsaiSide::Rows, IsaiSide::Columns}) {
      Ilu<double, Device> ilu(isaiIlu(1, side));
      setUp(ilu, a);
      expectDefinition(lowerOf(ilu), ilu.factors().lower(), side, 1e-11);
      expectDefinition(upperOf(ilu), ilu.factors().upper(), side, 1e-11);
    }
  }
}

/// Rows whose accumulators exceed any fast scratch: 300 blocks of 11 x 11 are 290 kB.
TEST(Isai, AccumulatorsLargerThanFastScratch) {
  const HostBsr a = matrixOn(longRowsPattern(310), 11, 35);
  Ilu<double, Device> ilu(isaiIlu(1));
  setUp(ilu, a);
  const auto& factor = ilu.factors().lower();
  const auto m = copyTo<HostDevice>(lowerOf(ilu).inverse());
  const auto t = denseFactor(factor);
  const size_t n = 310 * 11;
  // The last row alone, against its definition: the whole product would take long.
  const Ordinal i = 309;
  std::vector<double> row(11 * n, 0.0);
  for (Offset e = m.graph.row_map(i); e < m.graph.row_map(i + 1); ++e)
    for (int r = 0; r < 11; ++r)
      for (int k = 0; k < 11; ++k)
        for (size_t c = 0; c < n; ++c)
          row[r * n + c] +=
              m.values((e * 11 + r) * 11 + k) * t[(size_t(m.graph.entries(e)) * 11 + k) * n + c];
  ASSERT_EQ(m.graph.row_map(i + 1) - m.graph.row_map(i), 300);
  for (Offset e = m.graph.row_map(i); e < m.graph.row_map(i + 1); ++e)
    for (int r = 0; r < 11; ++r)
      for (int c = 0; c < 11; ++c) {
        const size_t column = size_t(m.graph.entries(e)) * 11 + c;
        ASSERT_NEAR(row[r * n + column], column == size_t(i) * 11 + r ? 1.0 : 0.0, 1e-10);
      }
}

TEST(Isai, DiagonalPatternEqualsBlockDiagonalFactors) {
  const HostBsr a = matrixOn(randomPattern(25, 4, 36), 3, 36);
  IluSettings<Device> parameters = isaiIlu(1);
  const Graph<Device> diagonal = copyTo<Device>(matrixOn(diagonalPattern(25), 1, 1).graph);
  isaiOf(parameters).lower_pattern = diagonal;
  isaiOf(parameters).upper_pattern = diagonal;
  Ilu<double, Device> ilu(parameters);
  setUp(ilu, a);
  // U is unit, L has the pivot blocks: M^-1 is their block diagonal inverse.
  const auto lower = denseFactor(ilu.factors().lower());
  std::vector<double> pivots(75 * 75, 0.0);
  for (size_t i = 0; i < 75; ++i)
    for (size_t j = 0; j < 75; ++j)
      if (i / 3 == j / 3)
        pivots[i * 75 + j] = lower[i * 75 + j];
  expectNear(denseInverse(ilu), inverse(pivots, 75), 1e-13);
}

TEST(Isai, UserPatternEqualsThePowerItSpells) {
  const HostBsr a = matrixOn(randomPattern(40, 4, 37), 2, 37);
  Ilu<double, Device> by_power(isaiIlu(2));
  setUp(by_power, a);
  IluSettings<Device> parameters = isaiIlu(1);
  isaiOf(parameters).lower_pattern = lowerOf(by_power).inverse().graph;
  isaiOf(parameters).upper_pattern = upperOf(by_power).inverse().graph;
  Ilu<double, Device> by_pattern(parameters);
  setUp(by_pattern, a);
  EXPECT_EQ(denseInverse(by_pattern), denseInverse(by_power));
  for (Graph<Device>* pattern :
       {&isaiOf(parameters).lower_pattern, &isaiOf(parameters).upper_pattern}) {
    Rows reversed = rowsOf(*pattern);
    for (auto& row : reversed)
      std::reverse(row.begin(), row.end());
    *pattern = copyTo<Device>(makeGraph(reversed));
  }
  Ilu<double, Device> by_unsorted(parameters);
  setUp(by_unsorted, a);
  EXPECT_EQ(denseInverse(by_unsorted), denseInverse(by_power));
  EXPECT_EQ(by_pattern.report().factor_entries, by_power.report().factor_entries);
}

TEST(Isai, RefusesAUserPatternThatDoesNotFit) {
  const HostBsr a = matrixOn(randomPattern(12, 3, 38), 1, 38);
  const auto refused = [&](const Graph<Device>& lower) {
    IluSettings<Device> parameters = isaiIlu(1);
    isaiOf(parameters).lower_pattern = lower;
    Ilu<double, Device> ilu(parameters);
    EXPECT_THROW(setUp(ilu, a), InvalidArgument);
  };
  refused(copyTo<Device>(matrixOn(diagonalPattern(11), 1, 1).graph));
  refused(copyTo<Device>(matrixOn(fullPattern(12), 1, 1).graph));
}

TEST(Isai, RelaxationStepsFollowTheirFormula) {
  const size_t n = 3 * 30;
  const HostBsr a = matrixOn(randomPattern(30, 6, 39), 3, 39);
  Ilu<double, Device> plain(isaiIlu(1));
  setUp(plain, a);
  for (const int relax : {1, 2, 5}) {
    Ilu<double, Device> ilu(isaiIlu(1, IsaiSide::Rows, relax));
    setUp(ilu, a);
    // Z_{k+1} = Z_k + M (I - T Z_k) for each factor.
    const auto relaxed = [&](const Isai& solver, const TriangularFactor<double, Device>& factor) {
      const auto m = denseApproximation(solver, factor.unit);
      const auto t = denseFactor(factor);
      auto z = m;
      for (int k = 0; k < relax; ++k) {
        auto residual = multiply(t, z, n);
        for (size_t i = 0; i < n; ++i)
          for (size_t j = 0; j < n; ++j)
            residual[i * n + j] = (i == j ? 1.0 : 0.0) - residual[i * n + j];
        const auto correction = multiply(m, residual, n);
        for (size_t i = 0; i < n * n; ++i)
          z[i] += correction[i];
      }
      return z;
    };
    const auto expected = multiply(relaxed(upperOf(plain), plain.factors().upper()),
                                   relaxed(lowerOf(plain), plain.factors().lower()), n);
    expectNear(denseInverse(ilu), expected, 1e-12);
    expectNear(denseInverse(ilu, Trans::Yes), transposed(expected, n), 1e-12);
  }
}

TEST(Isai, AsManyStepsAsLevelsAreExact) {
  const HostBsr a = matrixOn(randomPattern(40, 4, 40), 2, 40);
  Ilu<double, Device> exact(exactIlu());
  Ilu<double, Device> relaxed(isaiIlu(1, IsaiSide::Rows, 40));
  setUp(exact, a);
  setUp(relaxed, a);
  expectNear(denseInverse(relaxed), denseInverse(exact), 1e-11);
}

TEST(Isai, StorageRoundsTheInverse) {
  const HostBsr a = matrixOn(randomPattern(70, 6, 42), 3, 42);
  using Method = Ilu<double, Device>;
  const auto check = [](const Method& rounded, const Method& in_double, double error) {
    expectRoundedFactors(rounded, in_double, 5 * error);
    EXPECT_LT(rounded.report().factor_bytes, 0.6 * in_double.report().factor_bytes);
  };
  for (const IsaiSide side : {IsaiSide::Rows, IsaiSide::Columns})
    for (const int relax : {0, 2})
      forEachRounding<Method>(isaiIlu(2, side, relax), a, check);
}

/// U = I + couplings of 1e200 is finite, the entry (0, 2) of its inverse is 1e400.
TEST(Isai, InversesThatOverflowAreRefused) {
  const HostBsr a = matrixOn(Pattern{{0, 1}, {1, 2}, {2}}, 1, 66);
  for (Offset e = 0; e < a.numEntries(); ++e)
    a.values(e) = e % 2 == 0 ? 1 : 1e200;
  for (const IsaiSide side : {IsaiSide::Rows, IsaiSide::Columns}) {
    IluSettings<Device> one = isaiIlu(1, side), two = isaiIlu(2, side);
    one.factorization.pivot_tolerance = two.factorization.pivot_tolerance = 0;
    Ilu<double, Device> finite(one), infinite(two);
    EXPECT_NO_THROW(setUp(finite, a));
    EXPECT_THROW(setUp(infinite, a), BreakdownError);
  }
}

TEST(Isai, BlocksOfMultiplesOfTheIdentityEqualTheScalarInverse) {
  const Pattern pattern = randomPattern(50, 5, 43);
  const HostBsr scalar = matrixOn(pattern, 1, 43);
  for (const int bs : {2, 9}) {
    HostBsr block = matrixOn(pattern, bs, 44);
    for (Offset e = 0; e < block.numEntries(); ++e)
      for (int k = 0; k < bs * bs; ++k)
        block.values(e * bs * bs + k) = k % (bs + 1) == 0 ? scalar.values(e) : 0.0;
    Ilu<double, Device> small(isaiIlu(2)), large(isaiIlu(2));
    setUp(small, scalar);
    setUp(large, block);
    const auto expected = denseInverse(small);
    const auto actual = denseInverse(large);
    std::vector<double> component(50 * 50);
    for (size_t i = 0; i < 50; ++i)
      for (size_t j = 0; j < 50; ++j)
        component[i * 50 + j] = actual[(i * bs + 1) * 50 * bs + j * bs + 1];
    expectNear(component, expected, 1e-13);
  }
}

} // namespace
} // namespace ainvil
