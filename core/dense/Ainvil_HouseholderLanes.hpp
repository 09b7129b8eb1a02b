// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Small dense least squares problems by Householder's reflections, one of them shared by the lanes
/// of a thread.

#include "Ainvil_Types.hpp"
#include "backend/Ainvil_Lanes.hpp"

namespace ainvil {
namespace detail {

/// Columns that a lane works on at a time: on hosts as many as fill a cache line, so that sums over
/// the rows need no order but their own to become vector instructions.
template <class Exec, class Scalar>
constexpr int columns_of_lane = compat::IsGpu<Exec>::value ? 1 : int(64 / sizeof(Scalar));

/// min over X of ||C X - B||_F for C of num_rows >= unknowns rows, by reflections H_k that leave
///   H_n ... H_1 (C B) = (R Q^T B),   R X = the first rows of Q^T B.
/// (C B) lies row after row. Memory of the caller's, which the lanes share, holds it and `column`.
template <class Exec, class Scalar>
struct LeastSquares {
  static constexpr int width = columns_of_lane<Exec, Scalar>;

  int num_rows, unknowns, right_sides;
  Scalar* entries; ///< num_rows x stride()
  Scalar* column;  ///< num_rows scalars to work with

  /// From a row to the next one.
  template <class Integer>
  KOKKOS_INLINE_FUNCTION static Integer stride(Integer columns) {
    return (columns + width - 1) / width * width;
  }
  KOKKOS_INLINE_FUNCTION int stride() const { return stride(unknowns + right_sides); }
  KOKKOS_INLINE_FUNCTION Scalar& operator()(int i, int c) const {
    return entries[Offset(i) * stride() + c];
  }

  /// R and Q^T B in the place of C and B. Rows from reach(k) > k on must be zero in columns 0 to k
  /// of C, and are not read there. Returns n, or the first column that is no farther than `least`
  /// from the space of those before it: C is then rank deficient to that measure. The same to all
  /// lanes; joins them.
  template <class Member, class Reach>
  KOKKOS_INLINE_FUNCTION int reduce(const Member& member, const Reach& reach, Scalar least) const {
    const int step = stride();
    for (int k = 0; k < unknowns; ++k) {
      const int count = reach(k) - k;
      Scalar* const row = entries + Offset(k) * step;
      Scalar squares = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, count),
          [&](const int i, Scalar& sum) {
            const Scalar entry = row[Offset(i) * step + k];
            column[i] = entry;
            sum += entry * entry;
          },
          squares);
      joinLanes(member);
      const Scalar norm = compat::math::sqrt(squares);
      if (!(norm > least))
        return k;
      const Scalar head = column[0] + (column[0] < Scalar(0) ? -norm : norm);
      const Scalar factor = Scalar(1) / (norm * compat::math::fabs(head));
      forLanes(member, k / width, step / width,
               [&](const int lane) { reflect(row + lane * width, count, head, factor); });
    }
    return unknowns;
  }

  /// X in the place of the first rows of Q^T B, behind reduce() that returned n.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void substitute(const Member& member) const {
    for (int k = unknowns - 1; k >= 0; --k) {
      forLanes(member, right_sides,
               [&](const int r) { (*this)(k, unknowns + r) /= (*this)(k, k); });
      forLanes(member, k * right_sides, [&](const int item) {
        const int i = item / right_sides, r = item - i * right_sides;
        (*this)(i, unknowns + r) -= (*this)(i, k) * (*this)(k, unknowns + r);
      });
    }
  }

  /// ||C X - B||_F^2, to all lanes: the rest of Q^T B.
  template <class Member>
  KOKKOS_INLINE_FUNCTION Scalar squaredResidual(const Member& member) const {
    Scalar squares = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, (num_rows - unknowns) * right_sides),
        [&](const int item, Scalar& sum) {
          const int i = item / right_sides;
          const Scalar entry = (*this)(unknowns + i, unknowns + item - i * right_sides);
          sum += entry * entry;
        },
        squares);
    return squares;
  }

private:
  /// a <- a - u (factor u^T a) for `width` columns a of `count` rows, u = `column` but for its
  /// head.
  KOKKOS_INLINE_FUNCTION void reflect(Scalar* a, int count, Scalar head, Scalar factor) const {
    const int step = stride();
    Scalar sums[width];
    for (int j = 0; j < width; ++j)
      sums[j] = head * a[j];
    for (int i = 1; i < count; ++i) {
      const Scalar u = column[i];
      if (u == Scalar(0)) // C is sparse
        continue;
      for (int j = 0; j < width; ++j)
        sums[j] += u * a[Offset(i) * step + j];
    }
    for (int j = 0; j < width; ++j) {
      sums[j] *= factor;
      a[j] -= head * sums[j];
    }
    for (int i = 1; i < count; ++i) {
      const Scalar u = column[i];
      if (u == Scalar(0))
        continue;
      for (int j = 0; j < width; ++j)
        a[Offset(i) * step + j] -= u * sums[j];
    }
  }
};

} // namespace detail
} // namespace ainvil
