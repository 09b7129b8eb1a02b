// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// The seam of the solvers for vectors that several processes share, without processes.
#include "Refusal.hpp"
#include "solvers/EqualProcesses.hpp"

namespace ainvil {
namespace test {
namespace {

class OverProcesses : public ::testing::TestWithParam<const char*> {
protected:
  const HostCsr a_ = convectionDiffusion(29, 17, bySymmetry(0.4), bySymmetry(0.2));
  const HostCsr m_ = inverseDiagonal(a_);
  const Doubles b_ = randomVector(a_.size(), 3);

  double bySymmetry(double wind) const { return GetParam() == std::string("cg") ? 0 : wind; }

  Solved solve(const std::shared_ptr<const Reduction<Device>>& reduction, bool preconditioned,
               SolverOptions options = {}) const {
    options.restart = 12;
    const auto solver = createSolver<double, Device>(GetParam(), options);
    solver->setReduction(reduction);
    const auto a = toDevice<double>(a_), m = toDevice<double>(m_);
    const auto x = toDevice<double>(Doubles(b_.size(), 0.0));
    Solved solved;
    solved.result =
        solver->solve(Exec(), a, preconditioned ? &m : nullptr, toDevice<double>(b_), x);
    solved.x = toHost<double>(x);
    return solved;
  }
};

TEST_P(OverProcesses, OneIsTheSolverItself) {
  for (const bool preconditioned : {false, true}) {
    const Solved alone = solve(nullptr, preconditioned);
    const Solved one = solve(std::make_shared<EqualProcesses>(1), preconditioned);
    EXPECT_EQ(one.result.status, SolveStatus::Converged);
    EXPECT_EQ(one.result.iterations, alone.result.iterations);
    EXPECT_EQ(one.result.history, alone.result.history);
    EXPECT_EQ(one.x, alone.x);
  }
}

/// Sums are 4 times as large, which rounds nothing, and so is the square of every norm.
TEST_P(OverProcesses, EqualRowsGiveEqualSolutions) {
  const Solved alone = solve(nullptr, true);
  const Solved four = solve(std::make_shared<EqualProcesses>(4), true);
  EXPECT_EQ(four.result.status, SolveStatus::Converged);
  EXPECT_EQ(four.result.iterations, alone.result.iterations);
  EXPECT_EQ(four.x, alone.x);
}

/// A host that looks at every iteration: GMRES takes the sums of its last column once more.
TEST_P(OverProcesses, ReductionsOfAnIteration) {
  const std::string name = GetParam();
  const int of_one = name == "cg" ? 2 : name == "bicgstab" ? 3 : 1;
  SolverOptions options;
  options.tolerance = 0;
  options.check_interval = 1;
  int reductions[2];
  for (const int k : {0, 1}) {
    options.max_iterations = 4 + 5 * k;
    const auto reduction = std::make_shared<EqualProcesses>(2);
    const Solved solved = solve(reduction, true, options);
    EXPECT_EQ(solved.result.iterations, options.max_iterations);
    EXPECT_EQ(reduction->agreements, 1);
    reductions[k] = reduction->reductions;
  }
  EXPECT_EQ(reductions[1] - reductions[0], 5 * of_one);
}

/// What one process objects to ends the solve on all: a word from the others suffices.
TEST_P(OverProcesses, ObjectionOfAnother) {
  class Objecting final : public Reduction<Device> {
  public:
    void sum(const Exec&, const ProcessSums<Device>&) const override {}
    /// The other one has no rows, and objects.
    Offset total(Offset mine) const override { return mine == 0 ? 1 : mine; }
    void together(const std::function<void()>& work) const override { work(); }
  };
  const Solved solved = solve(std::make_shared<Objecting>(), true);
  EXPECT_EQ(solved.result.status, SolveStatus::Diverged);
  EXPECT_NE(solved.result.message, "");
  EXPECT_EQ(solved.result.iterations, 0);
}

TEST_P(OverProcesses, ResidualsAreRelativeToWhatIsAsked) {
  const auto a = toDevice<double>(a_);
  const Doubles x0 = randomVector(a_.size(), 4);
  const double r0 = norm(minus(b_, a_.times(x0)));
  for (const auto scale :
       {ResidualScale::Rhs, ResidualScale::InitialResidual, ResidualScale::One}) {
    const double reference = scale == ResidualScale::Rhs               ? norm(b_)
                             : scale == ResidualScale::InitialResidual ? r0
                                                                       : 1.0;
    SolverOptions options;
    options.relative_to = scale;
    options.tolerance = 1e-4;
    const auto solver = createSolver<double, Device>(GetParam(), options);
    const auto x = toDevice<double>(x0);
    const SolveResult result = solver->solve(Exec(), a, nullptr, toDevice<double>(b_), x);
    EXPECT_EQ(result.status, SolveStatus::Converged);
    const double r = norm(minus(b_, a_.times(toHost<double>(x))));
    EXPECT_LE(r, 1e-4 * reference * (1 + 1e-10));
    EXPECT_NEAR(result.true_rel_residual, r / reference, 1e-6 * result.true_rel_residual);
    EXPECT_NEAR(result.history[0], r0 / reference, 1e-12 * r0 / reference);
  }
}

INSTANTIATE_TEST_SUITE_P(Solvers, OverProcesses,
                         ::testing::Values("gmres", "fgmres", "cg", "bicgstab"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace test
} // namespace ainvil
