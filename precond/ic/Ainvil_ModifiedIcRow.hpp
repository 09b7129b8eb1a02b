// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The kernel of modified block IC on hosts and GPUs, a column of the factor.

#include "graph/Ainvil_OrderedRows.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "ic/Ainvil_SymmetricPivot.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

/// Column i of S and blocks i of D and D^-1, for A with the diagonal changed by the pivot inverter,
/// B, and omega = `modified`:
///   v_ji = B_ji - sum over k < i of S_jk (S_ik D_k)^T                  for (j, i) in the pattern
///   X_ij = sum over k < min(i, j) of (S_ik D_k) S_jk^T, less A_ij      for (i, j) beside it
///   D_i  = B_ii - sum over k < i of (S_ik D_k) S_ik^T - omega diag(sum over j of X_ij 1)
///   S_ji = v_ji D_i^-1
/// with 1 the vector of ones: what is dropped in (i, j) counts in rows i and j. The rows of S, by
/// which its other kernels go, do not know the rows behind them; columns do. Column i waits for
/// those of the entries of row i, as row i would. For each k the lanes look up where the entries of
/// column k belong, then share the products, an entry of a block each. v lies in scratch memory
/// where the column fits, else where S is going to be.
template <int BS, class Scalar, class Device>
struct ModifiedIcRow {
  KernelGraph a_graph, s_graph;
  KernelGraph columns;               ///< of S: row i has the j of its entries (j, i)
  KernelArray<const Offset> sources; ///< where these are in S
  KernelArray<const Scalar> a_values;
  KernelArray<Scalar> s_values, d_values, d_inverse;
  PivotInversion<Scalar> pivot_inverter;
  int block_size;
  int capacity;    ///< blocks of v in scratch memory; longer columns are worked on in place
  bool holds_a;    ///< the pattern holds that of A
  Scalar modified; ///< omega

  using Room = PivotRoom<Scalar>;
  /// Entries of a row or column that are looked up at a time: two a lane of a warp, an estimate.
  static constexpr int chunk = 64;
  /// What a column may take of scratch memory for v, in bytes: about 50 of the 64 warps of a
  /// multiprocessor of an H200 (228 KiB) find as much.
  static constexpr std::size_t most_for_v = 4096;
  /// Targets of what is beside the pattern, and of what other columns compute.
  static constexpr int dropped = -1, elsewhere = -2;

  static int capacityFor(Ordinal longest_column, int bs) {
    const std::size_t most = most_for_v / (std::size_t(bs) * bs * sizeof(Scalar));
    return static_cast<int>(std::min<std::size_t>(most, longest_column));
  }
  /// For v, the four blocks and three vectors of Work, what the inversion takes, and a chunk.
  static std::size_t scratchBytes(int bs, int capacity) {
    return ((std::size_t(capacity) + 4) * bs * bs + 3 * bs + Room::scalarsOf(bs)) * sizeof(Scalar) +
           (std::size_t(chunk) + Room::intsOf(bs)) * sizeof(int);
  }

  /// Column i while it is worked on.
  struct Work {
    Ordinal i;
    int length;      ///< entries of the column
    Scalar* v;       ///< null where it lies in S
    Scalar* d;       ///< D_i
    Scalar* inverse; ///< D_i^-1
    Scalar* product; ///< S_ik D_k
    Scalar* block;   ///< room
    Scalar* sizes;   ///< of the point rows of A
    Scalar* sums;    ///< those of the dropped blocks of row i
    Scalar* sums_k;  ///< sum over the dropped (i, j) of S_jk^T 1
    int* targets;    ///< of a chunk: position in column i, `length` for D_i, dropped or elsewhere
  };

  template <class Member, class Gate>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal i, void* scratch,
                                  const Gate& gate) const {
    const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
    Work w;
    w.i = i;
    w.length = static_cast<int>(columns.row_map(i + 1) - columns.row_map(i));
    w.d = static_cast<Scalar*>(scratch);
    w.inverse = w.d + bs2;
    w.product = w.inverse + bs2;
    w.block = w.product + bs2;
    w.sizes = w.block + bs2;
    w.sums = w.sizes + bs;
    w.sums_k = w.sums + bs;
    Scalar* const scalars = w.sums_k + bs;
    Scalar* const v_room = scalars + Room::scalarsOf(bs);
    w.v = w.length <= capacity ? v_room : nullptr;
    w.targets = reinterpret_cast<int*>(v_room + Offset(capacity) * bs2);
    const Room room{w.block, scalars, w.targets + chunk};

    readRow(member, w);
    for (Offset ik = s_graph.row_map(i); ik < s_graph.row_map(i + 1); ++ik)
      subtractProducts(member, ik, w, gate);
    forLanes(member, bs, [&](const int r) { w.d[r * (bs + 1)] -= modified * w.sums[r]; });
    invertSymmetricPivot<BS>(member, pivot_inverter, i, bs, w.d, w.sizes, w.inverse, room);
    forLanes(member, bs2, [&](const int e) {
      d_values(Offset(i) * bs2 + e) = w.d[e];
      d_inverse(Offset(i) * bs2 + e) = w.inverse[e];
    });
    finish(member, w);
  }

private:
  /// Where entry t of column i is in S.
  KOKKOS_INLINE_FUNCTION Scalar* entryOf(Ordinal i, int t) const {
    const int bs = BS > 0 ? BS : block_size;
    return s_values.data() + sources(columns.row_map(i) + t) * (bs * bs);
  }
  /// Where target t of column i is, D_i included.
  KOKKOS_INLINE_FUNCTION Scalar* blockOf(const Work& w, int t) const {
    const int bs = BS > 0 ? BS : block_size;
    return t == w.length ? w.d : w.v == nullptr ? entryOf(w.i, t) : w.v + Offset(t) * (bs * bs);
  }

  /// The targets of (i, j) for `count` entries j.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void locate(const Member& member, const Work& w, const Ordinal* entries,
                                     int count) const {
    forLanes(member, count, [&](const int t) {
      const Ordinal i = w.i, j = entries[t];
      int target = w.length;
      if (j != i) {
        const KernelGraph& graph = j < i ? s_graph : columns;
        const Offset begin = graph.row_map(i);
        const Offset at = findEntry(graph.entries, begin, graph.row_map(i + 1), j);
        target = at < 0 ? int(dropped) : j < i ? int(elsewhere) : static_cast<int>(at - begin);
      }
      w.targets[t] = target;
    });
  }

  /// Column i of A, which is row i transposed, as far as the pattern has it, with zeros where A has
  /// nothing, and the diagonal changed; the sums of what else row i has.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void readRow(const Member& member, const Work& w) const {
    const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
    forLanes(member, bs, [&](const int r) {
      w.sizes[r] = pivot_inverter.row_sizes(Offset(w.i) * bs + r);
      w.sums[r] = 0;
    });
    forLanes(member, (w.length + Offset(1)) * bs2, [&](const Offset item) {
      const int t = static_cast<int>(item / bs2);
      blockOf(w, t)[item - Offset(t) * bs2] = 0;
    });
    const Offset end = a_graph.row_map(w.i + 1);
    for (Offset first = a_graph.row_map(w.i); first < end; first += chunk) {
      const int count = static_cast<int>(end - first < chunk ? end - first : chunk);
      const Scalar* const a = a_values.data() + first * bs2;
      locate(member, w, a_graph.entries.data() + first, count);
      forLanes(member, Offset(count) * bs2, [&](const Offset item) {
        const int t = static_cast<int>(item / bs2), e = static_cast<int>(item - Offset(t) * bs2);
        const int r = e / bs, c = e - r * bs;
        if (w.targets[t] >= 0)
          blockOf(w, w.targets[t])[c * bs + r] = a[item];
      });
      if (!holds_a)
        forLanes(member, bs, [&](const int r) {
          for (int t = 0; t < count; ++t)
            for (int c = 0; c < bs && w.targets[t] == dropped; ++c)
              w.sums[r] -= a[Offset(t) * bs2 + r * bs + c];
        });
    }
    if (pivot_inverter.changesDiagonal())
      forLanes(member, bs, [&](const int r) {
        w.d[r * (bs + 1)] = pivot_inverter.changed(w.d[r * (bs + 1)], w.sizes[r]);
      });
  }

  /// The products with S_ik D_k, for entry `ik` of S: those that belong to column i are subtracted,
  /// the sums of those beside the pattern noted.
  template <class Member, class Gate>
  KOKKOS_INLINE_FUNCTION void subtractProducts(const Member& member, Offset ik, const Work& w,
                                               const Gate& gate) const {
    const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
    const Ordinal k = s_graph.entries(ik);
    const Offset begin = columns.row_map(k), end = columns.row_map(k + 1);
    for (Offset first = begin; first < end; first += chunk) {
      const int count = static_cast<int>(end - first < chunk ? end - first : chunk);
      locate(member, w, columns.entries.data() + first, count);
      if (first == begin) {
        gate.wait(k);
        const Scalar* const s_ik = s_values.data() + ik * bs2;
        const Scalar* const d_k = d_values.data() + Offset(k) * bs2;
        forLanes(member, bs2, [&](const int e) {
          const int r = e / bs, c = e - r * bs;
          Scalar sum = 0;
          for (int m = 0; m < bs; ++m)
            sum += s_ik[r * bs + m] * d_k[m * bs + c];
          w.product[e] = sum;
        });
      }
      forLanes(member, Offset(count) * bs2, [&](const Offset item) {
        const int t = static_cast<int>(item / bs2), e = static_cast<int>(item - Offset(t) * bs2);
        if (w.targets[t] < 0)
          return;
        const int r = e / bs, c = e - r * bs;
        const Scalar* const s_jk = s_values.data() + sources(first + t) * bs2;
        Scalar sum = 0;
        for (int m = 0; m < bs; ++m)
          sum += s_jk[r * bs + m] * w.product[c * bs + m];
        blockOf(w, w.targets[t])[e] -= sum;
      });
      for (int c = 0; c < bs; ++c) {
        Scalar sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(member, count),
            [&](const int t, Scalar& partial) {
              const Scalar* const s_jk = s_values.data() + sources(first + t) * bs2;
              for (int r = 0; r < bs && w.targets[t] == dropped; ++r)
                partial += s_jk[r * bs + c];
            },
            sum);
        Kokkos::single(Kokkos::PerThread(member),
                       [&]() { w.sums_k[c] = first == begin ? sum : w.sums_k[c] + sum; });
      }
      joinLanes(member);
    }
    forLanes(member, bs, [&](const int r) {
      for (int c = 0; c < bs; ++c)
        w.sums[r] += w.product[r * bs + c] * w.sums_k[c];
    });
  }

  /// S_ji = v_ji D_i^-1, a block at a time, of scalars all at once.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void finish(const Member& member, const Work& w) const {
    const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
    if constexpr (BS == 1) {
      forLanes(member, w.length,
               [&](const int t) { *entryOf(w.i, t) = *blockOf(w, t) * *w.inverse; });
    } else {
      for (int t = 0; t < w.length; ++t) {
        const Scalar* const v = blockOf(w, t);
        forLanes(member, bs2, [&](const int e) {
          const int r = e / bs, c = e - r * bs;
          Scalar sum = 0;
          for (int m = 0; m < bs; ++m)
            sum += v[r * bs + m] * w.inverse[m * bs + c];
          w.block[e] = sum;
        });
        Scalar* const s_ji = entryOf(w.i, t);
        forLanes(member, bs2, [&](const int e) { s_ji[e] = w.block[e]; });
      }
    }
  }
};

} // namespace detail
} // namespace ainvil
