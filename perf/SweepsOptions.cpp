// SPDX-License-Identifier: BSD-3-Clause
#include "SweepsOptions.hpp"

#include "Ainvil_Error.hpp"
#include "Ainvil_Gallery.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>

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

void requireAtLeast(const char* option, int value, int lowest) {
  if (value < lowest)
    throw InvalidArgument(message(option, " must be at least ", lowest, ", but it is ", value));
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
  if (!(options.tolerance >= 0) || !std::isfinite(options.tolerance))
    throw InvalidArgument(
        message("--tol must be a finite number >= 0, but it is ", options.tolerance));
  for (const std::string& matrix : options.matrices) {
    std::error_code ignored; // of files that do not exist
    if (options.csv == matrix || std::filesystem::equivalent(options.csv, matrix, ignored))
      throw InvalidArgument(message("--csv would overwrite the input file '", matrix, "'"));
  }
}

} // namespace

SweepsOptions parseSweepsOptions(const std::vector<std::string>& arguments) {
  SweepsOptions options;
  std::string exec = "default";

  CLI::App app(description, "ainvil-triangular-sweeps");
  app.require_subcommand(0, 1);
  const auto choice = [&](const char* option, std::string& value, const char* meaning,
                          const std::vector<std::string>& words) {
    std::string list;
    for (const std::string& word : words)
      list += (list.empty() ? "" : "|") + word;
    const auto known = [words, list](const std::string& given) {
      return std::find(words.begin(), words.end(), given) != words.end()
                 ? std::string()
                 : message("must be one of ", list, ", but it is '", given, "'");
    };
    app.add_option(option, value, meaning)->check(known)->type_name(list);
  };
  const auto names = [&](const char* option, std::vector<std::string>& values, const char* type,
                         const char* meaning) {
    app.add_option(option, values, meaning)->allow_extra_args(false)->type_name(type)->type_size(1);
  };
  const auto number = [](CLI::App* where, const char* option, auto& value, const char* type,
                         const char* meaning) {
    where->add_option(option, value, message(meaning, "; default ", value))->type_name(type);
  };
  const auto study = [&](const char* name, const char* meaning) {
    CLI::App* const sub = app.add_subcommand(name, meaning);
    sub->fallthrough(); // the options above may follow the subcommand
    sub->callback([&options, name] { options.study = name; });
    return sub;
  };

  names("--problem", options.problems, "SPEC", "problem of the gallery, see below; repeatable");
  names("--matrix", options.matrices, "FILE.mtx[.gz]", "Matrix Market file; repeatable");
  choice("--reorder", options.reorder, "order of the rows; default none", {"none", "rcm"});
  choice("--exec", exec, "Kokkos' default execution space or its host space", {"default", "host"});
  app.add_option("--csv", options.csv, "all results; -: to stdout, and the table to stderr")
      ->type_name("FILE|-");
  number(&app, "--repeat", options.repeat, "R", "times are medians of R measurements");

  CLI::App* const residuals =
      study("residuals", "what sweeps on L x = 1 and U x = 1 of ILU(0) leave, one after the other");
  number(residuals, "--sweeps", options.sweeps, "N", "most sweeps");
  number(residuals, "--runs", options.runs, "R", "runs of the asynchronous sweeps");

  study("cost", "time of a sweep against exact solves and products, ours and others'");

  CLI::App* const solve = study("solve", "FGMRES with ILU(0) against the number of sweeps");
  int solve_sweeps = 10;
  number(solve, "--sweeps", solve_sweeps, "N", "most sweeps of a triangular solve");
  number(solve, "--factor-sweeps", options.factor_sweeps, "N", "most sweeps of the factorisation");
  number(solve, "--restart", options.restart, "M", "restart length");
  number(solve, "--tol", options.tolerance, "T", "stop at ||b - A x|| <= T ||b||");
  number(solve, "--max-iters", options.max_iterations, "N", "most iterations");

  CLI::App* const factor = study("factor", "time of ILU(0) level by level and by sweeps");
  number(factor, "--factor-sweeps", options.factor_sweeps, "N", "most sweeps");

  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    options.help = app.help() + footer();
    return options;
  } catch (const CLI::ParseError& error) {
    throw InvalidArgument(message(error.what(), " (--help lists all options)"));
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
