// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What kernels of products do with the sums of their rows, and beside them.

#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Lanes.hpp"

namespace ainvil {
namespace detail {

/// What becomes of a row sum s at position (row, column): y = alpha s + beta u + gamma v.
/// A factor 0 reads nothing, so NaN there does not spread.
template <class Scalar, class Device>
struct Epilogue {
  Scalar alpha, beta, gamma;
  KernelColumns<const Scalar> u, v;
  KernelColumns<Scalar> y;

  KOKKOS_INLINE_FUNCTION Scalar value(Offset row, Offset column, Scalar sum) const {
    Scalar result = alpha * sum;
    if (beta != Scalar(0))
      result += beta * u(row, column);
    if (gamma != Scalar(0))
      result += gamma * v(row, column);
    return result;
  }
  KOKKOS_INLINE_FUNCTION void store(Offset row, Offset column, Scalar sum) const {
    y(row, column) = value(row, column, sum);
  }
};

/// How many right-hand sides from `first` on a kernel for up to Columns of them takes. Known when
/// compiled for one.
template <int Columns, class Scalar>
KOKKOS_INLINE_FUNCTION int columnsFrom(const KernelColumns<Scalar>& x, Offset first) {
  if (Columns == 1)
    return 1;
  const Offset rest = x.numColumns() - first;
  return rest < Columns ? static_cast<int>(rest) : Columns;
}

/// A Step in a kernel: w(i) = delta x(i) + epsilon w(i) at row i. It needs no sum, so that kernels
/// that leave long rows to others take it for these as well.
template <class Scalar>
struct KernelStep {
  Scalar delta = 0, epsilon = 0;
  KernelColumns<Scalar> w;

  KOKKOS_INLINE_FUNCTION bool exists() const { return w.data() != nullptr; }

  /// For one number.
  KOKKOS_INLINE_FUNCTION void take(const KernelColumns<const Scalar>& x, Offset row,
                                   Offset column) const {
    if (!exists())
      return;
    const Scalar moved = delta * x(row, column);
    Scalar& result = w(row, column);
    result = epsilon != Scalar(0) ? moved + epsilon * result : moved;
  }

  /// For up to Columns right-hand sides from `first_column` on, one after the other: all at once
  /// they would take twice the registers of a product with eight.
  template <int Columns>
  KOKKOS_INLINE_FUNCTION void takeRow(const KernelColumns<const Scalar>& x, Offset row,
                                      Offset first_column) const {
    unrolledBy<1>(0, columnsFrom<Columns>(x, first_column), 1,
                  [&](int j) { take(x, row, first_column + j); });
  }

  /// For rows first to last - 1 of one column.
  KOKKOS_INLINE_FUNCTION void takeRun(const KernelColumns<const Scalar>& x, Offset first,
                                      Offset last, Offset column) const {
    const Scalar* x_j = x.data() + column * x.stride();
    Scalar* w_j = w.data() + column * w.stride();
    const Scalar d = delta, e = epsilon;
    if (e == Scalar(0))
      for (Offset i = first; i < last; ++i)
        w_j[i] = d * x_j[i];
    else
      for (Offset i = first; i < last; ++i)
        w_j[i] = d * x_j[i] + e * w_j[i];
  }
};

} // namespace detail
} // namespace ainvil
