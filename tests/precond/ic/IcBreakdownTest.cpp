// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ic/IcSupport.hpp"

#include "Ainvil_Cg.hpp"
#include "Refusal.hpp"
#include "io/Ainvil_MatrixMarket.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ainvil {
namespace {

using namespace test;

/// Kershaw's matrix (1978): SPD, but its factor without fill has the pivots 3, 5/3, 3/5 and -5. In
/// blocks it stands in for the scalars times the identity. `copies` of it lie on the diagonal.
HostBsr kershaw(int bs = 1, Ordinal copies = 1) {
  const double entries[4][4] = {{3, -2, 0, 2}, {-2, 3, -2, 0}, {0, -2, 3, -2}, {2, 0, -2, 3}};
  Pattern pattern(4 * copies);
  for (Ordinal i = 0; i < 4 * copies; ++i)
    for (Ordinal j = 0; j < 4; ++j)
      if (entries[i % 4][j] != 0)
        pattern[i].insert(i / 4 * 4 + j);
  const HostBsr a = matrixOn(pattern, bs, 41);
  for (Ordinal i = 0; i < 4 * copies; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      for (int k = 0; k < bs * bs; ++k)
        a.values(e * bs * bs + k) =
            k % (bs + 1) == 0 ? entries[i % 4][a.graph.entries(e) % 4] : 0.0;
  return a;
}

IcParameters<double, Device> withPolicy(BreakdownPolicy policy) {
  IcParameters<double, Device> parameters = exactIc();
  parameters.breakdown = policy;
  return parameters;
}

/// Pivots of (I + S) D (I + S)^T of A + alpha diag(A) for the matrix above, by hand.
bool holds(double alpha) {
  const double d = 3 * (1 + alpha);
  const double second = d - 4 / d, third = d - 4 / second, fourth = d - 4 / d - 4 / third;
  return second > 0 && third > 0 && fourth > 0;
}

TEST(IcBreakdown, ShiftGrowsUntilTheFactorHolds) {
  double expected = 1e-3;
  while (!holds(expected))
    expected *= 2;
  EXPECT_GT(expected, 1e-3);
  for (const int bs : {1, 3, 11}) {
    SCOPED_TRACE(message("block size ", bs));
    const HostBsr a = kershaw(bs, 2);
    IcMethod ic(exactIc()); // the default policy
    setUp(ic, a);
    EXPECT_EQ(ic.report().breakdowns, 2);
    EXPECT_EQ(ic.report().first_breakdown, 3);
    EXPECT_EQ(ic.shift(), expected);
    EXPECT_NE(ic.report().notes.find(message("shift=", expected)), std::string::npos)
        << ic.report().notes;
    // The whole factor is that of the shifted matrix.
    HostBsr shifted = kershaw(bs, 2);
    for (Ordinal i = 0; i < 8; ++i)
      for (Offset e = shifted.graph.row_map(i); e < shifted.graph.row_map(i + 1); ++e)
        for (int r = 0; r < bs && shifted.graph.entries(e) == i; ++r)
          shifted.values((e * bs + r) * bs + r) *= 1 + expected;
    IcMethod of_shifted(withPolicy(BreakdownPolicy::Fail));
    setUp(of_shifted, shifted);
    EXPECT_EQ(of_shifted.shift(), 0);
    expectNear(denseInverse(ic), denseInverse(of_shifted), 1e-12);
    // A good matrix on the same graph is not shifted.
    HostBsr good = kershaw(bs, 2);
    for (Ordinal i = 0; i < 8; ++i)
      for (Offset e = good.graph.row_map(i); e < good.graph.row_map(i + 1); ++e)
        for (int r = 0; r < bs && good.graph.entries(e) == i; ++r)
          good.values((e * bs + r) * bs + r) = 9;
    ic.compute(copyTo<Device>(good));
    EXPECT_EQ(ic.shift(), 0);
    EXPECT_EQ(ic.report().breakdowns, 0);
    EXPECT_EQ(ic.report().notes, "");
  }
}

TEST(IcBreakdown, ShiftIsDoubledFromTheFirstOneOn) {
  for (const double first : {2e-3, 3e-3, 0.4}) {
    double expected = first;
    int attempts = 1;
    for (; !holds(expected); ++attempts)
      expected *= 2;
    IcParameters<double, Device> parameters = exactIc();
    parameters.shift = first;
    IcMethod ic(parameters);
    setUp(ic, kershaw());
    EXPECT_EQ(ic.shift(), expected);
    const std::string note = message("factorizations=", 1 + attempts);
    EXPECT_NE(ic.report().notes.find(note), std::string::npos) << ic.report().notes;
  }
}

/// The 64th alpha is the last one.
TEST(IcBreakdown, ShiftEndsAfterManyAttempts) {
  ASSERT_TRUE(holds(0.25));
  ASSERT_FALSE(holds(0.125));
  IcParameters<double, Device> parameters = exactIc();
  parameters.shift = 0x1p-65;
  IcMethod last(parameters);
  setUp(last, kershaw());
  EXPECT_EQ(last.shift(), 0.25);
  parameters.shift = 0x1p-66;
  IcMethod beyond(parameters);
  const std::string text = refusal([&] { setUp(beyond, kershaw()); });
  EXPECT_NE(text.find("up to alpha = 0.125"), std::string::npos) << text;
}

/// Unknowns 1 and 3 alone are coupled, so blocks of two have the factor of the scalars. Unknown 1,
/// of zero diagonal, is shifted by multiples of what is in its own row.
TEST(IcBreakdown, ShiftOfAZeroIsRelativeToItsRow) {
  const double c = 100;
  const HostBsr blocks = matrixOn(fullPattern(2), 2, 48), scalars = matrixOn(fullPattern(4), 1, 48);
  const double dense[4][4] = {{1, 0, 0, 0}, {0, 0, 0, c}, {0, 0, 1, 0}, {0, c, 0, 1}};
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      blocks.values((i / 2 * 2 + j / 2) * 4 + i % 2 * 2 + j % 2) = dense[i][j];
      scalars.values(i * 4 + j) = dense[i][j];
    }
  IcMethod of_blocks(exactIc()), of_scalars(exactIc());
  setUp(of_blocks, blocks);
  setUp(of_scalars, scalars);
  EXPECT_GT(of_scalars.shift(), 1);
  EXPECT_EQ(of_blocks.shift(), of_scalars.shift());
  expectNear(denseInverse(of_blocks), denseInverse(of_scalars), 1e-14);
}

/// Pivots are replaced, but entries beside them may have overflown.
TEST(IcBreakdown, FactorThatOverflowsIsRefused) {
  const double d = 1.7e308, a = 1.2e308;
  const HostBsr matrix = matrixOn(fullPattern(3), 1, 49);
  const double values[] = {d, a, a, a, d, -a, a, -a, d};
  std::copy_n(values, 9, matrix.values.data());
  IcMethod ic(withPolicy(BreakdownPolicy::Replace));
  try {
    setUp(ic, matrix);
    ADD_FAILURE() << "no exception";
  } catch (const BreakdownError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("the factor S"), std::string::npos) << text;
  }
}

TEST(IcBreakdown, FailNamesTheFirstRowAndThePolicies) {
  for (const int bs : {1, 3, 11}) {
    IcMethod ic(withPolicy(BreakdownPolicy::Fail));
    try {
      setUp(ic, kershaw(bs, 2));
      FAIL() << "no exception";
    } catch (const BreakdownError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("2 pivot blocks are not positive definite"), std::string::npos) << text;
      EXPECT_NE(text.find("block row 4 (counted from 1)"), std::string::npos) << text;
      EXPECT_NE(text.find("'shift'"), std::string::npos) << text;
      EXPECT_NE(text.find("'replace'"), std::string::npos) << text;
    }
    EXPECT_FALSE(ic.isComputed());
  }
}

TEST(IcBreakdown, ReplacedPivotsLeaveItPositiveDefinite) {
  for (const int bs : {1, 3, 11}) {
    IcMethod ic(withPolicy(BreakdownPolicy::Replace));
    setUp(ic, kershaw(bs, 2));
    EXPECT_EQ(ic.report().breakdowns, 2);
    EXPECT_EQ(ic.report().first_breakdown, 3);
    EXPECT_EQ(ic.shift(), 0);
    for (const double inverse : toHost(ic.pivotInverses()))
      EXPECT_GE(inverse, 0);
    expectNear(denseInverse(ic), inverseOfFactors(ic), 1e-12);
  }
}

/// A block that is regular and symmetric, but not positive definite, breaks down as a negative
/// scalar does.
TEST(IcBreakdown, IndefiniteBlocks) {
  for (const int bs : {2, 5, 11}) {
    const HostBsr a = spdMatrixOn(diagonalPattern(9), bs, 42);
    // A large entry beside the diagonal of the block: its last two rows alone are indefinite.
    const Offset block = Offset(6) * bs * bs;
    a.values(block + (bs - 1) * bs + bs - 2) = a.values(block + (bs - 2) * bs + bs - 1) = 100;
    IcMethod failing(withPolicy(BreakdownPolicy::Fail));
    const std::string text = refusal([&] { setUp(failing, a); });
    EXPECT_NE(text.find("block row 7 (counted from 1)"), std::string::npos) << text;
    for (const auto policy : {BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
      IcMethod ic(withPolicy(policy));
      setUp(ic, a);
      EXPECT_EQ(ic.report().breakdowns, 1);
      EXPECT_EQ(ic.report().first_breakdown, 6);
      const size_t n = static_cast<size_t>(ic.numPointRows());
      const auto dense = denseInverse(ic);
      Random random(43);
      for (int probe = 0; probe < 10; ++probe) {
        const auto x = random.vector(n), mx = multiply(dense, x, n);
        double sum = 0;
        for (size_t i = 0; i < n; ++i)
          sum += x[i] * mx[i];
        EXPECT_GT(sum, 0);
      }
    }
  }
}

/// Zeros and negative numbers on the diagonal of A: nothing that a multiple of diag(A) could mend.
TEST(IcBreakdown, ZeroAndNegativeDiagonals) {
  for (const double value : {0.0, -2.0}) {
    const HostBsr a = spdMatrixOn(symmetricPattern(12, 2, 44), 1, 44);
    for (const Ordinal i : {5, 8})
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        if (a.graph.entries(e) == i)
          a.values(e) = value;
    IcMethod failing(withPolicy(BreakdownPolicy::Fail));
    const std::string text = refusal([&] { setUp(failing, a); });
    EXPECT_NE(text.find("block row 6 (counted from 1)"), std::string::npos) << text;
    for (const auto policy : {BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
      IcMethod ic(withPolicy(policy));
      setUp(ic, a);
      EXPECT_GE(ic.report().breakdowns, 2);
      EXPECT_EQ(ic.report().first_breakdown, 5);
      for (const double inverse : toHost(ic.pivotInverses())) {
        EXPECT_GT(inverse, 0);
        EXPECT_LT(inverse, 1e6);
      }
    }
  }
}

TEST(IcBreakdown, PivotToleranceDecidesWhatIsRounding) {
  // The second pivot is 2^-40 of its row.
  const HostBsr a = matrixOn(fullPattern(2), 1, 45);
  const double values[] = {1, 1, 1, 1 + 0x1p-40};
  std::copy_n(values, 4, a.values.data());
  IcParameters<double, Device> parameters = withPolicy(BreakdownPolicy::Fail);
  IcMethod good(parameters);
  setUp(good, a);
  parameters.pivot_tolerance = 0x1p13;
  IcMethod failing(parameters);
  EXPECT_THROW(setUp(failing, a), BreakdownError);
}

TEST(IcBreakdown, RefusesValuesThatAreNotFinite) {
  for (const int bs : {1, 3})
    for (const double bad :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
      for (const auto policy :
           {BreakdownPolicy::Fail, BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
        const HostBsr a = spdMatrixOn(symmetricPattern(12, 2, 46), bs, 46);
        a.values(a.values.extent(0) - 1) = bad;
        IcMethod ic(withPolicy(policy));
        EXPECT_THROW(setUp(ic, a), InvalidArgument);
      }
}

/// A diagonal that the pattern lacks counts as zero.
TEST(IcBreakdown, MissingDiagonal) {
  Pattern pattern = symmetricPattern(12, 2, 47);
  pattern[4].erase(4);
  const HostBsr a = spdMatrixOn(pattern, 2, 47);
  IcMethod failing(withPolicy(BreakdownPolicy::Fail));
  const std::string text = refusal([&] { setUp(failing, a); });
  EXPECT_NE(text.find("block row 5 (counted from 1)"), std::string::npos) << text;
  IcMethod shifted(exactIc());
  setUp(shifted, a);
  EXPECT_EQ(shifted.report().first_breakdown, 4);
  expectNear(denseInverse(shifted), inverseOfFactors(shifted), 1e-12);
}

/// Matrices on which CG with ilu breaks down.
class IcHardMatrix : public ::testing::TestWithParam<const char*> {};

TEST_P(IcHardMatrix, CgConvergesByTheShift) {
  const std::string path = matrixPath(std::string(GetParam()) + ".mtx.gz");
  if (path.empty())
    GTEST_SKIP() << GetParam() << " is neither in AINVIL_MATRIX_DIR nor beside the sources";
  const DeviceBsr a = copyTo<Device>(readMatrixMarket(path));
  IcMethod ic(exactIc());
  ic.initialize(a);
  ic.compute(a);
  EXPECT_GT(ic.report().breakdowns, 0);
  EXPECT_GT(ic.shift(), 0);
  const size_t n = static_cast<size_t>(a.numPointRows());
  const auto b = toDevice(std::vector<double>(n, 1.0)), x = toDevice(std::vector<double>(n, 0.0));
  SolverOptions options;
  options.tolerance = 1e-8;
  options.max_iterations = 5000;
  EXPECT_EQ(cg(MatrixOperator<double, Device>(a), &ic, b, x, options).status,
            SolveStatus::Converged);
}

INSTANTIATE_TEST_SUITE_P(Matrices, IcHardMatrix, ::testing::Values("bcsstk14", "cvxbqp1"));

} // namespace
} // namespace ainvil
