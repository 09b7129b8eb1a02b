// SPDX-License-Identifier: BSD-3-Clause
#include "triangular/Ainvil_ExactTriangularSolver.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "product/Ainvil_LongRows.hpp"
#include "triangular/Ainvil_SolveInTurn.hpp"
#include "triangular/Ainvil_SolveRows.hpp"
#include "triangular/Ainvil_SolveSymmetric.hpp"

namespace ainvil {

using detail::SolveInTurn;
using detail::SolveRow;
using detail::SolveRowTransposed;
using detail::SolveSymmetric;

template <class Stored, class Scalar, class Device>
void ExactTriangularSolver<Stored, Scalar, Device>::findOrder(
    const execution_space& exec, Solve& solve, const typename OrderedRows<Device>::OrderPtr& known,
    RowSignals signals) {
  const Graph<Device>& graph = solve.factor.matrix.graph;
  solve.order = OrderedRows<Device>(exec, graph, solve.factor.uplo,
                                    detail::RowCosts::ofSolve(solve.factor.matrix.block_size),
                                    known, signals);
  solve.longest_row = detail::longestRow(exec, graph);
}

template <class Stored, class Scalar, class Device>
void ExactTriangularSolver<Stored, Scalar, Device>::initialize(const execution_space& exec,
                                                               const Factor& factor,
                                                               const std::string& prefix,
                                                               Report& report) {
  report.phases.time(exec, "ExactTriangularSolver", prefix + "levels", [&] {
    const auto& matrix = factor.matrix;
    plain_.factor.matrix = BsrMatrix<Stored, Device>(
        matrix.graph, detail::arrayFor<Stored>(exec, "Ainvil::factor", matrix.values),
        matrix.block_size);
    plain_.factor.diagonal_inverse =
        detail::arrayFor<Stored>(exec, "Ainvil::diagonal_inverse", factor.diagonal_inverse);
    plain_.factor.uplo = factor.uplo;
    plain_.factor.unit = factor.unit;
    const bool may_keep = keep_transposed_ && factor.unit;
    findOrder(exec, plain_, factor.order,
              may_keep ? RowSignals::Values : RowSignals::ValuesAndUpdates);
    transposed_ = {};
    transposed_source_ = {};
    if (!may_keep || plain_.order.inTurn())
      return;
    const PermutedGraph<Device> transposed = transpose(exec, matrix.graph);
    transposed_source_ = transposed.source;
    transposed_.factor.matrix = BsrMatrix<Stored, Device>(
        transposed.graph, allocate<Stored, Device>(exec, "Ainvil::transposed", matrix.numScalars()),
        matrix.block_size);
    transposed_.factor.uplo = factor.uplo == Uplo::Lower ? Uplo::Upper : Uplo::Lower;
    transposed_.factor.unit = true;
    findOrder(exec, transposed_, nullptr, RowSignals::Values);
  });
}

template <class Stored, class Scalar, class Device>
void ExactTriangularSolver<Stored, Scalar, Device>::compute(const execution_space& exec,
                                                            const Factor& factor,
                                                            const std::string& prefix,
                                                            Report& report) {
  if constexpr (!std::is_same<Stored, Scalar>::value)
    report.phases.time(exec, "ExactTriangularSolver", prefix + "convert", [&] {
      detail::roundInto(exec, factor.matrix.values, plain_.factor.matrix, !factor.unit);
      detail::roundDiagonalInto(exec, factor.diagonal_inverse, plain_.factor.matrix.block_size,
                                plain_.factor.diagonal_inverse);
    });
  if (hasTransposed())
    report.phases.time(exec, "ExactTriangularSolver", prefix + "transpose", [&] {
      gatherBlocks<Stored, Device>(exec, Trans::Yes, transposed_source_,
                                   plain_.factor.matrix.block_size, plain_.factor.matrix.values,
                                   transposed_.factor.matrix.values);
    });
}

template <class Stored, class Scalar, class Device>
void ExactTriangularSolver<Stored, Scalar, Device>::diagnose(const execution_space& exec,
                                                             const Factor& factor,
                                                             const std::string& prefix,
                                                             Report& report) const {
  report.note(
      message(prefix, "levels=", levelSets(exec, factor.matrix.graph, factor.uplo).numLevels()));
}

template <class Stored, class Scalar, class Device>
void ExactTriangularSolver<Stored, Scalar, Device>::solve(const execution_space& exec,
                                                          const Solve& solve,
                                                          MultiVectorArg<const Scalar, Device> x,
                                                          MultiVectorArg<Scalar, Device> y) const {
  const int bs = solve.factor.matrix.block_size;
  if constexpr (on_host)
    if (bs == 1 && x.extent(1) == 1) {
      solve.order.runByTasks(exec, "Ainvil::ExactTriangularSolver[solve]",
                             SolveInTurn<Stored, Scalar>{solve.factor, x, y});
      return;
    }
  solve.order.prepare(exec, y);
  for (Offset j = 0; j < Offset(x.extent(1)); j += detail::column_tile) {
    const int columns = static_cast<int>(std::min<Offset>(detail::column_tile, x.extent(1) - j));
    detail::dispatchBlockSize(bs, [&](auto size) {
      using Row = SolveRow<decltype(size)::value, Stored, Scalar, Device>;
      const int capacity = Row::capacityFor(bs, columns, solve.longest_row);
      solve.order.runByValues(exec, "Ainvil::ExactTriangularSolver[solve]",
                              Row{solve.factor, x, y, j, columns, capacity},
                              Row::scratchBytes(bs, columns, capacity));
    });
  }
}

template <class Stored, class Scalar, class Device>
void ExactTriangularSolver<Stored, Scalar, Device>::apply(const execution_space& exec,
                                                          MultiVectorArg<const Scalar, Device> x,
                                                          MultiVectorArg<Scalar, Device> y,
                                                          Trans trans) const {
  ScopedRegion region("Ainvil::ExactTriangularSolver::apply");
  if (trans == Trans::No || hasTransposed()) {
    solve(exec, trans == Trans::No ? plain_ : transposed_, x, y);
    return;
  }
  axpby<Scalar, Device>(exec, Scalar(1), x, Scalar(0), y);
  const int bs = plain_.factor.matrix.block_size;
  for (Offset j = 0; j < Offset(x.extent(1)); j += detail::column_tile) {
    const int columns = static_cast<int>(std::min<Offset>(detail::column_tile, x.extent(1) - j));
    plain_.order.runReversed(
        exec, "Ainvil::ExactTriangularSolver[transposed]",
        SolveRowTransposed<Stored, Scalar, Device>{plain_.factor, y, j, columns},
        std::size_t(bs) * columns * sizeof(Scalar));
  }
}

template <class Stored, class Scalar, class Device>
void ExactTriangularSolver<Stored, Scalar, Device>::applySymmetric(
    const execution_space& exec, const Kokkos::View<Scalar*, Device>& d_inverse, int block_size,
    MultiVectorArg<const Scalar, Device> x, MultiVectorArg<Scalar, Device> work,
    MultiVectorArg<Scalar, Device> y) const {
  if constexpr (!compat::IsGpu<execution_space>::value) {
    const auto& factor = plain_.factor;
    if (plain_.order.inTurn() && factor.unit && factor.uplo == Uplo::Lower) {
      ScopedRegion region("Ainvil::ExactTriangularSolver::applySymmetric");
      detail::dispatchBlockSize(block_size, [&](auto size) {
        Kokkos::parallel_for("Ainvil::ExactTriangularSolver[symmetric]",
                             detail::Range<execution_space>(exec, 0, x.extent(1)),
                             SolveSymmetric<decltype(size)::value, Stored, Scalar, Device>{
                                 factor, d_inverse, x, work, y, factor.matrix.graph.num_rows});
      });
      return;
    }
  }
  Base::applySymmetric(exec, d_inverse, block_size, x, work, y);
}

template <class Stored, class Scalar, class Device>
Offset ExactTriangularSolver<Stored, Scalar, Device>::entries() const {
  const auto& t = plain_.factor.matrix;
  return t.numScalars() + (plain_.factor.unit ? t.numPointRows() * t.block_size : 0);
}

template <class Stored, class Scalar, class Device>
Offset ExactTriangularSolver<Stored, Scalar, Device>::bytes() const {
  return plain_.factor.matrix.bytes(); // D^-1 is read instead of D
}

template <class Scalar, class Device>
TriangularSolverPtr<Scalar, Device> ExactParameters::makeSolver(Storage storage) const {
  return detail::makeStored<ExactTriangularSolver, Scalar, Device>(*this, storage);
}

#define AINVIL_INSTANTIATE_STORED(STORED, SCALAR, DEVICE)                                          \
  template class ExactTriangularSolver<STORED, SCALAR, DEVICE>;
AINVIL_FOR_EACH_STORED_TYPE(AINVIL_INSTANTIATE_STORED)
#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template TriangularSolverPtr<SCALAR, DEVICE> ExactParameters::makeSolver<SCALAR, DEVICE>(        \
      Storage) const;
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
