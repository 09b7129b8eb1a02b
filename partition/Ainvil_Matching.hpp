// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A permutation of the rows of a matrix that brings large entries to its diagonal, found on the
/// host. For a matrix on a device: copyTo<HostDevice> the matrix and copyArray<Device> the rows.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {

/// Pairs of block rows and block columns, and scalings that belong to them. Immutable and shared:
/// copies are shallow.
struct Matching {
  /// Block row of A that is paired with each block column: row k of P A is row row_of(k) of A. A
  /// permutation.
  Kokkos::View<const Ordinal*, HostDevice> row_of;
  /// r, one positive number a block row, all 1 where num_matched is less than the number of rows.
  Kokkos::View<const double*, HostDevice> row_scaling;
  /// c, likewise for block columns.
  Kokkos::View<const double*, HostDevice> column_scaling;
  Ordinal num_matched = 0;      ///< pairs with a weight other than zero
  Ordinal first_unmatched = -1; ///< the first block row that has no such pair, -1: all have one

  Ordinal numRows() const { return static_cast<Ordinal>(row_of.extent(0)); } ///< block rows
};

/// The pairs whose weights have the largest product, and scalings with which no weight is above 1
/// and that of each pair is 1, to rounding. The weight of an entry is its modulus: in R A C, with
/// its rows permuted, the diagonal holds entries of modulus 1 and nothing is larger. The weight of
/// a block is |det|^(1/block_size), the mean of its pivots: block rows are exchanged as a whole,
/// for diagonal blocks that can be inverted, and the pairs do not change when A is multiplied by
/// block-diagonal matrices from either side. A block whose determinant vanishes counts eps times
/// its largest entry, so that it is paired only where nothing else is left. Entries that are zero
/// count as not stored. Pairs on the diagonal of A are preferred among equals.
///
/// Where not all rows can be paired, A is structurally singular: no values of its entries make it
/// regular. The pairs are then as many as there can be, the other rows stay in their places as far
/// as these are free, and num_matched tells.
///
/// Serial and the same everywhere. Cost: passes over the entries, then searches over parts of the
/// matrix for the rows that the first of these leave without a pair: O(n (entries + n log n)) at
/// worst, in practice a few passes; for blocks their factorisations. Memory: 8 bytes an entry, and
/// about 60 a row and 16 an entry while searching. Source: Duff and Koster, On algorithms for
/// permuting large entries to the diagonal of a sparse matrix, SIAM J. Matrix Anal. Appl. 22
/// (2001), option 5 of the code MC64. \throws InvalidArgument if A is not square, not valid, see
/// validate(), or holds a value that is not finite; OutOfMemory.
template <class Scalar>
Matching maximumProductMatching(const BsrMatrix<Scalar, HostDevice>& a);

} // namespace ainvil
