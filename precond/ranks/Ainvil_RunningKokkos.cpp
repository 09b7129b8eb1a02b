// SPDX-License-Identifier: BSD-3-Clause
#include "ranks/Ainvil_RunningKokkos.hpp"

#include "backend/Ainvil_KokkosCompat.hpp"
#include "ranks/Ainvil_Outcome.hpp"

namespace ainvil {
namespace ranks {
namespace {

int stopKokkos(MPI_Comm, int, void*, void*) {
  if (Kokkos::is_initialized())
    Kokkos::finalize();
  return MPI_SUCCESS;
}

} // namespace

void requireRunningKokkos(int gpu) {
  if (Kokkos::is_initialized())
    return;
  compat::initializeQuietly(gpu);
  // MPI_Finalize() begins with the attributes of MPI_COMM_SELF (MPI 4.1, 11.2.4).
  int key;
  checkMpi(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, stopKokkos, &key, nullptr));
  checkMpi(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr));
  checkMpi(MPI_Comm_free_keyval(&key));
}

} // namespace ranks
} // namespace ainvil
