// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace ainvil;
using Matrix = BsrMatrix<double, HostDevice>;
using Vec = std::vector<double>;

/// A 3 x 3 block, row by row.
using Block3 = std::array<double, 9>;

/// Block (i, j), or nullptr where none is stored.
const double* findBlock(const Matrix& a, Ordinal i, Ordinal j) {
  const Ordinal* columns = a.graph.entries.data();
  const Ordinal* end = columns + a.graph.row_map(i + 1);
  const Ordinal* entry = std::lower_bound(columns + a.graph.row_map(i), end, j);
  if (entry == end || *entry != j)
    return nullptr;
  return a.values.data() + (entry - columns) * a.block_size * a.block_size;
}

/// Value of a matrix of block size 1, 0 where none is stored.
double value(const Matrix& a, Ordinal i, Ordinal j) {
  const double* block = findBlock(a, i, j);
  return block ? *block : 0;
}

Vec multiply(const Matrix& a, const Vec& x) {
  const int bs = a.block_size;
  Vec y(x.size());
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < bs; ++c)
          y[i * bs + r] += a.values((e * bs + r) * bs + c) * x[a.graph.entries(e) * bs + c];
  return y;
}

/// x^T A x.
double energy(const Matrix& a, const Vec& x) {
  const Vec y = multiply(a, x);
  double sum = 0;
  for (size_t i = 0; i < x.size(); ++i)
    sum += x[i] * y[i];
  return sum;
}

/// All values, row by row.
Vec dense(const Matrix& a) {
  const size_t n = a.numPointRows();
  const int bs = a.block_size;
  Vec full(n * n);
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Ordinal j = 0; j < a.numRows(); ++j)
      if (const double* block = findBlock(a, i, j))
        for (int r = 0; r < bs; ++r)
          std::copy_n(block + r * bs, bs, &full[(i * bs + r) * n + j * bs]);
  return full;
}

/// True if Cholesky's method finds only positive pivots.
bool isPositiveDefinite(Vec a) {
  const size_t n = static_cast<size_t>(std::sqrt(double(a.size())) + 0.5);
  for (size_t k = 0; k < n; ++k) {
    if (!(a[k * n + k] > 0))
      return false;
    for (size_t i = k + 1; i < n; ++i) {
      const double l = a[i * n + k] / a[k * n + k];
      for (size_t j = k + 1; j < n; ++j)
        a[i * n + j] -= l * a[k * n + j];
    }
  }
  return true;
}

/// Every problem, at sizes that have interior points and at the smallest ones.
const char* const small_problems[] = {
    "cavity:3",     "cavity:7",         "convdiff:1",     "convdiff:2",  "convdiff:7x5x4",
    "laplace7:1",   "laplace7:2",       "laplace7:5x1x3", "laplace27:1", "laplace27:2x3x4",
    "poisson5:1",   "poisson5:2",       "poisson5:6x5",   "jump:1",      "jump:2",
    "jump:8x5x4",   "network:1",        "network:2",      "network:7x5", "elasticity:1x2x2",
    "elasticity:2", "elasticity:4x3x3", "shell:2",        "shell:6x5",   "euler:3",
    "euler:4",      "euler:5",          "euler:7",        "euler:10",    "euler:200"};

TEST(Gallery, HasTheQuotedSizes) {
  struct Case {
    const char* spec;
    int block_size;
    Offset rows, blocks;
  };
  const Case cases[] = {
      {"cavity:300", 3, 90000, 448800},
      {"convdiff:148x148x58", 1, 1270432, 8814880},
      {"laplace27:64", 1, 262144, 6859000},
      {"laplace7:20x10x5", 1, 1000, 7000 - 2 * (200 + 100 + 50)},
      {"jump:20x10x5", 1, 1000, 7000 - 2 * (200 + 100 + 50)},
      {"poisson5:30x20", 1, 600, 3000 - 2 * (30 + 20)},
      {"elasticity:10x9x8", 3, 720, 28 * 25 * 22},
      {"shell:253x399", 5, 253 * 399, 7 * 253 * 399 - 2 * (253 + 399 + 253 + 399 - 1)},
  };
  for (const Case& c : cases) {
    const Problem p = makeProblem(c.spec);
    EXPECT_EQ(p.name, c.spec);
    EXPECT_EQ(p.matrix.block_size, c.block_size) << c.spec;
    EXPECT_EQ(p.matrix.numRows(), c.rows) << c.spec;
    EXPECT_EQ(p.matrix.numEntries(), c.blocks) << c.spec;
  }
  const Problem euler = makeProblem("euler:15606");
  EXPECT_EQ(euler.matrix.block_size, 4);
  EXPECT_EQ(euler.matrix.numRows(), 15606);
  EXPECT_NEAR(double(euler.matrix.numEntries()), 107000, 1500);
}

TEST(Gallery, RowsAscendAndHoldTheirDiagonal) {
  for (const char* spec : small_problems) {
    const Matrix a = makeProblem(spec).matrix;
    EXPECT_EQ(a.numRows(), a.numCols()) << spec;
    EXPECT_EQ(a.graph.row_map(a.numRows()), a.numEntries()) << spec;
    for (Ordinal i = 0; i < a.numRows(); ++i) {
      EXPECT_NE(findBlock(a, i, i), nullptr) << spec << " row " << i;
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
        EXPECT_GE(a.graph.entries(e), 0) << spec;
        EXPECT_LT(a.graph.entries(e), a.numRows()) << spec;
        if (e > a.graph.row_map(i)) {
          EXPECT_LT(a.graph.entries(e - 1), a.graph.entries(e)) << spec << " row " << i;
        }
      }
    }
    for (Offset k = 0; k < a.numScalars(); ++k)
      ASSERT_TRUE(std::isfinite(a.values(k))) << spec;
  }
}

TEST(Gallery, PatternsAreStructurallySymmetric) {
  for (const char* spec : small_problems) {
    const Matrix a = makeProblem(spec).matrix;
    for (Ordinal i = 0; i < a.numRows(); ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        EXPECT_NE(findBlock(a, a.graph.entries(e), i), nullptr) << spec;
  }
}

TEST(Gallery, SpdMeansSymmetricPositiveDefinite) {
  const std::set<std::string> spd_names{"laplace7",   "laplace27", "poisson5", "jump",
                                        "elasticity", "shell",     "network"};
  for (const char* spec : small_problems) {
    const Problem p = makeProblem(spec);
    const std::string name = p.name.substr(0, p.name.find(':'));
    EXPECT_EQ(p.spd, spd_names.count(name) == 1) << spec;
    if (!p.spd)
      continue;
    const Vec a = dense(p.matrix);
    const size_t n = p.matrix.numPointRows();
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < i; ++j)
        EXPECT_NEAR(a[i * n + j], a[j * n + i], 1e-14 * a[i * n + i]) << spec;
    EXPECT_TRUE(isPositiveDefinite(a)) << spec;
  }
}

TEST(Gallery, IsDeterministic) {
  for (const char* spec : small_problems) {
    const Matrix a = makeProblem(spec).matrix, b = makeProblem(spec).matrix;
    ASSERT_EQ(a.numEntries(), b.numEntries()) << spec;
    EXPECT_TRUE(std::equal(a.graph.entries.data(), a.graph.entries.data() + a.numEntries(),
                           b.graph.entries.data()))
        << spec;
    EXPECT_TRUE(std::equal(a.values.data(), a.values.data() + a.numScalars(), b.values.data()))
        << spec;
  }
}

TEST(Gallery, OneSizeMeansEveryDirection) {
  EXPECT_EQ(makeProblem("laplace7:4").matrix.numRows(), 64);
  EXPECT_EQ(makeProblem("poisson5:4").matrix.numRows(), 16);
  EXPECT_EQ(makeProblem("shell:4").matrix.numRows(), 16);
  EXPECT_EQ(makeProblem("euler:4").matrix.numRows(), 4);
}

// Cavity on 5 x 5 points: dh = 4, h / 2 = 1/8. Blocks are rows (u, v, w) by columns (u, v, w).
TEST(Gallery, CavityHasTheStencilOfTheInterior) {
  const Matrix a = makeProblem("cavity:5").matrix;
  const Ordinal i = 2 * 5 + 2;
  const struct {
    Ordinal column;
    Block3 block;
  } expected[] = {
      {i, {4, 0, 0, 0, 4, 0, 0, 0, 4}},
      {i + 1, {-1, 0, 0, 0, -1, 0.125, 0, 0, -1}},  // east
      {i - 1, {-1, 0, 0, 0, -1, -0.125, 0, 0, -1}}, // west
      {i + 5, {-1, 0, -0.125, 0, -1, 0, 0, 0, -1}}, // north
      {i - 5, {-1, 0, 0.125, 0, -1, 0, 0, 0, -1}},  // south
  };
  EXPECT_EQ(a.graph.row_map(i + 1) - a.graph.row_map(i), 5);
  for (const auto& [column, block] : expected) {
    const double* stored = findBlock(a, i, column);
    ASSERT_NE(stored, nullptr) << column;
    for (int k = 0; k < 9; ++k)
      EXPECT_DOUBLE_EQ(stored[k], block[k]) << "column " << column << " value " << k;
  }
}

TEST(Gallery, CavityHasTheVorticityOfTheWallOnEveryBoundary) {
  const Matrix a = makeProblem("cavity:5").matrix;
  // w + diagonal[velocity] * velocity + inner[velocity] * velocity of the inner neighbour
  struct Wall {
    Ordinal x, y, inner;
    int velocity; // 0: u, 1: v
    double diagonal;
  };
  const Wall walls[] = {
      {2, 0, 2 + 5 * 1, 0, -4}, {3, 0, 3 + 5 * 1, 0, -4}, // bottom: w + (u_N - u) dh
      {1, 4, 1 + 5 * 3, 0, 4},  {2, 4, 2 + 5 * 3, 0, 4},  // top: w + (u - u_S) dh
      {0, 2, 1 + 5 * 2, 1, 4},                            // left: w - (v_E - v) dh
      {4, 2, 3 + 5 * 2, 1, -4},                           // right: w - (v - v_W) dh
      {0, 0, 1 + 5 * 0, 1, 4},  {0, 4, 1 + 5 * 4, 1, 4},  // the corners belong to left and right
      {4, 0, 3 + 5 * 0, 1, -4}, {4, 4, 3 + 5 * 4, 1, -4},
  };
  for (const Wall& wall : walls) {
    const Ordinal row = wall.x + 5 * wall.y;
    int neighbours = 0;
    for (Ordinal column = 0; column < 25; ++column) {
      const int distance = std::abs(column % 5 - wall.x) + std::abs(column / 5 - wall.y);
      const double* stored = findBlock(a, row, column);
      ASSERT_EQ(stored != nullptr, distance <= 1) << "row " << row << " column " << column;
      if (!stored)
        continue;
      ++neighbours;
      Block3 expected{};
      if (column == row) {
        expected = {1, 0, 0, 0, 1, 0, 0, 0, 1};
        expected[6 + wall.velocity] = wall.diagonal;
      } else if (column == wall.inner) {
        expected[6 + wall.velocity] = -wall.diagonal;
      }
      for (int k = 0; k < 9; ++k)
        EXPECT_DOUBLE_EQ(stored[k], expected[k])
            << "row " << row << " column " << column << " value " << k;
    }
    EXPECT_EQ(neighbours, (wall.x % 4 == 0 && wall.y % 4 == 0) ? 3 : 4); // zeros are stored
  }
}

TEST(Gallery, CavityLidMovesBetweenTheCorners) {
  const Problem p = makeProblem("cavity:5");
  ASSERT_EQ(p.rhs.extent(0), 75u);
  for (Ordinal k = 0; k < 75; ++k)
    EXPECT_EQ(p.rhs(k), k == 3 * 21 || k == 3 * 22 || k == 3 * 23 ? 1 : 0) << k;
}

TEST(Gallery, OnlyTheCavityBringsARightHandSide) {
  for (const char* spec : small_problems) {
    const Problem p = makeProblem(spec);
    const bool cavity = p.name.rfind("cavity", 0) == 0;
    EXPECT_EQ(Offset(p.rhs.extent(0)), cavity ? p.matrix.numPointRows() : 0) << spec;
  }
}

TEST(Gallery, LaplaciansHaveConstantStencils) {
  const struct {
    const char* spec;
    double diagonal;
  } cases[] = {{"poisson5:4x3", 4}, {"laplace7:4x3x2", 6}, {"laplace27:4x3x2", 26}};
  for (const auto& [spec, diagonal] : cases) {
    const Matrix a = makeProblem(spec).matrix;
    for (Ordinal i = 0; i < a.numRows(); ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        EXPECT_EQ(a.values(e), a.graph.entries(e) == i ? diagonal : -1) << spec;
  }
  const Matrix a = makeProblem("laplace7:4x3x2").matrix; // x fastest, then y
  const Ordinal expected[] = {1, 4, 5, 6, 9, 17};
  ASSERT_EQ(a.graph.row_map(6) - a.graph.row_map(5), 6);
  EXPECT_TRUE(std::equal(expected, expected + 6, &a.graph.entries(a.graph.row_map(5))));
}

TEST(Gallery, ConvectionDiffusionIsANonsymmetricMMatrix) {
  const Matrix a = makeProblem("convdiff:9x8x7").matrix;
  double asymmetry = 0;
  for (Ordinal i = 0; i < a.numRows(); ++i) {
    const Ordinal x = i % 9, y = i / 9 % 8, z = i / 72;
    const bool interior = x > 0 && x < 8 && y > 0 && y < 7 && z > 0 && z < 6;
    double sum = 0;
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
      const Ordinal j = a.graph.entries(e);
      sum += a.values(e);
      if (j != i) {
        EXPECT_LE(a.values(e), -1);
      }
      asymmetry = std::max(asymmetry, std::abs(a.values(e) - value(a, j, i)));
    }
    if (interior)
      EXPECT_NEAR(sum, 0, 1e-12);
    else
      EXPECT_GE(sum, 1 - 1e-12); // of the value on the boundary
  }
  EXPECT_GT(asymmetry, 1);

  // Middle of 9 x 9 x 9: x = y = 0, the wind rises at 1/2; h = 2 / 10, peclet 100.
  const Matrix b = makeProblem("convdiff:9").matrix;
  const Ordinal middle = 4 + 9 * (4 + 9 * 4);
  EXPECT_NEAR(value(b, middle, middle), 16, 1e-12);
  EXPECT_NEAR(value(b, middle, middle - 81), -11, 1e-12);
  EXPECT_NEAR(value(b, middle, middle + 81), -1, 1e-12);
  EXPECT_NEAR(value(b, middle, middle + 1), -1, 1e-12);
  // One step towards y > 0, y = 0.2: the wind blows to x > 0 at 2 y = 0.4.
  const Ordinal above = middle + 9;
  EXPECT_NEAR(value(b, above, above - 1), -1 - 20 * 0.4, 1e-12);
  EXPECT_NEAR(value(b, above, above + 1), -1, 1e-12);
}

TEST(Gallery, JumpTakesHarmonicMeans) {
  const Matrix a = makeProblem("jump:8").matrix; // subcubes of 2 x 2 x 2 cells
  const double mean = 2e4 / (1e4 + 1);
  EXPECT_DOUBLE_EQ(value(a, 0, 1), -1);
  EXPECT_DOUBLE_EQ(value(a, 1, 2), -mean);
  EXPECT_DOUBLE_EQ(value(a, 2, 3), -1e4);
  EXPECT_DOUBLE_EQ(value(a, 0, 0), 3 * 2 + 3 * 1);             // three faces on the boundary
  EXPECT_DOUBLE_EQ(value(a, 73, 73), 3 * 1 + 3 * mean);        // last cell of the first subcube
  EXPECT_DOUBLE_EQ(value(a, 74, 74), 3e4 + mean + 2 * mean);   // its neighbour
  EXPECT_DOUBLE_EQ(value(a, 511, 511), 3 * 2 * 1e4 + 3 * 1e4); // the opposite corner
}

TEST(Gallery, ElasticityIgnoresRigidMotionsAwayFromTheClamp) {
  const Ordinal nx = 5, ny = 4, nz = 3;
  const Matrix a = makeProblem("elasticity:5x4x3").matrix;
  for (int motion = 0; motion < 6; ++motion) {
    Vec u(a.numPointRows());
    for (Ordinal i = 0; i < a.numRows(); ++i) {
      const double p[3] = {double(i % nx), double(i / nx % ny), double(i / nx / ny)};
      if (motion < 3) {
        u[3 * i + motion] = 1;
      } else { // a small rotation in the plane of two axes
        const int first = motion - 3, second = (motion - 2) % 3;
        u[3 * i + first] = -p[second];
        u[3 * i + second] = p[first];
      }
    }
    const Vec force = multiply(a, u);
    double clamped = 0;
    for (Ordinal i = 0; i < nx * ny * nz; ++i)
      for (int c = 0; c < 3; ++c)
        if (i % nx > 0)
          EXPECT_NEAR(force[3 * i + c], 0, 1e-14) << "motion " << motion << " node " << i;
        else
          clamped = std::max(clamped, std::abs(force[3 * i + c]));
    EXPECT_GT(clamped, 0.01) << "motion " << motion;
  }
}

TEST(Gallery, ElasticityStoresTheEnergyOfUniformStrains) {
  const Matrix a = makeProblem("elasticity:5x4x3").matrix;
  const double young = 1, poisson = 0.3, volume = 5 * 3 * 2;
  const double mu = young / (2 * (1 + poisson));
  const double lambda = young * poisson / ((1 + poisson) * (1 - 2 * poisson));
  for (int c = 0; c < 3; ++c) { // u_c = distance to the clamp: a tension, two shears
    Vec u(a.numPointRows());
    for (Ordinal i = 0; i < a.numRows(); ++i)
      u[3 * i + c] = i % 5 + 1;
    EXPECT_NEAR(energy(a, u), (c == 0 ? lambda + 2 * mu : mu) * volume, 1e-12);
  }
}

TEST(Gallery, ShellStoresTheEnergyOfUniformMotions) {
  const Matrix a = makeProblem("shell:6x5").matrix;
  const double area = 5 * 4, kx = 0.05, ky = 0.02, kxy = 0.01, nu = 0.3, inertia = 0.07;
  const double membrane = 1 / (1 - nu * nu), shear = 5.0 / 6 / (2 * (1 + nu));
  const double expected[5] = {
      shear * (kx * kx + kxy * kxy) + inertia, shear * (ky * ky + kxy * kxy) + inertia,
      membrane * (kx * kx + ky * ky + 2 * nu * kx * ky + (1 - nu) / 2 * 4 * kxy * kxy) + inertia,
      shear + inertia / 12, shear + inertia / 12};
  for (int c = 0; c < 5; ++c) {
    Vec u(a.numPointRows());
    for (Ordinal i = 0; i < a.numRows(); ++i)
      u[5 * i + c] = 1;
    EXPECT_NEAR(energy(a, u), expected[c] * area, 1e-12) << c;
  }
}

TEST(Gallery, ShellIsNotDiagonallyDominant) {
  const Matrix a = makeProblem("shell:6x5").matrix;
  const Vec full = dense(a);
  const size_t n = a.numPointRows();
  for (size_t i = 0; i < n; ++i) {
    double sum = 0;
    for (size_t j = 0; j < n; ++j)
      sum += std::abs(full[i * n + j]);
    EXPECT_GT(sum, 2 * full[i * n + i]) << i;
  }
}

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

TEST(Gallery, ListsProblemsThatExist) {
  EXPECT_EQ(gallery().size(), 12u);
  for (const GalleryEntry& entry : gallery()) {
    const std::string name = entry.syntax.substr(0, entry.syntax.find(':'));
    EXPECT_NO_THROW(makeProblem(name + ":5")) << entry.syntax;
    EXPECT_FALSE(entry.description.empty());
    EXPECT_EQ(entry.description.find('\n'), std::string::npos);
  }
}

TEST(Gallery, RefusesBadSpecificationsWithAdvice) {
  const struct {
    const char* spec;
    const char* advice;
  } cases[] = {
      {"cavity", "cavity:N"},
      {"cavity:", "cavity:N"},
      {"cavity:0", "at least 3"},
      {"cavity:2", "at least 3"},
      {"cavity:-3", "at least 3"},
      {"cavity:2x", "cavity:N"},
      {"cavity:3x3", "cavity:N"},
      {"cavity: 3", "cavity:N"},
      {"cavity:3 ", "cavity:N"},
      {"cavity:+3", "cavity:N"},
      {"cavity:3.0", "cavity:N"},
      {"cavity:46341", "2147483647"},
      {"cavity:9999999", "2147483647"},
      {"cavity:99999999999999999999999", "2147483647"},
      {"laplace7:3x3", "laplace7:NXxNYxNZ"},
      {"laplace7:3x3x3x3", "laplace7:NXxNYxNZ"},
      {"laplace7:3xx3", "laplace7:NXxNYxNZ"},
      {"laplace7:3x0x3", "at least 1"},
      {"laplace7:2000x2000x2000", "2147483647"},
      {"poisson5:3x3x3", "poisson5:NXxNY"},
      {"elasticity:3x1x3", "at least 2"},
      {"shell:1", "at least 2"},
      {"euler:2", "at least 3"},
      {"euler:4x4", "euler:N"},
      {"nosuch:4", "laplace27:NXxNYxNZ"},
      {"Cavity:4", "cavity:N"},
      {":4", "cavity:N"},
      {"", "euler:N"},
  };
  for (const auto& [spec, advice] : cases) {
    try {
      makeProblem(spec);
      ADD_FAILURE() << spec << " was accepted";
    } catch (const InvalidArgument& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find(advice), std::string::npos) << text;
      EXPECT_NE(text.find('"' + std::string(spec) + '"'), std::string::npos) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  }
}

} // namespace
