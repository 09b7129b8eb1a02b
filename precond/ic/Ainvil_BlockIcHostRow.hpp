// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The row of block IC for a thread of a host, which remembers where the columns of its row are
/// instead of searching for them.

#include "backend/Ainvil_KernelArrays.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "ilu/Ainvil_WorkRow.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

/// Row i of S and block i of D^-1, for A with the diagonal changed by the pivot inverter, B:
///   w_ij = B_ij - sum over k < j of w_ik S_jk^T,   S_ij = w_ij D_j^-1   for (i, j) in the pattern,
///   D_i = B_ii - sum over j of w_ij S_ij^T.
/// The entries of row j are taken from its end on, which lies at j, down to the first column of row
/// i: what is before it meets nothing in w. Scalars lie in w by column, with zeros where the row
/// has no entry; blocks lie in w as in the row, each transposed, so that the inner loops of
///   w_ij^T -= S_jk w_ik^T,   S_ij^T = D_j^-1 w_ij^T,   D_i -= S_ij w_ij^T
/// run along rows.
template <int BS, class Scalar>
struct BlockIcHostRow {
  KernelGraph a_graph, s_graph;
  KernelArray<const Scalar> a_values;
  KernelArray<Scalar> s_values, d_inverse;
  PivotInversion<Scalar> pivot_inverter;
  int block_size;
  bool holds_a;               ///< the pattern holds that of the lower triangle of A
  WorkRow<Scalar>* work_rows; ///< one a thread

  void operator()(int worker, Ordinal i) const {
    const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
    WorkRow<Scalar>& work = work_rows[worker];
    const Ordinal* const columns = s_graph.entries.data() + s_graph.row_map(i);
    Scalar* const s_row = s_values.data() + s_graph.row_map(i) * bs2;
    const int length = static_cast<int>(s_graph.row_map(i + 1) - s_graph.row_map(i));
    Scalar* const sizes = work.room.data();
    Scalar* const scales = sizes + bs;
    Scalar* const block = scales + 2 * bs;
    Scalar* const inverse = d_inverse.data() + Offset(i) * bs2;
    Scalar* const w = work.w.data();
    bool finite = true;

    readSizes(i, sizes, work);
    if constexpr (BS == 1) {
      Scalar d = 0;
      const Ordinal *next = columns, *const last = columns + length;
      for (Offset e = a_graph.row_map(i); e < a_graph.row_map(i + 1); ++e) {
        const Ordinal j = a_graph.entries(e);
        while (!holds_a && next < last && *next < j)
          ++next;
        if (j < i && (holds_a || (next < last && *next == j)))
          w[j] = a_values(e);
        else if (j < i)
          continue;
        else if (j == i)
          d = a_values(e);
        else
          break;
      }
      pivot_inverter.changeDiagonal(&d, 1, sizes);
      const Ordinal first = length > 0 ? columns[0] : i;
      for (int t = 0; t < length; ++t) {
        const Ordinal j = columns[t];
        const Offset begin = s_graph.row_map(j), end = s_graph.row_map(j + 1);
        Scalar w_ij = w[j];
        if (isMuchLonger(end - begin, t))
          for (int k = 0; k < t; ++k) {
            const Offset e = findEntry(s_graph.entries, begin, end, columns[k]);
            if (e >= 0)
              w_ij -= w[columns[k]] * s_values(e);
          }
        else
          for (Offset e = end - 1; e >= begin && s_graph.entries(e) >= first; --e)
            w_ij -= w[s_graph.entries(e)] * s_values(e);
        w[j] = w_ij;
        const Scalar s_ij = w_ij * d_inverse(j);
        s_row[t] = s_ij;
        d -= w_ij * s_ij;
        finite = finite && isFinite(s_ij);
      }
      for (int t = 0; t < length; ++t)
        w[columns[t]] = 0;
      pivot_inverter.template invert<1>(i, 1, &d, sizes, inverse, nullptr, nullptr);
    } else {
      Scalar* const d = w + Offset(length) * bs2;
      int* const position = work.position.data();
      for (int t = 0; t < length; ++t)
        position[columns[t]] = t;
      position[i] = length;
      std::fill_n(w, Offset(length + 1) * bs2, Scalar(0));
      for (Offset e = a_graph.row_map(i); e < a_graph.row_map(i + 1) && a_graph.entries(e) <= i;
           ++e)
        if (const int at = position[a_graph.entries(e)]; at >= 0)
          copyTransposed(a_values.data() + e * bs2, w + Offset(at) * bs2, bs);
      pivot_inverter.changeDiagonal(d, bs, sizes);
      for (int t = 0; t < length; ++t) {
        const Ordinal j = columns[t];
        const Offset begin = s_graph.row_map(j), end = s_graph.row_map(j + 1);
        Scalar* const w_ij = w + Offset(t) * bs2;
        const auto subtract = [&](int at, Offset e) {
          subtractProduct<BS>(w_ij, s_values.data() + e * bs2, w + Offset(at) * bs2, bs);
        };
        if (isMuchLonger(end - begin, t))
          for (int k = 0; k < t; ++k) {
            const Offset e = findEntry(s_graph.entries, begin, end, columns[k]);
            if (e >= 0)
              subtract(k, e);
          }
        else
          for (Offset e = end - 1; e >= begin && s_graph.entries(e) >= columns[0]; --e)
            if (position[s_graph.entries(e)] >= 0)
              subtract(position[s_graph.entries(e)], e);
        Scalar* const s_ij = s_row + Offset(t) * bs2;
        const Scalar* const d_j = d_inverse.data() + Offset(j) * bs2;
        std::fill_n(block, bs2, Scalar(0));
        subtractProduct<BS>(block, d_j, w_ij, bs); // - S_ij^T
        for (int e = 0; e < bs2; ++e) {
          block[e] = -block[e];
          finite = finite && isFinite(block[e]);
        }
        copyTransposed(block, s_ij, bs);
        subtractProduct<BS>(d, s_ij, w_ij, bs);
      }
      for (int t = 0; t < length; ++t)
        position[columns[t]] = -1;
      position[i] = -1;
      makeSymmetric(d, bs);
      pivot_inverter.template invert<BS>(i, bs, d, sizes, inverse, work.pivots.data(), scales);
      makeSymmetric(inverse, bs);
    }
    work.finite = work.finite && finite;
  }

private:
  static void copyTransposed(const Scalar* from, Scalar* to, int size) {
    const int bs = BS > 0 ? BS : size;
    for (int r = 0; r < bs; ++r)
      for (int c = 0; c < bs; ++c)
        to[c * bs + r] = from[r * bs + c];
  }

  /// Whether a row is so long that searching it for the `wanted` columns costs less than walking
  /// through it.
  static bool isMuchLonger(Offset length, Offset wanted) { return length > 16 * wanted; }

  /// Rounding makes the mirror images of a block differ.
  static void makeSymmetric(Scalar* a, int bs) {
    for (int r = 1; r < bs; ++r)
      for (int c = 0; c < r; ++c)
        a[r * bs + c] = a[c * bs + r] = (a[r * bs + c] + a[c * bs + r]) / 2;
  }

  /// The largest entries of the point rows of A.
  void readSizes(Ordinal i, Scalar* sizes, WorkRow<Scalar>& work) const {
    const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
    bool finite = true;
    for (int r = 0; r < bs; ++r)
      sizes[r] = 0;
    for (Offset e = a_graph.row_map(i); e < a_graph.row_map(i + 1); ++e)
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < bs; ++c) {
          const Scalar size = compat::math::fabs(a_values(e * bs2 + r * bs + c));
          sizes[r] = size > sizes[r] ? size : sizes[r];
          finite = finite & isFinite(size);
        }
    work.read_finite = work.read_finite && finite;
  }
};

} // namespace detail
} // namespace ainvil
