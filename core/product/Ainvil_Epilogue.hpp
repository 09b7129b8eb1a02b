// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What kernels of products do with the sums of their rows.

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

} // namespace detail
} // namespace ainvil
