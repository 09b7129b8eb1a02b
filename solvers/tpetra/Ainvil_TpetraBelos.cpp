// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// The solvers under Belos for Tpetra's default types.

#include "Ainvil_TpetraBelos_impl.hpp"

namespace ainvil {
namespace tpetra {

template class BelosSolver<Tpetra::Operator<>::scalar_type, Tpetra::Operator<>::local_ordinal_type,
                           Tpetra::Operator<>::global_ordinal_type, Tpetra::Operator<>::node_type>;
template void registerBelosSolvers<>();

} // namespace tpetra
} // namespace ainvil
