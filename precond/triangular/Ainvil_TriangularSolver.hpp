// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The triangular strategies: ways to apply the inverse of a triangular factor.

#include "Ainvil_Preconditioner.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "product/Ainvil_StoredValues.hpp"
#include "triangular/Ainvil_TriangularFactor.hpp"

#include <type_traits>

namespace ainvil {

/// y = op(T)^-1 x, exactly or approximately, for a triangular factor T. The three verbs as in
/// Preconditioner; shapes have been checked by the caller. Neither copied nor moved, as these.
template <class Scalar, class Device>
class TriangularSolver {
public:
  using execution_space = typename Device::execution_space;
  using Factor = TriangularFactor<Scalar, Device>; ///< T

  TriangularSolver(const TriangularSolver&) = delete;
  TriangularSolver& operator=(const TriangularSolver&) = delete;
  virtual ~TriangularSolver() = default;

  /// Name and parameters in one line, for descriptions: "isai, power: 2".
  virtual std::string description() const = 0;

  /// Symbolic phase: the graph of T. `prefix` ("lower_", "upper_") names its phases in the report.
  virtual void initialize(const execution_space& exec, const Factor& factor,
                          const std::string& prefix, Report& report) = 0;
  /// Numeric phase: the values of T.
  virtual void compute(const execution_space& exec, const Factor& factor, const std::string& prefix,
                       Report& report) = 0;
  /// y = op(T)^-1 x; x and y must not overlap. Asynchronous.
  virtual void apply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
                     MultiVectorArg<Scalar, Device> y, Trans trans) const = 0;

  /// As in LinearOperator.
  virtual bool isFixed() const { return true; }
  virtual Offset entries() const = 0; ///< scalar entries applied, diagonal included
  virtual Offset bytes() const = 0;   ///< bytes read by one application

protected:
  TriangularSolver() = default;
};

/// What holds a strategy.
template <class Scalar, class Device>
using TriangularSolverPtr = std::unique_ptr<TriangularSolver<Scalar, Device>>;

namespace detail {

/// A factor held in a storage precision: the factor itself where that is its own, else a rounded
/// copy refreshed by update().
template <class Storage, class Scalar, class Device>
class StoredFactor {
public:
  using execution_space = typename Device::execution_space;

  void initialize(const execution_space& exec, const TriangularFactor<Scalar, Device>& factor) {
    if constexpr (std::is_same<Storage, Scalar>::value) {
      factor_ = factor;
    } else {
      factor_.matrix = BsrMatrix<Storage, Device>(
          factor.matrix.graph,
          allocate<Storage, Device>(exec, "Ainvil::factor", factor.matrix.values.extent(0)),
          factor.matrix.block_size);
      factor_.diagonal_inverse = allocate<Storage, Device>(exec, "Ainvil::diagonal_inverse",
                                                           factor.diagonal_inverse.extent(0));
      factor_.uplo = factor.uplo;
      factor_.unit = factor.unit;
    }
  }

  /// \throws InvalidArgument if the factor does not fit the range of the storage precision.
  void update(const execution_space& exec, const TriangularFactor<Scalar, Device>& factor) {
    if constexpr (!std::is_same<Storage, Scalar>::value) {
      convert<Scalar, Storage, Device>(exec, factor.matrix.values, factor_.matrix.values);
      convert<Scalar, Storage, Device>(exec, factor.diagonal_inverse, factor_.diagonal_inverse);
      checkStorage(exec, factor_.matrix, !factor_.unit);
      checkDiagonalStorage<Storage, Device>(exec, factor_.diagonal_inverse,
                                            factor_.matrix.block_size);
    }
  }

  const TriangularFactor<Storage, Device>& operator*() const { return factor_; }
  const TriangularFactor<Storage, Device>* operator->() const { return &factor_; }

private:
  TriangularFactor<Storage, Device> factor_;
};

} // namespace detail
} // namespace ainvil
