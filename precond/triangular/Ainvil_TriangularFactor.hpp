// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A triangular factor: what factorisations produce and triangular strategies apply the inverse of.

#include "Ainvil_BsrMatrix.hpp"
#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Prefetch.hpp"

#include <memory>

namespace ainvil {

template <class Device>
struct RowOrder;

namespace detail {

/// First and one past the last block of a row of a triangular factor, its diagonal block left out.
template <class Factor>
KOKKOS_INLINE_FUNCTION Kokkos::pair<Offset, Offset> offDiagonal(const Factor& t, Ordinal row) {
  const auto& row_map = t.matrix.graph.row_map;
  return {row_map(row) + (!t.unit && t.uplo == Uplo::Upper ? 1 : 0),
          row_map(row + 1) - (!t.unit && t.uplo == Uplo::Lower ? 1 : 0)};
}

} // namespace detail

/// A triangular matrix T = D + S in the two shapes this library knows:
/// unit, D = I: `matrix` holds S only and `diagonal_inverse` is empty;
/// general: `matrix` holds S and the diagonal blocks, `diagonal_inverse` the n inverses D_i^-1.
/// Rows are sorted, so the diagonal block of a lower row comes last, that of an upper one first.
template <class Scalar, class Device>
struct TriangularFactor {
  BsrMatrix<Scalar, Device> matrix;               ///< S, or T
  Kokkos::View<Scalar*, Device> diagonal_inverse; ///< n * block_size^2
  Uplo uplo = Uplo::Lower;                        ///< the triangle that T is
  bool unit = false;                              ///< D = I
  /// Modulus of the largest value of `matrix` over what it is compared with, see detail::Growth,
  /// and the first block row that has it; -1 where compute() has not found them.
  double growth = -1;
  Ordinal growth_row = -1; ///< see there
  /// Of the rows of `matrix`, where the factorisation has found it: see OrderedRows.
  std::shared_ptr<const RowOrder<Device>> order;

  /// First and one past the last block of a row that is not its diagonal block.
  KOKKOS_INLINE_FUNCTION Kokkos::pair<Offset, Offset> offDiagonal(Ordinal row) const {
    return detail::offDiagonal(*this, row);
  }
};

namespace detail {

/// A triangular factor in a kernel.
template <class Scalar>
struct KernelTriangle {
  KernelMatrix<Scalar> matrix;
  KernelArray<Scalar> diagonal_inverse;
  Uplo uplo = Uplo::Lower;
  bool unit = false;

  /// Of a TriangularFactor.
  template <class Device>
  KernelTriangle(const TriangularFactor<Scalar, Device>& factor)
      : matrix(factor.matrix), diagonal_inverse(factor.diagonal_inverse), uplo(factor.uplo),
        unit(factor.unit) {}

  /// As in TriangularFactor.
  KOKKOS_INLINE_FUNCTION Kokkos::pair<Offset, Offset> offDiagonal(Ordinal row) const {
    return detail::offDiagonal(*this, row);
  }

  /// On a host: how many rows, about, are prefetch_distance bytes of values.
  Ordinal rowsAhead() const {
    const Ordinal rows = matrix.graph.num_rows;
    const double scalars =
        double(matrix.graph.row_map(rows)) * matrix.block_size * matrix.block_size;
    return static_cast<Ordinal>(1 +
                                double(prefetch_distance) * rows / (1 + scalars * sizeof(Scalar)));
  }
  /// On a host: asks its caches for a row, -1 for none.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(Ordinal row) const {
    if (row < 0)
      return;
    const int bs2 = matrix.block_size * matrix.block_size;
    prefetchRow(matrix.graph.entries.data(), matrix.values.data(), matrix.graph.row_map(row),
                matrix.graph.row_map(row + 1), bs2, 0);
    if (!unit)
      detail::prefetch(diagonal_inverse.data() + Offset(row) * bs2, bs2 * Offset(sizeof(Scalar)),
                       0);
  }
};

} // namespace detail
} // namespace ainvil
