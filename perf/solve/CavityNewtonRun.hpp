// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The lid-driven cavity by Newton's method on the ranks of an MPI job.

#include "solve/RanksTogether.hpp"
#include "solve/TpetraSolve.hpp"

#include "gallery/Ainvil_CavityNewton.hpp"

namespace ainvil {
namespace perf {

/// One step. Times are those of the slowest rank.
struct NewtonStep {
  double initialize_seconds = 0; ///< symbolic set-up: of the first step, or of all with --overlap
  int initializations = 0;       ///< of the preconditioner so far, as it counts them
  double compute_seconds = 0;
  std::vector<PhaseTimes::Phase> phases; ///< of the set-up, as in RunRecord
  double gmres_seconds = 0;              ///< the linear solve, applications included
  double precond_seconds = 0; ///< so many applications as the solve has had, timed on their own
  int iterations = 0;
  bool converged = false; ///< the linear solve
  double residual = 0;    ///< ||F|| / ||F_0|| after the step
};

struct NewtonResult {
  std::vector<NewtonStep> steps;
  bool converged = false;
  std::string status;  ///< "converged", "not converged", or that of a run which has been stopped
  std::string message; ///< why it was stopped, else empty
  Ordinal points = 0;  ///< of the grid
  Offset entries = 0;  ///< of the Jacobian
};

/// The N of "cavity-newton:N", or 0 if the command line asks for something else.
/// \throws InvalidArgument
Ordinal cavityNewtonSize(const CommandLine& command);

/// Newton's method from rest, x -= d with J d = F: one initialize() of the preconditioner,
/// one compute() a step.
class CavityNewtonRun {
public:
  CavityNewtonRun(const CommandLine& command, Ordinal n,
                  const Teuchos::RCP<const tpetra::Comm>& comm, const RanksTogether& ranks);

  /// Whatever stops the run is part of the result.
  NewtonResult run(const std::string& specification);

private:
  using Device = tpetra::Map::node_type::device_type;
  using Exec = Device::execution_space;
  using Import = Tpetra::Import<>;

  double assemble();
  double linearResidual(const TpetraRow& matrix);
  void iterate(const std::string& specification, NewtonResult& result);

  const CommandLine& command_;
  Ordinal n_;
  Teuchos::RCP<const tpetra::Comm> comm_;
  const RanksTogether& ranks_;
  Teuchos::RCP<Tpetra::BlockCrsMatrix<>> blocks_;
  Teuchos::RCP<Tpetra::CrsMatrix<>> points_; ///< the same in points, if wanted
  Kokkos::View<const Offset*, Device> point_source_;
  std::unique_ptr<CavityNewton<Device>> cavity_;
  Teuchos::RCP<const Import> to_columns_; ///< of unknowns
  Teuchos::RCP<TpetraVector> x_, x_columns_, f_, d_;
};

} // namespace perf
} // namespace ainvil
