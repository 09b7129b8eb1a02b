// SPDX-License-Identifier: BSD-3-Clause
#include "studies/StudyOptions.hpp"

#include "program/CommandLineOptions.hpp"

#include "gallery/Ainvil_Gallery.hpp"

#include <utility>

namespace ainvil {
namespace perf {
namespace {

std::string footer(const std::vector<std::string>& default_problems) {
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

std::string subcommands(const CLI::App& app) {
  std::string names;
  for (const CLI::App* sub : app.get_subcommands({}))
    names += (names.empty() ? "" : ", ") + sub->get_name();
  return names;
}

} // namespace

CommandLine StudyOptions::system(size_t k) const {
  CommandLine command;
  if (k < problems.size())
    command.problem = problems[k];
  else
    command.matrix = matrices[k - problems.size()];
  return command;
}

void addStudyOptions(CLI::App& app, StudyOptions& options, const char* exec_meaning,
                     const std::vector<std::string>& exec_words) {
  addRepeatable(app, "--problem", options.problems, "SPEC",
                "problem of the gallery, see below; repeatable");
  addRepeatable(app, "--matrix", options.matrices, "FILE.mtx[.gz]",
                "Matrix Market file; repeatable");
  addChoice(app, "--exec", options.exec, exec_meaning, exec_words);
  app.add_option("--csv", options.csv, "all results; -: to stdout, and the table to stderr")
      ->type_name("FILE|-");
  app.add_option("--json", options.json, "the same as JSON, one object a row, one line each")
      ->type_name("FILE|-");
  addNumber(app, "--repeat", options.repeat, "R", "times are medians of R measurements");
}

Studies::Studies(CLI::App& app, StudyOptions& options) : app_(app), options_(options) {
  app.require_subcommand(0, 1);
}

CLI::App& Studies::add(const char* name, const char* meaning) {
  CLI::App* const sub = app_.add_subcommand(name, meaning);
  sub->fallthrough();
  sub->callback([&options = options_, name] { options.study = name; });
  return *sub;
}

void parseStudy(CLI::App& app, StudyOptions& options, const std::vector<std::string>& arguments,
                const std::vector<std::string>& default_problems) {
  options.program = app.get_name();
  options.help = parse(app, arguments, footer(default_problems));
  if (!options.help.empty())
    return;
  if (options.study.empty())
    throw InvalidArgument(message("give one of the subcommands ", subcommands(app)));
  requireAtLeast("--repeat", options.repeat, 1);
  for (const std::string& matrix : options.matrices)
    for (const auto& [option, path] : {std::pair("--csv", options.csv), {"--json", options.json}})
      if (sameFile(path, matrix))
        throw InvalidArgument(message(option, " would overwrite the input file '", matrix, "'"));
  if (sameFile(options.csv, options.json))
    throw InvalidArgument(message("--csv and --json name the same file '", options.csv, "'"));
  if (options.numSystems() == 0)
    options.problems = default_problems;
}

NamedSystem makeNamedSystem(const CommandLine& command) {
  return {command.problemName(), command.reorder, makeSystem(command)};
}

} // namespace perf
} // namespace ainvil
