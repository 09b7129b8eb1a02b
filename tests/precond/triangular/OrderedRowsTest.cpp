// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Rows that depend on each other: the order in which they are worked on, and what is solved in it.

#include "KokkosObservers.hpp"
#include "precond/PrecondSupport.hpp"

#include "Ainvil_Convert.hpp"
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
  return {Exec(), graph, uplo, {entry_time, 1}, known, signals};
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
  graphs.push_back(rowsOf(makeProblem("poisson5:37x61").matrix.graph));
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
  const char* const label = on_host ? "Ainvil::rowUnits[links]" : "Ainvil::levelSets[fill]";
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
      order.runByTasks(Exec(), "Ainvil::test",
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
  expectSameSolutions<1>(makeProblem("poisson5:37x61").matrix);
  expectSameSolutions<4>(toBlocks<double, HostDevice>(HostDevice::execution_space(),
                                                      makeProblem("convdiff:76x7x5").matrix, 4));
  expectSameSolutions<3>(makeProblem("cavity:23").matrix);
  expectSameSolutions<1>(matrixOn(randomPattern(615, 5, 1), 1, 2));
  expectSameSolutions<3>(matrixOn(randomPattern(217, 5, 3), 3, 4));
  expectSameSolutions<0>(matrixOn(randomPattern(61, 5, 5), 9, 6));
}

/// Every row depends on the one before.
HostBsr bandMatrix(Ordinal n, int block_size) {
  Pattern band(n);
  for (Ordinal i = 0; i < n; ++i)
    for (const Ordinal j : {i - 7, i - 1, i, i + 1, i + 7})
      if (j >= 0 && j < n)
        band[i].insert(j);
  return matrixOn(band, block_size, 2);
}

template <class Number>
BsrMatrix<Number, Device> rounded(const HostBsr& a) {
  const Kokkos::View<Number*, HostDevice> values("values", a.values.extent(0));
  for (size_t k = 0; k < values.extent(0); ++k)
    values(k) = static_cast<Number>(a.values(k));
  return copyTo<Device>(BsrMatrix<Number, HostDevice>(a.graph, values, a.block_size));
}

template <class Number>
void expectNansToBeWaitedFor(const HostBsr& matrix, Number nan) {
  const auto a = rounded<Number>(matrix);
  const auto m = createPreconditioner<Number, Device>("ilu");
  m->initialize(a);
  m->compute(a);
  const size_t n = size_t(matrix.numPointRows()), columns = 3;
  // Columns of NaN in the first row, in a later one, and in none. L has ones on its diagonal: its
  // first row writes the very bits that it reads.
  std::vector<Number> x(n * columns, Number(1));
  x[0] = x[n + n / 2] = nan;
  for (int run = 0; run < 2; ++run)
    for (const Trans trans : {Trans::No, Trans::Yes}) {
      const auto y = poisoned<Number>(n, columns);
      m->apply(Exec(), test::toDevice(x, n, columns), y, trans);
      const auto result = toHost(y);
      const auto isNan = [&](size_t i) { return std::isnan(double(result[i])); };
      EXPECT_TRUE(isNan(0) && isNan(n - 1)); // all depend on the first, by way of others
      EXPECT_TRUE(isNan(n + n / 2) && isNan(n + n - 1));
      for (size_t i = 2 * n; i < 3 * n; ++i)
        EXPECT_FALSE(isNan(i)) << i;
    }
}

template <class Number>
void expectAllNansToBeWaitedFor() {
  Number unset;
  compat::markUnset(&unset);
  for (const Number nan :
       {unset, -std::numeric_limits<Number>::quiet_NaN(), std::numeric_limits<Number>::quiet_NaN()})
    for (const HostBsr& a :
         {makeProblem("laplace7:6").matrix, bandMatrix(61, 3), bandMatrix(40, 9)}) {
      SCOPED_TRACE(message(sizeof(Number), " bytes, block size ", a.block_size));
      expectNansToBeWaitedFor<Number>(a, nan);
    }
}

/// On GPUs rows wait for numbers, and a NaN stands for one that is not there: others end the wait.
TEST(OrderedRows, NotANumberIsANumberToWaitFor) {
  expectAllNansToBeWaitedFor<double>();
  expectAllNansToBeWaitedFor<float>();
}

/// counts(j) += 1 + counts(i) for the entries j < i of row i
struct CountDependents {
  detail::KernelGraph graph;
  detail::KernelArray<unsigned> counts;

  template <class Member, class Gate>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*,
                                  const Gate& gate) const {
    gate.wait(member, row);
    const Offset begin = graph.row_map(row);
    const int length = static_cast<int>(graph.row_map(row + 1) - begin);
    detail::forLanes(member, length, [&](const int k) {
      if (graph.entries(begin + k) < row)
        Kokkos::atomic_add(&counts(graph.entries(begin + k)), 1 + counts(row));
    });
    detail::forLanes(member, length, [&](const int k) {
      if (graph.entries(begin + k) != row)
        gate.updated(graph.entries(begin + k));
    });
  }
};

/// On GPUs rows wait for as many updates as all launches have made.
TEST(OrderedRows, RunReversedAfterALaunchThatFailed) {
  const Ordinal n = 100;
  Rows chain(n);
  for (Ordinal i = 1; i < n; ++i)
    chain[i] = {i - 1};
  const auto graph = copyTo<Device>(makeGraph(chain));
  const auto order = ordered(graph, Uplo::Lower, so_short_that_one_does_all, nullptr,
                             RowSignals::ValuesAndUpdates);
  for (int run = 0; run < 3; ++run) {
    const auto counts = allocateZeros<unsigned, Device>(Exec(), "Ainvil::counts", n);
    const CountDependents body{graph, counts};
    if (!on_host) {
      constexpr std::size_t too_much = std::size_t(1) << 40; // bytes to work with
      EXPECT_THROW(order.runReversed(Exec(), "Ainvil::test", body, too_much), OutOfMemory);
    }
    order.runReversed(Exec(), "Ainvil::test", body, 0);
    EXPECT_EQ(toHost(counts)[0], unsigned(n - 1));
  }
}

} // namespace
} // namespace ainvil
