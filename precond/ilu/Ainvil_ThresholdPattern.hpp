// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Patterns that thresholds find, by either search.

#include "Ainvil_GraphAlgebra.hpp"
#include "ilu/Ainvil_IluOnPattern.hpp"
#include "ilu/Ainvil_ThresholdOptions.hpp"

namespace ainvil {
namespace detail {

/// The patterns of the factors of A, found as `options` say. Pivots that cannot be inverted follow
/// the policy of `pivots`, or are replaced where it is `fail`: that is for the numeric phase to
/// say. Waits.
template <class Scalar, class Device>
FillTriangles<Device> thresholdPattern(const typename Device::execution_space& exec,
                                       const BsrMatrix<Scalar, Device>& a,
                                       const ThresholdOptions& options,
                                       IluOnPatternOptions pivots);

} // namespace detail
} // namespace ainvil
