// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Kokkos Kernels' ILU and triangular solves as a preconditioner, to be compared with.

#include "Ainvil_Preconditioner.hpp"

namespace ainvil {
namespace perf {

/// Whether specification is one of createKokkosKernelsIlu().
bool isKokkosKernelsIlu(const std::string& specification);

/// "kokkos-kernels-ilu", ILU(0) of a matrix of block size 1 by Kokkos Kernels' spiluk, exact solves
/// by its sptrsv, both with algorithm SEQLVLSCHD_TP1, on the default instance. The iterations of
/// "ilu", but for rounding. "kokkos-kernels-par-ilut", with ":fill=F", at most F times the entries
/// of the initial factors, default its own, 0.75, and "steps=S", at most S steps, default 20: its
/// par_ilut in place of spiluk, a new pattern at every compute. They have no transpose. \throws
/// InvalidArgument for other keys, or par-ilut before Kokkos Kernels 4
template <class Device>
PreconditionerPtr<double, Device> createKokkosKernelsIlu(const std::string& specification);

} // namespace perf
} // namespace ainvil
