// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "core/graph/GraphSupport.hpp"
#include "graph/Ainvil_BothTriangles.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;

// ----------------------------------------------------------------------------- triangle, diagonals

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

TEST(BothTriangles, EqualTheReferenceInTwoAllocations) {
  for (const Ordinal n : {0, 1, 33, 536, 615})
    for (const bool with_diagonal : {true, false}) {
      SCOPED_TRACE(n);
      RandomOptions options = anyDiagonal(n);
      options.diagonal = with_diagonal;
      const Rows rows = randomRows(n, n, long_rows, options);
      const Graph<Device> graph = deviceGraph(rows);
      const AllocationCounter counter;
      const FillTriangles<Device> both = ainvil::detail::bothTriangles(Exec(), graph);
      EXPECT_LE(counter.count(), 2) << counter.labels();
      EXPECT_EQ(rowsOf(both.lower), serialTriangle(rows, Uplo::Lower, Diagonal::Keep));
      EXPECT_EQ(rowsOf(both.upper), serialTriangle(rows, Uplo::Upper, Diagonal::Drop));
    }
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

// ------------------------------------------------------------------------------ transpose, sorting

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

/// Bands, whose rows reach into few columns, backwards, with rows that are empty and one entry far
/// away: threads of a host do not look at rows that have nothing for them.
TEST(Transpose, OfABandEqualsTheReference) {
  const Ordinal n = 3000;
  for (const Ordinal width : {1, 40}) {
    Rows rows(n);
    for (Ordinal i = 0; i < n; ++i)
      if (i < 400 || i > 600) // many groups of rows without an entry
        for (Ordinal k = 0; k < 3; ++k)
          rows[i].push_back(std::min(n - 1, std::max(0, n - 1 - i + (k - 1) * width)));
    for (auto& row : rows) {
      std::sort(row.begin(), row.end());
      row.erase(std::unique(row.begin(), row.end()), row.end());
    }
    checkTranspose(rows, n, message("a band of ", width));
    rows[500].push_back(n - 1);
    rows[2000].insert(rows[2000].begin(), 3);
    std::sort(rows[2000].begin(), rows[2000].end());
    checkTranspose(rows, n, message("a band of ", width, " and more"));
  }
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

/// What a strict triangle becomes with Diagonal::Keep: rows of all lengths and empty ones.
TEST(Transpose, AddsTheDiagonal) {
  for (const Uplo uplo : {Uplo::Upper, Uplo::Lower}) {
    const Rows rows =
        serialTriangle(randomRows(300, 300, long_rows, anyDiagonal(5)), uplo, Diagonal::Drop);
    Rows expected(rows.size());
    for (Ordinal i = 0; i < 300; ++i) {
      for (const Ordinal j : rows[i])
        expected[j].push_back(i);
      expected[i].push_back(i);
    }
    for (auto& row : expected)
      std::sort(row.begin(), row.end());
    const Graph<Device> graph = deviceGraph(rows);
    const Kokkos::View<Offset*, Device> row_map("Ainvil::test", 301);
    const Kokkos::View<Ordinal*, Device> entries("Ainvil::test", graph.numEntries() + 300);
    Kokkos::deep_copy(row_map, Offset(-77));
    const Graph<Device> result =
        detail::transposeInto<Device>(Exec(), graph, row_map, entries, {}, Diagonal::Keep);
    Exec().fence();
    EXPECT_EQ(rowsOf(result), expected);
  }
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

/// What was taken from nowhere stays so.
TEST(Composed, LeadsToTheFirstSources) {
  const auto outer = toDevice(std::vector<Offset>{2, 0, -1, 1, 0});
  const auto inner = toDevice(std::vector<Offset>{7, -1, 0});
  EXPECT_EQ(toHost(composed<Device>(Exec(), outer, inner)), (std::vector<Offset>{0, 7, -1, -1, 7}));
}

TEST(IsSorted, MeansStrictlyAscending) {
  EXPECT_TRUE(isSorted(Exec(), deviceGraph(Rows{})));
  EXPECT_TRUE(isSorted(Exec(), deviceGraph({{}, {2}, {0, 1}, {}})));
  EXPECT_FALSE(isSorted(Exec(), deviceGraph({{0, 1}, {1, 0}})));
  EXPECT_FALSE(isSorted(Exec(), deviceGraph({{0, 1}, {1, 1}})));
}

TEST(SamePattern, TellsEveryDifference) {
  const Rows rows = {{0, 2}, {}, {1, 2}};
  const Graph<Device> graph = deviceGraph(rows);
  EXPECT_TRUE(samePattern(Exec(), graph, graph));
  EXPECT_TRUE(samePattern(Exec(), graph, deviceGraph(rows)));
  EXPECT_FALSE(samePattern(Exec(), graph, deviceGraph(rows, 4))) << "another number of columns";
  EXPECT_FALSE(samePattern(Exec(), graph, deviceGraph({{0, 2}, {}, {1, 2}, {}}, 3)));
  EXPECT_FALSE(samePattern(Exec(), graph, deviceGraph({{0, 2}, {}, {1}})));
  EXPECT_FALSE(samePattern(Exec(), graph, deviceGraph({{0, 2}, {1}, {2}})));
  EXPECT_FALSE(samePattern(Exec(), graph, deviceGraph({{0, 1}, {}, {1, 2}})));
  EXPECT_FALSE(samePattern(Exec(), graph, deviceGraph({{0, 2}, {}, {2, 1}})));
  const Graph<Device> wider(3, 4, graph.row_map, graph.entries); // the same arrays
  EXPECT_FALSE(samePattern(Exec(), graph, wider));
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

/// Of rows with a column twice as well: they are not sorted.
TEST(Validate, TellsWhetherRowsAreSorted) {
  const auto isSorted = [](const std::vector<Ordinal>& columns) {
    const Offset length = static_cast<Offset>(columns.size());
    return validate(Exec(), deviceGraph(
                                {0, 0, length, length + 1},
                                [&] {
                                  std::vector<Ordinal> entries = columns;
                                  entries.push_back(0);
                                  return entries;
                                }(),
                                5));
  };
  for (const std::vector<Ordinal>& columns : {std::vector<Ordinal>{}, {3}, {1, 2}, {0, 1, 2, 3, 4}})
    EXPECT_TRUE(isSorted(columns)) << columns.size();
  for (const std::vector<Ordinal>& columns :
       {std::vector<Ordinal>{2, 1}, {1, 1}, {0, 2, 2, 3}, {0, 1, 3, 3}, {0, 2, 1}})
    EXPECT_FALSE(isSorted(columns)) << columns.size();
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
  // Of rows that ascend, and of rows that do not.
  expectColumns(validated({0, 3}, {-1, 0, 1}, 2), 1, 2);
  expectColumns(validated({0, 3}, {0, 1, 2}, 2), 1, 2);
  expectColumns(validated({0, 3}, {0, -1, 1}, 2), 1, 2);
  expectColumns(validated({0, 3}, {0, 2, 1}, 2), 1, 2);
}

TEST(Graph, RefusesARowMapOfTheWrongLength) {
  EXPECT_THROW(
      Graph<Device>(3, 3, toDevice(std::vector<Offset>{0, 0, 0}), toDevice(std::vector<Ordinal>{})),
      InvalidArgument);
}

// ------------------------------------------------------------------------------------------ labels

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
