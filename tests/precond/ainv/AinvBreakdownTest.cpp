// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "precond/ainv/AinvSupport.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "dense/Ainvil_BlockArrays.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace {

using namespace test;
using Method = AinvMethod;
using HostExec = HostDevice::execution_space;

/// SPD but for rows 7 and 23.
HostBsr indefinite() {
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 4, 221), 1, 221);
  for (const Ordinal i : {7, 23})
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      if (a.graph.entries(e) == i)
        a.values(e) *= -1;
  return a;
}

std::string messageOf(const HostBsr& a, const AinvParameters& parameters) {
  Method method(parameters);
  try {
    setUp(method, a);
  } catch (const BreakdownError& error) {
    return error.what();
  }
  return {};
}

/// 1 / 3 - 1 / 3 leaves no correct digit of a pivot, at any scale of the matrix.
TEST(AinvBreakdown, PivotsThatAreNothingButRoundingAreCounted) {
  for (const double scale : {1.0, 1e100, 1e-100})
    for (const bool stabilized : {true, false}) {
      HostBsr a = matrixOn(fullPattern(2), 1, 1);
      const double third = 1.0 / 3;
      a.values(0) = scale * third;
      a.values(1) = a.values(3) = scale;
      a.values(2) = scale * (third - 4e-16);
      AinvParameters parameters = ainv(0, Ordering::Natural, stabilized);
      parameters.symmetric = false;
      EXPECT_NE(
          messageOf(a, parameters).find("zero to rounding or not finite, the first in block row 2"),
          std::string::npos)
          << messageOf(a, parameters);
      parameters.breakdown = BreakdownPolicy::Replace;
      Method counts(parameters);
      setUp(counts, a);
      EXPECT_EQ(counts.report().breakdowns, 1);
      parameters.pivot_tolerance = 0;
      Method trusts(parameters);
      setUp(trusts, a);
      EXPECT_EQ(trusts.report().breakdowns, 0);
    }
}

TEST(AinvBreakdown, MeetsThePolicy) {
  const HostBsr a = indefinite();
  for (const bool stabilized : {true, false})
    for (const Ordering order : orders) {
      AinvParameters parameters = ainv(0.01, order, stabilized);
      parameters.shift = 0.5; // a small one makes columns grow, and what rounding does to them
      SCOPED_TRACE(nameOf(parameters));
      const std::string text = messageOf(a, parameters);
      const bool names_row =
          text.find("the first in block row 8 (counted from 1):") != std::string::npos ||
          text.find("the first in block row 24 (counted from 1):") != std::string::npos;
      EXPECT_TRUE(names_row) << text;
      if (order == Ordering::Natural) {
        EXPECT_NE(text.find("block row 8 "), std::string::npos) << text;
      }
      for (const BreakdownPolicy policy : {BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
        parameters.breakdown = policy;
        Method method(parameters);
        setUp(method, a);
        const AinvReference expected = referenceOf(a, parameters);
        EXPECT_GE(expected.breakdowns, 2);
        expectReference(method, expected);
        EXPECT_EQ(method.report().breakdowns, expected.breakdowns);
        EXPECT_EQ(method.report().first_breakdown,
                  toHost(method.order().new_to_old)[expected.first_breakdown]);
      }
      // General: a pivot may be negative.
      parameters.symmetric = false;
      parameters.breakdown = BreakdownPolicy::Fail;
      Method general(parameters);
      setUp(general, a);
      EXPECT_EQ(general.report().breakdowns, 0);
    }
}

/// Point row 16 of a matrix with blocks of size 3 is in the sixth block row.
TEST(AinvBreakdown, NamesTheBlockRow) {
  const HostBsr a = matrixOn(diagonalPattern(8), 3, 228);
  for (Offset e = 0; e < a.numScalars(); ++e)
    a.values(e) = e % 9 % 4 == 0 ? 4 : 0;
  a.values(5 * 9 + 4) = -4;
  AinvParameters parameters = ainv(0.01, Ordering::Natural, true);
  const std::string text = messageOf(a, parameters);
  EXPECT_NE(text.find("the first in block row 6 (counted from 1):"), std::string::npos) << text;
  parameters.breakdown = BreakdownPolicy::Replace;
  Method method(parameters);
  setUp(method, a);
  EXPECT_EQ(method.report().breakdowns, 1);
  EXPECT_EQ(method.report().first_breakdown, 5);
}

/// Without stabilisation a pivot breaks down, and behind it columns grow and fill up until memory
/// ends; the failure does not wait for that, with the schedule of GPUs neither.
TEST(AinvBreakdown, FailsBeforeColumnsGrow) {
  const HostBsr matrix = matrixNamed("bcsstk17");
  if (matrix.numRows() == 0)
    GTEST_SKIP() << "bcsstk17 is neither in AINVIL_MATRIX_DIR nor beside the sources";
  const HostBsr a = scaledByNorm(matrix);
  EXPECT_NE(messageOf(a, ainv(0.1, Ordering::Natural, false)).find("not positive"),
            std::string::npos);
  detail::InverseFactorsParameters parameters;
  parameters.stabilized = false;
  parameters.schedule = detail::ColumnSchedule::Worklist;
  const HostExec exec;
  detail::InverseFactors<double, HostDevice> by_worklist(exec, parameters, a.numRows());
  by_worklist.compute(exec, a, a);
  EXPECT_GE(by_worklist.result().breakdowns, 1);
  EXPECT_LT(by_worklist.result().entries, a.numEntries());
}

/// Tridiagonal: -1 beside a diagonal of this value, negative in row 9 if wanted.
HostBsr chain(Ordinal n, double diagonal, bool indefinite) {
  Pattern pattern(n);
  for (Ordinal i = 0; i < n; ++i)
    for (Ordinal j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j)
      pattern[i].insert(j);
  const HostBsr a = matrixOn(pattern, 1, 227);
  for (Ordinal i = 0; i < n; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      a.values(e) = a.graph.entries(e) != i ? -1.0 : indefinite && i == 9 ? -diagonal : diagonal;
  return a;
}

/// Row 9 of a chain cannot be mended by any row before it: that is clear after ten rounds at most,
/// whereas the rows behind it go on for many more.
TEST(AinvBreakdown, FailsInTheRoundInWhichItIsCertain) {
  const Ordinal n = 600;
  const HostBsr a = chain(n, 2.2, true);
  const HostExec exec;
  for (const auto schedule : {detail::ColumnSchedule::Worklist, detail::ColumnSchedule::Chunks}) {
    detail::InverseFactorsParameters parameters;
    parameters.drop = 1e-2;
    parameters.schedule = schedule;
    // By levels the part ends in which it is, and nothing is computed behind it.
    if (schedule == detail::ColumnSchedule::Worklist || exec.concurrency() > 1) {
      parameters.fewest_levels = 1;
      detail::InverseFactors<double, HostDevice> by_levels(exec, parameters, n);
      by_levels.compute(exec, a, a);
      EXPECT_EQ(by_levels.result().first_breakdown, 9);
      EXPECT_EQ(by_levels.roundsByLevels(), 1);
      EXPECT_EQ(by_levels.rounds(), 1);
      parameters.fewest_levels = 0;
    }
    for (const BreakdownPolicy policy : {BreakdownPolicy::Fail, BreakdownPolicy::Replace}) {
      parameters.breakdown = policy;
      detail::InverseFactors<double, HostDevice> factors(exec, parameters, n);
      factors.compute(exec, a, a);
      EXPECT_GE(factors.result().breakdowns, 1);
      EXPECT_EQ(factors.result().first_breakdown, 9);
      if (policy == BreakdownPolicy::Fail) {
        EXPECT_LE(factors.rounds(), 11);
      } else if (schedule == detail::ColumnSchedule::Worklist) {
        EXPECT_GT(factors.rounds(), 30);
      }
    }
  }
  // The same on the device of the tests.
  const KernelLabelRecorder recorder;
  EXPECT_NE(messageOf(a, ainv(1e-2)).find("the first in block row 10 (counted from 1):"),
            std::string::npos);
  const auto& kernels = recorder.kernels();
  EXPECT_LE(std::count(kernels.begin(), kernels.end(), "Ainvil::InverseFactors[columns]"), 11);
}

/// Many entries end it, whatever the schedule; more than a million, so that no small matrix is
/// refused.
TEST(AinvBreakdown, OfFactorsThatFillUp) {
  const Ordinal n = 1600;
  const HostBsr a = chain(n, 2, false); // z_kj = (k + 1) / (j + 1)
  const HostExec exec;
  for (const bool symmetric : {true, false}) {
    AinvParameters parameters = ainv(0, Ordering::Natural, true, symmetric);
    parameters.max_fill = 8;
    const std::string text = messageOf(a, parameters);
    EXPECT_NE(text.find("fill up: they have 100"), std::string::npos) << text;
    EXPECT_NE(text.find("more than max-fill=8 times the 4798 of the matrix"), std::string::npos)
        << text;
    for (const char* remedy : {"order=nd", "max-col", "drop more", "raise max-fill"})
      EXPECT_NE(text.find(remedy), std::string::npos) << text;
    AinvParameters limited = parameters; // what is set already is not advised
    limited.max_column = 1000;
    EXPECT_NE(messageOf(a, limited).find("a smaller max-col"), std::string::npos);
    for (const auto schedule : {detail::ColumnSchedule::Worklist, detail::ColumnSchedule::Chunks}) {
      detail::InverseFactorsParameters limited;
      limited.symmetric = symmetric;
      limited.drop = 0;
      limited.max_entries = 20 * n;
      limited.schedule = schedule;
      detail::InverseFactors<double, HostDevice> factors(exec, limited, n);
      factors.compute(exec, a, a);
      EXPECT_TRUE(factors.result().is_too_full);
      EXPECT_GT(factors.result().entries, 20 * n);
      EXPECT_LT(factors.result().entries, 20 * n + 2 * Offset(exec.concurrency()) * n);
    }
  }
  EXPECT_EQ(messageOf(chain(200, 2, false), ainv(0)), ""); // 33 times as many
  EXPECT_EQ(messageOf(chain(600, 2, false), ainv(0)), ""); // 100 times as many, 180300
  AinvParameters unlimited = ainv(0);
  unlimited.max_fill = 0;
  EXPECT_EQ(messageOf(chain(1500, 2, false), unlimited), ""); // 1125750
}

/// What is counted is what the factors have, also when computed again.
TEST(Ainv, CountsItsEntries) {
  const HostBsr a = scaledByNorm(matrixNamed("poisson5:60x57"));
  for (const bool symmetric : {true, false}) {
    Method method(ainv(0.02, Ordering::Natural, true, symmetric));
    setUp(method, a);
    EXPECT_EQ(method.factors().result().entries, method.report().factor_entries);
    method.compute(copyTo<Device>(scaledByNorm(matrixNamed("poisson5:60x57"))));
    EXPECT_EQ(method.factors().result().entries, method.report().factor_entries);
  }
}

/// A pivot of columns that other threads have not computed yet may be negative, -0.1 here, where
/// that of the factor is 0.07: that is no failure.
TEST(AinvBreakdown, MayBePassing) {
  const Ordinal n = 1200; // so that several threads share the columns
  Pattern pattern = diagonalPattern(n);
  for (const Ordinal i : {0, 1})
    for (const Ordinal j : {1, 0, 900}) {
      pattern[i].insert(j);
      pattern[j].insert(i);
    }
  const HostBsr a = spdMatrixOn(pattern, 1, 227);
  for (Ordinal i = 0; i < n; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
      const Ordinal j = a.graph.entries(e);
      a.values(e) = i == j ? (i == 900 ? 1.4 : 1.0) : i == 900 || j == 900 ? 1.0 : 0.5;
    }
  for (const bool stabilized : {true, false})
    compareWithReference(a, ainv(0, Ordering::Natural, stabilized));
}

/// Columns of NaN equal themselves: no column is computed again because of one.
TEST(AinvBreakdown, ColumnsThatAreNotNumbersComeToRest) {
  const Ordinal n = 300;
  Pattern pattern = diagonalPattern(n);
  for (Ordinal i = 1; i < n; ++i)
    pattern[i - 1].insert(i);
  for (Ordinal i = 2; i < n; ++i)
    pattern[i - 2].insert(i);
  const HostBsr a = matrixOn(pattern, 1, 228);
  for (Ordinal i = 0; i < n; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      a.values(e) = a.graph.entries(e) == i ? 1 : 1e200;
  const HostExec exec;
  const PermutedGraph<HostDevice> graph = transpose(exec, a.graph);
  const auto values = allocate<double, HostDevice>(exec, "Ainvil::values", a.numEntries());
  gatherBlocks<double, HostDevice>(exec, Trans::No, graph.source, 1, a.values, values);
  const HostBsr transposed(graph.graph, values, 1);
  for (const auto schedule : {detail::ColumnSchedule::Chunks, detail::ColumnSchedule::Worklist})
    for (const bool stabilized : {true, false}) {
      detail::InverseFactorsParameters parameters;
      parameters.stabilized = stabilized;
      parameters.symmetric = false;
      parameters.drop = 0;
      parameters.max_column = 4; // else all are full
      parameters.breakdown = BreakdownPolicy::Replace;
      parameters.schedule = schedule;
      detail::InverseFactors<double, HostDevice> factors(exec, parameters, n);
      factors.compute(exec, a, transposed);
      int not_numbers = 0;
      for (const SparseColumn& column : columnsOf(factors.z(), factors.state()))
        for (const auto& [row, value] : column)
          not_numbers += std::isnan(value) ? 1 : 0;
      EXPECT_GT(not_numbers, n / 2);
      factors.compute(exec, a, transposed); // nothing is new
      EXPECT_EQ(factors.columnsComputed(), n);
    }
}

TEST(AinvBreakdown, OfZeroPivots) {
  // [0 1; 1 0] and a row of its own.
  const HostBsr a = matrixOn({{0, 1}, {0, 1}, {2}}, 1, 1);
  const double values[] = {0, 1, 1, 0, 2};
  std::copy(values, values + 5, a.values.data());
  for (const bool symmetric : {true, false})
    for (const bool stabilized : {true, false}) {
      AinvParameters parameters = ainv(0, Ordering::Natural, stabilized, symmetric);
      EXPECT_NE(messageOf(a, parameters).find("block row 1 "), std::string::npos);
      for (const BreakdownPolicy policy : {BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
        parameters.breakdown = policy;
        compareWithReference(a, parameters);
      }
    }
}

/// [2 1; 1 .] has pivots 2 and -1/2, [. 1; 1 2] none to begin with.
TEST(AinvBreakdown, MissingDiagonalsMayHavePivots) {
  const HostBsr fills = matrixOn({{0, 1}, {0}}, 1, 1), stays = matrixOn({{1}, {0, 1}}, 1, 1);
  const double values[] = {2, 1, 1}, others[] = {1, 1, 2};
  std::copy(values, values + 3, fills.values.data());
  std::copy(others, others + 3, stays.values.data());
  const AinvParameters parameters = ainv(0, Ordering::Natural, true, false);
  Method method(parameters);
  setUp(method, fills);
  EXPECT_EQ(method.report().breakdowns, 0);
  expectNear(denseInverse(method), std::vector<double>{0, 1, 1, -2}, 1e-14);
  EXPECT_NE(messageOf(stays, parameters).find("block row 1 "), std::string::npos);
}

TEST(AinvBreakdown, AfterAFailureAnotherMatrixIsFine) {
  const HostBsr good = spdMatrixOn(symmetricPattern(60, 4, 221), 1, 221);
  const AinvParameters parameters = ainv(0.01);
  Method fresh(parameters), reused(parameters);
  setUp(fresh, good);
  EXPECT_THROW(setUp(reused, indefinite()), BreakdownError);
  EXPECT_FALSE(reused.isComputed());
  reused.compute(copyTo<Device>(good));
  EXPECT_EQ(denseInverse(reused), denseInverse(fresh));
}

/// Weighted Laplacians of connected graphs, singular but for 1e-14 on the diagonal.
/// All pivots are 1, but z_02 = 1e400. The next matrix does not suffer from it.
TEST(AinvBreakdown, FactorsThatOverflowAreRefusedWhateverThePolicy) {
  const Pattern pattern{{0, 1}, {1, 2}, {2}};
  const HostBsr fine = matrixOn(pattern, 1, 225), a = matrixOn(pattern, 1, 226);
  for (Offset e = 0; e < a.numEntries(); ++e)
    a.values(e) = e % 2 == 0 ? 1 : 1e200;
  for (const bool stabilized : {true, false})
    for (const BreakdownPolicy policy :
         {BreakdownPolicy::Fail, BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
      AinvParameters parameters = ainv(0, Ordering::Natural, stabilized, false);
      parameters.breakdown = policy;
      SCOPED_TRACE(nameOf(parameters));
      Method method(parameters);
      EXPECT_THROW(setUp(method, a), BreakdownError);
      method.compute(copyTo<Device>(HostBsr(a.graph, fine.values, 1)));
      expectReference(method, referenceOf(fine, parameters));
    }
}

TEST(AinvBreakdown, DoesNotHappenToSainvOnNearlySingularMatrices) {
  for (const std::uint64_t seed : {231, 232, 233})
    for (const char* name : {"poisson5:12x11", "random", "laplace27:5"}) {
      const Graph<HostDevice> graph = matrixNamed(name).graph;
      const HostBsr a(graph, viewOf(std::vector<double>(size_t(graph.numEntries()), 0.0)), 1);
      const auto entry = [&](Ordinal i, Ordinal j) -> double& {
        Offset e = graph.row_map(i);
        while (graph.entries(e) != j)
          ++e;
        return a.values(e);
      };
      Random random(seed);
      for (Ordinal i = 0; i < a.numRows(); ++i) {
        entry(i, i) += 1e-14;
        for (Offset e = graph.row_map(i); e < graph.row_map(i + 1); ++e)
          if (const Ordinal j = graph.entries(e); j < i) {
            const double weight = std::ldexp(double(1 + random.below(1024)), -10);
            entry(i, j) = entry(j, i) = -weight;
            entry(i, i) += weight;
            entry(j, j) += weight;
          }
      }
      for (const double drop : {0.0, 1e-4, 0.01, 0.1, 0.3})
        for (const Ordering order : orders) {
          if (drop == 0 && a.numRows() > 200)
            continue;
          SCOPED_TRACE(message(name, ", drop ", drop));
          Method method(ainv(drop, order));
          setUp(method, a);
          EXPECT_EQ(method.report().breakdowns, 0);
          for (const double pivot : pivotsOf(method))
            ASSERT_GT(pivot, 0);
        }
    }
}

} // namespace
} // namespace ainvil
