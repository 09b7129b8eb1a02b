// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "precond/fsai/FsaiSupport.hpp"

#include "gallery/Ainvil_Gallery.hpp"

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

/// Where A_ij is as large as tau allows it to be dropped, it is. All numbers are exact.
TEST(FsaiPattern, DropsWhatIsExactlyAtTheThreshold) {
  for (const int bs : {1, 2}) {
    const Pattern all = fullPattern(4);
    const HostBsr a = spdMatrixOn(all, bs, 108);
    const double couplings[4][4] = {
        {4, 1, 0.5, 1}, {1, 4, 1, 1.5}, {0.5, 1, 4, 0.25}, {1, 1.5, 0.25, 4}};
    for (Ordinal i = 0; i < 4; ++i)
      for (Ordinal j = 0; j < 4; ++j) // the norm of a block is that of a scalar, of all or of half
        for (int k = 0; k < bs * bs; ++k)
          a.values((4 * i + j) * bs * bs + k) = k == 0 ? couplings[i][j] : i == j && k == 3 ? 3 : 0;
    const double norm = bs == 1 ? 4 : 5; // of [4 0; 0 3]
    const auto patternAt = [&](double tau) {
      Method method(fsai(tau, 1, 0));
      setUp(method, a);
      return patternOf(factorOf(method).graph);
    };
    EXPECT_EQ(patternAt(1 / norm), (Pattern{{0}, {1}, {2}, {1, 3}}));
    EXPECT_EQ(patternAt(1 / norm - 0x1p-40), (Pattern{{0}, {0, 1}, {1, 2}, {0, 1, 3}}));
    EXPECT_EQ(patternAt(1 / norm + 0x1p-40), (Pattern{{0}, {1}, {2}, {1, 3}}));
  }
}

/// All couplings are the same: of row i the max_row - 1 columns before it are kept.
TEST(FsaiPattern, OfLimitedRowsTakesTheNearestOfEqualProducts) {
  const Ordinal n = 40;
  const HostBsr a = spdMatrixOn(fullPattern(n), 1, 109);
  for (Ordinal i = 0; i < n; ++i)
    for (Ordinal j = 0; j < n; ++j)
      a.values(n * i + j) = i == j ? 64 : -1;
  for (const int max_row : {1, 2, 3, 7}) {
    Pattern expected(n);
    for (Ordinal i = 0; i < n; ++i)
      for (Ordinal j = std::max(0, i - max_row + 1); j <= i; ++j)
        expected[i].insert(j);
    FsaiParameters<Device> parameters = fsai(0, 1, 0);
    parameters.max_row = max_row;
    Method method(parameters);
    setUp(method, a);
    EXPECT_EQ(patternOf(factorOf(method).graph), expected) << max_row;
  }
}

/// Where A lacks a diagonal, what couples to it is infinite or no number, and counts as 1.
TEST(FsaiPattern, OfLimitedRowsKnowsNoInfiniteProducts) {
  const Ordinal n = 20;
  Pattern pattern = fullPattern(n);
  for (const Ordinal i : {3, 9, 10})
    pattern[i].erase(i);
  const HostBsr a = spdMatrixOn(fullPattern(n), 1, 110), holey = matrixOn(pattern, 1, 110);
  for (Ordinal i = 0; i < n; ++i)
    for (Offset e = holey.graph.row_map(i); e < holey.graph.row_map(i + 1); ++e)
      holey.values(e) = a.values(n * i + holey.graph.entries(e));
  for (const int max_row : {1, 3, 6})
    for (const int power : {1, 3}) {
      FsaiParameters<Device> parameters = fsai(0, power, 0);
      parameters.max_row = max_row;
      parameters.breakdown = BreakdownPolicy::Replace;
      Method method(parameters);
      setUp(method, holey);
      const Rows rows = rowsOf(method.factor().graph());
      for (Ordinal i = 0; i < n; ++i) {
        EXPECT_EQ(rows[i].size(), size_t(std::min(i + 1, max_row))) << i;
        EXPECT_EQ(rows[i].back(), i);
      }
    }
}

/// A scaling by a diagonal alters nothing, ties included.
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

/// A power that changes nothing is the last one, of limited rows too, whose weights would overflow.
TEST(FsaiPattern, IsCompleteAfterFewOfManyPowers) {
  const HostBsr a = spdMatrixOn(symmetricPattern(80, 3, 108), 1, 108);
  for (const Ordinal max_row : {0, 7, 1000}) {
    SCOPED_TRACE(max_row);
    FsaiParameters<Device> parameters = fsai(0, 20000, 0);
    parameters.max_row = max_row;
    Method method(parameters);
    const DeviceBsr on_device = copyTo<Device>(a);
    {
      const KernelLabelRecorder recorder;
      method.initialize(on_device);
      EXPECT_LE(
          std::count(recorder.kernels().begin(), recorder.kernels().end(), "Ainvil::Fsai[count]"),
          200);
    }
    method.compute(on_device);
    if (max_row != 7) {
      EXPECT_EQ(patternOf(factorOf(method).graph), lowerPowerOf(patternOf(a.graph), 80));
    }
    for (const auto& row : patternOf(factorOf(method).graph))
      EXPECT_LE(row.size(), size_t(max_row == 7 ? 7 : 80));
  }
}

/// A threshold and a limit of rows say nothing of a pattern of the user, unless it is to grow.
TEST(FsaiPattern, OfTheUserIsDescribedByWhatHasAnEffect) {
  FsaiParameters<Device> parameters = fsai(0.25, 2, 0);
  parameters.max_row = 7;
  const auto describe = [&] { return Method(parameters).description(); };
  EXPECT_NE(describe().find("power: 2"), std::string::npos) << describe();
  parameters.pattern = copyTo<Device>(matrixOn(diagonalPattern(5), 1, 1).graph);
  EXPECT_EQ(describe().find("fsai: {pattern: user, "), 0u) << describe();
  for (const int steps : {0, 3}) {
    parameters.adaptive.steps = steps;
    for (const char* key : {"tau: 0.25", "max-row: 7"})
      EXPECT_EQ(describe().find(key) != std::string::npos, steps > 0) << describe();
    EXPECT_EQ(describe().find("power: 2"), std::string::npos) << describe();
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

  Rows reversed = rowsOf(by_power.factor().graph());
  for (auto& row : reversed)
    std::reverse(row.begin(), row.end());
  parameters.pattern = copyTo<Device>(makeGraph(reversed));
  Method by_unsorted(parameters);
  setUp(by_unsorted, a);
  EXPECT_EQ(denseInverse(by_unsorted), denseInverse(by_power));

  parameters.pattern = copyTo<Device>(a.graph);
  Method above(parameters);
  EXPECT_THROW(setUp(above, a), InvalidArgument);
  parameters.pattern = copyTo<Device>(matrixOn(diagonalPattern(29), 1, 1).graph);
  Method small(parameters);
  EXPECT_THROW(setUp(small, a), InvalidArgument);
}

} // namespace
} // namespace ainvil
