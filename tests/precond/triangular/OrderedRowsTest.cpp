// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Rows that depend on each other: the order in which they are worked on, and what is solved in it.

#include "KokkosObservers.hpp"
#include "precond/PrecondSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "Ainvil_Ilu.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "graph/Ainvil_OrderedRows.hpp"
#include "triangular/Ainvil_SolveInTurn.hpp"
#include "triangular/Ainvil_SolveRows.hpp"

#include <cmath>
#include <limits>

namespace ainvil {
namespace {

using namespace test;

constexpr bool on_host = !compat::IsGpu<Exec>::value;
constexpr double so_long_that_all_share = 1e9, so_short_that_one_does_all = 0;

OrderedRows<Device> ordered(const Graph<Device>& graph, Uplo uplo, double entry_time,
                            OrderedRows<Device>::OrderPtr known = nullptr,
                            RowSignals signals = RowSignals::Flags) {
  return {Exec(), graph, uplo, entry_time, 1, known, signals};
}

/// depth(i) = 1 + the highest depth(j) over the entries j of row i in the triangle
struct Depth {
  detail::KernelGraph graph;
  detail::KernelArray<Ordinal> depth;
  bool lower;

  template <class Member, class Gate>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*,
                                  const Gate& gate) const {
    const Offset begin = graph.row_map(row);
    const int length = static_cast<int>(graph.row_map(row + 1) - begin);
    detail::forLanes(member, length, [&](const int k) {
      if (isBefore(graph.entries(begin + k), row))
        gate.wait(graph.entries(begin + k));
    });
    Ordinal highest = 0;
    for (int k = 0; k < length; ++k) {
      const Ordinal j = graph.entries(begin + k);
      if (isBefore(j, row) && depth(j) > highest)
        highest = depth(j);
    }
    detail::joinLanes(member);
    depth(row) = highest + 1;
  }
  KOKKOS_FUNCTION bool isBefore(Ordinal j, Ordinal row) const { return lower ? j < row : j > row; }
};

std::vector<Ordinal> serialDepths(const Rows& rows, bool lower) {
  const Ordinal n = static_cast<Ordinal>(rows.size());
  std::vector<Ordinal> depth(n, 1);
  for (Ordinal k = 0; k < n; ++k) {
    const Ordinal i = lower ? k : n - 1 - k;
    for (const Ordinal j : rows[i])
      if (lower ? j < i : j > i)
        depth[i] = std::max(depth[i], depth[j] + 1);
  }
  return depth;
}

/// A row that is worked on before one that it depends on reads a depth that is far too large.
void expectDepths(const Rows& rows, Uplo uplo, const OrderedRows<Device>& order) {
  const auto graph = copyTo<Device>(makeGraph(rows));
  for (int run = 0; run < 3; ++run) {
    const auto depth = allocate<Ordinal, Device>(Exec(), "Ainvil::depth", rows.size());
    Kokkos::deep_copy(depth, 1 << 20);
    order.run(Exec(), "Ainvil::test", Depth{graph, depth, uplo == Uplo::Lower}, 0);
    EXPECT_EQ(toHost(depth), serialDepths(rows, uplo == Uplo::Lower)) << "run " << run;
  }
}

TEST(OrderedRows, AreWorkedOnAfterWhatTheyDependOn) {
  std::vector<Rows> graphs = {Rows(3), Rows(17)};
  for (const Ordinal n : {1, 7, 8, 9, 536, 615})
    for (const double per_row : {0.7, 4.0})
      graphs.push_back(randomRows(n, n, std::min(1.0, per_row / n)));
  graphs.push_back(randomRows(536, 536, std::vector<Ordinal>{1, 31, 0, 32, 33, 65, 300}));
  Rows chain(300), few_levels(5000);
  for (Ordinal i = 1; i < 300; ++i)
    chain[i] = {i - 1};
  for (Ordinal i = 2500; i < 5000; ++i)
    few_levels[i] = {i - 2500, 4999 - i};
  graphs.push_back(chain);
  graphs.push_back(few_levels);
  for (const Rows& rows : graphs)
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper})
      for (const double entry_time : {so_long_that_all_share, so_short_that_one_does_all}) {
        SCOPED_TRACE(message(rows.size(), " rows, ", uplo == Uplo::Lower ? "lower" : "upper",
                             ", entries take ", entry_time, " ns"));
        const auto graph = copyTo<Device>(makeGraph(rows));
        const auto order = ordered(graph, uplo, entry_time);
        if (on_host && (entry_time == 0 || Exec().concurrency() == 1)) {
          EXPECT_TRUE(order.inTurn());
        }
        expectDepths(rows, uplo, order);
        expectDepths(rows, uplo, ordered(graph, uplo, entry_time, order.order()));
      }
}

TEST(OrderedRows, AreSharedByThreadsWhereTheyTakeLong) {
  if (!on_host || Exec().concurrency() == 1)
    GTEST_SKIP() << "there are no threads to share rows";
  const auto graph = copyTo<Device>(makeProblem("poisson5:30").matrix.graph);
  EXPECT_FALSE(ordered(graph, Uplo::Lower, so_long_that_all_share).inTurn());
  EXPECT_TRUE(ordered(graph, Uplo::Lower, so_short_that_one_does_all).inTurn());
}

int timesLevelsAreFound(const KernelLabelRecorder& recorder) {
  const auto& kernels = recorder.kernels();
  const char* const label = on_host ? "Ainvil::workerSchedule[steps]" : "Ainvil::levelSets[fill]";
  return static_cast<int>(std::count(kernels.begin(), kernels.end(), label));
}

TEST(OrderedRows, OfAKnownOrderFindNoLevels) {
  const auto graph = copyTo<Device>(makeProblem("poisson5:30").matrix.graph);
  const auto order = ordered(graph, Uplo::Lower, so_long_that_all_share);
  const KernelLabelRecorder recorder;
  ordered(graph, Uplo::Lower, so_long_that_all_share, order.order());
  EXPECT_EQ(timesLevelsAreFound(recorder), 0);
}

/// The factorisation hands the order of the rows of L on to the substitution.
TEST(OrderedRows, AreFoundOnceForEachTriangle) {
  const DeviceBsr a = copyTo<Device>(makeProblem("laplace27:16").matrix);
  for (const char* method : {"ilu", "ilu:level=1", "ilu:factorization=ilut", "ic", "ic:level=1"}) {
    SCOPED_TRACE(method);
    const auto m = createPreconditioner<double, Device>(method);
    const KernelLabelRecorder recorder;
    m->initialize(a);
    m->compute(a);
    EXPECT_LE(timesLevelsAreFound(recorder), 2);
    if (!on_host || Exec().concurrency() > 1) {
      EXPECT_GE(timesLevelsAreFound(recorder), 1);
    }
  }
}

/// What SolveInTurn and SolveRow give in this order.
template <int BS, class Factor>
std::vector<double> solved(const OrderedRows<Device>& order, const Factor& factor,
                           const std::vector<double>& x, int columns) {
  const size_t n = factor.matrix.numPointRows();
  const auto y = poisoned(n, columns);
  const auto device_x = toDevice(x, n, columns);
  if constexpr (BS == 1 && on_host) {
    if (columns == 1) {
      order.runByGroups(Exec(), "Ainvil::test",
                        detail::SolveInTurn<double, double>{factor, device_x, y});
      return toHost(y);
    }
  }
  using Row = detail::SolveRow<BS, double, double, Device>;
  order.prepare(Exec(), MultiVectorArg<double, Device>(y));
  order.runByValues(Exec(), "Ainvil::test", Row{factor, device_x, y, 0, columns, 0},
                    Row::scratchBytes(factor.matrix.block_size, columns, 0));
  return toHost(y);
}

template <int BS>
void expectSameSolutions(const HostBsr& a) {
  BlockIlu<double, Device> ilu{BlockIluParameters()};
  Report report;
  ilu.initialize(Exec(), copyTo<Device>(a), report);
  ilu.compute(Exec(), copyTo<Device>(a), report);
  const auto x = Random(3).vector(size_t(a.numPointRows()) * 3);
  for (const auto& factor : {ilu.lower(), ilu.upper()})
    for (const int columns : {1, 3}) {
      SCOPED_TRACE(message("block size ", a.block_size, ", ", columns, " columns"));
      const auto orderFor = [&](double entry_time) {
        return ordered(factor.matrix.graph, factor.uplo, entry_time, nullptr, RowSignals::Values);
      };
      const auto alone = solved<BS>(orderFor(so_short_that_one_does_all), factor, x, columns);
      const auto shared = orderFor(so_long_that_all_share);
      for (int run = 0; run < 3; ++run)
        EXPECT_EQ(solved<BS>(shared, factor, x, columns), alone);
    }
}

TEST(OrderedRows, SolutionsDoNotDependOnHowManyThreadsShareThem) {
  expectSameSolutions<1>(makeProblem("laplace27:9").matrix);
  expectSameSolutions<1>(matrixOn(randomPattern(615, 5, 1), 1, 2));
  expectSameSolutions<3>(matrixOn(randomPattern(217, 5, 3), 3, 4));
  expectSameSolutions<0>(matrixOn(randomPattern(61, 5, 5), 9, 6));
}

/// On GPUs rows wait for numbers, and a NaN stands for one that is not there: others end the wait.
TEST(OrderedRows, NotANumberIsANumberToWaitFor) {
  const HostBsr a = makeProblem("laplace7:6").matrix;
  double all_bits_set;
  compat::markUnset(&all_bits_set);
  for (const double nan : {all_bits_set, std::numeric_limits<double>::quiet_NaN()}) {
    const auto m = createPreconditioner<double, Device>("ilu");
    m->initialize(copyTo<Device>(a));
    m->compute(copyTo<Device>(a));
    std::vector<double> x(size_t(a.numPointRows()), 1.0);
    x[40] = nan;
    for (const Trans trans : {Trans::No, Trans::Yes}) {
      const auto y = poisoned(x.size(), 1);
      m->apply(Exec(), toDevice(x, x.size(), 1), y, trans);
      EXPECT_TRUE(std::isnan(toHost(y)[40]));
    }
  }
}

} // namespace
} // namespace ainvil
