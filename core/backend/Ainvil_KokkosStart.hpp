// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Kokkos for programs of others, which may not know of it.

#include "backend/Ainvil_KokkosCompat.hpp"

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

} // namespace compat
} // namespace ainvil
