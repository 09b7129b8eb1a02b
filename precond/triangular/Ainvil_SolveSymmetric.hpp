// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to ExactTriangularSolver: down and up a symmetric factorisation by one thread of a
/// host.

#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_Prefetch.hpp"
#include "dense/Ainvil_SmallBlock.hpp"
#include "triangular/Ainvil_SolveInTurn.hpp"

namespace ainvil {
namespace detail {

/// y = T^-T D^-1 T^-1 x for a lower unit factor by one thread of a host, which goes down,
///   t_i = x_i - sum over k of T_ik t_k,   y_i = D_i^-1 t_i,
/// and up again, y_k <- y_k - T_ik^T y_i. Where a row of scalars has an entry next to the diagonal,
/// what the row before has just found is still in a register: rows of grids wait for nothing else.
/// The way up is through memory in one direction, too, row by row and within rows.
template <int BS, class Stored, class Scalar, class Device>
struct SolveSymmetric {
  KernelTriangle<Stored> factor;
  KernelArray<const Scalar> d_inverse;
  KernelColumns<const Scalar> x;
  KernelColumns<Scalar> t, y;
  Ordinal num_rows;

  KOKKOS_FUNCTION void operator()(const Offset j) const {
    const Scalar* const x_j = &x(0, j);
    Scalar* const t_j = &t(0, j);
    Scalar* const y_j = &y(0, j);
    if constexpr (BS == 1) {
      const Scalar* const inverses = d_inverse.data();
      solveScalarsInTurn<1, true>(factor, 0, num_rows, x_j, t_j, [=](Ordinal i, Scalar sum) {
        y_j[i] = inverses[i] * sum;
        return sum;
      });
      scalarsUp(y_j);
    } else {
      for (Ordinal i = 0; i < num_rows; ++i)
        down(i, x_j, t_j, y_j);
      for (Ordinal i = num_rows - 1; i >= 0; --i)
        up(i, y_j);
    }
  }

private:
  KOKKOS_INLINE_FUNCTION void scalarsUp(Scalar* y_j) const {
    const Offset* const row_map = factor.matrix.graph.row_map.data();
    const Ordinal* const columns = factor.matrix.graph.entries.data();
    const Stored* const values = factor.matrix.values.data();
    Scalar y_i = num_rows > 0 ? y_j[num_rows - 1] : Scalar(0);
    for (Ordinal i = num_rows - 1; i > 0; --i) {
      const Offset begin = row_map[i], end = row_map[i + 1];
      prefetchRow(columns, values, begin, end, 1, -prefetch_distance);
      const bool adjacent = begin < end && columns[end - 1] == i - 1;
      Scalar next = y_j[i - 1];
      if (adjacent)
        next -= Scalar(values[end - 1]) * y_i;
      for (Offset e = end - (adjacent ? 2 : 1); e >= begin; --e)
        y_j[columns[e]] -= Scalar(values[e]) * y_i;
      y_j[i - 1] = y_i = next;
    }
  }

  /// Sums of a block row of known size are kept in registers.
  KOKKOS_INLINE_FUNCTION void down(Ordinal i, const Scalar* x_j, Scalar* t_j, Scalar* y_j) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const Offset begin = factor.matrix.graph.row_map(i), end = factor.matrix.graph.row_map(i + 1);
    const Ordinal* const columns = factor.matrix.graph.entries.data();
    const Stored* const values = factor.matrix.values.data();
    const Offset first = Offset(i) * bs;
    Scalar registers[BS > 0 ? BS : 1];
    Scalar* const sums = BS > 0 ? registers : t_j + first;
    prefetchRow(columns, values, begin, end, bs * bs);
    for (int r = 0; r < bs; ++r)
      sums[r] = x_j[first + r];
    for (Offset e = begin; e < end; ++e) {
      const Stored* const block = values + e * bs * bs;
      const Scalar* const t_k = t_j + Offset(columns[e]) * bs;
      for (int r = 0; r < bs; ++r)
        sums[r] -= dot<BS>(block + r * bs, t_k, bs);
    }
    for (int r = 0; r < bs; ++r)
      t_j[first + r] = sums[r];
    for (int r = 0; r < bs; ++r)
      y_j[first + r] = dot<BS>(d_inverse.data() + (first + r) * bs, sums, bs);
  }

  KOKKOS_INLINE_FUNCTION void up(Ordinal i, Scalar* y_j) const {
    const int bs = BS > 0 ? BS : factor.matrix.block_size;
    const Offset begin = factor.matrix.graph.row_map(i), end = factor.matrix.graph.row_map(i + 1);
    const Ordinal* const columns = factor.matrix.graph.entries.data();
    const Stored* const values = factor.matrix.values.data();
    Scalar registers[BS > 0 ? BS : 1];
    const Scalar* y_i = y_j + Offset(i) * bs;
    if constexpr (BS > 0) {
      for (int r = 0; r < BS; ++r)
        registers[r] = y_i[r];
      y_i = registers;
    }
    prefetchRow(columns, values, begin, end, bs * bs, -prefetch_distance);
    for (Offset e = end - 1; e >= begin; --e) {
      const Stored* const block = values + e * bs * bs;
      Scalar* const y_k = y_j + Offset(columns[e]) * bs;
      if constexpr (BS > 0) {
        Scalar sums[BS];
        for (int c = 0; c < BS; ++c)
          sums[c] = Scalar(block[c]) * y_i[0];
        for (int r = 1; r < BS; ++r)
          for (int c = 0; c < BS; ++c)
            sums[c] += Scalar(block[r * BS + c]) * y_i[r];
        for (int c = 0; c < BS; ++c)
          y_k[c] -= sums[c];
      } else {
        for (int r = 0; r < bs; ++r)
          for (int c = 0; c < bs; ++c)
            y_k[c] -= Scalar(block[r * bs + c]) * y_i[r];
      }
    }
  }
};

} // namespace detail
} // namespace ainvil
