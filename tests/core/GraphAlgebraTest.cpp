// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_GraphAlgebra.hpp"
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"

#include <bitset>
#include <climits>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

const std::vector<Ordinal> long_rows = {1, 31, 32, 33, 65, 300, 0};
/// Powers and fill of these stay sparse enough for the dense references.
const std::vector<Ordinal> few_long_rows = {1, 2, 1, 1, 31, 1, 2, 32, 1,   1, 33, 1, 1, 2,
                                            1, 1, 1, 1, 65, 1, 1, 1,  300, 1, 1,  2, 0};

Graph<Device> deviceGraph(const Rows& rows) {
  return copyTo<Device>(makeGraph(rows));
}
Graph<Device> deviceGraph(const Rows& rows, Ordinal num_cols) {
  return copyTo<Device>(makeGraph(rows, num_cols));
}
/// From raw arrays, right or wrong.
Graph<Device> deviceGraph(const std::vector<Offset>& row_map, const std::vector<Ordinal>& entries,
                          Ordinal num_cols) {
  return {static_cast<Ordinal>(row_map.size()) - 1, num_cols, toDevice(row_map), toDevice(entries)};
}

RandomOptions anyDiagonal(std::uint64_t seed) {
  RandomOptions options;
  options.diagonal = false;
  options.seed = seed;
  return options;
}

Rows serialTriangle(const Rows& rows, Uplo uplo, Diagonal diagonal) {
  const Ordinal n = static_cast<Ordinal>(rows.size());
  Rows result(n);
  for (Ordinal i = 0; i < n; ++i) {
    for (const Ordinal j : rows[i])
      if (uplo == Uplo::Lower ? j < i : j > i)
        result[i].push_back(j);
    if (diagonal == Diagonal::Keep)
      result[i].push_back(i);
    std::sort(result[i].begin(), result[i].end());
  }
  return result;
}

// ------------------------------------------------------------------------------------ powers, fill

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

// ------------------------------------------------------------------------------ triangle,
// diagonals

TEST(Triangle, EqualsTheReference) {
  for (const Ordinal n : {0, 1, 33, 536, 615})
    for (const bool with_diagonal : {true, false}) {
      RandomOptions options = anyDiagonal(n);
      options.diagonal = with_diagonal;
      const Rows rows = randomRows(n, n, long_rows, options);
      for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
        for (const Diagonal diagonal : {Diagonal::Keep, Diagonal::Drop})
          EXPECT_EQ(rowsOf(triangle(Exec(), deviceGraph(rows), uplo, diagonal)),
                    serialTriangle(rows, uplo, diagonal))
              << n << " rows, " << (uplo == Uplo::Lower ? "lower" : "upper");
    }
  EXPECT_THROW(triangle(Exec(), deviceGraph({{0}}, 2), Uplo::Lower, Diagonal::Keep),
               InvalidArgument);
}

TEST(CountMissingDiagonals, FindsTheFirst) {
  const auto count = [](const Rows& rows) {
    Ordinal first = -2;
    const Ordinal missing = countMissingDiagonals(Exec(), deviceGraph(rows), first);
    return std::make_pair(missing, first);
  };
  using Found = std::pair<Ordinal, Ordinal>;
  EXPECT_EQ(count({}), Found(0, -1));
  EXPECT_EQ(count({{0}}), Found(0, -1));
  EXPECT_EQ(count({{}}), Found(1, 0));
  EXPECT_EQ(count({{1}, {0, 2}, {1, 2}}), Found(2, 0));
  for (const Ordinal n : {33, 536, 615}) {
    Rows rows = randomRows(n, n, 0.05);
    EXPECT_EQ(count(rows), Found(0, -1));
    for (const Ordinal i : {n - 1, n / 2, 7}) {
      rows[i].erase(std::find(rows[i].begin(), rows[i].end(), i));
      EXPECT_EQ(count(rows).second, i);
    }
    EXPECT_EQ(count(rows).first, 3);
  }
  Ordinal first = 0;
  EXPECT_THROW(countMissingDiagonals(Exec(), deviceGraph({{0}}, 2), first), InvalidArgument);
}

// -------------------------------------------------------------------------------- transpose,
// sorting

void checkTranspose(const Rows& rows, Ordinal num_cols, const std::string& what) {
  SCOPED_TRACE(what);
  Rows expected(num_cols);
  for (size_t i = 0; i < rows.size(); ++i)
    for (const Ordinal j : rows[i])
      expected[j].push_back(static_cast<Ordinal>(i));

  const Graph<Device> graph = deviceGraph(rows, num_cols);
  const PermutedGraph<Device> once = transpose(Exec(), graph);
  EXPECT_EQ(once.graph.num_rows, num_cols);
  EXPECT_EQ(once.graph.num_cols, graph.num_rows);
  EXPECT_EQ(rowsOf(once.graph), expected);

  // Entry (j, i) of the result comes from entry (i, j).
  const auto row_map = toHost(graph.row_map);
  const auto entries = toHost(graph.entries);
  const auto source = toHost(once.source);
  ASSERT_EQ(source.size(), entries.size());
  size_t e = 0;
  bool right = true;
  for (Ordinal j = 0; j < num_cols; ++j)
    for (const Ordinal i : expected[j]) {
      const Offset from = source[e++];
      right = right && from >= row_map[i] && from < row_map[i + 1] && entries[from] == j;
    }
  EXPECT_TRUE(right) << "a source points at another entry";

  const PermutedGraph<Device> twice = transpose(Exec(), once.graph);
  EXPECT_EQ(rowsOf(twice.graph), rows);
  const auto back = toHost(twice.source);
  for (size_t k = 0; right && k < back.size(); ++k)
    ASSERT_EQ(source[back[k]], static_cast<Offset>(k)) << "the sources do not invert each other";
}

TEST(Transpose, EqualsTheReferenceAndInvertsItself) {
  checkTranspose({}, 0, "0 x 0");
  checkTranspose({}, 5, "0 x 5");
  checkTranspose(Rows(5), 0, "5 x 0");
  checkTranspose({{0}}, 1, "1 x 1");
  checkTranspose(randomRows(23, 71, 0.1, anyDiagonal(1)), 71, "23 x 71");
  checkTranspose(randomRows(71, 23, 0.1, anyDiagonal(2)), 23, "71 x 23");
  for (const Ordinal n : {536, 615})
    checkTranspose(randomRows(n, n, long_rows, anyDiagonal(n)), n, message(n, " rows"));
  // One full column: a row of the result that every row of the graph adds to.
  Rows column(615);
  for (Ordinal i = 0; i < 615; ++i)
    column[i] = i % 3 == 0 ? std::vector<Ordinal>{7, i + 8} : std::vector<Ordinal>{7};
  checkTranspose(column, 630, "a full column");
}

/// Rows of the result on either side of all sizes at which the sort changes its way, in an order
/// that does not come sorted out of the fill: the graph's own rows are long, so threads interleave.
TEST(Transpose, SortsRowsOfAllLengths) {
  const std::vector<Ordinal> lengths = {0,  1,  7,   8,   9,   15,  16,  17,  31,  32,  33,  63,
                                        64, 65, 127, 128, 129, 255, 256, 257, 300, 511, 513, 2000};
  const Ordinal n = 2100;
  for (const Ordinal repeated : {1, 40}) { // few long rows make the mean short, many make it long
    Rows columns;
    for (const Ordinal length : lengths)
      for (Ordinal k = 0; k < repeated; ++k)
        columns.push_back(
            randomRows(1, n, std::vector<Ordinal>{length}, anyDiagonal(length + 7 * k))[0]);
    const Ordinal num_cols = static_cast<Ordinal>(columns.size());
    Rows rows(n);
    for (Ordinal j = 0; j < num_cols; ++j)
      for (const Ordinal i : columns[j])
        rows[i].push_back(j);
    checkTranspose(rows, num_cols, message(repeated, " of each length"));
  }
}

TEST(Transpose, IntoGivenArraysIsTheSameAndAllocatesNothing) {
  const Graph<Device> graph = deviceGraph(randomRows(301, 200, long_rows, anyDiagonal(9)), 200);
  const PermutedGraph<Device> expected = transpose(Exec(), graph);
  const Offset nnz = graph.numEntries();
  const Kokkos::View<Offset*, Device> row_map("Ainvil::test", 201), source("Ainvil::test", nnz);
  const Kokkos::View<Ordinal*, Device> entries("Ainvil::test", nnz);
  for (const bool with_source : {true, false}) {
    Kokkos::deep_copy(row_map, Offset(-77));
    Kokkos::deep_copy(entries, -77);
    const AllocationCounter counter;
    const Graph<Device> result = detail::transposeInto<Device>(
        Exec(), graph, row_map, entries, with_source ? source : Kokkos::View<Offset*, Device>());
    Exec().fence();
    EXPECT_EQ(counter.count(), 0) << counter.labels();
    EXPECT_TRUE(samePattern(Exec(), result, expected.graph));
  }
  EXPECT_EQ(toHost(source), toHost(expected.source));
}

void checkSortRows(const Rows& shuffled, Ordinal num_cols) {
  Rows expected = shuffled;
  for (auto& row : expected)
    std::sort(row.begin(), row.end());
  const Graph<Device> graph = deviceGraph(shuffled, num_cols);
  EXPECT_EQ(isSorted(Exec(), graph), shuffled == expected);
  const PermutedGraph<Device> sorted = sortRows(Exec(), graph);
  EXPECT_EQ(rowsOf(sorted.graph), expected);
  EXPECT_EQ(sorted.graph.num_cols, num_cols);
  EXPECT_TRUE(isSorted(Exec(), sorted.graph));
  EXPECT_EQ(rowsOf(graph), shuffled) << "the argument was changed";
  // Sources are a permutation within each row that leads to equal columns.
  const auto row_map = toHost(graph.row_map);
  const auto from = toHost(graph.entries), to = toHost(sorted.graph.entries);
  const auto source = toHost(sorted.source);
  ASSERT_EQ(source.size(), to.size());
  for (Ordinal i = 0; i < graph.num_rows; ++i)
    for (Offset e = row_map[i]; e < row_map[i + 1]; ++e) {
      ASSERT_TRUE(source[e] >= row_map[i] && source[e] < row_map[i + 1]) << "row " << i;
      ASSERT_EQ(from[source[e]], to[e]) << "row " << i;
    }
}

TEST(SortRows, SortsAndTellsTheSources) {
  RandomOptions options = anyDiagonal(5);
  for (const bool already : {false, true}) {
    options.sorted = already;
    checkSortRows(randomRows(0, 0, 0.5, options), 0);
    checkSortRows(randomRows(1, 1, 1.0, options), 1);
    checkSortRows(randomRows(50, 301, long_rows, options), 301);
    for (const Ordinal n : {536, 615})
      checkSortRows(randomRows(n, n, long_rows, options), n);
  }
  Rows descending(3);
  for (Ordinal j = 300; j-- > 0;)
    for (auto& row : descending)
      row.push_back(j);
  checkSortRows(descending, 300);
}

/// Every length around the powers of two, in several disorders; each has one result only.
TEST(SortRows, SortsRowsOfAllLengths) {
  Random random(10);
  const Ordinal num_cols = 5000;
  for (const Ordinal most : {6, 70, 600}) { // the mean length decides on the lanes a row
    Rows rows;
    for (const Ordinal length : {0, 1, 2, 3, 7, 8, 9, 16, 17, 31, 32, 33, 65, 256, 257, 300, 2000})
      for (int order = 0; order < 4; ++order) {
        std::vector<Ordinal> row(length);
        for (Ordinal k = 0; k < length; ++k)
          row[k] = order == 1 ? 2 * (length - k) : 2 * k;
        if (order == 2)
          std::rotate(row.begin(), row.begin() + length / 3, row.end());
        if (order == 3)
          random.shuffle(row);
        rows.push_back(row);
      }
    for (int k = 0; k < 300; ++k) {
      std::vector<Ordinal> row(most);
      std::iota(row.begin(), row.end(), k);
      random.shuffle(row);
      rows.push_back(row);
    }
    checkSortRows(rows, num_cols);
  }
}

TEST(SortRows, RefusesDuplicates) {
  EXPECT_THROW(sortRows(Exec(), deviceGraph({{0, 1}, {1, 0, 1}})), InvalidArgument);
  RandomOptions options = anyDiagonal(6);
  options.sorted = false;
  Rows rows = randomRows(100, 100, long_rows, options);
  for (Ordinal i : {1, 5}) {
    Rows wrong = rows;
    wrong[i].front() = wrong[i].back();
    EXPECT_THROW(sortRows(Exec(), deviceGraph(wrong)), InvalidArgument);
  }
}

TEST(IsSorted, MeansStrictlyAscending) {
  EXPECT_TRUE(isSorted(Exec(), deviceGraph(Rows{})));
  EXPECT_TRUE(isSorted(Exec(), deviceGraph({{}, {2}, {0, 1}, {}})));
  EXPECT_FALSE(isSorted(Exec(), deviceGraph({{0, 1}, {1, 0}})));
  EXPECT_FALSE(isSorted(Exec(), deviceGraph({{0, 1}, {1, 1}})));
}

// -----------------------------------------------------------------------------------------
// validate

/// The message of the exception, or "valid".
std::string validated(const std::vector<Offset>& row_map, const std::vector<Ordinal>& entries,
                      Ordinal num_cols) {
  try {
    validate(Exec(), deviceGraph(row_map, entries, num_cols));
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "valid";
}

TEST(Validate, AcceptsGraphs) {
  EXPECT_EQ(validated({0}, {}, 0), "valid");
  EXPECT_EQ(validated({0, 0, 0}, {}, 0), "valid");
  EXPECT_EQ(validated({0, 2, 2, 3}, {1, 0, 4}, 5), "valid");
  for (const Ordinal n : {536, 615})
    EXPECT_NO_THROW(validate(Exec(), deviceGraph(randomRows(n, n, long_rows))));
}

TEST(Validate, RefusesBadRowMaps) {
  const auto expectRowMap = [](const std::string& text, int offset) {
    EXPECT_NE(text.find("row map"), std::string::npos) << text;
    EXPECT_NE(text.find(message("at offset ", offset)), std::string::npos) << text;
  };
  expectRowMap(validated({1, 2, 3}, {0, 1, 0}, 2), 0);    // does not begin with 0
  expectRowMap(validated({0, 2, 1, 3}, {0, 1, 0}, 2), 1); // descends
  expectRowMap(validated({0, 1, 2}, {0, 1, 0}, 2), 2);    // ends early
  expectRowMap(validated({0, 1, 4}, {0, 1, 0}, 2), 2);    // ends late
  expectRowMap(validated({0, -1, 3}, {0, 1, 0}, 2), 0);   // negative
  expectRowMap(validated({1}, {}, 2), 0);                 // no rows
  expectRowMap(validated({0, 5, 3}, {0, 1, 0}, 2), 1);    // beyond the entries and back
}

TEST(Validate, RefusesColumnsOutside) {
  const auto expectColumns = [](const std::string& text, int count, int num_cols) {
    EXPECT_NE(text.find("column"), std::string::npos) << text;
    EXPECT_EQ(text.find(message(count, " ")), 0u) << text;
    EXPECT_NE(text.find(message("[0, ", num_cols, ")")), std::string::npos) << text;
  };
  expectColumns(validated({0, 1, 3}, {0, 1, 2}, 2), 1, 2);
  expectColumns(validated({0, 1, 3}, {-1, 1, 2}, 2), 2, 2);
  expectColumns(validated({0, 1}, {0}, 0), 1, 0);
}

TEST(Graph, RefusesARowMapOfTheWrongLength) {
  EXPECT_THROW(
      Graph<Device>(3, 3, toDevice(std::vector<Offset>{0, 0, 0}), toDevice(std::vector<Ordinal>{})),
      InvalidArgument);
}

// -------------------------------------------------------------------------------------------
// labels

TEST(GraphAlgebra, KernelsAndArraysCarryLabels) {
  RandomOptions options = anyDiagonal(8);
  const auto graph = deviceGraph(randomRows(100, 100, 0.05, options));
  options.sorted = false;
  const auto shuffled = deviceGraph(randomRows(100, 100, 0.05, options));
  const KernelLabelRecorder recorder;
  validate(Exec(), graph);
  sortRows(Exec(), shuffled);
  transpose(Exec(), graph);
  const auto lower = triangle(Exec(), graph, Uplo::Lower, Diagonal::Keep);
  patternPower(Exec(), lower, 3);
  fillPattern(Exec(), graph, 2);
  Ordinal first = 0;
  countMissingDiagonals(Exec(), graph, first);
  EXPECT_GE(recorder.kernels().size(), 20u);
  EXPECT_GE(recorder.allocations().size(), 15u);
  expectOwnLabels(recorder.labels());
}

} // namespace
