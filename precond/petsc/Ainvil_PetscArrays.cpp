// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/Ainvil_PetscArrays.hpp"

#include "petsc/Ainvil_PetscErrors.hpp"

#include <petscdevice.h>

namespace ainvil {
namespace petsc {

ranks::Memory memoryOf(PetscMemType type) {
  return PetscMemTypeDevice(type) ? ranks::Memory::Device : ranks::Memory::Host;
}

PetscErrorCode getArrayRead(Vec x, ranks::Columns<const double>& array) {
  PetscFunctionBegin;
  PetscMemType type = PETSC_MEMTYPE_HOST;
  if (ranks::on_gpu)
    PetscCall(VecGetArrayReadAndMemType(x, &array.data, &type));
  else
    PetscCall(VecGetArrayRead(x, &array.data));
  array.memory = memoryOf(type);
  PetscFunctionReturn(success);
}

PetscErrorCode restoreArrayRead(Vec x, ranks::Columns<const double>& array) {
  PetscFunctionBegin;
  if (ranks::on_gpu)
    PetscCall(VecRestoreArrayReadAndMemType(x, &array.data));
  else
    PetscCall(VecRestoreArrayRead(x, &array.data));
  PetscFunctionReturn(success);
}

PetscErrorCode getArrayWrite(Vec x, ranks::Columns<double>& array) {
  PetscFunctionBegin;
  PetscMemType type = PETSC_MEMTYPE_HOST;
  if (ranks::on_gpu)
    PetscCall(VecGetArrayWriteAndMemType(x, &array.data, &type));
  else
    PetscCall(VecGetArrayWrite(x, &array.data));
  array.memory = memoryOf(type);
  PetscFunctionReturn(success);
}

PetscErrorCode restoreArrayWrite(Vec x, ranks::Columns<double>& array) {
  PetscFunctionBegin;
  if (ranks::on_gpu)
    PetscCall(VecRestoreArrayWriteAndMemType(x, &array.data));
  else
    PetscCall(VecRestoreArrayWrite(x, &array.data));
  PetscFunctionReturn(success);
}

PetscErrorCode gpuOfPetsc(int& device_id) {
  PetscFunctionBegin;
  device_id = -1;
  if (!ranks::on_gpu)
    PetscFunctionReturn(success);
  PetscDeviceContext context;
  PetscDevice device;
  PetscDeviceType type;
  PetscInt id;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetDevice(context, &device));
  PetscCall(PetscDeviceGetType(device, &type));
  PetscCall(PetscDeviceGetDeviceId(device, &id));
  if (type != PETSC_DEVICE_HOST)
    device_id = id;
  PetscFunctionReturn(success);
}

PetscErrorCode waitForPetsc(bool& in_order) {
  PetscFunctionBegin;
  in_order = true;
  if (!ranks::on_gpu)
    PetscFunctionReturn(success);
  PetscDeviceContext context;
  PetscStreamType type;
  PetscCall(PetscDeviceContextGetCurrentContext(&context));
  PetscCall(PetscDeviceContextGetStreamType(context, &type));
  // The first type is CUDA's default stream in every version of PETSc, whatever its name; Kokkos'
  // instances have streams that wait for that one, and it waits for them.
  in_order = type == PetscStreamType(0);
  if (!in_order)
    PetscCall(PetscDeviceContextSynchronize(context));
  PetscFunctionReturn(success);
}

} // namespace petsc
} // namespace ainvil
