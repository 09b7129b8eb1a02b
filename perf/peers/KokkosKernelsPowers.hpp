// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Powers of patterns by Kokkos Kernels' sparse matrix products.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {
namespace perf {

/// What the products T T, T T^2, ... up to the pattern of a power take. Medians, summed over the
/// products.
struct PowersBySpgemm {
  double symbolic_seconds = 0; ///< spgemm_symbolic, which counts the entries of the rows
  double seconds = 0;          ///< with spgemm_numeric, which writes them, and values
  Offset entries = 0;          ///< of the power
};

/// T^p by KokkosSparse::spgemm_symbolic and spgemm_numeric, algorithm SPGEMM_KK, on the default
/// instance, which is waited for. p >= 2; values are 1.
template <class Device>
PowersBySpgemm kokkosKernelsPower(const Graph<Device>& t, int power, int repetitions);

} // namespace perf
} // namespace ainvil
