// SPDX-License-Identifier: BSD-3-Clause
#include "precond/PrecondSupport.hpp"

#include "Ainvil_Jacobi.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ainvil {
namespace {

using namespace test;

class JacobiBlockSize : public ::testing::TestWithParam<int> {};

TEST_P(JacobiBlockSize, InvertsTheDiagonalBlocks) {
  const int bs = GetParam();
  const size_t n = 23 * bs;
  const HostBsr a = matrixOn(randomPattern(23, 4, 71), bs, 71);
  for (const bool point : {false, true}) {
    JacobiParameters parameters;
    parameters.point = point;
    Jacobi<double, Device> jacobi(parameters);
    setUp(jacobi, a);
    auto diagonal = toDense(a);
    const size_t size = point ? 1 : bs;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        if (i / size != j / size)
          diagonal[i * n + j] = 0;
    expectNear(denseInverse(jacobi), inverse(diagonal, n), 1e-13);
    EXPECT_EQ(jacobi.report().factor_entries, Offset(n * size));
    EXPECT_EQ(jacobi.report().factor_bytes, Offset(n * size * sizeof(double)));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, JacobiBlockSize, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 11, 17));

TEST(Jacobi, EqualsIluOnADiagonalPattern) {
  const HostBsr a = matrixOn(diagonalPattern(17), 4, 72);
  Jacobi<double, Device> jacobi{JacobiParameters()};
  Ilu<double, Device> ilu(exactIlu());
  setUp(jacobi, a);
  setUp(ilu, a);
  expectNear(denseInverse(jacobi), denseInverse(ilu), 1e-14);
}

TEST(Jacobi, ZeroDiagonalFollowsThePolicy) {
  HostBsr a = matrixOn(diagonalPattern(6), 2, 73);
  for (int k = 0; k < 4; ++k)
    a.values(4 * 4 + k) = 0;
  try {
    Jacobi<double, Device> jacobi{JacobiParameters()};
    setUp(jacobi, a);
    FAIL() << "no exception";
  } catch (const BreakdownError& error) {
    EXPECT_NE(std::string(error.what()).find("block row 5 (counted from 1)"), std::string::npos)
        << error.what();
  }
  JacobiParameters parameters;
  parameters.breakdown = BreakdownPolicy::Replace;
  Jacobi<double, Device> jacobi(parameters);
  setUp(jacobi, a);
  EXPECT_EQ(jacobi.report().breakdowns, 1);
  const auto m = denseInverse(jacobi);
  EXPECT_EQ(m[8 * 12 + 8], 1.0);
  EXPECT_EQ(m[8 * 12 + 9], 0.0);
}

TEST(Jacobi, RefusesShiftsThatAreNotPositive) {
  for (const double shift : {0.0, -1.0, std::nan("")}) {
    JacobiParameters parameters;
    parameters.shift = shift;
    EXPECT_THROW((Jacobi<double, Device>(parameters)), InvalidArgument) << shift;
  }
}

TEST(Jacobi, RefusesNegativePivotTolerances) {
  for (const double tolerance : {0.0, 1.0, -1e-300, -1.0, std::nan("")}) {
    JacobiParameters parameters;
    parameters.pivot_tolerance = tolerance;
    if (tolerance >= 0)
      EXPECT_NO_THROW((Jacobi<double, Device>(parameters))) << tolerance;
    else
      EXPECT_THROW((Jacobi<double, Device>(parameters)), InvalidArgument) << tolerance;
  }
}

/// 1 / 1e-310 is infinite.
TEST(Jacobi, DenormalDiagonalFollowsThePolicy) {
  HostBsr a = matrixOn(diagonalPattern(3), 1, 74);
  a.values(1) = 1e-310;
  for (const BreakdownPolicy policy : {BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
    JacobiParameters parameters;
    parameters.breakdown = policy;
    Jacobi<double, Device> jacobi(parameters);
    setUp(jacobi, a);
    EXPECT_EQ(jacobi.report().breakdowns, 1);
    EXPECT_EQ(denseInverse(jacobi)[4], policy == BreakdownPolicy::Shift ? 1e3 : 1.0);
  }
}

/// Noise of an assembly beside entries of 1, in a block and a scalar; 1e-12 is small and no noise.
TEST(Jacobi, DiagonalsThatAreRoundingErrorsOfTheirRowsAreCounted) {
  for (const int bs : {1, 2})
    for (const double diagonal : {6e-17, 1e-12}) {
      HostBsr a = matrixOn(fullPattern(40), bs, 75);
      for (size_t e = 0; e < a.values.extent(0); ++e)
        a.values(e) = 1;
      for (int i = 0; i < 40; ++i)
        for (int r = 0; r < bs; ++r)
          for (int c = 0; c < bs; ++c)
            a.values(((i * 40 + i) * bs + r) * bs + c) = r == c ? (i == 37 ? diagonal : 1.0) : 0.0;
      JacobiParameters parameters;
      parameters.breakdown = BreakdownPolicy::Shift;
      Jacobi<double, Device> jacobi(parameters);
      setUp(jacobi, a);
      EXPECT_EQ(jacobi.report().breakdowns, diagonal == 6e-17 ? 1 : 0);
      if (diagonal == 6e-17) {
        EXPECT_EQ(jacobi.report().first_breakdown, 37);
        const size_t n = 40 * bs;
        EXPECT_NEAR(denseInverse(jacobi)[(37 * bs) * n + 37 * bs], 1e3, 1e-9);
      }
      parameters.pivot_tolerance = 0;
      Jacobi<double, Device> silent(parameters);
      setUp(silent, a);
      EXPECT_EQ(silent.report().breakdowns, 0);
    }
}

/// In float the digits of the diagonal are those of A, which may come from double: 1e-9 of its row
/// is no rounding error. What an application reads are numbers of four bytes.
TEST(Jacobi, InFloat) {
  const HostBsr a = matrixOn(fullPattern(3), 1, 76);
  for (size_t e = 0; e < 9; ++e)
    a.values(e) = e % 4 == 0 ? 1e-9 : 1;
  const auto in_float = copyTo<Device>(inPrecision<float>(a));
  Jacobi<float, Device> jacobi{JacobiParameters()};
  jacobi.initialize(in_float);
  jacobi.compute(in_float);
  EXPECT_EQ(jacobi.report().breakdowns, 0);
  EXPECT_EQ(jacobi.report().factor_entries, 3);
  EXPECT_EQ(jacobi.report().factor_bytes, Offset(3 * sizeof(float)));
}

/// The second column of the first block holds 1 in a row of A that reaches 1e20, and 0 below it.
TEST(Jacobi, EntriesOfAColumnAreJudgedByTheirRows) {
  const HostBsr a = matrixOn(Pattern{{0, 1}, {1}}, 2, 77);
  const double rows[] = {1e6, 1, 0.5, 0, 1e20, 0, 0, 0};
  std::copy(rows, rows + 8, a.values.data());
  JacobiParameters parameters;
  parameters.breakdown = BreakdownPolicy::Replace;
  Jacobi<double, Device> jacobi(parameters);
  setUp(jacobi, a);
  EXPECT_EQ(jacobi.report().breakdowns, 1);
  EXPECT_EQ(jacobi.report().first_breakdown, 0);
  a.values(4) = 1e12; // then it is far from the rounding errors of its row
  setUp(jacobi, a);
  EXPECT_EQ(jacobi.report().breakdowns, 0);
}

} // namespace
} // namespace ainvil
