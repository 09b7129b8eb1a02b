// SPDX-License-Identifier: BSD-3-Clause
/// L D L^T of symmetric indefinite matrices.
#include "precond/ic/IcSupport.hpp"

#include "Ainvil_Cg.hpp"
#include "Ainvil_Factory.hpp"
#include "Ainvil_Gmres.hpp"
#include "Refusal.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "ilu/Ainvil_BlockIlu.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ainvil {
namespace {

using namespace test;

/// A symmetric matrix with every third diagonal entry negative; no pivot is small.
HostBsr indefiniteMatrixOn(const Pattern& pattern, int bs, std::uint64_t seed) {
  const HostBsr a = spdMatrixOn(pattern, bs, seed);
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      for (int r = 0; r < bs && a.graph.entries(e) == i; ++r)
        if ((i * bs + r) % 3 == 1)
          a.values((e * bs + r) * bs + r) *= -1;
  return a;
}

IcParameters<double, Device> withSigns(PivotSigns signs, int level = 0) {
  IcParameters<double, Device> parameters = exactIc(level);
  parameters.signs = signs;
  return parameters;
}

/// `side`^2 unknowns of the five-point Laplacian less sigma, in blocks of rows of the grid. Its
/// eigenvalues are 4 - 2 cos(k pi h) - 2 cos(l pi h) - sigma, h = 1 / (side + 1).
struct ShiftedLaplacian {
  HostBsr matrix;
  size_t negative = 0; ///< eigenvalues

  ShiftedLaplacian(Ordinal side, double sigma, int bs)
      : matrix(makeProblem(message("poisson5:", side)).matrix) {
    const size_t n = size_t(side) * side;
    auto dense = toDense(matrix);
    double diagonal = dense[0];
    for (double& value : dense)
      value *= 4 / diagonal;
    for (size_t i = 0; i < n; ++i)
      dense[i * n + i] -= sigma;
    Pattern pattern(n / bs);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        if (i == j || dense[i * n + j] != 0)
          pattern[i / bs].insert(Ordinal(j / bs));
    matrix = matrixOn(pattern, bs, 81);
    for (size_t i = 0; i < n / bs; ++i)
      for (Offset e = matrix.graph.row_map(i); e < matrix.graph.row_map(i + 1); ++e)
        for (int k = 0; k < bs * bs; ++k)
          matrix.values(e * bs * bs + k) =
              dense[(i * bs + k / bs) * n + size_t(matrix.graph.entries(e)) * bs + k % bs];
    const double pi_h = std::acos(-1.0) / (side + 1);
    for (int k = 1; k <= side; ++k)
      for (int l = 1; l <= side; ++l)
        negative += 4 - 2 * std::cos(k * pi_h) - 2 * std::cos(l * pi_h) < sigma ? 1 : 0;
  }
};

/// How many pivots of D = L D L^T of a symmetric block are negative.
size_t negativePivots(std::vector<double> d, size_t n) {
  size_t count = 0;
  for (size_t k = 0; k < n; ++k) {
    count += d[k * n + k] < 0 ? 1 : 0;
    for (size_t i = k + 1; i < n; ++i)
      for (size_t j = k + 1; j < n; ++j)
        d[i * n + j] -= d[i * n + k] * d[k * n + j] / d[k * n + k];
  }
  return count;
}

class IcSigns : public ::testing::TestWithParam<int> {};

TEST_P(IcSigns, FullPatternIsTheExactInverse) {
  const int bs = GetParam();
  for (const PatternSearch search : {PatternSearch::Auto, PatternSearch::Parallel})
    for (const IcPattern kind : {IcPattern::Level, IcPattern::Threshold}) {
      const HostBsr a = indefiniteMatrixOn(symmetricPattern(20, 4, 82), bs, 83);
      IcParameters<double, Device> parameters = withSigns(PivotSigns::Keep, 20);
      parameters.pattern = kind;
      parameters.drop = 0;
      parameters.max_fill = 100;
      parameters.search = search;
      parameters.steps = 20;
      IcMethod ic(parameters);
      setUp(ic, a);
      EXPECT_EQ(ic.report().breakdowns, 0);
      expectNear(denseInverse(ic), inverse(toDense(a), 20 * size_t(bs)), 1e-12);
    }
}

TEST_P(IcSigns, FactorIsThatOfIlu) {
  const int bs = GetParam();
  const HostBsr a = indefiniteMatrixOn(symmetricPattern(43, 4, 84), bs, 85);
  for (const int level : {0, 1, 2}) {
    IcMethod ic(withSigns(PivotSigns::Keep, level));
    setUp(ic, a);
    EXPECT_EQ(ic.report().breakdowns, 0);
    Report report;
    BlockIluParameters parameters;
    parameters.level = level;
    BlockIlu<double, Device> ilu(parameters);
    ilu.initialize(Exec(), copyTo<Device>(a), report);
    ilu.compute(Exec(), copyTo<Device>(a), report);
    expectNear(toDense(copyTo<HostDevice>(ic.factor().matrix)),
               transposed(toDense(copyTo<HostDevice>(ilu.upper().matrix)), 43 * size_t(bs)), 1e-13);
    expectNear(toHost(ic.pivotInverses()), toHost(ilu.lower().diagonal_inverse), 1e-13);
  }
}

/// Sylvester's law of inertia.
TEST_P(IcSigns, AsManyPivotsAreNegativeAsEigenvalues) {
  const int bs = GetParam();
  const size_t bs2 = size_t(bs) * bs;
  for (const double sigma : {0.1, 1.3, 3.7}) {
    const ShiftedLaplacian problem(12, sigma, bs);
    IcMethod ic(withSigns(PivotSigns::Keep, 200));
    setUp(ic, problem.matrix);
    ASSERT_EQ(ic.report().breakdowns, 0);
    const auto inverses = toHost(ic.pivotInverses());
    size_t negative = 0;
    for (size_t first = 0; first < inverses.size(); first += bs2)
      negative += negativePivots({inverses.begin() + first, inverses.begin() + first + bs2}, bs);
    EXPECT_EQ(negative, problem.negative) << sigma;
  }
}

/// |B| is symmetric, |B|^2 = B^2, and all its pivots are positive.
TEST_P(IcSigns, AbsolutePivotsAreThoseOfTheSameFactor) {
  const size_t bs = size_t(GetParam());
  const HostBsr a = indefiniteMatrixOn(symmetricPattern(43, 4, 86), int(bs), 87);
  IcMethod keeps(withSigns(PivotSigns::Keep, 1)), absolute(withSigns(PivotSigns::Absolute, 1));
  setUp(keeps, a);
  setUp(absolute, a);
  EXPECT_EQ(absolute.report().breakdowns, 0);
  EXPECT_EQ(toHost(absolute.factor().matrix.values), toHost(keeps.factor().matrix.values));
  const auto of_keeps = toHost(keeps.pivotInverses()),
             of_absolute = toHost(absolute.pivotInverses());
  for (size_t first = 0; first < of_keeps.size(); first += bs * bs) {
    const std::vector<double> b(of_keeps.begin() + first, of_keeps.begin() + first + bs * bs),
        size(of_absolute.begin() + first, of_absolute.begin() + first + bs * bs);
    EXPECT_EQ(transposed(size, bs), size);
    EXPECT_EQ(negativePivots(size, bs), 0u);
    expectNear(multiply(size, size, bs), multiply(b, b, bs), 1e-13);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, IcSigns, ::testing::Values(1, 2, 3, 4, 6, 12));

/// Where all pivots are positive nothing differs.
TEST(IcSigns, OfAnSpdMatrixAreTheSame) {
  for (const int bs : {1, 3}) {
    const HostBsr a = spdMatrixOn(symmetricPattern(50, 5, 88), bs, 89);
    const auto inverseOf = [&](const char* specification) {
      const auto ic = createPreconditioner<double, Device>(specification);
      setUp(*ic, a);
      return denseInverse(*ic);
    };
    EXPECT_EQ(inverseOf("ic:signs=keep"), inverseOf("ic"));
    expectNear(inverseOf("ic:signs=absolute"), inverseOf("ic"), 1e-13);
  }
}

/// What each strategy makes of the factor is symmetric, and as definite as D.
TEST(IcSigns, EachStrategyIsSymmetric) {
  for (const char* strategy :
       {"", ",storage=float", ",level=1,solve=isai,power=2", ",solve=isai,relax=auto",
        ",solve=jacobi,sweeps=3", ",factorization=ict,drop=0.02",
        ",factorization=ict,drop=0.02,search=parallel", ",modified=0.5"})
    for (const int bs : {1, 3})
      for (const char* signs : {"keep", "absolute"}) {
        SCOPED_TRACE(message(signs, strategy, ", block size ", bs));
        const size_t n = 61 * size_t(bs);
        const HostBsr a = indefiniteMatrixOn(symmetricPattern(61, 5, 90), bs, 91);
        const auto ic = createPreconditioner<double, Device>(message("ic:signs=", signs, strategy));
        setUp(*ic, a);
        EXPECT_EQ(ic->report().breakdowns, 0);
        const auto dense = denseInverse(*ic);
        EXPECT_EQ(denseInverse(*ic, Trans::Yes), dense);
        Random random(92);
        const auto x = random.vector(n), y = random.vector(n);
        const auto mx = multiply(dense, x, n), my = multiply(dense, y, n);
        double mx_y = 0, x_my = 0, size = 0;
        for (size_t i = 0; i < n; ++i) {
          mx_y += mx[i] * y[i];
          x_my += x[i] * my[i];
          size += std::abs(mx[i] * y[i]);
        }
        EXPECT_NEAR(mx_y, x_my, 1e-13 * size);
        EXPECT_EQ(negativePivots(dense, n) > 0, signs == std::string("keep"));
      }
}

template <class Scalar>
SolveResult solved(const HostBsr& matrix, const std::string& specification, bool by_cg) {
  const auto a = copyTo<Device>(inPrecision<Scalar>(matrix));
  const auto m = createPreconditioner<Scalar, Device>(specification);
  m->initialize(a);
  m->compute(a);
  const size_t n = size_t(matrix.numPointRows());
  const auto b = toDevice(std::vector<Scalar>(n, 1)), x = toDevice(std::vector<Scalar>(n, 0));
  const MatrixOperator<Scalar, Device> op(a);
  SolverOptions options;
  options.tolerance = 1e-5;
  options.max_iterations = 500;
  return by_cg ? cg(op, m.get(), b, x, options) : gmres(op, m.get(), b, x, options);
}

TEST(IcSigns, GmresTakesBothAndCgComplains) {
  const ShiftedLaplacian problem(24, 0.3, 1);
  ASSERT_GT(problem.negative, 0u);
  for (const char* specification : {"ic:signs=keep,level=2", "ic:signs=absolute,level=2"}) {
    EXPECT_EQ(solved<double>(problem.matrix, specification, false).status, SolveStatus::Converged);
    EXPECT_EQ(solved<float>(problem.matrix, specification, false).status, SolveStatus::Converged);
  }
  const SolveResult result = solved<double>(problem.matrix, "ic:signs=keep,level=2", true);
  EXPECT_NE(result.status, SolveStatus::Converged);
  EXPECT_NE(result.message.find("not positive definite"), std::string::npos) << result.message;
}

/// [0 1; 1 0], times the identity in blocks: the first pivot is zero, of the shifted matrix alpha.
TEST(IcSigns, ZeroPivotsFollowThePolicy) {
  for (const int bs : {1, 3}) {
    const HostBsr a = matrixOn(fullPattern(2), bs, 93);
    for (Offset e = 0; e < 4; ++e)
      for (int k = 0; k < bs * bs; ++k)
        a.values(e * bs * bs + k) = k % (bs + 1) == 0 && (e == 1 || e == 2) ? 1 : 0;
    IcParameters<double, Device> parameters = withSigns(PivotSigns::Keep);
    IcMethod shifts(parameters);
    setUp(shifts, a);
    EXPECT_EQ(shifts.report().breakdowns, 1);
    EXPECT_EQ(shifts.report().first_breakdown, 0);
    EXPECT_EQ(shifts.shift(), 1e-3);
    EXPECT_DOUBLE_EQ(toHost(shifts.pivotInverses())[0], 1e3);
    EXPECT_LT(toHost(shifts.pivotInverses())[size_t(bs) * bs], 0);
    parameters.breakdown = BreakdownPolicy::Replace;
    IcMethod replaces(parameters);
    setUp(replaces, a);
    EXPECT_EQ(replaces.report().breakdowns, 1);
    parameters.breakdown = BreakdownPolicy::Fail;
    IcMethod fails(parameters);
    const std::string text = refusal([&] { setUp(fails, a); });
    EXPECT_NE(text.find("singular to rounding"), std::string::npos) << text;
  }
}

} // namespace
} // namespace ainvil
