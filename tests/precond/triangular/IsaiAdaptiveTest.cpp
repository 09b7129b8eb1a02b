// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Approximate inverses whose rows have pattern powers of their own.

#include "precond/triangular/IsaiSupport.hpp"

#include "KokkosObservers.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace {

using namespace test;
using Factor = TriangularFactor<double, Device>;

IluSettings<Device> adaptiveIlu(int power, int steps, double eps, IsaiSide side = IsaiSide::Rows) {
  IluSettings<Device> parameters = isaiIlu(power, side);
  isaiOf(parameters).adaptive = steps;
  isaiOf(parameters).eps = eps;
  return parameters;
}

Rows patternOf(const Isai& solver) {
  return rowsOf(copyTo<HostDevice>(solver.inverse().graph));
}

/// ||M_il T_lk||_F / sqrt(bs) of dense matrices.
double sizeOfProduct(const std::vector<double>& m, const std::vector<double>& t, size_t n,
                     size_t bs, size_t i, size_t l, size_t k) {
  double squares = 0;
  for (size_t r = i * bs; r < (i + 1) * bs; ++r)
    for (size_t c = k * bs; c < (k + 1) * bs; ++c) {
      double sum = 0;
      for (size_t j = l * bs; j < (l + 1) * bs; ++j)
        sum += m[r * n + j] * t[j * n + c];
      squares += sum * sum;
    }
  return std::sqrt(squares / double(bs));
}

/// The bounds of the residuals of all rows, and what each row would grow to.
struct Growth {
  std::vector<double> bounds;
  Rows grown;

  Growth(const Isai& solver, const Factor& factor) : grown(patternOf(solver)) {
    const Rows pattern = grown;
    const Rows of_factor = rowsOf(copyTo<HostDevice>(factor.matrix.graph));
    const auto m = denseApproximation(solver, factor.unit), t = denseFactor(factor);
    const size_t bs = size_t(factor.matrix.block_size), n = pattern.size() * bs;
    for (size_t i = 0; i < pattern.size(); ++i) {
      auto columns = pattern[i];
      if (factor.unit)
        columns.push_back(Ordinal(i));
      double bound = 0;
      for (const Ordinal l : columns)
        for (const Ordinal k : of_factor[l])
          if (std::find(columns.begin(), columns.end(), k) == columns.end()) {
            bound += sizeOfProduct(m, t, n, bs, i, size_t(l), size_t(k));
            if (std::find(grown[i].begin(), grown[i].end(), k) == grown[i].end())
              grown[i].push_back(k);
          }
      bounds.push_back(bound);
      std::sort(grown[i].begin(), grown[i].end());
    }
  }
};

class IsaiAdaptive : public ::testing::TestWithParam<int> {};

TEST_P(IsaiAdaptive, WithoutToleranceEndsAtTheExactInverse) {
  const HostBsr a = matrixOn(randomPattern(40, 4, 71), GetParam(), 71);
  Ilu<double, Device> exact(exactIlu());
  setUp(exact, a);
  for (const IsaiSide side : {IsaiSide::Rows, IsaiSide::Columns}) {
    Ilu<double, Device> ilu(adaptiveIlu(1, 40, 0, side));
    setUp(ilu, a);
    expectNear(denseInverse(ilu), denseInverse(exact), 1e-11);
    expectNear(denseInverse(ilu, Trans::Yes), denseInverse(exact, Trans::Yes), 1e-11);
  }
}

TEST_P(IsaiAdaptive, EqualsThePowerThatAllRowsGrowTo) {
  const HostBsr a = matrixOn(randomPattern(60, 4, 72), GetParam(), 72);
  for (const IsaiSide side : {IsaiSide::Rows, IsaiSide::Columns})
    for (const int power : {1, 2}) {
      Ilu<double, Device> ilu(adaptiveIlu(power, 2, 0, side)), fixed(isaiIlu(power + 2, side));
      setUp(ilu, a);
      setUp(fixed, a);
      EXPECT_EQ(patternOf(lowerOf(ilu)), patternOf(lowerOf(fixed)));
      EXPECT_EQ(denseInverse(ilu), denseInverse(fixed));
      // Nothing grows below a large tolerance.
      Ilu<double, Device> tolerant(adaptiveIlu(power, 2, 1e3, side)), start(isaiIlu(power, side));
      setUp(tolerant, a);
      setUp(start, a);
      EXPECT_EQ(denseInverse(tolerant), denseInverse(start));
    }
}

TEST_P(IsaiAdaptive, RowsGrowWhereTheirResidualIsLarge) {
  for (const bool long_rows : {false, true}) {
    if (long_rows && GetParam() > 1)
      continue; // dense references
    const HostBsr a =
        matrixOn(long_rows ? longRowsPattern(536) : randomPattern(70, 5, 73), GetParam(), 73);
    Ilu<double, Device> start(isaiIlu(1));
    setUp(start, a);
    for (const bool lower : {true, false}) {
      const auto part = [&](const Ilu<double, Device>& of) -> const Isai& {
        return lower ? lowerOf(of) : upperOf(of);
      };
      const Growth growth(part(start), lower ? start.factors().lower() : start.factors().upper());
      auto bounds = growth.bounds;
      std::sort(bounds.begin(), bounds.end());
      // Between two bounds, so that rounding changes nothing.
      const size_t zeros = size_t(std::count(bounds.begin(), bounds.end(), 0.0));
      const size_t middle = (zeros + bounds.size()) / 2;
      ASSERT_LT(zeros + 4, bounds.size());
      const double eps = (bounds[middle - 1] + bounds[middle]) / 2;
      ASSERT_GT(bounds[middle], bounds[middle - 1] * (1 + 1e-6));
      Ilu<double, Device> ilu(adaptiveIlu(1, 1, eps));
      setUp(ilu, a);
      Rows expected = patternOf(part(start));
      int grown = 0;
      for (size_t i = 0; i < expected.size(); ++i)
        if (growth.bounds[i] > eps) {
          expected[i] = growth.grown[i];
          ++grown;
        }
      EXPECT_EQ(patternOf(part(ilu)), expected);
      const std::string note = message(lower ? "lower_grown_rows=" : "upper_grown_rows=", grown);
      EXPECT_NE(ilu.report().notes.find(note), std::string::npos) << ilu.report().notes;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, IsaiAdaptive, ::testing::Values(1, 2, 3, 9));

/// Rows that have grown to a small residual grow no more, and count nevertheless.
TEST(IsaiAdaptivePattern, CountsTheRowsThatHaveGrownAtAll) {
  const HostBsr a = matrixOn(randomPattern(70, 5, 73), 1, 73);
  const auto notes = [&](int steps) {
    Ilu<double, Device> ilu(adaptiveIlu(1, steps, 1e-3));
    setUp(ilu, a);
    return ilu.report().notes;
  };
  const std::string of_one = notes(1);
  EXPECT_NE(of_one.find("lower_grown_rows="), std::string::npos) << of_one;
  EXPECT_EQ(notes(4), of_one);
}

TEST(IsaiAdaptivePattern, IsKeptForNewValues) {
  for (const IsaiSide side : {IsaiSide::Rows, IsaiSide::Columns}) {
    const Pattern pattern = randomPattern(80, 5, 74);
    const HostBsr a = matrixOn(pattern, 2, 74), b = matrixOn(pattern, 2, 75);
    Ilu<double, Device> ilu(adaptiveIlu(1, 3, 0.02, side));
    setUp(ilu, a);
    const Rows kept = patternOf(lowerOf(ilu));
    const DeviceBsr on_device = copyTo<Device>(b);
    {
      const AllocationCounter counter;
      ilu.compute(on_device);
      EXPECT_EQ(counter.count(), 0) << counter.labels();
    }
    EXPECT_EQ(patternOf(lowerOf(ilu)), kept);
    IluSettings<Device> given = isaiIlu(1, side);
    isaiOf(given).lower_pattern = lowerOf(ilu).inverse().graph;
    isaiOf(given).upper_pattern = upperOf(ilu).inverse().graph;
    Ilu<double, Device> fresh(given), other(adaptiveIlu(1, 3, 0.02, side));
    setUp(fresh, b);
    EXPECT_EQ(denseInverse(ilu), denseInverse(fresh));
    // initialize() forgets it.
    setUp(other, b);
    EXPECT_NE(patternOf(lowerOf(other)), kept);
    ilu.initialize(on_device);
    ilu.compute(on_device);
    EXPECT_EQ(patternOf(lowerOf(ilu)), patternOf(lowerOf(other)));
  }
}

TEST(IsaiAdaptivePattern, OfMultiplesOfTheIdentityIsThatOfScalars) {
  const Pattern pattern = randomPattern(50, 5, 76);
  const HostBsr scalar = matrixOn(pattern, 1, 76);
  Ilu<double, Device> small(adaptiveIlu(1, 2, 0.01));
  setUp(small, scalar);
  for (const int bs : {2, 9}) {
    HostBsr block = matrixOn(pattern, bs, 77);
    for (Offset e = 0; e < block.numEntries(); ++e)
      for (int k = 0; k < bs * bs; ++k)
        block.values(e * bs * bs + k) = k % (bs + 1) == 0 ? scalar.values(e) : 0.0;
    Ilu<double, Device> large(adaptiveIlu(1, 2, 0.01));
    setUp(large, block);
    EXPECT_EQ(patternOf(lowerOf(large)), patternOf(lowerOf(small)));
    EXPECT_EQ(patternOf(upperOf(large)), patternOf(upperOf(small)));
  }
}

/// Rows by powers of 2, which round nothing: M of D L is M D^-1, and U is the same.
TEST(IsaiAdaptivePattern, DoesNotDependOnTheUnitsOfRows) {
  const HostBsr a = matrixOn(randomPattern(80, 5, 78), 1, 78);
  Ilu<double, Device> plain(adaptiveIlu(1, 2, 0.02)), scaled(adaptiveIlu(1, 2, 0.02));
  setUp(plain, a);
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      a.values(e) = std::ldexp(a.values(e), 9 * (i % 5));
  setUp(scaled, a);
  EXPECT_EQ(patternOf(lowerOf(scaled)), patternOf(lowerOf(plain)));
  EXPECT_EQ(patternOf(upperOf(scaled)), patternOf(upperOf(plain)));
}

/// The row that grows has an entry of 1e400.
TEST(IsaiAdaptivePattern, OfAnInverseThatOverflowsIsRefusedOrSubstituted) {
  const HostBsr a = matrixOn(Pattern{{0, 1}, {1, 2}, {2}}, 1, 79);
  for (Offset e = 0; e < a.numEntries(); ++e)
    a.values(e) = e % 2 == 0 ? 1 : 1e200;
  IluSettings<Device> parameters = adaptiveIlu(1, 1, 0.1);
  parameters.factorization.pivot_tolerance = 0;
  Ilu<double, Device> refused(parameters);
  EXPECT_THROW(setUp(refused, a), BreakdownError);
  isaiOf(parameters).relax = IsaiOptions::relax_auto;
  Ilu<double, Device> substituted(parameters);
  setUp(substituted, a);
  EXPECT_TRUE(upperOf(substituted).isSubstituted());
}

} // namespace
} // namespace ainvil
