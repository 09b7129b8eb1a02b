// SPDX-License-Identifier: BSD-3-Clause
#include "SweepsOptions.hpp"

#include "CommandLineOptions.hpp"

#include "Ainvil_Gallery.hpp"

namespace ainvil {
namespace perf {
namespace {

constexpr const char* description =
    "Measures triangular solves and incomplete factorisations by sweeps against exact ones.";

/// The last of them has a few very long rows.
const std::vector<std::string> default_problems = {
    "cavity:300", "laplace27:64", "convdiff:74x74x29", "poisson5:1000", "circuit:116835"};

std::string footer() {
  std::string text = "\nProblems without --problem and --matrix:\n ";
  for (const std::string& problem : default_problems)
    text += " " + problem;
  text += "\n\nProblems of the gallery (a single N means N in every direction):\n";
  for (const GalleryEntry& entry : gallery())
    text += "  " + entry.syntax + "  " + entry.description + "\n";
  text += "\nOptions --kokkos-... are passed on to Kokkos, --kokkos-help lists them.\n"
          "Exit codes: 0 measured, 2 bad input, 1 anything else.\n";
  return text;
}

void check(const SweepsOptions& options) {
  if (options.study.empty())
    throw InvalidArgument("give one of the subcommands residuals, cost, solve, factor");
  requireAtLeast("--repeat", options.repeat, 1);
  requireAtLeast("--sweeps", options.sweeps, options.study == "solve" ? 1 : 0);
  requireAtLeast("--runs", options.runs, 1);
  requireAtLeast("--factor-sweeps", options.factor_sweeps, 0);
  requireAtLeast("--restart", options.restart, 1);
  requireAtLeast("--max-iters", options.max_iterations, 0);
  requireTolerance(options.tolerance);
  for (const std::string& matrix : options.matrices)
    if (sameFile(options.csv, matrix))
      throw InvalidArgument(message("--csv would overwrite the input file '", matrix, "'"));
}

} // namespace

SweepsOptions parseSweepsOptions(const std::vector<std::string>& arguments) {
  SweepsOptions options;
  std::string exec = "default";

  CLI::App app(description, "ainvil-triangular-sweeps");
  app.require_subcommand(0, 1);
  const auto study = [&](const char* name, const char* meaning) {
    CLI::App* const sub = app.add_subcommand(name, meaning);
    sub->fallthrough(); // the options above may follow the subcommand
    sub->callback([&options, name] { options.study = name; });
    return sub;
  };

  addRepeatable(app, "--problem", options.problems, "SPEC",
                "problem of the gallery, see below; repeatable");
  addRepeatable(app, "--matrix", options.matrices, "FILE.mtx[.gz]",
                "Matrix Market file; repeatable");
  addChoice(app, "--reorder", options.reorder, "order of the rows; default none", {"none", "rcm"});
  addChoice(app, "--exec", exec, "Kokkos' default execution space or its host space",
            {"default", "host"});
  app.add_option("--csv", options.csv, "all results; -: to stdout, and the table to stderr")
      ->type_name("FILE|-");
  addNumber(app, "--repeat", options.repeat, "R", "times are medians of R measurements");

  CLI::App* const residuals =
      study("residuals", "what sweeps on L x = 1 and U x = 1 of ILU(0) leave, one after the other");
  addNumber(*residuals, "--sweeps", options.sweeps, "N", "most sweeps");
  addNumber(*residuals, "--runs", options.runs, "R", "runs of the asynchronous sweeps");

  study("cost", "time of a sweep against exact solves and products, ours and others'");

  CLI::App* const solve = study("solve", "FGMRES with ILU(0) against the number of sweeps");
  int solve_sweeps = 10;
  addNumber(*solve, "--sweeps", solve_sweeps, "N", "most sweeps of a triangular solve");
  addNumber(*solve, "--factor-sweeps", options.factor_sweeps, "N",
            "most sweeps of the factorisation");
  addNumber(*solve, "--restart", options.restart, "M", "restart length");
  addNumber(*solve, "--tol", options.tolerance, "T", "stop at ||b - A x|| <= T ||b||");
  addNumber(*solve, "--max-iters", options.max_iterations, "N", "most iterations");

  CLI::App* const factor = study("factor", "time of ILU(0) level by level and by sweeps");
  addNumber(*factor, "--factor-sweeps", options.factor_sweeps, "N", "most sweeps");

  options.help = parse(app, arguments);
  if (!options.help.empty()) {
    options.help += footer();
    return options;
  }
  if (options.study == "solve")
    options.sweeps = solve_sweeps;
  options.on_host = exec == "host";
  check(options);
  if (numSystems(options) == 0)
    options.problems = default_problems;
  return options;
}

NamedSystem makeSystem(const SweepsOptions& options, size_t k) {
  CommandLine command;
  if (k < options.problems.size())
    command.problem = options.problems[k];
  else
    command.matrix = options.matrices[k - options.problems.size()];
  command.preconds = {"ilu"};
  command.reorder = options.reorder;
  return {command.problemName(), makeSystem(command)};
}

} // namespace perf
} // namespace ainvil
