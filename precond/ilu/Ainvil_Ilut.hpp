// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Block incomplete LU factorisation on a pattern that a threshold finds.

#include "ilu/Ainvil_Factorization.hpp"
#include "ilu/Ainvil_IluOnPattern.hpp"

namespace ainvil {

/// A ~ L U on a pattern that follows the values: the entries of an incomplete elimination that
/// exceed a threshold, and of these no more than a bound, the largest. The values on the pattern
/// are those of detail::IluOnPattern, for the matrix that the pattern was found for as for others:
/// a compute() that keeps the pattern is a numeric factorisation and allocates nothing.
/// detail::IlutRule is the rule; for the sources see detail::ilutPattern() and
/// detail::ilutPatternBySteps().
template <class Scalar, class Device>
class Ilut final : public Factorization<Scalar, Device> {
public:
  using Base = Factorization<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Factor;
  using typename Base::Matrix;
  using Parameters = IlutParameters; ///< what it is made with

  /// The keys that name them.
  static const ParameterTable<Parameters>& parameterTable() { return Parameters::table(); }

  /// \throws InvalidArgument for parameters out of range.
  explicit Ilut(IlutParameters parameters);

  std::string description() const override;

  /// Forgets what it had.
  void initialize(const execution_space& exec, const Matrix& a, Report& report) override;
  bool followsValues() const override { return true; }
  bool findPattern(const execution_space& exec, const Matrix& a, bool may_keep,
                   Report& report) override;
  void compute(const execution_space& exec, const Matrix& a, Report& report) override {
    factors_.compute(exec, a, report);
  }

  bool refusesNonFinite() const override { return factors_.refusesNonFinite(); }
  /// With sweeps, what they leave.
  void diagnose(const execution_space& exec, const Matrix& a, Report& report) const override {
    factors_.diagnose(exec, a, report);
  }

  const Factor& lower() const override { return factors_.lower(); }
  const Factor& upper() const override { return factors_.upper(); }

private:
  IlutParameters parameters_;
  detail::IluOnPattern<Scalar, Device> factors_;
  detail::PatternAge age_;
};

} // namespace ainvil
