// SPDX-License-Identifier: BSD-3-Clause
#include "triangular/Ainvil_Sweeps.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "parameters/Ainvil_ParameterTable.hpp"
#include "product/Ainvil_Probes.hpp"

namespace ainvil {
namespace {

using detail::forLanes;

/// M_ij = D_i^-1 T_ij for the off-diagonal blocks of row i, a lane an entry of a block.
template <class Stored, class Scalar, class Device>
struct ScaleRow {
  detail::KernelTriangle<Scalar> factor;
  BsrMatrix<Stored, Device> m;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*) const {
    const int bs = m.block_size;
    const int bs2 = bs * bs;
    const Offset from = factor.offDiagonal(row).first;
    const Offset to = m.graph.row_map(row);
    const Scalar* inverse = factor.diagonal_inverse.data() + Offset(row) * bs2;
    const Ordinal length = static_cast<Ordinal>(m.graph.row_map(row + 1) - to);
    forLanes(member, length, [&](const Ordinal k) {
      const Scalar* block = factor.matrix.values.data() + (from + k) * bs2;
      Stored* scaled = m.values.data() + (to + k) * bs2;
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < bs; ++c) {
          Scalar sum = 0;
          for (int l = 0; l < bs; ++l)
            sum += inverse[r * bs + l] * block[l * bs + c];
          scaled[r * bs + c] = static_cast<Stored>(sum);
        }
    });
  }
};

/// In place, y_i = (1 - omega) y_i + omega (c_i - sum over k of M_ik y_k), with the y_k that are
/// there; one thread a row of a block, block rows in the order of the launch.
template <class Stored, class Scalar, class Device>
struct AsyncSweep {
  BsrMatrix<Stored, Device> m;
  MultiVectorArg<const Scalar, Device> c;
  MultiVectorArg<Scalar, Device> y;
  Scalar omega;
  bool ascending;
  Offset longest; ///< rows with more blocks are left to another kernel

  KOKKOS_FUNCTION void operator()(const Offset item) const {
    const int bs = m.block_size;
    const Offset index = item / bs;
    const int r = static_cast<int>(item - index * bs);
    const Offset row = ascending ? index : m.graph.num_rows - 1 - index;
    const Offset begin = m.graph.row_map(row), end = m.graph.row_map(row + 1);
    if (end - begin > longest)
      return;
    const Offset i = row * bs + r;
    for (Offset j = 0; j < Offset(y.extent(1)); ++j) {
      Scalar sum = 0;
      for (Offset k = begin; k < end; ++k) {
        const Offset y_row = Offset(m.graph.entries(k)) * bs;
        for (int column = 0; column < bs; ++column)
          sum += Scalar(m.values((k * bs + r) * bs + column)) *
                 compat::volatileLoad(&y(y_row + column, j));
      }
      Scalar next = omega * (c(i, j) - sum);
      if (omega != Scalar(1))
        next += (Scalar(1) - omega) * y(i, j);
      compat::volatileStore(&y(i, j), next);
    }
  }
};

} // namespace

template <class Stored, class Scalar, class Device>
SweepTriangularSolver<Stored, Scalar, Device>::SweepTriangularSolver(
    const SweepParameters& parameters)
    : parameters_(SweepParameters::table(parameters.mode).checked(parameters)) {}

template <class Stored, class Scalar, class Device>
std::string SweepTriangularSolver<Stored, Scalar, Device>::description() const {
  return (parameters_.mode == SweepMode::Async ? "async, " : "jacobi, ") +
         SweepParameters::table(parameters_.mode).describe(parameters_);
}

template <class Stored, class Scalar, class Device>
void SweepTriangularSolver<Stored, Scalar, Device>::initialize(const execution_space& exec,
                                                               const Factor& factor,
                                                               const std::string& prefix,
                                                               Report& report) {
  report.phases.time(exec, "Sweeps", prefix + "sweep_pattern", [&] {
    const int bs = factor.matrix.block_size;
    unit_ = factor.unit;
    uplo_ = factor.uplo;
    const Graph<Device> strict =
        unit_ ? factor.matrix.graph : triangle(exec, factor.matrix.graph, uplo_, Diagonal::Drop);
    // What sweeps read as the factor has it is shared, the rest gets memory.
    m_ = SparseOperator<Scalar, Device>(storageOf<Stored, Scalar>());
    if (unit_)
      m_.setGraph(exec, strict, bs);
    else
      m_ = SparseOperator<Scalar, Device>(
          exec, BsrMatrix<Stored, Device>(strict,
                                          allocate<Stored, Device>(exec, "Ainvil::sweep_matrix",
                                                                   strict.numEntries() * bs * bs),
                                          bs));
    if (keep_transposed_)
      m_.keepTransposed(exec);
    diagonal_inverse_ =
        detail::arrayFor<Stored>(exec, "Ainvil::diagonal_inverse", factor.diagonal_inverse);
    detail::workspaceOf(exec, workspace_, m_.numPointRows(), 2);
  });
}

template <class Stored, class Scalar, class Device>
void SweepTriangularSolver<Stored, Scalar, Device>::compute(const execution_space& exec,
                                                            const Factor& factor,
                                                            const std::string& prefix,
                                                            Report& report) {
  report.phases.time(exec, "Sweeps", prefix + "sweep_scale", [&] {
    if (unit_) {
      m_.update(exec, factor.matrix.values, false);
    } else {
      detail::forEachRow(exec, "Ainvil::Sweeps[scale]", m_.numRows(),
                         detail::teamsForRowsOf(m_.graph()),
                         ScaleRow<Stored, Scalar, Device>{factor, m_.template matrixIn<Stored>()});
      if (rounded)
        m_.checkRange(exec, false);
    }
    m_.updateTransposed(exec);
    detail::roundDiagonalInto(exec, factor.diagonal_inverse, m_.blockSize(), diagonal_inverse_);
  });
  report.phases.time(exec, "Sweeps", prefix + "sweep_probe", [&] {
    const double residual = probeResidual(exec);
    report.note(message(prefix, "residual=", residual));
    if (!(residual <= parameters_.divergence_limit))
      report.objection = message(
          "the ", parameters_.sweeps, " sweeps on the ", uplo_ == Uplo::Lower ? "lower" : "upper",
          " factor diverge: they leave random right-hand sides a residual ", residual,
          " times their own size; take more sweeps, solve=isai with relax=auto, or solve=exact");
  });
}

/// What the sweeps leave of random probes r: ||c - (I + M) x|| / ||c||, c = D^-1 r.
template <class Stored, class Scalar, class Device>
double SweepTriangularSolver<Stored, Scalar, Device>::probeResidual(const execution_space& exec) {
  const Offset n = m_.numPointRows();
  const int k = detail::num_probes;
  const auto all = detail::workspaceOf(exec, probes_, n, 3 * k);
  const auto part = [&](int which) { return Out(all.data() + which * n * k, n, k); };
  const Out r = part(0), x = part(1), c = part(2);
  detail::fillProbes<Scalar, Device>(exec, r);
  apply(exec, r, x, Trans::No);
  if (unit_)
    axpby<Scalar, Device>(exec, Scalar(1), r, Scalar(0), c);
  else
    blockDiagonalProduct<Stored, Scalar, Device>(exec, Trans::No, Scalar(1), diagonal_inverse_,
                                                 m_.blockSize(), r, Scalar(0), c);
  const double c_norm = detail::norm<Scalar, Device>(exec, c);
  m_.multiplyAdd(exec, Trans::No, Scalar(-1), x, Scalar(1), c, Scalar(-1), x, r);
  return c_norm > 0 ? detail::norm<Scalar, Device>(exec, r) / c_norm : 0.0;
}

template <class Stored, class Scalar, class Device>
void SweepTriangularSolver<Stored, Scalar, Device>::apply(const execution_space& exec,
                                                          MultiVectorArg<const Scalar, Device> x,
                                                          MultiVectorArg<Scalar, Device> y,
                                                          Trans trans) const {
  ScopedRegion region("Ainvil::Sweeps::apply");
  const Offset n = x.extent(0), columns = x.extent(1);
  const auto work = detail::workspaceOf(exec, workspace_, n, 2 * columns);
  const Out first(work.data(), n, columns), second(work.data() + n * columns, n, columns);
  if (trans == Trans::Yes) { // T^-T = D^-T (I + M^T)^-1
    jacobi(exec, trans, x, unit_ ? y : first, second);
    if (!unit_)
      blockDiagonalProduct<Stored, Scalar, Device>(exec, trans, Scalar(1), diagonal_inverse_,
                                                   m_.blockSize(), first, Scalar(0), y);
    return;
  }
  if (!unit_)
    blockDiagonalProduct<Stored, Scalar, Device>(exec, trans, Scalar(1), diagonal_inverse_,
                                                 m_.blockSize(), x, Scalar(0), first);
  const In c = unit_ ? x : In(first);
  if (parameters_.mode == SweepMode::Async)
    async(exec, c, y);
  else
    jacobi(exec, trans, c, y, second);
}

/// The sweeps alternate between y and t so that the last one ends in y; the first one reads c where
/// that is the start.
template <class Stored, class Scalar, class Device>
void SweepTriangularSolver<Stored, Scalar, Device>::jacobi(const execution_space& exec, Trans trans,
                                                           In c, Out y, Out t) const {
  const Scalar omega(parameters_.damping), keep = Scalar(1) - omega;
  const Out even = steps() % 2 == 0 ? y : t, odd = steps() % 2 == 0 ? t : y;
  In x = c;
  if (startFactor() != Scalar(1) || steps() == 0) {
    axpby<Scalar, Device>(exec, startFactor(), c, Scalar(0), even);
    x = even;
  }
  for (int k = 1; k <= steps(); ++k) {
    const Out next = k % 2 == 0 ? even : odd;
    m_.multiplyAdd(exec, trans, -omega, x, omega, c, keep, x, next);
    x = next;
  }
}

template <class Stored, class Scalar, class Device>
void SweepTriangularSolver<Stored, Scalar, Device>::async(const execution_space& exec, In c,
                                                          Out y) const {
  const Scalar omega(parameters_.damping);
  const bool ascending = (uplo_ == Uplo::Lower) == (parameters_.order == SweepOrder::Along);
  axpby<Scalar, Device>(exec, startFactor(), c, Scalar(0), y);
  for (int k = 0; k < steps(); ++k) {
    Kokkos::parallel_for(
        "Ainvil::Sweeps[async]", detail::Range<execution_space>(exec, 0, m_.numPointRows()),
        detail::withinArguments(AsyncSweep<Stored, Scalar, Device>{
            m_.template matrixIn<Stored>(), c, y, omega, ascending, m_.longRows().limit()}));
    m_.multiplyAddLongRows(exec, -omega, y, omega, c, Scalar(1) - omega, y, y);
  }
}

template <class Stored, class Scalar, class Device>
Offset SweepTriangularSolver<Stored, Scalar, Device>::entries() const {
  return m_.numScalars() + m_.numPointRows() * m_.blockSize();
}

template <class Stored, class Scalar, class Device>
Offset SweepTriangularSolver<Stored, Scalar, Device>::bytes() const {
  return m_.bytes() * steps() + Offset(diagonal_inverse_.extent(0)) * Offset(sizeof(Stored));
}

template <class Scalar, class Device>
TriangularSolverPtr<Scalar, Device> SweepParameters::makeSolver(Storage storage) const {
  return detail::makeStored<SweepTriangularSolver, Scalar, Device>(*this, storage);
}

#define AINVIL_INSTANTIATE_STORED(STORED, SCALAR, DEVICE)                                          \
  template class SweepTriangularSolver<STORED, SCALAR, DEVICE>;
AINVIL_FOR_EACH_STORED_TYPE(AINVIL_INSTANTIATE_STORED)
#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template TriangularSolverPtr<SCALAR, DEVICE> SweepParameters::makeSolver<SCALAR, DEVICE>(        \
      Storage) const;
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
