// SPDX-License-Identifier: BSD-3-Clause
/// Block IC whose diagonal takes what is dropped.
#include "precond/ic/IcSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "KokkosObservers.hpp"
#include "Refusal.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace {

using namespace test;

IcParameters<double, Device> modifiedIc(double omega, int level = 0) {
  IcParameters<double, Device> parameters = exactIc(level);
  parameters.modified = omega;
  return parameters;
}

IcParameters<double, Device> modifiedIct(double omega, double drop, PatternSearch search) {
  IcParameters<double, Device> parameters = modifiedIc(omega);
  parameters.pattern = IcPattern::Threshold;
  parameters.drop = drop;
  parameters.search = search;
  return parameters;
}

std::vector<double> rowSums(const std::vector<double>& dense, size_t n) {
  return multiply(dense, std::vector<double>(n, 1.0), n);
}

Pattern patternWithLongRows() {
  Pattern pattern = symmetricPattern(70, 2, 7);
  for (const Ordinal full : {45, 50, 65})
    for (Ordinal j = 0; j < 70; ++j) {
      pattern[full].insert(j);
      pattern[j].insert(full);
    }
  return pattern;
}

class IcModified : public ::testing::TestWithParam<int> {};

/// M e = A e for e of ones.
TEST_P(IcModified, RowSumsAreThoseOfA) {
  const int bs = GetParam();
  for (const Pattern& pattern : {symmetricPattern(50, 4, 8), patternWithLongRows()}) {
    const HostBsr a = spdMatrixOn(pattern, bs, 71);
    const size_t n = pattern.size() * size_t(bs);
    const auto expected = rowSums(toDense(a), n);
    for (const int level : {0, 1}) {
      IcMethod ic(modifiedIc(1, level)), plain(exactIc(level));
      setUp(ic, a);
      setUp(plain, a);
      ASSERT_EQ(ic.report().breakdowns, 0);
      expectNear(rowSums(productOfFactors(ic), n), expected, 1e-12);
      const auto sums = rowSums(productOfFactors(plain), n);
      double worst = 0;
      for (size_t i = 0; i < n; ++i)
        worst = std::max(worst, std::abs(sums[i] - expected[i]));
      EXPECT_GT(worst, 1e-4) << level;
    }
  }
}

/// The same where entries of A are dropped, too, on the pattern of the unmodified factor.
TEST_P(IcModified, RowSumsAreThoseOfAByThresholds) {
  const int bs = GetParam();
  const size_t n = 60 * size_t(bs);
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 5, 9), bs, 72);
  for (const PatternSearch search : {PatternSearch::Sequential, PatternSearch::Parallel}) {
    IcMethod ic(modifiedIct(1, 0.1, search)), plain(modifiedIct(0, 0.1, search));
    setUp(ic, a);
    setUp(plain, a);
    const Offset kept = ic.factor().matrix.numEntries();
    EXPECT_LT(2 * kept + a.numRows(), a.numEntries());
    EXPECT_EQ(kept, plain.factor().matrix.numEntries());
    ASSERT_EQ(ic.report().breakdowns, 0);
    expectNear(rowSums(productOfFactors(ic), n), rowSums(toDense(a), n), 1e-12);
  }
}

/// M = A on the pattern beside the diagonal, and the diagonal of D_i has lost omega times the sums
/// of what is beside it, and nothing else.
TEST_P(IcModified, TheDiagonalTakesPartOfWhatIsDropped) {
  const size_t bs = size_t(GetParam()), n = 40 * bs;
  const HostBsr a = spdMatrixOn(symmetricPattern(40, 4, 10), int(bs), 73);
  const auto dense = toDense(a);
  const Rows rows = rowsOf(a.graph);
  for (const double omega : {0.4, 1.3}) {
    IcMethod ic(modifiedIc(omega));
    setUp(ic, a);
    const auto product = productOfFactors(ic);
    auto expected = dense;
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j) {
        const auto& row = rows[i / bs];
        if (std::count(row.begin(), row.end(), j / bs) == 0) {
          expected[i * n + j] = product[i * n + j];
          expected[i * n + i] -= omega * product[i * n + j];
        }
      }
    expectNear(product, expected, 1e-12);
  }
}

TEST_P(IcModified, WithAllFillNothingIsDropped) {
  const HostBsr a = spdMatrixOn(symmetricPattern(30, 3, 11), GetParam(), 74);
  IcMethod ic(modifiedIc(1, 30)), plain(exactIc(30));
  setUp(ic, a);
  setUp(plain, a);
  expectNear(toHost(ic.factor().matrix.values), toHost(plain.factor().matrix.values), 1e-13);
  expectNear(denseInverse(ic), denseInverse(plain), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Sizes, IcModified, ::testing::Values(1, 2, 3, 4, 5, 9));

/// A Kronecker product with the identity runs through the block kernels what the scalar ones do.
TEST(IcModified, BlocksOfMultiplesOfTheIdentityEqualTheScalarFactor) {
  const Pattern pattern = symmetricPattern(50, 5, 12);
  const HostBsr scalar = spdMatrixOn(pattern, 1, 75);
  IcMethod small(modifiedIc(0.7));
  setUp(small, scalar);
  const auto expected = denseInverse(small);
  for (const size_t bs : {size_t(3), size_t(9)}) {
    HostBsr block = spdMatrixOn(pattern, int(bs), 76);
    for (Offset e = 0; e < block.numEntries(); ++e)
      for (size_t k = 0; k < bs * bs; ++k)
        block.values(size_t(e) * bs * bs + k) = k % (bs + 1) == 0 ? scalar.values(e) : 0.0;
    IcMethod large(modifiedIc(0.7));
    setUp(large, block);
    const auto actual = denseInverse(large);
    std::vector<double> component(50 * 50);
    for (size_t i = 0; i < 50; ++i)
      for (size_t j = 0; j < 50; ++j)
        component[i * 50 + j] = actual[(i * bs + 1) * 50 * bs + j * bs + 1];
    expectNear(component, expected, 1e-13);
  }
}

TEST(IcModified, ZeroIsTheUnmodifiedFactor) {
  const HostBsr a = spdMatrixOn(symmetricPattern(50, 5, 13), 2, 77);
  const auto zero = createPreconditioner<double, Device>("ic:level=1,modified=0");
  const auto plain = createPreconditioner<double, Device>("ic:level=1");
  setUp(*zero, a);
  setUp(*plain, a);
  EXPECT_EQ(denseInverse(*zero), denseInverse(*plain));
}

TEST(IcModified, EqualsModifiedIluOfScalars) {
  const HostBsr a = spdMatrixOn(symmetricPattern(80, 5, 14), 1, 78);
  for (const char* parameters : {"modified=1", "level=1,modified=0.6"}) {
    const auto ic = createPreconditioner<double, Device>(message("ic:", parameters));
    const auto ilu = createPreconditioner<double, Device>(message("ilu:", parameters));
    setUp(*ic, a);
    setUp(*ilu, a);
    expectNear(denseInverse(*ic), denseInverse(*ilu), 1e-12);
  }
}

/// Gustafsson: the condition grows as 1 / h, not as 1 / h^2.
TEST(IcModified, TakesFewerIterationsForPoissonsEquation) {
  const HostBsr coarse = makeProblem("poisson5:64").matrix,
                fine = makeProblem("poisson5:128").matrix;
  const auto iterations = [](const HostBsr& a, const char* specification) {
    return costOfCg(a, specification).iterations;
  };
  EXPECT_GT(iterations(fine, "ic"), 1.7 * iterations(coarse, "ic"));
  for (const char* modified : {"ic:modified=0.99", "ic:modified=1"}) {
    EXPECT_LT(iterations(fine, modified), 1.6 * iterations(coarse, modified)) << modified;
    EXPECT_LT(iterations(fine, modified), 0.6 * iterations(fine, "ic")) << modified;
  }
}

TEST(IcModified, MMatricesDoNotBreakDown) {
  for (const char* problem : {"poisson5:40", "laplace7:12", "laplace27:10", "jump:12"})
    for (const char* specification :
         {"ic:modified=1", "ic:level=1,modified=1", "ic:factorization=ict,drop=0.02,modified=1"}) {
      const auto ic = createPreconditioner<double, Device>(specification);
      setUp(*ic, makeProblem(problem).matrix);
      EXPECT_EQ(ic->report().breakdowns, 0) << problem << ", " << specification;
    }
}

/// The Laplacian of a grid with no boundary values, times I in blocks: A e = 0, so that with M e =
/// 0 the last pivot is nothing but rounding.
TEST(IcModified, PivotsThatVanishAreCounted) {
  constexpr Ordinal side = 6, n = side * side;
  Pattern pattern = diagonalPattern(n);
  const auto couple = [&](Ordinal i, Ordinal j) {
    pattern[i].insert(j);
    pattern[j].insert(i);
  };
  for (Ordinal i = 0; i < n; ++i) {
    if (i % side + 1 < side)
      couple(i, i + 1);
    if (i + side < n)
      couple(i, i + side);
  }
  for (const int bs : {1, 2}) {
    const HostBsr a = matrixOn(pattern, bs, 79);
    for (Ordinal i = 0; i < n; ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        for (int k = 0; k < bs * bs; ++k)
          a.values(e * bs * bs + k) = k % (bs + 1) != 0         ? 0.0
                                      : a.graph.entries(e) == i ? double(pattern[i].size() - 1)
                                                                : -1.0;
    IcParameters<double, Device> parameters = modifiedIc(1);
    parameters.breakdown = BreakdownPolicy::Replace;
    IcMethod replaces(parameters);
    setUp(replaces, a);
    EXPECT_EQ(replaces.report().breakdowns, 1);
    EXPECT_EQ(replaces.report().first_breakdown, n - 1);
    parameters.breakdown = BreakdownPolicy::Fail;
    IcMethod fails(parameters);
    const std::string text = refusal([&] { setUp(fails, a); });
    EXPECT_NE(text.find("not positive definite to rounding"), std::string::npos) << text;
    IcMethod shifts(modifiedIc(1));
    setUp(shifts, a);
    EXPECT_EQ(shifts.report().breakdowns, 1);
    EXPECT_GT(shifts.shift(), 0);
  }
}

TEST(IcModified, RefusesWhatIsOutOfRange) {
  for (const double omega : {-0.1, 2.0})
    EXPECT_NE(refusal([&] { IcMethod{modifiedIc(omega)}; }).find("modified"), std::string::npos);
}

} // namespace
} // namespace ainvil
