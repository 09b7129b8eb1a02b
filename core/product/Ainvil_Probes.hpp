// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Random probes: what an approximate inverse leaves of them tells how good it is.

#include "Ainvil_Types.hpp"

namespace ainvil {
namespace detail {

/// Columns that tell enough.
constexpr int num_probes = 2;

/// z(i, j) = +1 or -1 by a hash of i and j, the same on every machine.
template <class Scalar, class Device>
void fillProbes(const typename Device::execution_space& exec, MultiVectorArg<Scalar, Device> z);

/// The largest modulus, 0 of nothing; NaN does not count. Waits for the instance.
template <class Scalar, class Device>
double largestModulus(const typename Device::execution_space& exec,
                      MultiVectorArg<const Scalar, Device> z);

/// Frobenius norm; also where the squares overflow or underflow, which takes two passes more. Waits
/// for the instance.
template <class Scalar, class Device>
double norm(const typename Device::execution_space& exec, MultiVectorArg<const Scalar, Device> z);

} // namespace detail
} // namespace ainvil
