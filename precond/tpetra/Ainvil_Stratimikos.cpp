// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Stratimikos_impl.hpp"

namespace ainvil {
namespace tpetra {

template void enableStratimikos<Tpetra::RowMatrix<>>(Stratimikos::DefaultLinearSolverBuilder&);

} // namespace tpetra
} // namespace ainvil
