// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include "solvers/GmresReference.hpp"

namespace ainvil {
namespace test {
namespace {

TEST(Fgmres, MatchesModifiedGramSchmidt) {
  for (const int n : {31, 33, 536, 615})
    for (const int restart : {1, 5, 30, 700}) {
      SCOPED_TRACE(message("n = ", n, ", restart = ", restart));
      compareWithReference<Fgmres>(chain(n), options(1e-10, 60, restart), randomScalings(n));
    }
  const HostCsr a = convectionDiffusion(23, 23, 0.3, 0.2);
  compareWithReference<Fgmres>(a, options(1e-9, 100, 30), randomScalings(a.size()));
  compareWithReference<Fgmres>(a, options(1e-9, 100, 30));
}

TEST(Fgmres, IsGmresWhereThePreconditionerIsFixed) {
  const Problem problem = makeProblem("cavity:16");
  const auto matrix = copyTo<Device>(problem.matrix);
  const MatrixOperator<double, Device> a(matrix);
  const auto b =
      toDevice<double>(Doubles(problem.rhs.data(), problem.rhs.data() + a.numPointRows()));
  for (const char* precond : {"jacobi", "ilu:solve=exact", "ilu:solve=isai"}) {
    const auto m = createPreconditioner<double, Device>(precond);
    m->initialize(matrix);
    m->compute(matrix);
    for (const int restart : {7, 30}) {
      SCOPED_TRACE(message(precond, ", restart = ", restart));
      const auto x = toDevice<double>(Doubles(a.numPointRows(), 0.0));
      const auto flexible_x = toDevice<double>(Doubles(a.numPointRows(), 0.0));
      const SolverOptions o = options(1e-7, 60, restart);
      const SolveResult expected = gmres(a, m.get(), b, x, o);
      const SolveResult actual = fgmres(a, m.get(), b, flexible_x, o);
      EXPECT_GT(expected.iterations, restart);
      EXPECT_EQ(actual.status, expected.status);
      EXPECT_EQ(actual.iterations, expected.iterations);
      expectSameHistory(actual.history, expected.history, 1e-9);
      const Doubles solution = toHost<double>(x);
      EXPECT_LT(norm(minus(toHost<double>(flexible_x), solution)), 1e-9 * norm(solution));
    }
  }
}

// The same of GMRES is wrong by orders of magnitude.
TEST(Fgmres, RecurrenceAgreesWithTheTrueResidualWhateverThePreconditionerDoes) {
  const HostCsr a = convectionDiffusion(23, 23, 0.3, 0.2);
  const Doubles b = randomVector(a.size(), 9);
  for (const int interval : {1, 10})
    for (const int max_iterations : {10, 30, 75, 1000}) {
      SCOPED_TRACE(max_iterations);
      SolverOptions o = options(1e-10, max_iterations, 30, interval);
      o.allow_varying = true;
      const Sequence<> m(randomScalings(a.size()));
      const SolveResult flexible = solveWithOperator<Fgmres>(o, a, b, &m).result;
      EXPECT_NEAR(flexible.true_rel_residual, flexible.rel_residual, 0.01 * flexible.rel_residual);
      EXPECT_EQ(flexible.status,
                max_iterations < 1000 ? SolveStatus::MaxIterations : SolveStatus::Converged);
      const SolveResult fixed = solveWithOperator<Gmres>(o, a, b, &m).result;
      EXPECT_GT(std::abs(fixed.true_rel_residual - fixed.rel_residual), 0.1 * fixed.rel_residual);
      EXPECT_NE(fixed.status, SolveStatus::Converged);
    }
}

// The span of the preconditioned vectors, and so the iterate, does not depend on their lengths.
// Where these differ much, each has to be freed from its part in the ones before.
TEST(Fgmres, IsIndifferentToTheScaleOfThePreconditioner) {
  const int n = 536;
  const HostCsr a = chain(n);
  const Doubles b = randomVector(n, 9);
  const Sequence<> m(
      {diagonalOf(Doubles(n, 1e5)), diagonalOf(Doubles(n, 1e-5)), diagonalOf(Doubles(n, 1.0))});
  const SolverOptions o = options(1e-10, 100, 100);
  const Solved expected = solveWith<Gmres>(o, a, b);
  const Solved actual = solveWithOperator<Fgmres>(o, a, b, &m);
  EXPECT_EQ(actual.result.status, SolveStatus::Converged);
  expectSameHistory(actual.result.history, expected.result.history, 1e-9);
  EXPECT_NEAR(actual.result.true_rel_residual, actual.result.rel_residual,
              0.01 * actual.result.rel_residual);
}

TEST(Fgmres, EndsAtASingularPreconditioner) {
  const HostCsr a = chain(33);
  const HostCsr m = diagonalOf(Doubles(33, 0.0));
  const Solved s = solveWith<Fgmres>(options(1e-8, 100), a, randomVector(33, 1), &m);
  EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
  EXPECT_EQ(s.x, Doubles(33, 0.0));
}

TEST(Fgmres, LaunchesNoMoreKernelsThanGmres) {
  const HostCsr host_a = convectionDiffusion(33, 19, 0.3, 0.2);
  const auto a = toDevice<double>(host_a);
  const auto m = toDevice<double>(inverseDiagonal(host_a));
  const auto b = toDevice<double>(randomVector(host_a.size(), 21));
  const auto x = toDevice<double>(Doubles(host_a.size(), 0.0));
  Fgmres<double, Device> solver(options(1e-30, 60, 30, 10));
  solver.solve(a, &m, b, x);
  Kokkos::deep_copy(x, 0.0);
  ToolsRecorder recorder;
  solver.solve(a, &m, b, x);
  const int iterations = 60, cycles = 2;
  EXPECT_EQ(recorder.labels.size(),
            size_t(4 * iterations + 2 * cycles + // the closing inner products, x += Z y
                   3 * (cycles + 1) + 1));       // b - A x and its norm; the norm of b
}

} // namespace
} // namespace test
} // namespace ainvil
