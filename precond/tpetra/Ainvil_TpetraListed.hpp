// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A preconditioner that a parameter list names, for the frameworks that ask for one by a list.

#include "Ainvil_TpetraPreconditioner.hpp"

namespace ainvil {
namespace tpetra {

/// What create() makes of a list, kept while the list and the graph stay the same:
///   "Prec Type":      a name for create(), Ifpack2's included; "ilu" by default
///   "Prec Settings":  a sublist, for setParameters() of that preconditioner
///   "Allow Varying":  true if the solver is a flexible one, as asynchronous sweeps demand; by
///                     default false, and these are refused
/// MatrixType is a Tpetra::RowMatrix.
template <class MatrixType>
class ListedPreconditioner {
public:
  using preconditioner_type = Ifpack2::Preconditioner<
      typename MatrixType::scalar_type, typename MatrixType::local_ordinal_type,
      typename MatrixType::global_ordinal_type, typename MatrixType::node_type>;

  /// Adds the parameters above with their defaults.
  static void addValidParameters(Teuchos::ParameterList& list);

  /// Sets the preconditioner up for the matrix as it is now. It is computed, but not initialized,
  /// if it was made from the same parameters and the same graph: for new values in the same matrix,
  /// and for another CrsMatrix or BlockCrsMatrix with the same CrsGraph. A matrix to which entries
  /// have been added is initialized again. Collective. \throws what create() and setParameters()
  /// throw, and Teuchos::Exceptions::InvalidParameterValue where "Allow Varying" is missing
  void update(const Teuchos::RCP<const MatrixType>& matrix,
              const Teuchos::ParameterList& parameters);

  /// Null before update().
  const Teuchos::RCP<preconditioner_type>& get() const { return preconditioner_; }

private:
  bool take(const Teuchos::RCP<const MatrixType>& matrix);
  static void passOn(bool may_vary, preconditioner_type& m);
  bool hasGrown(const MatrixType& matrix) const;

  Teuchos::RCP<preconditioner_type> preconditioner_;
  Teuchos::ParameterList parameters_; ///< that it was made from
  size_t num_entries_ = 0;            ///< of this rank when it was initialized
};

} // namespace tpetra
} // namespace ainvil
