// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "precond/PrecondSupport.hpp"

#include "Ainvil_Ainv.hpp"
#include "Ainvil_Cg.hpp"
#include "Ainvil_Factory.hpp"
#include "Ainvil_Gmres.hpp"
#include "Ainvil_Jacobi.hpp"
#include "Ainvil_Polynomial.hpp"
#include "backend/Ainvil_Hash.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ainvil {
namespace {

using namespace test;
using Dense = std::vector<double>; ///< row-major
using Poly = Polynomial<double, Device>;

/// A polynomial around what a specification makes.
std::unique_ptr<Poly> around(const std::string& inner, int degree) {
  return std::make_unique<Poly>(createPreconditioner<double, Device>(inner),
                                PolynomialParameters{degree});
}

std::unique_ptr<Poly> around(const std::string& inner, int degree, const HostBsr& a) {
  auto m = around(inner, degree);
  setUp(*m, a);
  return m;
}

/// M^-1 of the specification alone.
Dense innerInverse(const std::string& inner, const HostBsr& a) {
  const auto m = createPreconditioner<double, Device>(inner);
  setUp(*m, a);
  return denseInverse(*m);
}

HostBsr ofDense(const Dense& values, Ordinal n) {
  const HostBsr a = matrixOn(fullPattern(n), 1, 1);
  std::copy(values.begin(), values.end(), a.values.data());
  return a;
}

HostBsr diagonal(const Dense& values) {
  const HostBsr a = matrixOn(diagonalPattern(static_cast<Ordinal>(values.size())), 1, 1);
  std::copy(values.begin(), values.end(), a.values.data());
  return a;
}

Dense combined(double alpha, const Dense& a, double beta, const Dense& b) {
  Dense sum(a.size());
  for (size_t k = 0; k < a.size(); ++k)
    sum[k] = alpha * a[k] + beta * b[k];
  return sum;
}

double dot(const Dense& x, const Dense& y) {
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += x[i] * y[i];
  return sum;
}

/// prod over i of (I - C / theta_i) X.
Dense residualPolynomial(const Dense& c, const Poly& m, Dense x, size_t n) {
  for (const std::complex<double>& root : m.roots()) {
    const Dense cx = multiply(c, x, n);
    if (root.imag() == 0)
      x = combined(1, x, -1 / root.real(), cx);
    else
      x = combined(1, combined(1, x, -2 * root.real() / std::norm(root), cx), 1 / std::norm(root),
                   multiply(c, cx, n));
  }
  return x;
}

/// M^-1 p(A M^-1) = A^-1 (I - prod (I - A M^-1 / theta_i)): another way than that of the method.
Dense reference(const HostBsr& a, const std::string& inner, const Poly& m) {
  const size_t n = a.numPointRows();
  const Dense dense = toDense(a), c = multiply(dense, innerInverse(inner, a), n);
  const Dense left = residualPolynomial(c, m, identity(n), n);
  return multiply(inverse(dense, n), combined(1, identity(n), -1, left), n);
}

/// The vector that the Arnoldi process starts from.
Dense startVector(size_t n) {
  Dense v(n);
  for (size_t i = 0; i < n; ++i)
    v[i] = double(detail::hash((std::uint64_t(1) << 40) + i) >> 11) * 0x1p-52 - 1;
  return v;
}

bool hasPairs(const Poly& m) {
  return std::any_of(m.roots().begin(), m.roots().end(),
                     [](const auto& root) { return root.imag() != 0; });
}

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

/// ||x - A M^-1 x|| / ||x|| for a random x.
double remainder(const Poly& m, const HostBsr& a, std::uint64_t seed) {
  const size_t n = a.numPointRows();
  const Dense x = Random(seed).vector(n);
  const auto y = poisoned(n, 1);
  m.apply(Exec(), toDevice(x, n, 1), y);
  const Dense left = combined(1, x, -1, multiply(toDense(a), toHost(y), n));
  return std::sqrt(dot(left, left) / dot(x, x));
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

TEST(Polynomial, NewValuesEqualAFreshBuildAndAllocateNothing) {
  for (const bool symmetric : {true, false}) { // the second compute goes another way
    const Pattern pattern = symmetricPattern(64, 5, 87);
    const HostBsr spd = spdMatrixOn(pattern, 3, 87), general = matrixOn(pattern, 3, 88);
    const HostBsr& second = symmetric ? spd : general;
    const auto reused = around("ilu", 9, symmetric ? general : spd);
    const DeviceBsr on_device = copyTo<Device>(second);
    const auto x = toDevice(Random(1).vector(192), 192, 1), y = poisoned(192, 1);
    {
      const AllocationCounter counter;
      reused->compute(on_device);
      reused->apply(Exec(), x, y);
      reused->apply(Exec(), x, y, Trans::Yes, 2.0, 0.5);
      EXPECT_EQ(counter.count(), 0) << counter.labels();
    }
    const auto fresh = around("ilu", 9, second);
    EXPECT_EQ(denseInverse(*reused), denseInverse(*fresh));
    EXPECT_EQ(reused->report().notes, fresh->report().notes);
  }
}

/// A has been changed by its owner since compute(): what is applied stays.
TEST(Polynomial, KeepsTheValuesOfCompute) {
  const HostBsr a = matrixOn(randomPattern(30, 4, 89), 1, 89);
  const DeviceBsr on_device = copyTo<Device>(a);
  const auto m = around("jacobi", 5);
  m->initialize(on_device);
  m->compute(on_device);
  const Dense before = denseInverse(*m);
  Kokkos::deep_copy(on_device.values, 7.0);
  EXPECT_EQ(denseInverse(*m), before);
}

TEST(Polynomial, InFloat) {
  const HostBsr a = matrixOn(randomPattern(60, 4, 90), 2, 90);
  const auto rounded = inPrecision<float>(a);
  Polynomial<float, Device> m(createPreconditioner<float, Device>("jacobi"), {6});
  m.initialize(copyTo<Device>(rounded));
  m.compute(copyTo<Device>(rounded));
  EXPECT_EQ(m.degree(), 6);
  const auto of_double = around("jacobi", 6, a);
  const std::vector<float> x(120, 1.0f);
  const auto y = poisoned<float>(120, 1);
  m.apply(Exec(), toDevice(x, 120, 1), y);
  const auto expected = poisoned(120, 1);
  of_double->apply(Exec(), toDevice(Dense(120, 1.0), 120, 1), expected);
  expectNear(toHost(y), toHost(expected), 1e-4);
}

TEST(Polynomial, HugeAndTinyValuesAndNoRows) {
  const auto empty = around("ilu", 5, matrixOn({}, 3, 91));
  EXPECT_EQ(empty->degree(), 0);
  const HostBsr a = matrixOn(randomPattern(40, 4, 91), 2, 91);
  const Dense expected = denseInverse(*around("none", 6, a));
  for (const double factor : {0x1p500, 0x1p-500}) {
    const HostBsr scaled = matrixOn(randomPattern(40, 4, 91), 2, 91);
    for (Offset e = 0; e < a.numScalars(); ++e)
      scaled.values(e) = factor * a.values(e);
    const auto m = around("none", 6, scaled);
    EXPECT_EQ(m->degree(), 6);
    Dense dense = denseInverse(*m);
    for (double& value : dense)
      value *= factor;
    EXPECT_EQ(dense, expected); // factors are powers of 2
  }
}

TEST(Polynomial, NothingHelpsWhereAMapsToZero) {
  const auto m = around("none", 4, diagonal(Dense(20)));
  EXPECT_EQ(m->degree(), 0);
  EXPECT_NE(m->objection(), "");
  EXPECT_NE(m->report().notes.find("poly=0"), std::string::npos);
  // The next matrix is judged anew.
  setUp(*m, diagonal(Dense(20, 3.0)));
  EXPECT_EQ(m->objection(), "");
  EXPECT_EQ(m->degree(), 1);
}

/// A = [0 1; 0 0] twice over: after two steps nothing is left of any vector, and no step helps.
TEST(Polynomial, OfASingularMatrixIsFinite) {
  Dense a(16);
  a[0 * 4 + 1] = a[2 * 4 + 3] = 1;
  const auto nilpotent = around("none", 3, ofDense(a, 4));
  for (const double value : denseInverse(*nilpotent))
    EXPECT_TRUE(std::isfinite(value));
  Dense values(50, 2.0);
  values[7] = 0;
  const auto singular = around("none", 6, diagonal(values));
  for (const double value : denseInverse(*singular))
    EXPECT_TRUE(std::isfinite(value));
}

TEST(Polynomial, PassesOnWhatTheMethodSays) {
  HostBsr a = diagonal(Dense(9, 2.0));
  EXPECT_FALSE(around("ilu:solve=async", 3)->isFixed());
  EXPECT_TRUE(around("ilu", 3)->isFixed());
  a.values(4) = 0;
  const auto m = around("jacobi", 3);
  try {
    setUp(*m, a);
    ADD_FAILURE() << "not refused";
  } catch (const BreakdownError& error) {
    EXPECT_NE(std::string(error.what()).find("block row 5"), std::string::npos) << error.what();
  }
  EXPECT_TRUE(m->isInitialized());
  EXPECT_FALSE(m->isComputed());
  const auto replaced = around("jacobi:breakdown=replace", 3, a);
  EXPECT_EQ(replaced->report().breakdowns, 1);
  EXPECT_EQ(replaced->report().first_breakdown, 4);
  a.values(4) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(setUp(*m, a), InvalidArgument);
  a.values(4) = 2;
  setUp(*m, a);
  EXPECT_EQ(m->report().breakdowns, 0);
}

/// Objects after the first matrix.
template <class Scalar, class Device>
class Objector final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;
  std::string description() const override { return "objector"; }

protected:
  void doInitialize(const execution_space&, const Matrix&) override {
    this->report_.note("pattern seen");
  }
  void doCompute(const execution_space&, const Matrix&) override {
    this->report_.objection = "not this one";
    this->progressOf("object", 8)(3);
  }
  void doDiagnose(const execution_space&, const Matrix&) override {
    this->report_.note("diagnosed");
  }
  void doApply(const execution_space&, MultiVectorArg<const Scalar, Device>,
               MultiVectorArg<Scalar, Device> y, Trans) const override {
    Kokkos::deep_copy(y, std::numeric_limits<Scalar>::quiet_NaN());
  }
};

TEST(Polynomial, PassesOnObjectionsProgressAndDiagnoses) {
  Poly m(std::make_unique<Objector<double, Device>>(), {3});
  std::string seen;
  m.setProgress([&](const char* phase, Offset done, Offset total) {
    seen += message(phase, " ", done, " of ", total, ";");
  });
  const HostBsr a = diagonal(Dense(9, 2.0));
  setUp(m, a);
  EXPECT_EQ(seen, "object 3 of 8;");
  EXPECT_EQ(m.objection(), "not this one");
  EXPECT_EQ(m.degree(), 0);
  EXPECT_EQ(m.report().notes, "pattern seen");
  m.diagnose(copyTo<Device>(a));
  EXPECT_EQ(m.report().notes, "pattern seen, diagnosed");
}

TEST(Polynomial, RefusesNoDegreeAndNoMethod) {
  EXPECT_THROW(around("jacobi", 0), InvalidArgument);
  EXPECT_THROW(around("jacobi", -1), InvalidArgument);
  EXPECT_THROW(Poly(nullptr, {3}), InvalidArgument);
}

} // namespace
} // namespace ainvil
