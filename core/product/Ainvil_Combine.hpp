// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The sum of up to three multiples of multivectors.

#include "Ainvil_Types.hpp"

namespace ainvil {
namespace detail {

/// y = alpha x + beta u + gamma v in one pass. What has the factor 0 is not read, and may be
/// uninitialised; y may be any of them. Asynchronous, no allocation. \throws InvalidArgument if the
/// shapes of what is read do not match.
template <class Scalar, class Device>
void combine(const typename Device::execution_space& exec, Scalar alpha,
             MultiVectorArg<const Scalar, Device> x, Scalar beta,
             MultiVectorArg<const Scalar, Device> u, Scalar gamma,
             MultiVectorArg<const Scalar, Device> v, MultiVectorArg<Scalar, Device> y);

} // namespace detail
} // namespace ainvil
