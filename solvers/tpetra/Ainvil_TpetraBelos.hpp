// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The solvers over ranks under the names of Belos' factory.

#include "Ainvil_TpetraSolver.hpp"

#include <BelosLinearProblem.hpp>
#include <BelosSolverManager.hpp>
#include <BelosTpetraAdapter.hpp>

namespace ainvil {
namespace tpetra {

/// A Solver as Belos' applications know theirs. Of their parameters it reads
///   "Convergence Tolerance"      1e-8
///   "Implicit Residual Scaling"  what that is relative to: "Norm of Initial Residual" (or "... of
///                                Preconditioned Initial Residual", the same from the right),
///                                "Norm of RHS" or "None"
///   "Maximum Iterations"         1000
///   "Num Blocks"                 restart length of GMRES and FGMRES, 30
///   "Maximum Restarts"           of these, if given; one more cycle than that is run at most
///   "Use Single Reduction"       CG and BiCGStab: SolverOptions::reductions = Fewest; false
/// and of its own
///   "Pipelined"                  CG: SolverOptions::reductions = Pipelined; false
///   "Absolute Tolerance"         ||b - A x|| that ends a solve too, whichever comes first; 0
///   "Time Limit"                 seconds of a solve(), all right-hand sides together; 0: none
///   "Residual Weights"           an RCP<const multivector_type> of one column for
///                                Solver::setWeights(); null: residuals have no weights
///   "Matrix Block Size"          A is a CrsMatrix in such blocks, or a BlockCrsMatrix, and
///                                multiplied by a BlockOperator; by default, 0, as it is
///   "Allow Varying"              GMRES and CG take any preconditioner; false
/// and takes, without effect, the other parameters of Belos' GMRES, CG and BiCGStab, so that a list
/// need not be changed. Parameters of a call are added to those of earlier ones. \throws
/// Teuchos::Exceptions::InvalidParameter for names that Belos does not have either, and bad values
///
/// The preconditioner of the problem works from the right, also if it is given as the left one.
/// Several right-hand sides advance together, eight at a time, as Solver::solve() says. solve()
/// returns Unconverged if one of them has not converged, and does not throw, where the method
/// breaks down, diverges or stagnates: result() tells.
template <class Scalar, class LO, class GO, class Node>
class BelosSolver final
    : public Belos::SolverManager<Scalar, Tpetra::MultiVector<Scalar, LO, GO, Node>,
                                  Tpetra::Operator<Scalar, LO, GO, Node>> {
public:
  using multivector_type = Tpetra::MultiVector<Scalar, LO, GO, Node>;
  using operator_type = Tpetra::Operator<Scalar, LO, GO, Node>;
  using base_type = Belos::SolverManager<Scalar, multivector_type, operator_type>;
  using problem_type = Belos::LinearProblem<Scalar, multivector_type, operator_type>;

  /// "gmres", "fgmres", "cg" or "bicgstab"; null for the default parameters.
  explicit BelosSolver(std::string method,
                       const Teuchos::RCP<Teuchos::ParameterList>& parameters = Teuchos::null);

  Teuchos::RCP<base_type> clone() const override;  ///< another one with the same parameters
  const problem_type& getProblem() const override; ///< \throws std::runtime_error without one
  /// All that there are, with their defaults.
  Teuchos::RCP<const Teuchos::ParameterList> getValidParameters() const override;
  /// All parameters, those that were not given with their defaults.
  Teuchos::RCP<const Teuchos::ParameterList> getCurrentParameters() const override;
  /// Of the last solve(), the sum over all right-hand sides.
  int getNumIters() const override { return iterations_; }
  /// The largest recomputed residual of the last solve(), relative as its parameters say.
  typename Teuchos::ScalarTraits<Scalar>::magnitudeType achievedTol() const override {
    return achieved_;
  }
  /// The recurrence met the tolerance, but rounding keeps the recomputed residual above.
  bool isLOADetected() const override { return result_.status == SolveStatus::Stagnated; }

  /// What the next solve() solves.
  void setProblem(const Teuchos::RCP<problem_type>& problem) override { problem_ = problem; }
  /// In place of those before. \throws std::exception for unknown ones
  void setParameters(const Teuchos::RCP<Teuchos::ParameterList>& parameters) override;
  /// Belos::Problem: the workspace and, with "Matrix Block Size", the graph of A are made anew at
  /// the next solve(), as for a matrix with other entries.
  void reset(const Belos::ResetType type) override;
  /// Collective, also in what it throws: see Solver::solve(). Values of A are those it has now.
  Belos::ReturnType solve() override;

  /// Of the column with the worst outcome in the last solve(): one that has not converged, if there
  /// is any, of these the one with the largest recomputed residual.
  const SolveResult& result() const { return result_; }
  std::string description() const override; ///< in one line

private:
  using RowMatrix = Tpetra::RowMatrix<Scalar, LO, GO, Node>;

  using Weights = Teuchos::RCP<const multivector_type>;

  SolverOptions options() const;
  const operator_type& product(const Teuchos::RCP<const operator_type>& a);

  std::string method_;
  Teuchos::RCP<Teuchos::ParameterList> given_;
  Teuchos::RCP<problem_type> problem_;
  std::unique_ptr<Solver<Scalar, LO, GO, Node>> solver_; ///< null: to be made
  Teuchos::RCP<BlockOperator<RowMatrix>> blocks_;        ///< null: to be made, or not wanted
  SolveResult result_;
  int iterations_ = 0;
  double achieved_ = 0;
};

/// Makes "AINVIL GMRES", "AINVIL FGMRES", "AINVIL CG" and "AINVIL BICGSTAB", in capitals or not,
/// known to all objects of Belos::SolverFactory for these types. Once is enough.
template <class Scalar = Tpetra::Operator<>::scalar_type,
          class LO = Tpetra::Operator<>::local_ordinal_type,
          class GO = Tpetra::Operator<>::global_ordinal_type,
          class Node = Tpetra::Operator<>::node_type>
void registerBelosSolvers();

} // namespace tpetra
} // namespace ainvil
