// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What triangular strategies choose by.

#include "product/Ainvil_SparseOperator.hpp"

namespace ainvil {

/// Right-hand sides by which a strategy for T finds out how good it is where it is applied.
template <class Scalar, class Device>
struct TriangularProbes {
  MultiVectorArg<const Scalar, Device> x; ///< right-hand sides of T
  /// The `matrix` of the factor L that is solved with before T = U, else null. What U leaves,
  /// t = x - U y, is L t in the equations of L U.
  const SparseOperator<Scalar, Device>* before = nullptr;
  bool before_is_unit = false; ///< L has a diagonal of ones besides
};

} // namespace ainvil
