// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Symmetric scaling of a matrix by the square roots of its diagonal or of its column norms.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {

/// What S = diag(d_i^-1/2) is made from.
enum class ScalingRule {
  Diagonal,  ///< d_i = |a_ii|, so that S A S has ones on its diagonal
  ColumnNorm ///< d_i = ||A e_i||_2
};

/// The diagonal of S, one value a point row: blocks are scaled point by point. The rows of `a` need
/// not be sorted. Deterministic, and free of overflow where d itself is. Cost: one pass over the
/// diagonal blocks, or a transposed graph and two passes over the matrix. Waits.
/// \throws InvalidArgument if A is not square or not valid, see validate(), or if a d_i is zero or
/// not finite; the message names the row.
template <class Scalar, class Device>
Vector<Scalar, Device> scalingFactors(const typename Device::execution_space& exec,
                                      const BsrMatrix<Scalar, Device>& a, ScalingRule rule);

/// S A S; shares the graph of A, not its values. A x = b becomes (S A S) y = S b with x = S y.
/// Asynchronous. \throws InvalidArgument if the sizes do not match.
template <class Scalar, class Device>
BsrMatrix<Scalar, Device> scaled(const typename Device::execution_space& exec,
                                 const Vector<Scalar, Device>& s,
                                 const BsrMatrix<Scalar, Device>& a);

/// x = S x. Asynchronous, no allocation. \throws InvalidArgument if the sizes do not match.
template <class Scalar, class Device>
void scale(const typename Device::execution_space& exec, const Vector<Scalar, Device>& s,
           const Vector<Scalar, Device>& x);

} // namespace ainvil
