// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Limits of floating point types, for kernels.

#include <limits>

namespace ainvil {
namespace detail {

/// Those of std::numeric_limits as constants: its functions are of the host, and nvcc lets kernels
/// call them with --expt-relaxed-constexpr only.
template <class Scalar>
struct ScalarLimits {
  static constexpr Scalar epsilon = std::numeric_limits<Scalar>::epsilon();
  static constexpr Scalar largest = std::numeric_limits<Scalar>::max();
  static constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
};

} // namespace detail
} // namespace ainvil
