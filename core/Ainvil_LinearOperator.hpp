// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What a Krylov solver needs to know of a matrix or a preconditioner.

#include "Ainvil_GraphAlgebra.hpp"
#include "product/Ainvil_SparseOperator.hpp"

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

  virtual Offset numPointRows() const = 0; ///< unknowns of y in the untransposed product
  virtual Offset numPointCols() const = 0; ///< unknowns of x in the untransposed product

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
/// `exec` for a pass over the graph, which checks it and finds its long rows. Any number of threads
/// and instances may apply it at the same time: see SparseOperator, which it puts behind the
/// interface.
template <class Scalar, class Device>
class MatrixOperator final : public LinearOperator<Scalar, Device> {
public:
  using typename LinearOperator<Scalar, Device>::execution_space;

  /// Shares the arrays of the matrix. \throws InvalidArgument if the graph is not valid, see
  /// validate()
  explicit MatrixOperator(BsrMatrix<Scalar, Device> matrix, const execution_space& exec = {})
      : operator_(exec, validated(exec, matrix)) {}

  Offset numPointRows() const override { return operator_.numPointRows(); }
  Offset numPointCols() const override { return operator_.numPointCols(); }

  void apply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
             MultiVectorArg<Scalar, Device> y, Trans trans = Trans::No, Scalar alpha = 1,
             Scalar beta = 0) const override {
    operator_.multiply(exec, trans, alpha, x, beta, y);
  }
  /// Does not compile: multivectors are column-major.
  template <class... Arguments>
  detail::EnableIfRowMajor<Arguments...> apply(const execution_space&, const Arguments&...) const {
    static_assert(detail::RequireColumnMajor<Arguments...>::value, "");
  }

private:
  static const BsrMatrix<Scalar, Device>& validated(const execution_space& exec,
                                                    const BsrMatrix<Scalar, Device>& matrix) {
    validate(exec, matrix.graph);
    return matrix;
  }

  SparseOperator<Scalar, Device> operator_;
};

} // namespace ainvil
