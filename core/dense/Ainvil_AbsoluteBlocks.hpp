// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Absolute values of symmetric blocks.

#include "Ainvil_Types.hpp"

namespace ainvil {
namespace detail {

/// Every block B = V diag(lambda) V^T becomes |B| = V diag(|lambda|) V^T; numbers, blocks of size
/// 1, exactly. The blocks are row-major, symmetric and finite. By Jacobi's method, a thread a
/// block, about 30 block_size^3 operations. Asynchronous, no allocation. Source: Golub, Van Loan,
/// Matrix Computations (2013), section 8.5.
template <class Scalar, class Device>
void takeAbsoluteBlocks(const typename Device::execution_space& exec, int block_size,
                        const Kokkos::View<Scalar*, Device>& blocks);

} // namespace detail
} // namespace ainvil
