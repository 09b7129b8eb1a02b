// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "precond/PrecondSupport.hpp"

#include "Ainvil_Cg.hpp"
#include "Ainvil_Chebyshev.hpp"
#include "Ainvil_Jacobi.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ainvil {
namespace {

using namespace test;

ChebyshevParameters onInterval(int degree, double smallest, double largest) {
  ChebyshevParameters parameters;
  parameters.degree = degree;
  parameters.smallest = smallest;
  parameters.largest = largest;
  return parameters;
}

/// The inverse of the diagonal blocks as a dense matrix.
std::vector<double> diagonalInverse(const HostBsr& a) {
  const size_t n = a.numPointRows(), bs = a.block_size;
  std::vector<double> diagonal = toDense(a);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      if (i / bs != j / bs)
        diagonal[i * n + j] = 0;
  return inverse(diagonal, n);
}

/// M^-1 = A^-1 (I - T_m((theta I - A D^-1) / delta) / T_m(theta / delta)), with the recurrence
/// T_{k+1}(t) = 2 t T_k(t) - T_{k-1}(t): another way than that of the method.
std::vector<double> reference(const HostBsr& a, const ChebyshevParameters& p) {
  const size_t n = a.numPointRows();
  const double theta = (p.largest + p.smallest) / 2, delta = (p.largest - p.smallest) / 2;
  const auto dense = toDense(a);
  std::vector<double> t = multiply(dense, diagonalInverse(a), n), before = identity(n);
  for (size_t k = 0; k < n * n; ++k)
    t[k] = (theta * before[k] - t[k]) / delta;
  std::vector<double> now = t;
  double scalar_before = 1, scalar = theta / delta;
  for (int k = 1; k < p.degree; ++k) {
    std::vector<double> next = multiply(t, now, n);
    for (size_t e = 0; e < n * n; ++e)
      next[e] = 2 * next[e] - before[e];
    const double scalar_next = 2 * theta / delta * scalar - scalar_before;
    before = now;
    now = next;
    scalar_before = scalar;
    scalar = scalar_next;
  }
  std::vector<double> p_of_a = identity(n);
  for (size_t e = 0; e < n * n; ++e)
    p_of_a[e] -= now[e] / scalar;
  return multiply(inverse(dense, n), p_of_a, n);
}

TEST(Chebyshev, IsThePolynomial) {
  for (const int bs : {1, 2, 3, 5, 9})
    for (const int degree : {1, 2, 3, 6}) {
      const HostBsr a = matrixOn(randomPattern(23, 4, 31), bs, 31);
      const ChebyshevParameters parameters = onInterval(degree, 0.4, 1.7);
      Chebyshev<double, Device> m(parameters);
      setUp(m, a);
      const size_t n = 23 * bs;
      const auto expected = reference(a, parameters);
      expectNear(denseInverse(m), expected, 1e-11);
      // Columns of M^-T are rows of M^-1.
      expectNear(denseInverse(m, Trans::Yes), transposed(expected, n), 1e-11);
      EXPECT_EQ(m.report().factor_entries,
                (degree - 1) * a.numScalars() + Offset(degree) * Offset(n * bs));
    }
}

/// The product of a step moves y along the last one: two kernels a step, as many as for the last.
TEST(Chebyshev, HasTwoKernelsADegree) {
  const HostBsr a = matrixOn(randomPattern(57, 4, 34), 2, 34);
  for (const int degree : {1, 2, 5}) {
    Chebyshev<double, Device> m(onInterval(degree, 0.4, 1.7));
    setUp(m, a);
    const auto x = toDevice(Random(1).vector(114), 114, 1), y = poisoned(114, 1);
    const KernelLabelRecorder seen;
    m.apply(Exec(), x, y);
    EXPECT_EQ(seen.kernels().size(), degree == 1 ? 1u : 2u * degree) << listOf(seen.kernels());
  }
}

TEST(Chebyshev, LongRows) {
  const HostBsr a = matrixOn(longRowsPattern(536), 1, 32);
  const ChebyshevParameters parameters = onInterval(4, 0.3, 1.9);
  Chebyshev<double, Device> m(parameters);
  setUp(m, a);
  const auto expected = reference(a, parameters);
  expectNear(denseInverse(m), expected, 1e-10);
  expectNear(denseInverse(m, Trans::Yes), transposed(expected, 536), 1e-10);
}

/// Polynomials of odd degree are exact at the middle of the interval, where the eigenvalues are.
TEST(Chebyshev, EqualsJacobiOnADiagonalPattern) {
  const HostBsr a = matrixOn(diagonalPattern(17), 4, 33);
  Jacobi<double, Device> jacobi{JacobiParameters()};
  Chebyshev<double, Device> m(onInterval(5, 0.5, 1.5));
  setUp(jacobi, a);
  setUp(m, a);
  expectNear(denseInverse(m), denseInverse(jacobi), 1e-14);
}

TEST(Chebyshev, HighDegreesGiveTheInverse) {
  const HostBsr a = copyTo<HostDevice>(makeProblem("poisson5:6").matrix);
  Chebyshev<double, Device> m(onInterval(120, 0.05, 2));
  setUp(m, a);
  expectNear(denseInverse(m), inverse(toDense(a), 36), 1e-12);
}

/// Eigenvalues of D^-1 A of the five-point Laplacian lie between 1 -+ cos(pi / 31).
TEST(Chebyshev, EstimatesTheLargestEigenvalueFromBelow) {
  const HostBsr a = copyTo<HostDevice>(makeProblem("poisson5:30").matrix);
  const double largest = 1 + std::cos(std::acos(-1.0) / 31);
  ChebyshevParameters parameters;
  Chebyshev<double, Device> m(parameters);
  setUp(m, a);
  EXPECT_LE(m.upperEnd(), parameters.boost * largest * (1 + 1e-6));
  EXPECT_GE(m.upperEnd(), 0.97 * largest);
  EXPECT_DOUBLE_EQ(m.lowerEnd(), m.upperEnd() / parameters.ratio);
  EXPECT_EQ(m.report().notes, message("largest=", m.upperEnd()));
  // It does not depend on how the matrix is scaled.
  HostBsr scaled = copyTo<HostDevice>(copyTo<Device>(a));
  for (Offset e = 0; e < a.numScalars(); ++e)
    scaled.values(e) = 1024 * a.values(e);
  Chebyshev<double, Device> of_scaled(parameters);
  setUp(of_scaled, scaled);
  EXPECT_NEAR(of_scaled.upperEnd(), m.upperEnd(), 1e-6);
}

TEST(Chebyshev, IsSymmetricAndDefiniteForSpdMatrices) {
  const HostBsr a = spdMatrixOn(symmetricPattern(40, 4, 34), 2, 34);
  const size_t n = 80;
  for (const int degree : {1, 2, 3, 4, 7}) {
    ChebyshevParameters parameters;
    parameters.degree = degree;
    Chebyshev<double, Device> m(parameters);
    setUp(m, a);
    const auto dense = denseInverse(m);
    expectNear(dense, transposed(dense, n), 1e-13);
    EXPECT_TRUE(m.isFixed());
    // x^T M^-1 x > 0 for random x.
    Random random(35);
    for (int k = 0; k < 20; ++k) {
      const std::vector<double> x = random.vector(n);
      double product = 0;
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j)
          product += x[i] * dense[i * n + j] * x[j];
      EXPECT_GT(product, 0) << degree;
    }
  }
}

/// As a preconditioner it trades iterations for products without reductions.
TEST(Chebyshev, TakesFewerIterationsOfCgThanJacobi) {
  const DeviceBsr a = copyTo<Device>(makeProblem("poisson5:40").matrix);
  const auto iterationsOf = [&](Preconditioner<double, Device>& m) {
    m.initialize(a);
    m.compute(a);
    const Vector<double, Device> b("b", a.numPointRows()), x("x", a.numPointRows());
    Kokkos::deep_copy(b, 1.0);
    const MatrixOperator<double, Device> product(a);
    SolverOptions options;
    options.tolerance = 1e-8;
    const SolveResult result = cg<double, Device>(Exec(), product, &m, b, x, options);
    EXPECT_EQ(result.status, SolveStatus::Converged);
    return result.iterations;
  };
  Jacobi<double, Device> jacobi{JacobiParameters()};
  const int of_jacobi = iterationsOf(jacobi);
  int before = of_jacobi;
  for (const int degree : {2, 4, 8}) {
    ChebyshevParameters parameters;
    parameters.degree = degree;
    parameters.ratio = 200;
    Chebyshev<double, Device> m(parameters);
    const int iterations = iterationsOf(m);
    EXPECT_LT(iterations, 0.6 * of_jacobi) << degree;
    EXPECT_LT(iterations, before) << degree;
    before = iterations;
  }
}

TEST(Chebyshev, ManyColumnsAlphaAndBeta) {
  const HostBsr a = matrixOn(randomPattern(33, 4, 36), 3, 36);
  Chebyshev<double, Device> m(onInterval(3, 0.4, 1.7));
  setUp(m, a);
  const size_t n = 99, columns = 5;
  const auto x = Random(37).vector(n * columns), y0 = Random(38).vector(n * columns);
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    const auto dense = denseInverse(m, trans);
    for (const double beta : {0.0, 0.5}) {
      const auto y =
          toDevice(beta == 0 ? std::vector<double>(n * columns, std::nan("")) : y0, n, columns);
      m.apply(Exec(), toDevice(x, n, columns), y, trans, -2.0, beta);
      std::vector<double> expected(n * columns);
      for (size_t j = 0; j < columns; ++j)
        for (size_t i = 0; i < n; ++i) {
          double sum = 0;
          for (size_t k = 0; k < n; ++k)
            sum += dense[i * n + k] * x[j * n + k];
          expected[j * n + i] = -2 * sum + (beta == 0 ? 0 : beta * y0[j * n + i]);
        }
      expectNear(toHost(y), expected, 1e-12);
    }
  }
}

TEST(Chebyshev, NewValuesEqualAFreshBuildAndAllocateNothing) {
  const Pattern pattern = randomPattern(50, 5, 39);
  const DeviceBsr first = copyTo<Device>(matrixOn(pattern, 3, 39));
  const HostBsr host_second = matrixOn(pattern, 3, 40);
  const DeviceBsr second = copyTo<Device>(host_second);
  Chebyshev<double, Device> reused{ChebyshevParameters()}, fresh{ChebyshevParameters()};
  reused.initialize(first);
  reused.compute(first);
  const auto x = toDevice(Random(41).vector(150), 150, 1), y = poisoned(150, 1);
  reused.apply(Exec(), x, y);
  {
    const AllocationCounter counter;
    reused.compute(second);
    reused.apply(Exec(), x, y);
    reused.apply(Exec(), x, y, Trans::Yes, 2.0, 0.5);
    EXPECT_EQ(counter.count(), 0) << counter.labels();
  }
  setUp(fresh, host_second);
  EXPECT_EQ(denseInverse(reused), denseInverse(fresh));
}

TEST(Chebyshev, ReadsNoMemoryThatItHasNotWritten) {
  const HostBsr a = matrixOn(randomPattern(40, 5, 42), 2, 42);
  Chebyshev<double, Device> m{ChebyshevParameters()}, in_poison{ChebyshevParameters()};
  setUp(m, a);
  const auto expected = denseInverse(m);
  const PoisonedMemory poisoned;
  setUp(in_poison, a);
  expectNear(denseInverse(in_poison), expected, 1e-13);
}

TEST(Chebyshev, InFloat) {
  const HostBsr a = matrixOn(randomPattern(23, 4, 43), 2, 43);
  BsrMatrix<float, HostDevice> rounded(
      a.graph, Kokkos::View<float*, HostDevice>("Ainvil::test", a.numScalars()), 2);
  for (Offset e = 0; e < a.numScalars(); ++e)
    rounded.values(e) = static_cast<float>(a.values(e));
  Chebyshev<float, HostDevice> m(onInterval(4, 0.4, 1.7));
  m.initialize(rounded);
  m.compute(rounded);
  const auto dense = reference(a, onInterval(4, 0.4, 1.7));
  const Vector<float, HostDevice> x("x", 46), y("y", 46);
  x(7) = 1;
  m.apply(HostDevice::execution_space(), x, y);
  for (size_t i = 0; i < 46; ++i)
    EXPECT_NEAR(y(i), dense[i * 46 + 7], 1e-5);
}

TEST(Chebyshev, SingularBlocksFollowThePolicy) {
  HostBsr a = matrixOn(diagonalPattern(6), 2, 44);
  for (int k = 0; k < 4; ++k)
    a.values(4 * 4 + k) = 0;
  ChebyshevParameters parameters = onInterval(3, 0.5, 1.5);
  try {
    Chebyshev<double, Device> m(parameters);
    setUp(m, a);
    FAIL() << "no exception";
  } catch (const BreakdownError& error) {
    EXPECT_NE(std::string(error.what()).find("block row 5 (counted from 1)"), std::string::npos)
        << error.what();
  }
  parameters.breakdown = BreakdownPolicy::Replace;
  Chebyshev<double, Device> m(parameters);
  setUp(m, a);
  EXPECT_EQ(m.report().breakdowns, 1);
  EXPECT_EQ(m.report().first_breakdown, 4);
  for (const double value : denseInverse(m))
    EXPECT_TRUE(std::isfinite(value));
}

TEST(Chebyshev, NoRowsAndHugeValues) {
  Chebyshev<double, Device> none{ChebyshevParameters()}, huge{ChebyshevParameters()};
  setUp(none, matrixOn({}, 3, 45));
  EXPECT_EQ(none.numPointRows(), 0);
  HostBsr a = matrixOn(randomPattern(12, 3, 46), 1, 46);
  for (Offset e = 0; e < a.numScalars(); ++e)
    a.values(e) *= 1e300;
  setUp(huge, a);
  for (const double value : denseInverse(huge))
    EXPECT_TRUE(std::isfinite(value));
}

TEST(Chebyshev, RefusesParametersOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto expectRefused = [](const auto& change) {
    ChebyshevParameters parameters;
    change(parameters);
    EXPECT_THROW((Chebyshev<double, Device>(parameters)), InvalidArgument);
  };
  using P = ChebyshevParameters;
  expectRefused([](P& p) { p.degree = 0; });
  expectRefused([](P& p) { p.power_steps = 0; });
  for (const double bad : {-1.0, nan}) {
    expectRefused([&](P& p) { p.largest = bad; });
    expectRefused([&](P& p) { p.smallest = bad; });
    expectRefused([&](P& p) { p.ratio = bad; });
    expectRefused([&](P& p) { p.boost = bad; });
    expectRefused([&](P& p) { p.shift = bad; });
    expectRefused([&](P& p) { p.pivot_tolerance = bad; });
  }
  expectRefused([](P& p) { p.ratio = 1; });
  expectRefused([](P& p) { p.largest = p.smallest = 1; });
  // Found out by compute() where the largest one is estimated.
  P parameters;
  parameters.smallest = 5;
  Chebyshev<double, Device> m(parameters);
  EXPECT_THROW(setUp(m, matrixOn(randomPattern(12, 3, 47), 1, 47)), InvalidArgument);
  // D^-1 A = I: the estimate is exactly 1, and so is all of the interval.
  parameters.smallest = parameters.boost = 1;
  Chebyshev<double, Device> of_identity(parameters);
  EXPECT_THROW(setUp(of_identity, matrixOn(diagonalPattern(16), 1, 47)), InvalidArgument);
}

} // namespace
} // namespace ainvil
