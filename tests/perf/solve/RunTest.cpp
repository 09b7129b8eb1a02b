// SPDX-License-Identifier: BSD-3-Clause
/// Runs of ainvil-solve: what they refuse and report, and when they go on.
#include "perf/solve/SolveFiles.hpp"
#include "solve/SolveRun.hpp"

#include "Ainvil_Jacobi.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <sstream>
#include <string>

namespace ainvil {
namespace perf {
namespace {

/// The largest and the smallest values of float are values of float.
TEST_F(Files, RunsInFloatTakeWhatFloatHolds) {
  using Limits = std::numeric_limits<float>;
  const auto run = [&](double value, double second) {
    const CommandLine command = diagonal({value, second});
    LinearSystem system = makeSystem(command);
    system.rhs = system.original_rhs = vectorOf({1, 1});
    ProgressLine progress(false);
    MemoryMeter memory(HostDevice::memory_space::name());
    Runner<float, HostDevice>(command, system, progress, memory);
  };
  EXPECT_NO_THROW(run(Limits::max(), -double(Limits::max())));
  EXPECT_THROW(run(1, 1.0001 * Limits::max()), InvalidArgument);
  EXPECT_THROW(run(1, -1.0001 * Limits::max()), InvalidArgument);
  EXPECT_NO_THROW(run(Limits::min(), Limits::min()));
  EXPECT_THROW(run(Limits::min(), 0.999 * Limits::min()), InvalidArgument);
  EXPECT_THROW(run(1, 1e-60), InvalidArgument); // it would be a row of zeros
}

TEST_F(Files, RunsHaveTheHistoryOfAllTheirSolves) {
  CommandLine command;
  command.problem = "poisson5:20";
  command.tolerance = 1e-6;
  command.restart = 7;
  const LinearSystem system = makeSystem(command);
  ProgressLine progress(false);
  MemoryMeter memory(HostDevice::memory_space::name());
  Jacobi<double, HostDevice> jacobi{JacobiParameters()};
  Runner<double, HostDevice> runner(command, system, progress, memory);
  const RunRecord record = runner.run("jacobi", jacobi);
  EXPECT_EQ(record.status, "converged");
  EXPECT_EQ(record.precond, "jacobi");
  EXPECT_EQ(record.history.size(), size_t(record.iterations) + 1);
  EXPECT_EQ(record.history.front(), 1);
  EXPECT_LE(record.history.back(), 1e-6);
  EXPECT_EQ(record.factor_entries, 400);
  EXPECT_TRUE(std::isnan(record.recompute_seconds));
}

/// The identity. The second set-up takes at least as long as all that came before it.
class Slowing final : public Preconditioner<double, HostDevice> {
public:
  std::string description() const override { return "slowing"; }

private:
  using Clock = std::chrono::steady_clock;

  void doInitialize(const execution_space&, const Matrix&) override {
    const Clock::time_point begin = Clock::now();
    while (set_up_before_ && Clock::now() - begin < 2 * (begin - made_)) {
    }
    set_up_before_ = true;
  }
  void doCompute(const execution_space&, const Matrix&) override {}
  void doApply(const execution_space& exec, MultiVectorArg<const double, HostDevice> x,
               MultiVectorArg<double, HostDevice> y, Trans) const override {
    axpby<double, HostDevice>(exec, 1.0, x, 0.0, y);
  }

  Clock::time_point made_ = Clock::now();
  bool set_up_before_ = false;
};

TEST_F(Files, RunsReportTheFastestSetUp) {
  CommandLine command = diagonal({1, 1});
  command.repeat = 2;
  const LinearSystem system = makeSystem(command);
  ProgressLine progress(false);
  MemoryMeter memory(HostDevice::memory_space::name());
  Slowing slowing;
  const RunRecord record =
      Runner<double, HostDevice>(command, system, progress, memory).run("slowing", slowing);
  EXPECT_EQ(record.status, "converged") << record.message;
  EXPECT_EQ(record.setup_seconds, record.first_setup_seconds);
}

/// A tridiagonal matrix whose rows and columns are scaled by powers of ten of so many sizes.
std::string scaledByPowers(int sizes) {
  std::ostringstream text;
  text << "%%MatrixMarket matrix coordinate real general\n60 60 178\n";
  const auto size = [&](int k) { return std::pow(10.0, 7 * k % sizes - sizes / 2); };
  for (int i = 0; i < 60; ++i)
    for (int j = std::max(0, i - 1); j < std::min(60, i + 2); ++j)
      text << i + 1 << " " << j + 1 << " " << size(i) * size(j) * (i == j ? 4 : -1) << "\n";
  return text.str();
}

/// What suits the solver of the scaled system does not suit the judge, so that it goes on.
RunRecord solvedScaled(const std::string& matrix, double tolerance,
                       int max_iterations = CommandLine().max_iterations) {
  CommandLine command;
  command.max_iterations = max_iterations;
  command.matrix = matrix;
  command.rhs = RhsKind::Ones;
  command.scale = "diagonal";
  command.tolerance = tolerance;
  const LinearSystem system = makeSystem(command);
  ProgressLine progress(false);
  MemoryMeter memory(HostDevice::memory_space::name());
  Jacobi<double, HostDevice> jacobi{JacobiParameters()};
  return Runner<double, HostDevice>(command, system, progress, memory).run("jacobi", jacobi);
}

TEST_F(Files, RunsThatGoOnDoNotCountAResidualTwice) {
  const RunRecord record = solvedScaled(write("a.mtx", scaledByPowers(9)), 1e-8);
  EXPECT_EQ(record.status, "converged") << record.message;
  EXPECT_LT(record.scaled_rel_residual, 0.5e-8); // so it went on
  EXPECT_EQ(record.history.size(), size_t(record.iterations) + 1);
}

/// The iterations before count.
TEST_F(Files, RunsThatGoOnEndAtTheLimitOfIterations) {
  const std::string matrix = write("a.mtx", scaledByPowers(9));
  const RunRecord whole = solvedScaled(matrix, 1e-8);
  const RunRecord cut = solvedScaled(matrix, 1e-8, whole.iterations - 1);
  EXPECT_EQ(cut.iterations, whole.iterations - 1);
  EXPECT_EQ(cut.status, "max_iterations") << cut.message;
  EXPECT_LT(cut.scaled_rel_residual, 1e-8); // the first run was content
}

/// Here a second run is not enough: its residual is smaller, but not yet small.
TEST_F(Files, RunsGoOnAsLongAsTheResidualFalls) {
  for (const int sizes : {5, 6, 7, 8}) {
    const RunRecord record = solvedScaled(write("a.mtx", scaledByPowers(sizes)), 1e-2);
    EXPECT_EQ(record.status, "converged") << sizes << ": " << record.message;
    EXPECT_LE(record.rel_residual, 1e-2);
    EXPECT_EQ(record.history.size(), size_t(record.iterations) + 1);
  }
}

} // namespace
} // namespace perf
} // namespace ainvil
