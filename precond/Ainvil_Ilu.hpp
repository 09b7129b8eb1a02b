// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The preconditioner of an incomplete factorisation and a way to apply its triangular factors.

#include "ilu/Ainvil_Factorization.hpp"
#include "triangular/Ainvil_TriangularSolver.hpp"

#include <functional>

namespace ainvil {

/// What Ilu puts together.
template <class Scalar, class Device>
struct IluParts {
  FactorizationPtr<Scalar, Device> factorization; ///< of A
  TriangularSolverPtr<Scalar, Device> lower;      ///< how L^-1 is applied
  TriangularSolverPtr<Scalar, Device> upper;      ///< how U^-1 is applied
  Storage storage = Storage::Native;              ///< of what these apply
};

/// The same by name, see registerFactorization() and registerTriangularSolver(): what makes the
/// parts, with their parameters.
template <class Scalar, class Device>
struct IluChoice {
  std::function<FactorizationPtr<Scalar, Device>()> factorization;   ///< of A
  std::function<TriangularSolverPtr<Scalar, Device>(Storage)> solve; ///< for either factor
  Storage storage = Storage::Native;                                 ///< of what is applied
  operator IluParts<Scalar, Device>() const {                        ///< makes them
    return {factorization(), solve(storage), solve(storage), storage};
  }
};

/// M^-1 = U^-1 L^-1 with the factors L U ~ A of a Factorization and a TriangularSolver for each.
template <class Scalar, class Device>
class Ilu final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;
  using Parameters = IluChoice<Scalar, Device>; ///< of a specification

  /// The keys `factorization` and `solve`, those of all that is registered, and `storage`.
  static const ParameterTable<Parameters>& parameterTable();

  /// IluParameters and IluChoice convert to the parts. \throws InvalidArgument if one is missing.
  explicit Ilu(IluParts<Scalar, Device> parts);

  std::string description() const override;
  bool isFixed() const override { return parts_.lower->isFixed() && parts_.upper->isFixed(); }
  const Factorization<Scalar, Device>& factors() const { return *parts_.factorization; } ///< L, U
  const TriangularSolver<Scalar, Device>& lowerSolver() const { return *parts_.lower; }  ///< of L
  const TriangularSolver<Scalar, Device>& upperSolver() const { return *parts_.upper; }  ///< of U

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override;
  bool refusesNonFinite() const override { return parts_.factorization->refusesNonFinite(); }
  void doCompute(const execution_space& exec, const Matrix& a) override;
  void doDiagnose(const execution_space& exec, const Matrix& a) override;
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans trans) const override;

private:
  using Base::report_;

  IluParts<Scalar, Device> parts_;
  mutable MultiVector<Scalar, Device> intermediate_;
};

} // namespace ainvil
