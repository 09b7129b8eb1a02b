// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The triangular strategies: ways to apply the inverse of a triangular factor.

#include "Ainvil_Preconditioner.hpp"
#include "product/Ainvil_SparseOperator.hpp"
#include "triangular/Ainvil_TriangularFactor.hpp"

namespace ainvil {

/// y = op(T)^-1 x, exactly or approximately, for a triangular factor T. The three verbs as in
/// Preconditioner; shapes have been checked by the caller. Neither copied nor moved, as these.
template <class Scalar, class Device>
class TriangularSolver {
  static_assert(detail::CompiledScalar<Scalar, Device>::value, "");

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
  /// Notes in the report what compute() does without: see Preconditioner::diagnose().
  virtual void diagnose(const execution_space& /* exec */, const Factor& /* factor */,
                        const std::string& /* prefix */, Report& /* report */) const {}
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

} // namespace ainvil
