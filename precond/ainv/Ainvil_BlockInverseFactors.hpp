// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Inverse factors by incomplete (bi)conjugation of block columns, one after the other, on the
/// host.

#include "ainv/Ainvil_InverseFactors.hpp"

#include <vector>

namespace ainvil {
namespace detail {

/// Block columns of an inverse factor, in the order in which they were computed.
template <class Scalar>
struct BlockColumns {
  std::vector<Offset> begins;  ///< of column j among the blocks; one more than there are columns
  std::vector<Ordinal> rows;   ///< ascending in a column
  std::vector<Scalar> values;  ///< row-major blocks
  std::vector<Offset> in_row;  ///< the last block in a row, -1 if there is none
  std::vector<Offset> before;  ///< the block before it in the same row, -1 if it is the first
  std::vector<Ordinal> column; ///< of every block

  /// No columns, of n rows.
  void clear(Ordinal n);
  /// f(i) for the columns i > last with a block in that row, descending.
  template <class F>
  void forColumnsOf(Ordinal row, Ordinal last, const F& f) const {
    for (Offset e = in_row[row]; e >= 0 && column[e] > last; e = before[e])
      f(column[e]);
  }
};

/// Z, W and D of Ainv in blocks of b x b, for a matrix in its elimination order: with B = A, X = Z,
/// Y = W, and with B = A^T, X = W, Y = Z; Z alone, X = Y = Z, if A is symmetric,
///
///     X_j = E_j
///     for i = 1 .. j - 1:   P_ij = Y_i^T B X_j   (AINV: B_i^T X_j, B_i^T being block row i of B)
///                           X_j -= X_i D_i^-1 P_ij   (of W: D_i^-T)
///                           blocks of norm ||X_kj|| < drop, k != j, are dropped
///     D_j = W_j^T A Z_j                           (AINV: A_j^T Z_j)
///
/// The norm is ||X_kj||_F / sqrt(b), |x| for x I: blocks that are multiples of the identity are
/// dropped as scalars are. With DropRule::Relative it is that of the block whose entries x_rc are
/// taken times sqrt(|a_rr / a_cc|), of the diagonal entries of A in their point row and column (1
/// where one is 0): as if A had been scaled to a unit diagonal. max_column counts blocks; those of
/// largest norm, not scaled, are kept. If A is symmetric, D_j is the symmetric part of what the
/// formula gives.
///
/// Left-looking: X_j and V = B X_j grow in dense arrays, and where V gets a block in a new row l,
/// the columns i of Y with a block in row l (AINV: l itself) join the heap of those that are to be
/// visited, in ascending order. A block of size 1 makes the scalar algorithm of InverseFactors.
///
/// A D_j that is not positive definite (singular to rounding, if not symmetric) is counted and
/// replaced as PivotInversion says, under `fail` the columns end with it. If A is symmetric, what
/// replaces it is positive definite: the block of a shift where that is, else largest entry x I.
/// One thread. Cost: 2 b^3 for every block that an X_i, a Y_i or a column of B adds to another.
/// Source: Benzi, Kouhia, Tuma, Stabilized and block approximate inverse preconditioners for
/// problems in solid and structural mechanics (2001), for SPD matrices.
template <class Scalar>
class BlockInverseFactors {
public:
  using Matrix = BsrMatrix<Scalar, HostDevice>;

  BlockInverseFactors() = default;
  explicit BlockInverseFactors(const InverseFactorsParameters& parameters)
      : parameters_(parameters) {}

  /// For a matrix with sorted rows and its transpose, or itself twice if symmetric.
  void compute(const Matrix& a, const Matrix& transposed, const ColumnProgress& progress = {});

  const BlockColumns<Scalar>& z() const { return columns_[0]; }
  const BlockColumns<Scalar>& w() const { return columns_[parameters_.symmetric ? 0 : 1]; }
  const std::vector<Scalar>& pivots() const { return pivots_; }     ///< D, replaced blocks included
  const std::vector<Scalar>& inverses() const { return inverses_; } ///< D^-1
  const InverseFactorsResult& result() const { return result_; }    ///< of the last compute()

private:
  template <int BS, class S>
  friend class BlockConjugation;

  InverseFactorsParameters parameters_;
  BlockColumns<Scalar> columns_[2];
  std::vector<Scalar> pivots_, inverses_;
  InverseFactorsResult result_;
};

} // namespace detail
} // namespace ainvil
