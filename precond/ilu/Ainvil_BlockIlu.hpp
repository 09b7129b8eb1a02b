// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Block incomplete LU factorisation with level of fill.

#include "ilu/Ainvil_Factorization.hpp"
#include "ilu/Ainvil_IluOnPattern.hpp"

namespace ainvil {

/// A ~ L U on the pattern of ILU(k), by detail::IluOnPattern. Source: Saad, Iterative Methods for
/// Sparse Linear Systems (2003), sections 10.3 and 10.4; modified: section 10.3.5, Gustafsson, A
/// class of first order factorization methods, BIT 18 (1978).
template <class Scalar, class Device>
class BlockIlu final : public Factorization<Scalar, Device> {
public:
  using Base = Factorization<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Factor;
  using typename Base::Matrix;
  using Parameters = BlockIluParameters; ///< what it is made with

  /// The keys that name them.
  static const ParameterTable<Parameters>& parameterTable() { return Parameters::table(); }

  /// \throws InvalidArgument for parameters out of range.
  explicit BlockIlu(BlockIluParameters parameters);

  std::string description() const override;

  /// Pattern of the factors, row order of the factorisation. Records its phases in `report`. A may
  /// lack diagonal blocks: the factors have all of them.
  void initialize(const execution_space& exec, const Matrix& a, Report& report) override;

  /// Factors of a matrix with the same graph. \throws BreakdownError under the policy `fail`, or if
  /// the factors overflow.
  void compute(const execution_space& exec, const Matrix& a, Report& report) override {
    factors_.compute(exec, a, report);
  }

  bool refusesNonFinite() const override { return factors_.refusesNonFinite(); }

  /// As detail::IluOnPattern has it.
  double residual(const execution_space& exec, const Matrix& a) const {
    return factors_.residual(exec, a);
  }

  /// With sweeps, that residual.
  void diagnose(const execution_space& exec, const Matrix& a, Report& report) const override {
    factors_.diagnose(exec, a, report);
  }

  const Factor& lower() const override { return factors_.lower(); }
  const Factor& upper() const override { return factors_.upper(); }

private:
  BlockIluParameters parameters_;
  detail::IluOnPattern<Scalar, Device> factors_;
};

} // namespace ainvil
