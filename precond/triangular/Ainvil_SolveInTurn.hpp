// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to ExactTriangularSolver: a substitution with scalar rows by one thread of a host.

#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "triangular/Ainvil_TriangularFactor.hpp"

namespace ainvil {
namespace detail {

/// y_i = D_i^-1 (x_i - sum over k != i in row i of T_ik y_k), D_i = I for a unit factor, scalars,
/// by one thread a column. Entries far from the diagonal come first; where a row has an entry next
/// to it, what the row before has just found is still in a register: rows of grids wait for nothing
/// else.
template <class Storage, class Scalar>
struct SolveInTurn {
  KernelTriangle<Storage> factor;
  KernelColumns<const Scalar> x;
  KernelColumns<Scalar> y;

  KOKKOS_FUNCTION void operator()(const Offset j) const {
    const Scalar* const x_j = &x(0, j);
    Scalar* const y_j = &y(0, j);
    if (factor.uplo == Uplo::Lower)
      factor.unit ? solve<1, true>(x_j, y_j) : solve<1, false>(x_j, y_j);
    else
      factor.unit ? solve<-1, true>(x_j, y_j) : solve<-1, false>(x_j, y_j);
  }

private:
  /// Rows in the direction Step: 1 from the first on, -1 from the last.
  template <int Step, bool Unit>
  KOKKOS_INLINE_FUNCTION void solve(const Scalar* x_j, Scalar* y_j) const {
    const Ordinal num_rows = factor.matrix.graph.num_rows;
    const Ordinal* const columns = factor.matrix.graph.entries.data();
    const Storage* const values = factor.matrix.values.data();
    const Storage* const d_inverse = factor.diagonal_inverse.data();
    Scalar before = 0; // y_{i - Step}
    for (Ordinal n = 0; n < num_rows; ++n) {
      const Ordinal i = Step > 0 ? n : num_rows - 1 - n;
      const auto range = factor.offDiagonal(i);
      const Offset far = Step > 0 ? range.first : range.second - 1;
      const Offset near = Step > 0 ? range.second - 1 : range.first; // of a row with entries
      const bool adjacent = range.first < range.second && columns[near] == i - Step;
      const Offset length = range.second - range.first - (adjacent ? 1 : 0);
      Scalar sum = x_j[i];
      for (Offset e = 0; e < length; ++e) {
        const Offset k = far + Step * e;
        sum -= Scalar(values[k]) * y_j[columns[k]];
      }
      if (adjacent)
        sum -= Scalar(values[near]) * before;
      if constexpr (!Unit)
        sum *= Scalar(d_inverse[i]);
      y_j[i] = before = sum;
    }
  }
};

} // namespace detail
} // namespace ainvil
