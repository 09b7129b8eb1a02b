// SPDX-License-Identifier: BSD-3-Clause
#include "ic/Ainvil_BlockIc.hpp"

#include "backend/Ainvil_AllocateTogether.hpp"
#include "dense/Ainvil_AbsoluteBlocks.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "ic/Ainvil_BlockIcHostRow.hpp"
#include "ic/Ainvil_BlockIcRow.hpp"
#include "ic/Ainvil_ModifiedIcRow.hpp"
#include "ilu/Ainvil_ThresholdPattern.hpp"
#include "parameters/Ainvil_ParameterTable.hpp"

#include <algorithm>
#include <limits>

namespace ainvil {
namespace detail {

template <class Scalar, class Device>
BlockIc<Scalar, Device>::BlockIc(const IcOptions& options)
    : options_(IcOptions::table().checked(options)) {}

template <class Scalar, class Device>
void BlockIc<Scalar, Device>::initialize(const execution_space& exec, const Matrix& a,
                                         Report& report,
                                         const std::function<void(Offset)>& progress) {
  if (followsValues())
    return;
  report.phases.time(exec, "BlockIc", "ic_symbolic", [&] {
    setPattern(exec, a, fillLower(exec, a.graph, options_.level, Diagonal::Drop, progress));
  });
  findOrder(exec, a, report);
}

template <class Scalar, class Device>
bool BlockIc<Scalar, Device>::findPattern(const execution_space& exec, const Matrix& a,
                                          bool may_keep, Report& report,
                                          const std::function<void(Offset)>& progress) {
  if (age_.keeps(may_keep, options_.repattern))
    return false;
  factor_ = {}; // frees memory
  d_inverse_ = {};
  columns_ = {};
  d_ = {};
  pivot_inverter_ = {};
  report.phases.time(exec, "BlockIc", "ict_pattern", [&] {
    if (refusesNonFinite())
      requireFiniteMatrix<Scalar, Device>(exec, a.values);
    IluOnPatternOptions pivots;
    static_cast<DiagonalThresholds&>(pivots) = options_;
    pivots.breakdown = options_.breakdown;
    pivots.shift = options_.shift;
    pivots.pivot_tolerance = options_.pivot_tolerance;
    const FillTriangles<Device> pattern =
        thresholdPattern(exec, a, options_, pivots,
                         takesAnySign() ? FactorKind::Symmetric : FactorKind::Positive, progress);
    setPattern(exec, a, triangle(exec, pattern.lower, Uplo::Lower, Diagonal::Drop));
  });
  findOrder(exec, a, report);
  return true;
}

template <class Scalar, class Device>
void BlockIc<Scalar, Device>::setPattern(const execution_space& exec, const Matrix& a,
                                         const Graph<Device>& lower) {
  const int bs = a.block_size;
  const Offset bs2 = Offset(bs) * bs;
  const auto [values, d_inverse, row_sizes, d] = allocateTogether<Scalar, Device>(
      exec, "Ainvil::lower", lower.numEntries() * bs2, a.numRows() * bs2, a.numPointRows(),
      isModified() ? a.numRows() * bs2 : 0);
  factor_.matrix = Matrix(lower, values, bs);
  factor_.uplo = Uplo::Lower;
  factor_.unit = true;
  d_inverse_ = d_inverse;
  d_ = d;
  if (isModified())
    columns_ = transpose(exec, lower);
  longest_row_ = longestRow(exec, isModified() ? columns_.graph : lower);
  // Only in the beginning of shifts are pivots that break down left as they are replaced.
  pivot_inverter_ = PivotInverter<Scalar, Device>(
      exec,
      options_.breakdown == BreakdownPolicy::Fail ? BreakdownPolicy::Fail
                                                  : BreakdownPolicy::Replace,
      0, options_.pivot_tolerance * std::numeric_limits<Scalar>::epsilon(), row_sizes,
      !takesAnySign());
  pivot_inverter_.change = DiagonalChange<Scalar>(options_);
}

template <class Scalar, class Device>
void BlockIc<Scalar, Device>::findOrder(const execution_space& exec, const Matrix& a,
                                        Report& report) {
  const int bs = a.block_size;
  report.phases.time(exec, "BlockIc", "ic_levels", [&] {
    order_ =
        OrderedRows<Device>(exec, factor_.matrix.graph, Uplo::Lower, RowCosts::ofFactorization(bs));
    factor_.order = order_.order();
  });
  work_rows_.clear();
  if (remembersColumns())
    addWorkRows(a);
}

template <class Scalar, class Device>
void BlockIc<Scalar, Device>::compute(const execution_space& exec, const Matrix& a,
                                      Report& report) {
  alpha_ = 0;
  pivot_inverter_.change.alpha = 0;
  report.phases.time(exec, "BlockIc", "ic_numeric", [&] {
    if (!remembersColumns()) // there rows find out their sizes as they go
      pivot_inverter_.start(exec, a);
    factorRows(exec, a);
    const auto all = [&](const auto& holds) {
      return std::all_of(work_rows_.begin(), work_rows_.end(), holds);
    };
    if (remembersColumns() && !all([](const auto& work) { return work.read_finite; }))
      requireFiniteMatrix<Scalar, Device>(exec, a.values);
    pivot_inverter_.check(exec, report);
    if (options_.breakdown == BreakdownPolicy::Shift && report.breakdowns > 0)
      alpha_ =
          pivot_inverter_.growShift(exec, options_.shift, report, [&] { factorRows(exec, a); });
    if (options_.signs == PivotSigns::Absolute)
      takeAbsoluteBlocks<Scalar, Device>(exec, a.block_size, d_inverse_);
    if (remembersColumns() && all([](const auto& work) { return work.finite; }))
      return;
    requireFinite<Scalar, Device>(exec, factor_.matrix.values, "the factor S");
  });
}

template <class Scalar, class Device>
void BlockIc<Scalar, Device>::factorRows(const execution_space& exec, const Matrix& a) {
  const char* const label = "Ainvil::BlockIc[numeric]";
  const Graph<Device>& s = factor_.matrix.graph;
  const bool holds_a = !followsValues();
  pivot_inverter_.forget(exec);
  if (remembersColumns())
    addWorkRows(a);
  dispatchBlockSize(a.block_size, [&](auto bs) {
    if (isModified()) {
      using Row = ModifiedIcRow<decltype(bs)::value, Scalar, Device>;
      const int capacity = Row::capacityFor(longest_row_, a.block_size);
      order_.run(exec, label,
                 Row{a.graph, s, columns_.graph, columns_.source, a.values, factor_.matrix.values,
                     d_, d_inverse_, pivot_inverter_, a.block_size, capacity, holds_a,
                     Scalar(options_.modified)},
                 Row::scratchBytes(a.block_size, capacity));
    } else if constexpr (on_host) {
      order_.runByWorkers(exec, label,
                          BlockIcHostRow<decltype(bs)::value, Scalar>{
                              a.graph, s, a.values, factor_.matrix.values, d_inverse_,
                              pivot_inverter_, a.block_size, holds_a, work_rows_.data()});
    } else {
      using Row = BlockIcRow<decltype(bs)::value, Scalar, Device>;
      const int capacity = Row::capacityFor(longest_row_, a.block_size);
      order_.run(exec, label,
                 Row{a.graph, s, a.values, factor_.matrix.values, d_inverse_, pivot_inverter_,
                     a.block_size, capacity},
                 Row::scratchBytes(a.block_size, capacity));
    }
  });
}

template <class Scalar, class Device>
void BlockIc<Scalar, Device>::addWorkRows(const Matrix& a) {
  for (auto& work : work_rows_)
    work.read_finite = work.finite = true;
  while (static_cast<int>(work_rows_.size()) < order_.workers())
    work_rows_.emplace_back(a.numRows(), longest_row_ + 1, a.block_size);
}

AINVIL_INSTANTIATE_CLASS(BlockIc)

} // namespace detail
} // namespace ainvil
