// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Preconditioners as smoothers of MueLu. MueLu itself is not needed to compile this.

#include "Ainvil_TpetraListed.hpp"

#include <BelosLinearProblem.hpp>
#include <BelosSolverManager.hpp>
#include <BelosTpetraAdapter.hpp>

namespace ainvil {
namespace tpetra {

/// Some steps x <- x + omega M^-1 (b - A x), as a solver of Belos, since MueLu takes those for
/// smoothers and for coarse solvers. M is made of A, a CrsMatrix, by setProblem(). Parameters:
///   "Prec Type", "Prec Settings", "Allow Varying"  see ListedPreconditioner
///   "Sweeps"                                       steps, 1
///   "Damping Factor"                               omega, 1
/// A step costs a product with A and an application of M, the first one from x = 0 the latter
/// alone.
///
/// MueLu makes a solver at each set-up, from the same parameter list of the smoother, which
/// remains: M is kept in this list, so that new values in the same graph are computed, but not
/// initialized.
template <class Scalar, class LO, class GO, class Node>
class SmootherSolver final
    : public Belos::SolverManager<Scalar, Tpetra::MultiVector<Scalar, LO, GO, Node>,
                                  Tpetra::Operator<Scalar, LO, GO, Node>> {
public:
  using row_matrix_type = Tpetra::RowMatrix<Scalar, LO, GO, Node>;
  using multivector_type = Tpetra::MultiVector<Scalar, LO, GO, Node>;
  using operator_type = Tpetra::Operator<Scalar, LO, GO, Node>;
  using base_type = Belos::SolverManager<Scalar, multivector_type, operator_type>;
  using problem_type = Belos::LinearProblem<Scalar, multivector_type, operator_type>;

  /// Null for the default parameters. \throws as setParameters()
  explicit SmootherSolver(const Teuchos::RCP<Teuchos::ParameterList>& parameters = Teuchos::null);

  Teuchos::RCP<base_type> clone() const override;  ///< another one with the same parameters
  const problem_type& getProblem() const override; ///< \throws std::runtime_error without one
  /// All that there are, with their defaults.
  Teuchos::RCP<const Teuchos::ParameterList> getValidParameters() const override;
  /// All parameters, those that were not given with their defaults.
  Teuchos::RCP<const Teuchos::ParameterList> getCurrentParameters() const override {
    return parameters_;
  }
  int getNumIters() const override { return sweeps_; }  ///< steps of a solve()
  bool isLOADetected() const override { return false; } ///< there is no accuracy to lose

  /// Sets M up for the operator of the problem as it is now. Collective. \throws std::runtime_error
  /// if it is no Tpetra::RowMatrix, and what ListedPreconditioner::update() throws
  void setProblem(const Teuchos::RCP<problem_type>& problem) override;
  /// In place of those before, for the next setProblem(). \throws
  /// Teuchos::Exceptions::InvalidParameter for unknown ones and bad values
  void setParameters(const Teuchos::RCP<Teuchos::ParameterList>& parameters) override;
  /// Belos::Problem: M is set up for the values that the operator has now.
  void reset(const Belos::ResetType type) override;
  /// The steps from the x of the problem; from zero, if its initial residual is the very vector b.
  /// \returns Belos::Unconverged: no residual is looked at
  Belos::ReturnType solve() override;

  std::string description() const override; ///< in one line, that of M included

private:
  /// M, and the list in which it lies: a copy of that list must not share it.
  struct Kept {
    const Teuchos::ParameterList* list;
    ListedPreconditioner<row_matrix_type> preconditioner;
  };

  static multivector_type& workspace(Teuchos::RCP<multivector_type>& vectors,
                                     const multivector_type& like);
  void step(const multivector_type& r, multivector_type& x, Scalar beta);

  Teuchos::RCP<Kept> kept_;
  Teuchos::RCP<const Teuchos::ParameterList> parameters_;
  int sweeps_ = 1;
  Scalar damping_ = 1;
  Teuchos::RCP<problem_type> problem_;
  Teuchos::RCP<multivector_type> residual_, correction_; ///< workspace
};

/// Makes "AINVIL", in capitals or not, a type of smoothers and coarse solvers in MueLu's lists, in
/// C++ and XML:
///   "smoother: type"    "AINVIL"
///   "smoother: params"  a sublist with the parameters of SmootherSolver
/// and "coarse: type" and "coarse: params" likewise. Once is enough, before the list is read.
template <class Scalar = Tpetra::Operator<>::scalar_type,
          class LO = Tpetra::Operator<>::local_ordinal_type,
          class GO = Tpetra::Operator<>::global_ordinal_type,
          class Node = Tpetra::Operator<>::node_type>
void registerMueLuSmoother();

} // namespace tpetra
} // namespace ainvil
