// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Ainvil among the linear solvers of Stratimikos.
///
/// Compiled and installed only where CMake finds a Trilinos with Stratimikos and Thyra's adapters
/// for Tpetra (packages Stratimikos and ThyraTpetraAdapters).

#include <Tpetra_RowMatrix.hpp>

namespace Stratimikos {
class DefaultLinearSolverBuilder;
}

namespace ainvil {
namespace tpetra {

/// Makes "Linear Solver Type" = "Ainvil" known to the builder, for operators that wrap a
/// Tpetra::Operator, with any preconditioner of Stratimikos on Tpetra. (Its Belos has a closed list
/// of solvers, to which no name can be added.) What it reads in the sublist "Linear Solver Types" >
/// "Ainvil":
///   "Solver Type":      "GMRES" (default), "FGMRES", "CG" or "BICGSTAB"
///   "Solver Settings":  a sublist, parameters of BelosSolver
/// Solve criteria of the application (residual relative to the right-hand side or to the initial
/// residual, and a tolerance) win over the settings.
///
/// MatrixType is a Tpetra::RowMatrix of double; for other types than Tpetra's defaults include
/// Ainvil_StratimikosSolver_impl.hpp.
template <class MatrixType = Tpetra::RowMatrix<>>
void enableStratimikosSolver(Stratimikos::DefaultLinearSolverBuilder& builder);

} // namespace tpetra
} // namespace ainvil
