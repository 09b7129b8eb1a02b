// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// The adapters for Tpetra's default types.

#include "Ainvil_TpetraBlockJacobi_impl.hpp"
#include "Ainvil_TpetraDistributedFsai_impl.hpp"
#include "Ainvil_TpetraSchwarz_impl.hpp"

namespace ainvil {
namespace tpetra {

template class Preconditioner<Tpetra::RowMatrix<>>;
template class BlockJacobi<Tpetra::RowMatrix<>>;
template class DistributedFsai<Tpetra::RowMatrix<>>;
template class Schwarz<Tpetra::RowMatrix<>>;

} // namespace tpetra
} // namespace ainvil
