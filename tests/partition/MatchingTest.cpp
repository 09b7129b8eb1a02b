// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ordering.hpp"
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "io/Ainvil_MatrixMarket.hpp"

#include <map>
#include <set>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Exec = HostDevice::execution_space;
using Matrix = BsrMatrix<double, HostDevice>;

constexpr double infinity = std::numeric_limits<double>::infinity();

std::vector<Ordinal> rowsOfColumns(const Matching& matching) {
  return toHost(matching.row_of);
}

/// |a_ij|, or of a block |det|^(1/b) by the leading principal expansion of a small dense matrix.
double weightOf(const Matrix& a, Offset e) {
  const int b = a.block_size;
  std::vector<double> block(a.values.data() + e * b * b, a.values.data() + (e + 1) * b * b);
  double det = 1;
  for (int k = 0; k < b; ++k) {
    int p = k;
    for (int i = k + 1; i < b; ++i)
      if (std::fabs(block[i * b + k]) > std::fabs(block[p * b + k]))
        p = i;
    for (int j = 0; j < b; ++j)
      std::swap(block[k * b + j], block[p * b + j]);
    det *= block[k * b + k];
    for (int i = k + 1; i < b && block[k * b + k] != 0; ++i)
      for (int j = b; j-- > k;)
        block[i * b + j] -= block[i * b + k] / block[k * b + k] * block[k * b + j];
  }
  return std::pow(std::fabs(det), 1.0 / b);
}

/// log of the weights as a dense matrix, -infinity where there is no entry.
std::vector<double> logWeights(const Matrix& a) {
  const Ordinal n = a.numRows();
  std::vector<double> dense(size_t(n) * n, -infinity);
  for (Ordinal i = 0; i < n; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      dense[size_t(i) * n + a.graph.entries(e)] = std::log(weightOf(a, e));
  return dense;
}

/// The largest number of pairs and, of so many, the largest sum of logarithms: all permutations.
std::pair<Ordinal, double> best(const std::vector<double>& logs, Ordinal n) {
  std::vector<Ordinal> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::pair<Ordinal, double> found(0, n == 0 ? 0 : -infinity);
  do {
    std::pair<Ordinal, double> now(0, 0);
    for (Ordinal j = 0; j < n; ++j)
      if (logs[size_t(order[j]) * n + j] > -infinity) {
        ++now.first;
        now.second += logs[size_t(order[j]) * n + j];
      }
    found = std::max(found, now);
  } while (std::next_permutation(order.begin(), order.end()));
  return found;
}

void expectPermutation(const Matching& matching) {
  const auto rows = rowsOfColumns(matching);
  const std::set<Ordinal> all(rows.begin(), rows.end());
  EXPECT_EQ(all.size(), rows.size());
  if (!all.empty()) {
    EXPECT_EQ(*all.begin(), 0);
    EXPECT_EQ(size_t(*all.rbegin()) + 1, rows.size());
  }
}

/// What the scalings promise, of a matrix whose rows are all paired.
void expectScaled(const Matrix& a, const Matching& matching, double tolerance = 1e-12) {
  ASSERT_EQ(matching.num_matched, a.numRows());
  EXPECT_EQ(matching.first_unmatched, -1);
  Ordinal pairs = 0;
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
      const Ordinal j = a.graph.entries(e);
      const double weight = weightOf(a, e) * matching.row_scaling(i) * matching.column_scaling(j);
      ASSERT_LE(weight, 1 + tolerance) << i << " " << j;
      if (matching.row_of(j) == i) {
        ++pairs;
        ASSERT_NEAR(weight, 1, tolerance) << i << " " << j;
      }
    }
  EXPECT_EQ(pairs, a.numRows());
}

/// Values with zeros, duplicates, and factors of rows and columns from 10^-8 to 10^8.
void makeHard(const Matrix& a, Random& random) {
  const int kind = random.below(4);
  std::vector<double> rows = random.vector(a.numPointRows()), columns = rows;
  random.shuffle(columns);
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
      double& value = a.values(e);
      if (kind == 1)
        value = 1 + random.below(3);
      if (kind >= 2 && random.below(4) == 0)
        value = 0;
      if (kind == 3)
        value *= std::pow(10, 8 * rows[i] + 8 * columns[a.graph.entries(e)]);
    }
}

TEST(Matching, HasTheLargestProductOfAllPermutations) {
  Ordinal singular = 0;
  for (std::uint64_t seed = 1; seed <= 400; ++seed) {
    Random random(seed);
    RandomOptions options;
    options.diagonal = false;
    options.seed = seed;
    options.sorted = seed % 2 == 0;
    const Ordinal n = static_cast<Ordinal>(seed % 8);
    const Matrix a = randomMatrix(n, n, 1, seed % 3 == 0 ? 0.9 : 0.45, options);
    makeHard(a, random);
    const Matching matching = maximumProductMatching(a);
    expectPermutation(matching);
    const auto logs = logWeights(a);
    const auto expected = best(logs, n);
    ASSERT_EQ(matching.num_matched, expected.first) << seed;
    if (matching.num_matched < n) {
      ++singular;
      continue;
    }
    double sum = 0;
    for (Ordinal j = 0; j < n; ++j)
      sum += logs[size_t(matching.row_of(j)) * n + j];
    EXPECT_NEAR(sum, expected.second, 1e-11) << seed;
    expectScaled(a, matching);
  }
  EXPECT_GT(singular, 50); // and as many that are not
  EXPECT_LT(singular, 350);
}

TEST(Matching, BlocksHaveTheLargestProductOfDeterminants) {
  for (const int block_size : {1, 2, 3, 5})
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      RandomOptions options;
      options.seed = seed;
      const Ordinal n = 1 + static_cast<Ordinal>(seed % 6);
      const Matrix a = randomMatrix(n, n, block_size, 0.7, options);
      const Matching matching = maximumProductMatching(a);
      const auto logs = logWeights(a);
      double sum = 0;
      for (Ordinal j = 0; j < n; ++j)
        sum += logs[size_t(matching.row_of(j)) * n + j];
      EXPECT_NEAR(sum, best(logs, n).second, 1e-11) << block_size << " " << seed;
      expectScaled(a, matching);
    }
}

/// Two blocks without inverse beside two that have one.
TEST(Matching, AvoidsSingularBlocks) {
  const std::vector<double> values = {9, 9, 9, 9, 0, 1, 1, 0, 1, 0, 0, 1, 5, 5, 5, 5};
  const Matrix a(makeGraph({{0, 1}, {0, 1}}), viewOf(values), 2);
  EXPECT_EQ(rowsOfColumns(maximumProductMatching(a)), (std::vector<Ordinal>{1, 0}));
  // Where there is nothing else they are taken, and count as paired.
  const std::vector<double> singular = {9, 9, 9, 9, 1, 1, 1, 1};
  const Matching matching =
      maximumProductMatching(Matrix(makeGraph({{1}, {0}}), viewOf(singular), 2));
  EXPECT_EQ(matching.num_matched, 2);
  EXPECT_EQ(rowsOfColumns(matching), (std::vector<Ordinal>{1, 0}));
}

TEST(Matching, LeavesADominantMatrixAsItIs) {
  RandomOptions options;
  options.dominant = true;
  for (const int block_size : {1, 3}) {
    const Matrix a = randomMatrix(536, 536, block_size, std::vector<Ordinal>{4, 7, 33}, options);
    const auto rows = rowsOfColumns(maximumProductMatching(a));
    for (size_t j = 0; j < rows.size(); ++j)
      ASSERT_EQ(size_t(rows[j]), j);
  }
  // Among equals, too: with all entries 1 every permutation is as good.
  std::vector<Ordinal> row(9);
  std::iota(row.begin(), row.end(), 0);
  const Matrix ones(makeGraph(Rows(9, row)), viewOf(std::vector<double>(81, 1)), 1);
  EXPECT_EQ(rowsOfColumns(maximumProductMatching(ones)), row);
}

TEST(Matching, ScalesLargeMatricesAndUndoesAnyPermutation) {
  for (const char* problem : {"convdiff:37x37x15", "circuit:3000", "network:40", "cavity:40"}) {
    const Matrix a = makeProblem(problem).matrix;
    std::vector<Ordinal> order(a.numRows());
    std::iota(order.begin(), order.end(), 0);
    Random(5).shuffle(order);
    Rows rows(a.numRows());
    std::vector<double> values;
    const Offset bs2 = Offset(a.block_size) * a.block_size;
    for (Ordinal k = 0; k < a.numRows(); ++k)
      for (Offset e = a.graph.row_map(order[k]); e < a.graph.row_map(order[k] + 1); ++e) {
        rows[k].push_back(a.graph.entries(e));
        values.insert(values.end(), a.values.data() + e * bs2, a.values.data() + (e + 1) * bs2);
      }
    const Matrix shuffled(makeGraph(rows), viewOf(values), a.block_size);
    const Matching original = maximumProductMatching(a), found = maximumProductMatching(shuffled);
    expectScaled(a, original);
    expectScaled(shuffled, found);
    double sum = 0, expected = 0;
    for (Ordinal j = 0; j < a.numRows(); ++j) {
      expected -= std::log(original.row_scaling(j)) + std::log(original.column_scaling(j));
      sum -= std::log(found.row_scaling(j)) + std::log(found.column_scaling(j));
    }
    EXPECT_NEAR(sum, expected, 1e-9 * std::fabs(expected) + 1e-9) << problem;
  }
}

TEST(Matching, SmallestMatrices) {
  EXPECT_EQ(maximumProductMatching(Matrix()).numRows(), 0);
  const Matrix one(makeGraph({{0}}), viewOf<double>({-4}), 1);
  const Matching matching = maximumProductMatching(one);
  EXPECT_EQ(matching.num_matched, 1);
  EXPECT_DOUBLE_EQ(matching.row_scaling(0) * matching.column_scaling(0), 0.25);
}

/// Rows 2, 3 and 4 share two columns.
TEST(Matching, OfAStructurallySingularMatrixIsAsLargeAsItCanBe) {
  const Matrix a(makeGraph({{0, 1}, {1}, {0}, {2, 3}, {2, 3}, {2, 3}}),
                 viewOf<double>({1, 2, 3, 0, 4, 5, 6, 7, 8, 9}), 1);
  const Matching matching = maximumProductMatching(a);
  expectPermutation(matching);
  EXPECT_EQ(matching.num_matched, 4);
  EXPECT_EQ(matching.first_unmatched, 2); // column 0 is row 1's, whose other value is 0
  for (Ordinal i = 0; i < 6; ++i) {
    EXPECT_EQ(matching.row_scaling(i), 1);
    EXPECT_EQ(matching.column_scaling(i), 1);
  }
}

/// Rows 1 and 2 find no column. Column 2 is left, so row 2 stays there.
TEST(Matching, RowsWithoutAPairStayWhereTheyCan) {
  const Matrix a(makeGraph({{0}, {0}, {}, {1}}, 4), viewOf<double>({3, 2, 1}), 1);
  const Matching matching = maximumProductMatching(a);
  EXPECT_EQ(matching.num_matched, 2);
  EXPECT_EQ(rowsOfColumns(matching), (std::vector<Ordinal>{0, 3, 2, 1}));
}

TEST(Matching, OfThinAndThickRowsEndsSoon) {
  // Row 0 and column 0 are full, and no diagonal entry is there: each search crosses the long row.
  const Ordinal n = 20000;
  Rows rows(n);
  for (Ordinal i = 0; i < n; ++i) {
    rows[0].push_back(i);
    if (i > 0)
      rows[i] = {0, i % (n - 1) + 1};
  }
  RandomOptions options;
  options.seed = 7;
  const Matrix a = randomMatrix(rows, n, 1, options);
  expectScaled(a, maximumProductMatching(a));
}

/// Pairs rows and columns one by one along any path (Kuhn), for their number only.
class LargestMatching {
public:
  explicit LargestMatching(const Rows& rows)
      : rows_(rows), row_of_(rows.size(), -1), seen_(rows.size(), -1) {
    for (size_t i = 0; i < rows.size(); ++i)
      size += canPair(static_cast<Ordinal>(i), static_cast<Ordinal>(i));
  }
  Ordinal size = 0;

private:
  bool canPair(Ordinal row, Ordinal search) {
    for (const Ordinal j : rows_[row])
      if (seen_[j] != search) {
        seen_[j] = search;
        if (row_of_[j] < 0 || canPair(row_of_[j], search)) {
          row_of_[j] = row;
          return true;
        }
      }
    return false;
  }
  const Rows& rows_;
  std::vector<Ordinal> row_of_, seen_;
};

/// Random patterns, where trees of shortest paths are large and are grown together.
TEST(Matching, OfRandomPatternsIsComplete) {
  const Ordinal n = 4000;
  for (const bool regular : {true, false}) {
    RandomOptions options;
    options.diagonal = false;
    options.seed = 31;
    Rows rows = randomRows(n, n, std::vector<Ordinal>{1, 3, 5, 2}, options);
    for (Ordinal i = 0; regular && i < n; ++i) { // a permutation of small entries
      const Ordinal j = static_cast<Ordinal>((Offset(i) * 1237 + 5) % n);
      if (std::find(rows[i].begin(), rows[i].end(), j) == rows[i].end())
        rows[i].push_back(j);
    }
    const Matrix a = randomMatrix(rows, n, 1, options);
    std::vector<Offset> counts;
    const Matching matching =
        maximumProductMatching(a, [&](Offset paired) { counts.push_back(paired); });
    expectPermutation(matching);
    EXPECT_EQ(matching.num_matched, LargestMatching(rows).size);
    EXPECT_EQ(matching.num_matched == n, regular);
    EXPECT_TRUE(std::is_sorted(counts.begin(), counts.end()));
    EXPECT_EQ(counts.back(), n);
    EXPECT_GE(counts.size(), regular ? 90u : 30u); // fewer rows find a pair
    EXPECT_LE(counts.size(), 300u);
    EXPECT_EQ(rowsOfColumns(maximumProductMatching(a)), rowsOfColumns(matching));
    if (regular)
      expectScaled(a, matching);
  }
}

/// Rows 0 .. m - 1 are all paired and could each take another column at no cost, which every search
/// for a column of one of the others walks through before it takes an exit to one that is free,
/// each dearer than the one before. After some of them trees are grown together, and many reach
/// several exits.
TEST(Matching, OfTreesThatReachSeveralColumns) {
  const Ordinal m = 1000, others = 100, n = m + others;
  Random random(33);
  std::vector<std::map<Ordinal, double>> entries(n);
  for (Ordinal i = 0; i < m; ++i)
    for (const Ordinal j : {i, random.below(m), random.below(m)})
      entries[i][j] = 1;
  for (Ordinal j = m; j < n; ++j) {
    entries[random.below(m)][j] = 1.0 / (j - m + 2);
    entries[j][random.below(m)] = 1;
  }
  Rows rows(n);
  std::vector<double> values;
  for (Ordinal i = 0; i < n; ++i)
    for (const auto& [column, value] : entries[i]) {
      rows[i].push_back(column);
      values.push_back(value);
    }
  const Matrix a(makeGraph(rows, n), viewOf<double>(values), 1);
  const Matching matching = maximumProductMatching(a);
  expectPermutation(matching);
  EXPECT_EQ(matching.num_matched, LargestMatching(rows).size);
  EXPECT_GT(matching.num_matched, m + others / 2);
  if (matching.num_matched == n)
    expectScaled(a, matching);
}

TEST(Matching, OfPublicMatricesWithZeroDiagonals) {
  for (const char* name : {"west0479", "bp_1200", "lns_131", "rajat19", "adder_dcop_05"}) {
    const std::string path = matrixPath(std::string(name) + ".mtx.gz");
    if (path.empty())
      GTEST_SKIP() << name << " is neither in AINVIL_MATRIX_DIR nor beside the sources";
    const Matrix a = readMatrixMarket(path);
    expectScaled(a, maximumProductMatching(a));
    const auto in_float = inPrecision<float>(a);
    EXPECT_EQ(maximumProductMatching(in_float).num_matched, a.numRows()) << name;
  }
}

TEST(Matching, RefusesWhatIsNoSquareMatrixOfNumbers) {
  const Matrix wide(makeGraph({{0, 2}, {1}}, 3), viewOf<double>({1, 2, 3}), 1);
  EXPECT_THROW(maximumProductMatching(wide), InvalidArgument);
  for (const double bad : {infinity, std::nan("")}) {
    const Matrix broken(makeGraph({{0, 1}, {1}}), viewOf<double>({1, bad, 3}), 1);
    EXPECT_THROW(maximumProductMatching(broken), InvalidArgument);
  }
  const Matrix outside(makeGraph({{0}, {2}}), viewOf<double>({1, 2}), 1);
  EXPECT_THROW(maximumProductMatching(outside), InvalidArgument);
}

TEST(Matching, EndsWithWhatItsProgressThrows) {
  const Matrix a = makeProblem("cavity:10").matrix;
  EXPECT_THROW(maximumProductMatching(a, [](Offset) { throw std::runtime_error("enough"); }),
               std::runtime_error);
}

TEST(Matching, LabelsBelongToTheLibrary) {
  const Matrix a = makeProblem("cavity:10").matrix;
  const KernelLabelRecorder recorder;
  maximumProductMatching(a);
  expectOwnLabels(recorder.labels());
}

} // namespace
