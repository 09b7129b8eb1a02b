// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraFactory.hpp.

#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraFactory.hpp"

#include <Ifpack2_Factory.hpp>

namespace ainvil {
namespace tpetra {

template <class MatrixType>
Teuchos::RCP<Ifpack2::Preconditioner<
    typename MatrixType::scalar_type, typename MatrixType::local_ordinal_type,
    typename MatrixType::global_ordinal_type, typename MatrixType::node_type>>
create(const std::string& name, const Teuchos::RCP<const MatrixType>& matrix) {
  using Rows =
      Tpetra::RowMatrix<typename MatrixType::scalar_type, typename MatrixType::local_ordinal_type,
                        typename MatrixType::global_ordinal_type, typename MatrixType::node_type>;
  const Teuchos::RCP<const Rows> rows = matrix;
  if (!rows.is_null())
    requireSame(*rows->getComm(), "the name of the preconditioner", "'" + name + "'");
  const std::string method = methodOf(name);
  if (method == "fsai")
    return Teuchos::rcp(new DistributedFsai<Rows>(rows, name));
  if (isOwnName(name))
    return Teuchos::rcp(new BlockJacobi<Rows>(rows, localSpecification(name)));
  if (method == "schwarz")
    return Teuchos::rcp(new Schwarz<Rows>(rows));
  return Ifpack2::Factory().create<Rows>(name, rows);
}

} // namespace tpetra
} // namespace ainvil
