// SPDX-License-Identifier: BSD-3-Clause
#include "FsaiSupport.hpp"

#include "Ainvil_Gallery.hpp"

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace {

using namespace test;
using Method = FsaiMethod;

TEST(FsaiPattern, IsTheLowerPowerOfTheSparsifiedMatrix) {
  const HostBsr a = spdMatrixOn(symmetricPattern(80, 5, 105), 1, 105);
  const auto dense = toDense(a);
  for (const double tau : {0.0, 0.03, 0.06})
    for (const int power : {0, 1, 2, 3}) {
      Pattern sparse(80);
      for (size_t i = 0; i < 80; ++i)
        for (size_t j = 0; j < 80; ++j)
          if (i == j ||
              std::abs(dense[i * 80 + j]) > tau * std::sqrt(dense[i * 80 + i] * dense[j * 80 + j]))
            sparse[i].insert(static_cast<Ordinal>(j));
      Method method(fsai(tau, power, 0));
      setUp(method, a);
      const Pattern expected = lowerPowerOf(tau > 0 ? sparse : patternOf(a.graph), power);
      EXPECT_EQ(patternOf(factorOf(method).graph), expected)
          << "tau " << tau << ", power " << power;
    }
}

/// Rows of Low(B W) with weights, the largest kept in each step; by the definition, dense.
TEST(FsaiPattern, OfLimitedRowsTakesTheLargestProducts) {
  for (const int bs : {1, 3})
    for (const int max_row : {1, 2, 5, 12, 1000}) {
      const HostBsr a = spdMatrixOn(symmetricPattern(80, 6, 106), bs, 106);
      const size_t n = 80;
      std::vector<double> weights(n * n);
      for (size_t i = 0; i < n; ++i)
        for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
          for (int k = 0; k < bs * bs; ++k)
            weights[i * n + a.graph.entries(e)] += std::pow(a.values(e * bs * bs + k), 2);
      std::vector<double> norms(n);
      for (size_t i = 0; i < n; ++i)
        norms[i] = std::sqrt(weights[i * n + i]);
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j)
          weights[i * n + j] = std::sqrt(weights[i * n + j] / (norms[i] * norms[j]));
      auto b = identity(n);
      for (int step = 0; step < 3; ++step) {
        b = multiply(b, weights, n);
        for (size_t i = 0; i < n; ++i) {
          std::vector<std::pair<double, size_t>> order; // largest last
          for (size_t j = 0; j < i; ++j)
            order.emplace_back(b[i * n + j], j);
          std::sort(order.begin(), order.end());
          for (size_t k = 0; k + max_row - 1 < order.size(); ++k)
            b[i * n + order[k].second] = 0;
          for (size_t j = i + 1; j < n; ++j)
            b[i * n + j] = 0;
        }
      }
      Pattern expected(n);
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j)
          if (b[i * n + j] != 0)
            expected[i].insert(static_cast<Ordinal>(j));
      FsaiParameters<Device> parameters = fsai(0, 3, 0);
      parameters.max_row = max_row;
      Method method(parameters);
      setUp(method, a);
      EXPECT_EQ(patternOf(factorOf(method).graph), expected) << max_row << ", blocks of " << bs;
      expectUnitDiagonal(method, a, 1e-13);
    }
}

/// Ties go to the columns nearest to the diagonal, and a scaling by a diagonal alters nothing.
TEST(FsaiPattern, OfLimitedRowsKnowsNoScaling) {
  FsaiParameters<Device> parameters = fsai(0.01, 3, 0);
  parameters.max_row = 6;
  for (const char* problem : {"laplace7:7x6x5", "jump:8"}) {
    const HostBsr a = makeProblem(problem).matrix;
    Method plain(parameters);
    setUp(plain, a);
    for (Ordinal i = 0; i < a.numRows(); ++i) // powers of two: without rounding
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        a.values(e) *= std::ldexp(1.0, 2 * (i % 7) + 2 * (a.graph.entries(e) % 7));
    Method scaled(parameters);
    setUp(scaled, a);
    EXPECT_EQ(patternOf(factorOf(scaled).graph), patternOf(factorOf(plain).graph)) << problem;
  }
}

/// Norms of blocks whose squares leave the range of numbers are compared as all others are.
TEST(FsaiPattern, KnowsNoScale) {
  for (const int bs : {1, 3}) {
    const HostBsr a = spdMatrixOn(symmetricPattern(60, 6, 239), bs, 239);
    Method expected(fsai(0.02, 2, 0));
    setUp(expected, a);
    EXPECT_GT(expected.patternEntries(), 60);
    for (const double scale : {0x1p-600, 0x1p+600}) {
      const HostBsr scaled(a.graph, viewOf(toHost(a.values)), bs);
      for (size_t i = 0; i < scaled.values.extent(0); ++i)
        scaled.values(i) *= scale;
      Method method(fsai(0.02, 2, 0));
      setUp(method, scaled);
      EXPECT_EQ(rowsOf(method.factor().graph()), rowsOf(expected.factor().graph()));
    }
  }
}

TEST(FsaiPattern, MayBeGivenByTheUser) {
  const HostBsr a = spdMatrixOn(symmetricPattern(30, 5, 107), 2, 107);
  Method by_power(fsai(0, 2, 0));
  setUp(by_power, a);
  FsaiParameters<Device> parameters = fsai(0, 1, 0);
  parameters.pattern = by_power.factor().graph();
  Method by_pattern(parameters);
  setUp(by_pattern, a);
  EXPECT_EQ(denseInverse(by_pattern), denseInverse(by_power));

  parameters.pattern = copyTo<Device>(a.graph);
  Method above(parameters);
  EXPECT_THROW(setUp(above, a), InvalidArgument);
  parameters.pattern = copyTo<Device>(matrixOn(diagonalPattern(29), 1, 1).graph);
  Method small(parameters);
  EXPECT_THROW(setUp(small, a), InvalidArgument);
}

} // namespace
} // namespace ainvil
