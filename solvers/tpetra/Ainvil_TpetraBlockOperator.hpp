// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A distributed matrix in Ainvil's block format.

#include "Ainvil_LinearOperator.hpp"
#include "Ainvil_TpetraHalo.hpp"
#include "Ainvil_TpetraLocalBlock.hpp"
#include "Ainvil_TpetraOwnOperator.hpp"

namespace ainvil {
namespace tpetra {

/// Products with a CrsMatrix or BlockCrsMatrix by Ainvil's kernels: the rows of a rank r are
///     A_rr x_r + H_r h_r
/// with its own unknowns x_r and those h_r of other ranks that its rows name. A_rr is in blocks of
/// the given size, as LocalBlock makes them, H_r in those of a BlockCrsMatrix or else in points,
/// and has only rows that are not empty. An Import of Tpetra fetches h_r, from the domain map to
/// one of these unknowns alone; its messages travel while A_rr x_r is computed.
///
/// Copies the graph; values are shared where a rank has all of its columns and no blocks are made
/// of points, else copied by update(). Shared ones are those of the array that the matrix had at
/// the last update(): call it where the matrix may have taken another. Several vectors are
/// multiplied in one pass over A_rr and H_r, and their h_r come in one message from each rank.
/// Workspace: the h_r of one vector and one product with H_r, and those of so many vectors for each
/// number of them that has been multiplied at a time. An object serves one product at a time.
/// Kernels run on the default instance, or the one given.
///
/// MatrixType is a Tpetra::RowMatrix, instantiated for Tpetra's default types; for others include
/// Ainvil_TpetraBlockOperator_impl.hpp.
template <class MatrixType>
class BlockOperator final
    : public Tpetra::Operator<
          typename MatrixType::scalar_type, typename MatrixType::local_ordinal_type,
          typename MatrixType::global_ordinal_type, typename MatrixType::node_type>,
      public OwnOperator {
public:
  using scalar_type = typename MatrixType::scalar_type;
  using local_ordinal_type = typename MatrixType::local_ordinal_type;
  using global_ordinal_type = typename MatrixType::global_ordinal_type;
  using node_type = typename MatrixType::node_type;
  using device_type = typename node_type::device_type;
  using execution_space = typename device_type::execution_space;
  using row_matrix_type =
      Tpetra::RowMatrix<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;
  using map_type = Tpetra::Map<local_ordinal_type, global_ordinal_type, node_type>;
  using multivector_type =
      Tpetra::MultiVector<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;
  using VectorIn = MultiVectorArg<const scalar_type, device_type>; ///< local rows of vectors
  using VectorOut = MultiVectorArg<scalar_type, device_type>;      ///< written to

  static_assert(std::is_same<MatrixType, row_matrix_type>::value,
                "the template argument must be a Tpetra::RowMatrix");

  /// Of the matrix as it is, which must be fill-complete, with its rows, domain and range spread in
  /// the same way. `block_size` of the points of a CrsMatrix must divide the rows of every rank; 0:
  /// the blocks of a BlockCrsMatrix, points of a CrsMatrix. Collective, as all calls here. \throws
  /// InvalidArgument on all ranks, also for other kinds of RowMatrix
  explicit BlockOperator(const Teuchos::RCP<const row_matrix_type>& a, int block_size = 0);

  /// Takes the values that the matrix has now; its graph must be that of the constructor's. No
  /// allocation. \throws InvalidArgument on all ranks
  void update();

  /// A, whose values are those of the last update() at the latest.
  const Teuchos::RCP<const row_matrix_type>& matrix() const { return matrix_; }

  /// That of A.
  Teuchos::RCP<const map_type> getDomainMap() const override { return matrix_->getDomainMap(); }
  /// That of A.
  Teuchos::RCP<const map_type> getRangeMap() const override { return matrix_->getRangeMap(); }
  bool hasTransposeApply() const override { return false; } ///< no solver needs it

  /// Y = beta Y + alpha A X, all columns together; beta = 0 overwrites Y, NaN included. X and Y
  /// must not overlap. Takes copies of those whose columns do not lie one behind the other. \throws
  /// std::runtime_error for another mode than NO_TRANS, or maps of another length
  void apply(const multivector_type& x, multivector_type& y,
             Teuchos::ETransp mode = Teuchos::NO_TRANS,
             scalar_type alpha = Teuchos::ScalarTraits<scalar_type>::one(),
             scalar_type beta = Teuchos::ScalarTraits<scalar_type>::zero()) const override;

  /// The same for the rows of this rank of multivectors; the columns of x lie one behind the other.
  void applyLocal(const execution_space& exec, VectorIn x, VectorOut y, scalar_type alpha = 1,
                  scalar_type beta = 0) const;

private:
  using Local = SparseOperator<scalar_type, device_type>;
  using Halo = tpetra::Halo<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;

  void takeValues(const execution_space& exec);

  Teuchos::RCP<const row_matrix_type> matrix_;
  LocalBlock<scalar_type, local_ordinal_type, global_ordinal_type, node_type> block_;
  Local local_;                                   ///< A_rr
  ainvil::detail::ProductPlan<device_type> plan_; ///< of products with A_rr
  Halo halo_;                                     ///< H_r and h_r
};

} // namespace tpetra
} // namespace ainvil
