// SPDX-License-Identifier: BSD-3-Clause
#include "core/gallery/GallerySupport.hpp"

#include <array>
#include <set>

namespace {

using namespace ainvil;
using namespace ainvil::test;

using Block4 = std::array<std::array<double, 4>, 4>;

Block4 block4(const double* values) {
  Block4 block;
  for (int k = 0; k < 16; ++k)
    block[k / 4][k % 4] = values[k];
  return block;
}

// Blocks (i, j) and (j, i) are A- and -A+ of one face, so that their difference is the flux
// Jacobian, whose first row is (0, n_x, n_y, 0) and last column 0.4 (0, n_x, n_y, q) + (0, 0, 0,
// q), and their product vanishes.
TEST(Gallery, EulerSplitsTheFluxJacobianOfEachFace) {
  const Matrix a = makeProblem("euler:200").matrix;
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
      const Ordinal j = a.graph.entries(e);
      if (j == i)
        continue;
      const Block4 against = block4(&a.values(16 * e)), along = block4(findBlock(a, j, i));
      const auto flux = [&](int r, int c) { return against[r][c] - along[r][c]; };
      const double nx = flux(0, 1), ny = flux(0, 2), q = flux(3, 3) / 1.4;
      EXPECT_NEAR(flux(0, 0), 0, 1e-14);
      EXPECT_NEAR(flux(0, 3), 0, 1e-14);
      EXPECT_NEAR(flux(1, 3), 0.4 * nx, 1e-14);
      EXPECT_NEAR(flux(2, 3), 0.4 * ny, 1e-14);
      EXPECT_NEAR(flux(0, 0) + flux(1, 1) + flux(2, 2) + flux(3, 3), 4 * q, 1e-14);
      EXPECT_LE(std::abs(q), 0.5 * std::hypot(nx, ny) + 1e-14); // Mach 1/2
      for (int r = 0; r < 4; ++r)
        for (int c = 0; c < 4; ++c) {
          double product = 0;
          for (int k = 0; k < 4; ++k)
            product += against[r][k] * along[k][c];
          EXPECT_NEAR(product, 0, 1e-13);
        }
    }
}

// What leaves one control volume enters the others: a column of blocks sums to area / dt * I, but
// on the boundary. The areas of the 14 x 14 nodes' control volumes add up to 13 x 13 meshes,
// nearly.
TEST(Gallery, EulerConservesAwayFromTheBoundary) {
  const Matrix a = makeProblem("euler:196").matrix;
  std::vector<Block4> sums(196, Block4{});
  for (Offset e = 0; e < a.numEntries(); ++e)
    for (int k = 0; k < 16; ++k)
      sums[a.graph.entries(e)][k / 4][k % 4] += a.values(16 * e + k);
  int conserved = 0;
  double area = 0;
  for (const Block4& sum : sums) {
    double defect = 0;
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 4; ++c)
        defect = std::max(defect, std::abs(sum[r][c] - (r == c ? sum[0][0] : 0)));
    if (defect < 1e-13) {
      ++conserved;
      area += 100 * sum[0][0];
      EXPECT_NEAR(100 * sum[0][0], 1, 0.5);
    }
  }
  EXPECT_EQ(conserved, 12 * 12);
  EXPECT_NEAR(area, 12 * 12, 6);
}

TEST(Gallery, EulerIsUnstructured) {
  const Matrix a = makeProblem("euler:200").matrix;
  std::set<Offset> lengths;
  for (Ordinal i = 0; i < a.numRows(); ++i)
    lengths.insert(a.graph.row_map(i + 1) - a.graph.row_map(i));
  EXPECT_LE(*lengths.rbegin(), 9);
  EXPECT_GE(lengths.size(), 5u);
}

} // namespace
