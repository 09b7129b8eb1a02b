// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The preconditioner that is the fastest for a matrix, found by a race.

#include "Ainvil_Preconditioner.hpp"

#include <string>
#include <vector>

namespace ainvil {

/// The Krylov solver that a preconditioner is for; Usual: Cg where A looks SPD, else Gmres.
enum class RaceSolver { Gmres, Fgmres, Cg, BiCgStab, Usual };

/// Parameters of Auto.
struct AutoParameters {
  RaceSolver solver = RaceSolver::Gmres; ///< that the preconditioner is for
  int restart = 30;                      ///< of Gmres and Fgmres, >= 1
  /// Only these are raced, for createPreconditioner(); empty: all that suits the matrix.
  std::vector<std::string> among;
  /// Relative residual of the solve raced for; > 0, < 1. In float at least 1000 eps, 1.2e-4: less
  /// is rounding there.
  double tolerance = 1e-8;
  int max_iterations = 5000; ///< of a solve, >= 1
  double budget = 10;        ///< the race may take so many times the time of the best solve; > 0
  double seconds = 60;       ///< it ends after so many at any rate, converged or not; > 0

  static const ParameterTable<AutoParameters>& table(); ///< the keys that name them
};

/// Chooses a method for the matrix and is that method: what `createPreconditioner("auto")` makes.
/// The first compute() after an initialize() runs recommend() for one solver and the block size of
/// A on A x = A z, z of random entries +-1. Every later compute() is one of the method found,
/// so that a sequence of matrices of one pattern pays for the race once; where that breaks down
/// there is another race. The report notes the choice; where nothing converged it is what came
/// closest, and the report says so.
///
/// Cost of the first compute(): `budget` times the set-up and solve of the best, and the best's
/// set-up once more; the memory of several preconditioners. Times of the machine decide: where
/// methods are about as fast, the choice may vary from run to run.
template <class Scalar, class Device>
class Auto final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;
  using Parameters = AutoParameters; ///< what it is made with

  /// The keys that name them.
  static const ParameterTable<Parameters>& parameterTable() { return Parameters::table(); }

  /// \throws InvalidArgument for parameters out of range, and as createPreconditioner().
  explicit Auto(const AutoParameters& parameters);

  std::string description() const override;
  /// For createPreconditioner(); empty before the first compute().
  const std::string& chosen() const { return chosen_; }
  const Base* inner() const { return inner_.get(); } ///< what was chosen, null before
  bool isFixed() const override { return inner_ == nullptr || inner_->isFixed(); } ///< as chosen

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override;
  void doCompute(const execution_space& exec, const Matrix& a) override;
  void doDiagnose(const execution_space& exec, const Matrix& a) override;
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans trans) const override;

private:
  using Base::report_;

  void choose(const execution_space& exec, const Matrix& a);
  void takeReport();

  AutoParameters parameters_;
  PreconditionerPtr<Scalar, Device> inner_; ///< what was chosen; null before
  std::string chosen_, note_;
  double race_seconds_ = 0;
};

} // namespace ainvil
