// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Reads or builds a linear system and solves it with one preconditioner after the other.

#include "SolveReport.hpp"
#include "SolveRun.hpp"

#include "Ainvil_Factory.hpp"
#include "Ainvil_MatrixMarket.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>

namespace {

using namespace ainvil;
using namespace ainvil::perf;

enum ExitCode { all_converged = 0, other_error = 1, bad_input = 2, not_converged = 3 };

/// What the operating system calls the processor.
std::string cpuName() {
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);)
    if (line.compare(0, 10, "model name") == 0 && line.find(": ") != std::string::npos)
      return line.substr(line.find(": ") + 2);
  return "unknown CPU";
}

template <class Exec>
Environment describe(const Exec& exec) {
  const std::string device = compat::deviceName(exec);
  return {exec.name(), device.empty() ? cpuName() : device,
          static_cast<int>(Kokkos::DefaultHostExecutionSpace().concurrency())};
}

void writeResults(const CommandLine& command, const LinearSystem& system,
                  const std::vector<RunRecord>& records, const std::string& json) {
  if (!command.json.empty() && command.json != "-")
    writeFile(command.json, json);
  if (!command.history.empty())
    writeFile(command.history, historyToCsv(records));
  if (command.solution.empty())
    return;
  const size_t best = bestRun(records);
  if (best == records.size()) {
    std::cerr << "ainvil-solve: no solution is written because no run has a finite residual\n";
    return;
  }
  const RunRecord& record = records[best];
  writeMatrixMarket(command.solution, originalSolution(system, record.solution),
                    message("solution of ", command.problemName(), "\nby ", command.solver,
                            " with ", record.precond, ": ", record.status, ", relative residual ",
                            record.rel_residual));
}

template <class Scalar, class Device>
ExitCode solveAll(const CommandLine& command) {
  // Before anything that takes time, so that a misspelt key is told at once, or a preconditioner
  // that the solver refuses.
  std::vector<PreconditionerPtr<Scalar, Device>> preconds;
  const auto solver = makeSolver<Scalar, Device>(command);
  for (const std::string& specification : command.preconds) {
    preconds.push_back(createPreconditioner<Scalar, Device>(specification));
    solver->checkPreconditioner(*preconds.back());
  }

  ProgressLine progress(!command.quiet);
  progress.show("preparing " + command.problemName());
  const LinearSystem system = makeSystem(command);
  const Environment environment = describe(typename Device::execution_space());
  const bool json_on_stdout = command.json == "-";
  Table table(json_on_stdout ? std::cerr : std::cout, command);
  Runner<Scalar, Device> runner(command, system, progress);
  progress.clear();
  table.printHeader(system, environment);

  std::vector<RunRecord> records;
  std::string json;
  for (size_t i = 0; i < preconds.size(); ++i) {
    RunRecord record = runner.run(command.preconds[i], *preconds[i]);
    preconds[i].reset(); // room for the next one
    progress.clear();
    table.printRow(record);
    const std::string line = toJson(record, command, system, environment);
    json += line;
    if (json_on_stdout)
      std::cout << line << std::flush;
    if (command.solution.empty())
      record.solution = {};
    records.push_back(std::move(record));
  }
  table.printFooter(records);
  writeResults(command, system, records, json);
  const bool converged = std::all_of(records.begin(), records.end(),
                                     [](const RunRecord& record) { return record.converged; });
  return converged ? all_converged : not_converged;
}

template <class Device>
ExitCode solveOn(const CommandLine& command) {
  return command.single_precision ? solveAll<float, Device>(command)
                                  : solveAll<double, Device>(command);
}

/// Kokkos, from its options to the end of the scope.
class KokkosScope {
public:
  explicit KokkosScope(std::vector<std::string> arguments) {
    std::vector<char*> argv;
    for (std::string& argument : arguments)
      argv.push_back(argument.data());
    int argc = static_cast<int>(argv.size());
    argv.push_back(nullptr);
    // Its advice on thread binding would come between a message and its reader.
    setenv("KOKKOS_DISABLE_WARNINGS", "1", 0);
    try {
      Kokkos::initialize(argc, argv.data());
    } catch (const std::exception& error) {
      throw InvalidArgument(
          message("Kokkos does not start with the options given to it: ", error.what()));
    }
    if (argc > 1) { // Kokkos takes out what it knows
      const std::string unknown = argv[1];
      Kokkos::finalize();
      throw InvalidArgument(message("Kokkos ", compat::kokkosVersion(), " has no option ", unknown,
                                    " (--kokkos-help lists all)"));
    }
  }
  ~KokkosScope() { Kokkos::finalize(); }
  KokkosScope(const KokkosScope&) = delete;
  KokkosScope& operator=(const KokkosScope&) = delete;
};

ExitCode run(const std::vector<std::string>& arguments) {
  const std::string prefix = "--kokkos-";
  std::vector<std::string> own, kokkos{"ainvil-solve"};
  for (const std::string& argument : arguments)
    (argument.compare(0, prefix.size(), prefix) == 0 ? kokkos : own).push_back(argument);
  if (std::find(kokkos.begin(), kokkos.end(), prefix + "help") != kokkos.end()) {
    const KokkosScope scope(kokkos);
    return all_converged;
  }

  const CommandLine command = parseCommandLine(own);
  if (!command.help.empty()) {
    std::cout << command.help;
    return all_converged;
  }
  const std::string json_file = command.json == "-" ? "" : command.json;
  for (const std::string& path : {json_file, command.history, command.solution})
    if (!path.empty())
      checkWritable(path);
  const KokkosScope scope(kokkos);
  return command.on_host ? solveOn<HostDevice>(command) : solveOn<DefaultDevice>(command);
}

ExitCode fail(std::string reason, ExitCode code) {
  std::replace(reason.begin(), reason.end(), '\n', ' ');
  std::cerr << "ainvil-solve: " << reason << std::endl;
  return code;
}

} // namespace

int main(int argc, char** argv) {
  try {
    return run({argv + 1, argv + argc});
  } catch (const ainvil::Error& error) {
    return fail(error.what(), bad_input);
  } catch (const std::bad_alloc&) {
    return fail("there is not enough memory", other_error);
  } catch (const std::exception& error) {
    return fail(error.what(), other_error);
  }
}
