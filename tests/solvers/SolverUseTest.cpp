// SPDX-License-Identifier: BSD-3-Clause
/// What every solver tells while it runs, and what it refuses.
#include "solvers/AnySolver.hpp"

namespace ainvil {
namespace test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class Method>
class SolverUse : public AnySolver<Method> {};
TYPED_TEST_SUITE(SolverUse, Methods);

TYPED_TEST(SolverUse, TellsProgress) {
  std::vector<int> iterations;
  Doubles residuals;
  SolverOptions o = options(1e-14, 35, 30, 4);
  o.progress = [&](int iteration, double rel_residual) {
    iterations.push_back(iteration);
    residuals.push_back(rel_residual);
  };
  const Solved s = this->solve(o, this->matrix(20, 20), randomVector(400, 3));
  ASSERT_GE(iterations.size(), 9u);
  EXPECT_LE(iterations.size(), 11u);
  for (size_t i = 0; i < iterations.size(); ++i)
    EXPECT_EQ(residuals[i], s.result.history[iterations[i]]);
  EXPECT_EQ(iterations.back(), s.result.iterations);
}

/// The host looks after so many iterations, of which the last may not be known yet.
TYPED_TEST(SolverUse, TellsProgressWhereTheHostLooks) {
  for (const int interval : {1, 4, 7}) {
    std::vector<int> iterations;
    SolverOptions o = options(1e-14, 28, 30, interval);
    o.progress = [&](int iteration, double) { iterations.push_back(iteration); };
    const Solved s = this->solve(o, this->matrix(20, 20), randomVector(400, 3));
    ASSERT_EQ(s.result.iterations, 28);
    ASSERT_EQ(iterations.size(), size_t(28 / interval)) << "interval " << interval;
    for (size_t look = 0; look < iterations.size(); ++look) {
      const int done = static_cast<int>(look + 1) * interval;
      EXPECT_LE(iterations[look], done);
      EXPECT_GE(iterations[look], done - 1);
    }
  }
}

/// Of an exact guess nothing is left that residuals could be relative to; what is left of a nearly
/// exact one may be too small for squares.
TYPED_TEST(SolverUse, InitialResidualsThatAreZeroOrUnderflow) {
  SolverOptions o = options(1e-8, 10);
  o.relative_to = ResidualScale::InitialResidual;
  const HostCsr a = diagonalOf({1, 1});
  const Solved exact = this->solve(o, a, {1, 2}, nullptr, {1, 2});
  EXPECT_EQ(exact.result.status, SolveStatus::Converged) << exact.result.message;
  EXPECT_EQ(exact.result.iterations, 0);
  EXPECT_EQ(exact.result.true_rel_residual, 0);
  const Solved tiny = this->solve(o, a, {1, 1e-150}, nullptr, {1, 0});
  EXPECT_EQ(tiny.result.status, SolveStatus::Breakdown);
  EXPECT_NE(tiny.result.message.find("b - A x underflows"), std::string::npos)
      << tiny.result.message;
  const Solved small = this->solve(o, a, {1, 1e-140}, nullptr, {1, 0});
  EXPECT_EQ(small.result.status, SolveStatus::Converged) << small.result.message;
  EXPECT_NEAR(small.x[1], 1e-140, 1e-147);
}

TYPED_TEST(SolverUse, RefusesBadInput) {
  using Solver = typename TypeParam::Solver;
  EXPECT_THROW(Solver(options(-1, 10)), InvalidArgument);
  EXPECT_THROW(Solver(options(nan, 10)), InvalidArgument);
  EXPECT_THROW(Solver(options(std::numeric_limits<double>::infinity(), 10)), InvalidArgument);
  EXPECT_NO_THROW(Solver(options(0, 0, 1, 0))); // the smallest of all
  EXPECT_THROW(Solver(options(1e-8, -1)), InvalidArgument);
  EXPECT_THROW(Solver(options(1e-8, 10, 0)), InvalidArgument);
  EXPECT_THROW(Solver(options(1e-8, 10, 30, -1)), InvalidArgument);
  SolverOptions coarse;
  coarse.basis = Storage::BFloat16;
  EXPECT_THROW(Solver{coarse}, InvalidArgument);
  const auto a = toDevice<double>(this->matrix(4));
  const auto m = toDevice<double>(this->matrix(5));
  const auto x4 = toDevice<double>(Doubles(4, 1.0)), x5 = toDevice<double>(Doubles(5, 1.0));
  Solver solver;
  EXPECT_THROW(solver.solve(a, nullptr, x5, x4), InvalidArgument);
  EXPECT_THROW(solver.solve(a, nullptr, x4, x5), InvalidArgument);
  EXPECT_THROW(solver.solve(a, &m, x4, x4), InvalidArgument);
}

TYPED_TEST(SolverUse, TakesAVaryingPreconditionerOnlyWhereItMayVary) {
  const HostCsr a = this->matrix(20, 20);
  const Doubles b = randomVector(a.size(), 2);
  const Sequence<> fixed(diagonalOf(Doubles(a.size(), 1.0)));
  EXPECT_EQ(this->solveWithOperator(options(1e-8, 500), a, b, fixed).result.status,
            SolveStatus::Converged);

  const Sequence<> varying(randomScalings(a.size(), 1.01));
  SolverOptions o = options(1e-8, 500);
  if (TypeParam::takes_varying) {
    const Solved s = this->solveWithOperator(o, a, b, varying);
    EXPECT_EQ(s.result.status, SolveStatus::Converged);
    EXPECT_LT(relativeResidual(a, b, s.x), 1.01e-8);
    return;
  }
  try {
    this->solveWithOperator(o, a, b, varying);
    ADD_FAILURE() << "not refused";
  } catch (const InvalidArgument& error) {
    for (const char* word : {"fixed", "fgmres", "allow_varying"})
      EXPECT_NE(std::string(error.what()).find(word), std::string::npos) << word;
  }
  EXPECT_EQ(varying.count, 0u);
  EXPECT_THROW(typename TypeParam::Solver(o).checkPreconditioner(varying), InvalidArgument);
  EXPECT_NO_THROW(typename TypeParam::Solver(o).checkPreconditioner(fixed));
  o.allow_varying = true;
  const Solved allowed = this->solveWithOperator(o, a, b, varying);
  EXPECT_GT(allowed.result.iterations, 0);
  EXPECT_NEAR(allowed.result.true_rel_residual, relativeResidual(a, b, allowed.x), 1e-12);
}

TYPED_TEST(SolverUse, HeedsTheObjectionOfAPreconditioner) {
  const HostCsr a = this->matrix(31);
  const Doubles b = randomVector(31, 2), guess = randomVector(31, 3);
  Sequence<> m(inverseDiagonal(a));
  m.complaint = "the sweeps diverge";
  const Solved s = this->solveWithOperator(options(1e-8, 100), a, b, m, guess);
  EXPECT_EQ(s.result.status, SolveStatus::Diverged);
  EXPECT_EQ(s.result.message, m.complaint);
  EXPECT_EQ(s.result.iterations, 0);
  EXPECT_EQ(s.x, guess);
  EXPECT_EQ(m.count, 0u);
  ASSERT_EQ(s.result.history.size(), 1u);
  EXPECT_NEAR(s.result.history[0], relativeResidual(a, b, guess), 1e-12);
  EXPECT_EQ(s.result.rel_residual, s.result.history[0]);
  EXPECT_EQ(s.result.true_rel_residual, s.result.history[0]);
  // Where there is nothing to do, it does not matter.
  EXPECT_EQ(this->solveWithOperator(options(1e-8, 100), a, Doubles(31, 0.0), m).result.status,
            SolveStatus::Converged);
  m.complaint.clear();
  EXPECT_EQ(this->solveWithOperator(options(1e-8, 100), a, b, m, guess).result.status,
            SolveStatus::Converged);
}

} // namespace
} // namespace test
} // namespace ainvil
