// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How a run ended, by the same rules in all programs: a solution is judged by the residual of the
/// system, not by what the solver believes, and whatever stops a run is a row of the table.

#include "solve/SolveRecord.hpp"
#include "solve/SolveSystem.hpp"

#include "Ainvil_Solver.hpp"

namespace ainvil {
namespace perf {

/// What the command line says of the solver.
SolverOptions solverOptions(const CommandLine& command);

/// ||b - A x|| / ||b|| that the run is to reach, of the system that --residual lets decide: --tol,
/// with --relative-to initial times that of the guess (but if that is 0: solvers do the same), or
/// --abs-tol / ||b|| where that is more.
double toleranceOf(const CommandLine& command, const LinearSystem& system);

/// The tolerance to go on with after a solver whose own system, scaled or rounded, has come to the
/// residual `reached` within `tolerance`, while the one that decides is at `residual` and is to
/// meet `wanted`: half of what it takes if both fall alike. Solvers may end far within their
/// tolerance.
double smallerTolerance(double tolerance, double reached, double wanted, double residual);

/// Judges the solution of a run. Expects `solution`, and in `converged`, `status` and `message`
/// what the solver says of it; sets both residuals and lets that of the command line's --residual
/// decide: within the tolerance the run has converged; beyond it a run that believes to have
/// converged has `stagnated`, or `diverged` if it is not finite, with a message.
void judge(const CommandLine& command, const LinearSystem& system, RunRecord& record);

/// Sums up `columns`, which are judged, in the members of the record.
void sumUpColumns(RunRecord& record);

/// A run of several repetitions is told by one of them, because kernels are asynchronous and some
/// preconditioners decide by measured times: by one that did not converge, or if all did by the one
/// with the fastest solve. allNotes() says how many iterations they took, where that differs.
///
/// Begins one: the record forgets what came of the last, but for the least times of set-ups and
/// applications, and returns it.
RunRecord beginRepetition(RunRecord& record);
/// Ends it, `before` being what beginRepetition() returned.
void endRepetition(const RunRecord& before, RunRecord& record);

/// The run ended by this exception: status `breakdown`, `out_of_memory`, `refused` (another
/// ainvil::Error: the preconditioner or the solver does not accept the system), `interrupted`, or
/// `failed` (anything else). The message is the exception's.
void recordFailure(const std::exception& error, RunRecord& record);

} // namespace perf
} // namespace ainvil
