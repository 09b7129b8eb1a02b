// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/SolverSupport.hpp"

namespace ainvil {
namespace test {
namespace {

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

// r.M r is 0 although neither r nor M r is: there is no step, and there will be none.
TEST(Cg, OrthogonalResidualsBreakDown) {
  for (const HostCsr& m : {diagonalOf({1, -1}), diagonalOf({0, 0})})
    for (const int interval : {1, 10}) {
      const Solved s =
          solveWith<Cg>(options(1e-10, 100, 30, interval), diagonalOf({2, 1}), {1, 1}, &m);
      EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
      EXPECT_EQ(s.result.iterations, 0);
      EXPECT_EQ(s.x, Doubles(2, 0.0));
    }
}

// A negative definite matrix and its diagonal: neither is to blame alone.
TEST(Cg, NegativeDefiniteMatrixIsToldFromThePreconditioner) {
  const HostCsr a = matrixOf({{-2, 1, 0}, {1, -3, 1}, {0, 1, -4}});
  const HostCsr m = inverseDiagonal(a);
  const Solved s = solveWith<Cg>(options(1e-10, 100), a, {1, 2, 3}, &m);
  EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
  for (const char* part : {"neither the matrix nor the preconditioner is positive definite",
                           "after iteration 0", "solve (-A) x = -b"})
    EXPECT_NE(s.result.message.find(part), std::string::npos) << s.result.message;
  EXPECT_EQ(s.x, Doubles(3, 0.0));
  const Solved plain = solveWith<Cg>(options(1e-10, 100), a, {1, 2, 3});
  for (const char* part : {"matrix is not positive definite", "solve (-A) x = -b"})
    EXPECT_NE(plain.result.message.find(part), std::string::npos) << plain.result.message;
}

// A preconditioner that leaves out an unknown, and a residual there whose square overflows.
TEST(Cg, OverflowDiverges) {
  const HostCsr m = diagonalOf({1, 0});
  for (const int interval : {1, 10}) {
    const Solved s = solveWith<Cg>(options(1e-10, 100, 30, interval),
                                   matrixOf({{1, 1e160}, {1e160, 1}}), {1, 1}, &m);
    EXPECT_EQ(s.result.status, SolveStatus::Diverged);
    EXPECT_EQ(s.result.iterations, 1);
  }
}

TEST(Cg, LaunchesTwoKernelsAnIteration) {
  const HostCsr host_a = convectionDiffusion(33, 19);
  const auto a = toDevice<double>(host_a);
  const auto b = toDevice<double>(randomVector(host_a.size(), 21));
  const auto x = toDevice<double>(Doubles(host_a.size(), 0.0));
  Cg<double, Device> solver(options(1e-30, 40, 30, 10));
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

} // namespace
} // namespace test
} // namespace ainvil
