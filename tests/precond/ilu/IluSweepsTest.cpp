// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ilu/IluSupport.hpp"

#include <gtest/gtest.h>

namespace ainvil {
namespace {

using namespace test;

TEST(IluSweeps, ApproachTheFactorsAndReachThemAfterAsManyAsLevels) {
  for (const int bs : {1, 3, 11})
    for (const int level : {0, 1}) {
      const HostBsr a = matrixOn(randomPattern(60, 15, 81), bs, 81);
      const DeviceBsr on_device = copyTo<Device>(a);
      Report report;
      BlockIluParameters parameters;
      parameters.level = level;
      BlockIlu<double, Device> exact(parameters);
      exact.initialize(Exec(), on_device, report);
      exact.compute(Exec(), on_device, report);
      const int levels = levelSets(Exec(), exact.lower().matrix.graph, Uplo::Lower).numLevels();
      double before = 1;
      for (const int n : {1, 2, 3, levels}) {
        parameters.sweeps = n;
        BlockIlu<double, Device> factors(parameters);
        factors.initialize(Exec(), on_device, report);
        factors.compute(Exec(), on_device, report);
        const double residual = factors.residual(Exec(), on_device);
        EXPECT_NEAR(residual, denseResidual(factors, a), 1e-14);
        EXPECT_LT(residual, before);
        before = residual;
        if (n == levels) {
          EXPECT_LT(residual, 1e-15);
          expectNear(toHost(factors.upper().matrix.values), toHost(exact.upper().matrix.values),
                     1e-13);
          expectNear(toHost(factors.lower().diagonal_inverse),
                     toHost(exact.lower().diagonal_inverse), 1e-13);
        } else {
          EXPECT_GT(residual, 1e-12);
        }
      }
    }
}

/// Rows of a block tridiagonal matrix wait for one another: n sweeps leave the first n + 1 of them
/// exact, in both factors, and the next ones not yet.
TEST(IluSweeps, AreExactInAsManyLevelsAsThereWereSweeps) {
  constexpr Ordinal rows = 12;
  Pattern pattern = diagonalPattern(rows);
  for (Ordinal i = 1; i < rows; ++i) {
    pattern[i].insert(i - 1);
    pattern[i - 1].insert(i);
  }
  for (const int bs : {1, 3}) {
    const DeviceBsr a = copyTo<Device>(matrixOn(pattern, bs, 86));
    const auto factorsAfter = [&](int sweeps) {
      Report report;
      BlockIluParameters parameters;
      parameters.sweeps = sweeps;
      BlockIlu<double, Device> factors(parameters);
      factors.initialize(Exec(), a, report);
      factors.compute(Exec(), a, report);
      return std::make_pair(toHost(factors.lower().diagonal_inverse),
                            toHost(factors.upper().matrix.values));
    };
    const auto exact = factorsAfter(0);
    const size_t bs2 = size_t(bs) * bs;
    // The first block that differs by more than rounding.
    const auto firstWrong = [&](const std::vector<double>& found,
                                const std::vector<double>& expected) {
      size_t at = 0;
      while (at < found.size() && std::abs(found[at] - expected[at]) < 1e-14)
        ++at;
      return at / bs2;
    };
    for (const int sweeps : {1, 2, 3, 4}) {
      const auto factors = factorsAfter(sweeps);
      const size_t right = size_t(sweeps) + 1;
      SCOPED_TRACE(message("block size ", bs, ", ", sweeps, " sweeps"));
      EXPECT_EQ(firstWrong(factors.first, exact.first), right);
      EXPECT_EQ(firstWrong(factors.second, exact.second), right);
    }
  }
}

/// The residual is relative: squares that leave the range of numbers do not matter.
TEST(IluSweeps, ResidualKnowsNoScale) {
  const HostBsr a = matrixOn(randomPattern(40, 6, 85), 3, 85);
  const auto residualAt = [&](double scale) {
    const HostBsr scaled(a.graph, viewOf(toHost(a.values)), a.block_size);
    for (size_t i = 0; i < scaled.values.extent(0); ++i)
      scaled.values(i) *= scale;
    const DeviceBsr on_device = copyTo<Device>(scaled);
    BlockIluParameters parameters;
    parameters.sweeps = 1;
    BlockIlu<double, Device> factors(parameters);
    Report report;
    factors.initialize(Exec(), on_device, report);
    factors.compute(Exec(), on_device, report);
    return factors.residual(Exec(), on_device);
  };
  const double expected = residualAt(1);
  EXPECT_GT(expected, 1e-6);
  EXPECT_NEAR(residualAt(0x1p-700), expected, 1e-14 * expected);
  EXPECT_NEAR(residualAt(0x1p+700), expected, 1e-14 * expected);
}

/// Passes that a set-up does without are taken when they are asked for.
TEST(IluSweeps, TellWhatTheyLeaveWhenAsked) {
  const HostBsr host = matrixOn(randomPattern(40, 6, 85), 3, 85);
  const DeviceBsr a = copyTo<Device>(host);
  IluSettings<Device> parameters = exactIlu();
  parameters.factorization.sweeps = 1;
  Ilu<double, Device> ilu(parameters);
  EXPECT_THROW(ilu.diagnose(a), InvalidArgument);
  ilu.initialize(a);
  ilu.compute(a);
  EXPECT_EQ(ilu.report().notes, "");
  const DeviceBsr other = copyTo<Device>(matrixOn(randomPattern(40, 5, 86), 3, 85));
  EXPECT_THROW(ilu.diagnose(other), InvalidArgument);
  ilu.diagnose(a);
  const std::string notes = ilu.report().notes;
  ASSERT_EQ(notes.rfind("ilu_residual=", 0), 0u) << notes;
  const auto& factors = dynamic_cast<const BlockIlu<double, Device>&>(ilu.factors());
  EXPECT_NEAR(std::stod(notes.substr(13)), denseResidual(factors, host), 1e-6);
  EXPECT_NE(notes.find("lower_levels="), std::string::npos) << notes;
}

TEST(IluSweeps, CountThePivotsOfTheLastSweep) {
  HostBsr a = matrixOn(diagonalPattern(10), 1, 82);
  a.values(3) = 0;
  a.values(7) = 0;
  IluSettings<Device> parameters;
  parameters.factorization.sweeps = 4;
  Ilu<double, Device> failing(parameters);
  EXPECT_THROW(setUp(failing, a), BreakdownError);
  parameters.factorization.breakdown = BreakdownPolicy::Replace;
  Ilu<double, Device> replacing(parameters);
  setUp(replacing, a);
  EXPECT_EQ(replacing.report().breakdowns, 2);
  EXPECT_EQ(replacing.report().first_breakdown, 3);
}

TEST(IluSweeps, OverflowIsABreakdown) {
  // Pivots of 1e-200 and couplings of 1: two sweeps square the growth beyond the range.
  Pattern pattern(6);
  for (Ordinal i = 0; i < 6; ++i)
    for (Ordinal j = 0; j < 6; ++j)
      pattern[i].insert(j);
  HostBsr a = matrixOn(pattern, 1, 83);
  for (Ordinal i = 0; i < 6; ++i)
    a.values(7 * i) = 1e-200;
  IluSettings<Device> parameters;
  parameters.factorization.sweeps = 1;
  parameters.factorization.breakdown = BreakdownPolicy::Replace;
  parameters.factorization.pivot_tolerance = 0; // which would replace the pivots
  Ilu<double, Device> ilu(parameters);
  EXPECT_THROW(setUp(ilu, a), BreakdownError);
}

} // namespace
} // namespace ainvil
