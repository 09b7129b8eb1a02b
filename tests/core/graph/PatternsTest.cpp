// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Powers and fill of patterns.

#include "core/graph/GraphSupport.hpp"

#include <bitset>
#include <climits>

namespace {

using namespace ainvil;
using namespace ainvil::test;

/// Powers and fill of these stay sparse enough for the dense references.
const std::vector<Ordinal> few_long_rows = {1, 2, 1, 1, 31, 1, 2, 32, 1,   1, 33, 1, 1, 2,
                                            1, 1, 1, 1, 65, 1, 1, 1,  300, 1, 1,  2, 0};

/// S((I + T)^p), without its diagonal if asked: dense boolean rows.
Rows serialPower(const Rows& factor, int power, Diagonal diagonal) {
  const Ordinal n = static_cast<Ordinal>(factor.size());
  std::vector<std::bitset<640>> result(n), next(n);
  for (Ordinal i = 0; i < n; ++i)
    result[i].set(i);
  for (int p = 0; p < power; ++p) {
    for (Ordinal i = 0; i < n; ++i) {
      next[i] = result[i];
      for (const Ordinal j : factor[i])
        next[i] |= result[j];
    }
    result = next;
  }
  Rows rows(n);
  for (Ordinal i = 0; i < n; ++i)
    for (Ordinal j = 0; j < n; ++j)
      if (result[i][j] && (diagonal == Diagonal::Keep || j != i))
        rows[i].push_back(j);
  return rows;
}

void checkPowers(const Rows& rows, int highest, const std::string& what) {
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
    for (const Diagonal diagonal : {Diagonal::Keep, Diagonal::Drop})
      for (int power = 1; power <= highest; ++power) {
        SCOPED_TRACE(message(what, uplo == Uplo::Lower ? ", lower" : ", upper",
                             diagonal == Diagonal::Keep ? "" : " strict", ", power ", power));
        const Rows factor = serialTriangle(rows, uplo, diagonal);
        EXPECT_EQ(rowsOf(patternPower(Exec(), deviceGraph(factor), power)),
                  serialPower(factor, power, diagonal));
      }
}

TEST(PatternPower, EqualsTheDenseBooleanPower) {
  for (const Ordinal n : {0, 1, 2, 33, 120})
    for (const double density : {0.02, 0.1})
      checkPowers(randomRows(n, n, density, anyDiagonal(n)), 4, message(n, " rows, ", density));
  checkPowers(randomRows(50, 50, 0.5, anyDiagonal(3)), 4, "half full");
  for (const Ordinal n : {536, 615})
    checkPowers(randomRows(n, n, few_long_rows, anyDiagonal(n)), 2, message(n, " rows, some long"));
}

/// Powers of a long sparse band stay sparse, unlike those of random graphs.
TEST(PatternPower, WidensABandByItsWidth) {
  const Ordinal n = 615;
  Rows band(n), wide(n);
  for (Ordinal i = 0; i < n; ++i) {
    for (Ordinal j = std::max(0, i - 2); j <= i; ++j)
      band[i].push_back(j);
    for (Ordinal j = std::max(0, i - 8); j <= i; ++j)
      wide[i].push_back(j);
  }
  EXPECT_EQ(rowsOf(patternPower(Exec(), deviceGraph(band), 4)), wide);
}

TEST(PatternPower, EndsWhereNothingIsAdded) {
  const Rows rows = {{}, {0}, {1}, {0, 2}}, closed = {{}, {0}, {0, 1}, {0, 1, 2}};
  EXPECT_EQ(rowsOf(patternPower(Exec(), deviceGraph(rows), INT_MAX)), closed);
}

/// The triangle of a pattern whose rows come in any order, with the diagonal it may lack.
TEST(TriangularPattern, SortsWhatTheUserGives) {
  RandomOptions options = anyDiagonal(11);
  const Rows rows = randomRows(70, 70, 0.1, options);
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
    for (const Diagonal diagonal : {Diagonal::Keep, Diagonal::Drop}) {
      Rows shuffled = serialTriangle(rows, uplo, Diagonal::Drop);
      Random random(12);
      for (size_t i = 0; i < shuffled.size(); ++i) {
        if (i % 3 > 0)
          shuffled[i].push_back(static_cast<Ordinal>(i));
        random.shuffle(shuffled[i]);
      }
      EXPECT_EQ(rowsOf(triangularPattern(Exec(), "X", deviceGraph(shuffled), 70, uplo, diagonal)),
                serialTriangle(rows, uplo, diagonal));
    }
}

TEST(TriangularPattern, RefusesWhatDoesNotFit) {
  const auto sentenceOf = [](const Graph<Device>& given, Uplo uplo) -> std::string {
    try {
      triangularPattern(Exec(), "X", given, 3, uplo, Diagonal::Keep);
    } catch (const InvalidArgument& error) {
      return error.what();
    }
    return "no error";
  };
  const Rows lower = {{0}, {1, 0}, {2}}, upper = {{1, 0}, {1}, {2}};
  EXPECT_EQ(sentenceOf(deviceGraph(lower), Uplo::Lower), "no error");
  EXPECT_EQ(sentenceOf(deviceGraph(upper), Uplo::Upper), "no error");
  EXPECT_NE(sentenceOf(deviceGraph(lower), Uplo::Upper).find("1 entries below the diagonal"),
            std::string::npos);
  EXPECT_NE(sentenceOf(deviceGraph(upper), Uplo::Lower).find("1 entries above the diagonal"),
            std::string::npos);
  EXPECT_NE(sentenceOf(deviceGraph(lower, 4), Uplo::Lower).find("is 3 x 4"), std::string::npos);
  EXPECT_NE(sentenceOf(deviceGraph({{0}, {1, 0}}, 3), Uplo::Lower).find("is 2 x 3"),
            std::string::npos);
  EXPECT_NE(sentenceOf(deviceGraph({{0}, {0, 1}, {3}}, 3), Uplo::Lower).find("column"),
            std::string::npos);
}

TEST(PatternPower, RefusesPowersBelowOneAndRectangles) {
  const Rows rows = {{0}, {0, 1}};
  EXPECT_THROW(patternPower(Exec(), deviceGraph(rows), 0), InvalidArgument);
  EXPECT_THROW(patternPower(Exec(), deviceGraph(rows), -1), InvalidArgument);
  EXPECT_THROW(patternPower(Exec(), deviceGraph(rows, 3), 2), InvalidArgument);
}

/// The rule of the textbook (Saad, algorithm 10.5 and definition 10.5) on a dense matrix of levels:
/// row by row, lev(i, j) = min(lev(i, j), lev(i, h) + lev(h, j) + 1), then levels too high are
/// dropped.
Rows serialFill(const Rows& rows, int level) {
  const Ordinal n = static_cast<Ordinal>(rows.size());
  constexpr int dropped = 1 << 20;
  std::vector<std::vector<int>> lev(n, std::vector<int>(n, dropped));
  Rows kept(n);
  for (Ordinal i = 0; i < n; ++i) {
    lev[i][i] = 0;
    for (const Ordinal j : rows[i])
      lev[i][j] = 0;
    for (Ordinal h = 0; h < i; ++h)
      if (lev[i][h] <= level)
        for (Ordinal j = h + 1; j < n; ++j)
          lev[i][j] = std::min(lev[i][j], lev[i][h] + lev[h][j] + 1);
    for (Ordinal j = 0; j < n; ++j)
      if (lev[i][j] <= level)
        kept[i].push_back(j);
      else
        lev[i][j] = dropped;
  }
  return kept;
}

void checkFill(const Rows& rows, const std::string& what) {
  for (int level = 0; level <= 4; ++level)
    EXPECT_EQ(rowsOf(fillPattern(Exec(), deviceGraph(rows), level)), serialFill(rows, level))
        << what << ", level " << level;
}

TEST(FillPattern, EqualsTheTextbook) {
  for (const Ordinal n : {0, 1, 2, 33, 120})
    for (const double per_row : {1.5, 3.0, 6.0})
      for (const bool diagonal : {true, false}) {
        RandomOptions options = anyDiagonal(n + diagonal);
        options.diagonal = diagonal;
        checkFill(randomRows(n, n, std::min(1.0, per_row / std::max(n, 1)), options),
                  message(n, " rows, ", per_row, " a row", diagonal ? ", full diagonal" : ""));
      }
  for (const Ordinal n : {536, 615}) {
    const Rows rows = randomRows(n, n, few_long_rows, anyDiagonal(n));
    EXPECT_EQ(rowsOf(fillPattern(Exec(), deviceGraph(rows), 1)), serialFill(rows, 1)) << n;
  }
}

/// Fill that needs every level: a grid, where levels grow one by one along the band.
TEST(FillPattern, EqualsTheTextbookOnAGrid) {
  const Ordinal nx = 11, ny = 9;
  Rows grid(nx * ny);
  for (Ordinal i = 0; i < nx * ny; ++i) {
    const Ordinal x = i % nx, y = i / nx;
    if (y > 0)
      grid[i].push_back(i - nx);
    if (x > 0)
      grid[i].push_back(i - 1);
    grid[i].push_back(i);
    if (x + 1 < nx)
      grid[i].push_back(i + 1);
    if (y + 1 < ny)
      grid[i].push_back(i + nx);
  }
  checkFill(grid, "grid");
  // From some level on the pattern is that of the exact factors.
  EXPECT_EQ(rowsOf(fillPattern(Exec(), deviceGraph(grid), 15)), serialFill(grid, 1000));
}

/// A long row and column in the middle: all rows behind it touch each other.
TEST(FillPattern, EqualsTheTextbookBehindALongRow) {
  const Ordinal n = 2400, hub = 1100;
  Rows rows(n), filled(n);
  for (Ordinal i = 0; i < n; ++i) {
    for (Ordinal j = 0; j < n; ++j) {
      const bool given = i == j || i == hub || j == hub;
      if (given)
        rows[i].push_back(j);
      if (given || (i > hub && j > hub))
        filled[i].push_back(j);
    }
  }
  for (const int level : {1, 3})
    EXPECT_EQ(rowsOf(fillPattern(Exec(), deviceGraph(rows), level)), filled) << level;
}

/// Sparse graphs, which may have entries of a level and none of the level before.
TEST(FillPattern, EndsWhereNothingIsLeftToFill) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Rows rows = randomRows(40, 40, 1.5 / 40, anyDiagonal(seed));
    EXPECT_EQ(rowsOf(fillPattern(Exec(), deviceGraph(rows), INT_MAX)), serialFill(rows, 1000))
        << seed;
  }
}

TEST(FillPattern, RefusesNegativeLevelsAndRectangles) {
  const Rows rows = {{0}, {0, 1}};
  EXPECT_THROW(fillPattern(Exec(), deviceGraph(rows), -1), InvalidArgument);
  EXPECT_THROW(fillPattern(Exec(), deviceGraph(rows, 3), 1), InvalidArgument);
}

} // namespace
