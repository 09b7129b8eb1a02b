// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// The solvers over ranks for Tpetra's default types.

#include "Ainvil_TpetraSolver_impl.hpp"

namespace ainvil {
namespace tpetra {

template class BlockOperator<Tpetra::RowMatrix<>>;
template class Solver<>;

} // namespace tpetra
} // namespace ainvil
