// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_StratimikosSolver_impl.hpp"

namespace ainvil {
namespace tpetra {

template void
enableStratimikosSolver<Tpetra::RowMatrix<>>(Stratimikos::DefaultLinearSolverBuilder&);

} // namespace tpetra
} // namespace ainvil
