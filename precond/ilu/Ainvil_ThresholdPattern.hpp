// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Patterns that thresholds find, by either search.

#include "Ainvil_GraphAlgebra.hpp"
#include "ilu/Ainvil_IluOnPattern.hpp"
#include "ilu/Ainvil_ThresholdOptions.hpp"

#include <functional>

namespace ainvil {
namespace detail {

/// The patterns of the factors of A, found as `options` say. Pivots that cannot be inverted follow
/// the policy of `pivots`, or are replaced where it is `fail` or `shift-all`: that is for the
/// numeric phase to say. What follows a pivot that has been made up says little of a symmetric
/// matrix: with the policy `shift` its patterns are those of A + alpha diag(A), alpha =
/// `pivots.shift` and four times as much until no pivot breaks down. `progress`, if there is one,
/// is told how many rows of a search are done. Waits.
template <class Scalar, class Device>
FillTriangles<Device>
thresholdPattern(const typename Device::execution_space& exec, const BsrMatrix<Scalar, Device>& a,
                 const ThresholdOptions& options, IluOnPatternOptions pivots, FactorKind kind,
                 const std::function<void(Offset)>& progress = {});

} // namespace detail
} // namespace ainvil
