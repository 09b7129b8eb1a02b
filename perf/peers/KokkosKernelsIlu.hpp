// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Kokkos Kernels' ILU and triangular solves as a preconditioner, to be compared with.

#include "Ainvil_Preconditioner.hpp"

namespace ainvil {
namespace perf {

/// ILU(0) of a matrix of block size 1 by Kokkos Kernels' spiluk, exact solves by its sptrsv, both
/// with algorithm SEQLVLSCHD_TP1, on the default instance. The iterations of "ilu", but for
/// rounding. It has no transpose.
template <class Device>
PreconditionerPtr<double, Device> createKokkosKernelsIlu();

} // namespace perf
} // namespace ainvil
