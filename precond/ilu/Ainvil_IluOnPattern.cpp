// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_IluOnPattern.hpp"

#include "backend/Ainvil_AllocateTogether.hpp"
#include "backend/Ainvil_Counted.hpp"
#include "backend/Ainvil_LoopProgress.hpp"
#include "backend/Ainvil_SizeClasses.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "ilu/Ainvil_BlockIluRow.hpp"
#include "ilu/Ainvil_FactorGrowth.hpp"
#include "product/Ainvil_Probes.hpp"
#include "product/Ainvil_Spmv.hpp"

#include <algorithm>
#include <limits>

namespace ainvil {
namespace detail {
namespace {

using Kokkos::ThreadVectorRange;

/// The length of a row of L and U together.
template <class Device>
struct RowLengths {
  Kokkos::View<const Offset*, Device> l, u;

  KOKKOS_FUNCTION Offset operator()(Offset row) const {
    return l(row + 1) - l(row) + u(row + 1) - u(row);
  }
};

/// A row that waits for no other.
template <class Row, class Device>
struct IndependentRow {
  Row row;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal i, void* scratch) const {
    row(member, i, scratch, FlagGate<false>());
  }
};

/// The Frobenius norm of row i of (A - L U)_S relative to `size`, the diagonal of A changed as it
/// was factored,
///   A_ij - sum over k <= min(i, j) of L_ik U_kj, U_jj = I, for (i, j) in the pattern;
/// a lane an entry of a block.
template <class Scalar, class Device>
struct ResidualRow {
  KernelMatrix<const Scalar> a, l, u;
  PivotInversion<Scalar> pivot_inverter;
  double size; ///< so that no square leaves the range of numbers
  KernelArray<double> norms;

  KOKKOS_INLINE_FUNCTION Scalar residual(Ordinal i, Ordinal j, int e) const {
    const int bs = a.block_size, bs2 = bs * bs;
    const int r = e / bs, c = e - r * bs;
    const Offset in_a = findEntry(a.graph.entries, a.graph.row_map(i), a.graph.row_map(i + 1), j);
    Scalar value = in_a < 0 ? Scalar(0) : a.values(in_a * bs2 + e);
    if (i == j && r == c && pivot_inverter.changesDiagonal())
      value = pivot_inverter.changed(value, pivot_inverter.row_sizes(Offset(i) * bs + r));
    for (Offset ik = l.graph.row_map(i); ik < l.graph.row_map(i + 1); ++ik) {
      const Ordinal k = l.graph.entries(ik);
      if (k > j)
        break;
      const Offset kj = findEntry(u.graph.entries, u.graph.row_map(k), u.graph.row_map(k + 1), j);
      if (k == j)
        value -= l.values(ik * bs2 + e);
      else if (kj >= 0)
        for (int m = 0; m < bs; ++m)
          value -= l.values(ik * bs2 + r * bs + m) * u.values(kj * bs2 + m * bs + c);
    }
    return value;
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal i, void*) const {
    const int bs2 = a.block_size * a.block_size;
    const Offset l_begin = l.graph.row_map(i), u_begin = u.graph.row_map(i);
    const int in_l = static_cast<int>(l.graph.row_map(i + 1) - l_begin);
    const int in_u = static_cast<int>(u.graph.row_map(i + 1) - u_begin);
    double sum = 0;
    Kokkos::parallel_reduce(
        ThreadVectorRange(member, Offset(in_l + in_u) * bs2),
        [&](const Offset item, double& partial) {
          const int t = static_cast<int>(item / bs2);
          const Ordinal j =
              t < in_l ? l.graph.entries(l_begin + t) : u.graph.entries(u_begin + t - in_l);
          const double value = residual(i, j, static_cast<int>(item - Offset(t) * bs2)) / size;
          partial += value * value;
        },
        sum);
    Kokkos::single(Kokkos::PerThread(member), [&]() { norms(i) = compat::math::sqrt(sum); });
  }
};

} // namespace

template <class Scalar, class Device>
void IluOnPattern<Scalar, Device>::setPattern(const execution_space& exec, const Matrix& a,
                                              const FillTriangles<Device>& pattern,
                                              EntriesOfA holds) {
  holds_a_ = holds == EntriesOfA::All;
  const Ordinal n = a.numRows();
  const int bs = a.block_size;
  const Offset bs2 = Offset(bs) * bs;
  const auto [lower, diagonal_inverse, row_sizes] = allocateTogether<Scalar, Device>(
      exec, "Ainvil::lower", pattern.lower.numEntries() * bs2, n * bs2, a.numPointRows());
  const auto upperValues = [&](const char* label) {
    return allocate<Scalar, Device>(exec, label, pattern.upper.numEntries() * bs2);
  };
  lower_.matrix = Matrix(pattern.lower, lower, bs);
  lower_.uplo = Uplo::Lower;
  lower_.unit = false;
  lower_.diagonal_inverse = diagonal_inverse;
  lower_.order = nullptr;
  // Apart from the others: a search for a pattern keeps it for its next step.
  upper_.matrix = Matrix(pattern.upper, upperValues("Ainvil::upper"), bs);
  upper_.uplo = Uplo::Upper;
  upper_.unit = true;
  longest_row_ = static_cast<Ordinal>(
      largestSize(exec, n, RowLengths<Device>{pattern.lower.row_map, pattern.upper.row_map},
                  std::numeric_limits<Ordinal>::max()));
  pivot_inverter_ = PivotInverter<Scalar, Device>(exec, options_.breakdown, options_.shift,
                                                  options_.pivot_tolerance *
                                                      std::numeric_limits<Scalar>::epsilon(),
                                                  row_sizes, kind_ == FactorKind::Positive);
  pivot_inverter_.change = DiagonalChange<Scalar>(options_);
  if (options_.sweeps > 0)
    other_upper_ = upperValues("Ainvil::other_upper");
  work_rows_.clear();
}

template <class Scalar, class Device>
void IluOnPattern<Scalar, Device>::findOrder(const execution_space& exec, const Matrix& a,
                                             Report& report) {
  const int bs = a.block_size;
  if (options_.sweeps == 0)
    report.phases.time(exec, "BlockIlu", "ilu_levels", [&] {
      order_ = OrderedRows<Device>(exec, lower_.matrix.graph, Uplo::Lower,
                                   RowCosts::ofFactorization(bs));
      lower_.order = order_.order();
    });
  if constexpr (on_host)
    addWorkRows(a, options_.sweeps == 0 ? order_.workers() : exec.concurrency());
}

template <class Scalar, class Device>
void IluOnPattern<Scalar, Device>::compute(const execution_space& exec, const Matrix& a,
                                           Report& report) {
  pivot_inverter_.change.alpha = 0;
  lower_.growth = upper_.growth = -1;
  lower_.growth_row = upper_.growth_row = -1;
  report.phases.time(exec, "BlockIlu", "ilu_numeric", [&] {
    if constexpr (!on_host) // there rows find out their sizes as they go
      pivot_inverter_.start(exec, a);
    factor(exec, a);
    const auto all = [&](const auto& holds) {
      return std::all_of(work_rows_.begin(), work_rows_.end(), holds);
    };
    if (on_host && !all([](const auto& work) { return work.read_finite; }))
      requireFiniteMatrix<Scalar, Device>(exec, a.values);
    pivot_inverter_.check(exec, report);
    if (options_.breakdown == BreakdownPolicy::ShiftAll && report.breakdowns > 0)
      pivot_inverter_.growShift(exec, options_.shift, report, [&] { factor(exec, a); });
    if (on_host && all([](const auto& work) { return work.finite; })) {
      takeGrowth();
      return;
    }
    const auto [of_lower, of_upper, of_a] = largestModuli<Scalar, Device>(
        exec, lower_.matrix.values, upper_.matrix.values, pivot_inverter_.rowSizes());
    if (!isFinite(of_lower) || !isFinite(of_upper)) {
      requireFinite<Scalar, Device>(exec, lower_.matrix.values, "the factor L");
      requireFinite<Scalar, Device>(exec, upper_.matrix.values, "the factor U");
    }
    lower_.growth = of_a > 0 ? of_lower / of_a : 0;
    upper_.growth = of_upper;
  });
}

template <class Scalar, class Device>
void IluOnPattern<Scalar, Device>::takeGrowth() {
  LargestRow<Scalar> in_lower, in_upper;
  Scalar in_a = 0;
  for (const WorkRow<Scalar>& work : work_rows_) {
    in_lower.take(work.in_lower);
    in_upper.take(work.in_upper);
    in_a = std::max(in_a, work.largest_read);
  }
  lower_.growth = in_a > 0 ? double(in_lower.size) / double(in_a) : 0;
  lower_.growth_row = in_lower.row;
  upper_.growth = double(in_upper.size);
  upper_.growth_row = in_upper.row;
}

template <class Scalar, class Device>
void IluOnPattern<Scalar, Device>::factor(const execution_space& exec, const Matrix& a) {
  if (options_.sweeps > 0)
    sweep(exec, a);
  else
    factorRows(exec, a, Rows::Ordered, upper_.matrix.values, upper_.matrix);
}

template <class Scalar, class Device>
void IluOnPattern<Scalar, Device>::factorRows(const execution_space& exec, const Matrix& a,
                                              Rows rows, const Kokkos::View<Scalar*, Device>& u,
                                              const KernelMatrix<const Scalar>& u_read,
                                              int launches,
                                              const std::function<void(Offset)>& progress) {
  const bool ordered = rows == Rows::Ordered;
  const char* const label = ordered ? "Ainvil::BlockIlu[numeric]" : "Ainvil::BlockIlu[sweep]";
  pivot_inverter_.forget(exec);
  if constexpr (on_host)
    addWorkRows(a, ordered ? order_.workers() : exec.concurrency());
  const IluRowData<Scalar> data{a.graph,
                                lower_.matrix.graph,
                                upper_.matrix.graph,
                                a.values,
                                lower_.matrix.values,
                                u,
                                lower_.diagonal_inverse,
                                u_read,
                                pivot_inverter_,
                                a.block_size,
                                holds_a_,
                                Scalar(options_.modified)};
  const Ordinal n = a.numRows(), at_a_time = rowsOfLaunch(n, 64, progress, launches);
  dispatchBlockSize(a.block_size, [&](auto bs) {
    if constexpr (on_host) {
      const BlockIluHostRow<decltype(bs)::value, Scalar> row{data, work_rows_.data()};
      if (ordered)
        order_.runByWorkers(exec, label, row);
      else
        launchInPieces(exec, n, at_a_time, progress, [&](Ordinal first, Ordinal end) {
          forPartsOfRows(exec, label, first, end, row);
        });
    } else {
      using Row = BlockIluRow<decltype(bs)::value, Scalar, Device>;
      const int capacity = Row::capacityFor(longest_row_, a.block_size);
      const std::size_t scratch = Row::scratchBytes(a.block_size, capacity);
      const Row row{data, capacity};
      const IndependentRow<Row, Device> independent{row};
      if (ordered)
        order_.run(exec, label, row, scratch);
      else
        launchInPieces(exec, n, at_a_time, progress, [&](Ordinal first, Ordinal end) {
          forEachRow(exec, label, end - first, teamsForRowsOf(a.graph, a.block_size * a.block_size),
                     RowsFrom<IndependentRow<Row, Device>>{independent, first}, scratch, &scratch_);
        });
    }
  });
}

template <class Scalar, class Device>
void IluOnPattern<Scalar, Device>::addWorkRows(const Matrix& a, int workers) {
  for (auto& work : work_rows_)
    work.forget();
  while (static_cast<int>(work_rows_.size()) < workers)
    work_rows_.emplace_back(a.numRows(), longest_row_, a.block_size, options_.modified != 0);
}

/// Sweep s reads the U of sweep s - 1, nothing in the beginning, and leaves the last one in upper_.
/// Only the pivots of the last sweep count.
template <class Scalar, class Device>
void IluOnPattern<Scalar, Device>::sweep(const execution_space& exec, const Matrix& a) {
  Matrix read;
  for (int s = 0; s <= options_.sweeps; ++s) {
    const auto write = (options_.sweeps - s) % 2 == 0 ? upper_.matrix.values : other_upper_;
    factorRows(exec, a, Rows::AtOnce, write, read);
    read = Matrix(upper_.matrix.graph, write, a.block_size);
  }
}

template <class Scalar, class Device>
void IluOnPattern<Scalar, Device>::sweepOnce(const execution_space& exec, const Matrix& a,
                                             const Matrix& u, int launches,
                                             const std::function<void(Offset)>& progress) {
  if constexpr (!on_host)
    pivot_inverter_.start(exec, a);
  factorRows(exec, a, Rows::AtOnce, upper_.matrix.values, u, launches, progress);
}

template <class Scalar, class Device>
double IluOnPattern<Scalar, Device>::residual(const execution_space& exec, const Matrix& a) const {
  const double size = norm<Scalar, Device>(exec, asColumn(a.values));
  if (size == 0)
    return 0;
  const auto of_rows = allocate<double, Device>(exec, "Ainvil::row_residuals", a.numRows());
  if (pivot_inverter_.changesDiagonal())
    pivot_inverter_.start(exec, a); // a host has not kept the sizes of rows
  forEachRow(
      exec, "Ainvil::BlockIlu[residual]", a.numRows(),
      teamsForRowsOf(a.graph, a.block_size * a.block_size),
      ResidualRow<Scalar, Device>{a, lower_.matrix, upper_.matrix, pivot_inverter_, size, of_rows});
  return norm<double, Device>(exec, asColumn(of_rows));
}

template <class Scalar, class Device>
void IluOnPattern<Scalar, Device>::diagnose(const execution_space& exec, const Matrix& a,
                                            Report& report) const {
  if (options_.sweeps > 0)
    report.note(message("ilu_residual=", residual(exec, a)));
}

AINVIL_INSTANTIATE_CLASS(IluOnPattern)

} // namespace detail
} // namespace ainvil
