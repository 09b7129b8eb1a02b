// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Spai.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "backend/Ainvil_Counted.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "graph/Ainvil_CountRows.hpp"
#include "graph/Ainvil_PatternProduct.hpp"
#include "graph/Ainvil_Sparsify.hpp"
#include "parameters/Ainvil_ParameterTable.hpp"
#include "spai/Ainvil_SpaiAdaptive.hpp"
#include "spai/Ainvil_SpaiWork.hpp"

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

/// The pattern that a user gave for a matrix of n block rows.
template <class Device>
Graph<Device> patternOfUser(const typename Device::execution_space& exec,
                            const Graph<Device>& given, Ordinal n) {
  if (given.num_rows != n || given.num_cols != n)
    throw InvalidArgument(message("the pattern of M is ", given.num_rows, " x ", given.num_cols,
                                  ", but the matrix has ", n, " block rows"));
  return withDiagonal<Device>(exec,
                              validate(exec, given) ? given : sortRows<Device>(exec, given).graph);
}

} // namespace

template <class Scalar, class Device>
Spai<Scalar, Device>::Spai(const SpaiParameters<Device>& parameters) : parameters_(parameters) {
  parameterTable().checked(parameters);
}

template <class Scalar, class Device>
std::string Spai<Scalar, Device>::description() const {
  const bool is_given = parameters_.pattern.row_map.extent(0) > 0;
  std::vector<std::string> unused;
  if (is_given)
    unused = {"power", "tau"};
  return message("spai: {", is_given ? "pattern: user, " : "",
                 parameterTable().describe(parameters_, unused), "}");
}

template <class Scalar, class Device>
void Spai<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  block_size_ = a.block_size;
  // Frees what the last matrix took before new memory is asked for.
  pattern_ = {};
  values_ = {};
  solver_ = {};
  inverse_ = SparseOperator<Scalar, Device>(parameters_.storage);
  const Graph<Device> with_diagonal = withDiagonal<Device>(exec, a.graph);
  report_.phases.time(exec, "Spai", "pattern",
                      [&] { pattern_ = makePattern(exec, a, with_diagonal); });
  report_.phases.time(exec, "Spai", "plan", [&] {
    solver_ = detail::SpaiRowSolver<Scalar, Device>(exec, pattern_, with_diagonal, block_size_);
    detail::requireSpaiWork<Device>(exec, {pattern_, solver_.shadow(), block_size_, {}},
                                    parameters_.max_work);
    results_ = detail::SpaiRowResults<Device>(exec, a.numRows());
    values_ = allocate<Scalar, Device>(exec, "Ainvil::Spai::values",
                                       pattern_.numEntries() * block_size_ * block_size_);
    inverse_.setGraph(exec, pattern_, block_size_);
  });
}

template <class Scalar, class Device>
Graph<Device> Spai<Scalar, Device>::makePattern(const execution_space& exec, const Matrix& a,
                                                const Graph<Device>& with_diagonal) const {
  const bool grows = parameters_.adaptive.steps > 0;
  const Graph<Device>& user = parameters_.pattern;
  const auto byPower = [&](int power) {
    if (power == 0)
      return detail::identityPattern<Device>(exec, a.numRows());
    if (parameters_.tau == 0)
      return patternPower(exec, with_diagonal, power);
    return patternPower(
        exec, withDiagonal<Device>(exec, detail::sparsified(exec, a, parameters_.tau)), power);
  };
  const Graph<Device> start = user.row_map.extent(0) > 0
                                  ? patternOfUser<Device>(exec, user, a.numRows())
                                  : byPower(grows ? parameters_.adaptive.power : parameters_.power);
  return grows ? detail::adaptiveSpaiPattern(exec, a, with_diagonal, start, parameters_.adaptive,
                                             parameters_.max_work,
                                             this->progressOf("rows", a.numRows()))
               : start;
}

template <class Scalar, class Device>
void Spai<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  report_.notes.clear();
  report_.phases.time(exec, "Spai", "solve", [&] {
    solver_.run(exec, a, values_, results_,
                parameters_.breakdown == BreakdownPolicy::Shift ? parameters_.shift : 0.0, {},
                this->progressOf("rows", a.numRows()));
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

/// Counts the rank deficient problems, adds up the residuals.
template <class Scalar, class Device>
void Spai<Scalar, Device>::checkRows(const execution_space& exec) {
  Ordinal first = -1;
  const Ordinal failed = detail::countRows(exec, "Ainvil::Spai[check]", pattern_.num_rows,
                                           detail::IsMarked<Device>{results_.failed}, first);
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
                          AddUp<Device>{results_.squared_residuals}, squares);
  residual_ = std::sqrt(squares);
}

template <class Scalar, class Device>
void Spai<Scalar, Device>::doApply(const execution_space& exec,
                                   MultiVectorArg<const Scalar, Device> x,
                                   MultiVectorArg<Scalar, Device> y, Trans trans) const {
  inverse_.multiply(exec, trans, Scalar(1), x, Scalar(0), y);
}

AINVIL_INSTANTIATE_CLASS(Spai)

} // namespace ainvil
