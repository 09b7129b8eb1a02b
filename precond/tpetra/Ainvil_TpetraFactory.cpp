// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_TpetraFactory_impl.hpp"

#include <Tpetra_BlockCrsMatrix.hpp>

namespace ainvil {
namespace tpetra {

#define AINVIL_INSTANTIATE(MATRIX)                                                                 \
  template Teuchos::RCP<Ifpack2::Preconditioner<>> create<MATRIX>(                                 \
      const std::string&, const Teuchos::RCP<const MATRIX>&);
AINVIL_INSTANTIATE(Tpetra::RowMatrix<>)
AINVIL_INSTANTIATE(Tpetra::CrsMatrix<>)
AINVIL_INSTANTIATE(Tpetra::BlockCrsMatrix<>)

} // namespace tpetra
} // namespace ainvil
