// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Diagonal preconditioners: the baselines.

#include "breakdown/Ainvil_DiagonalInverse.hpp"

namespace ainvil {

/// There are none.
struct IdentityParameters {};

/// M = I.
template <class Scalar, class Device>
class Identity final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;

  /// The parameters choose nothing.
  explicit Identity(const IdentityParameters& = {}) {}

  std::string description() const override { return "none"; }

protected:
  void doInitialize(const execution_space&, const Matrix&) override {}
  void doCompute(const execution_space&, const Matrix&) override {}
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans) const override {
    axpby<Scalar, Device>(exec, Scalar(1), x, Scalar(0), y);
  }
};

/// Which diagonal, and what to do where it is singular.
struct JacobiParameters {
  bool point = false; ///< invert the scalar diagonal instead of the diagonal blocks
  BreakdownPolicy breakdown = BreakdownPolicy::Fail; ///< for blocks that are singular
  double shift = 1e-3; ///< relative size of the shift under BreakdownPolicy::Shift
  /// A block counts as singular where a row or column of it has no entry above so many eps of
  /// double times the largest entry of its row of A; >= 0.
  double pivot_tolerance = 10;

  static const ParameterTable<JacobiParameters>& table(); ///< the keys that name them
};

/// M = the diagonal blocks of A, or its scalar diagonal; the inverses are stored.
template <class Scalar, class Device>
class Jacobi final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;

  using Parameters = JacobiParameters; ///< what it is made with

  /// The keys that name them.
  static const ParameterTable<Parameters>& parameterTable() { return Parameters::table(); }

  /// \throws InvalidArgument for parameters out of range.
  explicit Jacobi(JacobiParameters parameters);

  std::string description() const override;

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override;
  void doCompute(const execution_space& exec, const Matrix& a) override;
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans trans) const override;

private:
  using Base::report_;

  JacobiParameters parameters_;
  detail::DiagonalInverse<Scalar, Device> inverse_;
};

} // namespace ainvil
