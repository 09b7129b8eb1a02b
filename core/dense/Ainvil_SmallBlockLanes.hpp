// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Small dense row-major blocks, one of them shared by the lanes of a thread.

#include "backend/Ainvil_Lanes.hpp"
#include "dense/Ainvil_SmallBlock.hpp"

namespace ainvil {
namespace detail {

/// Room of invertBlockByLanes(): scalars beside its two blocks, and integers.
KOKKOS_INLINE_FUNCTION constexpr int invertByLanesScalars(int n) {
  return 3 * n;
}
KOKKOS_INLINE_FUNCTION constexpr int invertByLanesInts(int n) {
  return n + 1;
}

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
  constexpr Scalar epsilon = ScalarLimits<Scalar>::epsilon;
  constexpr Scalar refused = ScalarLimits<Scalar>::infinity;
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
    column_size[j] = any ? largest : refused;
  });
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
      const Scalar of_pivot =
          (j == k ? Scalar(1) : from[pivot * n + j]) * (Scalar(1) / from[pivot * n + k]);
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

} // namespace detail
} // namespace ainvil
