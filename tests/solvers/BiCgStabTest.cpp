// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/SolverSupport.hpp"

namespace ainvil {
namespace test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// BiCGStab as in the textbook (van der Vorst 1992), preconditioned from the right; the
/// preconditioners are applied in turn.
Solved referenceBiCgStab(const SolverOptions& o, const HostCsr& a, const Doubles& b,
                         const std::vector<HostCsr>& preconds = {}) {
  const int n = a.size();
  size_t applied = 0;
  const auto precondition = [&](const Doubles& x) {
    return preconds.empty() ? x : preconds[applied++ % preconds.size()].times(x);
  };
  Solved solved;
  Doubles& x = solved.x;
  x.assign(n, 0.0);
  Doubles r = b, p(n, 0.0), v(n, 0.0);
  const Doubles shadow = b;
  double rho = 1, alpha = 1, omega = 1;
  Doubles& history = solved.result.history;
  history = {1.0};
  while (history.back() > o.tolerance && solved.result.iterations < o.max_iterations) {
    const double old = rho;
    rho = dot(shadow, r);
    const double beta = rho / old * (alpha / omega);
    for (int i = 0; i < n; ++i)
      p[i] = r[i] + beta * (p[i] - omega * v[i]);
    const Doubles y = precondition(p);
    v = a.times(y);
    alpha = rho / dot(shadow, v);
    Doubles s = r;
    for (int i = 0; i < n; ++i) {
      s[i] -= alpha * v[i];
      x[i] += alpha * y[i];
    }
    r = s;
    if (norm(s) > o.tolerance * norm(b)) {
      const Doubles z = precondition(s);
      const Doubles t = a.times(z);
      omega = dot(t, s) / dot(t, t);
      for (int i = 0; i < n; ++i) {
        x[i] += omega * z[i];
        r[i] -= omega * t[i];
      }
    }
    ++solved.result.iterations;
    history.push_back(norm(r) / norm(b));
  }
  return solved;
}

/// A convection-diffusion chain of any length with a long-range coupling.
HostCsr chain(int n) {
  return matrixOf(n, [n](int i, int j) {
    const int d = j - i;
    return d == 0 ? 4.0 + 0.5 * i / n : d == 1 ? -1.2 : d == -1 ? -1.9 : d == 7 ? 0.4 : 0.0;
  });
}

void compareWithReference(const HostCsr& a, const SolverOptions& o,
                          const std::vector<HostCsr>& preconds = {}) {
  const Doubles b = randomVector(a.size(), 17);
  const Solved expected = referenceBiCgStab(o, a, b, preconds);
  const Sequence<> m(preconds);
  const Solved actual = solveWithOperator<BiCgStab>(o, a, b, preconds.empty() ? nullptr : &m);
  EXPECT_EQ(actual.result.iterations, expected.result.iterations);
  expectSameHistory(actual.result.history, expected.result.history, 1e-8);
  EXPECT_LT(norm(minus(actual.x, expected.x)), 1e-8 * norm(expected.x));
  EXPECT_NEAR(actual.result.true_rel_residual, relativeResidual(a, b, actual.x),
              1e-12 + 0.01 * o.tolerance);
}

TEST(BiCgStab, MatchesTheTextbookIterateByIterate) {
  for (const int n : {31, 33, 536, 615}) {
    const HostCsr a = chain(n);
    for (int iterations = 1; iterations <= 15; ++iterations) {
      SCOPED_TRACE(message("n = ", n, ", iteration ", iterations));
      compareWithReference(a, options(1e-11, iterations));
      compareWithReference(a, options(1e-11, iterations), {inverseDiagonal(a)});
      compareWithReference(a, options(1e-11, iterations), randomScalings(n));
    }
  }
}

// Rounding decides over the details of a long run, but not over its length.
TEST(BiCgStab, ConvergesAsFastAsTheTextbook) {
  const HostCsr a = convectionDiffusion(61, 67, 0.3, 0.2);
  const Doubles b = randomVector(a.size(), 3);
  const SolverOptions o = options(1e-9, 1000);
  const Solved expected = referenceBiCgStab(o, a, b);
  const Solved actual = solveWith<BiCgStab>(o, a, b);
  EXPECT_EQ(actual.result.status, SolveStatus::Converged);
  EXPECT_NEAR(actual.result.iterations, expected.result.iterations,
              0.15 * expected.result.iterations);
}

// It never loses track of the true residual; it converges where the preconditioner varies a little.
TEST(BiCgStab, FollowsAVaryingPreconditioner) {
  const HostCsr a = convectionDiffusion(23, 23, 0.3, 0.2);
  const Doubles b = randomVector(a.size(), 9);
  for (const double factor : {1.01, 2.0})
    for (const int max_iterations : {1, 10, 40, 500}) {
      SCOPED_TRACE(message("factor ", factor, ", iterations ", max_iterations));
      const Sequence<> m(randomScalings(a.size(), factor));
      const SolveResult result =
          solveWithOperator<BiCgStab>(options(1e-8, max_iterations), a, b, &m).result;
      EXPECT_NEAR(result.true_rel_residual, result.rel_residual, 0.01 * result.rel_residual);
      EXPECT_EQ(result.status == SolveStatus::Converged, factor < 2 && max_iterations == 500);
    }
}

TEST(BiCgStab, EndsAfterHalfAnIteration) {
  const int n = 33;
  const Doubles b = randomVector(n, 5);
  const HostCsr a = diagonalOf(Doubles(n, 2.0));
  // s = 0. What the second application gives must not matter.
  const Sequence<> m({diagonalOf(Doubles(n, 1.0)), diagonalOf(Doubles(n, nan))});
  const Solved s = solveWithOperator<BiCgStab>(options(1e-10, 100), a, b, &m);
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_EQ(s.result.iterations, 1);
  EXPECT_EQ(s.result.history, (Doubles{1, 0}));
  EXPECT_LT(relativeResidual(a, b, s.x), 1e-15);
}

TEST(BiCgStab, SkewSymmetricMatrixBreaksDown) {
  const HostCsr a = matrixOf({{0, 1, 0, 2}, {-1, 0, 3, 0}, {0, -3, 0, 1}, {-2, 0, -1, 0}});
  for (const int interval : {1, 10}) {
    const Doubles guess{1, 0, 0, 0};
    const Solved s =
        solveWith<BiCgStab>(options(1e-10, 100, 30, interval), a, {1, 2, 3, 4}, nullptr, guess);
    EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
    EXPECT_NE(s.result.message.find("r.A M r = 0"), std::string::npos);
    EXPECT_EQ(s.result.iterations, 0);
    EXPECT_EQ(s.x, guess);
  }
  // The same up to rounding.
  const int n = 100;
  const HostCsr large = matrixOf(n, [](int i, int j) { return 1.0 / 3 * (j - i) / (i + j + 1); });
  const Solved s = solveWith<BiCgStab>(options(1e-10, 100), large, randomVector(n, 1));
  EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
  EXPECT_EQ(s.result.iterations, 0);
}

// t.s = 0: half of the first iteration can be had, and no more.
TEST(BiCgStab, BreaksDownInTheSecondHalf) {
  const HostCsr a = matrixOf({{1, 1}, {-1, 0}});
  for (const int interval : {1, 10}) {
    const Solved s = solveWith<BiCgStab>(options(1e-10, 100, 30, interval), a, {2, 0});
    EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
    EXPECT_EQ(s.result.iterations, 1);
    EXPECT_EQ(s.x, (Doubles{2, 0}));
    EXPECT_EQ(s.result.history, (Doubles{1, 1}));
    EXPECT_EQ(s.result.true_rel_residual, 1);
  }
}

// r^.r = 0 after the first iteration; three more solve a system of three unknowns.
TEST(BiCgStab, GoesOnWithANewShadowResidualWhereBetaBreaksDown) {
  const HostCsr a = matrixOf({{1, 1, -1}, {1, 2, 0}, {1, 0, 3}});
  for (const int interval : {1, 10}) {
    const Solved s = solveWith<BiCgStab>(options(1e-10, 100, 30, interval), a, {1, 0, 0});
    EXPECT_EQ(s.result.status, SolveStatus::Converged);
    EXPECT_LE(s.result.iterations, 4);
    EXPECT_LT(relativeResidual(a, {1, 0, 0}, s.x), 1e-10);
  }
}

// r^.v = 0 in the second iteration, in exact arithmetic as in ours.
TEST(BiCgStab, GoesOnWithANewShadowResidualWhereAlphaBreaksDown) {
  const HostCsr a = matrixOf({{3, 2, 1}, {0, 2, 2}, {3, 2, -1}});
  for (const int interval : {1, 10}) {
    const Solved s = solveWith<BiCgStab>(options(1e-10, 100, 30, interval), a, {0, 1, 0});
    EXPECT_EQ(s.result.status, SolveStatus::Converged);
    EXPECT_LE(s.result.iterations, 4);
    EXPECT_LT(relativeResidual(a, {0, 1, 0}, s.x), 1e-10);
  }
}

TEST(BiCgStab, SingularMatrixBreaksDown) {
  const Solved zero = solveWith<BiCgStab>(options(1e-10, 100), diagonalOf({0, 0, 0}), {1, 2, 3});
  EXPECT_EQ(zero.result.status, SolveStatus::Breakdown);
  EXPECT_EQ(zero.x, Doubles(3, 0.0));
  // Where A s = 0, half an iteration remains.
  const Solved half = solveWith<BiCgStab>(options(1e-10, 100), matrixOf({{1, 1}, {0, 0}}), {1, 1});
  EXPECT_EQ(half.result.status, SolveStatus::Breakdown);
  EXPECT_EQ(half.result.iterations, 1);
  EXPECT_EQ(half.x, (Doubles{1, 1}));
  const HostCsr a = diagonalOf({1, 0});
  for (const int interval : {1, 10}) {
    const Solved s = solveWith<BiCgStab>(options(1e-10, 100, 30, interval), a, {1, 1});
    EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
    EXPECT_TRUE(s.isFinite());
    EXPECT_NEAR(relativeResidual(a, {1, 1}, s.x), std::sqrt(0.5), 1e-12);
    EXPECT_NEAR(s.result.true_rel_residual, std::sqrt(0.5), 1e-12);
  }
  const Solved consistent =
      solveWith<BiCgStab>(options(1e-10, 100), diagonalOf({1, 2, 0}), {1, 1, 0});
  EXPECT_EQ(consistent.result.status, SolveStatus::Converged);
}

TEST(BiCgStab, LaunchesFourKernelsAnIteration) {
  const HostCsr host_a = convectionDiffusion(33, 19, 0.3, 0.2);
  const auto a = toDevice<double>(host_a);
  const auto m = toDevice<double>(inverseDiagonal(host_a));
  const auto b = toDevice<double>(randomVector(host_a.size(), 21));
  const auto x = toDevice<double>(Doubles(host_a.size(), 0.0));
  BiCgStab<double, Device> solver(options(1e-30, 20, 30, 10));
  solver.solve(a, &m, b, x);
  Kokkos::deep_copy(x, 0.0);
  ToolsRecorder recorder;
  solver.solve(a, &m, b, x);
  const int iterations = 20;
  for (const char* label : {"alpha", "half", "omega", "update"})
    EXPECT_EQ(recorder.count(std::string("Ainvil::BiCgStab::") + label), iterations);
  // Besides two products each with A and M, the shadow residual, the norm of b, and b - A x and its
  // norm at the beginning and at the end.
  EXPECT_EQ(recorder.labels.size(), size_t(8 * iterations + 1 + 1 + 2 * 3));
}

} // namespace
} // namespace test
} // namespace ainvil
