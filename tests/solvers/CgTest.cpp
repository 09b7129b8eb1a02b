// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Cg.hpp"

#include "SolverSupport.hpp"

namespace ainvil {
namespace test {
namespace {

using Solver = Cg<double, Device>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Preconditioned conjugate gradients as in the textbook (Hestenes and Stiefel 1952), with A p
/// formed explicitly.
Solved referenceCg(const SolverOptions& o, const HostCsr& a, const Doubles& b,
                   const HostCsr* precond = nullptr) {
  const int n = a.size();
  Solved s;
  s.x.assign(n, 0.0);
  Doubles r = b, p(n, 0.0);
  double gamma = 0;
  s.result.history = {1.0};
  while (s.result.history.back() > o.tolerance && s.result.iterations < o.max_iterations) {
    const Doubles z = precond ? precond->times(r) : r;
    const double old = gamma;
    gamma = dot(r, z);
    for (int i = 0; i < n; ++i)
      p[i] = z[i] + (old > 0 ? gamma / old : 0.0) * p[i];
    const Doubles q = a.times(p);
    const double alpha = gamma / dot(p, q);
    for (int i = 0; i < n; ++i) {
      s.x[i] += alpha * p[i];
      r[i] -= alpha * q[i];
    }
    ++s.result.iterations;
    s.result.history.push_back(norm(r) / norm(b));
  }
  return s;
}

/// A diffusion chain of any length with jumps of the coefficient.
HostCsr chain(int n, double jump = 10) {
  const auto conductivity = [&](int i) { return i % 5 == 0 ? jump : 1.0; };
  return matrixOf(n, [&](int i, int j) {
    if (i == j)
      return conductivity(i) + conductivity(i + 1) + 0.1;
    return j == i + 1 ? -conductivity(j) : j == i - 1 ? -conductivity(i) : 0.0;
  });
}

HostCsr inverseDiagonal(const HostCsr& a) {
  Doubles d;
  for (int i = 0; i < a.size(); ++i)
    for (Offset e = a.row_map[i]; e < a.row_map[i + 1]; ++e)
      if (a.columns[e] == i)
        d.push_back(1 / a.values[e]);
  return diagonalOf(d);
}

void compareWithReference(const HostCsr& a, const SolverOptions& o, const HostCsr* m = nullptr) {
  const Doubles b = randomVector(a.size(), 17);
  const Solved expected = referenceCg(o, a, b, m);
  const Solved actual = solveWith<Cg>(o, a, b, m);
  EXPECT_EQ(actual.result.iterations, expected.result.iterations);
  expectSameHistory(actual.result.history, expected.result.history, 1e-8);
  EXPECT_LT(norm(minus(actual.x, expected.x)), 1e-8 * norm(expected.x));
  EXPECT_NEAR(actual.result.true_rel_residual, relativeResidual(a, b, actual.x),
              1e-12 + 0.01 * o.tolerance);
}

TEST(Cg, MatchesTheTextbook) {
  for (const int n : {31, 33, 536, 615}) {
    SCOPED_TRACE(n);
    const HostCsr even = chain(n, 1), jumping = chain(n);
    const HostCsr m = inverseDiagonal(jumping);
    for (const int max_iterations : {20, 1000}) {
      compareWithReference(even, options(1e-10, max_iterations));
      compareWithReference(jumping, options(1e-10, max_iterations), &m);
    }
  }
  compareWithReference(convectionDiffusion(40, 37), options(1e-10, 1000));
}

// Jumps of six orders of magnitude, where rounding decides: the recurrence for A p must not cost
// accuracy or iterations.
TEST(Cg, IsAsAccurateAsTheTextbook) {
  const HostCsr a = chain(300, 1e6);
  const HostCsr m = inverseDiagonal(a);
  const Doubles b = randomVector(a.size(), 3);
  SolverOptions o = options(1e-8, 3000);
  Solved expected = referenceCg(o, a, b, &m);
  Solved actual = solveWith<Cg>(o, a, b, &m);
  EXPECT_EQ(actual.result.status, SolveStatus::Converged);
  EXPECT_NEAR(actual.result.iterations, expected.result.iterations, 5);
  // Out of reach: what can be attained is no worse than the textbook's, and said to be all.
  o.tolerance = 1e-13;
  expected = referenceCg(o, a, b, &m);
  actual = solveWith<Cg>(o, a, b, &m);
  EXPECT_EQ(actual.result.status, SolveStatus::Stagnated);
  EXPECT_LT(relativeResidual(a, b, actual.x), 2 * relativeResidual(a, b, expected.x));
}

TEST(Cg, ResultDoesNotDependOnTheCheckInterval) {
  const HostCsr a = convectionDiffusion(29, 23);
  const HostCsr m = inverseDiagonal(a);
  const Doubles b = randomVector(a.size(), 5);
  for (const int max_iterations : {500, 37}) {
    const Solved first = solveWith<Cg>(options(1e-9, max_iterations, 30, 1), a, b, &m);
    for (const int interval : {0, 3, 7, 100}) {
      SCOPED_TRACE(message("check interval ", interval));
      const Solved other = solveWith<Cg>(options(1e-9, max_iterations, 30, interval), a, b, &m);
      EXPECT_EQ(other.result.status, first.result.status);
      EXPECT_EQ(other.result.iterations, first.result.iterations);
      EXPECT_EQ(other.result.history, first.result.history);
      EXPECT_EQ(other.result.true_rel_residual, first.result.true_rel_residual);
      EXPECT_EQ(other.x, first.x);
    }
  }
}

TEST(Cg, RecurrenceAgreesWithTheTrueResidual) {
  const HostCsr a = convectionDiffusion(33, 31);
  const Solved s = solveWith<Cg>(options(1e-12, 1000), a, randomVector(a.size(), 9));
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_NEAR(s.result.true_rel_residual, s.result.rel_residual, 0.01 * s.result.rel_residual);
  EXPECT_EQ(s.result.history.size(), size_t(s.result.iterations) + 1);
  EXPECT_EQ(s.result.history.back(), s.result.rel_residual);
  EXPECT_TRUE(s.result.message.empty());
}

TEST(Cg, NeedsAsManyIterationsAsDistinctEigenvalues) {
  const int n = 97;
  for (int distinct = 1; distinct <= 6; ++distinct) {
    Doubles d(n);
    for (int i = 0; i < n; ++i)
      d[i] = 1 + i % distinct;
    for (const int interval : {1, 2, 100}) {
      const Solved s =
          solveWith<Cg>(options(1e-11, 100, 30, interval), diagonalOf(d), randomVector(n, 3));
      EXPECT_EQ(s.result.status, SolveStatus::Converged);
      EXPECT_EQ(s.result.iterations, distinct);
    }
  }
}

TEST(Cg, ExactInverseNeedsOneIteration) {
  const HostCsr a = diagonalOf(Doubles{1, 20, 300, 4000, 50000});
  const HostCsr m = inverseDiagonal(a);
  const Solved s = solveWith<Cg>(options(1e-12, 100), a, {1, 2, 3, 4, 5}, &m);
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_EQ(s.result.iterations, 1);
}

TEST(Cg, IndefiniteMatrixBreaksDown) {
  const HostCsr a = diagonalOf({2, 1, -1, 3});
  for (const int interval : {1, 10}) {
    const Solved s = solveWith<Cg>(options(1e-10, 100, 30, interval), a, {1, 1, 3, 1});
    EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
    EXPECT_NE(s.result.message.find("matrix is not positive definite"), std::string::npos);
    EXPECT_TRUE(s.isFinite());
    EXPECT_NEAR(s.result.true_rel_residual, relativeResidual(a, {1, 1, 3, 1}, s.x), 1e-12);
  }
  const Solved zero = solveWith<Cg>(options(1e-10, 100), diagonalOf({0, 0, 0}), {1, 2, 3});
  EXPECT_EQ(zero.result.status, SolveStatus::Breakdown);
  EXPECT_EQ(zero.x, Doubles(3, 0.0));
}

TEST(Cg, IndefinitePreconditionerBreaksDown) {
  const HostCsr m = diagonalOf({1, 1, -5, 1});
  const Solved s = solveWith<Cg>(options(1e-10, 100), diagonalOf({2, 1, 4, 3}), {1, 1, 1, 1}, &m);
  EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
  EXPECT_NE(s.result.message.find("preconditioner is not positive definite"), std::string::npos);
  EXPECT_EQ(s.x, Doubles(4, 0.0));
  EXPECT_EQ(s.result.iterations, 0);
}

TEST(Cg, ReportsNaN) {
  const HostCsr a = chain(33);
  const Doubles b = randomVector(33, 1);
  Doubles bad = b;
  bad[32] = nan;
  Solved s = solveWith<Cg>(options(1e-8, 100), a, bad);
  EXPECT_EQ(s.result.status, SolveStatus::Diverged);
  EXPECT_EQ(s.result.iterations, 0);
  s = solveWith<Cg>(options(1e-8, 100), a, b, nullptr, bad);
  EXPECT_EQ(s.result.status, SolveStatus::Diverged);
  EXPECT_EQ(s.result.iterations, 0);
  for (const int interval : {1, 10}) {
    Doubles d(33, 1.0);
    d[20] = nan;
    const HostCsr m = diagonalOf(d);
    s = solveWith<Cg>(options(1e-8, 100, 30, interval), a, b, &m);
    EXPECT_EQ(s.result.status, SolveStatus::Diverged);
    EXPECT_TRUE(s.isFinite());
    EXPECT_TRUE(std::isfinite(s.result.true_rel_residual));
  }
}

TEST(Cg, ZeroRightHandSide) {
  const Solved s =
      solveWith<Cg>(options(1e-8, 100), chain(31), Doubles(31, 0.0), nullptr, randomVector(31, 4));
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_EQ(s.result.iterations, 0);
  EXPECT_EQ(s.x, Doubles(31, 0.0));
}

TEST(Cg, StartsFromTheInitialGuess) {
  const HostCsr a = chain(536);
  const Doubles solution = randomVector(536, 6);
  const Doubles b = a.times(solution);
  const Solved exact = solveWith<Cg>(options(1e-10, 1000), a, b, nullptr, solution);
  EXPECT_EQ(exact.result.status, SolveStatus::Converged);
  EXPECT_EQ(exact.result.iterations, 0);
  EXPECT_EQ(exact.x, solution);
  Doubles guess = solution;
  for (double& value : guess)
    value *= 1 + 1e-5;
  const Solved near = solveWith<Cg>(options(1e-10, 1000), a, b, nullptr, guess);
  const Solved far = solveWith<Cg>(options(1e-10, 1000), a, b);
  EXPECT_EQ(near.result.status, SolveStatus::Converged);
  EXPECT_LT(near.result.iterations, far.result.iterations);
  EXPECT_LT(relativeResidual(a, b, near.x), 1.01e-10);
}

TEST(Cg, RunsExactlyMaxIterations) {
  const HostCsr a = convectionDiffusion(25, 25);
  const Doubles b = randomVector(a.size(), 11);
  for (const int max_iterations : {0, 1, 5, 7, 31})
    for (const int interval : {1, 3, 100}) {
      const Solved s = solveWith<Cg>(options(1e-12, max_iterations, 30, interval), a, b);
      EXPECT_EQ(s.result.status, SolveStatus::MaxIterations);
      EXPECT_EQ(s.result.iterations, max_iterations);
      EXPECT_EQ(s.result.history.size(), size_t(max_iterations) + 1);
      EXPECT_NEAR(relativeResidual(a, b, s.x), s.result.rel_residual, 1e-12);
    }
}

TEST(Cg, SinglePrecision) {
  const HostCsr a = convectionDiffusion(31, 17);
  const Doubles b = randomVector(a.size(), 13);
  const SolverOptions o = options(1e-5, 500);
  const Solved s = solveWith<Cg, float>(o, a, b);
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_LT(relativeResidual(a, b, s.x), 1.1e-5);
  EXPECT_NEAR(s.result.iterations, solveWith<Cg>(o, a, b).result.iterations, 2);
  const Solved beyond = solveWith<Cg, float>(options(1e-10, 5000), a, b);
  EXPECT_EQ(beyond.result.status, SolveStatus::Stagnated);
  EXPECT_LT(beyond.result.iterations, 1000);
  EXPECT_LT(beyond.result.true_rel_residual, 1e-5);
  EXPECT_GT(beyond.result.true_rel_residual, 1e-10);
}

TEST(Cg, SecondSolveAllocatesNothingAndGivesTheSame) {
  const HostCsr host_a = convectionDiffusion(33, 19);
  const auto a = toDevice<double>(host_a);
  const auto m = toDevice<double>(inverseDiagonal(host_a));
  const auto b = toDevice<double>(randomVector(host_a.size(), 21));
  const auto x = toDevice<double>(Doubles(host_a.size(), 0.0));
  Solver solver(options(1e-9, 300));
  const SolveResult first = solver.solve(a, &m, b, x);
  const Doubles first_x = toHost<double>(x);
  Kokkos::deep_copy(x, 0.0);
  SolveResult second;
  {
    ToolsRecorder recorder;
    second = solver.solve(a, &m, b, x);
    EXPECT_EQ(recorder.allocations, 0);
    for (const std::string& label : recorder.labels)
      EXPECT_EQ(label.rfind("Ainvil::", 0), 0u) << label;
  }
  EXPECT_EQ(second.iterations, first.iterations);
  EXPECT_EQ(second.history, first.history);
  EXPECT_EQ(toHost<double>(x), first_x);
}

TEST(Cg, LaunchesTwoKernelsAnIteration) {
  const HostCsr host_a = convectionDiffusion(33, 19);
  const auto a = toDevice<double>(host_a);
  const auto b = toDevice<double>(randomVector(host_a.size(), 21));
  const auto x = toDevice<double>(Doubles(host_a.size(), 0.0));
  Solver solver(options(1e-30, 40, 30, 10));
  solver.solve(a, nullptr, b, x);
  Kokkos::deep_copy(x, 0.0);
  ToolsRecorder recorder;
  solver.solve(a, nullptr, b, x);
  const int iterations = 40;
  EXPECT_EQ(recorder.count("Ainvil::Cg::innerProducts"), iterations);
  EXPECT_EQ(recorder.count("Ainvil::Cg::update"), iterations);
  // Besides, the norm of b, and b - A x and its norm at the beginning and at the end.
  EXPECT_EQ(recorder.labels.size(), size_t(3 * iterations + 1 + 2 * 3));
}

TEST(Cg, OneWorkspaceServesSystemsOfDifferentSize) {
  Solver solver(options(1e-9, 2000));
  for (const int n : {615, 1, 33, 615}) {
    const HostCsr a = chain(n);
    const auto m = toDevice<double>(inverseDiagonal(a));
    const Doubles b = randomVector(n, 21);
    for (const bool preconditioned : {false, true}) {
      const auto x = toDevice<double>(Doubles(n, 0.0));
      const SolveResult result =
          solver.solve(toDevice<double>(a), preconditioned ? &m : nullptr, toDevice<double>(b), x);
      EXPECT_EQ(result.status, SolveStatus::Converged);
      EXPECT_LT(relativeResidual(a, b, toHost<double>(x)), 1.01e-9);
    }
  }
}

TEST(Cg, EmptyAndTrivialSystems) {
  const Solved empty = solveWith<Cg>(options(1e-8, 100), HostCsr(), {});
  EXPECT_EQ(empty.result.status, SolveStatus::Converged);
  const Solved one = solveWith<Cg>(options(1e-8, 100), diagonalOf({4}), {2});
  EXPECT_EQ(one.result.status, SolveStatus::Converged);
  EXPECT_EQ(one.result.iterations, 1);
  EXPECT_DOUBLE_EQ(one.x[0], 0.5);
}

TEST(Cg, TellsProgress) {
  std::vector<int> iterations;
  SolverOptions o = options(1e-8, 35, 30, 4);
  o.progress = [&](int iteration, double) { iterations.push_back(iteration); };
  const Solved s = solveWith<Cg>(o, convectionDiffusion(20, 20), randomVector(400, 3));
  ASSERT_EQ(iterations.size(), 9u);
  EXPECT_EQ(iterations.front(), 4);
  EXPECT_EQ(iterations.back(), 35);
}

TEST(Cg, RefusesBadInput) {
  EXPECT_THROW(Solver(options(-1, 10)), InvalidArgument);
  const auto a = toDevice<double>(chain(4));
  const auto m = toDevice<double>(chain(5));
  const auto x4 = toDevice<double>(Doubles(4, 1.0)), x5 = toDevice<double>(Doubles(5, 1.0));
  EXPECT_THROW(cg(a, nullptr, x5, x4), InvalidArgument);
  EXPECT_THROW(cg(a, nullptr, x4, x5), InvalidArgument);
  EXPECT_THROW(cg(a, &m, x4, x4), InvalidArgument);
}

} // namespace
} // namespace test
} // namespace ainvil
