// SPDX-License-Identifier: BSD-3-Clause
#include "solve/NewtonReport.hpp"

#include "solve/SolveReport.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace ainvil {
namespace perf {

void NewtonTable::print(const std::string& precond, const NewtonResult& result,
                        const Environment& environment) {
  if (command_.quiet)
    return;
  if (!begun_) {
    out_ << "problem   " << command_.problem << ": " << 3 * Offset(result.points) << " rows, "
         << result.entries << " entries in blocks of size 3\nmachine   " << machineText(environment)
         << "\nsolver    " << solverText(command_) << "; Newton's method to "
         << command_.newton_tolerance << "\n";
    begun_ = true;
  }
  out_ << "\n"
       << precond << "\n"
       << "step  iters  initialize s  compute s  precond s   solve s  ||F|| / ||F_0||\n";
  for (size_t i = 0; i < result.steps.size(); ++i) {
    const NewtonStep& step = result.steps[i];
    char line[160];
    std::snprintf(line, sizeof(line), "%4zu  %5d  %12.5f  %9.5f  %9.5f  %8.5f  %8.2e%s\n", i + 1,
                  step.iterations, step.initialize_seconds, step.compute_seconds,
                  step.precond_seconds, step.gmres_seconds, step.residual,
                  step.converged ? "" : "  (linear solve not converged)");
    out_ << line;
  }
  if (!result.message.empty())
    out_ << result.status << ": " << result.message << "\n";
  out_ << (result.converged ? "converged\n" : "NOT converged\n") << std::flush;
}

std::string toJson(const std::string& precond, const NewtonResult& result,
                   const CommandLine& command, const Environment& environment) {
  using Json = nlohmann::ordered_json;
  Json steps = Json::array();
  for (const NewtonStep& step : result.steps) {
    Json phases = Json::object();
    for (const PhaseTimes::Phase& phase : step.phases)
      phases[phase.first] = phase.second;
    steps.push_back({{"iterations", step.iterations},
                     {"linear_converged", step.converged},
                     {"initializations", step.initializations},
                     {"initialize_seconds", step.initialize_seconds},
                     {"compute_seconds", step.compute_seconds},
                     {"setup_seconds", phases},
                     {"precond_seconds", step.precond_seconds},
                     {"solve_seconds", step.gmres_seconds},
                     {"rel_newton_residual", step.residual}});
  }
  Json run;
  run["problem"] = command.problem;
  run["rows"] = 3 * Offset(result.points);
  run["nnz"] = result.entries;
  run["block_size"] = 3;
  run["precond"] = precond;
  run["newton_tolerance"] = command.newton_tolerance;
  run["steps"] = steps;
  run["status"] = result.status;
  run["message"] = result.message;
  addSetting(run, command, environment);
  return run.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace perf
} // namespace ainvil
