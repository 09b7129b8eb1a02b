// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Pivot blocks of AINV that cannot be inverted, and factors that grow too large.

#include "precond/ainv/AinvSupport.hpp"

#include "ainv/Ainvil_BlockAinv.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ainvil {
namespace {

using namespace test;
using Method = AinvMethod;

AinvParameters blockAinv(double drop, bool symmetric, BreakdownPolicy policy) {
  AinvParameters parameters = ainv(drop, Ordering::Natural, true, symmetric);
  parameters.blocks = true;
  parameters.breakdown = policy;
  return parameters;
}

const BreakdownPolicy repairs[] = {BreakdownPolicy::Shift, BreakdownPolicy::Replace};

std::string messageOf(const HostBsr& a, const AinvParameters& parameters) {
  Method method(parameters);
  try {
    setUp(method, a);
  } catch (const BreakdownError& error) {
    return error.what();
  }
  return {};
}

/// SPD but for the diagonal blocks of these rows, which are multiplied by a factor.
HostBsr spoiled(double factor, std::initializer_list<Ordinal> rows) {
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 4, 291), 3, 291);
  for (const Ordinal i : rows)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      if (a.graph.entries(e) == i)
        for (Offset v = e * 9; v < e * 9 + 9; ++v)
          a.values(v) *= factor;
  return a;
}

bool isPositiveDefinite(const std::vector<double>& m, size_t n) {
  std::vector<double> l = m;
  for (size_t k = 0; k < n; ++k) {
    if (!(l[k * n + k] > 0))
      return false;
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = l[i * n + k] / l[k * n + k];
      for (size_t j = k; j < n; ++j)
        l[i * n + j] -= factor * l[k * n + j];
    }
  }
  return true;
}

TEST(BlockAinvBreakdown, OfNegativePivotsMeetsThePolicy) {
  const HostBsr a = spoiled(-1, {7, 23});
  const std::string text = messageOf(a, blockAinv(0.01, true, BreakdownPolicy::Fail));
  EXPECT_NE(text.find("pivot blocks are not positive definite or not finite, the first in block "
                      "row 8 (counted from 1): is the matrix positive definite?"),
            std::string::npos)
      << text;
  for (const BreakdownPolicy policy : repairs)
    for (const double shift : {1e-3, 10.0}) { // one is not enough to make a block positive
      AinvParameters parameters = blockAinv(0.01, true, policy);
      parameters.shift = shift;
      SCOPED_TRACE(nameOf(parameters));
      Method method(parameters);
      setUp(method, a);
      EXPECT_GE(method.report().breakdowns, 2);
      EXPECT_EQ(method.report().first_breakdown, 7);
      const auto& pivots = method.blockFactors()->factors().pivots();
      const std::vector<double> d(pivots.begin() + 7 * 9, pivots.begin() + 8 * 9);
      EXPECT_TRUE(isPositiveDefinite(d, 3));
      EXPECT_EQ(d[1] != 0, policy == BreakdownPolicy::Shift && shift > 1) << "the shifted block";
      const auto m = denseInverse(method);
      EXPECT_TRUE(isPositiveDefinite(m, 180));
      expectNear(transposed(m, 180), m, 1e-14);
    }
  EXPECT_EQ(messageOf(a, blockAinv(0.01, false, BreakdownPolicy::Fail)), "") << "may be negative";
}

/// Row 7 is coupled with no row before it, so that its pivot is zero.
TEST(BlockAinvBreakdown, OfZeroPivotsMeetsThePolicy) {
  const HostBsr a = spoiled(0, {0});
  for (const bool symmetric : {true, false}) {
    const std::string text = messageOf(a, blockAinv(0.01, symmetric, BreakdownPolicy::Fail));
    EXPECT_NE(text.find(symmetric ? "not positive definite" : "singular to rounding"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("the first in block row 1 (counted from 1):"), std::string::npos) << text;
    for (const BreakdownPolicy policy : repairs) {
      AinvParameters parameters = blockAinv(0.01, symmetric, policy);
      Method method(parameters);
      setUp(method, a);
      EXPECT_GE(method.report().breakdowns, 1);
      EXPECT_EQ(method.report().first_breakdown, 0);
      // What replaces it: the largest entry of its rows of A, times the shift or not.
      double largest = 0;
      for (Offset v = 0; v < a.graph.row_map(1) * 9; ++v)
        largest = std::max(largest, std::abs(a.values(v)));
      const double expected =
          policy == BreakdownPolicy::Shift ? parameters.shift * largest : largest;
      const auto& d = method.blockFactors()->factors().pivots();
      for (size_t v = 0; v < 9; ++v)
        EXPECT_NEAR(d[v], v % 4 == 0 ? expected : 0.0, 1e-12) << v;
      for (const double value : denseInverse(method))
        ASSERT_TRUE(std::isfinite(value));
    }
  }
}

/// In an order of its own the row of A is named, and one that is singular is in the fifth block.
TEST(BlockAinvBreakdown, NamesTheBlockRow) {
  const HostBsr a = spoiled(0, {4});
  HostBsr diagonal = matrixOn(diagonalPattern(8), 3, 292);
  for (Offset v = 0; v < 3; ++v)
    diagonal.values(5 * 9 + v) = diagonal.values(5 * 9 + 3 + v);
  for (const Ordering order : orders) {
    AinvParameters parameters = blockAinv(0.01, false, BreakdownPolicy::Fail);
    parameters.order = order;
    const std::string text = messageOf(diagonal, parameters);
    EXPECT_NE(text.find("block row 6 (counted from 1):"), std::string::npos) << text;
    parameters.breakdown = BreakdownPolicy::Replace;
    Method method(parameters);
    setUp(method, diagonal);
    EXPECT_EQ(method.report().breakdowns, 1);
    EXPECT_EQ(method.report().first_breakdown, 5);
  }
}

/// A matrix with NaN or infinity: of a pivot that is not finite, or of the factors.
TEST(BlockAinvBreakdown, OfWhatIsNotFinite) {
  for (const double bad : {std::nan(""), std::numeric_limits<double>::infinity()})
    for (const bool symmetric : {true, false})
      for (const BreakdownPolicy policy :
           {BreakdownPolicy::Fail, BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
        const HostBsr a = spoiled(1, {});
        for (Offset e = a.graph.row_map(7); e < a.graph.row_map(8); ++e)
          if (a.graph.entries(e) == 7)
            a.values(e * 9 + 4) = bad;
        AinvParameters parameters = blockAinv(0.01, symmetric, policy);
        SCOPED_TRACE(nameOf(parameters));
        Method method(parameters);
        try {
          setUp(method, a);
          EXPECT_NE(policy, BreakdownPolicy::Fail);
          EXPECT_GE(method.report().breakdowns, 1);
          for (const double value : denseInverse(method))
            ASSERT_TRUE(std::isfinite(value));
        } catch (const Error&) { // refused
        }
        const HostBsr good = spoiled(1, {});
        method.initialize(copyTo<Device>(good));
        method.compute(copyTo<Device>(good));
        EXPECT_EQ(method.report().breakdowns, 0);
      }
}

/// All pivots are the identity, but Z_02 = 1e400 I.
TEST(BlockAinvBreakdown, FactorsThatOverflowAreRefusedWhateverThePolicy) {
  const HostBsr a = matrixOn({{0, 1}, {1, 2}, {2}}, 2, 293);
  for (Offset v = 0; v < a.numScalars(); ++v)
    a.values(v) = v % 4 % 3 != 0 ? 0 : v / 4 % 2 == 0 ? 1 : 1e200;
  for (const BreakdownPolicy policy :
       {BreakdownPolicy::Fail, BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
    AinvParameters parameters = blockAinv(0, false, policy);
    parameters.pivot_tolerance = 0; // else 1 is nothing beside 1e200
    Method method(parameters);
    EXPECT_THROW(setUp(method, a), BreakdownError);
    EXPECT_FALSE(method.isComputed());
  }
}

TEST(BlockAinvBreakdown, AfterAFailureAnotherMatrixIsFine) {
  const HostBsr good = spoiled(1, {});
  const AinvParameters parameters = blockAinv(0.01, true, BreakdownPolicy::Fail);
  Method fresh(parameters), reused(parameters);
  setUp(fresh, good);
  EXPECT_THROW(setUp(reused, spoiled(-1, {7})), BreakdownError);
  EXPECT_FALSE(reused.isComputed());
  reused.compute(copyTo<Device>(good));
  EXPECT_EQ(denseInverse(reused), denseInverse(fresh));
}

/// Block tridiagonal: -I beside 2 I, so that Z_kj = (k + 1) / (j + 1) I.
HostBsr chain(Ordinal n) {
  Pattern pattern(n);
  for (Ordinal i = 0; i < n; ++i)
    for (Ordinal j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
      pattern[i].insert(j);
  const HostBsr a = matrixOn(pattern, 2, 294);
  for (Ordinal i = 0; i < n; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      for (int v = 0; v < 4; ++v)
        a.values(e * 4 + v) = v % 3 != 0 ? 0 : a.graph.entries(e) == i ? 2 : -1;
  return a;
}

/// Counted in scalars, a million of which are no trouble.
TEST(BlockAinvBreakdown, OfFactorsThatFillUp) {
  const HostBsr a = chain(800); // 1281600 scalars in Z
  for (const bool symmetric : {true, false}) {
    AinvParameters parameters = blockAinv(0, symmetric, BreakdownPolicy::Fail);
    parameters.max_fill = 8;
    const std::string text = messageOf(a, parameters);
    EXPECT_NE(text.find("the inverse factors of ainv fill up: they have 100"), std::string::npos)
        << text;
    EXPECT_NE(text.find("more than max-fill=8 times the 9592 of the matrix"), std::string::npos)
        << text;
  }
  EXPECT_EQ(messageOf(chain(700), blockAinv(0, true, BreakdownPolicy::Fail)), ""); // 981400
  AinvParameters unlimited = blockAinv(0, true, BreakdownPolicy::Fail);
  unlimited.max_fill = 0;
  EXPECT_EQ(messageOf(a, unlimited), "");
}

TEST(BlockAinvBreakdown, SainvHasNoneOnSpdMatrices) {
  for (const char* name : {"elasticity:10x4x4", "shell:12"})
    for (const double drop : {0.5, 0.1, 0.01})
      EXPECT_EQ(messageOf(makeProblem(name).matrix, blockAinv(drop, true, BreakdownPolicy::Fail)),
                "")
          << name;
}

} // namespace
} // namespace ainvil
