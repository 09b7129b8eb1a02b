// SPDX-License-Identifier: BSD-3-Clause
#include "triangular/Ainvil_Isai.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "graph/Ainvil_RowClasses.hpp"
#include "parameters/Ainvil_ParameterTable.hpp"
#include "product/Ainvil_Probes.hpp"
#include "product/Ainvil_Spmv.hpp"
#include "triangular/Ainvil_IsaiPattern.hpp"
#include "triangular/Ainvil_IsaiRows.hpp"

#include <cmath>
#include <utility>

namespace ainvil {
namespace {

using detail::num_probes;

/// Of the accumulators of a row.
template <class Device>
struct AccumulatorBytes {
  detail::RowLength<Device> length;
  Offset of_block;

  KOKKOS_FUNCTION Offset operator()(Offset row) const { return length(row) * of_block; }
};

template <class Scalar, class Device>
std::vector<detail::RowClass<Device>>
accumulatorClasses(const typename Device::execution_space& exec, const Graph<Device>& pattern,
                   int bs, Ordinal longest) {
  const AccumulatorBytes<Device> bytes{{pattern.row_map}, Offset(bs) * bs * Offset(sizeof(Scalar))};
  return detail::rowClasses<Device>(exec, pattern.num_rows, bytes, longest * bytes.of_block);
}

} // namespace

template <class Stored, class Scalar, class Device>
IsaiTriangularSolver<Stored, Scalar, Device>::IsaiTriangularSolver(
    const IsaiParameters<Device>& parameters)
    : parameters_(parameters) {
  parameterTable().checked(parameters);
}

template <class Stored, class Scalar, class Device>
std::string IsaiTriangularSolver<Stored, Scalar, Device>::description() const {
  const bool is_given = parameters_.lower_pattern.row_map.extent(0) > 0 ||
                        parameters_.upper_pattern.row_map.extent(0) > 0;
  return is_given ? "isai, pattern: user, " + parameterTable().describe(parameters_, {"power"})
                  : "isai, " + parameterTable().describe(parameters_);
}

template <class Stored, class Scalar, class Device>
Graph<Device>
IsaiTriangularSolver<Stored, Scalar, Device>::inversePattern(const execution_space& exec,
                                                             const Factor& factor) const {
  const Graph<Device>& user =
      factor.uplo == Uplo::Lower ? parameters_.lower_pattern : parameters_.upper_pattern;
  if (user.row_map.extent(0) == 0)
    return patternPower(exec, factor.matrix.graph, parameters_.power);
  return triangularPattern(exec, factor.uplo == Uplo::Lower ? "L^-1" : "U^-1", user,
                           factor.matrix.numRows(), factor.uplo,
                           factor.unit ? Diagonal::Drop : Diagonal::Keep);
}

/// What is solved by rows: T, or T^T.
template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::setFactor(const execution_space& exec,
                                                             const Factor& factor) {
  unit_ = factor.unit;
  uplo_ = factor.uplo;
  rows_factor_ = factor;
  if (parameters_.side == IsaiSide::Rows)
    return;
  const PermutedGraph<Device> t = transpose(exec, factor.matrix.graph);
  factor_source_ = t.source;
  rows_factor_.matrix = BsrMatrix<Scalar, Device>(
      t.graph, allocate<Scalar, Device>(exec, "Ainvil::transposed", factor.matrix.numScalars()),
      factor.matrix.block_size);
  rows_factor_.diagonal_inverse =
      allocate<Scalar, Device>(exec, "Ainvil::diagonal_inverse", factor.diagonal_inverse.extent(0));
  rows_factor_.uplo = factor.uplo == Uplo::Lower ? Uplo::Upper : Uplo::Lower;
}

/// Room for M on the pattern of M, or of M^T.
template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::setPattern(const execution_space& exec,
                                                              const Graph<Device>& rows_pattern) {
  const int bs = rows_factor_.matrix.block_size;
  const auto values = [&](const char* label) {
    return allocate<Stored, Device>(exec, label, rows_pattern.numEntries() * bs * bs);
  };
  rows_pattern_ = rows_pattern;
  rows_values_ = values("Ainvil::inverse");
  BsrMatrix<Stored, Device> inverse(rows_pattern, rows_values_, bs);
  if (parameters_.side == IsaiSide::Columns) {
    const PermutedGraph<Device> m = transpose(exec, rows_pattern);
    inverse_source_ = m.source;
    inverse = BsrMatrix<Stored, Device>(m.graph, values("Ainvil::transposed_inverse"), bs);
  }
  inverse_ = SparseOperator<Scalar, Device>(exec, inverse);
  if (keep_transposed_)
    inverse_.keepTransposed(exec);
  classes_ = accumulatorClasses<Scalar>(exec, rows_pattern, bs,
                                        parameters_.side == IsaiSide::Columns
                                            ? detail::longestRow(exec, rows_pattern)
                                            : inverse_.longRows().longest());
}

template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::initialize(const execution_space& exec,
                                                              const Factor& factor,
                                                              const std::string& prefix,
                                                              Report& report) {
  exact_.reset();
  knows_pattern_ = false;
  report.phases.time(exec, "Isai", prefix + "isai_pattern", [&] {
    const Graph<Device> pattern = inversePattern(exec, factor);
    setFactor(exec, factor);
    first_pattern_ = parameters_.side == IsaiSide::Rows ? pattern : transpose(exec, pattern).graph;
    if (!isAdaptive())
      setPattern(exec, first_pattern_);
    if (parameters_.relax != 0) {
      factor_ = SparseOperator<Scalar, Device>(storageOf<Stored, Scalar>());
      factor_.setGraph(exec, factor.matrix.graph, factor.matrix.block_size);
      if (keep_transposed_)
        factor_.keepTransposed(exec);
      detail::workspaceOf(exec, workspace_, factor.matrix.numPointRows(), 1);
    }
  });
}

template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::solveRows(
    const execution_space& exec, const Graph<Device>& pattern,
    const Kokkos::View<Stored*, Device>& values,
    const std::vector<detail::RowClass<Device>>& classes) const {
  const int bs = rows_factor_.matrix.block_size;
  const auto shape = detail::teamsForRowsOf(rows_factor_.matrix.graph, bs * bs);
  for (const detail::RowClass<Device>& rows : classes)
    detail::dispatchBlockSize(bs, [&](auto size) {
      using Row = detail::IsaiRow<decltype(size)::value, Stored, Scalar, Device>;
      detail::forEachRow(exec, "Ainvil::Isai[solve]", rows.num_rows, shape,
                         Row{rows_factor_, pattern, values, rows.rows},
                         Row::scratchBytes(bs, rows.bytes), &scratch_);
    });
}

/// Rows whose residual exceeds eps take the pattern of another power, until none does.
template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::growPattern(const execution_space& exec) {
  const int bs = rows_factor_.matrix.block_size;
  Graph<Device> pattern = first_pattern_;
  grown_rows_ = 0;
  const auto marks = allocate<int, Device>(exec, "Ainvil::marks", pattern.num_rows);
  for (int step = 0; step < parameters_.adaptive; ++step) {
    const auto values =
        allocate<Stored, Device>(exec, "Ainvil::inverse", pattern.numEntries() * bs * bs);
    solveRows(exec, pattern, values,
              accumulatorClasses<Scalar>(exec, pattern, bs, detail::longestRow(exec, pattern)));
    detail::forEachRow(exec, "Ainvil::Isai[residual]", pattern.num_rows,
                       detail::teamsForRowsOf(pattern),
                       detail::MarkLargeResidual<Stored, Scalar, Device>{
                           rows_factor_, pattern, values, marks, Scalar(parameters_.eps)});
    Ordinal first = -1;
    const Ordinal large = detail::countRows(exec, "Ainvil::Isai[count]", pattern.num_rows,
                                            detail::IsMarked<Device>{marks}, first);
    if (large == 0)
      break;
    if (step == 0) // other rows never grow: their residuals stay what they are
      grown_rows_ = large;
    pattern = detail::grownPattern<Device>(exec, pattern, rows_factor_.matrix.graph, marks);
  }
  setPattern(exec, pattern);
}

template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::invert(const execution_space& exec,
                                                          const Factor& factor) {
  const int bs = factor.matrix.block_size;
  if (parameters_.side == IsaiSide::Columns) {
    gatherBlocks<Scalar, Device>(exec, Trans::Yes, factor_source_, bs, factor.matrix.values,
                                 rows_factor_.matrix.values);
    transposeBlocks<Scalar, Device>(exec, bs, factor.diagonal_inverse,
                                    rows_factor_.diagonal_inverse);
  }
  if (isAdaptive() && !std::exchange(knows_pattern_, false)) // nor is it known after a breakdown
    growPattern(exec);
  solveRows(exec, rows_pattern_, rows_values_, classes_);
  if (parameters_.side == IsaiSide::Columns)
    gatherBlocks<Stored, Device>(exec, Trans::Yes, inverse_source_, bs, rows_values_,
                                 inverse().values);
  if constexpr (std::is_same<Stored, Scalar>::value)
    detail::requireFinite<Stored, Device>(exec, inverse().values, "the approximate inverse");
  else
    inverse_.checkRange(exec, !unit_);
  knows_pattern_ = true;
}

template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::compute(const execution_space& exec,
                                                           const Factor& factor,
                                                           const std::string& prefix,
                                                           Report& report) {
  substituted_ = false;
  is_out_of_range_ = false;
  steps_ = isAutomatic() ? 0 : parameters_.relax;
  report.phases.time(exec, "Isai", prefix + "isai_solve", [&] {
    try {
      invert(exec, factor);
    } catch (const OutOfMemory&) {
      throw;
    } catch (const Error&) { // not finite, or beyond the precision it is stored in
      if (!fallsBack())
        throw;
      is_out_of_range_ = true;
      return;
    }
    if (isAdaptive())
      report.note(message(prefix, "grown_rows=", grown_rows_));
    inverse_.updateTransposed(exec);
    if (parameters_.relax != 0) {
      factor_.update(exec, factor.matrix.values, !unit_);
      factor_.updateTransposed(exec);
    }
  });
}

template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::fit(
    const execution_space& exec, const Factor& factor,
    const TriangularProbes<Scalar, Device>& probes, const std::string& prefix, Report& report) {
  if (!isAutomatic())
    return;
  if (is_out_of_range_) {
    substitute(exec, factor, "the approximate inverse is out of range", prefix, report);
    return;
  }
  double residual = 0;
  report.phases.time(exec, "Isai", prefix + "isai_probe",
                     [&] { residual = findSteps(exec, probes); });
  const std::string found = message("relax=", steps_, " (residual ", residual, ")");
  if (residual <= parameters_.fallback_threshold || residual <= parameters_.relax_threshold)
    report.note(prefix + found);
  else if (fallsBack())
    substitute(exec, factor, found, prefix, report);
  else {
    report.note(prefix + found);
    objectTo(residual, report);
  }
}

template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::objectTo(double residual, Report& report) const {
  // z = 0 leaves 1. More than that may pass where unknowns differ in units, as long as it falls.
  constexpr double most = 1e3; // what sweeps may leave by default
  const bool falls = steps_ == parameters_.relax_limit && steps_ > 0;
  if (residual < 1 || (falls && residual <= most))
    return;
  report.objection = message(
      "the relaxation (relax=auto) on the ", uplo_ == Uplo::Lower ? "lower" : "upper",
      " factor diverges: its best step leaves random right-hand sides a residual ", residual,
      " times their own size; take fallback=exact, a larger power, or solve=exact");
}

/// Chooses the number of steps. Returns what they leave of the probes.
template <class Stored, class Scalar, class Device>
double IsaiTriangularSolver<Stored, Scalar, Device>::findSteps(
    const execution_space& exec, const TriangularProbes<Scalar, Device>& probes) {
  const Offset n = inverse_.numPointRows();
  const auto work = detail::workspaceOf(exec, probe_work_, n, 3 * num_probes);
  const auto part = [&](int which) {
    return MultiVectorArg<Scalar, Device>(work.data() + which * n * num_probes, n, num_probes);
  };
  const auto z = part(0), t = part(1), l_t = part(2);
  const auto normInEquations = [&](MultiVectorArg<const Scalar, Device> v) {
    if (probes.before == nullptr)
      return detail::norm<Scalar, Device>(exec, v);
    probes.before->multiplyAdd(exec, Trans::No, Scalar(1), v, Scalar(probes.before_is_unit ? 1 : 0),
                               v, Scalar(0), v, l_t);
    return detail::norm<Scalar, Device>(exec, l_t);
  };
  const double size = normInEquations(probes.x);
  // z after k steps leaves the residual t = r - T z, which is what step k + 1 begins with.
  int best = 0;
  double best_residual = HUGE_VAL;
  apply(exec, probes.x, z, Trans::No);
  for (int steps = 0; steps <= parameters_.relax_limit; ++steps) {
    step(exec, probes.x, z, t, Trans::No);
    const double residual = size > 0 ? normInEquations(t) / size : 0.0;
    if (residual < best_residual) {
      best = steps;
      best_residual = residual;
    }
    if (residual <= parameters_.relax_threshold)
      break;
  }
  steps_ = best;
  return best_residual;
}

/// From now on T^-1 is applied by substitution.
template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::substitute(const execution_space& exec,
                                                              const Factor& factor,
                                                              const std::string& reason,
                                                              const std::string& prefix,
                                                              Report& report) {
  if (exact_ == nullptr) {
    auto exact = std::make_unique<ExactTriangularSolver<Stored, Scalar, Device>>();
    if (keep_transposed_)
      exact->keepTransposed();
    exact->initialize(exec, factor, prefix, report);
    exact_ = std::move(exact);
  }
  exact_->compute(exec, factor, prefix, report);
  substituted_ = true;
  report.note(message(prefix, "solve=exact (", reason, ")"));
}

/// t = r - op(T) z, z += op(M) t
template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::step(const execution_space& exec,
                                                        MultiVectorArg<const Scalar, Device> r,
                                                        MultiVectorArg<Scalar, Device> z,
                                                        MultiVectorArg<Scalar, Device> t,
                                                        Trans trans) const {
  const Scalar one(1), keep(unit_ ? 1 : 0);
  factor_.multiplyAdd(exec, trans, -one, z, one, r, -keep, z, t);
  inverse_.multiplyAdd(exec, trans, one, t, one, z, keep, t, z);
}

template <class Stored, class Scalar, class Device>
void IsaiTriangularSolver<Stored, Scalar, Device>::apply(const execution_space& exec,
                                                         MultiVectorArg<const Scalar, Device> x,
                                                         MultiVectorArg<Scalar, Device> y,
                                                         Trans trans) const {
  ScopedRegion region("Ainvil::Isai::apply");
  if (substituted_) {
    exact_->apply(exec, x, y, trans);
    return;
  }
  const Scalar one(1), keep(unit_ ? 1 : 0);
  inverse_.multiplyAdd(exec, trans, one, x, keep, x, Scalar(0), x, y);
  if (steps_ == 0)
    return;
  const auto t = detail::workspaceOf(exec, workspace_, x.extent(0), x.extent(1));
  for (int k = 0; k < steps_; ++k)
    step(exec, x, y, t, trans);
}

template <class Stored, class Scalar, class Device>
Offset IsaiTriangularSolver<Stored, Scalar, Device>::entries() const {
  if (substituted_)
    return exact_->entries();
  const Offset diagonal = unit_ ? inverse_.numPointRows() * inverse_.blockSize() : 0;
  return inverse_.numScalars() + diagonal;
}

template <class Stored, class Scalar, class Device>
Offset IsaiTriangularSolver<Stored, Scalar, Device>::bytes() const {
  if (substituted_)
    return exact_->bytes();
  return inverse_.bytes() * (steps_ + 1) + (steps_ > 0 ? factor_.bytes() * steps_ : 0);
}

template <class Device>
template <class Scalar, class OfVectors>
std::enable_if_t<std::is_same<OfVectors, Device>::value, TriangularSolverPtr<Scalar, Device>>
IsaiParameters<Device>::makeSolver(Storage storage) const {
  return detail::makeStored<IsaiTriangularSolver, Scalar, Device>(*this, storage);
}

#define AINVIL_INSTANTIATE_STORED(STORED, SCALAR, DEVICE)                                          \
  template class IsaiTriangularSolver<STORED, SCALAR, DEVICE>;
AINVIL_FOR_EACH_STORED_TYPE(AINVIL_INSTANTIATE_STORED)
#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template TriangularSolverPtr<SCALAR, DEVICE> IsaiParameters<DEVICE>::makeSolver<SCALAR, DEVICE>( \
      Storage) const;
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
