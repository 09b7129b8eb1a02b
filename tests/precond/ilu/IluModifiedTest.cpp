// SPDX-License-Identifier: BSD-3-Clause
/// Block ILU whose diagonal takes what is dropped.
#include "precond/ilu/IluSupport.hpp"

#include "Refusal.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "ilu/Ainvil_Ilut.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace {

using namespace test;

IluSettings<Device> modifiedIlu(double omega, int level = 0) {
  IluSettings<Device> parameters = exactIlu(level);
  parameters.factorization.modified = omega;
  return parameters;
}

/// The sums of the blocks of each block row.
std::vector<double> blockRowSums(const std::vector<double>& dense, size_t n, size_t bs) {
  std::vector<double> sums(n * bs * bs, 0.0);
  for (size_t i = 0; i < n * bs; ++i)
    for (size_t j = 0; j < n * bs; ++j)
      sums[i * bs + j % bs] += dense[i * n * bs + j];
  return sums;
}

class IluModified : public ::testing::TestWithParam<int> {};

/// (L U) e = A e for e of ones, and for all vectors that are the same in every block.
TEST_P(IluModified, BlockRowSumsAreThoseOfA) {
  const size_t bs = size_t(GetParam());
  Pattern with_long_rows = randomPattern(90, 2, 7);
  for (const Ordinal full : {0, 3, 60})
    for (Ordinal j = 0; j < 90; ++j)
      with_long_rows[full].insert(j);
  for (const Pattern& pattern : {randomPattern(50, 5, 7), with_long_rows}) {
    const size_t n = pattern.size();
    const HostBsr a = matrixOn(pattern, int(bs), 51);
    const auto expected = blockRowSums(toDense(a), n, bs);
    for (const int level : {0, 1}) {
      Ilu<double, Device> ilu(modifiedIlu(1, level)), plain(exactIlu(level));
      setUp(ilu, a);
      setUp(plain, a);
      expectNear(blockRowSums(denseProduct(ilu.factors()), n, bs), expected, 1e-12);
      double worst = 0;
      const auto sums = blockRowSums(denseProduct(plain.factors()), n, bs);
      for (size_t e = 0; e < sums.size(); ++e)
        worst = std::max(worst, std::abs(sums[e] - expected[e]));
      EXPECT_GT(worst, 1e-4) << level;
    }
  }
}

/// The same where entries of A are dropped, too.
TEST_P(IluModified, BlockRowSumsAreThoseOfAByThresholds) {
  const size_t bs = size_t(GetParam()), n = 60;
  const HostBsr a = matrixOn(randomPattern(Ordinal(n), 6, 57), int(bs), 58);
  const auto expected = blockRowSums(toDense(a), n, bs);
  for (const PatternSearch search : {PatternSearch::Sequential, PatternSearch::Parallel})
    for (const int sweeps : {0, 60}) {
      SCOPED_TRACE(message("parallel ", search == PatternSearch::Parallel, ", sweeps ", sweeps));
      IlutParameters parameters;
      parameters.drop = 0.2;
      parameters.search = search;
      parameters.sweeps = sweeps;
      parameters.modified = 1;
      Ilut<double, Device> ilut(parameters);
      setUpFactors(ilut, a);
      expectNear(blockRowSums(denseProduct(ilut), n, bs), expected, 1e-12);
      const Offset kept = ilut.lower().matrix.numEntries() + ilut.upper().matrix.numEntries();
      EXPECT_LT(kept, a.numEntries());
      // The pattern is that of the unmodified factors.
      parameters.modified = 0;
      Ilut<double, Device> plain(parameters);
      setUpFactors(plain, a);
      EXPECT_EQ(kept, plain.lower().matrix.numEntries() + plain.upper().matrix.numEntries());
    }
}

/// L U = A on the pattern beside the diagonal, and omega of what is beside it is on the diagonal.
TEST_P(IluModified, TheDiagonalTakesPartOfWhatIsDropped) {
  const size_t bs = size_t(GetParam()), n = 40;
  const HostBsr a = matrixOn(randomPattern(Ordinal(n), 5, 8), int(bs), 52);
  const auto dense = toDense(a);
  for (const double omega : {0.4, 1.3}) {
    Ilu<double, Device> ilu(modifiedIlu(omega));
    setUp(ilu, a);
    const auto product = denseProduct(ilu.factors());
    for (size_t i = 0; i < n; ++i)
      for (size_t r = 0; r < bs; ++r)
        for (size_t c = 0; c < bs; ++c) {
          double dropped = 0;
          for (size_t j = 0; j < n; ++j) {
            const size_t at = (i * bs + r) * n * bs + j * bs + c;
            const Offset begin = a.graph.row_map(i), end = a.graph.row_map(i + 1);
            const bool in_pattern = std::count(a.graph.entries.data() + begin,
                                               a.graph.entries.data() + end, Ordinal(j)) > 0;
            if (!in_pattern) {
              dropped += product[at];
            } else if (j != i) {
              ASSERT_NEAR(product[at], dense[at], 1e-12) << i << " " << j;
            }
          }
          const size_t diagonal = (i * bs + r) * n * bs + i * bs + c;
          ASSERT_NEAR(product[diagonal], dense[diagonal] - omega * dropped, 1e-12) << i;
        }
  }
}

TEST_P(IluModified, WithAllFillNothingIsDropped) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(randomPattern(30, 3, 9), bs, 53);
  Ilu<double, Device> ilu(modifiedIlu(1, 30)), plain(exactIlu(30));
  setUp(ilu, a);
  setUp(plain, a);
  EXPECT_EQ(denseInverse(ilu), denseInverse(plain));
}

TEST_P(IluModified, EnoughSweepsEqualLevelByLevel) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(randomPattern(30, 4, 10), bs, 54);
  Ilu<double, Device> by_levels(modifiedIlu(0.9, 1));
  IluSettings<Device> parameters = modifiedIlu(0.9, 1);
  parameters.factorization.sweeps = 30;
  Ilu<double, Device> by_sweeps(parameters);
  setUp(by_levels, a);
  setUp(by_sweeps, a);
  expectNear(denseInverse(by_sweeps), denseInverse(by_levels), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Sizes, IluModified, ::testing::Values(1, 2, 3, 4, 5, 9));

/// A Kronecker product with the identity runs through the block kernels what the scalar ones do.
TEST(IluModified, BlocksOfMultiplesOfTheIdentityEqualTheScalarFactors) {
  const Pattern pattern = randomPattern(50, 5, 11);
  const HostBsr scalar = matrixOn(pattern, 1, 55);
  Ilu<double, Device> small(modifiedIlu(0.7));
  setUp(small, scalar);
  const auto expected = denseInverse(small);
  const size_t bs = 3;
  HostBsr block = matrixOn(pattern, int(bs), 56);
  for (Offset e = 0; e < block.numEntries(); ++e)
    for (int k = 0; k < 9; ++k)
      block.values(e * 9 + k) = k % 4 == 0 ? scalar.values(e) : 0.0;
  Ilu<double, Device> large(modifiedIlu(0.7));
  setUp(large, block);
  const auto actual = denseInverse(large);
  std::vector<double> component(50 * 50);
  for (size_t i = 0; i < 50; ++i)
    for (size_t j = 0; j < 50; ++j)
      component[i * 50 + j] = actual[(i * bs + 1) * 50 * bs + j * bs + 1];
  expectNear(component, expected, 1e-13);
}

int iterations(const HostBsr& matrix, const std::string& specification) {
  return costOfCg(matrix, specification).iterations;
}

/// Gustafsson: the condition grows as 1 / h, not as 1 / h^2.
TEST(IluModified, TakesFewerIterationsForPoissonsEquation) {
  const HostBsr coarse = makeProblem("poisson5:40").matrix,
                fine = makeProblem("poisson5:80").matrix;
  EXPECT_GT(iterations(fine, "ilu"), 1.6 * iterations(coarse, "ilu"));
  EXPECT_LT(iterations(fine, "ilu:modified=0.99"), 1.6 * iterations(coarse, "ilu:modified=0.99"));
  EXPECT_LT(iterations(fine, "ilu:modified=0.99"), 0.6 * iterations(fine, "ilu"));
}

TEST(IluModified, RefusesWhatIsOutOfRange) {
  for (const double omega : {-0.1, 2.0})
    EXPECT_NE(refusal([&] { Ilu<double, Device>{modifiedIlu(omega)}; }).find("modified"),
              std::string::npos);
}

} // namespace
} // namespace ainvil
