// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to IsaiTriangularSolver: patterns whose rows grow where their residuals are large.

#include "backend/Ainvil_KernelArrays.hpp"
#include "graph/Ainvil_CollectRows.hpp"
#include "graph/Ainvil_CountRows.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "triangular/Ainvil_TriangularFactor.hpp"

namespace ainvil {
namespace detail {

/// Marks row i of M, on the pattern J, if
///   sum over l in J, (l, k) in T with k not in J, of ||M_il T_lk||_F / sqrt(bs) > eps,
/// which bounds the residual (M T - I)_i: inside of J it is zero. Lanes share the l.
template <class Stored, class Scalar, class Device>
struct MarkLargeResidual {
  KernelTriangle<Scalar> factor;
  KernelGraph pattern;
  KernelArray<const Stored> values;
  KernelArray<int> marks;
  Scalar eps;

  /// ||M_il T_lk||_F^2; M_il = I if `m` is null.
  KOKKOS_INLINE_FUNCTION Scalar squareOfProduct(const Stored* m, const Scalar* t, int bs) const {
    Scalar squares = 0;
    for (int r = 0; r < bs; ++r)
      for (int c = 0; c < bs; ++c) {
        Scalar sum = m == nullptr ? t[r * bs + c] : Scalar(0);
        for (int k = 0; m != nullptr && k < bs; ++k)
          sum += Scalar(m[r * bs + k]) * t[k * bs + c];
        squares += sum * sum;
      }
    return squares;
  }

  /// Of the products with row l of T whose columns row i of M lacks.
  KOKKOS_INLINE_FUNCTION Scalar outside(Ordinal i, Ordinal l, const Stored* m) const {
    const int bs = factor.matrix.block_size;
    const auto& graph = factor.matrix.graph;
    const auto range = factor.offDiagonal(l);
    Scalar sum = 0;
    for (Offset e = range.first; e < range.second; ++e)
      if (findEntry(pattern.entries, pattern.row_map(i), pattern.row_map(i + 1), graph.entries(e)) <
          0)
        sum += compat::math::sqrt(
            squareOfProduct(m, factor.matrix.values.data() + e * bs * bs, bs) / bs);
    return sum;
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal i, void*) const {
    const int bs2 = factor.matrix.block_size * factor.matrix.block_size;
    const Offset begin = pattern.row_map(i);
    const int length = static_cast<int>(pattern.row_map(i + 1) - begin);
    Scalar residual = 0;
    // The diagonal block of a unit factor, which is not stored, is the last of them.
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, length + (factor.unit ? 1 : 0)),
        [&](const int p, Scalar& sum) {
          sum += p == length
                     ? outside(i, i, nullptr)
                     : outside(i, pattern.entries(begin + p), values.data() + (begin + p) * bs2);
        },
        residual);
    Kokkos::single(Kokkos::PerThread(member), [&]() { marks(i) = residual > eps ? 1 : 0; });
    joinLanes(member);
  }
};

/// The lists that make row i of a pattern with columns J: J and, if the row is marked, row l of T
/// for each l in J. Positions in T follow those in the pattern.
struct GrownLists {
  KernelGraph pattern;
  Offset own; ///< its entries
  KernelGraph factor;
  KernelArray<const int> marks;

  KOKKOS_FUNCTION Ordinal count(Ordinal row) const {
    return 1 + (marks(row) != 0
                    ? static_cast<Ordinal>(pattern.row_map(row + 1) - pattern.row_map(row))
                    : 0);
  }
  KOKKOS_FUNCTION Offset begin(Ordinal row, Ordinal k) const {
    return k == 0 ? pattern.row_map(row) : own + factor.row_map(factorRow(row, k));
  }
  KOKKOS_FUNCTION Ordinal length(Ordinal row, Ordinal k) const {
    const KernelGraph& graph = k == 0 ? pattern : factor;
    const Ordinal j = k == 0 ? row : factorRow(row, k);
    return static_cast<Ordinal>(graph.row_map(j + 1) - graph.row_map(j));
  }
  KOKKOS_FUNCTION Ordinal at(Offset position) const {
    return position < own ? pattern.entries(position) : factor.entries(position - own);
  }
  KOKKOS_FUNCTION Ordinal factorRow(Ordinal row, Ordinal k) const {
    return pattern.entries(pattern.row_map(row) + k - 1);
  }
};

/// The pattern whose marked rows have that of the next power, M T; the others stay. Waits.
template <class Device>
Graph<Device> grownPattern(const typename Device::execution_space& exec,
                           const Graph<Device>& pattern, const Graph<Device>& factor,
                           const Kokkos::View<int*, Device>& marks) {
  return unionOfSortedLists<Device>(exec, "Ainvil::Isai[grow]", pattern.num_rows, pattern.num_cols,
                                    GrownLists{pattern, pattern.numEntries(), factor, marks},
                                    pattern.meanRowLength() * (1 + factor.meanRowLength()));
}

} // namespace detail
} // namespace ainvil
