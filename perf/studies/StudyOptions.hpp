// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the command lines of the studies have in common: systems, machine, repetitions, output.

#include "solve/SolveSystem.hpp"

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ainvil {
namespace perf {

struct StudyOptions {
  std::string help;    ///< not empty: print it and stop, nothing else is set
  std::string program; ///< name of the executable
  std::string study;   ///< the subcommand
  std::vector<std::string> problems, matrices;
  std::string exec = "default";
  std::string csv, json; ///< file, - for stdout, or empty
  int repeat = 5;        ///< measurements of which the median is reported

  /// Number of systems that the options name.
  size_t numSystems() const { return problems.size() + matrices.size(); }
  /// Names the k-th of them, and nothing else.
  CommandLine system(size_t k) const;
};

/// --problem, --matrix, --exec with the given words, --csv, --json and --repeat.
void addStudyOptions(CLI::App& app, StudyOptions& options, const char* exec_meaning,
                     const std::vector<std::string>& exec_words);

/// The subcommands that the options above may precede or follow.
class Studies {
public:
  Studies(CLI::App& app, StudyOptions& options);
  CLI::App& add(const char* name, const char* meaning);

private:
  CLI::App& app_;
  StudyOptions& options_;
};

/// Parses, adds problems and exit codes to the help, and fills in the default problems where there
/// is no system. \throws InvalidArgument, also for an option above that is out of range
void parseStudy(CLI::App& app, StudyOptions& options, const std::vector<std::string>& arguments,
                const std::vector<std::string>& default_problems);

struct NamedSystem {
  std::string name;
  std::string reorder; ///< as in CommandLine
  LinearSystem system;
};

/// The system that the command line describes. \throws as makeSystem()
NamedSystem makeNamedSystem(const CommandLine& command);

} // namespace perf
} // namespace ainvil
