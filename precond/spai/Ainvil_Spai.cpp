// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Spai.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "backend/Ainvil_Counted.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "graph/Ainvil_CountRows.hpp"
#include "graph/Ainvil_PatternProduct.hpp"
#include "graph/Ainvil_RowClasses.hpp"
#include "graph/Ainvil_Sparsify.hpp"
#include "parameters/Ainvil_ParameterTable.hpp"
#include "spai/Ainvil_SpaiRow.hpp"

#include <cmath>

namespace ainvil {
namespace {

template <class Device>
struct AddUp {
  Kokkos::View<const double*, Device> terms;

  KOKKOS_FUNCTION void operator()(Offset i, double& sum) const { sum += terms(i); }
};

/// The graph, with all of its diagonal.
template <class Device>
Graph<Device> withDiagonal(const typename Device::execution_space& exec,
                           const Graph<Device>& graph) {
  Ordinal first = -1;
  return countMissingDiagonals(exec, graph, first) == 0 ? graph : fillPattern(exec, graph, 0);
}

} // namespace

template <class Scalar, class Device>
Spai<Scalar, Device>::Spai(const SpaiParameters<Device>& parameters) : parameters_(parameters) {
  parameterTable().checked(parameters);
}

template <class Scalar, class Device>
std::string Spai<Scalar, Device>::description() const {
  if (parameters_.pattern.row_map.extent(0) > 0)
    return message("spai: {pattern: user, ",
                   parameterTable().describe(parameters_, {"power", "tau"}), "}");
  return message("spai: {", parameterTable().describe(parameters_), "}");
}

template <class Scalar, class Device>
void Spai<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  block_size_ = a.block_size;
  // Frees what the last matrix took before new memory is asked for.
  pattern_ = shadow_ = {};
  values_ = {};
  classes_.clear();
  inverse_ = SparseOperator<Scalar, Device>(parameters_.storage);
  report_.phases.time(exec, "Spai", "pattern", [&] {
    const Graph<Device> with_diagonal = withDiagonal<Device>(exec, a.graph);
    pattern_ = makePattern(exec, a, with_diagonal);
    shadow_ = detail::patternProduct<Device>(exec, pattern_, with_diagonal);
  });
  report_.phases.time(exec, "Spai", "plan", [&] { planRows(exec); });
}

template <class Scalar, class Device>
Graph<Device> Spai<Scalar, Device>::makePattern(const execution_space& exec, const Matrix& a,
                                                const Graph<Device>& with_diagonal) const {
  const Graph<Device>& user = parameters_.pattern;
  if (user.row_map.extent(0) > 0) {
    if (user.num_rows != a.numRows() || user.num_cols != a.numRows())
      throw InvalidArgument(message("the pattern of M is ", user.num_rows, " x ", user.num_cols,
                                    ", but the matrix has ", a.numRows(), " block rows"));
    return withDiagonal<Device>(exec,
                                validate(exec, user) ? user : sortRows<Device>(exec, user).graph);
  }
  if (parameters_.tau == 0)
    return patternPower(exec, with_diagonal, parameters_.power);
  return patternPower(exec,
                      withDiagonal<Device>(exec, detail::sparsified(exec, a, parameters_.tau)),
                      parameters_.power);
}

template <class Scalar, class Device>
void Spai<Scalar, Device>::planRows(const execution_space& exec) {
  const Offset scalars = pattern_.numEntries() * block_size_ * block_size_;
  values_ = allocate<Scalar, Device>(exec, "Ainvil::Spai::values", scalars);
  failed_ = allocate<int, Device>(exec, "Ainvil::Spai::failed", pattern_.num_rows);
  squared_residuals_ =
      allocate<double, Device>(exec, "Ainvil::Spai::squared_residuals", pattern_.num_rows);
  inverse_.setGraph(exec, pattern_, block_size_);
  classes_ = detail::rowClasses<Device>(
      exec, pattern_.num_rows,
      detail::SpaiRowBytes<execution_space, Scalar>{pattern_, shadow_, block_size_});
  const Offset most = classes_.back().bytes;
  const Offset there_is = Kokkos::TeamPolicy<execution_space>::scratch_size_max(1);
  if (most > there_is - 64) // what launches round up to
    throw InvalidArgument(message("spai needs a least squares problem of ", most,
                                  " bytes, but has room for ", there_is,
                                  ": take a sparser pattern by power or tau"));
}

template <class Scalar, class Device>
void Spai<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  report_.notes.clear();
  report_.phases.time(exec, "Spai", "solve", [&] {
    solveRows(exec, a);
    checkRows(exec);
    detail::requireFinite<Scalar, Device>(exec, values_, "the approximate inverse");
    inverse_.update(exec, values_);
  });
  report_.note(message("density=", double(pattern_.numEntries()) /
                                       std::max<double>(1, double(a.numEntries()))));
  report_.note(message("residual=", residual_));
  report_.factor_entries = inverse_.numScalars();
  report_.factor_bytes = inverse_.bytes();
}

template <class Scalar, class Device>
void Spai<Scalar, Device>::solveRows(const execution_space& exec, const Matrix& a) {
  const Scalar shift =
      parameters_.breakdown == BreakdownPolicy::Shift ? Scalar(parameters_.shift) : Scalar(0);
  const auto shape = detail::teamsForRowsOf(pattern_, block_size_);
  for (const detail::RowClass<Device>& rows : classes_)
    detail::forEachRow(exec, "Ainvil::Spai[solve]", rows.num_rows, shape,
                       detail::SpaiRow<Scalar, Device>{a, pattern_, shadow_, values_, failed_,
                                                       squared_residuals_, shift, rows.rows},
                       rows.bytes);
}

/// Counts the rank deficient problems, adds up the residuals.
template <class Scalar, class Device>
void Spai<Scalar, Device>::checkRows(const execution_space& exec) {
  Ordinal first = -1;
  const Ordinal failed = detail::countRows(exec, "Ainvil::Spai[check]", pattern_.num_rows,
                                           detail::IsMarked<Device>{failed_}, first);
  if (failed > 0 && parameters_.breakdown == BreakdownPolicy::Fail)
    throw BreakdownError(message(
        failed, failed == 1 ? " least squares problem is" : " least squares problems are",
        " rank deficient, the first in ", counted("block row", first),
        ": rows of the matrix depend on each other, so that it is singular to rounding; or choose "
        "the breakdown policy 'shift' or 'replace'"));
  report_.breakdowns = failed;
  report_.first_breakdown = first;
  double squares = 0;
  Kokkos::parallel_reduce("Ainvil::Spai[residual]",
                          detail::Range<execution_space>(exec, 0, pattern_.num_rows),
                          AddUp<Device>{squared_residuals_}, squares);
  residual_ = std::sqrt(squares);
}

template <class Scalar, class Device>
void Spai<Scalar, Device>::doApply(const execution_space& exec,
                                   MultiVectorArg<const Scalar, Device> x,
                                   MultiVectorArg<Scalar, Device> y, Trans trans) const {
  inverse_.multiply(exec, trans, Scalar(1), x, Scalar(0), y);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Spai<double, DEVICE>;                                                             \
  template class Spai<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
