// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Solving on the ranks of an MPI job, by Ainvil's solvers or Belos'.

#include "solve/TpetraSolve.hpp"

#include "Ainvil_TpetraSolver.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ainvil {
namespace perf {

/// True if the solver of the command line applies M to every vector anew, and makes x of what came
/// of it.
bool takesVarying(const CommandLine& command);

/// \throws InvalidArgument if it is neither empty nor a solver of Belos' factory
void requireBelosSolver(const std::string& name);

/// What came of a right-hand side.
struct KrylovResult {
  /// What the solver says; whether x is good enough, the caller's residual tells.
  SolveStatus status = SolveStatus::Converged;
  std::string message; ///< why it did not converge; empty if it did
  int iterations = 0;
};

/// What came of all right-hand sides, and the seconds of all solves.
struct KrylovResults {
  std::vector<KrylovResult> columns;
  double seconds = 0;
};

/// The Krylov solver of the command line for one matrix.
class TpetraKrylov {
public:
  using Vectors = Tpetra::MultiVector<>;
  /// The relative residual of a column of x as it is at the call, the same on all ranks.
  using Residual = std::function<double(int column)>;

  /// In blocks of this size, see tpetra::BlockOperator; Belos has the products of Tpetra.
  /// Collective, as all calls here.
  TpetraKrylov(const CommandLine& command, const Teuchos::RCP<const TpetraRow>& a, int block_size);

  /// The matrix has new values.
  void update();

  /// Solves A X = B from the X given, preconditioned from the right: by Ainvil's solvers for all
  /// columns together, by Belos' for one after the other. residual(c) is to meet tolerances[c];
  /// where it does not although the solver is content, that goes on from there with this column, as
  /// long as that helps.
  KrylovResults solve(const TpetraPreconditioner& m, const Teuchos::RCP<const Vectors>& b,
                      const Teuchos::RCP<Vectors>& x, const std::vector<double>& tolerances,
                      const Residual& residual);

private:
  void solveByAinvil(const TpetraPreconditioner& m, const Vectors& b, Vectors& x,
                     const std::vector<double>& tolerances, const Residual& residual,
                     KrylovResults& results);

  const CommandLine& command_;
  Teuchos::RCP<const TpetraRow> a_;
  Teuchos::RCP<tpetra::BlockOperator<TpetraRow>> product_; ///< null for Belos
};

} // namespace perf
} // namespace ainvil
