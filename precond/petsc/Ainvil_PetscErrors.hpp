// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Between exceptions and PETSc's error codes, on one rank and on all of them.

#include "Ainvil_Error.hpp"

#include <petscsys.h>

#include <string>

namespace ainvil {
namespace petsc {

constexpr PetscErrorCode success = PetscErrorCode(0); ///< PETSC_SUCCESS, which 3.18 does not have

/// Thrown when a function of PETSc has failed, which has told its error handler then.
struct PetscFailure {
  PetscErrorCode code; ///< what it returned
};

/// \throws PetscFailure unless the code is that of success
inline void check(PetscErrorCode code) {
  if (code != success)
    throw PetscFailure{code};
}

/// How some work ended. The worse, the larger.
enum class Ending {
  Fine,      ///< it did what it should
  Unusable,  ///< this matrix gives no preconditioner: a pivot is zero, a value not finite
  Refused,   ///< an error of Ainvil
  PetscError ///< an error of PETSc, told already
};

/// How some work ended, and why.
struct Outcome {
  Ending ending = Ending::Fine;  ///< how
  PetscErrorCode code = success; ///< for PETSc
  std::string reason;            ///< of Unusable and Refused, a sentence
};

/// The outcome of the exception that is being handled.
Outcome outcomeOfException();

/// work(); no exception leaves it.
template <class Work>
Outcome attempt(const Work& work) {
  try {
    work();
    return {};
  } catch (...) {
    return outcomeOfException();
  }
}

/// Gives all ranks the worst outcome of them, and of equal ones that of the first rank, whose
/// number is added to the reason where there are several ranks. Collective.
PetscErrorCode agree(MPI_Comm comm, Outcome& outcome);

} // namespace petsc
} // namespace ainvil
