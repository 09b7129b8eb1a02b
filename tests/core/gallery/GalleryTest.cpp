// SPDX-License-Identifier: BSD-3-Clause
#include "core/gallery/GallerySupport.hpp"

#include <array>
#include <set>

namespace {

using namespace ainvil;
using namespace ainvil::test;

/// A 3 x 3 block, row by row.
using Block3 = std::array<double, 9>;

/// Value of a matrix of block size 1, 0 where none is stored.
double value(const Matrix& a, Ordinal i, Ordinal j) {
  const double* block = findBlock(a, i, j);
  return block ? *block : 0;
}

/// True if Cholesky's method finds only positive pivots.
bool isPositiveDefinite(std::vector<double> a) {
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
    "cavity:3",    "cavity:7",         "convdiff:1",     "convdiff:2",       "convdiff:7x5x4",
    "laplace7:1",  "laplace7:2",       "laplace7:5x1x3", "laplace27:1",      "laplace27:2x3x4",
    "poisson5:1",  "poisson5:2",       "poisson5:6x5",   "jump:1",           "jump:2",
    "jump:8x5x4",  "jump27:1",         "jump27:4x3x2",   "network:1",        "network:2",
    "network:7x5", "elasticity:1x2x2", "elasticity:2",   "elasticity:4x3x3", "shell:2",
    "shell:6x5",   "euler:3",          "euler:4",        "euler:5",          "euler:7",
    "euler:10",    "euler:200"};

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
      {"jump27:10x9x8", 1, 720, 28 * 25 * 22},
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
  const std::set<std::string> spd_names{"laplace7", "laplace27",  "poisson5", "jump",
                                        "jump27",   "elasticity", "shell",    "network"};
  for (const char* spec : small_problems) {
    const Problem p = makeProblem(spec);
    const std::string name = p.name.substr(0, p.name.find(':'));
    EXPECT_EQ(p.spd, spd_names.count(name) == 1) << spec;
    if (!p.spd)
      continue;
    const std::vector<double> a = toDense(p.matrix);
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

/// The mesh size is that of the longest direction: h = 2 / 6 along each of them.
TEST(Gallery, ConvdiffHasTheMeshOfItsLongestDirection) {
  for (const auto& [spec, layer] :
       {std::pair("convdiff:5x2x2", 10), std::pair("convdiff:2x5x2", 10),
        std::pair("convdiff:2x2x5", 4)})
    EXPECT_NEAR(value(makeProblem(spec).matrix, layer, 0), -1 - 100 * 0.5 * 2 / 6, 1e-12) << spec;
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

TEST(Gallery, Jump27ReachesAcrossEdgesAndCorners) {
  const Matrix a = makeProblem("jump27:8").matrix;
  const double mean = 2e4 / (1e4 + 1);
  EXPECT_DOUBLE_EQ(value(a, 0, 73), -1);      // a corner within a subcube
  EXPECT_DOUBLE_EQ(value(a, 73, 146), -mean); // across three colours
  EXPECT_DOUBLE_EQ(value(a, 73, 82), -1);     // across two
  EXPECT_DOUBLE_EQ(value(a, 0, 0), 19 * 2 + 7 * 1);
  EXPECT_DOUBLE_EQ(value(a, 511, 511), 19 * 2 * 1e4 + 7 * 1e4);
}

TEST(Gallery, ListsProblemsThatExist) {
  EXPECT_EQ(gallery().size(), 13u);
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
