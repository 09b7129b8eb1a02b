// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/Ainvil_PetscErrors.hpp"

namespace ainvil {
namespace petsc {

PetscErrorCode codeOf(const ranks::Outcome& outcome) {
  switch (outcome.ending) {
  case ranks::Ending::Fine:
    return success;
  case ranks::Ending::Unusable:
    return PETSC_ERR_MAT_LU_ZRPVT;
  case ranks::Ending::BadArgument:
    return PETSC_ERR_ARG_WRONG;
  case ranks::Ending::NoMemory:
    return PETSC_ERR_MEM;
  case ranks::Ending::Foreign:
    return static_cast<PetscErrorCode>(outcome.foreign_code);
  case ranks::Ending::Failed:
    break;
  }
  return PETSC_ERR_LIB;
}

} // namespace petsc
} // namespace ainvil
