// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Numbers of 16 bits to store factors in.

#include "backend/Ainvil_KokkosCompat.hpp"

#include <cstdint>
#include <cstring>

namespace ainvil {

/// The upper half of a float: its range, 1e-38 to 3e38, and 8 significant bits, so that rounding is
/// within 0.4 %. Only stored; arithmetic is that of what it converts to.
class BFloat16 {
public:
  BFloat16() = default;
  /// Rounds to nearest, ties to even, by way of float; beyond the range to infinity.
  template <class Real>
  KOKKOS_INLINE_FUNCTION explicit BFloat16(Real value) {
    const float single = static_cast<float>(value);
    std::uint32_t bits;
    std::memcpy(&bits, &single, sizeof(bits));
    const bool is_nan = single != single;
    bits += is_nan ? 0 : 0x7fff + (bits >> 16 & 1);
    bits_ = static_cast<std::uint16_t>(bits >> 16 | (is_nan ? 0x40 : 0));
  }
  /// Exact.
  KOKKOS_INLINE_FUNCTION operator float() const {
    const std::uint32_t bits = std::uint32_t(bits_) << 16;
    float single;
    std::memcpy(&single, &bits, sizeof(single));
    return single;
  }

private:
  std::uint16_t bits_;
};

} // namespace ainvil
