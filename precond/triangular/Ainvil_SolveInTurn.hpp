// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to ExactTriangularSolver: substitutions with scalar rows by one thread of a host.

#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "triangular/Ainvil_TriangularFactor.hpp"

namespace ainvil {
namespace detail {

/// y_i = finish(i, x_i - sum over k != i in row i of T_ik y_k) for scalars, row by row: with Step =
/// 1 from the first on, for a lower factor, -1 from the last. `Unit` as in the factor. Entries far
/// from the diagonal come first; where a row has an entry next to it, what the row before has just
/// found is still in a register: rows of grids wait for nothing else.
template <int Step, bool Unit, class Stored, class Scalar, class Finish>
KOKKOS_INLINE_FUNCTION void solveScalarsInTurn(const KernelTriangle<Stored>& factor,
                                               const Scalar* x, Scalar* y, const Finish& finish) {
  const Ordinal num_rows = factor.matrix.graph.num_rows;
  const Offset* const row_map = factor.matrix.graph.row_map.data();
  const Ordinal* const columns = factor.matrix.graph.entries.data();
  const Stored* const values = factor.matrix.values.data();
  Scalar before = 0; // y_{i - Step}
  for (Ordinal n = 0; n < num_rows; ++n) {
    const Ordinal i = Step > 0 ? n : num_rows - 1 - n;
    const Offset begin = row_map[i] + (!Unit && Step < 0 ? 1 : 0); // as offDiagonal()
    const Offset end = row_map[i + 1] - (!Unit && Step > 0 ? 1 : 0);
    const Offset near = Step > 0 ? end - 1 : begin; // of a row with entries
    const bool adjacent = begin < end && columns[near] == i - Step;
    const Offset last = adjacent ? near : near + Step; // behind the last
    Scalar sum = x[i];
    for (Offset e = Step > 0 ? begin : end - 1; e != last; e += Step)
      sum -= Scalar(values[e]) * y[columns[e]];
    if (adjacent)
      sum -= Scalar(values[near]) * before;
    y[i] = before = finish(i, sum);
  }
}

/// y = T^-1 x, D_i = I for a unit factor, by one thread a column.
template <class Stored, class Scalar>
struct SolveInTurn {
  KernelTriangle<Stored> factor;
  KernelColumns<const Scalar> x;
  KernelColumns<Scalar> y;

  KOKKOS_FUNCTION void operator()(const Offset j) const {
    if (factor.uplo == Uplo::Lower)
      solve<1>(&x(0, j), &y(0, j));
    else
      solve<-1>(&x(0, j), &y(0, j));
  }

private:
  template <int Step>
  KOKKOS_INLINE_FUNCTION void solve(const Scalar* x_j, Scalar* y_j) const {
    const Stored* const d_inverse = factor.diagonal_inverse.data();
    if (factor.unit)
      solveScalarsInTurn<Step, true>(factor, x_j, y_j, [](Ordinal, Scalar sum) { return sum; });
    else
      solveScalarsInTurn<Step, false>(
          factor, x_j, y_j, [=](Ordinal i, Scalar sum) { return sum * Scalar(d_inverse[i]); });
  }
};

} // namespace detail
} // namespace ainvil
