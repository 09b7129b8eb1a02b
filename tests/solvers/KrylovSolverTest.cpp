// SPDX-License-Identifier: BSD-3-Clause
/// What the solvers make of recomputed residuals.
#include "solvers/SolverSupport.hpp"

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

/// GMRES(1) announces a residual of (1 + slope^2)^-1/2, and x gets nothing of its step. A reduction
/// by 0.5 % says nothing yet, one by 2 % does.
TEST(KrylovSolver, DoesNotJudgeBySmallReductions) {
  const auto solve = [](double slope) {
    const Sequence<> m({diagonalOf(Doubles{1, 1}), diagonalOf(Doubles{0, 0})});
    SolverOptions o = options(1e-3, 3, 1);
    o.allow_varying = true;
    const HostCsr a = matrixOf(std::vector<Doubles>{{slope, 1}, {-1, slope}});
    return solveWithOperator<Gmres>(o, a, Doubles{1, 0}, &m).result;
  };
  const SolveResult slow = solve(0.1), quick = solve(0.2);
  EXPECT_EQ(slow.status, SolveStatus::MaxIterations);
  EXPECT_EQ(slow.iterations, 3);
  EXPECT_EQ(quick.status, SolveStatus::Stagnated);
  EXPECT_EQ(quick.iterations, 1);
}

/// x gets 3/4 of the step, which leaves a residual of exactly 1/4.
TEST(KrylovSolver, ATrueResidualEqualToTheToleranceIsConverged) {
  const Sequence<> m({diagonalOf(Doubles{1.0}), diagonalOf(Doubles{0.75})});
  SolverOptions o = options(0.25, 100);
  o.allow_varying = true;
  const Solved s = solveWithOperator<Gmres>(o, diagonalOf(Doubles{1.0}), Doubles{1.0}, &m);
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_EQ(s.result.iterations, 1);
  EXPECT_EQ(s.result.true_rel_residual, 0.25);
}

/// A rectangle of zeros.
class Rectangle final : public LinearOperator<double, Device> {
public:
  Rectangle(Offset rows, Offset columns) : rows_(rows), columns_(columns) {}
  Offset numPointRows() const override { return rows_; }
  Offset numPointCols() const override { return columns_; }
  void apply(const Exec& exec, MultiVectorArg<const double, Device>,
             MultiVectorArg<double, Device> y, Trans, double, double) const override {
    Kokkos::deep_copy(exec, y, 0.0);
  }

private:
  Offset rows_, columns_;
};

TEST(KrylovSolver, RefusesRectangles) {
  const auto b = toDevice<double>(Doubles(4, 1.0)), x = toDevice<double>(Doubles(4, 0.0));
  const auto square = toDevice<double>(diagonalOf(Doubles(4, 2.0)));
  Gmres<double, Device> solver;
  for (const Offset other : {3, 5}) {
    const Rectangle wide(4, other), tall(other, 4);
    EXPECT_THROW(solver.solve(wide, nullptr, b, x), InvalidArgument) << other;
    EXPECT_THROW(solver.solve(tall, nullptr, b, x), InvalidArgument) << other;
    EXPECT_THROW(solver.solve(square, &wide, b, x), InvalidArgument) << other;
    EXPECT_THROW(solver.solve(square, &tall, b, x), InvalidArgument) << other;
  }
}

} // namespace
} // namespace test
} // namespace ainvil
