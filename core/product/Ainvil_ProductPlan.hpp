// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How the kernels of products go through the rows of a matrix.

#include "product/Ainvil_LongRows.hpp"
#include "product/Ainvil_NearColumns.hpp"

namespace ainvil {
namespace detail {

/// The kernel for the rows that are not long. On hosts PointRows, which takes runs of block rows
/// there.
enum class ProductKernel {
  PointRows,   ///< a thread a point row; on GPUs what several right-hand sides always take
  Streamed,    ///< a team a range of rows, entries in the order of memory
  BlockColumns ///< a thread a column of the blocks of a row
};

/// What a product has to know of a matrix besides its arrays; by default nothing: a thread a row,
/// however long.
template <class Device>
struct ProductPlan {
  LongRows<Device> long_rows;                      ///< which `kernel` leaves to another one
  ProductKernel kernel = ProductKernel::PointRows; ///< for the rows that are not long
  NearColumns<Device> near;                        ///< which PointRows reads if they exist
};

/// What a product with x may do beside its sums, a row of x at a time: w = delta x + epsilon w.
/// epsilon = 0 does not read w. By default nothing.
template <class Scalar, class Device>
struct Step {
  Scalar delta = 0, epsilon = 0;
  MultiVectorArg<Scalar, Device> w; ///< of the shape of x; overlaps nothing else of the product
};

/// The plan that is fastest for a matrix of that graph whose values have `value_bytes` each. Waits
/// for passes over the graph.
template <class Device>
ProductPlan<Device> planProducts(const typename Device::execution_space& exec,
                                 const Graph<Device>& graph, int block_size,
                                 std::size_t value_bytes);

/// y = alpha op(A) x + beta y
template <class MatrixScalar, class Scalar, class Device>
void multiply(const typename Device::execution_space& exec, const ProductPlan<Device>& plan,
              Trans trans, Scalar alpha, const BsrMatrix<MatrixScalar, Device>& a,
              MultiVectorArg<const Scalar, Device> x, Scalar beta,
              MultiVectorArg<Scalar, Device> y);

/// y = alpha A x + beta u + gamma v, and the step; with one, A must be square.
template <class MatrixScalar, class Scalar, class Device>
void multiplyAdd(const typename Device::execution_space& exec, const ProductPlan<Device>& plan,
                 Scalar alpha, const BsrMatrix<MatrixScalar, Device>& a,
                 MultiVectorArg<const Scalar, Device> x, Scalar beta,
                 MultiVectorArg<const Scalar, Device> u, Scalar gamma,
                 MultiVectorArg<const Scalar, Device> v, MultiVectorArg<Scalar, Device> y,
                 const Step<Scalar, Device>& step);

/// The same for the long rows only. y may be x.
template <class MatrixScalar, class Scalar, class Device>
void multiplyAddLongRows(const typename Device::execution_space& exec,
                         const LongRows<Device>& long_rows, Scalar alpha,
                         const BsrMatrix<MatrixScalar, Device>& a,
                         MultiVectorArg<const Scalar, Device> x, Scalar beta,
                         MultiVectorArg<const Scalar, Device> u, Scalar gamma,
                         MultiVectorArg<const Scalar, Device> v, MultiVectorArg<Scalar, Device> y);

} // namespace detail
} // namespace ainvil
