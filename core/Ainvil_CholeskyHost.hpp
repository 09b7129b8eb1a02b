// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Cholesky factorisation of one matrix by one core of a host; see Ainvil_CholeskyKernels.hpp for
/// storage and return values.

#include "Ainvil_CholeskyKernels.hpp"

namespace ainvil {
namespace detail {

/// sum_rc = sum over k < count of left_r[k] right_c[k]. The partial sums over k modulo `simd` are
/// independent, so that compilers vectorise without leave to reorder.
template <int Size, class Scalar>
void multiplyRows(const Scalar* const* left, const Scalar* const* right, std::int64_t count,
                  Scalar (&sum)[Size][Size]) {
  constexpr int simd = 32 / sizeof(Scalar);
  Scalar partial[Size][Size][simd] = {};
  std::int64_t k = 0;
  for (; k + simd <= count; k += simd)
    for (int r = 0; r < Size; ++r)
      for (int c = 0; c < Size; ++c)
        for (int v = 0; v < simd; ++v)
          partial[r][c][v] += left[r][k + v] * right[c][k + v];
  for (int r = 0; r < Size; ++r)
    for (int c = 0; c < Size; ++c) {
      Scalar total = 0;
      for (int v = 0; v < simd; ++v)
        total += partial[r][c][v];
      for (std::int64_t m = k; m < count; ++m)
        total += left[r][m] * right[c][m];
      sum[r][c] = total;
    }
}

/// L_ij = (A_ij - sum over k < j of L_ik L_jk) / L_jj for j < i,  L_ii = sqrt(the same),
/// in tiles of rows i and columns j, the rows of a tile in ascending order.
template <class Scalar>
int factorOnHost(std::int64_t n, Scalar* packed) {
  constexpr int tile = 4;
  for (std::int64_t i0 = 0; i0 < n; i0 += tile) {
    const int rows = static_cast<int>(n - i0 < tile ? n - i0 : tile);
    Scalar* left[tile];
    for (int r = 0; r < tile; ++r) // rows past the last one repeat it
      left[r] = packed + packedRow(i0 + (r < rows ? r : rows - 1));
    for (std::int64_t j0 = 0; j0 <= i0; j0 += tile) {
      Scalar* right[tile];
      for (int c = 0; c < tile; ++c)
        right[c] = j0 == i0 ? left[c] : packed + packedRow(j0 + c);
      Scalar sum[tile][tile];
      multiplyRows<tile>(left, right, j0, sum);
      for (int r = 0; r < rows; ++r) {
        const int columns = j0 == i0 ? r + 1 : tile;
        for (int c = 0; c < columns; ++c) {
          Scalar value = left[r][j0 + c] - sum[r][c];
          for (int k = 0; k < c; ++k)
            value -= left[r][j0 + k] * right[c][j0 + k];
          if (i0 + r > j0 + c)
            left[r][j0 + c] = value * right[c][j0 + c];
          else if (isPivot(value))
            left[r][j0 + c] = compat::rsqrt(value);
          else
            return static_cast<int>(i0 + r + 1);
        }
      }
    }
  }
  return 0;
}

} // namespace detail
} // namespace ainvil
