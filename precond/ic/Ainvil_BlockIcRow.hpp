// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The kernel of block IC on GPUs, a row of the factor.

#include "graph/Ainvil_OrderedRows.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "ic/Ainvil_SymmetricPivot.hpp"

namespace ainvil {
namespace detail {

/// Row i of S and block i of D^-1, for A with the diagonal changed by the pivot inverter, B:
///   w_ij = B_ij - sum over k < j of w_ik S_jk^T,   S_ij = w_ij D_j^-1     for (i, j) in the
///   pattern D_i = B_ii - sum over j of w_ij S_ij^T.
/// The j of row i run in ascending order, since w_ij needs the w_ik before it. For each the lanes
/// look up which entries (j, k) of row j meet one of row i, then share the sum: of scalars a lane a
/// term, of blocks a lane an entry of w_ij. w lies in scratch memory where the row fits, else where
/// S is going to be.
template <int BS, class Scalar, class Device>
struct BlockIcRow {
  KernelGraph a_graph, s_graph;
  KernelArray<const Scalar> a_values;
  KernelArray<Scalar> s_values, d_inverse;
  PivotInversion<Scalar> pivot_inverter;
  int block_size;
  int capacity; ///< blocks of w in scratch memory; longer rows are worked on in place

  using Room = PivotRoom<Scalar>;
  /// Entries of a row that are looked up at a time: two a lane of a warp, an estimate.
  static constexpr int chunk = 64;
  /// What a row may take of scratch memory for w, in bytes: about 50 of the 64 warps
  /// of a multiprocessor of an H200 (228 KiB) find as much.
  static constexpr std::size_t most_for_w = 4096;

  static int capacityFor(Ordinal longest_row, int bs) {
    const std::size_t most = most_for_w / (std::size_t(bs) * bs * sizeof(Scalar));
    return static_cast<int>(std::min<std::size_t>(most, longest_row));
  }
  /// For w, D_i, D_i^-1 and a product, row sizes, what the inversion takes, and a chunk.
  static std::size_t scratchBytes(int bs, int capacity) {
    return ((std::size_t(capacity) + 3) * bs * bs + bs + Room::scalarsOf(bs)) * sizeof(Scalar) +
           (std::size_t(chunk) + Room::intsOf(bs)) * sizeof(int);
  }

  template <class Member, class Gate>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal i, void* scratch,
                                  const Gate& gate) const {
    const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
    const Offset s_begin = s_graph.row_map(i), s_end = s_graph.row_map(i + 1);
    const int length = static_cast<int>(s_end - s_begin);
    Scalar* const d = static_cast<Scalar*>(scratch);
    Scalar* const inverse = d + bs2;
    Scalar* const block = inverse + bs2;
    Scalar* const sizes = block + bs2;
    Scalar* const scalars = sizes + bs;
    Scalar* const w_room = scalars + Room::scalarsOf(bs);
    int* const targets = reinterpret_cast<int*>(w_room + Offset(capacity) * bs2);
    int* const ints = targets + chunk;
    Scalar* const w = length <= capacity ? w_room : s_values.data() + s_begin * bs2;

    forLanes(member, bs,
             [&](const int r) { sizes[r] = pivot_inverter.row_sizes(Offset(i) * bs + r); });
    readRow(member, i, w, length, d, sizes);
    for (int t = 0; t < length; ++t) {
      const Ordinal j = s_graph.entries(s_begin + t);
      gate.wait(j);
      subtractProducts(member, j, s_begin, t, w, w + Offset(t) * bs2, targets);
    }
    if constexpr (BS == 1)
      finishScalars(member, i, w, length, d, sizes, inverse, Room{block, scalars, ints});
    else
      finishBlocks(member, i, w, length, d, sizes, inverse, Room{block, scalars, ints});
  }

private:
  /// D_i, its inverse and S_ij = w_ij D_j^-1, which takes the place of w_ij if that is where w
  /// lies.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void finishScalars(const Member& member, Ordinal i, const Scalar* w,
                                            int length, Scalar* d, const Scalar* sizes,
                                            Scalar* inverse, const Room& room) const {
    const Offset s_begin = s_graph.row_map(i);
    Scalar sum = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, length),
        [&](const int t, Scalar& partial) {
          partial += w[t] * (w[t] * d_inverse(s_graph.entries(s_begin + t)));
        },
        sum);
    Kokkos::single(Kokkos::PerThread(member), [&]() { *d -= sum; });
    joinLanes(member);
    invertPivot(member, i, d, sizes, inverse, room);
    forLanes(member, length, [&](const int t) {
      s_values(s_begin + t) = w[t] * d_inverse(s_graph.entries(s_begin + t));
    });
  }

  /// The same of blocks, one at a time.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void finishBlocks(const Member& member, Ordinal i, const Scalar* w,
                                           int length, Scalar* d, const Scalar* sizes,
                                           Scalar* inverse, const Room& room) const {
    const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
    const Offset s_begin = s_graph.row_map(i);
    for (int t = 0; t < length; ++t) {
      const Scalar* const w_ij = w + Offset(t) * bs2;
      // symmetric
      const Scalar* const d_j = d_inverse.data() + Offset(s_graph.entries(s_begin + t)) * bs2;
      forLanes(member, bs2, [&](const int e) {
        const int r = e / bs, c = e - r * bs;
        Scalar sum = 0;
        for (int m = 0; m < bs; ++m)
          sum += w_ij[r * bs + m] * d_j[c * bs + m];
        room.block[e] = sum;
      });
      forLanes(member, bs2, [&](const int e) {
        const int r = e / bs, c = e - r * bs;
        Scalar sum = 0;
        for (int m = 0; m < bs; ++m)
          sum += w_ij[r * bs + m] * room.block[c * bs + m];
        d[e] -= sum;
      });
      forLanes(member, bs2,
               [&](const int e) { s_values((s_begin + t) * bs2 + e) = room.block[e]; });
    }
    invertPivot(member, i, d, sizes, inverse, room);
  }

  /// Row i of A into w and d as far as the pattern has it, zeros where A has nothing; the diagonal
  /// of d changed.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void readRow(const Member& member, Ordinal i, Scalar* w, int length,
                                      Scalar* d, const Scalar* sizes) const {
    const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
    const Offset s_begin = s_graph.row_map(i), a_begin = a_graph.row_map(i);
    forLanes(member, length * Offset(bs2), [&](const Offset e) { w[e] = 0; });
    forLanes(member, bs2, [&](const int e) { d[e] = 0; });
    forLanes(member, static_cast<int>(a_graph.row_map(i + 1) - a_begin), [&](const int t) {
      const Ordinal j = a_graph.entries(a_begin + t);
      if (j > i)
        return;
      const Offset at = j == i ? s_begin : findEntry(s_graph.entries, s_begin, s_begin + length, j);
      if (at < 0)
        return;
      Scalar* const to = j == i ? d : w + (at - s_begin) * bs2;
      for (int e = 0; e < bs2; ++e)
        to[e] = a_values((a_begin + t) * bs2 + e);
    });
    if (pivot_inverter.changesDiagonal())
      forLanes(member, bs, [&](const int r) {
        d[r * (bs + 1)] = pivot_inverter.changed(d[r * (bs + 1)], sizes[r]);
      });
  }

  /// w_ij -= sum of w_ik S_jk^T over the first `before` entries (i, k) of row i.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void subtractProducts(const Member& member, Ordinal j, Offset s_begin,
                                               int before, const Scalar* w, Scalar* w_ij,
                                               int* targets) const {
    const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
    const auto locate = [&](Offset e) {
      const Offset at = findEntry(s_graph.entries, s_begin, s_begin + before, s_graph.entries(e));
      return at < 0 ? -1 : static_cast<int>(at - s_begin);
    };
    const Offset begin = s_graph.row_map(j), end = s_graph.row_map(j + 1);
    if (before == 0)
      return;
    if constexpr (BS == 1) {
      Scalar sum = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, static_cast<int>(end - begin)),
          [&](const int t, Scalar& partial) {
            const int at = locate(begin + t);
            if (at >= 0)
              partial += w[at] * s_values(begin + t);
          },
          sum);
      Kokkos::single(Kokkos::PerThread(member), [&]() { *w_ij -= sum; });
      joinLanes(member);
    } else {
      for (Offset jk = begin; jk < end; jk += chunk) {
        const int count = static_cast<int>(end - jk < chunk ? end - jk : chunk);
        forLanes(member, count, [&](const int t) { targets[t] = locate(jk + t); });
        forLanes(member, bs2, [&](const int e) {
          const int r = e / bs, c = e - r * bs;
          Scalar sum = 0;
          for (int t = 0; t < count; ++t) {
            if (targets[t] < 0)
              continue;
            const Scalar* const w_ik = w + Offset(targets[t]) * bs2;
            const Scalar* const s_jk = s_values.data() + (jk + t) * bs2;
            for (int m = 0; m < bs; ++m)
              sum += w_ik[r * bs + m] * s_jk[c * bs + m];
          }
          w_ij[e] -= sum;
        });
      }
    }
  }

  /// D_i^-1.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void invertPivot(const Member& member, Ordinal i, Scalar* d,
                                          const Scalar* sizes, Scalar* inverse,
                                          const Room& room) const {
    const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
    invertSymmetricPivot<BS>(member, pivot_inverter, i, bs, d, sizes, inverse, room);
    forLanes(member, bs2, [&](const int e) { d_inverse(Offset(i) * bs2 + e) = inverse[e]; });
  }
};

} // namespace detail
} // namespace ainvil
