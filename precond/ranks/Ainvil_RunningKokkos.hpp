// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A Kokkos that lives as long as MPI.

namespace ainvil {
namespace ranks {

/// Starts Kokkos unless somebody has; MPI_Finalize() ends then what was started here. MPI must be
/// running. \throws Error if MPI fails
void requireRunningKokkos();

} // namespace ranks
} // namespace ainvil
