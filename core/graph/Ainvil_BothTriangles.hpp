// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Both triangles of a square graph at once.

#include "Ainvil_GraphAlgebra.hpp"

namespace ainvil {
namespace detail {

/// triangle() with Uplo::Lower and Diagonal::Keep, and with Uplo::Upper and Diagonal::Drop, of a
/// sorted square graph: the pattern of ILU(0). One pass to count, one to fill, two allocations;
/// waits.
template <class Device>
FillTriangles<Device> bothTriangles(const typename Device::execution_space& exec,
                                    const Graph<Device>& graph);

} // namespace detail
} // namespace ainvil
