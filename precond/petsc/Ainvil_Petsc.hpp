// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The preconditioner type "ainvil" of PETSc, for programs that link Ainvil::petsc. Others load the
/// same library as a plug-in and need nothing of this:
///
///     program -dll_prepend /prefix/lib/libainvil_petsc.so -pc_type ainvil -pc_ainvil_type ilu

#include <petscpc.h>

/// The type, for PCSetType().
#define PCAINVIL "ainvil"

namespace ainvil {
/// What programs of PETSc call; all of it has PETSc's error codes and throws nothing.
namespace petsc {

/// Makes the type known, as loading the plug-in does. Call it behind PetscInitialize(); again does
/// no harm.
PetscErrorCode registerPC();

/// Sets the method and its parameters, "ilu:level=1,solve=isai" for example, as the option
/// -pc_ainvil_spec does; options that PCSetFromOptions() finds later win. Undoes the set-up if it
/// changes anything. Collective; PETSC_ERR_ARG_WRONG, with what createPreconditioner() says, if the
/// text is none of its specifications, or the PC is of another type.
PetscErrorCode setSpecification(PC pc, const char* specification);

} // namespace petsc
} // namespace ainvil
