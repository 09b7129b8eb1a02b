// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The patterns of products, and of the identity.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {
namespace detail {

/// S(A B), sorted: row i is the union of the rows j of B for the entries (i, j) of A. B must be
/// sorted. Cost and memory: as for a step of patternPower().
template <class Device>
Graph<Device> patternProduct(const typename Device::execution_space& exec, const Graph<Device>& a,
                             const Graph<Device>& b);

/// The diagonal of n rows.
template <class Device>
Graph<Device> identityPattern(const typename Device::execution_space& exec, Ordinal n);

} // namespace detail
} // namespace ainvil
