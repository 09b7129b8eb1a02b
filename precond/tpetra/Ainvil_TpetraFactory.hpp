// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Ifpack2's preconditioners and Ainvil's by name.

#include "Ainvil_TpetraBlockJacobi.hpp"
#include "Ainvil_TpetraDistributedFsai.hpp"
#include "Ainvil_TpetraSchwarz.hpp"

namespace ainvil {
namespace tpetra {

/// In place of Ifpack2::Factory::create: the preconditioner of that name, not initialized.
///   "fsai":        over all ranks, DistributedFsai
///   "local-fsai":  fsai on the diagonal block of each rank, BlockJacobi
///   all others of createPreconditioner(), those that user code has registered included: likewise
///   "schwarz":     Ifpack2's, which knows the names above for its inner preconditioner too,
///   Schwarz
/// in capitals or not, ours optionally with parameters as ainvil-solve takes them ("ilu:solve=isai,
/// power=2"). All other names are Ifpack2's. Collective if there is a matrix. \throws
/// Teuchos::Exceptions::InvalidParameterValue for bad parameters; InvalidArgument if ranks have
/// different names; what Ifpack2 throws for names that it does not know either.
template <class MatrixType>
Teuchos::RCP<Ifpack2::Preconditioner<
    typename MatrixType::scalar_type, typename MatrixType::local_ordinal_type,
    typename MatrixType::global_ordinal_type, typename MatrixType::node_type>>
create(const std::string& name, const Teuchos::RCP<const MatrixType>& matrix);

/// The same for matrices that are not const.
template <template <class, class, class, class> class MatrixTemplate, class Scalar, class LO,
          class GO, class Node>
Teuchos::RCP<Ifpack2::Preconditioner<Scalar, LO, GO, Node>>
create(const std::string& name, const Teuchos::RCP<MatrixTemplate<Scalar, LO, GO, Node>>& matrix) {
  using Matrix = MatrixTemplate<Scalar, LO, GO, Node>;
  return create<Matrix>(name, Teuchos::RCP<const Matrix>(matrix));
}

} // namespace tpetra
} // namespace ainvil
