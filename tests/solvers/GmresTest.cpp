// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include "solvers/GmresReference.hpp"

namespace ainvil {
namespace test {
namespace {

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
  compareWithReference(chain(n), options(1e-10, 100, 5), {lower});
  compareWithReference(chain(n), options(1e-10, 100, 30), {lower});
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
  SolverOptions o = options(1e-11, 100, 100);
  const Solved expected = referenceGmres(o, a, b);
  for (const auto passes : {Reorthogonalize::Always, Reorthogonalize::IfNeeded}) {
    o.reorthogonalize = passes;
    const Solved actual = solveWith<Gmres>(o, a, b);
    EXPECT_EQ(actual.result.status, SolveStatus::Converged);
    EXPECT_EQ(actual.result.iterations, expected.result.iterations);
    expectSameHistory(actual.result.history, expected.result.history, 1e-10);
    EXPECT_NEAR(actual.result.true_rel_residual, actual.result.rel_residual,
                0.01 * actual.result.rel_residual);
  }
}

TEST(Gmres, NoApplicationInVainWhenLookingAtEveryIteration) {
  const HostCsr host_a = convectionDiffusion(20, 20, 0.3);
  const auto b = toDevice<double>(randomVector(host_a.size(), 2));
  const SolverOptions o = options(1e-8, 500, 25, 1);
  for (const bool flexible : {false, true}) {
    const Sequence<> a(host_a), m(inverseDiagonal(host_a));
    const auto x = toDevice<double>(Doubles(host_a.size(), 0.0));
    const SolveResult result = flexible ? fgmres(a, &m, b, x, o) : gmres(a, &m, b, x, o);
    EXPECT_EQ(result.status, SolveStatus::Converged);
    const int cycles = (result.iterations + 24) / 25;
    EXPECT_GT(cycles, 1);
    EXPECT_EQ(a.count, size_t(result.iterations + cycles + 1));
    EXPECT_EQ(m.count, size_t(result.iterations + (flexible ? 0 : cycles)));
  }
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

// [1 0; 0 1] + t [1 1; 1 1] has the inverse of a preconditioner gone wrong: rounding leaves of
// I + t e e^T what is singular, though A = I is fine.
TEST(Gmres, TellsASingularMatrixFromAHugePreconditioner) {
  const int n = 12;
  const HostCsr identity = diagonalOf(Doubles(n, 1.0));
  const HostCsr huge =
      matrixOf(n, [](int i, int j) { return 1e17 * (1 + 0.1 * i) + (i == j ? 1.0 : 0.0); });
  const Solved s = solveWith<Gmres>(options(1e-10, 100), identity, randomVector(n, 3), &huge);
  EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
  for (const char* part : {"the preconditioned matrix is singular to rounding, after iteration",
                           "far from an inverse of A", "reorder"})
    EXPECT_NE(s.result.message.find(part), std::string::npos) << s.result.message;

  const HostCsr singular = diagonalOf({1, 2, 3, 0});
  const Solved alone = solveWith<Gmres>(options(1e-10, 100), singular, Doubles(4, 1.0));
  EXPECT_EQ(alone.result.message.find("the matrix is singular to rounding"), 0u)
      << alone.result.message;
  const HostCsr m = diagonalOf({1, 1, 1, 1});
  const Solved both = solveWith<Gmres>(options(1e-10, 100), singular, Doubles(4, 1.0), &m);
  EXPECT_NE(both.result.message.find("A is singular or close to it, or the preconditioner is"),
            std::string::npos)
      << both.result.message;
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

// Of condition 1e14: what looks singular in the first cycle is so no more from a smaller residual.
TEST(Gmres, NearlySingularSystemGoesOn) {
  const int n = 40;
  const HostCsr a = matrixOf(n, [](int i, int j) {
    const double scale = std::pow(10.0, -14.0 * i / (n - 1));
    return i == j ? scale : j == i + 1 ? 0.1 * scale : 0.0;
  });
  const Solved s = solveWith<Gmres>(options(1e-11, 200, 100), a, randomVector(n, 1));
  EXPECT_EQ(s.result.iterations, 200);
  EXPECT_LT(s.result.true_rel_residual, 0.02); // 0.04 after the first cycle
}

TEST(Gmres, ConsistentSingularSystemConverges) {
  const HostCsr a = diagonalOf({1, 2, 3, 0});
  const Solved s = solveWith<Gmres>(options(1e-10, 100), a, {1, 1, 1, 0});
  EXPECT_EQ(s.result.status, SolveStatus::Converged);
  EXPECT_EQ(s.result.iterations, 3);
}

TEST(Gmres, LaunchesTwoKernelsAnIteration) {
  const HostCsr host_a = convectionDiffusion(33, 19, 0.3, 0.2);
  const auto a = toDevice<double>(host_a);
  const auto b = toDevice<double>(randomVector(host_a.size(), 21));
  const auto x = toDevice<double>(Doubles(host_a.size(), 0.0));
  Gmres<double, Device> solver(options(1e-30, 60, 30, 10));
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

SolverOptions withFloatBasis(SolverOptions o) {
  o.basis = Storage::Float;
  return o;
}

// Whatever the basis, the solution is as exact; within a cycle the residual follows that of a basis
// in double to the rounding of float.
TEST(GmresFloatBasis, FollowsTheOneInDouble) {
  for (const int n : {31, 536, 615})
    for (const int restart : {1, 7, 30}) {
      SCOPED_TRACE(message("n = ", n, ", restart = ", restart));
      const HostCsr a = chain(n);
      const Doubles b = randomVector(n, 17);
      const SolverOptions o = options(1e-5, 60, restart);
      for (const bool flexible : {false, true}) {
        const auto solve = [&](const SolverOptions& with) {
          if (!flexible)
            return solveWith<Gmres>(with, a, b);
          const Sequence<> m(randomScalings(n)); // from the first on
          return solveWithOperator<Fgmres>(with, a, b, &m);
        };
        const Solved expected = solve(o);
        const Solved actual = solve(withFloatBasis(o));
        EXPECT_EQ(expected.result.status, actual.result.status);
        expectSameHistory(actual.result.history, expected.result.history, 1e-6);
        EXPECT_NEAR(actual.result.true_rel_residual, actual.result.rel_residual, 1e-6);
      }
    }
}

TEST(GmresFloatBasis, ReachesResidualsBelowItsRounding) {
  const HostCsr a = convectionDiffusion(23, 23, 0.3, 0.2);
  const Doubles b = randomVector(a.size(), 5);
  for (const int restart : {30, 200}) {
    const SolverOptions o = options(1e-13, 1000, restart);
    const Solved in_double = solveWith<Gmres>(o, a, b);
    EXPECT_EQ(in_double.result.status, SolveStatus::Converged);
    for (const bool flexible : {false, true}) {
      const Solved s = flexible ? solveWith<Fgmres>(withFloatBasis(o), a, b)
                                : solveWith<Gmres>(withFloatBasis(o), a, b);
      EXPECT_EQ(s.result.status, SolveStatus::Converged);
      EXPECT_LE(relativeResidual(a, b, s.x), 1.01e-13);
      // A cycle that would have gone on beyond the rounding of float starts again.
      EXPECT_LE(s.result.iterations, 3 * in_double.result.iterations);
    }
  }
}

TEST(GmresFloatBasis, TellsSingularSystems) {
  const Solved s = solveWith<Gmres>(withFloatBasis(options(1e-10, 100)), diagonalOf({1, 2, 3, 0}),
                                    Doubles(4, 1.0));
  EXPECT_EQ(s.result.status, SolveStatus::Breakdown);
  EXPECT_NEAR(s.result.true_rel_residual, 0.5, 1e-6);
}

// There is nothing shorter to store it in.
TEST(GmresFloatBasis, IsTheBasisOfSolversInFloat) {
  const HostCsr a = chain(536);
  const Doubles b = randomVector(a.size(), 5);
  const SolverOptions o = options(1e-4, 100, 7);
  const Solved expected = solveWith<Gmres, float>(o, a, b);
  const Solved actual = solveWith<Gmres, float>(withFloatBasis(o), a, b);
  EXPECT_EQ(actual.result.status, SolveStatus::Converged);
  EXPECT_EQ(actual.result.history, expected.result.history);
  EXPECT_EQ(actual.x, expected.x);
}

/// Bytes that the first solve allocates beyond those of the system.
template <template <class, class> class Solver>
double workspaceVectors(int restart, bool preconditioned, Storage basis = Storage::Native) {
  const HostCsr host_a = convectionDiffusion(100, 100);
  const auto a = toDevice<double>(host_a);
  const auto b = toDevice<double>(randomVector(host_a.size(), 21));
  const auto x = toDevice<double>(Doubles(host_a.size(), 0.0));
  SolverOptions o = options(1e-30, 30, restart);
  o.basis = basis;
  ToolsRecorder recorder;
  Solver<double, Device>(o).solve(a, preconditioned ? &a : nullptr, b, x);
  return double(recorder.bytes) / (host_a.size() * sizeof(double));
}

TEST(Gmres, NeedsTheWorkspaceItClaims) {
  constexpr double small = 0.9; // partial sums and inner products
  for (const int restart : {5, 20}) {
    EXPECT_NEAR(workspaceVectors<Gmres>(restart, false), restart + 2, small);
    EXPECT_NEAR(workspaceVectors<Gmres>(restart, true), restart + 3, small);
    EXPECT_NEAR(workspaceVectors<Fgmres>(restart, false), restart + 2, small);
    EXPECT_NEAR(workspaceVectors<Fgmres>(restart, true), 2 * restart + 2, small);
    const double half = 0.5 * restart;
    EXPECT_NEAR(workspaceVectors<Gmres>(restart, true, Storage::Float), half + 3, small);
    EXPECT_NEAR(workspaceVectors<Fgmres>(restart, true, Storage::Float), half + restart + 2, small);
  }
}

} // namespace
} // namespace test
} // namespace ainvil
