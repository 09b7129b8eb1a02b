// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A Kokkos that lives as long as MPI.

namespace ainvil {
namespace ranks {

/// Starts Kokkos unless somebody has, on the GPU of this number if it is not negative;
/// MPI_Finalize() ends then what was started here. MPI must be running. \throws Error if MPI fails
void requireRunningKokkos(int gpu = -1);

} // namespace ranks
} // namespace ainvil
