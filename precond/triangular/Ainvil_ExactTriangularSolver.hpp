// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Triangular solves by substitution.

#include "graph/Ainvil_OrderedRows.hpp"
#include "triangular/Ainvil_TriangularSolver.hpp"

namespace ainvil {

/// Substitution has no parameters.
struct ExactParameters {};

/// y = op(T)^-1 x by substitution. On CUDA one launch with ready flags, and for the transposed
/// solve, which adds by atomics, a launch a level set of T. On hosts a launch a level set, or one
/// thread in the order of memory where the level sets promise no gain. Any number of columns.
/// `Storage` is the precision of the values, arithmetic is in Scalar. Source: Anderson and Saad
/// (1989); the flags: Liu, Li, Hogg, Duff, Vinter (2016).
template <class Storage, class Scalar, class Device>
class ExactTriangularSolver final : public TriangularSolver<Scalar, Device> {
public:
  using Base = TriangularSolver<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Factor;

  /// The parameters only choose the strategy.
  explicit ExactTriangularSolver(const ExactParameters& = {}) {}

  std::string description() const override { return "exact"; }
  void initialize(const execution_space& exec, const Factor& factor, const std::string& prefix,
                  Report& report) override;
  void compute(const execution_space& exec, const Factor& factor, const std::string& prefix,
               Report& report) override;
  void diagnose(const execution_space& exec, const Factor& factor, const std::string& prefix,
                Report& report) const override;
  void apply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
             MultiVectorArg<Scalar, Device> y, Trans trans) const override;
  Offset entries() const override;
  Offset bytes() const override;

private:
  TriangularFactor<Storage, Device> factor_; ///< the given one, or its rounded values
  OrderedRows<Device> order_;
  Ordinal longest_row_ = 0;
};

} // namespace ainvil
