// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Arrays of PETSc's vectors, and the order of PETSc's work on a GPU and Kokkos'.

#include "ranks/Ainvil_ForeignColumns.hpp"

#include <petscvec.h>

namespace ainvil {
namespace petsc {

/// Where PETSc says that an array lies.
ranks::Memory memoryOf(PetscMemType type);

/// The array of a vector to read: that on the GPU if the preconditioner is there and the vector is
/// one of a GPU, else that of the host.
PetscErrorCode getArrayRead(Vec x, ranks::Columns<const double>& array);
/// Gives back what getArrayRead() has got.
PetscErrorCode restoreArrayRead(Vec x, ranks::Columns<const double>& array);

/// The same to write all of it.
PetscErrorCode getArrayWrite(Vec x, ranks::Columns<double>& array);
/// Gives back what getArrayWrite() has got.
PetscErrorCode restoreArrayWrite(Vec x, ranks::Columns<double>& array);

/// The GPU that PETSc has on this rank; -1 if there is none, or Kokkos runs on the host.
PetscErrorCode gpuOfPetsc(int& device);

/// What PETSc has begun on the GPU comes before what Kokkos begins from now on. `in_order` tells
/// whether what Kokkos begins comes before what PETSc begins later without a wait, too: so it is
/// for CUDA's default stream, which PETSc takes unless told otherwise.
PetscErrorCode waitForPetsc(bool& in_order);

} // namespace petsc
} // namespace ainvil
