// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to ExactTriangularSolver: substitutions with scalar rows by one thread of a host.

#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_Prefetch.hpp"
#include "graph/Ainvil_WorkerSchedule.hpp"
#include "triangular/Ainvil_TriangularFactor.hpp"

namespace ainvil {
namespace detail {

/// y_i = finish(i, x_i - sum over k != i in row i of T_ik y_k) for scalars and the rows from
/// `first` up to `end`, one by one: with Step = 1 in this order, for a lower factor, -1 from the
/// last on. `Unit` as in the factor. Entries far from the diagonal come first; where a row has an
/// entry next to it, what the row before has just found is still in a register: rows of grids wait
/// for nothing else.
template <int Step, bool Unit, class Stored, class Scalar, class Finish>
KOKKOS_INLINE_FUNCTION void solveScalarsInTurn(const KernelTriangle<Stored>& factor, Ordinal first,
                                               Ordinal end, const Scalar* x, Scalar* y,
                                               const Finish& finish) {
  const Offset* const row_map = factor.matrix.graph.row_map.data();
  const Ordinal* const columns = factor.matrix.graph.entries.data();
  const Stored* const values = factor.matrix.values.data();
  Scalar before = 0; // y_{i - Step}, of these rows: others may be at work on the one before
  for (Ordinal n = 0; n < end - first; ++n) {
    const Ordinal i = Step > 0 ? first + n : end - 1 - n;
    const Offset begin = row_map[i] + (!Unit && Step < 0 ? 1 : 0); // as offDiagonal()
    const Offset behind = row_map[i + 1] - (!Unit && Step > 0 ? 1 : 0);
    prefetchRow(columns, values, begin, behind, 1, Step * prefetch_distance);
    const Offset near = Step > 0 ? behind - 1 : begin; // of a row with entries
    const bool adjacent = n > 0 && begin < behind && columns[near] == i - Step;
    const Offset last = adjacent ? near : near + Step; // behind the last
    Scalar sum = x[i];
    for (Offset e = Step > 0 ? begin : behind - 1; e != last; e += Step)
      sum -= Scalar(values[e]) * y[columns[e]];
    if (adjacent)
      sum -= Scalar(values[near]) * before;
    y[i] = before = finish(i, sum);
  }
}

/// y = T^-1 x for one column, D_i = I for a unit factor, by one thread for rows on which no other
/// works. Rows are asked for in the order of memory, beyond the end of a task too: to follow the
/// order of the worker there (RowsAhead) takes longer than short rows gain by it.
template <class Stored, class Scalar>
struct SolveInTurn {
  KernelTriangle<Stored> factor;
  KernelColumns<const Scalar> x;
  KernelColumns<Scalar> y;

  /// For the rows from `first` up to `end`, as OrderedRows::runByTasks() calls it.
  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member&, Ordinal first, Ordinal end, void*,
                                  RowsAhead&) const {
    if (factor.uplo == Uplo::Lower)
      solve<1>(first, end);
    else
      solve<-1>(first, end);
  }
  RowsAhead rowsAhead(const WorkerTask*, const WorkerTask*) const { return {}; }

private:
  template <int Step>
  KOKKOS_INLINE_FUNCTION void solve(Ordinal first, Ordinal end) const {
    const Stored* const d_inverse = factor.diagonal_inverse.data();
    const Scalar* const x_0 = x.data();
    Scalar* const y_0 = y.data();
    if (factor.unit)
      solveScalarsInTurn<Step, true>(factor, first, end, x_0, y_0,
                                     [](Ordinal, Scalar sum) { return sum; });
    else
      solveScalarsInTurn<Step, false>(factor, first, end, x_0, y_0, [=](Ordinal i, Scalar sum) {
        return sum * Scalar(d_inverse[i]);
      });
  }
};

} // namespace detail
} // namespace ainvil
