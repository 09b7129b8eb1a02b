// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Gmres.hpp"

#include "SolverSupport.hpp"

namespace ainvil {
namespace test {
namespace {

using Solver = Gmres<double, Device>;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Right-preconditioned GMRES(m) as in the textbook: modified Gram-Schmidt, one vector after the
/// other (Saad and Schultz 1986).
Solved referenceGmres(const SolverOptions& o, const HostCsr& a, const Doubles& b,
                      const HostCsr* precond = nullptr) {
  const int n = a.size();
  const int m = std::min(o.restart, n);
  const double b_norm = norm(b);
  Solved s;
  s.x.assign(n, 0.0);
  Doubles r = b;
  s.result.history = {norm(r) / b_norm};
  while (norm(r) / b_norm > o.tolerance && s.result.iterations < o.max_iterations) {
    std::vector<Doubles> v{r}, h;
    Doubles c, sn, g{norm(r)};
    for (double& value : v[0])
      value /= g[0];
    int k = 0;
    while (k < m && s.result.iterations < o.max_iterations) {
      Doubles w = a.times(precond ? precond->times(v[k]) : v[k]);
      Doubles column;
      for (int i = 0; i <= k; ++i) {
        column.push_back(dot(v[i], w));
        for (int row = 0; row < n; ++row)
          w[row] -= column[i] * v[i][row];
      }
      const double below = norm(w);
      for (int i = 0; i < k; ++i) {
        const double upper = column[i];
        column[i] = c[i] * upper + sn[i] * column[i + 1];
        column[i + 1] = -sn[i] * upper + c[i] * column[i + 1];
      }
      const double length = std::hypot(column[k], below);
      c.push_back(column[k] / length);
      sn.push_back(below / length);
      column[k] = length;
      h.push_back(column);
      g.push_back(-sn[k] * g[k]);
      g[k] *= c[k];
      ++k;
      ++s.result.iterations;
      s.result.history.push_back(std::abs(g[k]) / b_norm);
      for (double& value : w)
        value /= below;
      v.push_back(w);
      if (s.result.history.back() <= o.tolerance)
        break;
    }
    Doubles y(k), vy(n, 0.0);
    for (int i = k - 1; i >= 0; --i) {
      y[i] = g[i];
      for (int j = i + 1; j < k; ++j)
        y[i] -= h[j][i] * y[j];
      y[i] /= h[i][i];
      for (int row = 0; row < n; ++row)
        vy[row] += y[i] * v[i][row];
    }
    const Doubles update = precond ? precond->times(vy) : vy;
    for (int row = 0; row < n; ++row)
      s.x[row] += update[row];
    r = minus(b, a.times(s.x));
  }
  return s;
}

/// A convection-diffusion chain of any length with a long-range coupling.
HostCsr chain(int n) {
  return matrixOf(n, [n](int i, int j) {
    const int d = j - i;
    return d == 0 ? 4.0 + 0.5 * i / n : d == 1 ? -1.2 : d == -1 ? -1.9 : d == 7 ? 0.4 : 0.0;
  });
}

void compareWithReference(const HostCsr& a, const SolverOptions& o, const HostCsr* m = nullptr) {
  const Doubles b = randomVector(a.size(), 17);
  const Solved expected = referenceGmres(o, a, b, m);
  const Solved actual = solveWith<Gmres>(o, a, b, m);
  EXPECT_EQ(actual.result.iterations, expected.result.iterations);
  expectSameHistory(actual.result.history, expected.result.history, 1e-8);
  EXPECT_LT(norm(minus(actual.x, expected.x)), 1e-8 * norm(expected.x));
  EXPECT_NEAR(actual.result.true_rel_residual, relativeResidual(a, b, actual.x),
              1e-12 + 0.01 * o.tolerance);
  EXPECT_EQ(actual.result.status == SolveStatus::Converged,
            relativeResidual(a, b, actual.x) <= o.tolerance);
}

TEST(Gmres, MatchesModifiedGramSchmidt) {
  for (const int n : {31, 33, 536, 615})
    for (const int restart : {1, 5, 30, 700}) {
      SCOPED_TRACE(message("n = ", n, ", restart = ", restart));
      compareWithReference(chain(n), options(1e-10, 60, restart));
    }
}

TEST(Gmres, MatchesModifiedGramSchmidtOverManyIterations) {
  compareWithReference(convectionDiffusion(23, 23, 0.3, 0.2), options(1e-9, 400, 30));
  compareWithReference(convectionDiffusion(41, 15, 0.9, -0.4), options(1e-9, 400, 400));
}

TEST(Gmres, MatchesModifiedGramSchmidtWithPreconditioner) {
  const int n = 615;
  const HostCsr lower = matrixOf(n, [](int i, int j) {
    return i == j ? 0.25 : j == i - 1 ? 0.1 : j == i + 3 ? 0.01 * (i % 3) : 0.0;
  });
  compareWithReference(chain(n), options(1e-10, 100, 5), &lower);
  compareWithReference(chain(n), options(1e-10, 100, 30), &lower);
}

// An ill-conditioned Krylov basis, where a single pass of classical Gram-Schmidt loses
// orthogonality altogether: condition number 1e10.
TEST(Gmres, KeepsTheBasisOrthogonal) {
  const int n = 100;
  Doubles d(n);
  for (int i = 0; i < n; ++i)
    d[i] = std::pow(10.0, -10.0 * i / (n - 1));
  const HostCsr a = matrixOf(n, [&](int i, int j) {
    return i == j ? d[i] : j == i + 1 ? 0.1 * d[i] : 0.0;
  });
  const Doubles b = a.times(Doubles(n, 1.0));
  const SolverOptions o = options(1e-11, 100, 100);
  const Solved expected = referenceGmres(o, a, b);
  const Solved actual = solveWith<Gmres>(o, a, b);
  EXPECT_EQ(actual.result.status, SolveStatus::Converged);
  EXPECT_EQ(actual.result.iterations, expected.result.iterations);
  expectSameHistory(actual.result.history, expected.result.history, 1e-10);
  EXPECT_NEAR(actual.result.true_rel_residual, actual.result.rel_residual,
              0.01 * actual.result.rel_residual);
}

TEST(Gmres, ResultDoesNotDependOnTheCheckInterval) {
  const HostCsr a = convectionDiffusion(29, 23, 0.3, 0.2);
  const Doubles b = randomVector(a.size(), 5);
  for (const int max_iterations : {500, 37}) {
    const Solved first = solveWith<Gmres>(options(1e-9, max_iterations, 20, 1), a, b);
    for (const int interval : {0, 3, 7, 100}) {
      SCOPED_TRACE(message("check interval ", interval));
      const Solved other = solveWith<Gmres>(options(1e-9, max_iterations, 20, interval), a, b);
      EXPECT_EQ(other.result.status, first.result.status);
      EXPECT_EQ(other.result.iterations, first.result.iterations);
      EXPECT_EQ(other.result.history, first.result.history);
      EXPECT_EQ(other.result.true_rel_residual, first.result.true_rel_residual);
      EXPECT_EQ(other.x, first.x);
    }
  }
}

TEST(Gmres, NoOperatorApplicationInVainWhenLookingAtEveryIteration) {
  const HostCsr a = convectionDiffusion(20, 20, 0.3);
  const CountingOperator<double> counting(toDevice<double>(a));
  const auto x = toDevice<double>(Doubles(a.size(), 0.0));
  const SolveResult result = gmres(counting, nullptr, toDevice<double>(randomVector(a.size(), 2)),
                                   x, options(1e-8, 500, 25, 1));
  EXPECT_EQ(result.status, SolveStatus::Converged);
  const int cycles = (result.iterations + 24) / 25;
  EXPECT_EQ(counting.count, result.iterations + cycles + 1);
}

TEST(Gmres, RecurrenceAgreesWithTheTrueResidual) {
  const HostCsr a = convectionDiffusion(33, 31, 0.3, 0.2);
  const Solved s = solveWith<Gmres>(options(1e-12, 1000, 30), a, randomVector(a.size(), 9));
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_NEAR(s.result.true_rel_residual, s.result.rel_residual, 0.01 * s.result.rel_residual);
  EXPECT_EQ(s.result.history.size(), size_t(s.result.iterations) + 1);
  EXPECT_EQ(s.result.history.back(), s.result.rel_residual);
  EXPECT_TRUE(s.result.message.empty());
}

// The cyclic shift: no progress at all until the Krylov space is the whole space.
TEST(Gmres, SolvesExactlyAfterAsManyStepsAsUnknowns) {
  for (const int n : {1, 2, 12, 31, 33}) {
    const HostCsr a = matrixOf(n, [n](int i, int j) { return j == (i + 1) % n ? 1.0 : 0.0; });
    Doubles b(n, 0.0);
    b[0] = 1;
    for (const int interval : {1, 4, 100}) {
      const Solved s = solveWith<Gmres>(options(1e-12, 100, 50, interval), a, b);
      EXPECT_EQ(s.result.status, SolveStatus::Converged);
      EXPECT_EQ(s.result.iterations, n);
      EXPECT_LT(relativeResidual(a, b, s.x), 1e-12);
      for (int k = 0; k < n; ++k)
        EXPECT_NEAR(s.result.history[k], 1, 1e-12);
    }
  }
}

TEST(Gmres, EndsWhenTheKrylovSpaceIsExhausted) {
  const int n = 97;
  for (int distinct = 1; distinct <= 6; ++distinct) {
    SCOPED_TRACE(distinct);
    Doubles d(n);
    for (int i = 0; i < n; ++i)
      d[i] = 1 + i % distinct;
    for (const int interval : {1, 2, 100}) {
      const Doubles b = randomVector(n, 3);
      const Solved s = solveWith<Gmres>(options(1e-11, 100, 30, interval), diagonalOf(d), b);
      EXPECT_EQ(s.result.status, SolveStatus::Converged);
      EXPECT_EQ(s.result.iterations, distinct);
      EXPECT_LT(relativeResidual(diagonalOf(d), b, s.x), 1e-11);
    }
  }
}

TEST(Gmres, ExactInverseNeedsOneIteration) {
  const int n = 65;
  const HostCsr a = matrixOf(n, [](int i, int j) { // unit lower triangular
    return i == j ? 1.0 : j == i - 1 ? -0.5 : 0.0;
  });
  const HostCsr inverse =
      matrixOf(n, [](int i, int j) { return j <= i ? std::pow(0.5, i - j) : 0.0; });
  const Solved s = solveWith<Gmres>(options(1e-12, 100), a, randomVector(n, 8), &inverse);
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_EQ(s.result.iterations, 1);
}

TEST(Gmres, InconsistentSingularSystemBreaksDown) {
  const HostCsr a = diagonalOf({1, 2, 3, 0});
  const Doubles b(4, 1.0);
  for (const int interval : {1, 2, 100}) {
    const Solved s = solveWith<Gmres>(options(1e-10, 100, 30, interval), a, b);
    EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
    EXPECT_NE(s.result.message.find("singular"), std::string::npos);
    EXPECT_TRUE(s.isFinite());
    EXPECT_LE(s.result.iterations, 4);
    EXPECT_EQ(s.result.history.size(), size_t(s.result.iterations) + 1);
    // The least-squares residual is the part of b outside the range.
    EXPECT_NEAR(s.result.true_rel_residual, 0.5, 1e-10);
    EXPECT_NEAR(relativeResidual(a, b, s.x), 0.5, 1e-10);
  }
  // The part outside the range is small: the solver gets close before it finds out.
  const Solved close = solveWith<Gmres>(options(1e-10, 100), a, {1, 1, 1, 1e-5});
  EXPECT_EQ(close.result.status, SolveStatus::Breakdown);
  EXPECT_NEAR(close.result.true_rel_residual, 1e-5 / std::sqrt(3), 1e-10);
  const Solved zero = solveWith<Gmres>(options(1e-10, 100), diagonalOf({0, 0, 0}), {1, 2, 3});
  EXPECT_EQ(zero.result.status, SolveStatus::Breakdown);
  EXPECT_EQ(zero.x, Doubles(3, 0.0));
}

// A pure Neumann problem whose right-hand side is not orthogonal to the constants. In rounded
// arithmetic nothing is exactly singular: the solver must not follow the huge y of a singular H.
TEST(Gmres, NumericallySingularSystemKeepsItsBestResidual) {
  const int nx = 10, n = nx * nx;
  const HostCsr a = matrixOf(n, [](int i, int j) {
    const int dx = std::abs(i % nx - j % nx), dy = std::abs(i / nx - j / nx);
    const int x = i % nx, y = i / nx;
    const int neighbours = (x > 0) + (x < nx - 1) + (y > 0) + (y < nx - 1);
    return dx + dy == 0 ? double(neighbours) : dx + dy == 1 ? -1.0 : 0.0;
  });
  const Doubles b = randomVector(n, 1);
  const double outside = std::abs(dot(b, Doubles(n, 1.0))) / std::sqrt(n) / norm(b);
  for (const int interval : {1, 10}) {
    const Solved s = solveWith<Gmres>(options(1e-10, 1000, 200, interval), a, b);
    EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
    EXPECT_TRUE(s.isFinite());
    EXPECT_LT(relativeResidual(a, b, s.x), 1.1 * outside);
  }
}

TEST(Gmres, ConsistentSingularSystemConverges) {
  const HostCsr a = diagonalOf({1, 2, 3, 0});
  const Solved s = solveWith<Gmres>(options(1e-10, 100), a, {1, 1, 1, 0});
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_EQ(s.result.iterations, 3);
}

TEST(Gmres, ReportsNaN) {
  const HostCsr a = chain(33);
  Doubles b = randomVector(33, 1);
  Doubles bad = b;
  bad[32] = nan;
  Solved s = solveWith<Gmres>(options(1e-8, 100), a, bad);
  EXPECT_EQ(s.result.status, SolveStatus::Diverged);
  EXPECT_EQ(s.result.iterations, 0);
  EXPECT_EQ(s.x, Doubles(33, 0.0));
  s = solveWith<Gmres>(options(1e-8, 100), a, b, nullptr, bad);
  EXPECT_EQ(s.result.status, SolveStatus::Diverged);
  EXPECT_EQ(s.result.iterations, 0);
  EXPECT_FALSE(s.result.message.empty());
  for (const int interval : {1, 10}) {
    Doubles d(33, 1.0);
    d[20] = nan;
    const HostCsr m = diagonalOf(d);
    s = solveWith<Gmres>(options(1e-8, 100, 30, interval), a, b, &m);
    EXPECT_EQ(s.result.status, SolveStatus::Diverged);
    EXPECT_NE(s.result.message.find("preconditioner"), std::string::npos);
    EXPECT_TRUE(s.isFinite());
    EXPECT_TRUE(std::isfinite(s.result.true_rel_residual));
  }
}

TEST(Gmres, ZeroRightHandSide) {
  const Solved s = solveWith<Gmres>(options(1e-8, 100), chain(31), Doubles(31, 0.0), nullptr,
                                    randomVector(31, 4));
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_EQ(s.result.iterations, 0);
  EXPECT_EQ(s.x, Doubles(31, 0.0));
}

TEST(Gmres, TinyRightHandSideIsNotZero) {
  Solved s = solveWith<Gmres>(options(1e-8, 100), chain(31), Doubles(31, 1e-120));
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_GT(s.result.iterations, 0);
  s = solveWith<Gmres>(options(1e-8, 100), chain(31), Doubles(31, 1e-200));
  EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
}

TEST(Gmres, StartsFromTheInitialGuess) {
  const HostCsr a = chain(536);
  const Doubles solution = randomVector(536, 6);
  const Doubles b = a.times(solution);
  const Solved exact = solveWith<Gmres>(options(1e-10, 100), a, b, nullptr, solution);
  EXPECT_EQ(exact.result.status, SolveStatus::Converged);
  EXPECT_EQ(exact.result.iterations, 0);
  EXPECT_EQ(exact.x, solution);
  EXPECT_EQ(exact.result.history.size(), 1u);

  Doubles guess = solution;
  for (double& value : guess)
    value *= 1 + 1e-5;
  const Solved near = solveWith<Gmres>(options(1e-10, 100), a, b, nullptr, guess);
  const Solved far = solveWith<Gmres>(options(1e-10, 100), a, b);
  EXPECT_EQ(near.result.status, SolveStatus::Converged);
  EXPECT_LT(near.result.iterations, far.result.iterations);
  EXPECT_LT(relativeResidual(a, b, near.x), 1.01e-10);
}

TEST(Gmres, RunsExactlyMaxIterations) {
  const HostCsr a = convectionDiffusion(25, 25);
  const Doubles b = randomVector(a.size(), 11);
  for (const int max_iterations : {0, 1, 5, 7, 31})
    for (const int interval : {1, 3, 100}) {
      const Solved s = solveWith<Gmres>(options(1e-12, max_iterations, 5, interval), a, b);
      EXPECT_EQ(s.result.status, SolveStatus::MaxIterations);
      EXPECT_EQ(s.result.iterations, max_iterations);
      EXPECT_EQ(s.result.history.size(), size_t(max_iterations) + 1);
      EXPECT_NEAR(relativeResidual(a, b, s.x), s.result.rel_residual, 1e-12);
    }
}

TEST(Gmres, SinglePrecision) {
  const HostCsr a = convectionDiffusion(31, 17, 0.3, 0.1);
  const Doubles b = randomVector(a.size(), 13);
  const SolverOptions o = options(1e-5, 500, 30);
  const Solved s = solveWith<Gmres, float>(o, a, b);
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_LT(relativeResidual(a, b, s.x), 1.1e-5);
  EXPECT_NEAR(s.result.iterations, solveWith<Gmres>(o, a, b).result.iterations, 3);
  // Beyond single precision the recurrence goes on and the residual does not.
  const Solved beyond = solveWith<Gmres, float>(options(1e-10, 5000, 30), a, b);
  EXPECT_EQ(beyond.result.status, SolveStatus::Stagnated);
  EXPECT_LT(beyond.result.true_rel_residual, 1e-5);
  EXPECT_GT(beyond.result.true_rel_residual, 1e-10);
}

TEST(Gmres, SecondSolveAllocatesNothingAndGivesTheSame) {
  const HostCsr host_a = convectionDiffusion(33, 19, 0.3, 0.2);
  const auto a = toDevice<double>(host_a);
  const auto m = toDevice<double>(diagonalOf(Doubles(host_a.size(), 0.25)));
  const auto b = toDevice<double>(randomVector(host_a.size(), 21));
  const auto x = toDevice<double>(Doubles(host_a.size(), 0.0));
  Solver solver(options(1e-9, 300, 20));
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

TEST(Gmres, LaunchesTwoKernelsAnIteration) {
  const HostCsr host_a = convectionDiffusion(33, 19, 0.3, 0.2);
  const auto a = toDevice<double>(host_a);
  const auto b = toDevice<double>(randomVector(host_a.size(), 21));
  const auto x = toDevice<double>(Doubles(host_a.size(), 0.0));
  Solver solver(options(1e-30, 60, 30, 10));
  solver.solve(a, nullptr, b, x);
  Kokkos::deep_copy(x, 0.0);
  ToolsRecorder recorder;
  solver.solve(a, nullptr, b, x);
  const int iterations = 60, cycles = 2;
  EXPECT_EQ(recorder.count("Ainvil::Gmres::innerProducts"), iterations + cycles);
  EXPECT_EQ(recorder.count("Ainvil::Gmres::update"), iterations);
  EXPECT_EQ(recorder.count("Ainvil::spmv"), iterations + cycles + 1);
  EXPECT_EQ(recorder.labels.size(),
            size_t(3 * iterations + 2 * cycles + // the closing inner products, x += V y
                   3 * (cycles + 1) + 1));       // b - A x and its norm; the norm of b
}

TEST(Gmres, OneWorkspaceServesSystemsOfDifferentSize) {
  Solver solver(options(1e-9, 300, 10));
  for (const int n : {615, 1, 33, 615}) {
    const HostCsr a = chain(n);
    const Doubles b = randomVector(n, 21);
    const auto x = toDevice<double>(Doubles(n, 0.0));
    const SolveResult result = solver.solve(toDevice<double>(a), nullptr, toDevice<double>(b), x);
    EXPECT_EQ(result.status, SolveStatus::Converged);
    EXPECT_LT(relativeResidual(a, b, toHost<double>(x)), 1.01e-9);
  }
}

TEST(Gmres, EmptyAndTrivialSystems) {
  const Solved empty = solveWith<Gmres>(options(1e-8, 100), HostCsr(), {});
  EXPECT_EQ(empty.result.status, SolveStatus::Converged);
  EXPECT_EQ(empty.result.iterations, 0);
  const Solved one = solveWith<Gmres>(options(1e-8, 100), diagonalOf({4}), {2});
  EXPECT_EQ(one.result.status, SolveStatus::Converged);
  EXPECT_EQ(one.result.iterations, 1);
  EXPECT_DOUBLE_EQ(one.x[0], 0.5);
}

TEST(Gmres, TellsProgress) {
  const HostCsr a = convectionDiffusion(20, 20);
  std::vector<int> iterations;
  Doubles residuals;
  SolverOptions o = options(1e-8, 35, 30, 4);
  o.progress = [&](int iteration, double rel_residual) {
    iterations.push_back(iteration);
    residuals.push_back(rel_residual);
  };
  const Solved s = solveWith<Gmres>(o, a, randomVector(400, 3));
  ASSERT_FALSE(iterations.empty());
  EXPECT_LT(iterations.size(), 35u);
  for (size_t i = 0; i < iterations.size(); ++i)
    EXPECT_EQ(residuals[i], s.result.history[iterations[i]]);
  EXPECT_EQ(iterations.back(), s.result.iterations);
}

TEST(Gmres, RefusesBadInput) {
  EXPECT_THROW(Solver(options(-1, 10)), InvalidArgument);
  EXPECT_THROW(Solver(options(nan, 10)), InvalidArgument);
  EXPECT_THROW(Solver(options(1e-8, -1)), InvalidArgument);
  EXPECT_THROW(Solver(options(1e-8, 10, 0)), InvalidArgument);
  EXPECT_THROW(Solver(options(1e-8, 10, 30, -1)), InvalidArgument);
  const auto a = toDevice<double>(chain(4));
  const auto m = toDevice<double>(chain(5));
  const auto x4 = toDevice<double>(Doubles(4, 1.0)), x5 = toDevice<double>(Doubles(5, 1.0));
  EXPECT_THROW(gmres(a, nullptr, x5, x4), InvalidArgument);
  EXPECT_THROW(gmres(a, nullptr, x4, x5), InvalidArgument);
  EXPECT_THROW(gmres(a, &m, x4, x4), InvalidArgument);
}

} // namespace
} // namespace test
} // namespace ainvil
