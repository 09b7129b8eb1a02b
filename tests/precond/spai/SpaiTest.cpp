// SPDX-License-Identifier: BSD-3-Clause
#include "precond/spai/SpaiSupport.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Jacobi.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace ainvil {
namespace {

using namespace test;
using Method = SpaiMethod;

/// ||I - M A||_F
double residualOf(const std::vector<double>& m, const std::vector<double>& a, size_t n) {
  const auto product = multiply(m, a, n);
  double squares = 0;
  for (size_t e = 0; e < n * n; ++e)
    squares += std::pow(product[e] - (e % (n + 1) == 0 ? 1 : 0), 2);
  return std::sqrt(squares);
}

class SpaiBlockSize : public ::testing::TestWithParam<int> {};

TEST_P(SpaiBlockSize, FullPatternIsTheInverse) {
  const int bs = GetParam();
  const size_t n = 9 * bs;
  const HostBsr a = matrixOn(randomPattern(9, 3, 201), bs, 201);
  Method method(spaiOn(Rows(9, {0, 1, 2, 3, 4, 5, 6, 7, 8})));
  setUp(method, a);
  const auto expected = inverse(toDense(a), n);
  expectNear(denseInverse(method), expected, 1e-12);
  expectNear(denseInverse(method, Trans::Yes), transposed(expected, n), 1e-12);
  EXPECT_LE(method.residual(), 1e-12);
  EXPECT_EQ(method.report().factor_entries, Offset(n * n));
}

TEST_P(SpaiBlockSize, OfADiagonalPatternIsBlockJacobi) {
  const HostBsr a = matrixOn(diagonalPattern(20), GetParam(), 202);
  Method method(spai(2));
  Jacobi<double, Device> jacobi{JacobiParameters()};
  setUp(method, a);
  setUp(jacobi, a);
  expectNear(denseInverse(method), denseInverse(jacobi), 1e-12);
}

TEST_P(SpaiBlockSize, SolvesTheLeastSquaresProblemOfEachRow) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(randomPattern(40, 3, 203), bs, 203);
  const Graph<Device> graph = copyTo<Device>(a.graph);
  for (const int power : {1, 2}) {
    Method method(spai(power));
    setUp(method, a);
    const Rows pattern = rowsOf(patternPower(Exec(), graph, power));
    EXPECT_EQ(rowsOf(method.inverse().graph()), pattern);
    const auto expected = reference(toDense(a), pattern, bs);
    const auto m = denseInverse(method);
    expectNear(m, expected, 1e-11);
    EXPECT_NEAR(method.residual(), residualOf(m, toDense(a), 40 * bs), 1e-11);
    EXPECT_NE(method.report().notes.find(message("residual=", method.residual())),
              std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, SpaiBlockSize, ::testing::Values(1, 2, 3, 5, 9));

/// Rows of M and of A of 1 to 300 entries.
TEST(Spai, LongRows) {
  const Ordinal n = 536;
  const HostBsr a = matrixOn(longRowsPattern(n), 1, 204);
  Method method(spai(1));
  setUp(method, a);
  expectNear(toDense(inverseOf(method)), reference(toDense(a), rowsOf(a.graph), 1), 1e-10);
}

TEST(Spai, BlocksEqualScalarsOnTheirPattern) {
  const HostBsr blocks = matrixOn(randomPattern(30, 4, 205), 3, 205);
  const HostBsr points = copyTo<HostDevice>(toPoints(Exec(), copyTo<Device>(blocks)));
  Method of_blocks(spai(2)), of_points(spai(2));
  setUp(of_blocks, blocks);
  setUp(of_points, points);
  expectNear(denseInverse(of_blocks), denseInverse(of_points), 1e-12);
  EXPECT_NEAR(of_blocks.residual(), of_points.residual(), 1e-12);
}

TEST(Spai, ResidualFallsWithThePower) {
  for (const char* name : {"convdiff:5", "cavity:5", "euler:60"}) {
    const HostBsr a = makeProblem(name).matrix;
    double before = std::sqrt(double(a.numPointRows())); // that of M = 0
    for (const int power : {1, 2, 3, 4}) {
      Method method(spai(power));
      setUp(method, a);
      EXPECT_LT(method.residual(), before) << name << ", power " << power;
      before = method.residual();
    }
  }
}

/// (S A)^-1 = A^-1 S^-1 holds for M, too, to the bit for powers of two.
TEST(Spai, FollowsAScalingOfTheRows) {
  const HostBsr a = matrixOn(randomPattern(50, 4, 206), 2, 206);
  const HostBsr scaled = matrixOn(randomPattern(50, 4, 206), 2, 206);
  const auto scale = [](Offset row) { return std::ldexp(1.0, int(row * 37 % 121) - 60); };
  for (Ordinal i = 0; i < 50; ++i)
    for (Offset e = a.graph.row_map(i) * 4; e < a.graph.row_map(i + 1) * 4; ++e)
      scaled.values(e) *= scale(2 * i + e % 4 / 2);
  Method plain(spai(1)), method(spai(1));
  setUp(plain, a);
  setUp(method, scaled);
  auto expected = denseInverse(plain);
  for (size_t e = 0; e < expected.size(); ++e)
    expected[e] /= scale(e % 100);
  EXPECT_EQ(denseInverse(method), expected);
}

TEST(Spai, FollowsAPermutation) {
  const Ordinal n = 60;
  const Pattern pattern = randomPattern(n, 4, 207);
  const HostBsr a = matrixOn(pattern, 1, 207);
  std::vector<Ordinal> to(n);
  std::iota(to.begin(), to.end(), 0);
  Random(208).shuffle(to);
  Rows rows(n);
  for (Ordinal i = 0; i < n; ++i)
    for (const Ordinal j : pattern[i])
      rows[to[i]].push_back(to[j]);
  const HostBsr permuted = randomMatrix(rows, n, 1); // its rows are not sorted
  for (Ordinal i = 0; i < n; ++i)
    std::copy(a.values.data() + a.graph.row_map(i), a.values.data() + a.graph.row_map(i + 1),
              permuted.values.data() + permuted.graph.row_map(to[i]));
  Method plain(spai(2)), method(spai(2));
  setUp(plain, a);
  setUp(method, permuted);
  const auto m = denseInverse(plain), other = denseInverse(method);
  std::vector<double> back(m.size());
  for (Ordinal i = 0; i < n; ++i)
    for (Ordinal j = 0; j < n; ++j)
      back[size_t(i) * n + j] = other[size_t(to[i]) * n + to[j]];
  expectNear(back, m, 1e-12);
}

TEST(Spai, StorageRoundsTheInverse) {
  const HostBsr a = matrixOn(randomPattern(50, 4, 209), 3, 209);
  forEachRounding<Method>(spai(1), a,
                          [](const Method& rounded, const Method& in_double, double error) {
                            expectRoundedFactors(rounded, in_double, error);
                          });
}

/// A scalar matrix whose rows 3 and 8 are the same, and row 20 is zero.
HostBsr singularMatrix() {
  Pattern pattern = randomPattern(30, 3, 210);
  for (const Ordinal i : {3, 8}) {
    pattern[i] = {3, 8, 12, 20};
    pattern[12].insert(i);
  }
  const HostBsr a = matrixOn(pattern, 1, 210);
  for (Offset k = 0; k < 4; ++k)
    a.values(a.graph.row_map(3) + k) = a.values(a.graph.row_map(8) + k) = 1.0 + k;
  for (Offset e = a.graph.row_map(20); e < a.graph.row_map(21); ++e)
    a.values(e) = 0;
  return a;
}

/// Rows of the pattern that hold both 3 and 8, or 20.
std::vector<Ordinal> deficientRows(const Rows& rows) {
  std::vector<Ordinal> deficient;
  for (Ordinal i = 0; i < Ordinal(rows.size()); ++i) {
    const auto holds = [&](Ordinal j) {
      return std::find(rows[i].begin(), rows[i].end(), j) != rows[i].end();
    };
    if ((holds(3) && holds(8)) || holds(20))
      deficient.push_back(i);
  }
  return deficient;
}

TEST(Spai, DependentRowsThrow) {
  const HostBsr a = singularMatrix();
  const auto deficient = deficientRows(rowsOf(a.graph));
  Method method(spai(1));
  try {
    setUp(method, a);
    FAIL() << "no exception";
  } catch (const BreakdownError& error) {
    EXPECT_EQ(std::string(error.what())
                  .find(message(deficient.size(),
                                " least squares problems are rank deficient, "
                                "the first in block row ",
                                deficient[0] + 1, " (counted from 1)")),
              0u)
        << error.what();
  }
  EXPECT_FALSE(method.isComputed());
}

TEST(Spai, DependentRowsAreReplaced) {
  const HostBsr a = singularMatrix();
  const Rows rows = rowsOf(a.graph);
  const auto deficient = deficientRows(rows);
  ASSERT_GE(deficient.size(), 4u);
  Method method(spai(1, BreakdownPolicy::Replace));
  setUp(method, a);
  EXPECT_EQ(method.report().breakdowns, Offset(deficient.size()));
  EXPECT_EQ(method.report().first_breakdown, deficient[0]);
  // Without the rows in question, for the others.
  Rows pattern = rows;
  for (const Ordinal i : deficient)
    pattern[i].clear();
  auto expected = reference(toDense(a), pattern, 1);
  for (const Ordinal i : deficient) {
    double largest = 0;
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      largest = std::max(largest, std::abs(a.values(e)));
    expected[i * 30 + i] = largest > 0 ? 1 / largest : 1;
  }
  expectNear(denseInverse(method), expected, 1e-10);
}

/// By the largest entry of all point rows of the block row, wherever it is.
TEST(Spai, DependentBlockRowsAreReplaced) {
  for (const size_t large : {0, 1, 2}) {
    std::vector<double> values(9, 1.0);
    for (size_t c = 0; c < 3; ++c)
      values[3 * large + c] = -8;
    Method method(spai(1, BreakdownPolicy::Replace));
    setUp(method, HostBsr(makeGraph({{0}}), viewOf(values), 3));
    EXPECT_EQ(method.report().breakdowns, 1);
    const double d = 0.125;
    EXPECT_EQ(denseInverse(method), (std::vector<double>{d, 0, 0, 0, d, 0, 0, 0, d})) << large;
  }
}

/// The shift is that of the rows in their problems, and does not help row 20.
TEST(Spai, DependentRowsAreShifted) {
  const HostBsr a = singularMatrix();
  const Rows rows = rowsOf(a.graph);
  SpaiParameters<Device> parameters = spai(1, BreakdownPolicy::Shift);
  parameters.shift = 0.1;
  Method method(parameters);
  setUp(method, a);
  const auto deficient = deficientRows(rows);
  EXPECT_EQ(method.report().breakdowns, Offset(deficient.size()));
  auto shifted = toDense(a);
  for (size_t i = 0; i < 30; ++i) {
    double largest = 0;
    for (size_t j = 0; j < 30; ++j)
      largest = std::max(largest, std::abs(shifted[i * 30 + j]));
    shifted[i * 30 + i] += 0.1 * largest;
  }
  Rows pattern(30);
  for (const Ordinal i : deficient)
    if (std::find(rows[i].begin(), rows[i].end(), 20) == rows[i].end())
      pattern[i] = rows[i];
  const auto expected = reference(shifted, pattern, 1);
  const auto m = denseInverse(method);
  int seen = 0;
  for (Ordinal i = 0; i < 30; ++i)
    if (!pattern[i].empty()) {
      ++seen;
      expectNear(std::vector<double>(m.begin() + i * 30, m.begin() + (i + 1) * 30),
                 std::vector<double>(expected.begin() + i * 30, expected.begin() + (i + 1) * 30),
                 1e-9, message("row ", i));
    }
  EXPECT_GE(seen, 1);
}

TEST(Spai, RefusesNaNAndOverflow) {
  HostBsr a = matrixOn(randomPattern(10, 3, 211), 2, 211);
  Method method(spai(1));
  a.values(17) = std::numeric_limits<double>::quiet_NaN();
  EXPECT_THROW(setUp(method, a), InvalidArgument);
  // Rows of 1e-320 have entries of 1e320 in the inverse.
  for (Offset e = 0; e < a.numScalars(); ++e)
    a.values(e) = e % 4 % 3 == 0 ? 1e-320 : 0;
  for (const BreakdownPolicy policy : {BreakdownPolicy::Fail, BreakdownPolicy::Replace}) {
    Method other(spai(1, policy));
    EXPECT_THROW(setUp(other, a), BreakdownError);
  }
}

/// Unsorted, and without a diagonal: it is added.
TEST(Spai, TakesAPatternOfTheUsers) {
  const HostBsr a = matrixOn(randomPattern(5, 2, 212), 2, 212);
  Method method(spaiOn({{3, 1}, {}, {2, 0}, {4, 3, 2, 1, 0}, {0}}));
  setUp(method, a);
  const Rows expected = {{0, 1, 3}, {1}, {0, 2}, {0, 1, 2, 3, 4}, {0, 4}};
  EXPECT_EQ(rowsOf(method.inverse().graph()), expected);
  expectNear(denseInverse(method), reference(toDense(a), expected, 2), 1e-12);
  EXPECT_EQ(method.description(), "spai: {pattern: user, storage: double}");
  Method other(spaiOn({{0}, {1}}));
  EXPECT_THROW(setUp(other, a), InvalidArgument);
}

TEST(Spai, LeavesWeakEntriesOutOfThePattern) {
  const HostBsr a = matrixOn(fullPattern(12), 1, 213);
  SpaiParameters<Device> parameters = spai(1);
  parameters.tau = 0.1;
  Method method(parameters);
  setUp(method, a);
  Rows expected(12);
  Offset entries = 0;
  const auto diagonal = [&](Ordinal i) { return std::sqrt(std::abs(a.values(13 * i))); };
  for (Ordinal i = 0; i < 12; ++i)
    for (Ordinal j = 0; j < 12; ++j)
      if (i == j || std::abs(a.values(12 * i + j)) > 0.1 * diagonal(i) * diagonal(j)) {
        expected[i].push_back(j);
        ++entries;
      }
  EXPECT_GT(entries, 12);
  EXPECT_LT(entries, 144);
  EXPECT_EQ(rowsOf(method.inverse().graph()), expected);
}

/// Zeros on the diagonal, stored or not, are no matter.
TEST(Spai, NeedsNoDiagonal) {
  const Rows rows = {{1}, {0, 2}, {1, 3}, {0, 2}};
  const HostBsr a = randomMatrix(rows, 4, 1);
  Method method(spaiOn(Rows(4, {0, 1, 2, 3})));
  setUp(method, a);
  expectNear(denseInverse(method), inverse(toDense(a), 4), 1e-12);
}

/// 23 MB, of which a host of Kokkos' calls 20 MiB too much.
TEST(Spai, ProblemsOfAnySize) {
  const Ordinal n = 1700;
  Rows pattern(n);
  pattern[n - 1].resize(n);
  std::iota(pattern[n - 1].begin(), pattern[n - 1].end(), 0);
  const HostBsr a = matrixOn(diagonalPattern(n), 1, 214);
  Method method(spaiOn(pattern));
  setUp(method, a);
  const auto values = toHost(method.inverse().native().values);
  EXPECT_NEAR(values.back() * a.values(n - 1), 1, 1e-14);
  EXPECT_LE(method.residual(), 1e-12);
}

/// An arrow: a dense row, a dense column and the diagonal. Of power 1 problem i > 0 has J = {0, i}
/// and all columns; that of row 0 has everything.
HostBsr arrow(Ordinal n, int bs) {
  Pattern pattern = diagonalPattern(n);
  for (Ordinal i = 1; i < n; ++i) {
    pattern[0].insert(i);
    pattern[i].insert(0);
  }
  return matrixOn(pattern, bs, 207);
}

/// 2 u^2 (m - u / 3) operations for m equations and u unknowns.
double operationsOf(double equations, double unknowns) {
  return 2 * unknowns * unknowns * (equations - unknowns / 3);
}

std::string refusalOf(const SpaiParameters<Device>& parameters, const HostBsr& a) {
  Method method(parameters);
  try {
    setUp(method, a);
  } catch (const BreakdownError& error) {
    return error.what();
  }
  return "";
}

TEST(Spai, GivesUpBeforeTooMuchWork) {
  const Ordinal n = 40;
  for (const int bs : {1, 3}) {
    const HostBsr a = arrow(n, bs);
    const double size = n * bs;
    const double mean = (operationsOf(size, size) + (n - 1) * operationsOf(size, 2 * bs)) / size;
    SpaiParameters<Device> parameters = spai(1);
    parameters.max_work = mean * (1 + 1e-12);
    EXPECT_EQ(refusalOf(parameters, a), "") << bs;
    parameters.max_work = mean * (1 - 1e-12);
    EXPECT_EQ(
        refusalOf(parameters, a),
        message("the least squares problems of spai take too long: ", mean,
                " operations a row of the matrix, more than max-work=", parameters.max_work,
                ", the largest in block row 1 (counted from 1) with ", size, " equations and ",
                size,
                " unknowns, as of long rows and columns of A: choose a smaller power, adaptive=5 "
                "from the diagonal, ilu with match=product, or raise max-work"));
    parameters.max_work = 0;
    EXPECT_EQ(refusalOf(parameters, a), "") << bs;
  }
}

/// The mean is not above the limit, but one row has a thousand times that.
TEST(Spai, GivesUpBeforeOneRowThatTakesTooLong) {
  const Ordinal hub = 60, n = 3000;
  Pattern pattern = diagonalPattern(n);
  for (Ordinal i = 0; i < hub; ++i)
    pattern[1].insert(i + 2);
  const HostBsr a = matrixOn(pattern, 1, 208);
  const double largest = operationsOf(hub + 1, hub + 1);
  SpaiParameters<Device> parameters = spai(1);
  parameters.max_work = largest / 1000 * (1 + 1e-12);
  EXPECT_EQ(refusalOf(parameters, a), "");
  parameters.max_work = largest / 1000 * (1 - 1e-12);
  const std::string text = refusalOf(parameters, a);
  EXPECT_NE(text.find(message(largest, " operations for the largest alone, more than 1000 times")),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("in block row 2 (counted from 1) with 61 equations and 61 unknowns"),
            std::string::npos)
      << text;
}

/// Of the pattern as it is before a step.
TEST(Spai, GivesUpWhileItGrows) {
  const HostBsr a = arrow(40, 1);
  SpaiParameters<Device> parameters;
  parameters.adaptive = {4, 8, 0, 0};
  EXPECT_EQ(refusalOf(parameters, a), "");
  parameters.max_work = 100; // of the diagonal: about 81, of row 1: 2 (40 - 1 / 3)
  EXPECT_NE(refusalOf(parameters, a).find("more than max-work=100, the largest in block row "),
            std::string::npos)
      << refusalOf(parameters, a);
}

} // namespace
} // namespace ainvil
