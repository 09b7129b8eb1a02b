// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What ainvil-solve measures.

#include "solve/SolveCommandLine.hpp"

#include "Ainvil_Error.hpp"
#include "Ainvil_Types.hpp"
#include "backend/Ainvil_Profiling.hpp"

#include <limits>
#include <string>
#include <vector>

namespace ainvil {
namespace perf {

/// Where the runs took place.
struct Environment {
  std::string exec_space;
  std::string device; ///< name of the GPU or CPU
  int threads = 0;    ///< of the host, on each rank
  int ranks = 1;
};

constexpr double not_measured = std::numeric_limits<double>::quiet_NaN();

/// One preconditioner, one solver, one system. Times are wall-clock seconds, fenced at both ends;
/// of several repetitions the minimum of each, but for `solve_seconds`, which belong to the outcome
/// that is told (see beginRepetition()). A run that ended in its setup has measured nothing else.
struct RunRecord {
  std::string precond;
  std::string library = "Ainvil";              ///< with its version where it is another one
  int block_size = 0;                          ///< 0: that of the system
  std::vector<PhaseTimes::Phase> setup_phases; ///< of the fastest setup
  double setup_seconds = not_measured;         ///< initialize and compute
  double first_setup_seconds = not_measured;   ///< of the first repetition
  double recompute_seconds = not_measured;     ///< compute on the same graph, if repeated
  double apply30_seconds = not_measured;       ///< 30 applications after one that is not timed
  double solve_seconds = not_measured;
  double totalSeconds() const { return setup_seconds + solve_seconds; }

  Offset factor_entries = 0;
  Offset factor_bytes = 0;
  Offset breakdowns = 0;
  Offset peak_bytes = 0; ///< most memory held during the run, system and solver included
  std::string notes;

  bool converged = false;
  std::string solver; ///< of a race; else empty: that of the command line
  std::string status;
  std::string message; ///< why it did not converge; empty if it did
  int iterations = 0;
  int fewest_iterations = 0, most_iterations = 0; ///< of all repetitions
  /// ||b - A x|| / ||b|| of the system as the user gave it, recomputed in double on the host.
  double rel_residual = not_measured;
  double scaled_rel_residual = not_measured; ///< of S A S, if the system is scaled
  std::vector<double> history;         ///< relative residual after each iteration, from the 0th
  std::vector<double> history_seconds; ///< of a race: set-up and solve until each of them
  Vector<double, HostDevice> solution; ///< of the system as the solver sees it
  /// Of several right-hand sides what became of each, the members that the solver and judge() set.
  /// Above are then the worst status and residuals, the most iterations, and the history of the
  /// column that took them; `solution` is empty.
  std::vector<RunRecord> columns;
  /// Seconds of a race at which the run began and ended, if it was one of a race.
  double race_began = not_measured, race_ended = not_measured;

  /// The notes, and what the repetitions did not have in common.
  std::string allNotes() const {
    if (fewest_iterations == most_iterations)
      return notes;
    return (notes.empty() ? "" : notes + ", ") + ainvil::message("repetitions took ",
                                                                 fewest_iterations, " to ",
                                                                 most_iterations, " iterations");
  }
  /// The residual that --residual lets decide.
  double decisiveResidual(const CommandLine& command) const {
    return command.decides_scaled ? scaled_rel_residual : rel_residual;
  }
};

/// The run a user would choose: converged before not, then the fastest or the smallest residual.
/// Returns records.size() if no run has a finite residual.
inline size_t bestRun(const std::vector<RunRecord>& records) {
  const auto better = [](const RunRecord& a, const RunRecord& b) {
    if (a.converged != b.converged)
      return a.converged;
    return a.converged ? a.totalSeconds() < b.totalSeconds() : a.rel_residual < b.rel_residual;
  };
  size_t best = records.size();
  for (size_t i = 0; i < records.size(); ++i)
    if (records[i].rel_residual < std::numeric_limits<double>::infinity() &&
        (best == records.size() || better(records[i], records[best])))
      best = i;
  return best;
}

} // namespace perf
} // namespace ainvil
