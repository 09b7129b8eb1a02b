// SPDX-License-Identifier: BSD-3-Clause
#include "precond/PrecondSupport.hpp"

#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <utility>

namespace ainvil {
namespace {

using namespace test;

/// L U as a dense matrix, from the factors' own storage.
std::vector<double> denseProduct(const Factorization<double, Device>& factors) {
  const auto lower = toDense(copyTo<HostDevice>(factors.lower().matrix));
  auto upper = toDense(copyTo<HostDevice>(factors.upper().matrix));
  const size_t n = static_cast<size_t>(factors.lower().matrix.numPointRows());
  for (size_t i = 0; i < n; ++i)
    upper[i * n + i] += 1.0;
  return multiply(lower, upper, n);
}

class IluBlockSize : public ::testing::TestWithParam<int> {};

TEST_P(IluBlockSize, FullPatternIsTheExactInverse) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(fullPattern(7), bs, 11);
  Ilu<double, Device> ilu(exactIlu());
  setUp(ilu, a);
  const size_t n = 7 * bs;
  expectNear(denseInverse(ilu), inverse(toDense(a), n), 1e-12);
}

TEST_P(IluBlockSize, ProductOfFactorsIsAOnThePattern) {
  const int bs = GetParam();
  const Pattern pattern = randomPattern(43, 4, 5);
  const HostBsr a = matrixOn(pattern, bs, 12);
  Report report;
  BlockIlu<double, Device> factors{BlockIluParameters()};
  factors.initialize(Exec(), copyTo<Device>(a), report);
  factors.compute(Exec(), copyTo<Device>(a), report);
  const auto product = denseProduct(factors);
  const auto dense = toDense(a);
  const size_t n = 43 * bs;
  for (size_t i = 0; i < 43; ++i)
    for (const Ordinal j : pattern[i])
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < bs; ++c) {
          const size_t at = (i * bs + r) * n + size_t(j) * bs + c;
          ASSERT_NEAR(product[at], dense[at], 1e-11) << "block " << i << ", " << j;
        }
}

TEST_P(IluBlockSize, TransposeIdentity) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(randomPattern(31, 5, 6), bs, 13);
  Ilu<double, Device> ilu(exactIlu());
  setUp(ilu, a);
  const size_t n = 31 * bs;
  expectNear(denseInverse(ilu, Trans::Yes), transposed(denseInverse(ilu), n), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Sizes, IluBlockSize, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 11, 17));

/// ||(A - L U)_S||_F / ||A||_F on the pattern S of the factors.
double denseResidual(const BlockIlu<double, Device>& factors, const HostBsr& a) {
  const auto product = denseProduct(factors);
  const auto dense = toDense(a);
  const size_t n = static_cast<size_t>(a.numPointRows());
  const int bs = a.block_size;
  double squares = 0, size = 0;
  for (const auto& graph : {copyTo<HostDevice>(factors.lower().matrix.graph),
                            copyTo<HostDevice>(factors.upper().matrix.graph)})
    for (size_t i = 0; i < n; ++i)
      for (Offset e = graph.row_map(i / bs); e < graph.row_map(i / bs + 1); ++e)
        for (int c = 0; c < bs; ++c) {
          const size_t at = i * n + size_t(graph.entries(e)) * bs + c;
          squares += (dense[at] - product[at]) * (dense[at] - product[at]);
        }
  for (const double value : dense)
    size += value * value;
  return std::sqrt(squares / size);
}

TEST(IluSweeps, ApproachTheFactorsAndReachThemAfterAsManyAsLevels) {
  for (const int bs : {1, 3, 11})
    for (const int level : {0, 1}) {
      const HostBsr a = matrixOn(randomPattern(60, 15, 81), bs, 81);
      const DeviceBsr on_device = copyTo<Device>(a);
      Report report;
      BlockIluParameters parameters;
      parameters.level = level;
      BlockIlu<double, Device> exact(parameters);
      exact.initialize(Exec(), on_device, report);
      exact.compute(Exec(), on_device, report);
      const int levels = levelSets(Exec(), exact.lower().matrix.graph, Uplo::Lower).numLevels();
      double before = 1;
      for (const int n : {1, 2, 3, levels}) {
        parameters.sweeps = n;
        BlockIlu<double, Device> factors(parameters);
        factors.initialize(Exec(), on_device, report);
        factors.compute(Exec(), on_device, report);
        EXPECT_NEAR(factors.residual(), denseResidual(factors, a), 1e-14);
        EXPECT_LT(factors.residual(), before);
        before = factors.residual();
        if (n == levels) {
          EXPECT_LT(factors.residual(), 1e-15);
          expectNear(toHost(factors.upper().matrix.values), toHost(exact.upper().matrix.values),
                     1e-13);
          expectNear(toHost(factors.lower().diagonal_inverse),
                     toHost(exact.lower().diagonal_inverse), 1e-13);
        } else {
          EXPECT_GT(factors.residual(), 1e-12);
        }
      }
    }
}

/// Rows of a block tridiagonal matrix wait for one another: n sweeps leave the first n + 1 of them
/// exact, in both factors, and the next ones not yet.
TEST(IluSweeps, AreExactInAsManyLevelsAsThereWereSweeps) {
  constexpr Ordinal rows = 12;
  Pattern pattern = diagonalPattern(rows);
  for (Ordinal i = 1; i < rows; ++i) {
    pattern[i].insert(i - 1);
    pattern[i - 1].insert(i);
  }
  for (const int bs : {1, 3}) {
    const DeviceBsr a = copyTo<Device>(matrixOn(pattern, bs, 86));
    const auto factorsAfter = [&](int sweeps) {
      Report report;
      BlockIluParameters parameters;
      parameters.sweeps = sweeps;
      BlockIlu<double, Device> factors(parameters);
      factors.initialize(Exec(), a, report);
      factors.compute(Exec(), a, report);
      return std::make_pair(toHost(factors.lower().diagonal_inverse),
                            toHost(factors.upper().matrix.values));
    };
    const auto exact = factorsAfter(0);
    const size_t bs2 = size_t(bs) * bs;
    // The first block that differs by more than rounding.
    const auto firstWrong = [&](const std::vector<double>& found,
                                const std::vector<double>& expected) {
      size_t at = 0;
      while (at < found.size() && std::abs(found[at] - expected[at]) < 1e-14)
        ++at;
      return at / bs2;
    };
    for (const int sweeps : {1, 2, 3, 4}) {
      const auto factors = factorsAfter(sweeps);
      const size_t right = size_t(sweeps) + 1;
      SCOPED_TRACE(message("block size ", bs, ", ", sweeps, " sweeps"));
      EXPECT_EQ(firstWrong(factors.first, exact.first), right);
      EXPECT_EQ(firstWrong(factors.second, exact.second), right);
    }
  }
}

/// The residual is relative: squares that leave the range of numbers do not matter.
TEST(IluSweeps, ResidualKnowsNoScale) {
  const HostBsr a = matrixOn(randomPattern(40, 6, 85), 3, 85);
  const auto residualAt = [&](double scale) {
    const HostBsr scaled(a.graph, viewOf(toHost(a.values)), a.block_size);
    for (size_t i = 0; i < scaled.values.extent(0); ++i)
      scaled.values(i) *= scale;
    IluParameters<Device> parameters = exactIlu();
    parameters.factorization.sweeps = 1;
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, scaled);
    return ilu.factors().residual();
  };
  const double expected = residualAt(1);
  EXPECT_GT(expected, 1e-6);
  EXPECT_NEAR(residualAt(0x1p-700), expected, 1e-14 * expected);
  EXPECT_NEAR(residualAt(0x1p+700), expected, 1e-14 * expected);
}

TEST(IluSweeps, CountThePivotsOfTheLastSweep) {
  HostBsr a = matrixOn(diagonalPattern(10), 1, 82);
  a.values(3) = 0;
  a.values(7) = 0;
  IluParameters<Device> parameters;
  parameters.factorization.sweeps = 4;
  Ilu<double, Device> failing(parameters);
  EXPECT_THROW(setUp(failing, a), BreakdownError);
  parameters.factorization.breakdown = BreakdownPolicy::Replace;
  Ilu<double, Device> replacing(parameters);
  setUp(replacing, a);
  EXPECT_EQ(replacing.report().breakdowns, 2);
  EXPECT_EQ(replacing.report().first_breakdown, 3);
}

TEST(IluSweeps, OverflowIsABreakdown) {
  // Pivots of 1e-200 and couplings of 1: two sweeps square the growth beyond the range.
  Pattern pattern(6);
  for (Ordinal i = 0; i < 6; ++i)
    for (Ordinal j = 0; j < 6; ++j)
      pattern[i].insert(j);
  HostBsr a = matrixOn(pattern, 1, 83);
  for (Ordinal i = 0; i < 6; ++i)
    a.values(7 * i) = 1e-200;
  IluParameters<Device> parameters;
  parameters.factorization.sweeps = 1;
  parameters.factorization.breakdown = BreakdownPolicy::Replace;
  parameters.factorization.pivot_tolerance = 0; // which would replace the pivots
  Ilu<double, Device> ilu(parameters);
  EXPECT_THROW(setUp(ilu, a), BreakdownError);
}

TEST(Ilu, EnoughFillIsTheExactInverse) {
  const HostBsr a = matrixOn(randomPattern(40, 2, 8), 2, 14);
  Ilu<double, Device> ilu(exactIlu(40));
  setUp(ilu, a);
  expectNear(denseInverse(ilu), inverse(toDense(a), 80), 1e-11);
}

TEST(Ilu, MoreFillIsCloserToA) {
  const Problem problem = makeProblem("poisson5:20");
  const auto dense = toDense(problem.matrix);
  double before = std::numeric_limits<double>::infinity();
  for (const int level : {0, 1, 2, 4}) {
    Report report;
    BlockIluParameters parameters;
    parameters.level = level;
    BlockIlu<double, Device> factors(parameters);
    factors.initialize(Exec(), copyTo<Device>(problem.matrix), report);
    factors.compute(Exec(), copyTo<Device>(problem.matrix), report);
    const auto product = denseProduct(factors);
    double error = 0;
    for (size_t i = 0; i < product.size(); ++i)
      error += std::abs(product[i] - dense[i]);
    EXPECT_LT(error, 0.7 * before) << "level " << level;
    before = error;
  }
}

/// A Kronecker product with the identity runs through the block kernels what the scalar ones do.
TEST(Ilu, BlocksOfMultiplesOfTheIdentityEqualTheScalarFactors) {
  const Pattern pattern = randomPattern(50, 5, 9);
  const HostBsr scalar = matrixOn(pattern, 1, 15);
  for (const int bs : {3, 9}) {
    HostBsr block = matrixOn(pattern, bs, 16);
    for (Offset e = 0; e < block.numEntries(); ++e)
      for (int k = 0; k < bs * bs; ++k)
        block.values(e * bs * bs + k) = k % (bs + 1) == 0 ? scalar.values(e) : 0.0;
    Ilu<double, Device> small(exactIlu(1)), large(exactIlu(1));
    setUp(small, scalar);
    setUp(large, block);
    const auto expected = denseInverse(small);
    const auto actual = denseInverse(large);
    std::vector<double> component(50 * 50);
    for (int r = 0; r < bs; ++r) {
      for (size_t i = 0; i < 50; ++i)
        for (size_t j = 0; j < 50; ++j)
          component[i * 50 + j] = actual[(i * bs + r) * 50 * bs + j * bs + r];
      expectNear(component, expected, 1e-13);
    }
  }
}

/// Rows with more entries than a kernel lists at a time, and with more of them in L; of all of
/// these columns, of few, and of every third.
TEST(Ilu, MoreProductsThanAListTakes) {
  constexpr Ordinal n = 290;
  Pattern arrow(n), comb(n);
  for (Ordinal i = 0; i < n; ++i)
    for (Ordinal j = 0; j < n; ++j) {
      if (i == j || i == 0 || j == 0 || i == n - 1)
        arrow[i].insert(j);
      if (i == j || i < 3 || j % 3 == i % 3)
        comb[i].insert(j);
    }
  for (const auto& pattern : {fullPattern(150), arrow, comb})
    for (const int bs : {1, 2}) {
      SCOPED_TRACE(message(pattern.size(), " rows in blocks of ", bs));
      const HostBsr a = matrixOn(pattern, bs, 17);
      Report report;
      BlockIlu<double, Device> factors{BlockIluParameters()};
      factors.initialize(Exec(), copyTo<Device>(a), report);
      factors.compute(Exec(), copyTo<Device>(a), report);
      EXPECT_LT(denseResidual(factors, a), 1e-14);
    }
}

TEST(Ilu, LongRowsAndAChainOfManyLevels) {
  const HostBsr a = matrixOn(longRowsPattern(615), 1, 17);
  Ilu<double, Device> ilu(exactIlu());
  setUp(ilu, a);
  const auto m = denseInverse(ilu);
  const auto expected = inverse(denseProduct(ilu.factors()), 615);
  expectNear(m, expected, 1e-11);

  Pattern chain = diagonalPattern(3000);
  for (Ordinal i = 1; i < 3000; ++i)
    chain[i].insert(i - 1);
  const HostBsr bidiagonal = matrixOn(chain, 1, 18);
  Ilu<double, Device> exact(exactIlu());
  setUp(exact, bidiagonal);
  const std::vector<double> ones(3000, 1.0);
  const auto x = toDevice(ones);
  const auto b = toDevice(ones);
  const auto y = toDevice(std::vector<double>(3000, std::numeric_limits<double>::quiet_NaN()));
  spmv<double, double, Device>(Exec(), Trans::No, 1.0, copyTo<Device>(bidiagonal),
                               asColumn(Vector<const double, Device>(x)), 0.0, asColumn(b));
  exact.apply(Exec(), Vector<const double, Device>(b), y);
  expectNear(toHost(y), ones, 1e-12);
}

/// Large enough for several host threads to share each of two level sets; sweeps are exact after as
/// many as there are levels.
TEST(Ilu, TwoLargeLevelsEqualTwoSweeps) {
  const Ordinal half = 20000;
  Pattern pattern = diagonalPattern(2 * half);
  for (Ordinal i = 0; i < half; ++i)
    for (const Ordinal j : {half + i, half + (i + 7) % half}) {
      pattern[i].insert(j);
      pattern[j].insert(i);
    }
  const HostBsr a = matrixOn(pattern, 3, 20);
  Ilu<double, Device> exact(exactIlu());
  IluParameters<Device> parameters;
  SweepParameters sweeps;
  sweeps.sweeps = 2;
  parameters.solve = sweeps;
  Ilu<double, Device> swept(parameters);
  setUp(exact, a);
  setUp(swept, a);
  EXPECT_NE(exact.report().notes.find("lower_levels=2, upper_levels=2"), std::string::npos)
      << exact.report().notes;
  const auto b = toDevice(Random(21).vector(a.numPointRows()));
  const auto x = toDevice(std::vector<double>(size_t(a.numPointRows()), 0.0)),
             y = toDevice(toHost(x));
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    exact.apply(Exec(), asColumn(Vector<const double, Device>(b)), asColumn(x), trans);
    swept.apply(Exec(), asColumn(Vector<const double, Device>(b)), asColumn(y), trans);
    expectNear(toHost(x), toHost(y), 1e-13);
  }
}

TEST(Ilu, StorageRoundsTheFactors) {
  const HostBsr a = matrixOn(randomPattern(60, 5, 19), 3, 19);
  using Method = Ilu<double, Device>;
  forEachRounding<Method>(
      exactIlu(), a, [](const Method& rounded, const Method& in_double, double error) {
        expectRoundedFactors(rounded, in_double, 5 * error);
        EXPECT_LT(rounded.report().factor_bytes, 0.6 * in_double.report().factor_bytes);
      });
}

/// A dense first row: neither scratch nor time may grow with it for all rows.
TEST(Ilu, ArrowMatrix) {
  const Ordinal n = 2000;
  Pattern arrow = diagonalPattern(n);
  for (Ordinal j = 0; j < n; ++j) {
    arrow[0].insert(j);
    arrow[j].insert(0);
  }
  const HostBsr a = matrixOn(arrow, 2, 25);
  for (const auto& parameters : {exactIlu(), isaiIlu(1), isaiIlu(1, IsaiSide::Columns)}) {
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, a);
    EXPECT_EQ(ilu.report().breakdowns, 0);
    // Both triangles hold all of their inverses' entries, so all three agree.
    const auto x = toDevice(Random(1).vector(2 * n), 2 * n, 1);
    const auto y = poisoned(2 * n, 1), expected = poisoned(2 * n, 1);
    Ilu<double, Device> reference(exactIlu());
    setUp(reference, a);
    ilu.apply(Exec(), x, y);
    reference.apply(Exec(), x, expected);
    expectNear(toHost(y), toHost(expected), 1e-12);
  }
}

TEST(Ilu, FactorsThatDoNotFitTheirStorageAreRefused) {
  for (const double scale : {1e45, 1e-45})
    for (IluParameters<Device> parameters : {exactIlu(), isaiIlu(1)}) {
      HostBsr a = matrixOn(randomPattern(20, 3, 26), 1, 26);
      for (size_t i = 0; i < a.values.extent(0); ++i)
        a.values(i) *= scale;
      for (const Rounding& rounding : roundings) {
        parameters.storage = rounding.storage;
        Ilu<double, Device> ilu(parameters);
        EXPECT_THROW(setUp(ilu, a), InvalidArgument) << scale;
        EXPECT_FALSE(ilu.isComputed());
      }
      parameters.storage = Storage::Native;
      Ilu<double, Device> in_double(parameters);
      EXPECT_NO_THROW(setUp(in_double, a)) << scale;
    }
}

TEST(Ilu, SinglePrecisionThroughout) {
  const HostBsr a = matrixOn(randomPattern(33, 5, 20), 2, 20);
  Kokkos::View<float*, HostDevice> values("Ainvil::values", a.values.extent(0));
  for (size_t i = 0; i < a.values.extent(0); ++i)
    values(i) = static_cast<float>(a.values(i));
  const BsrMatrix<float, Device> single =
      copyTo<Device>(BsrMatrix<float, HostDevice>(a.graph, values, 2));
  Ilu<float, Device> ilu(exactIlu(2));
  ilu.initialize(single);
  ilu.compute(single);
  Ilu<double, Device> reference(exactIlu(2));
  setUp(reference, a);
  Kokkos::View<float*, Kokkos::LayoutLeft, Device> x("Ainvil::x", 66), y("Ainvil::y", 66);
  Kokkos::deep_copy(x, 1.0f);
  ilu.apply(Exec(), Vector<const float, Device>(x), y);
  const auto dense = denseInverse(reference);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  for (size_t i = 0; i < 66; ++i) {
    double sum = 0;
    for (size_t j = 0; j < 66; ++j)
      sum += dense[i * 66 + j];
    EXPECT_NEAR(host(i), sum, 1e-5);
  }
}

/// Block row 3 gets a singular pivot, whatever precedes it.
HostBsr singularInRow3(int bs) {
  HostBsr a = matrixOn(diagonalPattern(8), bs, 21);
  for (int k = 0; k < bs; ++k) // two equal rows, or a zero
    a.values(3 * bs * bs + k) = bs > 1 ? a.values(3 * bs * bs + bs + k) : 0.0;
  return a;
}

TEST(IluBreakdown, FailNamesTheFirstRowAndThePolicies) {
  for (const int bs : {1, 3, 11}) {
    Ilu<double, Device> ilu(exactIlu());
    try {
      setUp(ilu, singularInRow3(bs));
      FAIL() << "no exception";
    } catch (const BreakdownError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("block row 4 (counted from 1)"), std::string::npos) << text;
      EXPECT_NE(text.find("'shift'"), std::string::npos) << text;
      EXPECT_NE(text.find("'replace'"), std::string::npos) << text;
    }
    EXPECT_FALSE(ilu.isComputed());
  }
}

TEST(IluBreakdown, ShiftAndReplaceAreCountedAndFinite) {
  for (const auto policy : {BreakdownPolicy::Shift, BreakdownPolicy::Replace})
    for (const int bs : {1, 3, 11}) {
      IluParameters<Device> parameters = exactIlu();
      parameters.factorization.breakdown = policy;
      Ilu<double, Device> ilu(parameters);
      setUp(ilu, singularInRow3(bs));
      EXPECT_EQ(ilu.report().breakdowns, 1);
      EXPECT_EQ(ilu.report().first_breakdown, 3);
      // M is the inverse of the L U that was kept, changed pivot included.
      expectNear(denseInverse(ilu), inverse(denseProduct(ilu.factors()), 8 * bs), 1e-10);
      // A good matrix on the same graph clears the counters.
      ilu.compute(copyTo<Device>(matrixOn(diagonalPattern(8), bs, 22)));
      EXPECT_EQ(ilu.report().breakdowns, 0);
      EXPECT_EQ(ilu.report().first_breakdown, -1);
    }
}

TEST(IluBreakdown, NegativePivotsAreFine) {
  HostBsr a = matrixOn(randomPattern(20, 3, 23), 2, 23);
  for (size_t i = 0; i < a.values.extent(0); ++i)
    a.values(i) = -a.values(i);
  Ilu<double, Device> ilu(exactIlu(20));
  setUp(ilu, a);
  EXPECT_EQ(ilu.report().breakdowns, 0);
  expectNear(denseInverse(ilu), inverse(toDense(a), 40), 1e-11);
}

/// Whether a block is missing does not matter where elimination fills it.
TEST(IluBreakdown, MissingDiagonalBlocksMayFill) {
  Pattern pattern = randomPattern(10, 3, 24);
  pattern[6].erase(6);
  pattern[8].erase(8);
  pattern[6].insert(2);
  pattern[2].insert(6);
  pattern[8].insert(3);
  pattern[3].insert(8);
  const HostBsr a = matrixOn(pattern, 2, 24);
  for (const int sweeps : {0, 3}) {
    IluParameters<Device> parameters = exactIlu();
    parameters.factorization.sweeps = sweeps;
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, a);
    EXPECT_EQ(ilu.report().breakdowns, 0);
    expectNear(denseInverse(ilu), inverse(denseProduct(ilu.factors()), 20), 1e-10);
  }
}

TEST(IluBreakdown, MissingDiagonalBlocksThatStayZeroFollowThePolicy) {
  Pattern pattern = diagonalPattern(10);
  pattern[6] = {7}; // nothing to the left of it
  pattern[8] = {9};
  const HostBsr a = matrixOn(pattern, 2, 24);
  for (const int level : {0, 2}) {
    IluParameters<Device> parameters = exactIlu(level);
    Ilu<double, Device> strict(parameters);
    try {
      setUp(strict, a);
      FAIL() << "no exception";
    } catch (const BreakdownError& error) {
      const std::string text = error.what();
      EXPECT_NE(text.find("2 pivot blocks"), std::string::npos) << text;
      EXPECT_NE(text.find("block row 7 (counted from 1)"), std::string::npos) << text;
      EXPECT_NE(text.find("exchange rows"), std::string::npos) << text;
    }
    parameters.factorization.breakdown = BreakdownPolicy::Shift;
    Ilu<double, Device> shifted(parameters);
    setUp(shifted, a);
    EXPECT_EQ(shifted.report().breakdowns, 2);
    expectNear(denseInverse(shifted), inverse(denseProduct(shifted.factors()), 20), 1e-10);
  }
}

/// [K B^T; B 0] with more than enough fill: the exact inverse, where the diagonal of A is zero, be
/// the zeros stored or not.
TEST(IluBreakdown, SaddlePointsNeedNoPolicy) {
  const HostBsr k = makeProblem("poisson5:6x5").matrix;
  const Ordinal n = k.numRows(), constraints = 9;
  for (const bool stored : {false, true}) {
    Pattern pattern(n + constraints);
    for (Ordinal i = 0; i < n; ++i)
      for (Offset e = k.graph.row_map(i); e < k.graph.row_map(i + 1); ++e)
        pattern[i].insert(k.graph.entries(e));
    for (Ordinal c = 0; c < constraints; ++c) {
      for (const Ordinal j : {3 * c, 3 * c + 1, 3 * c + 3}) {
        pattern[n + c].insert(j);
        pattern[j].insert(n + c);
      }
      if (stored)
        pattern[n + c].insert(n + c);
    }
    const HostBsr a = matrixOn(pattern, 1, 1);
    for (Ordinal i = 0; i < n + constraints; ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
        const Ordinal j = a.graph.entries(e);
        const bool coupling = (i < n) != (j < n);
        a.values(e) = coupling ? 1 + 0.1 * std::max(i, j) + 0.5 * (std::min(i, j) % 3)
                      : i < n  ? (i == j ? 4 : -1)
                               : 0;
      }
    const size_t size = size_t(n + constraints);
    Ilu<double, Device> ilu(exactIlu(40));
    setUp(ilu, a);
    EXPECT_EQ(ilu.report().breakdowns, 0);
    expectNear(denseInverse(ilu), inverse(toDense(a), size), 1e-9);
    Ilu<double, Device> incomplete(exactIlu(2));
    setUp(incomplete, a);
    EXPECT_EQ(incomplete.report().breakdowns, 0);
  }
}

/// [3 1; 1 1/3] with one more unit in the last place, in unknown `bad` of every block: elimination
/// leaves 6e-17 there. `couple` puts it into a column that is zero but for it.
HostBsr cancelling(int bs, int bad, bool couple) {
  const HostBsr a = matrixOn(fullPattern(2), bs, 1);
  const double third = 1.0 / 3;
  for (int block = 0; block < 4; ++block)
    for (int r = 0; r < bs; ++r)
      for (int c = 0; c < bs; ++c) {
        double value = r != c ? 0.0 : block == 0 ? 3.0 : block == 3 ? 2.0 : 1.0;
        if (block == 3 && r == bad && c == bad)
          value = std::nextafter(third, 1.0);
        if (block == 3 && couple && r == bad && c != bad)
          value = 1;
        a.values((block * bs + r) * bs + c) = value;
      }
  return a;
}

TEST(IluBreakdown, PivotsThatAreRoundingErrorsOfTheirRowsAreCounted) {
  for (const int bs : {1, 3, 11})
    for (const bool couple : {false, true})
      for (const int sweeps : {0, 3})
        for (const double scale : {1.0, 0x1p-700, 0x1p+700}) {
          const HostBsr a = cancelling(bs, bs / 2, couple);
          for (size_t e = 0; e < a.values.extent(0); ++e)
            a.values(e) *= scale;
          IluParameters<Device> parameters = exactIlu();
          parameters.factorization.sweeps = sweeps;
          const auto text = message("block size ", bs, ", couple ", couple, ", sweeps ", sweeps,
                                    ", scale ", scale);
          Ilu<double, Device> failing(parameters);
          EXPECT_THROW(setUp(failing, a), BreakdownError) << text;
          parameters.factorization.breakdown = BreakdownPolicy::Shift;
          Ilu<double, Device> shifted(parameters);
          setUp(shifted, a);
          EXPECT_EQ(shifted.report().breakdowns, 1) << text;
          EXPECT_EQ(shifted.report().first_breakdown, 1) << text;
          const auto pivots = toHost(shifted.factors().lower().matrix.values);
          // Relative to the row of A where nothing else is left, 1 / 3 and 1 for a scalar one.
          if (bs == 1)
            EXPECT_NEAR(pivots[2], 1e-3 * scale, 1e-15 * scale) << text;
          parameters.factorization.breakdown = BreakdownPolicy::Fail;
          parameters.factorization.pivot_tolerance = 0;
          Ilu<double, Device> silent(parameters);
          EXPECT_NO_THROW(setUp(silent, a)) << text;
        }
}

/// Rows of any scale, and pivots small beside their row but far from rounding.
TEST(IluBreakdown, SmallPivotsOfBadlyScaledRowsAreFine) {
  const HostBsr a = matrixOn(fullPattern(3), 1, 1);
  const double values[] = {1e-12, 1, 0, 1e-100, 1e-100, 3e-100, 0, 1e200, 1e188};
  std::copy(values, values + 9, a.values.data());
  Ilu<double, Device> ilu(exactIlu());
  EXPECT_NO_THROW(setUp(ilu, a));
  EXPECT_EQ(ilu.report().breakdowns, 0);
}

/// Pivots of 1e-200 and 1, but u_01 = 1e400: nothing divides by it.
TEST(IluBreakdown, FactorsThatOverflowAreRefusedWhateverThePolicy) {
  HostBsr a = matrixOn(Pattern{{0, 1}, {1}}, 1, 84);
  a.values(0) = 1e-200;
  a.values(1) = 1e200;
  a.values(2) = 1;
  for (const BreakdownPolicy policy :
       {BreakdownPolicy::Fail, BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
    IluParameters<Device> parameters = exactIlu();
    parameters.factorization.breakdown = policy;
    parameters.factorization.pivot_tolerance = 0; // which would replace the first pivot
    Ilu<double, Device> ilu(parameters);
    EXPECT_THROW(setUp(ilu, a), BreakdownError);
    EXPECT_FALSE(ilu.isComputed());
  }
}

/// Of both factors, and of the last compute() alone.
TEST(Ilu, ReportsBothFactors) {
  const HostBsr a = matrixOn(randomPattern(40, 6, 87), 2, 87);
  for (const auto& parameters : {exactIlu(), isaiIlu(1)}) {
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, a);
    EXPECT_EQ(ilu.report().factor_bytes, ilu.lowerSolver().bytes() + ilu.upperSolver().bytes());
    EXPECT_EQ(ilu.report().factor_entries,
              ilu.lowerSolver().entries() + ilu.upperSolver().entries());
    EXPECT_NE(ilu.lowerSolver().bytes(), ilu.upperSolver().bytes());
  }
  IluParameters<Device> parameters;
  parameters.factorization.sweeps = 2;
  Ilu<double, Device> ilu(parameters);
  setUp(ilu, a);
  const std::string notes = ilu.report().notes;
  EXPECT_NE(notes, "");
  ilu.compute(copyTo<Device>(a));
  EXPECT_EQ(ilu.report().notes, notes);
}

TEST(Ilu, RefusesBadParameters) {
  EXPECT_THROW((Ilu<double, Device>(exactIlu(-1))), InvalidArgument);
  EXPECT_THROW((Ilu<double, Device>(isaiIlu(0))), InvalidArgument);
  EXPECT_THROW((Ilu<double, Device>(isaiIlu(1, IsaiSide::Rows, -2))), InvalidArgument);
  IluParameters<Device> negative = exactIlu();
  negative.factorization.pivot_tolerance = -1;
  EXPECT_THROW((Ilu<double, Device>(negative)), InvalidArgument);
  negative.factorization.pivot_tolerance = 0; // every pivot but 0 will do
  EXPECT_NO_THROW((Ilu<double, Device>(negative)));
  for (const double shift : {0.0, -1.0, std::nan("")}) {
    IluParameters<Device> parameters = exactIlu();
    parameters.factorization.shift = shift;
    EXPECT_THROW((Ilu<double, Device>(parameters)), InvalidArgument) << shift;
  }
}

} // namespace
} // namespace ainvil
