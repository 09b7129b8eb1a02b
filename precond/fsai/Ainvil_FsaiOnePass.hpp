// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to Fsai: G^T G x by one thread of a host, which needs no G^T.

#include "Ainvil_BsrMatrix.hpp"
#include "backend/Ainvil_Prefetch.hpp"

namespace ainvil {
namespace detail {

/// y <- G^T G x in one pass over the block rows of G, lower triangular with its diagonal:
///   t_i = G_i x,   y_j <- y_j + G_ij^T t_i for j < i,   y_i <- G_ii^T t_i.
/// With `sums`, t_i = G_i x + sums_i, what G has beside these columns, and sums_i <- t_i.
/// No row before i has added to y_i. Row i is in the first-level cache when it is read again, so G
/// comes from memory once in place of G and G^T. Work item j is column j of the vectors; another
/// thread would add to the same y. BS = 0: block size known at run time.
template <int BS, class Stored, class Scalar, class Device>
struct FsaiOnePass {
  BsrMatrix<Stored, Device> g;
  MultiVectorArg<const Scalar, Device> x;
  MultiVectorArg<Scalar, Device> y;
  MultiVectorArg<Scalar, Device> sums = {}; ///< or empty

  void operator()(const Offset j) const {
    const int bs = BS > 0 ? BS : g.block_size, bs2 = bs * bs;
    const Offset* const row_map = g.graph.row_map.data();
    const Ordinal* const columns = g.graph.entries.data();
    const Stored* const values = g.values.data();
    const Scalar* const x_j = x.data() + j * Offset(x.stride(1));
    Scalar* const y_j = y.data() + j * Offset(y.stride(1));
    Scalar* const sums_j =
        sums.data() != nullptr ? sums.data() + j * Offset(sums.stride(1)) : nullptr;
    for (Offset i = 0; i < g.numRows(); ++i) {
      const Offset begin = row_map[i], last = row_map[i + 1] - 1; // the diagonal block
      prefetchRow(columns, values, begin, last + 1, bs2);
      Scalar* const y_i = y_j + i * bs;
      for (int r = 0; r < bs; ++r) {
        // A row of scalars of the block row at a time: t_ir = G_ir x, then G_ir^T t_ir.
        Scalar t = rowTimes(columns + begin, values + begin * bs2 + r * bs,
                            static_cast<Ordinal>(last + 1 - begin), bs, x_j);
        if (sums_j != nullptr)
          t = sums_j[i * bs + r] += t;
        for (Offset e = begin; e < last; ++e)
          for (int c = 0; c < bs; ++c)
            y_j[Offset(columns[e]) * bs + c] += Scalar(values[e * bs2 + r * bs + c]) * t;
        for (int c = 0; c < bs; ++c) {
          const Scalar own = Scalar(values[last * bs2 + r * bs + c]) * t;
          y_i[c] = r > 0 ? y_i[c] + own : own;
        }
      }
    }
  }

private:
  /// Sums of scalars that are kept apart, so that an addition does not wait for the last one.
  static constexpr int strands = 4;

  static Scalar rowTimes(const Ordinal* columns, const Stored* values, Ordinal length, int bs,
                         const Scalar* x_j) {
    Scalar sum = 0;
    Ordinal e = 0;
    if constexpr (BS == 1) {
      Scalar apart[strands] = {};
      for (; e + strands <= length; e += strands)
        for (int s = 0; s < strands; ++s)
          apart[s] += Scalar(values[e + s]) * x_j[columns[e + s]];
      sum = (apart[0] + apart[1]) + (apart[2] + apart[3]);
    }
    for (; e < length; ++e)
      for (int c = 0; c < bs; ++c)
        sum += Scalar(values[Offset(e) * bs * bs + c]) * x_j[Offset(columns[e]) * bs + c];
    return sum;
  }
};

} // namespace detail
} // namespace ainvil
