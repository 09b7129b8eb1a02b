// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Ifpack2's additive Schwarz with Ainvil's methods inside.

#include "Ainvil_TpetraOwnOperator.hpp"
#include "Ainvil_TpetraPreconditioner.hpp"

#include <Ifpack2_AdditiveSchwarz.hpp>
#include <Tpetra_CrsMatrix.hpp>
#include <Tpetra_Import.hpp>

namespace ainvil {
namespace tpetra {

/// Ifpack2::AdditiveSchwarz, whose parameters may also name a preconditioner of ours, with that
/// one's parameters, for the rows of a rank and those it shares:
///   "schwarz: inner preconditioner name", "schwarz: inner preconditioner parameters"
/// (or "schwarz: subdomain solver name" and "... parameters"). All other parameters, and all other
/// names, are Ifpack2's. "Allow Varying" of the list is for the inner preconditioner, also for one
/// that a later list names. What else is different: where there is a matrix setParameters(),
/// initialize() and compute() throw on all ranks if they fail on one, and refuse different inner
/// preconditioners or overlaps on different ranks; compute() called again takes the shared rows'
/// values of now, which it imports into the rows that initialize() has made (with a preconditioner
/// or a filter of Ifpack2's inside it is another initialize()); apply() takes any alpha and beta,
/// but no transposition, which Ifpack2 would ignore. MatrixType is a Tpetra::RowMatrix, the matrix
/// itself a CrsMatrix.
template <class MatrixType>
class Schwarz final : public Ifpack2::AdditiveSchwarz<MatrixType>, public OwnOperator {
public:
  using Base = Ifpack2::AdditiveSchwarz<MatrixType>;
  using scalar_type = typename MatrixType::scalar_type;
  using multivector_type =
      Tpetra::MultiVector<scalar_type, typename MatrixType::local_ordinal_type,
                          typename MatrixType::global_ordinal_type, typename MatrixType::node_type>;

  /// `a` may be null: setMatrix gives one later.
  explicit Schwarz(const Teuchos::RCP<const MatrixType>& a) : Base(a) {}

  /// In addition to those before; a name makes the inner preconditioner anew. Collective where
  /// there is a matrix. \throws as setParameters() of the inner preconditioner, or of Ifpack2
  void setParameters(const Teuchos::ParameterList& list) override;
  void initialize() override; ///< collective, also in what it throws
  void compute() override;    ///< collective, also in what it throws
  /// Y = beta Y + alpha M^-1 X; beta = 0 overwrites Y. \throws std::runtime_error for a transposed
  /// M
  void apply(const multivector_type& x, multivector_type& y,
             Teuchos::ETransp mode = Teuchos::NO_TRANS, scalar_type alpha = 1,
             scalar_type beta = 0) const override;

  bool isFixed() const override { return inner_.is_null() || inner_->isFixed(); }

private:
  using crs_matrix_type =
      Tpetra::CrsMatrix<scalar_type, typename MatrixType::local_ordinal_type,
                        typename MatrixType::global_ordinal_type, typename MatrixType::node_type>;
  using import_type =
      Tpetra::Import<typename MatrixType::local_ordinal_type,
                     typename MatrixType::global_ordinal_type, typename MatrixType::node_type>;

  /// The rows of other ranks that initialize() has imported, null where they cannot be got at.
  Teuchos::RCP<crs_matrix_type> sharedRows() const;
  /// Takes their values of now. \throws what Tpetra throws
  void importValues(crs_matrix_type& shared);

  Teuchos::RCP<Preconditioner<MatrixType>> inner_; ///< null if it is Ifpack2's
  Teuchos::ParameterList varying_;                 ///< "Allow Varying" if it was given
  Teuchos::RCP<const import_type> importer_;       ///< of the shared rows; made when needed
  Teuchos::RCP<crs_matrix_type> imported_;         ///< where it imports to, of the same graph
  bool rows_are_new_ = false;                      ///< initialize() has just imported them
};

} // namespace tpetra
} // namespace ainvil
