// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The strong entries of a matrix.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {
namespace detail {

/// sqrt(||A_ii||_F), 0 where it is missing.
template <class Scalar, class Device>
Kokkos::View<double*, Device> diagonalScales(const typename Device::execution_space& exec,
                                             const BsrMatrix<Scalar, Device>& a);

/// The graph of the blocks with ||A_ij||_F > tau sqrt(||A_ii||_F ||A_jj||_F), and of the diagonal
/// as far as A has it.
template <class Scalar, class Device>
Graph<Device> sparsified(const typename Device::execution_space& exec,
                         const BsrMatrix<Scalar, Device>& a, double tau);

} // namespace detail
} // namespace ainvil
