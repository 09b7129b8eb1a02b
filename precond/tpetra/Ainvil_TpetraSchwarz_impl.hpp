// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraSchwarz.hpp.

#include "Ainvil_TpetraBlockJacobi_impl.hpp"
#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraSchwarz.hpp"

#include <Ifpack2_LocalFilter.hpp>
#include <Ifpack2_OverlappingRowMatrix.hpp>

namespace ainvil {
namespace tpetra {
namespace detail {

/// What Ifpack2 calls the inner preconditioner, in the order in which it looks for it; followed by
/// " name" and " parameters".
inline const std::vector<std::string>& innerNames() {
  static const std::vector<std::string> names = {"inner preconditioner", "subdomain solver",
                                                 "schwarz: inner preconditioner",
                                                 "schwarz: subdomain solver"};
  return names;
}

/// Empty if the list has none.
inline std::string innerName(const Teuchos::ParameterList& list) {
  for (const std::string& name : innerNames())
    if (list.isType<std::string>(name + " name"))
      return list.get<std::string>(name + " name");
  return "";
}

inline const Teuchos::ParameterList& innerParameters(const Teuchos::ParameterList& list) {
  static const Teuchos::ParameterList none;
  for (const std::string& name : innerNames())
    if (list.isSublist(name + " parameters"))
      return list.sublist(name + " parameters");
  return none;
}

} // namespace detail

/// Parameters of ours are looked at before anything changes. Ifpack2 changes as it goes, so what it
/// refuses may leave a preconditioner that must be given its parameters anew.
template <class MatrixType>
void Schwarz<MatrixType>::setParameters(const Teuchos::ParameterList& list) {
  const auto a = this->getMatrix();
  const auto together = [&](const auto& work) {
    if (a.is_null())
      work();
    else
      onAllRanks(*a->getComm(), work);
  };
  const std::string name = detail::innerName(list);
  Teuchos::ParameterList others(list), for_inner(varying_);
  Teuchos::RCP<Preconditioner<MatrixType>> inner;
  together([&] {
    if (list.isParameter(allow_varying)) { // Ifpack2 does not know it
      TEUCHOS_TEST_FOR_EXCEPTION(
          !list.isType<bool>(allow_varying), Teuchos::Exceptions::InvalidParameterType,
          "ainvil schwarz: the parameter \"" << allow_varying << "\" must be a bool.");
      for_inner.set(allow_varying, list.get<bool>(allow_varying));
      others.remove(allow_varying);
    }
    if (!isOwnName(name))
      return;
    inner = Teuchos::rcp(new BlockJacobi<MatrixType>(Teuchos::null, localSpecification(name)));
    inner->setParameters(detail::innerParameters(list));
    inner->setParameters(for_inner);
    for (const std::string& inner_name : detail::innerNames()) {
      others.remove(inner_name + " name", false);
      others.remove(inner_name + " parameters", false);
    }
  });
  if (!a.is_null()) {
    ParameterChoice named;
    named.specification = name;
    named.may_vary = for_inner.get(allow_varying, false);
    requireSame(*a->getComm(), "the inner preconditioner",
                textOf(inner.is_null() ? named : inner->choice()));
  }
  together([&] { Base::setParameters(others); });
  varying_ = for_inner;
  if (!inner.is_null()) {
    inner_ = inner;
    this->setInnerPreconditioner(inner_);
  } else if (!name.empty()) {
    inner_ = Teuchos::null;
  } else if (!inner_.is_null()) {
    inner_->setParameters(for_inner);
  }
}

template <class MatrixType>
void Schwarz<MatrixType>::initialize() {
  TEUCHOS_TEST_FOR_EXCEPTION(this->getMatrix().is_null(), std::runtime_error,
                             "ainvil schwarz: there is no matrix: call setMatrix with one first.");
  const auto comm = this->getMatrix()->getComm();
  // Chosen before there was a matrix, perhaps.
  requireSame(*comm, "the preconditioner",
              message("'schwarz' with overlap ", this->getOverlapLevel(), " around ",
                      inner_.is_null() ? "one of Ifpack2's" : textOf(inner_->choice())));
  importer_ = Teuchos::null;
  imported_ = Teuchos::null;
  onAllRanks(*comm, [&] { Base::initialize(); });
  rows_are_new_ = true;
}

/// Ifpack2 keeps them inside of the matrix that it gives to the inner preconditioner.
template <class MatrixType>
Teuchos::RCP<typename Schwarz<MatrixType>::crs_matrix_type>
Schwarz<MatrixType>::sharedRows() const {
  using Rows =
      Tpetra::RowMatrix<scalar_type, typename MatrixType::local_ordinal_type,
                        typename MatrixType::global_ordinal_type, typename MatrixType::node_type>;
  if (inner_.is_null())
    return Teuchos::null;
  const auto local =
      Teuchos::rcp_dynamic_cast<const Ifpack2::LocalFilter<Rows>>(inner_->getMatrix());
  if (local.is_null())
    return Teuchos::null;
  const auto overlapping = Teuchos::rcp_dynamic_cast<const Ifpack2::OverlappingRowMatrix<Rows>>(
      local->getUnderlyingMatrix());
  if (overlapping.is_null())
    return Teuchos::null;
  return Teuchos::rcp_const_cast<crs_matrix_type>(
      Teuchos::rcp_dynamic_cast<const crs_matrix_type>(overlapping->getExtMatrix()));
}

template <class MatrixType>
void Schwarz<MatrixType>::importValues(crs_matrix_type& shared) {
  const auto& a = dynamic_cast<const crs_matrix_type&>(*this->getMatrix());
  if (importer_.is_null()) {
    importer_ = Teuchos::rcp(new import_type(a.getRowMap(), shared.getRowMap()));
    imported_ = Teuchos::rcp(new crs_matrix_type(shared.getCrsGraph()));
  } else {
    imported_->resumeFill();
  }
  // Tpetra replaces values by import in a matrix that does not own its graph only.
  imported_->doImport(a, *importer_, Tpetra::REPLACE);
  imported_->fillComplete(shared.getDomainMap(), shared.getRangeMap());
  Kokkos::deep_copy(shared.getLocalMatrixDevice().values, imported_->getLocalMatrixDevice().values);
}

/// Ifpack2 imports the rows of other ranks in initialize() alone.
template <class MatrixType>
void Schwarz<MatrixType>::compute() {
  if (!this->isInitialized())
    initialize();
  const auto comm = this->getMatrix()->getComm();
  if (!rows_are_new_ && this->getOverlapLevel() > 0 && comm->getSize() > 1) {
    const auto shared = sharedRows();
    if (shared.is_null())
      initialize();
    else
      onAllRanks(*comm, [&] { importValues(*shared); });
  }
  onAllRanks(*comm, [&] { Base::compute(); });
  rows_are_new_ = false;
}

template <class MatrixType>
void Schwarz<MatrixType>::apply(const multivector_type& x, multivector_type& y,
                                Teuchos::ETransp mode, scalar_type alpha, scalar_type beta) const {
  TEUCHOS_TEST_FOR_EXCEPTION(mode != Teuchos::NO_TRANS, std::runtime_error,
                             "ainvil schwarz: the transposed cannot be applied.");
  if (alpha == scalar_type(1) && beta == scalar_type(0)) {
    Base::apply(x, y, mode, alpha, beta);
    return;
  }
  multivector_type z(y.getMap(), y.getNumVectors());
  Base::apply(x, z, mode);
  y.update(alpha, z, beta);
}

} // namespace tpetra
} // namespace ainvil
