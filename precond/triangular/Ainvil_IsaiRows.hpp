// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to IsaiTriangularSolver: the rows of the approximate inverse.

#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "triangular/Ainvil_TriangularFactor.hpp"

namespace ainvil {
namespace detail {

/// Row i of M on the pattern J (without the diagonal if T is unit), T lower say:
///   acc_k = delta_ik;  for l in J from i downwards:  x_l = acc_l T_ll^-1,
///   acc_k -= x_l T_lk for every (l, k) stored in T with k < l and k in J.
/// The accumulators of all of J lie in scratch; the lanes look up the targets of row l of T, then
/// share the block products entry by entry of the targets.
template <int BS, class Stored, class Scalar, class Device>
struct IsaiRow {
  KernelTriangle<Scalar> factor;
  KernelGraph pattern;
  KernelArray<Stored> values;
  KernelArray<const Ordinal> rows; ///< null: all rows

  /// Entries of a row of T whose targets are looked up at a time.
  static constexpr int chunk = 64;

  /// Scratch: accumulators, x_l, target positions of a chunk.
  static std::size_t scratchBytes(int bs, Offset accumulators) {
    return accumulators + bs * bs * sizeof(Scalar) + chunk * sizeof(int);
  }

  /// acc_k -= x T_lk for k in J; x = I if `x` is null.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void eliminate(const Member& member, Ordinal l, const Scalar* x,
                                        Offset begin, Offset end, Scalar* acc,
                                        int* positions) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const int bs2 = bs * bs;
    const auto& graph = factor.matrix.graph;
    const Offset l_end = factor.offDiagonal(l).second;
    for (Offset lk = factor.offDiagonal(l).first; lk < l_end; lk += chunk) {
      const int count = static_cast<int>(l_end - lk < chunk ? l_end - lk : chunk);
      forLanes(member, count, [&](const int t) {
        const Offset at = findEntry(pattern.entries, begin, end, graph.entries(lk + t));
        positions[t] = at < 0 ? -1 : static_cast<int>(at - begin);
      });
      forLanes(member, count * bs2, [&](const int item) {
        const int t = item / bs2;
        if (positions[t] < 0)
          return;
        const int e = item - t * bs2;
        const int r = e / bs, c = e - r * bs;
        const Scalar* block = factor.matrix.values.data() + (lk + t) * bs2;
        Scalar sum = 0;
        if (x == nullptr)
          sum = block[e];
        else
          for (int m = 0; m < bs; ++m)
            sum += x[r * bs + m] * block[m * bs + c];
        acc[positions[t] * bs2 + e] -= sum;
      });
    }
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal index, void* scratch) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const int bs2 = bs * bs;
    const Ordinal i = rows.data() != nullptr ? rows(index) : index;
    const Offset begin = pattern.row_map(i), end = pattern.row_map(i + 1);
    const int length = static_cast<int>(end - begin);
    const bool lower = factor.uplo == Uplo::Lower;
    Scalar* acc = static_cast<Scalar*>(scratch);
    Scalar* x = acc + Offset(length) * bs2;
    int* positions = reinterpret_cast<int*>(x + bs2);

    // The diagonal entry, stored only where T is general, is the one the walk begins with.
    const int diagonal = lower ? length - 1 : 0;
    forLanes(member, length * bs2, [&](const int item) {
      const int position = item / bs2;
      const int e = item - position * bs2;
      const bool one = !factor.unit && position == diagonal && e % (bs + 1) == 0;
      acc[item] = one ? Scalar(1) : Scalar(0);
    });
    if (factor.unit)
      eliminate(member, i, nullptr, begin, end, acc, positions);
    for (int walked = 0; walked < length; ++walked) {
      const int position = lower ? length - 1 - walked : walked;
      const Ordinal l = pattern.entries(begin + position);
      const Scalar* acc_l = acc + position * bs2;
      Stored* out = values.data() + (begin + position) * bs2;
      forLanes(member, bs2, [&](const int e) {
        Scalar sum = 0;
        if (factor.unit) {
          sum = acc_l[e];
        } else {
          const int r = e / bs, c = e - r * bs;
          const Scalar* inverse = factor.diagonal_inverse.data() + Offset(l) * bs2;
          for (int m = 0; m < bs; ++m)
            sum += acc_l[r * bs + m] * inverse[m * bs + c];
        }
        x[e] = sum;
        out[e] = static_cast<Stored>(sum);
      });
      eliminate(member, l, x, begin, end, acc, positions);
    }
  }
};

} // namespace detail
} // namespace ainvil
