// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Small dense row-major blocks, one of them a lane or a thread. Raw pointers: shapes are checked
/// above.

#include "backend/Ainvil_FiniteNumbers.hpp"
#include "backend/Ainvil_Lanes.hpp"

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
/// `a` undefined if the block is singular to rounding, or it or its inverse is not finite. Pivots
/// are chosen and judged relative to the largest entry that their row, taken down to a power of
/// two, and then their column began with: one that is at most 10 n eps counts as zero. So no
/// scaling of rows and columns by powers of two changes the verdict, as long as their largest
/// entries are normal numbers. Which rows are exchanged is
/// compared for, not indexed with: a small block of known size then stays in registers of a GPU.
template <class Scalar>
KOKKOS_INLINE_FUNCTION bool invertBlock(Scalar* a, int* pivots, Scalar* scales, const int n) {
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
  constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
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

/// Room of invertBlockByLanes(): scalars beside its two blocks, and integers.
constexpr int invertByLanesScalars(int n) { return 3 * n; }
constexpr int invertByLanesInts(int n) { return n + 1; }

/// inverse <- d^-1 as by invertBlock(), entry by entry the same operations, by all lanes of a
/// thread: they share the n^2 entries of each of the n steps, so that a step takes the time of one
/// division and two loads. Step k takes the entries of one block and leaves those of the next,
///   next_kj = from_pj / from_pk,   next_ij = from_ij - from_ik next_kj   (i != k, rows k and p
///   exchanged, column k of `from` replaced by that of the identity),
/// so that no lane overwrites what another is yet to read. Returns to all lanes whether the block
/// is regular; it is not, either, if a row or a column has no entry above `least` of its row.
/// `other` has the size of d, `scalars` and `ints` are rooms of the sizes above; all but d are
/// written to, and every one is memory that the lanes share.
template <int N, class Member, class Scalar, class Least>
KOKKOS_INLINE_FUNCTION bool invertBlockByLanes(const Member& member, const Scalar* d,
                                               const Least& least, Scalar* inverse, Scalar* other,
                                               Scalar* scalars, int* ints, const int size) {
  const int n = N > 0 ? N : size;
  Scalar* row_scale = scalars; // about 1 / largest entry, 0 for a row to be refused
  Scalar* next_row_scale = scalars + n;
  Scalar* column_size = scalars + 2 * n; // infinite for a column to be refused
  int* pivots = ints;
  int* overflows = ints + n;
  forLanes(member, n, [&](const int i) {
    Scalar largest = 0;
    bool any = false;
    for (int j = 0; j < n; ++j) {
      const Scalar entry = compat::math::fabs(d[i * n + j]);
      largest = entry > largest ? entry : largest;
      any = any || entry > least(i);
    }
    row_scale[i] = any ? inversePowerOfTwo(largest) : Scalar(0);
    if (i == 0)
      *overflows = 0;
  });
  forLanes(member, n, [&](const int j) {
    Scalar largest = 0;
    bool any = false;
    for (int i = 0; i < n; ++i) {
      const Scalar entry = compat::math::fabs(d[i * n + j]);
      largest = entry * row_scale[i] > largest ? entry * row_scale[i] : largest;
      any = any || entry > least(i);
    }
    column_size[j] = any ? largest : std::numeric_limits<Scalar>::infinity();
  });
  constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
  const Scalar* from = d;
  Scalar* next = n % 2 == 0 ? inverse : other; // the last step leaves its entries in `other`
  for (int k = 0; k < n; ++k) {
    // Every lane finds the pivot by itself: they read the same numbers.
    int pivot = k;
    Scalar largest = compat::math::fabs(from[k * n + k]) * row_scale[k];
    for (int i = k + 1; i < n; ++i) {
      const Scalar entry = compat::math::fabs(from[i * n + k]) * row_scale[i];
      if (entry > largest) {
        largest = entry;
        pivot = i;
      }
    }
    if (!(largest > Scalar(10 * n) * epsilon * column_size[k]) || !isFinite(largest))
      return false;
    forLanes(member, n * n, [&](const int e) {
      const int i = e / n, j = e - i * n;
      const int row = i == k ? pivot : i == pivot ? k : i;
      const Scalar of_pivot = (j == k ? Scalar(1) : from[pivot * n + j]) *
                              (Scalar(1) / from[pivot * n + k]);
      next[e] = i == k ? of_pivot
                       : (j == k ? Scalar(0) : from[row * n + j]) - from[row * n + k] * of_pivot;
      if (j == 0)
        next_row_scale[i] = row_scale[row];
      if (e == 0)
        pivots[k] = pivot;
    });
      from = next;
    next = next == other ? inverse : other;
    Scalar* const held = row_scale;
    row_scale = next_row_scale;
    next_row_scale = held;
  }
  // Row exchanges of A are column exchanges of A^-1, undone in reverse; from the last
  // one undone to the first this leads from a column to where it comes from.
  forLanes(member, n * n, [&](const int e) {
    const int i = e / n;
    int j = e - i * n;
    for (int k = 0; k < n; ++k)
      j = j == k ? pivots[k] : j == pivots[k] ? k : j;
    const Scalar entry = from[i * n + j];
    inverse[e] = entry;
    if (!isFinite(entry))
      *overflows = 1;
  });
  return *overflows == 0;
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
