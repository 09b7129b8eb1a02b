// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// The kernels of GPUs, which run on hosts, too, with one lane: the factor is that of Ic.

#include "precond/ic/IcSupport.hpp"

#include "KokkosObservers.hpp"
#include "ic/Ainvil_BlockIcRow.hpp"
#include "ic/Ainvil_ModifiedIcRow.hpp"

#include <gtest/gtest.h>

namespace ainvil {
namespace {

using namespace test;

struct Result {
  std::vector<double> values, inverses;
  Ordinal breakdowns;
};

/// The factor of A + alpha diag(A) on the pattern of `ic` by the kernel with room for so many
/// blocks.
template <int BS>
Result factored(const HostBsr& host_a, const IcMethod& ic, double alpha, int capacity) {
  using Row = detail::BlockIcRow<BS, double, Device>;
  const Exec exec;
  const DeviceBsr a = copyTo<Device>(host_a);
  const Graph<Device> graph = ic.factor().matrix.graph;
  const int bs = a.block_size;
  const auto values = poisoned(size_t(graph.numEntries()) * bs * bs);
  const auto inverses = poisoned(size_t(a.numRows()) * bs * bs);
  detail::PivotInverter<double, Device> pivots(exec, BreakdownPolicy::Replace, 0,
                                               10 * std::numeric_limits<double>::epsilon(),
                                               poisoned(size_t(a.numPointRows())), true);
  pivots.change.alpha = alpha;
  pivots.start(exec, a);
  const OrderedRows<Device> order(exec, graph, Uplo::Lower, {20, 1.25});
  order.run(exec, "Ainvil::test",
            Row{a.graph, graph, a.values, values, inverses, pivots, bs, capacity},
            Row::scratchBytes(bs, capacity));
  return {toHost(values), toHost(inverses), pivots.count(exec)};
}

Result factored(const HostBsr& a, const IcMethod& ic, double alpha, int capacity) {
  switch (a.block_size) {
  case 1:
    return factored<1>(a, ic, alpha, capacity);
  case 3:
    return factored<3>(a, ic, alpha, capacity);
  default:
    return factored<0>(a, ic, alpha, capacity);
  }
}

/// Rows that fit into fast memory, some that do not, and none.
TEST(IcRow, GivesTheFactor) {
  for (const int bs : {1, 3, 5})
    for (const Pattern& pattern :
         {symmetricPattern(61, 5, 61), longRowsPattern(bs == 1 ? 615 : 536)})
      for (const int level : {0, 1}) {
        const HostBsr a = spdMatrixOn(pattern, bs, 62);
        IcMethod ic(exactIc(level));
        setUp(ic, a);
        for (const int capacity : {0, 5, 1000}) {
          SCOPED_TRACE(message("block size ", bs, ", rows ", pattern.size(), ", level ", level,
                               ", capacity ", capacity));
          const Result result = factored(a, ic, 0, capacity);
          EXPECT_EQ(result.breakdowns, 0);
          expectNear(result.values, toHost(ic.factor().matrix.values), 1e-13);
          expectNear(result.inverses, toHost(ic.pivotInverses()), 1e-13);
        }
      }
}

/// What the modified kernel gives on the pattern of `ic`, with the blocks of D.
struct ModifiedResult : Result {
  std::vector<double> pivots;
};

/// Of A without a shift; the longer an entry takes, the more rows are shared among threads.
template <int BS>
ModifiedResult modifiedFactor(const HostBsr& host_a, const IcMethod& ic, double modified,
                              int capacity, double entry_time) {
  using Row = detail::ModifiedIcRow<BS, double, Device>;
  const Exec exec;
  const DeviceBsr a = copyTo<Device>(host_a);
  const Graph<Device> graph = ic.factor().matrix.graph;
  const PermutedGraph<Device> columns = transpose(exec, graph);
  const int bs = a.block_size;
  const auto values = poisoned(size_t(graph.numEntries()) * bs * bs);
  const auto inverses = poisoned(size_t(a.numRows()) * bs * bs);
  const auto d = poisoned(size_t(a.numRows()) * bs * bs);
  detail::PivotInverter<double, Device> pivots(exec, BreakdownPolicy::Replace, 0,
                                               10 * std::numeric_limits<double>::epsilon(),
                                               poisoned(size_t(a.numPointRows())), true);
  pivots.start(exec, a);
  const OrderedRows<Device> order(exec, graph, Uplo::Lower, {entry_time, 1.25});
  order.run(exec, "Ainvil::test",
            Row{a.graph, graph, columns.graph, columns.source, a.values, values, d, inverses,
                pivots, bs, capacity, false, modified},
            Row::scratchBytes(bs, capacity));
  return {{toHost(values), toHost(inverses), pivots.count(exec)}, toHost(d)};
}

/// With omega = 0 the factor is that of `ic`, and D is the inverse of D^-1.
template <int BS>
void expectUnmodified(const HostBsr& a, const IcMethod& ic, int capacity) {
  const ModifiedResult result = modifiedFactor<BS>(a, ic, 0, capacity, 20);
  EXPECT_EQ(result.breakdowns, 0);
  expectNear(result.values, toHost(ic.factor().matrix.values), 1e-13);
  const auto of_ic = toHost(ic.pivotInverses());
  expectNear(result.inverses, of_ic, 1e-13);
  const int bs2 = a.block_size * a.block_size;
  for (Ordinal i = 0; i < a.numRows(); ++i) {
    const auto block = [&](const std::vector<double>& all) {
      return std::vector<double>(all.begin() + i * bs2, all.begin() + (i + 1) * bs2);
    };
    expectNear(inverse(block(result.pivots), size_t(a.block_size)), block(of_ic), 1e-12);
  }
}

/// Columns that fit into fast memory, some that do not, and none; entries beside the pattern.
TEST(IcRow, TheModifiedKernelGivesTheFactor) {
  for (const int bs : {1, 3, 5})
    for (const Pattern& pattern :
         {symmetricPattern(61, 5, 64), longRowsPattern(bs == 1 ? 615 : 536)})
      for (const char* specification : {"level", "threshold"}) {
        const HostBsr a = spdMatrixOn(pattern, bs, 65);
        IcParameters<double, Device> parameters = exactIc();
        if (specification == std::string("threshold"))
          parameters.pattern = IcPattern::Threshold;
        parameters.drop = 0.05;
        IcMethod ic(parameters);
        setUp(ic, a);
        for (const int capacity : {0, 5, 1000}) {
          SCOPED_TRACE(message("block size ", bs, ", rows ", pattern.size(), ", ", specification,
                               ", capacity ", capacity));
          bs == 1   ? expectUnmodified<1>(a, ic, capacity)
          : bs == 3 ? expectUnmodified<3>(a, ic, capacity)
                    : expectUnmodified<0>(a, ic, capacity);
        }
      }
}

/// Whether one thread takes all rows or several share them.
TEST(IcRow, TheModifiedFactorDoesNotDependOnWhoTakesTheRows) {
  constexpr double so_short_that_one_takes_all = 1e-9, so_long_that_all_share = 1e9;
  for (const int bs : {1, 3}) {
    const HostBsr a = spdMatrixOn(symmetricPattern(615, 6, 66), bs, 67);
    IcMethod ic(exactIc());
    setUp(ic, a);
    const auto factor = [&](double entry_time) {
      return bs == 1 ? modifiedFactor<1>(a, ic, 0.9, 100, entry_time)
                     : modifiedFactor<3>(a, ic, 0.9, 100, entry_time);
    };
    const ModifiedResult in_turn = factor(so_short_that_one_takes_all),
                         shared = factor(so_long_that_all_share);
    EXPECT_EQ(shared.values, in_turn.values);
    EXPECT_EQ(shared.inverses, in_turn.inverses);
    EXPECT_EQ(shared.pivots, in_turn.pivots);
  }
}

/// A = I with an entry of 2 beside the diagonal in rows 1 and 7: their pivots are -3, and of the
/// shifted matrix (1 + alpha) - 4 / (1 + alpha).
TEST(IcRow, ShiftsAndCountsAsTheFactorisation) {
  for (const int bs : {1, 3, 5}) {
    Pattern pattern = diagonalPattern(9);
    for (const Ordinal i : {1, 7}) {
      pattern[i].insert(i - 1);
      pattern[i - 1].insert(i);
    }
    const HostBsr a = matrixOn(pattern, bs, 63);
    for (Ordinal i = 0; i < 9; ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        for (int k = 0; k < bs * bs; ++k)
          a.values(e * bs * bs + k) = k % (bs + 1) != 0 ? 0 : a.graph.entries(e) == i ? 1 : 2;
    IcMethod ic(exactIc());
    setUp(ic, a);
    EXPECT_EQ(ic.report().breakdowns, 2);
    EXPECT_DOUBLE_EQ(ic.shift(), 1.024);
    EXPECT_EQ(factored(a, ic, 0, 10).breakdowns, 2);
    const Result result = factored(a, ic, ic.shift(), 10);
    EXPECT_EQ(result.breakdowns, 0);
    expectNear(result.values, toHost(ic.factor().matrix.values), 1e-13);
    expectNear(result.inverses, toHost(ic.pivotInverses()), 1e-13);
    EXPECT_NEAR(result.inverses[size_t(bs) * bs], 1 / (2.024 - 4 / 2.024), 1e-12);
  }
}

} // namespace
} // namespace ainvil
