// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to Spai: the kernel that solves for a row of M.

#include "backend/Ainvil_KernelArrays.hpp"
#include "dense/Ainvil_HouseholderLanes.hpp"
#include "dense/Ainvil_SmallBlock.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace detail {

/// Scratch memory of block row i of M: its least squares problem, the scales of its unknowns, and
/// as far as columns of it reach.
template <class Exec, class Scalar>
struct SpaiRowBytes {
  KernelGraph pattern, shadow;
  int block_size;

  KOKKOS_FUNCTION Offset operator()(Offset i) const {
    const Offset length = pattern.row_map(i + 1) - pattern.row_map(i);
    const Offset unknowns = length * block_size;
    const Offset num_rows = (shadow.row_map(i + 1) - shadow.row_map(i)) * block_size;
    const Offset stride = LeastSquares<Exec, Scalar>::stride(unknowns + block_size);
    return (num_rows * (stride + 1) + unknowns) * Offset(sizeof(Scalar)) +
           length * Offset(sizeof(int));
  }
};

/// The largest entry of point row s of block row i of A.
template <class Matrix>
KOKKOS_INLINE_FUNCTION auto largestOfRow(const Matrix& a, Ordinal i, int s) {
  const int bs = a.block_size;
  std::decay_t<decltype(a.values(0))> largest = 0;
  for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
    for (int c = 0; c < bs; ++c) {
      const auto size = compat::math::fabs(a.values((e * bs + s) * bs + c));
      largest = size > largest ? size : largest;
    }
  return largest;
}

/// Block row i of M on the pattern J, by least squares over the columns I of the rows J of A:
///   C X ~ B,   C = (S A_J,I)^T,   B = the columns of the identity that belong to i,
///   M_i,J = (S X)^T,
/// where S scales each row of A to a largest entry about 1. The rows of C come in the order of I
/// and its columns in that of J: column k of C then ends where row J_k of A does, and the
/// reflections stay above the farthest end so far. Lanes share the rows of A, then columns of C.
template <class Scalar, class Device>
struct SpaiRow {
  using Exec = typename Device::execution_space;

  KernelMatrix<const Scalar> a;
  KernelGraph pattern, shadow;
  KernelArray<Scalar> values;
  KernelArray<int> failed;
  KernelArray<double> squared_residuals;
  Scalar shift;                    ///< > 0: for rank deficient problems
  KernelArray<const Ordinal> rows; ///< null: all rows
  KernelArray<const char> active;  ///< null: all are, else rows with 0 are left out

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal index, void* scratch) const {
    const Ordinal row = rows.data() != nullptr ? rows(index) : index;
    if (active.data() != nullptr && active(row) == 0)
      return;
    const Problem problem = problemOf(row, scratch);
    load(member, problem, Scalar(0));
    bool solved = reduce(member, problem);
    const bool deficient = !solved;
    if (deficient && shift > Scalar(0)) {
      load(member, problem, shift);
      solved = reduce(member, problem);
    }
    Scalar squares = Scalar(a.block_size);
    if (solved) {
      problem.dense.substitute(member);
      squares = problem.dense.squaredResidual(member);
      store(member, problem);
    } else {
      replace(member, problem);
    }
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      failed(row) = deficient ? 1 : 0;
      squared_residuals(row) = double(squares);
    });
    joinLanes(member); // before scratch memory is used for another row
  }

private:
  struct Problem {
    Ordinal row;
    Offset begin, shadow_begin, shadow_end; ///< of J and I
    int length;                             ///< |J|
    LeastSquares<Exec, Scalar> dense;
    Scalar* scales; ///< S
    int* reach;     ///< rows of C down to which its columns up to a block of them may be nonzero

    /// Which blocks of the rows of C belong to column j of A.
    KOKKOS_INLINE_FUNCTION int placeOf(const KernelGraph& shadow, Offset from, Ordinal j) const {
      return static_cast<int>(lowerBound(shadow.entries, from, shadow_end, j) - shadow_begin);
    }
  };

  KOKKOS_INLINE_FUNCTION Problem problemOf(Ordinal row, void* scratch) const {
    const int bs = a.block_size;
    Problem p;
    p.row = row;
    p.begin = pattern.row_map(row);
    p.shadow_begin = shadow.row_map(row);
    p.shadow_end = shadow.row_map(row + 1);
    p.length = static_cast<int>(pattern.row_map(row + 1) - p.begin);
    p.dense.num_rows = static_cast<int>(p.shadow_end - p.shadow_begin) * bs;
    p.dense.unknowns = p.length * bs;
    p.dense.right_sides = bs;
    p.dense.entries = static_cast<Scalar*>(scratch);
    p.dense.column = p.dense.entries + Offset(p.dense.num_rows) * p.dense.stride();
    p.scales = p.dense.column + p.dense.num_rows;
    p.reach = reinterpret_cast<int*>(p.scales + p.dense.unknowns);
    return p;
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION bool reduce(const Member& member, const Problem& p) const {
    const int bs = a.block_size, n = p.dense.unknowns;
    return p.dense.reduce(
               member, [&](const int k) { return p.reach[k / bs]; },
               Scalar(10 * n) * ScalarLimits<Scalar>::epsilon) == n;
  }

  /// C and B, `added` times the largest entry of each row of A added to its diagonal.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void load(const Member& member, const Problem& p, Scalar added) const {
    const int bs = a.block_size;
    forLanes(member, p.dense.num_rows * p.dense.stride(),
             [&](const int e) { p.dense.entries[e] = Scalar(0); });
    forLanes(member, p.length, [&](const int q) { loadRow(p, q, added); });
    const int own = p.placeOf(shadow, p.shadow_begin, p.row);
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      for (int q = 1; q < p.length; ++q)
        p.reach[q] = p.reach[q] > p.reach[q - 1] ? p.reach[q] : p.reach[q - 1];
      for (int r = 0; r < bs; ++r)
        p.dense(own * bs + r, p.dense.unknowns + r) = Scalar(1);
    });
    joinLanes(member);
  }

  /// The columns of C that belong to row J_q of A.
  KOKKOS_INLINE_FUNCTION void loadRow(const Problem& p, int q, Scalar added) const {
    const int bs = a.block_size;
    const Ordinal j = pattern.entries(p.begin + q);
    const Offset begin = a.graph.row_map(j), end = a.graph.row_map(j + 1);
    const int diagonal = p.placeOf(shadow, p.shadow_begin, j);
    p.reach[q] = (diagonal + 1) * bs; // more than q
    for (int s = 0; s < bs; ++s)
      p.scales[q * bs + s] = inversePowerOfTwo(largestOfRow(a, j, s));
    Offset from = p.shadow_begin;
    for (Offset e = begin; e < end; ++e) {
      const int place = p.placeOf(shadow, from, a.graph.entries(e));
      for (int s = 0; s < bs; ++s)
        for (int c = 0; c < bs; ++c)
          p.dense(place * bs + c, q * bs + s) =
              a.values((e * bs + s) * bs + c) * p.scales[q * bs + s];
      from = p.shadow_begin + place;
      if (place > diagonal)
        p.reach[q] = (place + 1) * bs;
    }
    if (added > Scalar(0))
      for (int s = 0; s < bs; ++s)
        p.dense(diagonal * bs + s, q * bs + s) +=
            added * (largestOfRow(a, j, s) * p.scales[q * bs + s]);
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void store(const Member& member, const Problem& p) const {
    const int bs = a.block_size, bs2 = bs * bs;
    forLanes(member, p.length * bs2, [&](const int item) {
      const int q = item / bs2, e = item - q * bs2;
      const int r = e / bs, k = q * bs + e - r * bs;
      values(p.begin * bs2 + item) = p.dense(k, p.dense.unknowns + r) * p.scales[k];
    });
  }

  /// The identity over the largest entry of block row i of A.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void replace(const Member& member, const Problem& p) const {
    const int bs = a.block_size, bs2 = bs * bs;
    Scalar largest = 0;
    for (int s = 0; s < bs; ++s) {
      const Scalar of_row = largestOfRow(a, p.row, s);
      largest = of_row > largest ? of_row : largest;
    }
    const Scalar inverted = largest > Scalar(0) ? Scalar(1) / largest : Scalar(1);
    forLanes(member, p.length * bs2, [&](const int item) {
      const int q = item / bs2, e = item - q * bs2;
      const bool one = pattern.entries(p.begin + q) == p.row && e % (bs + 1) == 0;
      values(p.begin * bs2 + item) = one ? inverted : Scalar(0);
    });
  }
};

} // namespace detail
} // namespace ainvil
