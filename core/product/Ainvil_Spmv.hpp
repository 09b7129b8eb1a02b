// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Products of block sparse matrices with vectors, the inner loop of everything in this library.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {

/// y = alpha op(A) x + beta y, op(A) = A or A^T, for any number of columns.
/// beta = 0 overwrites y, NaN included. x and y must not overlap. Asynchronous, no allocation.
/// Matrix values may be of lower precision than the vectors; sums are taken in the vectors'.
/// The transposed product adds by atomics: its rounding depends on the schedule.
/// Knows nothing of the matrix but its arrays, so that a very long row occupies one thread: make a
/// SparseOperator of a matrix that is multiplied with more than once. \throws InvalidArgument if
/// the shapes do not match.
template <class MatrixScalar, class Scalar, class Device>
void spmv(const typename Device::execution_space& exec, Trans trans, Scalar alpha,
          const BsrMatrix<MatrixScalar, Device>& a, MultiVectorArg<const Scalar, Device> x,
          Scalar beta, MultiVectorArg<Scalar, Device> y);

/// y = alpha A x + beta u + gamma v in one pass over the matrix. u and v may be y itself or
/// uninitialised where their factor is 0; x must not overlap y. Otherwise as spmv.
template <class MatrixScalar, class Scalar, class Device>
void spmvAdd(const typename Device::execution_space& exec, Scalar alpha,
             const BsrMatrix<MatrixScalar, Device>& a, MultiVectorArg<const Scalar, Device> x,
             Scalar beta, MultiVectorArg<const Scalar, Device> u, Scalar gamma,
             MultiVectorArg<const Scalar, Device> v, MultiVectorArg<Scalar, Device> y);

/// y = alpha op(D) x + beta y for the block diagonal matrix D whose row-major blocks are stored one
/// after the other in `blocks` (n * block_size^2 scalars). x and y must not overlap. Asynchronous,
/// no allocation.
template <class MatrixScalar, class Scalar, class Device>
void blockDiagonalProduct(const typename Device::execution_space& exec, Trans trans, Scalar alpha,
                          const Kokkos::View<MatrixScalar*, Device>& blocks, int block_size,
                          MultiVectorArg<const Scalar, Device> x, Scalar beta,
                          MultiVectorArg<Scalar, Device> y);

/// y = alpha x + beta y; beta = 0 overwrites y, NaN included. Asynchronous, no allocation.
template <class Scalar, class Device>
void axpby(const typename Device::execution_space& exec, Scalar alpha,
           MultiVectorArg<const Scalar, Device> x, Scalar beta, MultiVectorArg<Scalar, Device> y);

/// Does not compile: multivectors are column-major.
template <class MatrixScalar, class Scalar, class Device, class X, class Y>
detail::EnableIfRowMajor<X, Y> spmv(const typename Device::execution_space&, Trans, Scalar,
                                    const BsrMatrix<MatrixScalar, Device>&, const X&, Scalar,
                                    const Y&) {
  static_assert(detail::RequireColumnMajor<X, Y>::value);
}
/// Likewise.
template <class Scalar, class Device, class X, class Y>
detail::EnableIfRowMajor<X, Y> axpby(const typename Device::execution_space&, Scalar, const X&,
                                     Scalar, const Y&) {
  static_assert(detail::RequireColumnMajor<X, Y>::value);
}

/// Rank-1 view, contiguous, as a multivector of one column.
template <class View>
auto asColumn(const View& x) {
  static_assert(std::is_same<typename View::data_type, typename View::value_type*>::value &&
                    !std::is_same<typename View::array_layout, Kokkos::LayoutStride>::value,
                "a column is a view of rank 1 whose entries are contiguous: copy a strided one");
  return MultiVectorArg<typename View::value_type, typename View::device_type>(x.data(),
                                                                               x.extent(0), 1);
}

/// spmv on vectors.
template <class MatrixScalar, class Scalar, class Device>
void spmv(const typename Device::execution_space& exec, Trans trans, Scalar alpha,
          const BsrMatrix<MatrixScalar, Device>& a, const Vector<const Scalar, Device>& x,
          Scalar beta, const Vector<Scalar, Device>& y) {
  spmv<MatrixScalar, Scalar, Device>(exec, trans, alpha, a, asColumn(x), beta, asColumn(y));
}

} // namespace ainvil
