// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ilu/IluSupport.hpp"

#include "Refusal.hpp"

#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

namespace ainvil {
namespace {

using namespace test;

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

/// Nor would another scaling be taken beside a matching.
TEST(IluBreakdown, WhatIsSetIsNotAdvised) {
  const struct {
    const char* parameters;
    bool exchange, scale, reorder;
  } cases[] = {{"level=0", true, true, true},
               {"scale=ruiz", true, false, true},
               {"reorder=rcm", true, true, false},
               {"match=product", false, false, true},
               {"match=product,reorder=rcm", false, false, false}};
  for (const auto& c : cases) {
    SCOPED_TRACE(c.parameters);
    const auto ilu = createPreconditioner<double, Device>(message("ilu:", c.parameters));
    const std::string text = refusal([&] { setUp(*ilu, singularInRow3(3)); });
    EXPECT_NE(text.find("1 pivot block is singular"), std::string::npos) << text;
    EXPECT_EQ(text.find("exchange rows") != std::string::npos, c.exchange) << text;
    EXPECT_EQ(text.find("scale the matrix") != std::string::npos, c.scale) << text;
    EXPECT_EQ(text.find("reorder the matrix") != std::string::npos, c.reorder) << text;
    EXPECT_NE(text.find("'shift'"), std::string::npos) << text;
  }
}

TEST(IluBreakdown, ShiftAndReplaceAreCountedAndFinite) {
  for (const auto policy : {BreakdownPolicy::Shift, BreakdownPolicy::Replace})
    for (const int bs : {1, 3, 11}) {
      IluSettings<Device> parameters = exactIlu();
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
    IluSettings<Device> parameters = exactIlu();
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
    IluSettings<Device> parameters = exactIlu(level);
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

TEST(IluBreakdown, OneBlockIsNamedInTheSingular) {
  Pattern pattern = diagonalPattern(10);
  pattern[6] = {7};
  Ilu<double, Device> ilu(exactIlu());
  try {
    setUp(ilu, matrixOn(pattern, 2, 24));
    FAIL() << "no exception";
  } catch (const BreakdownError& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind("1 pivot block is singular", 0), 0u) << text;
  }
}

/// Neither as pivots nor elsewhere, be the factors found level by level or by sweeps.
TEST(IluBreakdown, NoPolicyTakesValuesThatAreNotFinite) {
  const Pattern pattern = randomPattern(17, 3, 33);
  for (const int bs : {1, 3})
    for (const int sweeps : {0, 2})
      for (const BreakdownPolicy policy :
           {BreakdownPolicy::Fail, BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
        IluSettings<Device> parameters;
        parameters.factorization.sweeps = sweeps;
        parameters.factorization.breakdown = policy;
        Ilu<double, Device> ilu(parameters);
        const HostBsr a = matrixOn(pattern, bs, 3);
        for (const double bad :
             {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()})
          for (size_t at = 0; at < a.values.extent(0); at += 7) {
            const HostBsr broken = matrixOn(pattern, bs, 3);
            broken.values(at) = bad;
            EXPECT_THROW(setUp(ilu, broken), InvalidArgument) << at;
          }
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
          IluSettings<Device> parameters = exactIlu();
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
          if (bs == 1) {
            EXPECT_NEAR(pivots[2], 1e-3 * scale, 1e-15 * scale) << text;
          }
          parameters.factorization.breakdown = BreakdownPolicy::Fail;
          parameters.factorization.pivot_tolerance = 0;
          Ilu<double, Device> silent(parameters);
          EXPECT_NO_THROW(setUp(silent, a)) << text;
        }
}

/// 2^-23 beside 1 is the last digit of a float, and far from that of a double.
TEST(IluBreakdown, RoundingErrorsAreThoseOfTheScalar) {
  const HostBsr a = matrixOn(fullPattern(2), 1, 85);
  std::fill_n(a.values.data(), 4, 1.0);
  a.values(3) += 0x1p-23;
  IluSettings<Device> parameters = exactIlu();
  parameters.factorization.breakdown = BreakdownPolicy::Shift;
  Ilu<double, Device> in_double(parameters);
  setUp(in_double, a);
  EXPECT_EQ(in_double.report().breakdowns, 0);
  const auto rounded = copyTo<Device>(inPrecision<float>(a));
  Ilu<float, Device> in_float(parameters);
  in_float.initialize(rounded);
  in_float.compute(rounded);
  EXPECT_EQ(in_float.report().breakdowns, 1);
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

/// Pivots of 1e-200 and 1, but u_01 = 1e400; pivots of 1, but l_21 = 1 - 1e400: nothing divides by
/// either.
TEST(IluBreakdown, FactorsThatOverflowAreRefusedWhateverThePolicy) {
  const HostBsr upper = matrixOn(Pattern{{0, 1}, {1}}, 1, 84);
  const double of_upper[] = {1e-200, 1e200, 1};
  std::copy(of_upper, of_upper + 3, upper.values.data());
  const HostBsr lower = matrixOn(Pattern{{0, 1}, {1}, {0, 1, 2}}, 1, 85);
  const double of_lower[] = {1, 1e200, 1, 1e200, 1, 1};
  std::copy(of_lower, of_lower + 6, lower.values.data());
  for (const HostBsr& a : {upper, lower})
    for (const BreakdownPolicy policy :
         {BreakdownPolicy::Fail, BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
      IluSettings<Device> parameters = exactIlu();
      parameters.factorization.breakdown = policy;
      parameters.factorization.pivot_tolerance = 0; // which would replace the first pivot
      Ilu<double, Device> ilu(parameters);
      EXPECT_THROW(setUp(ilu, a), BreakdownError);
      EXPECT_FALSE(ilu.isComputed());
    }
}

/// What replaces the pivot 1 - 1e400 is not of its size, but 1.
TEST(IluBreakdown, PivotsThatOverflowAreReplaced) {
  const HostBsr a = matrixOn(fullPattern(2), 1, 86);
  const double values[] = {1, 1e200, 1e200, 1};
  std::copy(values, values + 4, a.values.data());
  for (const BreakdownPolicy policy : {BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
    IluSettings<Device> parameters = exactIlu();
    parameters.factorization.breakdown = policy;
    parameters.factorization.pivot_tolerance = 0; // which would replace the first pivot
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, a);
    EXPECT_EQ(ilu.report().breakdowns, 1);
    EXPECT_EQ(ilu.report().first_breakdown, 1);
    const auto b = toDevice(std::vector<double>{0, 1}), x = toDevice(std::vector<double>{7, 7});
    ilu.apply(Exec(), b, x);
    EXPECT_EQ(toHost(x), (std::vector<double>{-1e200, 1}));
  }
}

} // namespace
} // namespace ainvil
