// SPDX-License-Identifier: BSD-3-Clause
#include "studies/SweepsOptions.hpp"

#include "program/CommandLineOptions.hpp"

namespace ainvil {
namespace perf {
namespace {

constexpr const char* description =
    "Measures triangular solves and incomplete factorisations by sweeps against exact ones.";

/// The last of them has a few very long rows.
const std::vector<std::string> default_problems = {
    "cavity:300", "laplace27:64", "convdiff:74x74x29", "poisson5:1000", "circuit:116835"};

void check(const SweepsOptions& options) {
  requireAtLeast("--sweeps", options.sweeps, options.study == "solve" ? 1 : 0);
  requireAtLeast("--runs", options.runs, 1);
  requireAtLeast("--power", options.power, 2);
  requireAtLeast("--factor-sweeps", options.factor_sweeps, 0);
  requireAtLeast("--restart", options.restart, 1);
  requireAtLeast("--max-iters", options.max_iterations, 0);
  requireTolerance("--tol", options.tolerance);
}

} // namespace

SweepsOptions parseSweepsOptions(const std::vector<std::string>& arguments) {
  SweepsOptions options;

  CLI::App app(description, "ainvil-triangular-sweeps");
  addStudyOptions(app, options, "Kokkos' default execution space or its host space",
                  {"default", "host"});
  addChoice(app, "--reorder", options.reorder, "order of the rows; default none", {"none", "rcm"});
  CLI::Option* const block_size =
      app.add_option("--block-size", options.block_size,
                     "regroup in blocks of this size; default: the problem's, 1 for files")
          ->type_name("B");
  Studies studies(app, options);

  CLI::App& residuals = studies.add(
      "residuals", "what sweeps on L x = 1 and U x = 1 of ILU(0) leave, one after the other");
  addNumber(residuals, "--sweeps", options.sweeps, "N", "most sweeps");
  addNumber(residuals, "--runs", options.runs, "R", "runs of the asynchronous sweeps");

  studies.add("cost", "time of a sweep against exact solves and products, ours and others'");
  studies.add("product", "time of a product with A, ours and others', against a copy");

  CLI::App& pattern = studies.add(
      "pattern", "time of the patterns of powers of L, ours and by Kokkos Kernels' SpGEMM");
  addNumber(pattern, "--power", options.power, "P", "highest power, from 2 on");

  CLI::App& solve = studies.add("solve", "FGMRES with ILU(0) against the number of sweeps");
  int solve_sweeps = 10;
  addNumber(solve, "--sweeps", solve_sweeps, "N", "most sweeps of a triangular solve");
  addNumber(solve, "--factor-sweeps", options.factor_sweeps, "N",
            "most sweeps of the factorisation");
  addNumber(solve, "--restart", options.restart, "M", "restart length");
  addNumber(solve, "--tol", options.tolerance, "T", "stop at ||b - A x|| <= T ||b||");
  addNumber(solve, "--max-iters", options.max_iterations, "N", "most iterations");

  CLI::App& factor = studies.add("factor", "time of ILU(0) level by level and by sweeps");
  addNumber(factor, "--factor-sweeps", options.factor_sweeps, "N", "most sweeps");

  parseStudy(app, options, arguments, default_problems);
  if (!options.help.empty())
    return options;
  if (options.study == "solve")
    options.sweeps = solve_sweeps;
  if (block_size->count() > 0)
    requireAtLeast("--block-size", options.block_size, 1);
  check(options);
  return options;
}

NamedSystem makeSystem(const SweepsOptions& options, size_t k) {
  CommandLine command = options.system(k);
  command.preconds = {"ilu"};
  command.reorder = options.reorder;
  command.block_size = options.block_size;
  return makeNamedSystem(command);
}

} // namespace perf
} // namespace ainvil
