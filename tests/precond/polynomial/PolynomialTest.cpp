// SPDX-License-Identifier: BSD-3-Clause
#include "precond/polynomial/PolynomialSupport.hpp"

#include "Ainvil_Cg.hpp"
#include "Ainvil_Gmres.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

namespace ainvil {
namespace {

using namespace test;

TEST(Polynomial, OfDegreeOneIsAMultiple) {
  const HostBsr a = matrixOn(randomPattern(33, 4, 81), 3, 81);
  const auto m = around("ilu", 1, a);
  ASSERT_EQ(m->roots().size(), 1u);
  Dense expected = innerInverse("ilu", a);
  for (double& value : expected)
    value /= m->roots()[0].real();
  expectNear(denseInverse(*m), expected, 1e-15);
}

TEST(Polynomial, IsThePolynomial) {
  bool some_pairs = false;
  for (const std::string inner : {"none", "jacobi", "ilu:solve=isai"})
    for (const int bs : {1, 2, 3, 5})
      for (const int degree : {2, 3, 6, 9}) {
        SCOPED_TRACE(message(inner, ", blocks of ", bs, ", degree ", degree));
        const HostBsr a = matrixOn(randomPattern(31, 4, 82), bs, 82);
        const auto m = around(inner, degree, a);
        EXPECT_EQ(m->degree(), degree);
        some_pairs = some_pairs || hasPairs(*m);
        const Dense expected = reference(a, inner, *m);
        expectNear(denseInverse(*m), expected, 1e-11);
        expectNear(denseInverse(*m, Trans::Yes), transposed(expected, size_t(31 * bs)), 1e-11);
      }
  EXPECT_TRUE(some_pairs);
}

TEST(Polynomial, LongRowsAndOddSizes) {
  for (const Ordinal n : {536, 615}) {
    const HostBsr a = matrixOn(longRowsPattern(n), 1, 83);
    const auto m = around("jacobi", 5, a);
    const Dense expected = reference(a, "jacobi", *m);
    expectNear(denseInverse(*m), expected, 1e-11);
    expectNear(denseInverse(*m, Trans::Yes), transposed(expected, size_t(n)), 1e-11);
  }
}

/// The residual of GMRES is orthogonal to C K_d, K_d the Krylov space of degree d.
TEST(Polynomial, IsThatOfGmres) {
  for (const bool spd : {false, true})
    for (const int degree : {1, 3, 5}) {
      SCOPED_TRACE(message("degree ", degree, spd ? ", SPD" : ""));
      const HostBsr a = spd ? spdMatrixOn(symmetricPattern(150, 4, 84), 2, 84)
                            : matrixOn(randomPattern(150, 4, 84), 2, 84);
      const size_t n = 300;
      const auto m = around("jacobi", degree, a);
      EXPECT_EQ(m->degree(), degree);
      EXPECT_TRUE(!spd || !hasPairs(*m));
      const Dense inner = innerInverse("jacobi", a), c = multiply(toDense(a), inner, n);
      Dense v = startVector(n);
      const Dense r = residualPolynomial(c, *m, v, n);
      const Dense of_r = spd ? multiply(inner, r, n) : r; // the inner product of M^-1
      for (int k = 0; k < degree; ++k) {
        v = multiply(c, v, n);
        EXPECT_LE(std::abs(dot(v, of_r)), 1e-11 * std::sqrt(dot(v, v) * dot(of_r, of_r))) << k;
      }
    }
}

/// With three eigenvalues, and no Jordan block, three steps are all there is.
TEST(Polynomial, IsExactForFewEigenvalues) {
  const Ordinal n = 65;
  Random random(85);
  const Dense x = combined(1, random.vector(n * n), 5, identity(n));
  Dense d(n * n);
  for (Ordinal i = 0; i < n; ++i)
    d[size_t(i * n + i)] = 1.0 + i % 3;
  const Dense a = multiply(multiply(x, d, n), inverse(x, n), n);
  for (const int degree : {3, 4, 20}) {
    const auto m = around("none", degree, ofDense(a, n));
    EXPECT_EQ(m->degree(), 3);
    expectNear(denseInverse(*m), inverse(a, n), 1e-9);
    EXPECT_EQ(m->report().notes.find("the Krylov space ends there") != std::string::npos,
              degree > 3);
    const DeviceBsr on_device = copyTo<Device>(ofDense(a, n));
    const auto solution = poisoned(n);
    Kokkos::deep_copy(solution, 0.0);
    const SolveResult result = gmres(MatrixOperator<double, Device>(on_device), m.get(),
                                     toDevice(random.vector(n)), solution);
    EXPECT_EQ(result.iterations, 1);
  }
}

/// The eigenvalues of a rotation by a right angle are i and -i: one step of GMRES does nothing.
TEST(Polynomial, OfARotation) {
  const Ordinal n = 34;
  Dense a(n * n);
  for (Ordinal i = 0; i < n; i += 2) {
    a[size_t(i * n + i + 1)] = -1;
    a[size_t((i + 1) * n + i)] = 1;
  }
  for (const int degree : {2, 3, 8}) {
    const auto m = around("none", degree, ofDense(a, n));
    EXPECT_EQ(m->degree(), 2);
    expectNear(denseInverse(*m), transposed(a, n), 1e-13);
    expectNear(denseInverse(*m, Trans::Yes), a, 1e-13);
  }
  // Turned by all angles between 60 and 120 degrees.
  for (Ordinal i = 0; i < n; i += 2) {
    const double angle = (60 + 60.0 * i / n) * std::acos(-1.0) / 180;
    a[size_t(i * n + i)] = a[size_t((i + 1) * n + i + 1)] = std::cos(angle);
    a[size_t(i * n + i + 1)] = -std::sin(angle);
    a[size_t((i + 1) * n + i)] = std::sin(angle);
  }
  const auto m = around("none", 12, ofDense(a, n));
  EXPECT_TRUE(hasPairs(*m));
  expectNear(denseInverse(*m), reference(ofDense(a, n), "none", *m), 1e-12);
  expectNear(multiply(a, denseInverse(*m), n), identity(n), 0.1);
}

/// What rounding leaves of the component at 1e9 is multiplied by (1e9)^10 unless the root is taken
/// more than once.
TEST(Polynomial, CopiesOfARootTameAnOutlier) {
  for (const double outlier : {1e9, -1e7}) {
    Dense values(150);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = 1 + double(i) / 150;
    values[77] = outlier;
    const HostBsr a = diagonal(values);
    const auto m = around("none", 11, a);
    const auto copies = std::count_if(m->roots().begin(), m->roots().end(), [&](const auto& root) {
      return std::abs(root) > 0.1 * std::abs(outlier);
    });
    EXPECT_GE(copies, 2) << outlier;
    EXPECT_GE(m->degree(), 12) << outlier;
    EXPECT_LT(remainder(*m, a, 1), 1e-4) << outlier;
  }
}

TEST(Polynomial, ClustersAndJordanBlocks) {
  // Three clusters of eigenvalues, in one Jordan block each.
  const Ordinal n = 90;
  Dense a(n * n);
  for (Ordinal i = 0; i < n; ++i) {
    a[size_t(i * n + i)] = 1.0 + i / 30 + 1e-9 * i;
    if (i % 30 != 29)
      a[size_t(i * n + i + 1)] = 0.2;
  }
  for (const int degree : {6, 15, 40}) {
    const auto m = around("none", degree, ofDense(a, n));
    EXPECT_GE(m->degree(), 6);
    EXPECT_LT(remainder(*m, ofDense(a, n), 2), degree == 6 ? 0.2 : 0.01) << degree;
  }
}

TEST(Polynomial, CountsWhatAnApplicationReads) {
  const HostBsr a = matrixOn(randomPattern(50, 4, 86), 2, 86);
  const auto m = around("jacobi", 7, a);
  ASSERT_EQ(m->degree(), 7);
  const Report& inner = m->inner().report();
  EXPECT_EQ(m->report().factor_entries, 7 * inner.factor_entries + 6 * a.numScalars());
  EXPECT_EQ(m->report().factor_bytes, 7 * inner.factor_bytes + 6 * a.bytes());
  std::vector<std::string> phases;
  for (const auto& phase : m->report().phases.phases())
    phases.push_back(phase.first);
  EXPECT_EQ(phases, (std::vector<std::string>{"invert", "arnoldi", "roots"}));
  EXPECT_EQ(m->report().notes.find("poly=7, leaves "), 0u) << m->report().notes;
}

bool isPositiveDefinite(Dense a, size_t n) {
  for (size_t k = 0; k < n; ++k) { // Cholesky, by columns
    if (!(a[k * n + k] > 0))
      return false;
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (size_t j = k + 1; j <= i; ++j)
        a[i * n + j] -= factor * a[j * n + k];
    }
  }
  return true;
}

TEST(Polynomial, IsSymmetricAndDefiniteForSpdMatrices) {
  int lowered = 0;
  for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6})
    for (const std::string inner : {"none", "jacobi", "fsai", "ilu"})
      for (const int degree : {1, 2, 4, 7, 12}) {
        SCOPED_TRACE(message(inner, ", degree ", degree, ", seed ", seed));
        const HostBsr a = spdMatrixOn(symmetricPattern(40, 4, seed), 2, seed);
        const auto m = around(inner, degree, a);
        EXPECT_EQ(m->degree() % 2, 1);
        EXPECT_FALSE(hasPairs(*m));
        lowered += m->degree() < degree;
        const Dense dense = denseInverse(*m);
        expectNear(dense, transposed(dense, 80), 1e-12);
        EXPECT_TRUE(isPositiveDefinite(dense, 80));
      }
  EXPECT_GE(lowered, 6 * 4 * 3); // the even ones
}

/// An eigenvalue far above the others that the Arnoldi process hardly sees leaves it definite.
TEST(Polynomial, IsDefiniteWhateverTheSpectrum) {
  for (const double outlier : {3.0, 5.0, 20.0, 1e4})
    for (int degree = 1; degree <= 12; ++degree) {
      Dense values(400);
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = 1 + double(i) / 400;
      values[123] = outlier;
      const auto m = around("none", degree, diagonal(values));
      const Dense dense = denseInverse(*m);
      for (size_t i = 0; i < values.size(); ++i)
        EXPECT_GT(dense[i * 400 + i], 0) << outlier << ", degree " << degree << ", entry " << i;
    }
}

SolveResult solveBy(const std::string& solver, const Problem& problem,
                    const std::string& specification, double tolerance, int most = 5000) {
  const DeviceBsr a = copyTo<Device>(problem.matrix);
  const auto m = createPreconditioner<double, Device>(specification);
  m->initialize(a);
  m->compute(a);
  SolverOptions options;
  options.tolerance = tolerance;
  options.max_iterations = most;
  const size_t n = a.numPointRows();
  const auto x = toDevice(std::vector<double>(n, 0.0)), b = poisoned(n);
  if (problem.rhs.extent(0) > 0)
    Kokkos::deep_copy(b, problem.rhs);
  else
    spmv<double, double, Device>(Exec(), Trans::No, 1.0, a,
                                 Vector<const double, Device>(toDevice(Dense(n, 1.0))), 0.0, b);
  const MatrixOperator<double, Device> of_a(a);
  return solver == "cg" ? cg(Exec(), of_a, m.get(), b, x, options)
                        : gmres(Exec(), of_a, m.get(), b, x, options);
}

TEST(Polynomial, CgTakesIt) {
  for (const std::string name : {"jump:12", "laplace27:12", "laplace7:14"})
    for (const std::string inner : {"jacobi", "fsai", "ilu"})
      for (const int degree : {5, 10}) {
        SCOPED_TRACE(message(name, ", ", inner, ", degree ", degree));
        const Problem problem = makeProblem(name);
        const SolveResult plain = solveBy("cg", problem, inner, 1e-8);
        const SolveResult result = solveBy("cg", problem, message(inner, ":poly=", degree), 1e-8);
        EXPECT_EQ(result.status, SolveStatus::Converged) << result.message;
        EXPECT_LE(result.iterations, 1 + plain.iterations / 2);
      }
}

TEST(Polynomial, OfASymmetricIndefiniteMatrix) {
  Dense values(300);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = (i % 5 == 0 ? -1 : 1) * (1 + double(i) / 300);
  const HostBsr a = diagonal(values);
  const auto m = around("none", 16, a);
  EXPECT_EQ(m->degree(), 16);
  EXPECT_TRUE(std::any_of(m->roots().begin(), m->roots().end(),
                          [](const auto& root) { return root.real() < 0; }));
  EXPECT_LT(remainder(*m, a, 3), 0.01);
}

/// Of two random vectors the first may have x^T M^-1 x > 0 although M is indefinite. The other one
/// tells then: no inner product of M^-1 is taken, in which the Krylov space would seem to end.
TEST(Polynomial, OfASymmetricIndefinitePreconditioner) {
  int told_by_the_other = 0;
  for (Ordinal n = 30; n < 60; ++n) {
    const HostBsr a = spdMatrixOn(symmetricPattern(n, 3, 88), 1, 88);
    Dense sign(n);
    for (Ordinal i = 0; i < n; ++i)
      sign[i] = i % 2 == 0 ? 1 : -1;
    double of_start = 0, of_other = 0;
    const Dense x = startVector(n, 1), y = startVector(n, 2);
    for (Ordinal i = 0; i < n; ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        if (a.graph.entries(e) == i) {
          a.values(e) *= sign[i];
          of_start += x[i] * x[i] / a.values(e);
          of_other += y[i] * y[i] / a.values(e);
        }
    if (!(of_start > 0 && of_other < 0))
      continue;
    ++told_by_the_other;
    const auto m = around("jacobi", 6, a);
    EXPECT_EQ(m->degree(), 6) << n << " rows";
    EXPECT_LT(remainder(*m, a, 3), 0.05) << n << " rows";
  }
  EXPECT_GT(told_by_the_other, 2);
}

/// Products with A M^-1, iterations times degree, against those of GMRES with another
/// implementation of the method.
TEST(Polynomial, ProductsOfAnotherImplementation) {
  const struct {
    const char *problem, *inner;
    int degree;
    double tolerance;
    int products;
  } cases[] = {{"cavity:120", "ilu:solve=isai,power=2", 20, 1e-5, 379},
               {"euler:15606", "ilu:solve=isai,power=1", 40, 1e-8, 1039},
               {"convdiff:37x37x15", "ilu:solve=isai,power=1", 10, 1e-8, 129}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.problem);
    const SolveResult result =
        solveBy("gmres", makeProblem(c.problem), message(c.inner, ",poly=", c.degree), c.tolerance);
    EXPECT_EQ(result.status, SolveStatus::Converged) << result.message;
    EXPECT_LE(std::abs(result.iterations * c.degree - c.products), 0.15 * c.products);
  }
}

/// Restarts after 30 steps never see enough of the spectrum; 30 times 20 do.
TEST(Polynomial, ReachesOverRestarts) {
  Problem problem = makeProblem("euler:3000");
  problem.rhs = Vector<double, HostDevice>("b", problem.matrix.numPointRows());
  Kokkos::deep_copy(problem.rhs, 1.0);
  const std::string inner = "ilu:solve=isai";
  EXPECT_EQ(solveBy("gmres", problem, inner, 1e-8, 1500).status, SolveStatus::MaxIterations);
  const SolveResult result = solveBy("gmres", problem, inner + ",poly=20", 1e-8);
  EXPECT_EQ(result.status, SolveStatus::Converged);
  EXPECT_LE(result.iterations, 26);
}

} // namespace
} // namespace ainvil
