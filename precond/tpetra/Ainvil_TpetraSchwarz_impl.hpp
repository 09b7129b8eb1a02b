// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraSchwarz.hpp.

#include "Ainvil_TpetraBlockJacobi_impl.hpp"
#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraSchwarz.hpp"

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

template <class MatrixType>
void Schwarz<MatrixType>::setParameters(const Teuchos::ParameterList& list) {
  const std::string name = detail::innerName(list);
  if (!isOwnName(name)) {
    Base::setParameters(list);
    if (!name.empty())
      inner_ = Teuchos::null;
    return;
  }
  const auto inner =
      Teuchos::rcp(new BlockJacobi<MatrixType>(Teuchos::null, localSpecification(name)));
  inner->setParameters(detail::innerParameters(list));
  Teuchos::ParameterList others(list);
  for (const std::string& inner_name : detail::innerNames()) {
    others.remove(inner_name + " name", false);
    others.remove(inner_name + " parameters", false);
  }
  Base::setParameters(others);
  inner_ = inner;
  this->setInnerPreconditioner(inner_);
}

template <class MatrixType>
void Schwarz<MatrixType>::initialize() {
  TEUCHOS_TEST_FOR_EXCEPTION(this->getMatrix().is_null(), std::runtime_error,
                             "ainvil schwarz: there is no matrix: call setMatrix with one first.");
  onAllRanks(*this->getMatrix()->getComm(), [&] { Base::initialize(); });
  rows_are_new_ = true;
}

/// Ifpack2 imports the rows of other ranks in initialize() alone.
template <class MatrixType>
void Schwarz<MatrixType>::compute() {
  if (!this->isInitialized())
    initialize();
  const auto comm = this->getMatrix()->getComm();
  if (!rows_are_new_ && this->getOverlapLevel() > 0 && comm->getSize() > 1)
    initialize();
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
