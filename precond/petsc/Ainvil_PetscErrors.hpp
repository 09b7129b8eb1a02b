// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// PETSc's error codes.

#include "ranks/Ainvil_Outcome.hpp"

#include <petscsys.h>

namespace ainvil {
namespace petsc {

constexpr PetscErrorCode success = PetscErrorCode(0); ///< PETSC_SUCCESS, which 3.18 does not have

/// \throws ForeignFailure unless the code is that of success
inline void check(PetscErrorCode code) {
  if (code != success)
    throw ranks::ForeignFailure{static_cast<int>(code)};
}

/// PETSc's code for an outcome.
PetscErrorCode codeOf(const ranks::Outcome& outcome);

} // namespace petsc
} // namespace ainvil
