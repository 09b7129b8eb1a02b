// SPDX-License-Identifier: BSD-3-Clause
#include "petsc/Ainvil_PetscErrors.hpp"

#include <new>

namespace ainvil {
namespace petsc {

Outcome outcomeOfException() {
  try {
    throw;
  } catch (const PetscFailure& failure) {
    return {Ending::PetscError, failure.code, {}};
  } catch (const BreakdownError& error) {
    return {Ending::Unusable, PETSC_ERR_MAT_LU_ZRPVT, error.what()};
  } catch (const OutOfMemory& error) {
    return {Ending::Refused, PETSC_ERR_MEM, error.what()};
  } catch (const std::bad_alloc&) {
    return {Ending::Refused, PETSC_ERR_MEM, "there is no memory left"};
  } catch (const InvalidArgument& error) {
    return {Ending::Refused, PETSC_ERR_ARG_WRONG, error.what()};
  } catch (const std::exception& error) {
    return {Ending::Refused, PETSC_ERR_LIB, error.what()};
  } catch (...) {
    return {Ending::Refused, PETSC_ERR_LIB, "something was thrown that is no exception"};
  }
}

PetscErrorCode agree(MPI_Comm comm, Outcome& outcome) {
  PetscFunctionBegin;
  int size, rank;
  PetscCallMPI(MPI_Comm_size(comm, &size));
  if (size == 1)
    PetscFunctionReturn(success);
  PetscCallMPI(MPI_Comm_rank(comm, &rank));
  int here[2] = {static_cast<int>(outcome.ending), rank}, worst[2];
  PetscCallMPI(MPI_Allreduce(here, worst, 1, MPI_2INT, MPI_MAXLOC, comm));
  if (worst[0] == static_cast<int>(Ending::Fine))
    PetscFunctionReturn(success);
  int told[2] = {static_cast<int>(outcome.code), static_cast<int>(outcome.reason.size())};
  PetscCallMPI(MPI_Bcast(told, 2, MPI_INT, worst[1], comm));
  std::string reason = outcome.reason;
  reason.resize(told[1]);
  PetscCallMPI(MPI_Bcast(&reason[0], told[1], MPI_CHAR, worst[1], comm));
  if (!reason.empty())
    reason = message("rank ", worst[1], " of ", size, ": ", reason);
  outcome = {static_cast<Ending>(worst[0]), static_cast<PetscErrorCode>(told[0]), reason};
  PetscFunctionReturn(success);
}

} // namespace petsc
} // namespace ainvil
