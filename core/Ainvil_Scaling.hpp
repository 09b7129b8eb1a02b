// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Scaling of a matrix: symmetric, by the square roots of its diagonal or of its column norms, or
/// of rows and columns until their largest entries are equal.

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

/// Diagonals of R and C, one value a point row and a point column.
template <class Scalar, class Device>
struct RowColumnScaling {
  Vector<Scalar, Device> rows;    ///< R
  Vector<Scalar, Device> columns; ///< C
};

/// R and C with which the largest entry of each row and of each column of R A C is about 1 in
/// modulus: ten steps, each of which divides rows and columns by the roots of their largest entries
/// and so halves the logarithms of what is left. R = C where |A| is symmetric. Rows and columns of
/// zeros keep the factor 1. Deterministic. Cost: eleven passes over the matrix. Waits. Source:
/// Ruiz, A scaling algorithm to equilibrate both rows and columns norms in matrices,
/// RAL-TR-2001-034. \throws InvalidArgument if A is not square, not valid, see validate(), or holds
/// a value that is not finite.
template <class Scalar, class Device>
RowColumnScaling<Scalar, Device> ruizScaling(const typename Device::execution_space& exec,
                                             const BsrMatrix<Scalar, Device>& a);

/// R A C; shares the graph of A, not its values. A x = b becomes (R A C) y = R b with x = C y.
/// Asynchronous. \throws InvalidArgument if the sizes do not match.
template <class Scalar, class Device>
BsrMatrix<Scalar, Device> scaled(const typename Device::execution_space& exec,
                                 const RowColumnScaling<Scalar, Device>& scaling,
                                 const BsrMatrix<Scalar, Device>& a);

namespace detail {

/// ruizScaling() of a valid matrix of finite values into arrays of the caller's; `norms` are two
/// more such arrays. Asynchronous, no allocation.
template <class Scalar, class Device>
void equilibrate(const typename Device::execution_space& exec, const BsrMatrix<Scalar, Device>& a,
                 const RowColumnScaling<Scalar, Device>& scaling,
                 const RowColumnScaling<Scalar, Device>& norms);

} // namespace detail

/// x = S x. Asynchronous, no allocation. \throws InvalidArgument if the sizes do not match.
template <class Scalar, class Device>
void scale(const typename Device::execution_space& exec, const Vector<Scalar, Device>& s,
           const Vector<Scalar, Device>& x);

} // namespace ainvil
