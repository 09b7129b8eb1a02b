// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Elementary operations on arrays of dense row-major blocks.

#include "Ainvil_Types.hpp"

namespace ainvil {

/// out block e = op(in block source[e]) for every block of `out`, zero where source[e] is negative:
/// values follow a permuted graph.
template <class Scalar, class Device>
void gatherBlocks(const typename Device::execution_space& exec, Trans trans,
                  const Kokkos::View<const Offset*, Device>& source, int block_size,
                  const Kokkos::View<const Scalar*, Device>& in,
                  const Kokkos::View<Scalar*, Device>& out);

/// out block e = (in block e)^T.
template <class Scalar, class Device>
void transposeBlocks(const typename Device::execution_space& exec, int block_size,
                     const Kokkos::View<const Scalar*, Device>& in,
                     const Kokkos::View<Scalar*, Device>& out);

/// out[i] = in[i], rounded where the precision differs.
template <class From, class To, class Device>
void convert(const typename Device::execution_space& exec,
             const Kokkos::View<const From*, Device>& in, const Kokkos::View<To*, Device>& out);

/// Number of values that are NaN or infinite. Waits for the instance.
template <class Scalar, class Device>
Offset countNonFinite(const typename Device::execution_space& exec,
                      const Kokkos::View<const Scalar*, Device>& values);

namespace detail {

/// Throws InvalidArgument if a value of a matrix is NaN or infinite. Waits for the instance.
template <class Scalar, class Device>
void requireFiniteMatrix(const typename Device::execution_space& exec,
                         const Kokkos::View<const Scalar*, Device>& values);

/// Throws BreakdownError if a value of the factor that `what` names is NaN or infinite, whatever
/// the policy: nothing can be put in the place of what has overflowed. Waits for the instance.
template <class Scalar, class Device>
void requireFinite(const typename Device::execution_space& exec,
                   const Kokkos::View<const Scalar*, Device>& values, const char* what);

} // namespace detail

} // namespace ainvil
