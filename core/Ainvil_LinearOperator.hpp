// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What a Krylov solver needs to know of a matrix or a preconditioner.

#include "Ainvil_GraphAlgebra.hpp"
#include "product/Ainvil_Spmv.hpp"

#include <string>

namespace ainvil {

/// y = alpha op(A) x + beta y on column-major multivectors. Operators have arrays to work with,
/// which a copy would share in silence, so they are neither copied nor moved: pass references or
/// pointers.
template <class Scalar, class Device>
class LinearOperator {
  static_assert(detail::CompiledScalar<Scalar, Device>::value, "");

public:
  using execution_space = typename Device::execution_space;

  LinearOperator(const LinearOperator&) = delete;
  LinearOperator& operator=(const LinearOperator&) = delete;
  virtual ~LinearOperator() = default;

  virtual Offset numRows() const = 0; ///< unknowns of y in the untransposed product
  virtual Offset numCols() const = 0; ///< unknowns of x in the untransposed product

  /// y = alpha op(A) x + beta y; beta = 0 overwrites y, NaN included; x and y must not overlap.
  /// Asynchronous on `exec`.
  virtual void apply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
                     MultiVectorArg<Scalar, Device> y, Trans trans = Trans::No, Scalar alpha = 1,
                     Scalar beta = 0) const = 0;

  /// True if the operator is the same linear map at every application. Asynchronous iterations are
  /// not.
  virtual bool isFixed() const { return true; }
  /// Why a solver must not be run with the operator, in one sentence; empty if nothing speaks
  /// against it.
  virtual std::string objection() const { return {}; }

protected:
  LinearOperator() = default;
};

/// A block sparse matrix as an operator. Holds a shallow copy of the matrix. Construction waits on
/// `exec` for a pass over the graph, which checks it and finds its long rows.
///
/// An object has one workspace for the sums of long rows: no two threads or instances may apply it
/// at the same time, const as apply() is. Solves at the same time need an operator each, which may
/// share the matrix.
template <class Scalar, class Device>
class MatrixOperator final : public LinearOperator<Scalar, Device> {
public:
  using typename LinearOperator<Scalar, Device>::execution_space;

  /// Shares the arrays of the matrix. \throws InvalidArgument if the graph is not valid, see
  /// validate()
  explicit MatrixOperator(BsrMatrix<Scalar, Device> matrix, const execution_space& exec = {})
      : matrix_(matrix) {
    validate(exec, matrix.graph);
    long_rows_ = LongRows<Device>(exec, matrix.graph, matrix.block_size);
  }

  Offset numRows() const override { return matrix_.numPointRows(); }
  Offset numCols() const override { return matrix_.numPointCols(); }

  void apply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
             MultiVectorArg<Scalar, Device> y, Trans trans = Trans::No, Scalar alpha = 1,
             Scalar beta = 0) const override {
    spmv<Scalar, Scalar, Device>(exec, trans, alpha, matrix_, x, beta, y, long_rows_);
  }

private:
  BsrMatrix<Scalar, Device> matrix_;
  LongRows<Device> long_rows_;
};

} // namespace ainvil
