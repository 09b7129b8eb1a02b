// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The kernel of block ILU on GPUs, a row of both factors.

#include "backend/Ainvil_Lanes.hpp"
#include "breakdown/Ainvil_PivotLanes.hpp"
#include "graph/Ainvil_OrderedRows.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "ilu/Ainvil_IluRowData.hpp"

namespace ainvil {
namespace detail {

/// Row i of Crout's block ILU, row i of L (pivot block last) and of U:
///   w_ij = A_ij - sum over k < min(i, j) of L_ik U_kj          for (i, j) in the pattern
///   L_ij = w_ij (j <= i),   D_i = L_ii,   U_ij = D_i^-1 w_ij (j > i),
/// the diagonal of A changed by the pivot inverter, and for modified factors, with omega =
/// `data.modified`,
///   D_i = L_ii - omega times the sum of L_ik U_kj, less A_ij, over (i, j) beside the pattern:
/// of scalars a lane takes a term of the sum, of blocks an entry of the block.
/// The k of row i run in ascending order, the lanes share the block products L_ik U_kj of
/// each entry by entry. What rows wait for is kept short: the products of as many k as there is
/// room for are listed before the first of these is waited for, and w lies in scratch memory where
/// the row fits. The U_kj are taken from `u_read`, which is the U that is written where rows wait
/// for each other.
template <int BS, class Scalar, class Device>
struct BlockIluRow {
  IluRowData<Scalar> data;
  int capacity; ///< blocks of w in scratch memory; longer rows are worked on in place

  /// Products with entries `u_shift` + begin .. `u_shift` + end - 1 of U, their targets in the
  /// list.
  struct Step {
    Offset u_shift;
    Ordinal k;
    int l; ///< position of L_ik in row i
    int begin, end;
  };
  /// Pivot blocks of up to 4 x 4 are inverted by one lane, in its registers: on an H200 what the
  /// steps of all lanes wait for each other takes longer.
  static constexpr bool by_lanes = BS == 0 || BS > 4;
  /// Estimates: longer lists are waited for less often, and take scratch memory from other rows.
  static constexpr int max_steps = 16;
  static constexpr int max_products = 128;

  /// What a row may take of scratch memory for w, in bytes: about 50 of the 64 warps
  /// of a multiprocessor of an H200 (228 KiB) find as much.
  static constexpr std::size_t most_for_w = 4096;

  static int capacityFor(Ordinal longest_row, int bs) {
    const std::size_t most = most_for_w / (std::size_t(bs) * bs * sizeof(Scalar));
    return static_cast<int>(std::min<std::size_t>(most, longest_row));
  }
  using Room = PivotRoom<Scalar>;
  /// Blocks of scratch memory beside w: one for a product; and where blocks of known size are
  /// inverted by all lanes their inverse.
  static constexpr int spare_blocks = BS > 0 && by_lanes ? 2 : 1;

  static std::size_t scratchBytes(int bs, int capacity) {
    return ((std::size_t(capacity) + spare_blocks) * bs * bs + bs + Room::scalarsOf(bs)) *
               sizeof(Scalar) +
           max_steps * sizeof(Step) + (std::size_t(max_products) + Room::intsOf(bs)) * sizeof(int);
  }

  /// Position of column j in row i: 0, 1, ... in L, then on in U; -1 if it is not in the pattern.
  KOKKOS_INLINE_FUNCTION int locate(Ordinal i, Ordinal j) const {
    const Offset l_begin = data.l_graph.row_map(i), l_end = data.l_graph.row_map(i + 1);
    if (j <= i) {
      const Offset at = findEntry(data.l_graph.entries, l_begin, l_end, j);
      return at < 0 ? -1 : static_cast<int>(at - l_begin);
    }
    const Offset u_begin = data.u_graph.row_map(i);
    const Offset at = findEntry(data.u_graph.entries, u_begin, data.u_graph.row_map(i + 1), j);
    return at < 0 ? -1 : static_cast<int>(at - u_begin + (l_end - l_begin));
  }

  /// w of row i, in scratch memory or in place.
  struct WorkRow {
    Scalar *l, *u;
    int l_length, bs2;

    KOKKOS_INLINE_FUNCTION Scalar* block(int position) const {
      return position < l_length ? l + Offset(position) * bs2
                                 : u + Offset(position - l_length) * bs2;
    }
  };

  /// w_ij -= L_ik U_kj for all k < i.
  template <class Member, class Gate>
  KOKKOS_INLINE_FUNCTION void eliminate(const Member& member, Ordinal i, const WorkRow& w,
                                        Step* steps, int* targets, const Gate& gate) const {
    const int bs = BS > 0 ? BS : data.block_size;
    const int bs2 = bs * bs;
    const Offset l_begin = data.l_graph.row_map(i);
    const int most = bs <= 1024 ? max_products : 1; // scalars of the list are counted in int
    Offset done_in_row = 0;                         // entries of row k of U that are behind
    for (int l = 0; l + 1 < w.l_length;) {
      int num_steps = 0, listed = 0;
      while (l + 1 < w.l_length && num_steps < max_steps && listed < most) {
        const Ordinal k = data.l_graph.entries(l_begin + l);
        const Offset first = data.u_read.graph.row_map(k) + done_in_row;
        const Offset k_end = data.u_read.graph.row_map(k + 1);
        const int room = most - listed;
        const int count = static_cast<int>(k_end - first < room ? k_end - first : room);
        forLanes(member, count, [&](const int t) {
          targets[listed + t] = locate(i, data.u_read.graph.entries(first + t));
        });
        Kokkos::single(Kokkos::PerThread(member), [&]() {
          steps[num_steps] = {first - listed, k, l, listed, listed + count};
        });
        ++num_steps;
        listed += count;
        done_in_row = first + count == k_end ? 0 : done_in_row + count;
        l += done_in_row == 0 ? 1 : 0;
      }
      joinLanes(member);
      for (int s = 0; s < num_steps; ++s) {
        const Step& step = steps[s];
        gate.wait(step.k);
        const Scalar* l_ik = w.block(step.l);
        forLanes(member, step.begin * bs2, step.end * bs2, [&](const int item) {
          const int t = item / bs2;
          if (targets[t] < 0)
            return;
          const int e = item - t * bs2;
          const int r = e / bs, c = e - r * bs;
          const Scalar* u_kj = data.u_read.values.data() + (step.u_shift + t) * bs2;
          Scalar sum = 0;
          for (int m = 0; m < bs; ++m)
            sum += l_ik[r * bs + m] * u_kj[m * bs + c];
          w.block(targets[t])[e] -= sum;
        });
        if (data.modified != Scalar(0))
          subtractDropped(member, step, targets, l_ik, w.block(w.l_length - 1));
      }
    }
  }

  /// d -= omega times the sum of the products of a step that have no target.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void subtractDropped(const Member& member, const Step& step,
                                              const int* targets, const Scalar* l_ik,
                                              Scalar* d) const {
    const int bs = BS > 0 ? BS : data.block_size;
    const int bs2 = bs * bs;
    if constexpr (BS == 1) {
      Scalar sum = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, step.end - step.begin),
          [&](const int t, Scalar& partial) {
            if (targets[step.begin + t] < 0)
              partial += data.u_read.values(step.u_shift + step.begin + t);
          },
          sum);
      Kokkos::single(Kokkos::PerThread(member), [&]() { d[0] -= data.modified * (l_ik[0] * sum); });
      joinLanes(member);
    } else {
      forLanes(member, bs2, [&](const int e) {
        const int r = e / bs, c = e - r * bs;
        Scalar sum = 0;
        for (int t = step.begin; t < step.end; ++t) {
          if (targets[t] >= 0)
            continue;
          const Scalar* u_kj = data.u_read.values.data() + (step.u_shift + t) * bs2;
          for (int m = 0; m < bs; ++m)
            sum += l_ik[r * bs + m] * u_kj[m * bs + c];
        }
        d[e] -= data.modified * sum;
      });
    }
  }

  /// d += omega times the sum of the blocks of row i of A that have no target.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void addDroppedOfA(const Member& member, Ordinal i, int* targets,
                                            Scalar* d) const {
    const int bs = BS > 0 ? BS : data.block_size;
    const int bs2 = bs * bs;
    const Offset end = data.a_graph.row_map(i + 1);
    for (Offset begin = data.a_graph.row_map(i); begin < end; begin += max_products) {
      const int count = static_cast<int>(end - begin < max_products ? end - begin : max_products);
      forLanes(member, count,
               [&](const int t) { targets[t] = locate(i, data.a_graph.entries(begin + t)); });
      forLanes(member, bs2, [&](const int e) {
        Scalar sum = 0;
        for (int t = 0; t < count; ++t)
          sum += targets[t] < 0 ? data.a_values((begin + t) * bs2 + e) : Scalar(0);
        d[e] += data.modified * sum;
      });
    }
  }

  template <class Member, class Gate>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal i, void* scratch,
                                  const Gate& gate) const {
    const int bs = BS > 0 ? BS : data.block_size;
    const int bs2 = bs * bs;
    Step* steps = static_cast<Step*>(scratch);
    Scalar* block = reinterpret_cast<Scalar*>(steps + max_steps);
    Scalar* small_inverse = block + (spare_blocks - 1) * bs2;
    Scalar* sizes = small_inverse + bs2; // of the rows of A, here before anything is waited for
    Scalar* scalars = sizes + bs;
    Scalar* w_row = scalars + Room::scalarsOf(bs);
    int* targets = reinterpret_cast<int*>(w_row + Offset(capacity) * bs2);
    int* pivots = targets + max_products;
    const Offset l_begin = data.l_graph.row_map(i), u_begin = data.u_graph.row_map(i);
    const int l_length = static_cast<int>(data.l_graph.row_map(i + 1) - l_begin);
    const int u_length = static_cast<int>(data.u_graph.row_map(i + 1) - u_begin);
    const bool fits = l_length + u_length <= capacity;
    Scalar* const l_row = data.l_values.data() + l_begin * bs2;
    Scalar* const u_row = data.u_values.data() + u_begin * bs2;
    const WorkRow w{fits ? w_row : l_row, fits ? w_row + l_length * bs2 : u_row, l_length, bs2};

    forLanes(member, bs,
             [&](const int r) { sizes[r] = data.pivot_inverter.row_sizes(Offset(i) * bs + r); });
    // Row i of A as far as the pattern has it, zeros elsewhere.
    forLanes(member, l_length * Offset(bs2), [&](const Offset e) { w.l[e] = 0; });
    forLanes(member, u_length * Offset(bs2), [&](const Offset e) { w.u[e] = 0; });
    const Offset a_begin = data.a_graph.row_map(i);
    forLanes(member, static_cast<int>(data.a_graph.row_map(i + 1) - a_begin), [&](const int t) {
      const int at = locate(i, data.a_graph.entries(a_begin + t));
      if (at < 0)
        return;
      Scalar* to = w.block(at);
      for (int e = 0; e < bs2; ++e)
        to[e] = data.a_values((a_begin + t) * bs2 + e);
    });
    if (data.pivot_inverter.changesDiagonal()) {
      Scalar* const d = w.block(l_length - 1);
      forLanes(member, bs, [&](const int r) {
        d[r * (bs + 1)] = data.pivot_inverter.changed(d[r * (bs + 1)], sizes[r]);
      });
    }
    if (data.modified != Scalar(0) && !data.holds_a)
      addDroppedOfA(member, i, targets, w.block(l_length - 1));
    if (data.u_read.values.data() != nullptr)
      eliminate(member, i, w, steps, targets, gate);

    // Large blocks are inverted in memory.
    Scalar* const stored_inverse = data.inverse.data() + Offset(i) * bs2;
    Scalar* const d_inverse = BS > 0 ? small_inverse : stored_inverse;
    if constexpr (by_lanes) {
      joinLanes(member);
      invertByLanes<BS>(member, data.pivot_inverter, i, bs, w.block(l_length - 1), sizes, d_inverse,
                        Room{block, scalars, pivots});
    } else {
      Kokkos::single(Kokkos::PerThread(member), [&]() {
        data.pivot_inverter.template invert<BS>(i, bs, w.block(l_length - 1), sizes, d_inverse,
                                                pivots, scalars);
      });
      joinLanes(member);
    }
    if constexpr (BS > 0) {
      // A lane a column of a block, which it reads before it writes.
      forLanes(member, u_length * BS, [&](const int item) {
        const int t = item / BS, c = item - t * BS;
        const Offset first = Offset(t) * bs2 + c;
        Scalar column[BS];
        for (int m = 0; m < BS; ++m)
          column[m] = w.u[first + m * BS];
        for (int r = 0; r < BS; ++r) {
          Scalar sum = 0;
          for (int m = 0; m < BS; ++m)
            sum += d_inverse[r * BS + m] * column[m];
          u_row[first + r * BS] = sum;
        }
      });
      forLanes(member, bs2, [&](const int e) { stored_inverse[e] = d_inverse[e]; });
    } else {
      for (int t = 0; t < u_length; ++t) {
        forLanes(member, bs2, [&](const int e) { block[e] = w.u[Offset(t) * bs2 + e]; });
        forLanes(member, bs2, [&](const int e) {
          const int r = e / bs, c = e - r * bs;
          Scalar sum = 0;
          for (int m = 0; m < bs; ++m)
            sum += d_inverse[r * bs + m] * block[m * bs + c];
          u_row[Offset(t) * bs2 + e] = sum;
        });
      }
    }
    if (fits)
      forLanes(member, l_length * bs2, [&](const int e) { l_row[e] = w.l[e]; });
  }
};

} // namespace detail
} // namespace ainvil
