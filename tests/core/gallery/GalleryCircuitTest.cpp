// SPDX-License-Identifier: BSD-3-Clause
#include "core/gallery/GallerySupport.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;

TEST(Gallery, CircuitHasThreeLongRowsAndConservesCurrent) {
  const Matrix a = makeProblem("circuit:2000").matrix;
  Ordinal hubs = 0;
  for (Ordinal i = 0; i < a.numRows(); ++i) {
    const Offset begin = a.graph.row_map(i), end = a.graph.row_map(i + 1);
    double sum = 0;
    for (Offset e = begin; e < end; ++e) {
      if (e > begin) {
        EXPECT_LT(a.graph.entries(e - 1), a.graph.entries(e));
      }
      EXPECT_EQ(a.values(e) > 0, a.graph.entries(e) == i);
      sum += a.values(e);
    }
    EXPECT_NEAR(sum, 1e-3, 1e-10); // what leaks to the ground
    if (end - begin > 1000)
      ++hubs;
    else
      EXPECT_LE(end - begin, 5);
  }
  EXPECT_EQ(hubs, 3);
}

TEST(Gallery, ChainsAmplifyTenfold) {
  const Matrix a = makeProblem("chain:20").matrix;
  EXPECT_EQ(a.numEntries(), 20 + 17);
  for (Ordinal i = 0; i < 20; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      EXPECT_EQ(a.values(e), a.graph.entries(e) == i ? 1 : -10);
}

/// Edges to the right and upwards have weights of their own, which are at least 1 and seldom large.
TEST(Gallery, NetworkDrawsAWeightForEveryEdge) {
  const Ordinal nx = 40, ny = 30;
  const Matrix a = makeProblem("network:40x30").matrix;
  std::vector<double> weights;
  for (Ordinal y = 0; y + 1 < ny; ++y)
    for (Ordinal x = 0; x + 1 < nx; ++x)
      for (const Ordinal to : {1, nx}) {
        const double* coupling = findBlock(a, y * nx + x, y * nx + x + to);
        ASSERT_NE(coupling, nullptr);
        weights.push_back(-*coupling);
      }
  std::sort(weights.begin(), weights.end());
  EXPECT_GE(weights.front(), 1);
  EXPECT_EQ(std::unique(weights.begin(), weights.end()), weights.end());
  // (1 - t)^-0.6 with uniform t: the median at t = 1/2.
  EXPECT_NEAR(weights[weights.size() / 2], std::pow(0.5, -0.6), 0.05);
}

} // namespace
