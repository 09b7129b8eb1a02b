// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Memory that kernels over rows work in where the fast one is too small, for objects to keep.

#include "Ainvil_Types.hpp"

namespace ainvil {
namespace detail {

/// Scratch memory of rows that need more than a device has of the fast one, see forEachRow().
/// Empty until there are such rows, and on hosts.
template <class Exec>
using SlowScratch = Kokkos::View<char*, typename Exec::device_type>;

} // namespace detail
} // namespace ainvil
