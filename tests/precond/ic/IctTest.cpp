// SPDX-License-Identifier: BSD-3-Clause
/// Block IC on patterns that thresholds find.
#include "precond/ic/IcSupport.hpp"

#include "KokkosObservers.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace ainvil {
namespace {

using namespace test;

constexpr PatternSearch searches[] = {PatternSearch::Sequential, PatternSearch::Parallel};

IcParameters<double, Device> ict(double drop, double max_fill, PatternSearch search) {
  IcParameters<double, Device> parameters;
  parameters.pattern = IcPattern::Threshold;
  parameters.drop = drop;
  parameters.max_fill = max_fill;
  parameters.search = search;
  return parameters;
}

/// The columns of the rows of S.
Rows patternOf(const IcMethod& ic) {
  return rowsOf(copyTo<HostDevice>(ic.factor().matrix.graph));
}

/// max |M - A| over the pattern of S and D, over max |A|: 0 for one factor on this pattern alone.
double residualOnPattern(const IcMethod& ic, const HostBsr& a) {
  const size_t bs = size_t(a.block_size), n = size_t(a.numRows()) * bs;
  const auto product = inverse(inverseOfFactors(ic), n), dense = toDense(a);
  double worst = 0, largest = 0;
  for (const double value : dense)
    largest = std::max(largest, std::abs(value));
  auto rows = patternOf(ic);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i].push_back(Ordinal(i));
    for (const Ordinal j : rows[i])
      for (size_t e = 0; e < bs * bs; ++e) {
        const size_t at = (i * bs + e / bs) * n + size_t(j) * bs + e % bs;
        worst = std::max(worst, std::abs(product[at] - dense[at]));
      }
  }
  return worst / largest;
}

class IctBlockSize : public ::testing::TestWithParam<int> {};

TEST_P(IctBlockSize, WithoutDroppingIsTheExactInverse) {
  const int bs = GetParam();
  const HostBsr a = spdMatrixOn(symmetricPattern(40, 4, 8), bs, 14);
  for (const PatternSearch search : searches) {
    IcMethod ic(ict(0, 100, search));
    setUp(ic, a);
    expectNear(denseInverse(ic), inverse(toDense(a), size_t(40) * bs), 1e-12);
  }
}

TEST_P(IctBlockSize, ProductOfFactorsIsAOnThePattern) {
  const int bs = GetParam();
  const HostBsr a = spdMatrixOn(symmetricPattern(43, 5, 5), bs, 12);
  Offset all = 0;
  for (const PatternSearch search : searches)
    for (const auto& [drop, max_fill] :
         {std::pair{0.0, 100.0}, {0.03, 10.0}, {0.0, 1.2}, {0.001, 0.6}}) {
      IcMethod ic(ict(drop, max_fill, search));
      setUp(ic, a);
      EXPECT_LT(residualOnPattern(ic, a), 1e-13) << drop << " " << max_fill;
      const Offset entries = ic.factor().matrix.numEntries();
      all = drop == 0 && max_fill == 100 ? entries : all;
      EXPECT_EQ(entries < all, max_fill < 100);
    }
}

TEST_P(IctBlockSize, FactorHasNoMoreEntriesThanAllowed) {
  const int bs = GetParam();
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 4, 15), bs, 15);
  for (const PatternSearch search : searches)
    for (const double most : {0.01, 0.5, 1.0, 1.5}) {
      IcMethod ic(ict(0, most, search));
      setUp(ic, a);
      // Of both factors: S and its transposed, and a diagonal.
      const double entries = 2.0 * double(ic.factor().matrix.numEntries()) + 60;
      EXPECT_LE(entries, std::max(60.0, most * double(a.numEntries()))) << most;
      EXPECT_GT(entries, most < 0.1 ? 59 : 0.8 * most * double(a.numEntries())) << most;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, IctBlockSize, ::testing::Values(1, 2, 3, 4, 5, 9));

/// The rule of detail::ictPattern() on dense block rows: the strictly lower triangle by rows.
Rows plainIct(const HostBsr& a, double drop, double max_fill) {
  const Ordinal n = a.numRows();
  const size_t bs = size_t(a.block_size), size = size_t(n) * bs;
  auto w = toDense(a); // rows of D U above the diagonal
  const auto norm = [&](const std::vector<double>& m, Ordinal i, Ordinal first, Ordinal last) {
    double sum = 0;
    for (size_t r = i * bs; r < (i + 1) * bs; ++r)
      for (size_t c = first * bs; c < last * bs; ++c)
        sum += m[r * size + c] * m[r * size + c];
    return std::sqrt(sum);
  };
  const auto dense = w;
  std::vector<std::vector<double>> inverses;
  Rows kept(n), lower(n);
  const double all = std::floor(std::max(0.0, max_fill * double(a.numEntries()) - n) / 2);
  Offset entries = 0, used = 0;
  for (Ordinal i = 0; i < n; ++i) {
    std::vector<bool> there(n);
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      if (a.graph.entries(e) >= i) {
        there[a.graph.entries(e)] = true;
        ++entries;
      }
    for (Ordinal k = 0; k < i; ++k) {
      if (std::find(kept[k].begin(), kept[k].end(), i) == kept[k].end())
        continue;
      for (Ordinal j = i; j < n; ++j) {
        if (std::find(kept[k].begin(), kept[k].end(), j) == kept[k].end())
          continue;
        there[j] = true;
        for (size_t r = 0; r < bs; ++r)
          for (size_t c = 0; c < bs; ++c)
            for (size_t p = 0; p < bs; ++p)
              for (size_t q = 0; q < bs; ++q)
                w[(i * bs + r) * size + j * bs + c] -= w[(k * bs + p) * size + i * bs + r] *
                                                       inverses[k][p * bs + q] *
                                                       w[(k * bs + q) * size + j * bs + c];
      }
    }
    std::vector<std::pair<double, Ordinal>> sized;
    for (Ordinal j = i + 1; j < n; ++j)
      if (there[j] && norm(w, i, j, j + 1) >= drop * norm(dense, i, 0, n))
        sized.emplace_back(-norm(w, i, j, j + 1), j);
    std::sort(sized.begin(), sized.end());
    const double so_far =
        std::floor(std::max(0.0, max_fill * double(2 * entries - (i + 1)) - (i + 1)) / 2);
    sized.resize(std::min(sized.size(), size_t(std::max(0.0, std::min(all, so_far) - used))));
    used += Offset(sized.size());
    for (const auto& entry : sized) {
      kept[i].push_back(entry.second);
      lower[entry.second].push_back(i);
    }
    std::vector<double> d(bs * bs);
    for (size_t e = 0; e < bs * bs; ++e)
      d[e] = w[(i * bs + e / bs) * size + i * bs + e % bs];
    inverses.push_back(inverse(d, bs));
  }
  return lower;
}

TEST(IctRows, KeepWhatAPlainEliminationKeeps) {
  for (const int bs : {1, 2, 3, 5, 9}) {
    const HostBsr a = spdMatrixOn(symmetricPattern(43, 5, 5), bs, 31);
    for (const double drop : {0.0, 0.003, 0.03, 0.1})
      for (const double max_fill : {0.7, 1.3, 2.0, 50.0}) {
        IcMethod ic(ict(drop, max_fill, PatternSearch::Sequential));
        setUp(ic, a);
        EXPECT_EQ(patternOf(ic), plainIct(a, drop, max_fill))
            << bs << " " << drop << " " << max_fill;
      }
  }
}

TEST(IctRows, OfLongRows) {
  const HostBsr a = spdMatrixOn(longRowsPattern(536), 1, 32);
  IcMethod ic(ict(0.01, 10, PatternSearch::Sequential));
  setUp(ic, a);
  EXPECT_EQ(patternOf(ic), plainIct(a, 0.01, 10));
}

/// A Kronecker product with the identity runs through the block kernels what the scalar ones do.
TEST(Ict, BlocksOfMultiplesOfTheIdentityHaveTheScalarPattern) {
  const Pattern pattern = symmetricPattern(50, 5, 9);
  const HostBsr scalar = spdMatrixOn(pattern, 1, 15);
  for (const int bs : {3, 9}) {
    HostBsr block = spdMatrixOn(pattern, bs, 16);
    for (Offset e = 0; e < block.numEntries(); ++e)
      for (int k = 0; k < bs * bs; ++k)
        block.values(e * bs * bs + k) = k % (bs + 1) == 0 ? scalar.values(e) : 0.0;
    for (const PatternSearch search : searches)
      for (const auto& [drop, max_fill] : {std::pair{0.03, 10.0}, {0.01, 1.3}}) {
        IcMethod small(ict(drop, max_fill, search)), large(ict(drop, max_fill, search));
        setUp(small, scalar);
        setUp(large, block);
        EXPECT_EQ(patternOf(large), patternOf(small)) << bs << " " << drop;
      }
  }
}

/// Later values follow the pattern found first and cost no memory.
TEST(Ict, KeepsThePatternForNewValues) {
  const Pattern pattern = symmetricPattern(50, 4, 19);
  for (const int bs : {1, 3}) {
    const HostBsr first = spdMatrixOn(pattern, bs, 19), second = spdMatrixOn(pattern, bs, 20);
    for (const PatternSearch search : searches) {
      IcMethod ic(ict(0.03, 10, search)), other(ict(0.03, 10, search));
      setUp(ic, first);
      setUp(other, second);
      const Rows found = patternOf(ic);
      const auto inverse_of_first = denseInverse(ic);
      ASSERT_NE(patternOf(other), found);
      const DeviceBsr on_device(copyTo<Device>(first.graph), copyTo<Device>(second).values, bs);
      {
        const AllocationCounter counter;
        ic.compute(on_device);
        EXPECT_EQ(counter.count(), 0) << counter.labels();
      }
      EXPECT_EQ(patternOf(ic), found);
      EXPECT_LT(residualOnPattern(ic, second), 1e-13);
      ic.compute(copyTo<Device>(first));
      EXPECT_EQ(denseInverse(ic), inverse_of_first);
      // A new initialize() forgets it.
      setUp(ic, second);
      EXPECT_EQ(patternOf(ic), patternOf(other));
      EXPECT_EQ(denseInverse(ic), denseInverse(other));
    }
  }
}

TEST(Ict, FindsANewPatternAsOftenAsWanted) {
  const Pattern pattern = symmetricPattern(50, 4, 19);
  const DeviceBsr first = copyTo<Device>(spdMatrixOn(pattern, 1, 19));
  const DeviceBsr second(first.graph, copyTo<Device>(spdMatrixOn(pattern, 1, 20)).values, 1);
  IcParameters<double, Device> parameters = ict(0.03, 10, PatternSearch::Auto);
  parameters.repattern = 2;
  IsaiParameters<Device> isai;
  isai.power = 2;
  parameters.solve = isai;
  IcMethod ic(parameters), fresh(parameters);
  fresh.initialize(second);
  fresh.compute(second);
  ic.initialize(first);
  ic.compute(first);
  const Rows found = patternOf(ic);
  ASSERT_NE(patternOf(fresh), found);
  ic.compute(second);
  EXPECT_EQ(patternOf(ic), found);
  ic.compute(second);
  EXPECT_EQ(patternOf(ic), patternOf(fresh));
  EXPECT_EQ(denseInverse(ic), denseInverse(fresh)); // the strategy has followed
}

/// SPD, but a factor that keeps what the bound allows has a pivot that is not positive.
HostBsr breaksDown() {
  // Kershaw's matrix (1978).
  return HostBsr(makeGraph({{0, 1, 3}, {0, 1, 2}, {1, 2, 3}, {0, 2, 3}}),
                 viewOf<double>({3, -2, 2, -2, 3, -2, -2, 3, -2, 2, -2, 3}), 1);
}

TEST(IctBreakdown, FollowsThePolicy) {
  for (const PatternSearch search : searches) {
    IcParameters<double, Device> parameters = ict(0, 1, search);
    parameters.breakdown = BreakdownPolicy::Fail;
    IcMethod fails(parameters);
    EXPECT_THROW(setUp(fails, breaksDown()), BreakdownError);
    // Another pattern is found for values that are easier.
    HostBsr easy(breaksDown().graph, viewOf<double>({3, 0, 1, 0, 3, 0, 0, 3, 0, 1, 0, 3}), 1);
    fails.compute(copyTo<Device>(easy));
    expectNear(denseInverse(fails), inverse(toDense(easy), 4), 1e-14);

    parameters.breakdown = BreakdownPolicy::Shift;
    IcMethod shifted(parameters);
    setUp(shifted, breaksDown());
    EXPECT_EQ(shifted.report().breakdowns, 1);
    EXPECT_GT(shifted.shift(), 0);
    HostBsr a = breaksDown();
    for (const Offset diagonal : {0, 4, 7, 11})
      a.values(diagonal) *= 1 + shifted.shift();
    EXPECT_LT(residualOnPattern(shifted, a), 1e-13);
  }
}

/// Without a shift of what is searched, rows behind a pivot that was made up would keep all sorts
/// of entries: the pattern is that of A + alpha diag(A), here alpha = shift times 4 at most.
TEST(IctBreakdown, PatternIsThatOfTheShiftedMatrix) {
  const HostBsr a = breaksDown();
  IcParameters<double, Device> parameters = ict(0.4, 10, PatternSearch::Sequential);
  parameters.shift = 0.5;
  IcMethod ic(parameters);
  setUp(ic, a);
  HostBsr shifted(a.graph, viewOf(toHost(a.values)), 1);
  for (const Offset diagonal : {0, 4, 7, 11})
    shifted.values(diagonal) *= 1.5;
  ASSERT_NE(plainIct(shifted, 0.4, 10), plainIct(a, 0.4, 10));
  EXPECT_EQ(patternOf(ic), plainIct(shifted, 0.4, 10));
}

/// By the tolerance that was given, and all of the row: its first entry, of the lower triangle, may
/// be the largest one.
TEST(IctBreakdown, SearchJudgesPivotsAsTheFactorisation) {
  const struct {
    double first, drop, tolerance; ///< scale of the first row and column; of pivots, in their rows
  } cases[] = {{1, 0.15, 0.4}, {4, 0.1, 0.2}};
  for (const auto& c : cases) {
    HostBsr a = breaksDown(), shifted = breaksDown();
    for (Ordinal i = 0; i < 4; ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
        const Ordinal j = a.graph.entries(e);
        a.values(e) =
            (i == j ? 3.5 : a.values(e)) * (i == 0 ? c.first : 1) * (j == 0 ? c.first : 1);
        shifted.values(e) = (i == j ? 1.5 : 1) * a.values(e);
      }
    IcParameters<double, Device> parameters = ict(c.drop, 10, PatternSearch::Sequential);
    parameters.shift = 0.5;
    parameters.pivot_tolerance = c.tolerance / std::numeric_limits<double>::epsilon();
    IcMethod ic(parameters);
    setUp(ic, a);
    ASSERT_NE(plainIct(shifted, c.drop, 10), plainIct(a, c.drop, 10));
    EXPECT_EQ(patternOf(ic), plainIct(shifted, c.drop, 10)) << c.first;
  }
}

TEST(IctBreakdown, ZerosOnTheDiagonalEndTheSearch) {
  const HostBsr a(makeGraph({{0, 1}, {0, 1}}), viewOf<double>({0, 1, 1, 0}), 1);
  for (const PatternSearch search : searches) {
    IcParameters<double, Device> parameters = ict(0.1, 10, search);
    parameters.breakdown = BreakdownPolicy::Replace;
    IcMethod replaced(parameters);
    setUp(replaced, a);
    EXPECT_GT(replaced.report().breakdowns, 0);
    parameters.breakdown = BreakdownPolicy::Shift;
    IcMethod shifted(parameters);
    setUp(shifted, a); // by the size of the row
    EXPECT_GT(shifted.shift(), 0);
  }
}

TEST(IctBreakdown, NonFiniteValuesAreRefused) {
  for (const PatternSearch search : searches)
    for (const double value :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      HostBsr a = spdMatrixOn(symmetricPattern(20, 3, 23), 2, 23);
      a.values(0) = value;
      IcMethod ic(ict(0.01, 10, search));
      EXPECT_THROW(setUp(ic, a), InvalidArgument);
    }
}

TEST(Ict, EmptyMatricesAndSingleRows) {
  for (const PatternSearch search : searches) {
    IcMethod empty(ict(0.01, 10, search));
    setUp(empty, HostBsr(makeGraph({}), viewOf<double>({}), 1));
    IcMethod one(ict(0.01, 10, search));
    setUp(one, HostBsr(makeGraph({{0}}), viewOf<double>({4}), 1));
    EXPECT_EQ(denseInverse(one), std::vector<double>{0.25});
  }
}

TEST(Ict, WithAllFillCgTakesOneIteration) {
  for (const char* name : {"laplace7:6", "jump:6", "elasticity:4x3x3"})
    for (const char* search : {"sequential", "parallel,steps=9"})
      EXPECT_EQ(costOfCg(makeProblem(name).matrix,
                         message("ic:factorization=ict,drop=0,max-fill=1000,search=", search))
                    .iterations,
                1)
          << name << " " << search;
}

/// With as many entries as a level of fill, where the entries have different sizes.
TEST(Ict, TakesFewerIterationsThanALevelWhereSizesDiffer) {
  const HostBsr a = makeProblem("jump:12").matrix;
  const auto [level_iterations, level_entries] = costOfCg(a, "ic:level=2");
  const double fill =
      double(2 * level_entries - a.numPointRows()) / double(a.numEntries() * a.block_size);
  for (const char* search : {"sequential", "parallel"}) {
    const auto [iterations, entries] =
        costOfCg(a, message("ic:factorization=ict,drop=0,max-fill=", fill, ",search=", search));
    EXPECT_LE(entries, level_entries + 1);
    EXPECT_LT(iterations, level_iterations);
  }
}

} // namespace
} // namespace ainvil
