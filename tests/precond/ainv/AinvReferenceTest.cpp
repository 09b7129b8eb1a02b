// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ainv/AinvReference.hpp"
#include "precond/PrecondSupport.hpp"

#include "Ainvil_Scaling.hpp"
#include "io/Ainvil_MatrixMarket.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ainvil {
namespace {

using namespace test;

std::vector<double> denseOf(const std::vector<SparseColumn>& columns) {
  const size_t n = columns.size();
  std::vector<double> dense(n * n, 0.0);
  for (size_t j = 0; j < n; ++j)
    for (const auto& [i, value] : columns[j])
      dense[i * n + j] = value;
  return dense;
}

/// D = W^T A Z.
void expectBiconjugate(const AinvReference& found, const HostBsr& a) {
  const size_t n = found.z.size();
  const auto z = denseOf(found.z), w = found.w.empty() ? z : denseOf(found.w);
  const auto product = multiply(multiply(transposed(w, n), toDense(a), n), z, n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      ASSERT_NEAR(product[i * n + j], i == j ? found.pivots[i] : 0.0, 1e-12) << i << ", " << j;
  for (size_t j = 0; j < n; ++j)
    ASSERT_EQ(found.z[j].back(), std::make_pair(static_cast<Ordinal>(j), 1.0));
}

TEST(AinvReference, WithoutDroppingIsBiconjugate) {
  for (const bool stabilized : {true, false})
    for (const Ordinal n : {1, 2, 40}) {
      AinvReferenceOptions options;
      options.stabilized = stabilized;
      options.drop = 0;
      const HostBsr spd = spdMatrixOn(symmetricPattern(n, 4, 1), 1, 1);
      expectBiconjugate(ainvReference(spd, options), spd);
      options.symmetric = false;
      expectBiconjugate(ainvReference(spd, options), spd);
      const HostBsr general = matrixOn(randomPattern(n, 4, 2), 1, 2);
      expectBiconjugate(ainvReference(general, options), general);
    }
}

/// By hand: A = [2 1 0; 1 2 1; 0 1 2], z_1 = e_1 - e_0 / 2, z_2 = e_2 - 2/3 z_1.
TEST(AinvReference, FollowsTheFormula) {
  const HostBsr a = matrixOn({{0, 1}, {0, 1, 2}, {1, 2}}, 1, 1);
  const double values[] = {2, 1, 1, 2, 1, 1, 2};
  std::copy(values, values + 7, a.values.data());
  AinvReferenceOptions options;
  const auto expect = [&](double drop, int max_column, double z_01, double z_02, double z_12) {
    options.drop = drop;
    options.max_column = max_column;
    const std::vector<double> z = {1, z_01, z_02, 0, 1, z_12, 0, 0, 1};
    for (const bool stabilized : {true, false}) {
      options.stabilized = stabilized;
      expectNear(denseOf(ainvReference(a, options).z), z, 1e-15);
    }
  };
  expect(0.3, 0, -1.0 / 2, 1.0 / 3, -2.0 / 3);
  expect(0.4, 0, -1.0 / 2, 0, -2.0 / 3);
  expect(0.55, 0, 0, 0, 0); // z_2 = e_2 - z_1 / 2
  expect(0, 2, -1.0 / 2, 0, -2.0 / 3);
  expect(0, 1, 0, 0, 0);
}

/// Relative dropping is absolute dropping after scaling to a unit diagonal, powers of 2 here.
TEST(AinvReference, RelativeDroppingIsThatOfTheScaledMatrix) {
  for (const bool symmetric : {true, false})
    for (const bool stabilized : {true, false}) {
      const Ordinal n = 80;
      const HostBsr unit = symmetric ? spdMatrixOn(symmetricPattern(n, 5, 3), 1, 3)
                                     : matrixOn(randomPattern(n, 5, 3), 1, 3);
      Random random(4);
      std::vector<double> s(n);
      for (double& factor : s)
        factor = std::ldexp(1.0, random.below(9) - 4);
      const HostBsr a(unit.graph, viewOf(toHost(unit.values)), 1);
      for (Ordinal i = 0; i < n; ++i)
        for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
          const Ordinal j = a.graph.entries(e);
          unit.values(e) = i == j ? 16.0 : unit.values(e);
          a.values(e) = s[i] * s[j] * unit.values(e);
        }
      AinvReferenceOptions options;
      options.symmetric = symmetric;
      options.stabilized = stabilized;
      options.drop = 0.02;
      const AinvReference expected = ainvReference(unit, options);
      options.relative = true;
      const AinvReference found = ainvReference(a, options);
      ASSERT_EQ(numEntries(found.z), numEntries(expected.z));
      EXPECT_GT(numEntries(found.z), 2 * n);
      for (Ordinal j = 0; j < n; ++j)
        for (size_t k = 0; k < found.z[j].size(); ++k) {
          const Ordinal i = expected.z[j][k].first;
          EXPECT_EQ(found.z[j][k].first, i);
          EXPECT_EQ(found.z[j][k].second, expected.z[j][k].second * s[j] / s[i]);
        }
    }
}

TEST(AinvReference, CountsBreakdowns) {
  const HostBsr a = matrixOn({{0, 1}, {0, 1}, {2}, {3}}, 1, 1);
  const double values[] = {1, 2, 2, 1, 0, -4};
  std::copy(values, values + 6, a.values.data());
  AinvReferenceOptions options;
  options.stabilized = false;
  options.drop = 0;
  using Pivots = std::vector<double>;
  for (const auto& [policy, pivots] :
       {std::make_pair(BreakdownPolicy::Fail, Pivots{1, 1, 1, 4}),
        std::make_pair(BreakdownPolicy::Replace, Pivots{1, 1, 1, 4}),
        std::make_pair(BreakdownPolicy::Shift, Pivots{1, 1e-3, 1e-3, 4e-3})}) {
    options.breakdown = policy;
    options.symmetric = true;
    const AinvReference found = ainvReference(a, options);
    EXPECT_EQ(found.breakdowns, 3);
    EXPECT_EQ(found.first_breakdown, 1);
    EXPECT_EQ(found.pivots, pivots);
    options.symmetric = false; // where only 0 is none
    EXPECT_EQ(ainvReference(a, options).breakdowns, 1);
    const double instead = policy == BreakdownPolicy::Shift ? 1e-3 : 1.0;
    EXPECT_EQ(ainvReference(a, options).pivots, (Pivots{1, -3, instead, -4}));
  }
}

struct ThesisSize {
  const char* matrix;
  double drop;
  Offset entries;
};

std::ostream& operator<<(std::ostream& out, const ThesisSize& size) {
  return out << size.matrix << ", drop " << size.drop;
}

class ThesisEntries : public ::testing::TestWithParam<ThesisSize> {};

/// SAINV in natural order after scaling by the column norms.
TEST_P(ThesisEntries, AreExact) {
  const auto [matrix, drop, entries] = GetParam();
  const std::string path = matrixPath(std::string(matrix) + ".mtx.gz");
  if (path.empty())
    GTEST_SKIP() << matrix << " is neither in AINVIL_MATRIX_DIR nor beside the sources";
  const HostDevice::execution_space exec;
  const HostBsr a = readMatrixMarket(path);
  const auto s = scalingFactors(exec, a, ScalingRule::ColumnNorm);
  AinvReferenceOptions options;
  options.drop = drop;
  const AinvReference found = ainvReference(scaled(exec, s, a), options);
  EXPECT_EQ(numEntries(found.z), entries);
  EXPECT_EQ(found.breakdowns, 0);
}

INSTANTIATE_TEST_SUITE_P(Matrices, ThesisEntries,
                         ::testing::Values(ThesisSize{"1138_bus", 0.1, 4865},
                                           ThesisSize{"bcsstk15", 0.1, 25822},
                                           ThesisSize{"bcsstk15", 0.01, 267721},
                                           ThesisSize{"bcsstk17", 0.1, 96654},
                                           ThesisSize{"cvxbqp1", 0.1, 435042}));

} // namespace
} // namespace ainvil
