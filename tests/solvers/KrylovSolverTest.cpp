// SPDX-License-Identifier: BSD-3-Clause
/// What the solvers make of recomputed residuals.
#include "SolverSupport.hpp"

namespace ainvil {
namespace test {
namespace {

// The cycle announces a residual of 0, but x gets only a part of the step, because the
// preconditioner is another one then: less than half of what is announced is stagnation, more is
// progress.
TEST(KrylovSolver, StagnatesBelowHalfOfWhatItAnnounces) {
  const auto solve = [](double part) {
    const Sequence<> m({diagonalOf(Doubles{1.0}), diagonalOf(Doubles{part})});
    SolverOptions o = options(1e-3, 100);
    o.allow_varying = true;
    return solveWithOperator<Gmres>(o, diagonalOf(Doubles{1.0}), Doubles{1.0}, &m);
  };
  const Solved worse = solve(0.4);
  EXPECT_EQ(worse.result.status, SolveStatus::Stagnated);
  EXPECT_EQ(worse.result.iterations, 1);
  EXPECT_DOUBLE_EQ(worse.x[0], 0.4);
  const Solved better = solve(0.6);
  EXPECT_EQ(better.result.status, SolveStatus::Converged);
  EXPECT_EQ(better.result.iterations, 8); // 0.4^8 = 6.6e-4
}

} // namespace
} // namespace test
} // namespace ainvil
