// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Preconditioner.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "dense/Ainvil_BlockArrays.hpp"

namespace ainvil {

template <class Scalar, class Device>
void Preconditioner<Scalar, Device>::initialize(const execution_space& exec, const Matrix& a) {
  detail::requireKokkos<execution_space>();
  ScopedRegion region("Ainvil::Preconditioner::initialize");
  initialized_ = computed_ = false;
  report_ = Report();
  detail::requireSquare("a preconditioner", a.numPointRows(), a.numPointCols());
  const bool is_sorted = validate(exec, a.graph);
  sorted_graph_ = {};
  sorted_source_ = {};
  sorted_values_ = {};
  detail::reportingOutOfMemory("initialize()", [&] {
    Matrix ordered = a;
    if (!is_sorted) {
      const PermutedGraph<Device> permuted = sortRows(exec, a.graph);
      sorted_graph_ = permuted.graph;
      sorted_source_ = permuted.source;
      sorted_values_ = allocate<Scalar, Device>(exec, "Ainvil::sorted_values", a.values.extent(0));
      ordered = sorted(exec, a);
    }
    doInitialize(exec, ordered);
    num_rows_ = a.numRows();
    graph_ = a.graph;
    block_size_ = a.block_size;
    detail::workspaceOf(exec, workspace_, numPointRows(), 1);
  });
  initialized_ = true;
}

template <class Scalar, class Device>
typename Preconditioner<Scalar, Device>::Matrix
Preconditioner<Scalar, Device>::sorted(const execution_space& exec, const Matrix& a) {
  if (sorted_source_.extent(0) == 0)
    return a;
  gatherBlocks<Scalar, Device>(exec, Trans::No, sorted_source_, a.block_size, a.values,
                               sorted_values_);
  return Matrix(sorted_graph_, sorted_values_, a.block_size);
}

template <class Scalar, class Device>
void Preconditioner<Scalar, Device>::requireInitialized(const execution_space& exec,
                                                        const char* verb, const Matrix& a) const {
  if (!initialized_)
    throw InvalidArgument(
        message(verb, " was called before initialize(): call initialize() first"));
  if (a.numRows() != num_rows_ || a.numEntries() != graph_.numEntries() ||
      a.block_size != block_size_)
    throw InvalidArgument(message(
        verb, " got a matrix of ", a.numRows(), " block rows, ", a.numEntries(), " blocks of size ",
        a.block_size, ", but initialize() saw ", num_rows_, ", ", graph_.numEntries(), " and ",
        block_size_, ": initialize again when the pattern changes"));
  if (!samePattern(exec, a.graph, graph_))
    throw InvalidArgument(message(verb, " got a matrix of another pattern than initialize() saw: "
                                        "initialize again when the pattern changes"));
}

template <class Scalar, class Device>
void Preconditioner<Scalar, Device>::compute(const execution_space& exec, const Matrix& a) {
  detail::requireKokkos<execution_space>();
  ScopedRegion region("Ainvil::Preconditioner::compute");
  computed_ = false;
  requireInitialized(exec, "compute()", a);
  if (!refusesNonFinite())
    detail::requireFiniteMatrix<Scalar, Device>(exec, a.values);
  report_.breakdowns = 0;
  report_.first_breakdown = -1;
  report_.objection.clear();
  detail::reportingOutOfMemory("compute()", [&] { doCompute(exec, sorted(exec, a)); });
  computed_ = true;
}

template <class Scalar, class Device>
void Preconditioner<Scalar, Device>::diagnose(const execution_space& exec, const Matrix& a) {
  detail::requireKokkos<execution_space>();
  ScopedRegion region("Ainvil::Preconditioner::diagnose");
  if (!computed_)
    throw InvalidArgument("diagnose() was called before compute(): call compute() first");
  requireInitialized(exec, "diagnose()", a);
  detail::reportingOutOfMemory("diagnose()", [&] { doDiagnose(exec, sorted(exec, a)); });
}

template <class Scalar, class Device>
void Preconditioner<Scalar, Device>::apply(const execution_space& exec,
                                           MultiVectorArg<const Scalar, Device> x,
                                           MultiVectorArg<Scalar, Device> y, Trans trans,
                                           Scalar alpha, Scalar beta) const {
  detail::requireKokkos<execution_space>();
  if (!computed_)
    throw InvalidArgument("apply() was called before compute(): call compute() first");
  if (Offset(x.extent(0)) != numPointRows() || Offset(y.extent(0)) != numPointRows() ||
      x.extent(1) != y.extent(1))
    throw InvalidArgument(message("apply() needs x and y of ", numPointRows(), " rows, but x is ",
                                  x.extent(0), " x ", x.extent(1), " and y is ", y.extent(0), " x ",
                                  y.extent(1)));
  detail::reportingOutOfMemory("apply()", [&] {
    if (alpha == Scalar(1) && beta == Scalar(0)) {
      doApply(exec, x, y, trans);
      return;
    }
    const auto result = detail::workspaceOf(exec, workspace_, x.extent(0), x.extent(1));
    doApply(exec, x, result, trans);
    axpby<Scalar, Device>(exec, alpha, result, beta, y);
  });
}

AINVIL_INSTANTIATE_CLASS(Preconditioner)

} // namespace ainvil
