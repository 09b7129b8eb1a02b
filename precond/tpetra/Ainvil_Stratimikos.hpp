// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Ainvil among the preconditioners of Stratimikos.
///
/// Compiled and installed only where CMake finds a Trilinos with Stratimikos and Thyra's adapters
/// for Tpetra (packages Stratimikos and ThyraTpetraAdapters).

#include <Tpetra_RowMatrix.hpp>

namespace Stratimikos {
class DefaultLinearSolverBuilder;
}

namespace ainvil {
namespace tpetra {

/// Makes "Preconditioner Type" = "Ainvil" known to the builder, for operators that wrap a
/// Tpetra::RowMatrix. What it reads in the sublist "Preconditioner Types" > "Ainvil":
///   "Prec Type":      a name for ainvil::tpetra::create(), Ifpack2's included; "ilu" by default
///   "Prec Settings":  a sublist, for setParameters() of that preconditioner
///   "Allow Varying":  true if the solver is a flexible one, as asynchronous sweeps demand; by
///                     default false, and these are refused
/// These are checked, by what create() and setParameters() throw, when a preconditioner is made.
///
/// A preconditioner that is there already is computed again, but not initialized, if parameters and
/// graph are the same: for new values in the same matrix, and for another CrsMatrix or
/// BlockCrsMatrix with the same CrsGraph. A matrix to which entries have been added is initialized
/// again. A pattern that a method takes from values ("fsai: threshold") remains that of the values
/// at initialize().
///
/// MatrixType is a Tpetra::RowMatrix of double; for other types than Tpetra's defaults include
/// Ainvil_Stratimikos_impl.hpp.
template <class MatrixType = Tpetra::RowMatrix<>>
void enableStratimikos(Stratimikos::DefaultLinearSolverBuilder& builder);

} // namespace tpetra
} // namespace ainvil
