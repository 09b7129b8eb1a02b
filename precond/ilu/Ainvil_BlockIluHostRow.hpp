// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The row of block ILU for a thread of a host, which remembers where the columns of its row are
/// instead of searching for them.

#include "graph/Ainvil_RowSearch.hpp"
#include "ilu/Ainvil_IluRowData.hpp"
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
/// have, with omega = `data.modified`,
///   D_i = L_ii - omega times the sum of L_ik U_kj over k < min(i, j), less A_ij, for (i, j) beside
///   the pattern.
/// Scalars lie in w by column. Products beside the pattern are written there too, to columns that
/// are never read, which is cheaper than a test for each; modified factors sum them up instead.
/// Blocks lie in w as in the row, first those of L, and products beside the pattern are left out.
template <int BS, class Scalar>
struct BlockIluHostRow {
  IluRowData<Scalar> data;
  WorkRow<Scalar>* work_rows; ///< one a thread

  void operator()(int worker, Ordinal i) const {
    const Row row(data, i, sizeOfBlocks());
    WorkRow<Scalar>& work = work_rows[worker];
    if constexpr (BS == 1) {
      factorScalars(row, work);
    } else {
      work.template readBlocks<BS>(row.a, row.a_length, sizeOfBlock(), work.room.data());
      factorBlocks(row, work);
      const Offset bs2 = sizeOfBlocks();
      work.wrote(i, largestModulus(row.l, row.l_length * bs2),
                 largestModulus(row.u, row.u_length * bs2));
    }
  }

private:
  /// Columns of a part of a row.
  struct Columns {
    const Ordinal *first, *last;
  };

  /// Row i of A, of L with its diagonal block, which comes last, and of U.
  struct Row {
    Ordinal i;
    const Ordinal *a_columns, *l_columns, *u_columns;
    const Scalar* a;
    Scalar *l, *u, *d_inverse;
    int a_length, l_length, u_length;

    Row(const IluRowData<Scalar>& data, Ordinal row, Offset bs2)
        : i(row), a_columns(data.a_graph.entries.data() + data.a_graph.row_map(i)),
          l_columns(data.l_graph.entries.data() + data.l_graph.row_map(i)),
          u_columns(data.u_graph.entries.data() + data.u_graph.row_map(i)),
          a(data.a_values.data() + data.a_graph.row_map(i) * bs2),
          l(data.l_values.data() + data.l_graph.row_map(i) * bs2),
          u(data.u_values.data() + data.u_graph.row_map(i) * bs2),
          d_inverse(data.inverse.data() + i * bs2), a_length(lengthIn(data.a_graph)),
          l_length(lengthIn(data.l_graph)), u_length(lengthIn(data.u_graph)) {}

    Columns below() const { return {l_columns, l_columns + l_length}; } ///< and on the diagonal
    Columns above() const { return {u_columns, u_columns + u_length}; }

  private:
    int lengthIn(const KernelGraph& graph) const {
      return static_cast<int>(graph.row_map(i + 1) - graph.row_map(i));
    }
  };

  int sizeOfBlock() const { return BS > 0 ? BS : data.block_size; }
  int sizeOfBlocks() const { return sizeOfBlock() * sizeOfBlock(); }
  bool eliminates() const { return data.u_read.values.data() != nullptr; }
  bool isModified() const { return data.modified != Scalar(0); }
  /// Whether the pattern has anything that A has not, so that w has to begin with zeros.
  bool isFilled(const Row& row) const {
    return !data.holds_a || row.l_length + row.u_length > row.a_length;
  }

  /// The row where blocks are scalars. Values are measured where they are read and written: the
  /// rows are short, and every loop over one costs.
  void factorScalars(const Row& row, WorkRow<Scalar>& work) const {
    Scalar* const w = work.w.data();
    Scalar size = 0;
    Scalar dropped = readScalars(row, work, size); // A_ij less the products
    RunningModulus<Scalar> in_lower, in_upper;
    for (int t = 0; t + 1 < row.l_length; ++t) {
      const Scalar l_ik = w[row.l_columns[t]];
      row.l[t] = l_ik;
      in_lower.take(l_ik);
      if (eliminates() && l_ik != Scalar(0))
        subtractScalars(row, t, l_ik, work, dropped);
    }
    if (isModified()) {
      unmark(work.position.data(), row);
      w[row.i] += data.modified * dropped;
    }
    Scalar pivot = w[row.i];
    data.pivot_inverter.template invert<1>(row.i, 1, &pivot, &size, row.d_inverse, nullptr,
                                           nullptr);
    row.l[row.l_length - 1] = pivot;
    in_lower.take(pivot);
    const Scalar inverted = row.d_inverse[0];
    for (int t = 0; t < row.u_length; ++t) {
      const Scalar u_ij = inverted * w[row.u_columns[t]];
      row.u[t] = u_ij;
      in_upper.take(u_ij);
    }
    work.wrote(row.i, in_lower.value(), in_upper.value());
  }

  /// w = row i of A, its diagonal changed, and `size` its largest entry. Modified factors: marks
  /// the pattern and returns the sum of the entries beside it.
  Scalar readScalars(const Row& row, WorkRow<Scalar>& work, Scalar& size) const {
    Scalar* const w = work.w.data();
    const bool filled = isFilled(row);
    for (int t = 0; filled && t < row.l_length; ++t)
      w[row.l_columns[t]] = 0;
    for (int t = 0; filled && t < row.u_length; ++t)
      w[row.u_columns[t]] = 0;
    RunningModulus<Scalar> in_a;
    for (int t = 0; t < row.a_length; ++t) {
      w[row.a_columns[t]] = row.a[t];
      in_a.take(row.a[t]);
    }
    size = in_a.value();
    work.read(size);
    data.pivot_inverter.changeDiagonal(w + row.i, 1, &size);
    Scalar beside = 0;
    if (isModified()) {
      int* const position = work.position.data();
      mark(position, row);
      for (int t = 0; !data.holds_a && t < row.a_length; ++t)
        beside += position[row.a_columns[t]] < 0 ? row.a[t] : Scalar(0);
    }
    return beside;
  }

  /// w_ij -= L_ik U_kj for all j, k the column t of L. Modified factors: `dropped` -= those beside
  /// the pattern.
  void subtractScalars(const Row& row, int t, Scalar l_ik, WorkRow<Scalar>& work,
                       Scalar& dropped) const {
    Scalar* const w = work.w.data();
    const Ordinal k = row.l_columns[t];
    const Offset begin = data.u_read.graph.row_map(k), end = data.u_read.graph.row_map(k + 1);
    if (isModified()) {
      const int* const position = work.position.data();
      for (Offset kj = begin; kj < end; ++kj) {
        const Ordinal j = data.u_read.graph.entries(kj);
        (position[j] >= 0 ? w[j] : dropped) -= l_ik * data.u_read.values(kj);
      }
    } else if (isMuchLonger(end - begin, row.l_length - t - 1 + row.u_length)) {
      searchColumns(begin, end, row, t + 1,
                    [&](Ordinal j, Offset kj) { w[j] -= l_ik * data.u_read.values(kj); });
    } else {
      subtractRow(w, l_ik, data.u_read.values.data() + begin,
                  data.u_read.graph.entries.data() + begin, static_cast<Ordinal>(end - begin));
    }
  }

  /// The row where blocks are larger.
  void factorBlocks(const Row& row, WorkRow<Scalar>& work) const {
    const int bs = sizeOfBlock(), bs2 = sizeOfBlocks();
    Scalar* const sizes = work.room.data();
    Scalar* const scales = sizes + bs;
    Scalar* const dropped = scales + 2 * bs; // A_ij less the products
    Scalar* const w = work.w.data();
    Scalar* const d = w + Offset(row.l_length - 1) * bs2;
    mark(work.position.data(), row);
    readBlocks(row, work, dropped);
    data.pivot_inverter.changeDiagonal(d, bs, sizes);
    for (int t = 0; eliminates() && t + 1 < row.l_length; ++t)
      subtractBlocks(row, t, work, dropped);
    unmark(work.position.data(), row);
    for (int e = 0; isModified() && e < bs2; ++e)
      d[e] += data.modified * dropped[e];
    data.pivot_inverter.template invert<BS>(row.i, bs, d, sizes, row.d_inverse, work.pivots.data(),
                                            scales);
    storeBlocks(row, w, dropped);
  }

  /// w = row i of A. Modified factors: `beside` = the sum of its blocks beside the pattern.
  void readBlocks(const Row& row, WorkRow<Scalar>& work, Scalar* beside) const {
    const int bs2 = sizeOfBlocks();
    const Offset length = row.l_length + row.u_length;
    const bool keeps_dropped = isModified();
    Scalar* const w = work.w.data();
    std::fill_n(beside, keeps_dropped ? bs2 : 0, Scalar(0));
    if (!isFilled(row)) {
      std::copy_n(row.a, length * bs2, w);
      return;
    }
    std::fill_n(w, length * bs2, Scalar(0));
    for (int t = 0; t < row.a_length; ++t) {
      const Scalar* const a_ij = row.a + Offset(t) * bs2;
      if (const int at = work.position[row.a_columns[t]]; at >= 0)
        std::copy_n(a_ij, bs2, w + Offset(at) * bs2);
      else
        for (int e = 0; keeps_dropped && e < bs2; ++e)
          beside[e] += a_ij[e];
    }
  }

  /// As subtractScalars().
  void subtractBlocks(const Row& row, int t, WorkRow<Scalar>& work, Scalar* dropped) const {
    const int bs = sizeOfBlock(), bs2 = sizeOfBlocks();
    const bool keeps_dropped = isModified();
    Scalar* const w = work.w.data();
    const int* const position = work.position.data();
    const Scalar* const l_ik = w + Offset(t) * bs2;
    const auto subtract = [&](Ordinal j, Offset kj) {
      const int at = position[j];
      if (at >= 0 || keeps_dropped)
        subtractProduct<BS>(at >= 0 ? w + Offset(at) * bs2 : dropped, l_ik,
                            data.u_read.values.data() + kj * bs2, bs);
    };
    const Ordinal k = row.l_columns[t];
    const Offset begin = data.u_read.graph.row_map(k), end = data.u_read.graph.row_map(k + 1);
    if (!keeps_dropped && isMuchLonger(end - begin, row.l_length - t - 1 + row.u_length))
      searchColumns(begin, end, row, t + 1, subtract);
    else
      for (Offset kj = begin; kj < end; ++kj)
        subtract(data.u_read.graph.entries(kj), kj);
  }

  /// L_ij = w_ij, U_ij = D_i^-1 w_ij; `block` has room for one.
  void storeBlocks(const Row& row, const Scalar* w, Scalar* block) const {
    const int bs = sizeOfBlock(), bs2 = sizeOfBlocks();
    std::copy_n(w, Offset(row.l_length) * bs2, row.l);
    for (int t = 0; t < row.u_length; ++t) {
      std::fill_n(block, bs2, Scalar(0));
      subtractProduct<BS>(block, row.d_inverse, w + Offset(row.l_length + t) * bs2, bs);
      for (int e = 0; e < bs2; ++e)
        row.u[Offset(t) * bs2 + e] = -block[e];
    }
  }

  /// Where the columns of the row are: those of U behind those of L.
  static void mark(int* position, const Row& row) {
    int t = 0;
    for (const Columns& columns : {row.below(), row.above()})
      for (const Ordinal* j = columns.first; j < columns.last; ++j)
        position[*j] = t++;
  }
  static void unmark(int* position, const Row& row) {
    for (const Columns& columns : {row.below(), row.above()})
      for (const Ordinal* j = columns.first; j < columns.last; ++j)
        position[*j] = -1;
  }

  /// Whether a row of U is so long that searching it for the `wanted` columns costs less than
  /// walking through it.
  static bool isMuchLonger(Offset length, Offset wanted) { return length > 16 * wanted; }

  /// Calls use(j, e) for the entries e of [begin, end) of U in the columns j of the row, of L from
  /// its entry `from` on.
  template <class Use>
  void searchColumns(Offset begin, Offset end, const Row& row, int from, const Use& use) const {
    for (const Columns& columns :
         {Columns{row.l_columns + from, row.l_columns + row.l_length}, row.above()})
      for (const Ordinal* j = columns.first; j < columns.last; ++j) {
        const Offset e = findEntry(data.u_read.graph.entries, begin, end, *j);
        if (e >= 0)
          use(*j, e);
      }
  }
};

} // namespace detail
} // namespace ainvil
