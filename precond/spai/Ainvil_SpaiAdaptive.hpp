// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to Spai: patterns that grow where the residuals of rows are large.

#include "Ainvil_Spai.hpp"

namespace ainvil {
namespace detail {

/// The pattern that rows of M grow to from `start`, which has its diagonal, see Spai.
/// `progress`, if there is one, is told how many rows a step has done.
/// \throws BreakdownError for least squares problems beyond max_work
template <class Scalar, class Device>
Graph<Device> adaptiveSpaiPattern(const typename Device::execution_space& exec,
                                  const BsrMatrix<Scalar, Device>& a,
                                  const Graph<Device>& a_with_diagonal, const Graph<Device>& start,
                                  const SpaiAdaptive& parameters, double max_work,
                                  const std::function<void(Offset)>& progress);

} // namespace detail
} // namespace ainvil
