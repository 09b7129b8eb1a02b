// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Solving on the ranks of an MPI job, by Ainvil's solvers or Belos'.

#include "solve/TpetraSolve.hpp"

#include "Ainvil_TpetraSolver.hpp"

#include <functional>

namespace ainvil {
namespace perf {

/// True if the solver of the command line applies M to every vector anew, and makes x of what came
/// of it.
bool takesVarying(const CommandLine& command);

/// \throws InvalidArgument if it is neither empty nor a solver of Belos' factory
void requireBelosSolver(const std::string& name);

/// What came of a system.
struct KrylovResult {
  /// What the solver says; whether x is good enough, the caller's residual tells.
  SolveStatus status = SolveStatus::Converged;
  std::string message; ///< why it did not converge; empty if it did
  int iterations = 0;
  double seconds = 0;
};

/// The Krylov solver of the command line for one matrix.
class TpetraKrylov {
public:
  /// In blocks of this size, see tpetra::BlockOperator; Belos has the products of Tpetra.
  /// Collective, as all calls here.
  TpetraKrylov(const CommandLine& command, const Teuchos::RCP<const TpetraRow>& a, int block_size);

  /// The matrix has new values.
  void update();

  /// Solves A x = b from the x given, preconditioned from the right. residual() is the relative
  /// residual that is to meet the tolerance, of x as it is then; where it does not although the
  /// solver is content, that goes on from there, as long as that helps. Both must be the same on
  /// all ranks.
  KrylovResult solve(const TpetraPreconditioner& m, const Teuchos::RCP<const TpetraVector>& b,
                     const Teuchos::RCP<TpetraVector>& x, double tolerance,
                     const std::function<double()>& residual);

private:
  KrylovResult solveByAinvil(const TpetraPreconditioner& m,
                             const Teuchos::RCP<const TpetraVector>& b,
                             const Teuchos::RCP<TpetraVector>& x, double tolerance,
                             const std::function<double()>& residual);

  const CommandLine& command_;
  Teuchos::RCP<const TpetraRow> a_;
  Teuchos::RCP<tpetra::BlockOperator<TpetraRow>> product_; ///< null for Belos
};

} // namespace perf
} // namespace ainvil
