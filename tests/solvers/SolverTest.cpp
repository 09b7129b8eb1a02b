// SPDX-License-Identifier: BSD-3-Clause
/// What holds for every solver.
#include "KokkosObservers.hpp"
#include "solvers/AnySolver.hpp"

namespace ainvil {
namespace test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

TYPED_TEST_SUITE(AnySolver, Methods);

TYPED_TEST(AnySolver, HonoursTheTolerance) {
  for (const int n : {1, 31, 33, 536, 615}) {
    const HostCsr a = this->matrix(n);
    const HostCsr m = inverseDiagonal(a);
    const Doubles b = randomVector(n, 17);
    for (const double tolerance : {1e-2, 1e-6, 1e-12})
      for (const bool preconditioned : {false, true}) {
        const Solved s = this->solve(options(tolerance, 1000), a, b, preconditioned ? &m : nullptr);
        EXPECT_EQ(s.result.status, SolveStatus::Converged);
        EXPECT_TRUE(s.result.message.empty());
        EXPECT_LE(relativeResidual(a, b, s.x), 1.001 * tolerance);
        // Not much further than asked for, either.
        EXPECT_GT(n == 1 ? tolerance : relativeResidual(a, b, s.x), 1e-3 * tolerance);
      }
  }
}

TYPED_TEST(AnySolver, RecurrenceAgreesWithTheTrueResidual) {
  const HostCsr a = this->matrix(33, 31);
  const Doubles b = randomVector(a.size(), 9);
  const Solved s = this->solve(options(1e-11, 1000), a, b);
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_NEAR(s.result.true_rel_residual, s.result.rel_residual, 0.01 * s.result.rel_residual);
  EXPECT_NEAR(s.result.true_rel_residual, relativeResidual(a, b, s.x),
              0.01 * s.result.rel_residual);
  EXPECT_EQ(s.result.history.size(), size_t(s.result.iterations) + 1);
  EXPECT_EQ(s.result.history.front(), 1);
  EXPECT_EQ(s.result.history.back(), s.result.rel_residual);
}

TYPED_TEST(AnySolver, ResultDoesNotDependOnTheCheckInterval) {
  const HostCsr a = this->matrix(29, 23);
  const HostCsr m = inverseDiagonal(a);
  const Doubles b = randomVector(a.size(), 5);
  for (const int max_iterations : {500, 37}) {
    const Solved first = this->solve(options(1e-9, max_iterations, 20, 1), a, b, &m);
    for (const int interval : {0, 3, 7, 100}) {
      SCOPED_TRACE(message("check interval ", interval));
      const Solved other = this->solve(options(1e-9, max_iterations, 20, interval), a, b, &m);
      EXPECT_EQ(other.result.status, first.result.status);
      EXPECT_EQ(other.result.iterations, first.result.iterations);
      EXPECT_EQ(other.result.history, first.result.history);
      EXPECT_EQ(other.result.true_rel_residual, first.result.true_rel_residual);
      EXPECT_EQ(other.x, first.x);
    }
  }
}

TYPED_TEST(AnySolver, NeedsAsManyIterationsAsDistinctEigenvalues) {
  const int n = 97;
  for (int distinct = 1; distinct <= 6; ++distinct) {
    SCOPED_TRACE(distinct);
    Doubles d(n);
    for (int i = 0; i < n; ++i)
      d[i] = 1 + i % distinct;
    for (const int interval : {1, 2, 100}) {
      const Doubles b = randomVector(n, 3);
      const Solved s = this->solve(options(1e-11, 100, 30, interval), diagonalOf(d), b);
      EXPECT_EQ(s.result.status, SolveStatus::Converged);
      EXPECT_EQ(s.result.iterations, distinct);
      EXPECT_LT(relativeResidual(diagonalOf(d), b, s.x), 1e-11);
    }
  }
}

TYPED_TEST(AnySolver, ExactInverseNeedsOneIteration) {
  const HostCsr a = diagonalOf({1, 20, 300, 4000, 50000});
  const HostCsr m = inverseDiagonal(a);
  const Solved s = this->solve(options(1e-12, 100), a, {1, 2, 3, 4, 5}, &m);
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_EQ(s.result.iterations, 1);
}

TYPED_TEST(AnySolver, RunsExactlyMaxIterations) {
  const HostCsr a = this->matrix(25, 25);
  const Doubles b = randomVector(a.size(), 11);
  for (const int max_iterations : {0, 1, 5, 7, 31})
    for (const int interval : {1, 3, 100}) {
      const Solved s = this->solve(options(1e-14, max_iterations, 5, interval), a, b);
      EXPECT_EQ(s.result.status, SolveStatus::MaxIterations);
      EXPECT_EQ(s.result.iterations, max_iterations);
      EXPECT_EQ(s.result.history.size(), size_t(max_iterations) + 1);
      EXPECT_NEAR(relativeResidual(a, b, s.x), s.result.rel_residual, 1e-12);
    }
}

TYPED_TEST(AnySolver, ZeroRightHandSide) {
  const Solved s = this->solve(options(1e-8, 100), this->matrix(31), Doubles(31, 0.0), nullptr,
                               randomVector(31, 4));
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_EQ(s.result.iterations, 0);
  EXPECT_EQ(s.x, Doubles(31, 0.0));
}

TYPED_TEST(AnySolver, TinyRightHandSideIsNotZero) {
  const HostCsr a = this->matrix(31);
  Solved s = this->solve(options(1e-8, 100), a, Doubles(31, 1e-120));
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_GT(s.result.iterations, 0);
  s = this->solve(options(1e-8, 100), a, Doubles(31, 1e-200));
  EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
}

TYPED_TEST(AnySolver, StartsFromTheInitialGuess) {
  const HostCsr a = this->matrix(536);
  const Doubles solution = randomVector(536, 6);
  const Doubles b = a.times(solution);
  const Solved exact = this->solve(options(1e-10, 1000), a, b, nullptr, solution);
  EXPECT_EQ(exact.result.status, SolveStatus::Converged);
  EXPECT_EQ(exact.result.iterations, 0);
  EXPECT_EQ(exact.result.history.size(), 1u);
  EXPECT_EQ(exact.x, solution);
  Doubles guess = solution;
  for (double& value : guess)
    value *= 1 + 1e-5;
  const Solved near = this->solve(options(1e-10, 1000), a, b, nullptr, guess);
  const Solved far = this->solve(options(1e-10, 1000), a, b);
  EXPECT_EQ(near.result.status, SolveStatus::Converged);
  EXPECT_LT(near.result.iterations, far.result.iterations);
  EXPECT_LT(relativeResidual(a, b, near.x), 1.01e-10);
}

/// "At most the tolerance" includes it. All numbers here are exact in binary.
TYPED_TEST(AnySolver, ResidualsEqualToTheToleranceAreConverged) {
  const HostCsr unit = diagonalOf(Doubles{1.0});
  const Solved first = this->solve(options(0.5, 100), unit, {1}, nullptr, {0.5});
  EXPECT_EQ(first.result.status, SolveStatus::Converged);
  EXPECT_EQ(first.result.iterations, 0);
  EXPECT_EQ(first.x, Doubles{0.5});
  Sequence<> m(unit);
  m.complaint = "it diverges"; // and is not needed
  EXPECT_EQ(this->solveWithOperator(options(0.5, 100), unit, {1}, m, {0.5}).result.status,
            SolveStatus::Converged);
  EXPECT_EQ(this->solve(options(0.49, 100), unit, {1}, nullptr, {0.5}).result.iterations, 1);
}

TYPED_TEST(AnySolver, ReportsNaN) {
  const HostCsr a = this->matrix(33);
  const Doubles b = randomVector(33, 1);
  Doubles bad = b;
  bad[32] = nan;
  Solved s = this->solve(options(1e-8, 100), a, bad);
  EXPECT_EQ(s.result.status, SolveStatus::Diverged);
  EXPECT_EQ(s.result.iterations, 0);
  EXPECT_EQ(s.x, Doubles(33, 0.0));
  s = this->solve(options(1e-8, 100), a, b, nullptr, bad);
  EXPECT_EQ(s.result.status, SolveStatus::Diverged);
  EXPECT_EQ(s.result.iterations, 0);
  EXPECT_FALSE(s.result.message.empty());
  for (const int interval : {1, 10})
    for (const double value : {nan, std::numeric_limits<double>::infinity()}) {
      Doubles d(33, 1.0);
      const HostCsr unit = diagonalOf(d);
      d[20] = value;
      const HostCsr m = diagonalOf(d);
      for (const HostCsr* matrix : {&a, &unit}) {
        s = this->solve(options(1e-8, 100, 30, interval), *matrix, b, &m);
        EXPECT_EQ(s.result.status, SolveStatus::Diverged);
        EXPECT_NE(s.result.message.find("preconditioner"), std::string::npos);
        EXPECT_TRUE(s.isFinite());
        EXPECT_TRUE(std::isfinite(s.result.true_rel_residual));
      }
    }
}

// Where A has no entries, b - A x does not show what x is.
TYPED_TEST(AnySolver, ReportsNaNWhereTheMatrixIsEmpty) {
  HostCsr a;
  for (Ordinal i = 0; i < 40; ++i) {
    if (i != 33)
      a.add(i, 2.0);
    a.endRow();
  }
  Doubles b(40, 1.0), x(40, 0.0);
  b[33] = 0;
  EXPECT_EQ(this->solve(options(1e-8, 10), a, b, nullptr, x).result.status, SolveStatus::Converged);
  x[33] = nan;
  EXPECT_EQ(this->solve(options(1e-8, 10), a, b, nullptr, x).result.status, SolveStatus::Diverged);
}

// NaN in the middle of the work: x is the iterate before, as far as the method has one.
TYPED_TEST(AnySolver, ReportsNaNThatComesLate) {
  const HostCsr a = this->matrix(33);
  const Doubles b = randomVector(33, 1);
  std::vector<HostCsr> matrices(8, diagonalOf(Doubles(33, 1.0)));
  for (int at = 0; at < 8; ++at) {
    auto faulty = matrices;
    faulty[at] = diagonalOf(Doubles(33, nan));
    const Sequence<> m(faulty);
    SolverOptions o = options(1e-12, 100);
    o.allow_varying = true;
    const Solved s = this->solveWithOperator(o, a, b, m);
    EXPECT_EQ(s.result.status, SolveStatus::Diverged) << at;
    EXPECT_TRUE(s.isFinite()) << at;
    EXPECT_LE(s.result.true_rel_residual, 1) << at;
    EXPECT_NEAR(s.result.true_rel_residual, relativeResidual(a, b, s.x), 1e-12) << at;
  }
}

TYPED_TEST(AnySolver, SinglePrecision) {
  const HostCsr a = this->matrix(31, 17);
  const Doubles b = randomVector(a.size(), 13);
  const SolverOptions o = options(1e-5, 500);
  const Solved s = this->template solve<float>(o, a, b);
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_LT(relativeResidual(a, b, s.x), 1.1e-5);
  EXPECT_NEAR(s.result.iterations, this->solve(o, a, b).result.iterations, 3);
  // Beyond single precision the recurrence goes on and the residual does not.
  const Solved beyond = this->template solve<float>(options(1e-10, 5000), a, b);
  EXPECT_EQ(beyond.result.status, SolveStatus::Stagnated);
  EXPECT_LT(beyond.result.iterations, 1000);
  EXPECT_LT(beyond.result.true_rel_residual, 1e-5);
  EXPECT_GT(beyond.result.true_rel_residual, 1e-10);
}

TYPED_TEST(AnySolver, SecondSolveAllocatesNothingAndGivesTheSame) {
  const HostCsr host_a = this->matrix(33, 19);
  const auto a = toDevice<double>(host_a);
  const auto m = toDevice<double>(inverseDiagonal(host_a));
  const auto b = toDevice<double>(randomVector(host_a.size(), 21));
  const auto x = toDevice<double>(Doubles(host_a.size(), 0.0));
  typename TypeParam::Solver solver(options(1e-9, 300, 20));
  const SolveResult first = solver.solve(a, &m, b, x);
  const Doubles first_x = toHost<double>(x);
  Kokkos::deep_copy(x, 0.0);
  SolveResult second;
  {
    ToolsRecorder recorder;
    second = solver.solve(a, &m, b, x);
    EXPECT_EQ(recorder.allocations, 0);
    EXPECT_GT(recorder.labels.size(), size_t(4 * first.iterations));
    for (const std::string& label : recorder.labels)
      EXPECT_EQ(label.rfind("Ainvil::", 0), 0u) << label;
  }
  EXPECT_EQ(second.iterations, first.iterations);
  EXPECT_EQ(second.history, first.history);
  EXPECT_EQ(toHost<double>(x), first_x);
}

/// New memory holds anything, also NaN, which no factor of 0 removes.
TYPED_TEST(AnySolver, ReadsNoMemoryThatItHasNotWritten) {
  const HostCsr a = this->matrix(33, 19);
  const HostCsr m = inverseDiagonal(a);
  const Doubles b = randomVector(a.size(), 21);
  for (const bool preconditioned : {false, true})
    for (const int interval : {1, 7}) {
      const SolverOptions o = options(1e-9, 300, 20, interval);
      const Solved expected = this->solve(o, a, b, preconditioned ? &m : nullptr);
      const PoisonedMemory poisoned;
      const Solved actual = this->solve(o, a, b, preconditioned ? &m : nullptr);
      if (std::is_same<Device::memory_space, Kokkos::HostSpace>::value) {
        EXPECT_GT(poisoned.count(), 5);
      }
      EXPECT_EQ(actual.result.status, SolveStatus::Converged);
      EXPECT_EQ(actual.result.history, expected.result.history);
      EXPECT_EQ(actual.x, expected.x);
    }
}

TYPED_TEST(AnySolver, OneWorkspaceServesSystemsOfDifferentSize) {
  typename TypeParam::Solver solver(options(1e-9, 2000, 10));
  for (const int n : {615, 1, 33, 615}) {
    const HostCsr a = this->matrix(n);
    const Doubles b = randomVector(n, 21);
    const HostCsr host_m = inverseDiagonal(a);
    const auto m = toDevice<double>(host_m);
    const Solved expected[] = {this->solve(options(1e-9, 2000, 10), a, b),
                               this->solve(options(1e-9, 2000, 10), a, b, &host_m)};
    for (const bool preconditioned : {false, true, false}) {
      SCOPED_TRACE(message("n = ", n, preconditioned ? ", preconditioned" : ""));
      const auto x = toDevice<double>(Doubles(n, 0.0));
      const SolveResult result =
          solver.solve(toDevice<double>(a), preconditioned ? &m : nullptr, toDevice<double>(b), x);
      EXPECT_EQ(result.status, SolveStatus::Converged);
      EXPECT_LT(relativeResidual(a, b, toHost<double>(x)), 1.01e-9);
      EXPECT_EQ(result.iterations, expected[preconditioned].result.iterations);
    }
  }
}

TYPED_TEST(AnySolver, EmptyAndTrivialSystems) {
  const Solved empty = this->solve(options(1e-8, 100), HostCsr(), {});
  EXPECT_EQ(empty.result.status, SolveStatus::Converged);
  EXPECT_EQ(empty.result.iterations, 0);
  const Solved one = this->solve(options(1e-8, 100), diagonalOf(Doubles{4}), {2});
  EXPECT_EQ(one.result.status, SolveStatus::Converged);
  EXPECT_EQ(one.result.iterations, 1);
  EXPECT_DOUBLE_EQ(one.x[0], 0.5);
}

} // namespace
} // namespace test
} // namespace ainvil
