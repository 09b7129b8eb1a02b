// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Numbers that look random and are the same on every machine and in every order.

#include "backend/Ainvil_KokkosCompat.hpp"

#include <cstdint>

namespace ainvil {
namespace detail {

/// Scrambles a counter (splitmix64; Steele, Lea and Flood 2014).
KOKKOS_INLINE_FUNCTION std::uint64_t hash(std::uint64_t counter) {
  std::uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

} // namespace detail
} // namespace ainvil
