// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The start of Kokkos, for programs.

#include "backend/Ainvil_KokkosCompat.hpp"

#include <cstdint>
#include <limits>

namespace ainvil {
namespace compat {

/// Kokkos::initialize() without its warnings of threads and ranks.
inline void initializeQuietly() {
#if KOKKOS_VERSION < 30700
  Kokkos::InitArguments settings;
  settings.disable_warnings = true;
#else
  Kokkos::InitializationSettings settings;
  settings.set_disable_warnings(true);
#endif
  Kokkos::initialize(settings);
}

/// Where Kokkos allocates from CUDA's pool, memory that is freed stays there for the next set-up;
/// by default CUDA gives it back whenever the host waits.
inline void keepFreedMemory() {
#if defined(KOKKOS_ENABLE_CUDA) && defined(KOKKOS_ENABLE_IMPL_CUDA_MALLOC_ASYNC)
  cudaMemPool_t pool;
  std::uint64_t all = std::numeric_limits<std::uint64_t>::max();
  if (cudaDeviceGetDefaultMemPool(&pool, Kokkos::Cuda().cuda_device()) == cudaSuccess)
    cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &all);
#endif
}

} // namespace compat
} // namespace ainvil
