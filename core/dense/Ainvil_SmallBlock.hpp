// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Small dense row-major blocks, one of them a thread. Raw pointers: shapes are checked above.

#include "backend/Ainvil_FiniteNumbers.hpp"
#include "backend/Ainvil_ScalarLimits.hpp"

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

namespace ainvil {
namespace detail {

/// Exchanges `count` numbers at a, a + step, ... and b, b + step, ...
template <class Scalar>
KOKKOS_INLINE_FUNCTION void exchange(Scalar* a, Scalar* b, int step, int count) {
  for (int j = 0; j < count; ++j) {
    const Scalar held = a[j * step];
    a[j * step] = b[j * step];
    b[j * step] = held;
  }
}

/// sum over c < n of a_c x_c. With N > 0, which is n, it is added pairwise: fewer additions wait
/// for each other.
template <int N, class Stored, class Scalar>
KOKKOS_INLINE_FUNCTION Scalar dot(const Stored* a, const Scalar* x, [[maybe_unused]] int n) {
  if constexpr (N == 1) {
    return Scalar(a[0]) * x[0];
  } else if constexpr (N > 1) {
    constexpr int half = N / 2;
    return dot<half>(a, x, half) + dot<N - half>(a + half, x + half, N - half);
  } else {
    Scalar sum = 0;
    for (int c = 0; c < n; ++c)
      sum += Scalar(a[c]) * x[c];
    return sum;
  }
}

/// 2^-e for a normal number x with 2^e <= |x| < 2^(e + 1): a factor that brings it to [1, 2), or to
/// [2, 4) where 2^-e would not be a normal number itself, without a division. For x = 0 and
/// subnormal ones 2^1023, in float 2^127.
template <class Scalar>
KOKKOS_INLINE_FUNCTION Scalar inversePowerOfTwo(const Scalar& x) {
  using Bits = std::conditional_t<sizeof(Scalar) == 8, std::uint64_t, std::uint32_t>;
  static_assert(sizeof(Bits) == sizeof(Scalar), "double or float");
  constexpr int mantissa = std::numeric_limits<Scalar>::digits - 1;
  constexpr Bits largest_exponent = 2 * std::numeric_limits<Scalar>::max_exponent - 2;
  Bits bits;
  std::memcpy(&bits, &x, sizeof(x));
  const Bits exponent = (bits << 1) >> (mantissa + 1); // without the sign
  bits = (exponent < largest_exponent ? largest_exponent - exponent : Bits(1)) << mantissa;
  Scalar power;
  std::memcpy(&power, &bits, sizeof(x));
  return power;
}

/// a <- a^-1 for an n x n row-major block, by Gauss-Jordan elimination with row pivoting, 2 n^3
/// operations. `pivots` is room for n integers, `scales` for 2 n scalars. Returns false and leaves
/// `a` undefined if the block is singular to rounding, or it or its inverse is not finite. To
/// choose and to judge pivots rows are scaled by powers of two, to largest entries in [1, 2), and
/// columns are measured then: a pivot of at most 10 n eps times the measure of its column counts as
/// zero. So no scaling of rows and columns by powers of two changes the verdict, as long as their
/// largest entries are normal numbers. Rows are exchanged in loops that compare every row with the
/// pivot's instead of indexing by it: a small block of known size, N > 0, then stays in registers.
/// N = 0 takes the `size` at run time.
template <int N = 0, class Scalar>
KOKKOS_INLINE_FUNCTION bool invertBlock(Scalar* a, int* pivots, Scalar* scales, const int size) {
  const int n = N > 0 ? N : size;
  Scalar* row_scale = scales; // about 1 / largest entry
  Scalar* column_size = scales + n;
  for (int i = 0; i < n; ++i) {
    Scalar largest = 0;
    for (int j = 0; j < n; ++j) {
      const Scalar size = compat::math::fabs(a[i * n + j]);
      largest = size > largest ? size : largest;
    }
    row_scale[i] = inversePowerOfTwo(largest);
    column_size[i] = 0;
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      const Scalar size = compat::math::fabs(a[i * n + j]) * row_scale[i];
      column_size[j] = size > column_size[j] ? size : column_size[j];
    }
  constexpr Scalar epsilon = ScalarLimits<Scalar>::epsilon;
  for (int k = 0; k < n; ++k) {
    int pivot = k;
    Scalar largest = compat::math::fabs(a[k * n + k]) * row_scale[k];
    for (int i = k + 1; i < n; ++i) {
      const Scalar size = compat::math::fabs(a[i * n + k]) * row_scale[i];
      if (size > largest) {
        largest = size;
        pivot = i;
      }
    }
    // The negated comparison catches a row of zeros and NaN.
    if (!(largest > Scalar(10 * n) * epsilon * column_size[k]) || !isFinite(largest))
      return false;
    pivots[k] = pivot;
    for (int i = k + 1; i < n; ++i)
      if (i == pivot) {
        row_scale[i] = row_scale[k];
        exchange(a + k * n, a + i * n, 1, n);
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
    for (int j = k + 1; j < n; ++j)
      if (j == pivots[k])
        exchange(a + k, a + j, n, n);
  bool finite = true;
  for (int e = 0; e < n * n; ++e)
    finite = finite && isFinite(a[e]);
  return finite;
}

/// a <- L^-1 with zeros above its diagonal for an n x n row-major SPD block a = L L^T, of which the
/// lower part is read; the identity if the block is not SPD.
template <class Scalar>
KOKKOS_INLINE_FUNCTION void invertCholeskyFactor(Scalar* a, int n) {
  bool good = true;
  for (int k = 0; k < n && good; ++k) {
    for (int j = 0; j < k; ++j) {
      for (int l = 0; l < j; ++l)
        a[k * n + j] -= a[k * n + l] * a[j * n + l];
      a[k * n + j] /= a[j * n + j];
    }
    for (int l = 0; l < k; ++l)
      a[k * n + k] -= a[k * n + l] * a[k * n + l];
    good = a[k * n + k] > Scalar(0) && isFinite(a[k * n + k]);
    if (good)
      a[k * n + k] = compat::math::sqrt(a[k * n + k]);
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      if (!good || j > i)
        a[i * n + j] = i == j ? Scalar(1) : Scalar(0);
  // Column j of the inverse, from the diagonal down; what is above is no longer needed.
  for (int j = 0; j < n && good; ++j) {
    a[j * n + j] = Scalar(1) / a[j * n + j];
    for (int i = j + 1; i < n; ++i) {
      Scalar sum = a[i * n + j] * a[j * n + j];
      for (int l = j + 1; l < i; ++l)
        sum += a[i * n + l] * a[l * n + j];
      a[i * n + j] = -sum / a[i * n + i];
    }
  }
}

} // namespace detail
} // namespace ainvil
