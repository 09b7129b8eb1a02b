// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraListed.hpp.

#include "Ainvil_TpetraFactory.hpp"
#include "Ainvil_TpetraListed.hpp"

#include <Teuchos_CommHelpers.hpp>
#include <Teuchos_ParameterListExceptions.hpp>

namespace ainvil {
namespace tpetra {
namespace detail {

constexpr const char* prec_type = "Prec Type";
constexpr const char* prec_settings = "Prec Settings";

} // namespace detail

template <class MatrixType>
void ListedPreconditioner<MatrixType>::addValidParameters(Teuchos::ParameterList& list) {
  list.set(detail::prec_type, std::string("ilu"), "Name of a preconditioner of Ainvil or Ifpack2.");
  list.sublist(detail::prec_settings, false, "Its parameters.").disableRecursiveValidation();
  list.set(allow_varying, false,
           "The solver takes a preconditioner that is not the same at every application.");
}

template <class MatrixType>
void ListedPreconditioner<MatrixType>::update(const Teuchos::RCP<const MatrixType>& matrix,
                                              const Teuchos::ParameterList& parameters) {
  if (preconditioner_.is_null() || !Teuchos::haveSameValues(parameters, parameters_) ||
      !take(matrix)) {
    const auto made = create(parameters.get<std::string>(detail::prec_type), matrix);
    made->setParameters(parameters.sublist(detail::prec_settings));
    passOn(parameters.get<bool>(allow_varying), *made);
    preconditioner_ = made;
    parameters_ = parameters;
  }
  if (!preconditioner_->isInitialized() || hasGrown(*matrix)) {
    preconditioner_->initialize();
    num_entries_ = compat::numLocalEntries(*matrix);
  }
  preconditioner_->compute();
}

/// False if the preconditioner there is cannot change its matrix.
template <class MatrixType>
bool ListedPreconditioner<MatrixType>::take(const Teuchos::RCP<const MatrixType>& matrix) {
  if (preconditioner_->getMatrix() == matrix)
    return true;
  auto* changing =
      dynamic_cast<Ifpack2::Details::CanChangeMatrix<MatrixType>*>(preconditioner_.get());
  if (changing != nullptr)
    changing->setMatrix(matrix);
  return changing != nullptr;
}

/// The solver is not known here, so that a preconditioner which only some solvers may use has to be
/// allowed by name: initialize() refuses it else.
template <class MatrixType>
void ListedPreconditioner<MatrixType>::passOn(bool may_vary, preconditioner_type& m) {
  const auto* own = dynamic_cast<const OwnOperator*>(&m);
  if (own == nullptr || own->isFixed() || !may_vary)
    return;
  Teuchos::ParameterList allowed;
  allowed.set(allow_varying, true);
  m.setParameters(allowed);
}

/// True if any rank has other entries than when the preconditioner was initialized.
template <class MatrixType>
bool ListedPreconditioner<MatrixType>::hasGrown(const MatrixType& matrix) const {
  return anyOnRanks(*matrix.getComm(), compat::numLocalEntries(matrix) != num_entries_);
}

} // namespace tpetra
} // namespace ainvil
