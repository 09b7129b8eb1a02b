// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// ainvil-solve --recommend: the race of the library, with the table and files of the program.

#include "solve/RaceReport.hpp"
#include "solve/SolveOutputs.hpp"
#include "solve/SolveReport.hpp"
#include "solve/SolveRun.hpp"

namespace ainvil {
namespace perf {

/// The iterate of a race as the functions that judge take it.
inline Vector<double, HostDevice> solutionOf(const std::vector<double>& x) {
  const auto solution = allocateView<Vector<double, HostDevice>>(HostDevice::execution_space(),
                                                                 "Ainvil::solution", x.size());
  std::copy(x.begin(), x.end(), solution.data());
  return solution;
}

/// Runs it. Every entry is judged by the residual of the system as the user gave it and written as
/// it ends; a signal ends the race, and what it has found until then is printed.
template <class Scalar, class Device>
ExitCode runRace(const CommandLine& command, const LinearSystem& system, ProgressLine& progress,
                 std::ostream& out, SolveOutputs& outputs) {
  const typename Device::execution_space exec;
  const Environment environment = describe(exec);
  const int block_size = system.matrix.block_size;
  const auto a = Runner<Scalar, Device>::toDevice(system.matrix);
  const auto b = Runner<Scalar, Device>::toDevice(system.rhs);

  RecommendOptions options;
  options.tolerance = command.tolerance;
  options.max_iterations = command.max_iterations;
  if (command.solver_is_given) {
    options.solver = command.solver;
    options.restart = command.restart;
  }
  options.preconds = command.preconds;
  options.budget = command.budget;
  const Stopwatch watch(command.cpu_clock);
  options.clock = [&] { return watch.seconds(); };
  options.progress = [&](const RaceState& state) {
    if (progress.isDue())
      progress.show(progressText(state, block_size));
    return caughtSignal() == 0;
  };
  options.residual = [&](const std::vector<double>& x) {
    RunRecord record;
    record.converged = true;
    record.solution = solutionOf(x);
    judge(command, system, record);
    return record.decisiveResidual(command);
  };
  options.ended = [&](const RaceEntry& entry, const std::vector<double>& x) {
    RunRecord record = recordOf(entry);
    if (!x.empty()) {
      record.solution = solutionOf(x);
      judge(command, system, record);
    }
    const CommandLine own = commandOf(command, entry);
    const std::string json = toJson(record, own, system, environment);
    outputs.add(std::move(record), json);
  };
  Recommendation found = recommend<Scalar, Device>(exec, a, b, options);
  progress.clear();

  // The race may have run the fastest once more since their records were written.
  std::vector<RunRecord> records = outputs.records();
  std::string json;
  for (size_t i = 0; i < records.size(); ++i) {
    if (records[i].converged) {
      records[i].setup_seconds = records[i].first_setup_seconds = found.race[i].setupSeconds();
      records[i].solve_seconds = found.race[i].solve_seconds;
    }
    json += toJson(records[i], commandOf(command, found.race[i]), system, environment);
  }
  if (found.converged())
    outputs.update(records, solutionOf(found.x), json);
  printRace(out, command, found, records, block_size);
  const size_t best = bestRun(records);
  outputs.finish();
  return outputs.failed()                                   ? bad_input
         : best < records.size() && records[best].converged ? success
                                                            : not_converged;
}

} // namespace perf
} // namespace ainvil
