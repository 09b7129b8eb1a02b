// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Small dense row-major blocks, one of them a thread. Raw pointers: shapes are checked above.

#include "Ainvil_KokkosCompat.hpp"

#include <limits>

namespace ainvil {
namespace detail {

/// a <- a^-1 for an n x n row-major block, by Gauss-Jordan elimination with row pivoting, 2 n^3
/// operations. `pivots` is room for n integers, `scales` for 2 n scalars. Returns false and leaves
/// `a` undefined if the block is singular to rounding or not finite: a pivot counts as zero if it
/// is at most n eps times the largest entry that its row and that its column began with, a test
/// that no scaling of rows or columns changes.
template <class Scalar>
KOKKOS_INLINE_FUNCTION bool invertBlock(Scalar* a, int* pivots, Scalar* scales, const int n) {
  Scalar* row_scale = scales;
  Scalar* column_scale = scales + n;
  for (int i = 0; i < n; ++i) {
    row_scale[i] = Scalar(0);
    column_scale[i] = Scalar(0);
    for (int j = 0; j < n; ++j) {
      const Scalar in_row = compat::math::fabs(a[i * n + j]);
      const Scalar in_column = compat::math::fabs(a[j * n + i]);
      row_scale[i] = in_row > row_scale[i] ? in_row : row_scale[i];
      column_scale[i] = in_column > column_scale[i] ? in_column : column_scale[i];
    }
  }
  constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
  const Scalar rounding = Scalar(n) * epsilon;
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    Scalar largest = compat::math::fabs(a[k * n + k]);
    for (int i = k + 1; i < n; ++i) {
      const Scalar size = compat::math::fabs(a[i * n + k]);
      if (size > largest) {
        largest = size;
        pivot = i;
      }
    }
    const Scalar began = row_scale[pivot] < column_scale[k] ? row_scale[pivot] : column_scale[k];
    row_scale[pivot] = row_scale[k];
    // Zero times infinity or NaN is NaN: the negated comparisons also catch what is not finite.
    if (!(largest > rounding * began) || !(largest * Scalar(0) == Scalar(0)))
      return false;
    pivots[k] = pivot;
    if (pivot != k)
      for (int j = 0; j < n; ++j) {
        const Scalar swapped = a[k * n + j];
        a[k * n + j] = a[pivot * n + j];
        a[pivot * n + j] = swapped;
      }
    const Scalar inverse = Scalar(1) / a[k * n + k];
    a[k * n + k] = Scalar(1);
    for (int j = 0; j < n; ++j)
      a[k * n + j] *= inverse;
    for (int i = 0; i < n; ++i) {
      if (i == k)
        continue;
      const Scalar factor = a[i * n + k];
      a[i * n + k] = Scalar(0);
      for (int j = 0; j < n; ++j)
        a[i * n + j] -= factor * a[k * n + j];
    }
  }
  // Row exchanges of A are column exchanges of A^-1, undone in reverse.
  for (int k = n - 1; k >= 0; --k)
    if (pivots[k] != k)
      for (int i = 0; i < n; ++i) {
        const Scalar swapped = a[i * n + k];
        a[i * n + k] = a[i * n + pivots[k]];
        a[i * n + pivots[k]] = swapped;
      }
  return true;
}

} // namespace detail
} // namespace ainvil
