// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The row of block ILU for a thread of a host, which remembers where the columns of its row are
/// instead of searching for them.

#include "backend/Ainvil_KernelArrays.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "ilu/Ainvil_WorkRow.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

/// w_j -= l u_j for the columns j of a sparse row u, four at a time: as no column comes twice, four
/// entries of w may be read before one is written.
template <class Scalar>
inline void subtractRow(Scalar* w, Scalar l, const Scalar* u, const Ordinal* columns,
                        Ordinal length) {
  Ordinal t = 0;
  for (; t + 4 <= length; t += 4) {
    Scalar four[4];
    for (int m = 0; m < 4; ++m)
      four[m] = w[columns[t + m]] - l * u[t + m];
    for (int m = 0; m < 4; ++m)
      w[columns[t + m]] = four[m];
  }
  for (; t < length; ++t)
    w[columns[t]] -= l * u[t];
}

/// Row i of Crout's block ILU as in BlockIluRow,
///   w_ij = A_ij - sum over k < min(i, j) of L_ik U_kj          for (i, j) in the pattern
///   L_ij = w_ij (j <= i),   D_i = L_ii,   U_ij = D_i^-1 w_ij (j > i),
/// the k in ascending order, the diagonal of A changed by the pivot inverter. Modified factors
/// have, with omega = `modified`,
///   D_i = L_ii - omega times the sum of L_ik U_kj over k < min(i, j), less A_ij, for (i, j) beside
///   the pattern.
/// Scalars lie in w by column: products outside of the pattern go where
/// nobody looks, which costs less than to ask, unless they are wanted. Blocks lie in w as in the
/// row, and the others are left out.
template <int BS, class Scalar>
struct BlockIluHostRow {
  KernelGraph a_graph, l_graph, u_graph;
  KernelArray<const Scalar> a_values;
  KernelArray<Scalar> l_values, u_values, inverse;
  KernelMatrix<const Scalar> u_read; ///< U of the rows before; without values: all zero
  PivotInversion<Scalar> pivot_inverter;
  int block_size;
  bool holds_a;               ///< the pattern holds that of A
  Scalar modified;            ///< omega
  WorkRow<Scalar>* work_rows; ///< one a thread

  void operator()(int worker, Ordinal i) const {
    const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
    WorkRow<Scalar>& work = work_rows[worker];
    const Ordinal* const l_columns = l_graph.entries.data() + l_graph.row_map(i);
    const Ordinal* const u_columns = u_graph.entries.data() + u_graph.row_map(i);
    const Ordinal* const a_columns = a_graph.entries.data() + a_graph.row_map(i);
    const Scalar* const a_row = a_values.data() + a_graph.row_map(i) * bs2;
    Scalar* const l_row = l_values.data() + l_graph.row_map(i) * bs2;
    Scalar* const u_row = u_values.data() + u_graph.row_map(i) * bs2;
    const int a_length = static_cast<int>(a_graph.row_map(i + 1) - a_graph.row_map(i));
    const int l_length = static_cast<int>(l_graph.row_map(i + 1) - l_graph.row_map(i));
    const int u_length = static_cast<int>(u_graph.row_map(i + 1) - u_graph.row_map(i));
    Scalar* const sizes = work.room.data();
    Scalar* const scales = sizes + bs;
    Scalar* const block = scales + 2 * bs;
    Scalar* const d_inverse = inverse.data() + Offset(i) * bs2;
    // Whether there is anything in the pattern that is not in A.
    const bool filled = !holds_a || l_length + u_length > a_length;
    const bool eliminates = u_read.values.data() != nullptr;
    const bool keeps_dropped = modified != Scalar(0);
    int* const position = work.position.data();
    bool finite = true, read_finite = true;

    for (int r = 0; r < bs; ++r)
      sizes[r] = 0;
    for (int t = 0; t < a_length; ++t)
      for (int e = 0; e < bs2; ++e) {
        const Scalar size = compat::math::fabs(a_row[t * bs2 + e]);
        sizes[e / bs] = size > sizes[e / bs] ? size : sizes[e / bs];
        read_finite = read_finite & isFinite(size);
      }

    Scalar* const w = work.w.data();
    if constexpr (BS == 1) {
      for (int t = 0; filled && t < l_length; ++t)
        w[l_columns[t]] = 0;
      for (int t = 0; filled && t < u_length; ++t)
        w[u_columns[t]] = 0;
      for (int t = 0; t < a_length; ++t)
        w[a_columns[t]] = a_row[t];
      pivot_inverter.changeDiagonal(w + i, 1, sizes);
      Scalar dropped = 0; // A_ij less the products
      if (keeps_dropped) {
        mark(position, {l_columns, l_columns + l_length}, {u_columns, u_columns + u_length});
        for (int t = 0; !holds_a && t < a_length; ++t)
          dropped += position[a_columns[t]] < 0 ? a_row[t] : Scalar(0);
      }
      for (int t = 0; t + 1 < l_length; ++t) {
        const Ordinal k = l_columns[t];
        const Scalar l_ik = w[k];
        l_row[t] = l_ik;
        finite = finite && isFinite(l_ik);
        if (!eliminates || l_ik == Scalar(0))
          continue;
        const Offset begin = u_read.graph.row_map(k), end = u_read.graph.row_map(k + 1);
        if (keeps_dropped)
          for (Offset kj = begin; kj < end; ++kj) {
            const Ordinal j = u_read.graph.entries(kj);
            (position[j] >= 0 ? w[j] : dropped) -= l_ik * u_read.values(kj);
          }
        else if (isMuchLonger(end - begin, l_length - t - 1 + u_length))
          searchColumns(begin, end, {l_columns + t + 1, l_columns + l_length},
                        {u_columns, u_columns + u_length},
                        [&](Ordinal j, Offset kj) { w[j] -= l_ik * u_read.values(kj); });
        else
          subtractRow(w, l_ik, u_read.values.data() + begin, u_read.graph.entries.data() + begin,
                      static_cast<Ordinal>(end - begin));
      }
      if (keeps_dropped) {
        unmark(position, {l_columns, l_columns + l_length}, {u_columns, u_columns + u_length});
        w[i] += modified * dropped;
      }
      pivot_inverter.template invert<1>(i, 1, w + i, sizes, d_inverse, nullptr, nullptr);
      l_row[l_length - 1] = w[i];
      const Scalar inverted = d_inverse[0];
      for (int t = 0; t < u_length; ++t) {
        const Scalar u_ij = inverted * w[u_columns[t]];
        u_row[t] = u_ij;
        finite = finite && isFinite(u_ij);
      }
    } else {
      const Offset length = l_length + u_length;
      mark(position, {l_columns, l_columns + l_length}, {u_columns, u_columns + u_length});
      std::fill_n(block, keeps_dropped ? bs2 : 0, Scalar(0)); // A_ij less the products
      if (filled) {
        std::fill_n(w, length * bs2, Scalar(0));
        for (int t = 0; t < a_length; ++t) {
          const Scalar* const a_ij = a_row + Offset(t) * bs2;
          if (const int at = position[a_columns[t]]; at >= 0)
            std::copy_n(a_ij, bs2, w + Offset(at) * bs2);
          else
            for (int e = 0; keeps_dropped && e < bs2; ++e)
              block[e] += a_ij[e];
        }
      } else {
        std::copy_n(a_row, length * bs2, w);
      }
      pivot_inverter.changeDiagonal(w + Offset(l_length - 1) * bs2, bs, sizes);
      for (int t = 0; eliminates && t + 1 < l_length; ++t) {
        const Ordinal k = l_columns[t];
        const Scalar* const l_ik = w + Offset(t) * bs2;
        const auto subtract = [&](Ordinal j, Offset kj) {
          const int at = position[j];
          if (at >= 0 || keeps_dropped)
            subtractProduct<BS>(at >= 0 ? w + Offset(at) * bs2 : block, l_ik,
                                u_read.values.data() + kj * bs2, bs);
        };
        const Offset begin = u_read.graph.row_map(k), end = u_read.graph.row_map(k + 1);
        if (!keeps_dropped && isMuchLonger(end - begin, l_length - t - 1 + u_length))
          searchColumns(begin, end, {l_columns + t + 1, l_columns + l_length},
                        {u_columns, u_columns + u_length}, subtract);
        else
          for (Offset kj = begin; kj < end; ++kj)
            subtract(u_read.graph.entries(kj), kj);
      }
      unmark(position, {l_columns, l_columns + l_length}, {u_columns, u_columns + u_length});
      for (int e = 0; keeps_dropped && e < bs2; ++e)
        w[Offset(l_length - 1) * bs2 + e] += modified * block[e];
      pivot_inverter.template invert<BS>(i, bs, w + Offset(l_length - 1) * bs2, sizes, d_inverse,
                                         work.pivots.data(), scales);
      std::copy_n(w, Offset(l_length) * bs2, l_row);
      for (int t = 0; t < u_length; ++t) {
        std::fill_n(block, bs2, Scalar(0));
        subtractProduct<BS>(block, d_inverse, w + Offset(l_length + t) * bs2, bs);
        for (int e = 0; e < bs2; ++e)
          u_row[Offset(t) * bs2 + e] = -block[e];
      }
      for (Offset e = 0; e < Offset(l_length) * bs2; ++e)
        finite = finite && isFinite(l_row[e]);
      for (Offset e = 0; e < Offset(u_length) * bs2; ++e)
        finite = finite && isFinite(u_row[e]);
    }
    work.read_finite = work.read_finite && read_finite;
    work.finite = work.finite && finite;
  }

private:
  struct Columns {
    const Ordinal *first, *last;
  };

  /// Where the columns of the row are: those of U behind those of L.
  static void mark(int* position, Columns below, Columns above) {
    int t = 0;
    for (const Columns& columns : {below, above})
      for (const Ordinal* j = columns.first; j < columns.last; ++j)
        position[*j] = t++;
  }
  static void unmark(int* position, Columns below, Columns above) {
    for (const Columns& columns : {below, above})
      for (const Ordinal* j = columns.first; j < columns.last; ++j)
        position[*j] = -1;
  }

  /// Whether a row of U is so long that searching it for the `wanted` columns costs less than
  /// walking through it.
  static bool isMuchLonger(Offset length, Offset wanted) { return length > 16 * wanted; }

  /// Calls use(j, e) for the entries e of [begin, end) of U in the columns j of `below` and
  /// `above`.
  template <class Use>
  void searchColumns(Offset begin, Offset end, Columns below, Columns above, const Use& use) const {
    for (const Columns& columns : {below, above})
      for (const Ordinal* j = columns.first; j < columns.last; ++j) {
        const Offset e = findEntry(u_read.graph.entries, begin, end, *j);
        if (e >= 0)
          use(*j, e);
      }
  }
};

} // namespace detail
} // namespace ainvil
