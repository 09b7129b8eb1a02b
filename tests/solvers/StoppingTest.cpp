// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Tolerances, limits and words of the user that end a solve, and how many reductions one takes.
#include "Refusal.hpp"
#include "solvers/EqualProcesses.hpp"

namespace ainvil {
namespace test {
namespace {

class Stopping : public ::testing::TestWithParam<const char*> {
protected:
  const bool symmetric_ = GetParam() == std::string("cg");
  const HostCsr a_ =
      symmetric_ ? convectionDiffusion(29, 17) : convectionDiffusion(29, 17, 0.4, 0.2);
  const Doubles b_ = randomVector(a_.size(), 3);

  Solved solve(const SolverOptions& options,
               const std::shared_ptr<const Reduction<Device>>& sums = nullptr) const {
    const auto solver = createSolver<double, Device>(GetParam(), options);
    solver->setReduction(sums);
    const auto m = toDevice<double>(inverseDiagonal(a_));
    const auto x = toDevice<double>(Doubles(b_.size(), 0.0));
    Solved solved;
    solved.result = solver->solve(Exec(), toDevice<double>(a_), &m, toDevice<double>(b_), x);
    solved.x = toHost<double>(x);
    return solved;
  }
  double residual(const Solved& solved) const { return norm(minus(b_, a_.times(solved.x))); }
};

TEST_P(Stopping, TheLooserOfTwoTolerancesCounts) {
  SolverOptions o = options(0, 400, 12);
  o.absolute_tolerance = 1e-4;
  const Solved absolute = solve(o);
  EXPECT_EQ(absolute.result.status, SolveStatus::Converged);
  EXPECT_LE(residual(absolute), 1e-4 * (1 + 1e-10));
  EXPECT_GT(residual(absolute), 1e-7);
  o.tolerance = 1e-9;
  EXPECT_EQ(solve(o).result.iterations, absolute.result.iterations);
  o.absolute_tolerance = 1e-30;
  const Solved relative = solve(o);
  EXPECT_LE(residual(relative), 1e-9 * norm(b_) * (1 + 1e-6));
  EXPECT_GT(relative.result.iterations, absolute.result.iterations);
  o.relative_to = ResidualScale::InitialResidual;
  o.absolute_tolerance = 1e-4;
  EXPECT_EQ(solve(o).result.iterations, absolute.result.iterations);
}

TEST_P(Stopping, AWordOfTheUserEndsItWithTheIterateAsItIs) {
  SolverOptions o = options(1e-10, 400, 12, 1);
  int asked = 0;
  o.stop = [&](int iteration, double) {
    ++asked;
    return iteration >= 15;
  };
  const Solved stopped = solve(o);
  EXPECT_EQ(stopped.result.status, SolveStatus::Stopped);
  EXPECT_STREQ(toString(stopped.result.status), "stopped");
  EXPECT_EQ(stopped.result.message, "stopped after 15 iterations");
  EXPECT_EQ(stopped.result.iterations, 15);
  EXPECT_EQ(stopped.result.history.size(), 16u);
  EXPECT_GE(asked, 15);
  const double true_residual = residual(stopped) / norm(b_);
  EXPECT_NEAR(stopped.result.true_rel_residual, true_residual, 1e-6 * true_residual);
  EXPECT_NEAR(stopped.result.rel_residual, true_residual, 1e-6 * true_residual);
  EXPECT_LT(true_residual, 0.5);
  // As max_iterations would have.
  const Solved limited = solve(options(1e-10, 15, 12, 1));
  EXPECT_EQ(limited.result.iterations, 15);
  EXPECT_NEAR(norm(minus(limited.x, stopped.x)), 0, 1e-9 * norm(stopped.x));
}

TEST_P(Stopping, ConvergedIsConvergedWhateverTheUserSays) {
  SolverOptions o = options(1e-6, 400, 12, 1);
  o.stop = [](int, double rel_residual) { return rel_residual <= 1e-6; };
  EXPECT_EQ(solve(o).result.status, SolveStatus::Converged);
}

TEST_P(Stopping, TheTimeLimitEndsIt) {
  SolverOptions o = options(1e-10, 400, 12, 1);
  o.time_limit = 1e-12;
  const Solved late = solve(o);
  EXPECT_EQ(late.result.status, SolveStatus::TimeLimit);
  EXPECT_STREQ(toString(late.result.status), "time_limit");
  EXPECT_LE(late.result.iterations, 1);
  EXPECT_NE(late.result.message.find("time limit"), std::string::npos);
  o.time_limit = 3600;
  const Solved timely = solve(o);
  EXPECT_EQ(timely.result.status, SolveStatus::Converged);
  EXPECT_EQ(timely.x, solve(options(1e-10, 400, 12, 1)).x);
}

/// Of eleven columns, eight at a time, those that had not begun are left alone.
TEST_P(Stopping, EndsAllColumns) {
  SolverOptions o = options(1e-10, 400, 12, 1);
  o.stop = [](int iteration, double) { return iteration >= 3; };
  const auto solver = createSolver<double, Device>(GetParam(), o);
  const size_t n = b_.size();
  const MultiVector<double, Device> b("b", n, 11), x("x", n, 11);
  for (size_t c = 0; c < 11; ++c)
    Kokkos::deep_copy(Vector<double, Device>(Kokkos::subview(b, Kokkos::ALL(), c)),
                      toDevice<double>(randomVector(a_.size(), static_cast<unsigned>(c))));
  const auto results = solver->solve(toDevice<double>(a_), nullptr, b, x);
  for (size_t c = 0; c < 11; ++c) {
    EXPECT_EQ(results[c].status, SolveStatus::Stopped);
    EXPECT_EQ(results[c].iterations, c < 8 ? 3 : 0);
  }
}

/// Another process says so: its vote comes with the sum.
TEST_P(Stopping, AWordOfAnotherProcessSuffices) {
  class OneMore final : public Reduction<Device> {
  public:
    void sum(const Exec&, const ProcessSums<Device>&) const override {}
    Offset total(Offset mine) const override {
      ++totals;
      return mine + (totals > 4 ? 1 : 0);
    }
    void together(const std::function<void()>& work) const override { work(); }
    mutable int totals = 0;
  };
  SolverOptions o = options(1e-10, 400, 12, 1);
  o.stop = [](int, double) { return false; };
  EXPECT_EQ(solve(o, std::make_shared<OneMore>()).result.status, SolveStatus::Stopped);
}

TEST_P(Stopping, FewerReductionsGiveTheSameNumbers) {
  for (const int interval : {1, 7})
    for (const int most : {400, 13, 1}) {
      SolverOptions o = options(1e-10, most, 12, interval);
      const Solved usual = solve(o);
      for (const Reductions reductions : {Reductions::Fewest, Reductions::Pipelined}) {
        o.reductions = reductions;
        const Solved fewest = solve(o);
        EXPECT_EQ(fewest.result.status, usual.result.status);
        EXPECT_EQ(fewest.result.iterations, usual.result.iterations);
        ASSERT_EQ(fewest.result.history.size(), usual.result.history.size());
        for (size_t i = 0; i < usual.result.history.size(); ++i)
          EXPECT_NEAR(fewest.result.history[i], usual.result.history[i],
                      1e-4 * usual.result.history[i]);
        EXPECT_NEAR(norm(minus(fewest.x, usual.x)), 0, 1e-8 * norm(usual.x));
      }
    }
}

TEST_P(Stopping, FewestReductionsOfAnIteration) {
  const std::string name = GetParam();
  SolverOptions o = options(0, 0, 30, 1);
  o.reductions = Reductions::Fewest;
  int reductions[2];
  for (const int k : {0, 1}) {
    o.max_iterations = 4 + 5 * k;
    const auto sums = std::make_shared<EqualProcesses>(2);
    EXPECT_EQ(solve(o, sums).result.iterations, o.max_iterations);
    reductions[k] = sums->reductions;
  }
  EXPECT_EQ(reductions[1] - reductions[0], 5 * (name == "bicgstab" ? 2 : 1));
}

/// A breakdown is found where it was, with the iterate before it.
TEST_P(Stopping, FewerReductionsBreakDownAlike) {
  const HostCsr a = matrixOf(std::vector<Doubles>{{0, 1, 0}, {-1, 0, 0}, {0, 0, -2}});
  const HostCsr definite = matrixOf(std::vector<Doubles>{{2, 0, 0}, {0, -3, 0}, {0, 0, 1}});
  for (const HostCsr& matrix : {a, definite}) {
    SolveResult results[3];
    for (const int k : {0, 1, 2}) {
      SolverOptions o = options(1e-10, 20);
      o.reductions = k == 0   ? Reductions::Usual
                     : k == 1 ? Reductions::Fewest
                              : Reductions::Pipelined;
      const auto x = toDevice<double>(Doubles(3, 0.0));
      results[k] =
          createSolver<double, Device>(GetParam(), o)
              ->solve(toDevice<double>(matrix), nullptr, toDevice<double>(Doubles{1, 2, 3}), x);
    }
    for (const int k : {1, 2}) {
      EXPECT_EQ(results[k].status, results[0].status);
      EXPECT_EQ(results[k].iterations, results[0].iterations);
      EXPECT_EQ(results[k].message, results[0].message);
    }
  }
}

TEST_P(Stopping, RefusesLimitsBelowZero) {
  SolverOptions o;
  o.time_limit = -1;
  EXPECT_NE(refusal([&] { o.validate(); }).find("time limit"), std::string::npos);
  o.time_limit = 0;
  o.absolute_tolerance = std::numeric_limits<double>::quiet_NaN();
  EXPECT_NE(refusal([&] { o.validate(); }).find("absolute tolerance"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Solvers, Stopping, ::testing::Values("gmres", "fgmres", "cg", "bicgstab"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace test
} // namespace ainvil
