// SPDX-License-Identifier: BSD-3-Clause
#include "solve/SolveOutcome.hpp"

#include "program/Interruption.hpp"

#include "Ainvil_Error.hpp"
#include "backend/Ainvil_Remedies.hpp"

#include <algorithm>
#include <cmath>
#include <new>

namespace ainvil {
namespace perf {
namespace {

/// What to do where the residual that decides is larger than the one that the solver saw.
std::string remedy(const CommandLine& command, const LinearSystem& system) {
  if (command.single_precision)
    return "; float resolves no more of this system: take --precision double";
  std::vector<std::string> taken; // or refused beside what is
  if (command.match != "none" || command.decides_scaled)
    taken.push_back("--scale");
  if (!command.isScaled() || command.decides_scaled)
    taken.push_back("--residual");
  const bool may_divide = system.num_weak_diagonals == 0;
  return detail::Remedies{
      {"take a larger --tol"},
      {command.scale != "none" ? "another --scale"
       : may_divide            ? "--scale diagonal"
                               : "--scale norm",
       "--scale"},
      {"--residual scaled if that of the scaled system is what counts", "--residual"}}
      .without(taken)
      .after("; rounding keeps it there");
}

/// Those that are the least of several repetitions.
void copyLeastTimes(const RunRecord& from, RunRecord& to) {
  to.setup_phases = from.setup_phases;
  to.setup_seconds = from.setup_seconds;
  to.first_setup_seconds = from.first_setup_seconds;
  to.recompute_seconds = from.recompute_seconds;
  to.apply30_seconds = from.apply30_seconds;
}

} // namespace

SolverOptions solverOptions(const CommandLine& command) {
  SolverOptions options;
  options.tolerance = command.tolerance;
  options.max_iterations = command.max_iterations;
  options.restart = command.restart;
  options.time_limit = command.time_limit;
  options.reductions = command.reductions == "fewest"      ? Reductions::Fewest
                       : command.reductions == "pipelined" ? Reductions::Pipelined
                                                           : Reductions::Usual;
  if (command.reorthogonalize != "default")
    options.reorthogonalize =
        command.reorthogonalize == "always" ? Reorthogonalize::Always : Reorthogonalize::IfNeeded;
  options.basis = command.float_basis ? Storage::Float : Storage::Native;
  options.allow_varying = command.allow_varying;
  return options;
}

double toleranceOf(const CommandLine& command, const LinearSystem& system) {
  double tolerance = command.tolerance;
  const double of_guess =
      command.decides_scaled ? system.scaled_guess_residual : system.guess_residual;
  if (command.relative_to_guess && of_guess > 0 && std::isfinite(of_guess))
    tolerance *= of_guess;
  if (command.absolute_tolerance == 0)
    return tolerance;
  const double norm =
      command.decides_scaled ? normOf(system.rhs) * system.rhs_scale : normOf(system.original_rhs);
  return std::fmax(tolerance, command.absolute_tolerance / (norm > 0 ? norm : 1));
}

double smallerTolerance(double tolerance, double reached, double wanted, double residual) {
  const double from = reached > 0 ? std::fmin(tolerance, reached) : tolerance;
  return 0.5 * from * wanted / residual;
}

void judge(const CommandLine& command, const LinearSystem& system, RunRecord& record) {
  record.rel_residual = relativeResidual(system.original_matrix, system.original_rhs,
                                         originalSolution(system, record.solution));
  record.scaled_rel_residual = !command.isScaled()
                                   ? not_measured
                                   : relativeResidual(system.matrix, system.rhs, record.solution);
  const double residual = record.decisiveResidual(command);
  const bool claimed = record.converged;
  record.converged = residual <= toleranceOf(command, system);
  if (record.converged) {
    record.status = toString(SolveStatus::Converged);
    record.message.clear();
  } else if (claimed) {
    record.status =
        toString(std::isfinite(residual) ? SolveStatus::Stagnated : SolveStatus::Diverged);
    record.message =
        message("the solver ended within its tolerance, but the recomputed residual is ", residual,
                remedy(command, system));
  }
}

void sumUpColumns(RunRecord& record) {
  // The first of the worst counts; NaN is worse than any number.
  const auto worse = [](const RunRecord& a, const RunRecord& b) {
    if (a.converged != b.converged)
      return b.converged;
    return !std::isnan(b.rel_residual) && !(a.rel_residual <= b.rel_residual);
  };
  size_t worst = 0, longest = 0;
  for (size_t c = 1; c < record.columns.size(); ++c) {
    if (worse(record.columns[c], record.columns[worst]))
      worst = c;
    if (record.columns[c].iterations > record.columns[longest].iterations)
      longest = c;
  }
  const RunRecord& column = record.columns[worst];
  record.converged = column.converged;
  record.status = column.status;
  record.message =
      column.message.empty() ? "" : message("right-hand side ", worst + 1, ": ", column.message);
  record.rel_residual = column.rel_residual;
  record.scaled_rel_residual = column.scaled_rel_residual;
  record.iterations = record.columns[longest].iterations;
  record.history = record.columns[longest].history;
}

RunRecord beginRepetition(RunRecord& record) {
  RunRecord before = record;
  record = {};
  record.precond = before.precond;
  record.library = before.library;
  copyLeastTimes(before, record);
  return before;
}

void endRepetition(const RunRecord& before, RunRecord& record) {
  const bool first = std::isnan(before.solve_seconds);
  const int iterations = record.iterations;
  const bool before_counts = before.converged != record.converged
                                 ? record.converged
                                 : before.solve_seconds <= record.solve_seconds;
  if (!first && before_counts) {
    RunRecord kept = before;
    copyLeastTimes(record, kept);
    record = kept;
  }
  record.fewest_iterations = first ? iterations : std::min(before.fewest_iterations, iterations);
  record.most_iterations = first ? iterations : std::max(before.most_iterations, iterations);
}

void recordFailure(const std::exception& error, RunRecord& record) {
  record.converged = false;
  record.message = error.what();
  if (dynamic_cast<const BreakdownError*>(&error) != nullptr) {
    record.status = toString(SolveStatus::Breakdown);
  } else if (dynamic_cast<const OutOfMemory*>(&error) != nullptr) {
    record.status = "out_of_memory";
  } else if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    record.status = "out_of_memory";
    record.message = "there is not enough memory";
  } else if (dynamic_cast<const Interrupted*>(&error) != nullptr) {
    record.status = "interrupted";
  } else {
    record.status = dynamic_cast<const Error*>(&error) != nullptr ? "refused" : "failed";
  }
}

} // namespace perf
} // namespace ainvil
