// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// The kernel of GPUs, which runs on hosts, too, with one lane: the factor is that of Ic.

#include "precond/ic/IcSupport.hpp"

#include "KokkosObservers.hpp"
#include "ic/Ainvil_BlockIcRow.hpp"

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
  const OrderedRows<Device> order(exec, graph, Uplo::Lower, 20, 1.25);
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
