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
/// Tpetra::RowMatrix. The sublist "Preconditioner Types" > "Ainvil" has the parameters of
/// ListedPreconditioner (Ainvil_TpetraListed.hpp). They are checked, by what create() and
/// setParameters() throw, when a preconditioner is made.
///
/// A preconditioner that is there already is kept as ListedPreconditioner::update() does. A pattern
/// that a method takes from values ("fsai: threshold") remains that of the values at initialize().
///
/// MatrixType is a Tpetra::RowMatrix of double; for other types than Tpetra's defaults include
/// Ainvil_Stratimikos_impl.hpp.
template <class MatrixType = Tpetra::RowMatrix<>>
void enableStratimikos(Stratimikos::DefaultLinearSolverBuilder& builder);

} // namespace tpetra
} // namespace ainvil
