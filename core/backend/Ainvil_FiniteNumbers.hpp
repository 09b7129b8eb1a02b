// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Numbers that are neither NaN nor infinite, and norms that become neither on the way.

#include "backend/Ainvil_KokkosCompat.hpp"

namespace ainvil {
namespace detail {

/// True for all numbers but NaN and infinity: times zero these are NaN, which equals nothing.
template <class Number>
KOKKOS_INLINE_FUNCTION bool isFinite(Number value) {
  return value * Number(0) == Number(0);
}

/// Sums of squares between these are exact to rounding: below 2.2e-308 squares underflow, but those
/// are less than 1e-27 of a sum of 1e-280; and no sum below 1e300 has overflowed.
KOKKOS_INLINE_FUNCTION bool isSafeSum(double squares) {
  return squares >= 1e-280 && squares <= 1e300;
}

/// (sum of v^2)^1/2 of values of which sumOfSquares(unit) is the sum of (v / unit)^2 and
/// largestModulus() the largest |v|, NaN left out; also where the squares overflow or underflow,
/// which takes these two more. NaN and Inf stay what they are, and of both together there is NaN.
template <class SumOfSquares, class LargestModulus>
KOKKOS_INLINE_FUNCTION double safeNormBy(const SumOfSquares& sumOfSquares,
                                         const LargestModulus& largestModulus) {
  const double sum = sumOfSquares(1.0);
  if (isSafeSum(sum))
    return compat::math::sqrt(sum);
  const double largest = largestModulus();
  if (largest == 0 || !isFinite(largest)) // zeros, NaN or Inf: the sum tells
    return compat::math::sqrt(sum);
  return largest * compat::math::sqrt(sumOfSquares(largest));
}

/// The same of the values that each(f) calls f(double) with.
template <class Each>
KOKKOS_INLINE_FUNCTION double safeNorm(const Each& each) {
  return safeNormBy(
      [&](double unit) {
        double sum = 0;
        each([&](double value) {
          const double ratio = value / unit;
          sum += ratio * ratio;
        });
        return sum;
      },
      [&]() {
        double largest = 0;
        each([&](double value) {
          const double size = compat::math::fabs(value);
          largest = size > largest ? size : largest;
        });
        return largest;
      });
}

} // namespace detail
} // namespace ainvil
