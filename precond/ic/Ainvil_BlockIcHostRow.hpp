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
    const int bs = sizeOfBlock();
    const Row row(*this, i, bs * bs);
    WorkRow<Scalar>& work = work_rows[worker];
    const Offset begin = a_graph.row_map(i);
    work.template readBlocks<BS>(a_values.data() + begin * bs * bs, a_graph.row_map(i + 1) - begin,
                                 bs, work.room.data());
    if constexpr (BS == 1)
      work.finite = factorScalars(row, work) && work.finite;
    else
      work.finite = factorBlocks(row, work) && work.finite;
  }

private:
  /// Row i of S and block i of D^-1.
  struct Row {
    Ordinal i;
    const Ordinal* columns;
    Scalar *s, *d_inverse;
    int length;

    Row(const BlockIcHostRow& all, Ordinal row, Offset bs2)
        : i(row), columns(all.s_graph.entries.data() + all.s_graph.row_map(i)),
          s(all.s_values.data() + all.s_graph.row_map(i) * bs2),
          d_inverse(all.d_inverse.data() + i * bs2),
          length(static_cast<int>(all.s_graph.row_map(i + 1) - all.s_graph.row_map(i))) {}
  };

  int sizeOfBlock() const { return BS > 0 ? BS : block_size; }

  /// The row where blocks are scalars. Returns whether all values written are numbers.
  bool factorScalars(const Row& row, WorkRow<Scalar>& work) const {
    Scalar* const w = work.w.data();
    Scalar* const sizes = work.room.data();
    Scalar d = readScalars(row, w);
    bool finite = true;
    pivot_inverter.changeDiagonal(&d, 1, sizes);
    for (int t = 0; t < row.length; ++t) {
      const Ordinal j = row.columns[t];
      const Scalar w_ij = w[j] = subtractScalars(row, t, w);
      const Scalar s_ij = w_ij * d_inverse(j);
      row.s[t] = s_ij;
      d -= w_ij * s_ij;
      finite = finite && isFinite(s_ij);
    }
    for (int t = 0; t < row.length; ++t)
      w[row.columns[t]] = 0;
    pivot_inverter.template invert<1>(row.i, 1, &d, sizes, row.d_inverse, nullptr, nullptr);
    return finite;
  }

  /// w = row i of A in the pattern, left of the diagonal. Returns the diagonal entry.
  Scalar readScalars(const Row& row, Scalar* w) const {
    const Ordinal *next = row.columns, *const last = row.columns + row.length;
    for (Offset e = a_graph.row_map(row.i); e < a_graph.row_map(row.i + 1); ++e) {
      const Ordinal j = a_graph.entries(e);
      if (j >= row.i)
        return j == row.i ? a_values(e) : Scalar(0);
      while (!holds_a && next < last && *next < j)
        ++next;
      if (holds_a || (next < last && *next == j))
        w[j] = a_values(e);
    }
    return 0;
  }

  /// w_ij less the sum over k < j of w_ik S_jk, j the column t of the row.
  Scalar subtractScalars(const Row& row, int t, const Scalar* w) const {
    const Ordinal j = row.columns[t];
    const Offset begin = s_graph.row_map(j), end = s_graph.row_map(j + 1);
    Scalar w_ij = w[j];
    if (isMuchLonger(end - begin, t)) {
      for (int k = 0; k < t; ++k) {
        const Offset e = findEntry(s_graph.entries, begin, end, row.columns[k]);
        if (e >= 0)
          w_ij -= w[row.columns[k]] * s_values(e);
      }
    } else {
      const Ordinal first = row.columns[0];
      for (Offset e = end - 1; e >= begin && s_graph.entries(e) >= first; --e)
        w_ij -= w[s_graph.entries(e)] * s_values(e);
    }
    return w_ij;
  }

  /// The row where blocks are larger. Returns whether all values written are numbers.
  bool factorBlocks(const Row& row, WorkRow<Scalar>& work) const {
    const int bs = sizeOfBlock(), bs2 = bs * bs;
    Scalar* const sizes = work.room.data();
    Scalar* const scales = sizes + bs;
    Scalar* const block = scales + 2 * bs;
    Scalar* const w = work.w.data();
    Scalar* const d = w + Offset(row.length) * bs2;
    int* const position = work.position.data();
    for (int t = 0; t < row.length; ++t)
      position[row.columns[t]] = t;
    position[row.i] = row.length;
    readBlocks(row, position, w);
    pivot_inverter.changeDiagonal(d, bs, sizes);
    bool finite = true;
    for (int t = 0; t < row.length; ++t) {
      subtractBlocks(row, t, position, w);
      finite = storeBlock(row, t, w, d, block) && finite;
    }
    for (int t = 0; t < row.length; ++t)
      position[row.columns[t]] = -1;
    position[row.i] = -1;
    makeSymmetric(d, bs);
    pivot_inverter.template invert<BS>(row.i, bs, d, sizes, row.d_inverse, work.pivots.data(),
                                       scales);
    makeSymmetric(row.d_inverse, bs);
    return finite;
  }

  /// w = row i of A in the pattern, up to the diagonal block, every block transposed.
  void readBlocks(const Row& row, const int* position, Scalar* w) const {
    const int bs = sizeOfBlock(), bs2 = bs * bs;
    std::fill_n(w, Offset(row.length + 1) * bs2, Scalar(0));
    for (Offset e = a_graph.row_map(row.i);
         e < a_graph.row_map(row.i + 1) && a_graph.entries(e) <= row.i; ++e)
      if (const int at = position[a_graph.entries(e)]; at >= 0)
        copyTransposed(a_values.data() + e * bs2, w + Offset(at) * bs2, bs);
  }

  /// w_ij^T -= the sum over k < j of S_jk w_ik^T, j the column t of the row.
  void subtractBlocks(const Row& row, int t, const int* position, Scalar* w) const {
    const int bs = sizeOfBlock(), bs2 = bs * bs;
    const Ordinal j = row.columns[t];
    const Offset begin = s_graph.row_map(j), end = s_graph.row_map(j + 1);
    Scalar* const w_ij = w + Offset(t) * bs2;
    const auto subtract = [&](int at, Offset e) {
      subtractProduct<BS>(w_ij, s_values.data() + e * bs2, w + Offset(at) * bs2, bs);
    };
    if (isMuchLonger(end - begin, t)) {
      for (int k = 0; k < t; ++k) {
        const Offset e = findEntry(s_graph.entries, begin, end, row.columns[k]);
        if (e >= 0)
          subtract(k, e);
      }
    } else {
      const Ordinal first = row.columns[0];
      for (Offset e = end - 1; e >= begin && s_graph.entries(e) >= first; --e)
        if (const int at = position[s_graph.entries(e)]; at >= 0)
          subtract(at, e);
    }
  }

  /// S_ij^T = D_j^-1 w_ij^T and d -= S_ij w_ij^T, j the column t of the row; `block` has room for
  /// one. Returns whether S_ij has numbers only.
  bool storeBlock(const Row& row, int t, const Scalar* w, Scalar* d, Scalar* block) const {
    const int bs = sizeOfBlock(), bs2 = bs * bs;
    const Scalar* const w_ij = w + Offset(t) * bs2;
    const Scalar* const d_j = d_inverse.data() + Offset(row.columns[t]) * bs2;
    Scalar* const s_ij = row.s + Offset(t) * bs2;
    bool finite = true;
    std::fill_n(block, bs2, Scalar(0));
    subtractProduct<BS>(block, d_j, w_ij, bs); // - S_ij^T
    for (int e = 0; e < bs2; ++e) {
      block[e] = -block[e];
      finite = finite && isFinite(block[e]);
    }
    copyTransposed(block, s_ij, bs);
    subtractProduct<BS>(d, s_ij, w_ij, bs);
    return finite;
  }

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
};

} // namespace detail
} // namespace ainvil
