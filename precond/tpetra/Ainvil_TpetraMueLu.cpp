// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_TpetraMueLu_impl.hpp"

namespace ainvil {
namespace tpetra {

template class ListedPreconditioner<Tpetra::RowMatrix<>>;
template class SmootherSolver<
    Tpetra::Operator<>::scalar_type, Tpetra::Operator<>::local_ordinal_type,
    Tpetra::Operator<>::global_ordinal_type, Tpetra::Operator<>::node_type>;
template void registerMueLuSmoother<>();

} // namespace tpetra
} // namespace ainvil
