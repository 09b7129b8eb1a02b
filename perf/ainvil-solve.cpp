// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Reads or builds a linear system and solves it with one preconditioner after the other.

#include "KokkosProgram.hpp"
#include "SolveReport.hpp"
#include "SolveRun.hpp"
#include "peers/PeerPreconditioners.hpp"

#include "Ainvil_Files.hpp"
#include "Ainvil_MatrixMarket.hpp"

#include <algorithm>
#include <iostream>

namespace {

using namespace ainvil;
using namespace ainvil::perf;

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
    preconds.push_back(createOursOrPeer<Scalar, Device>(specification));
    solver->checkPreconditioner(*preconds.back());
  }

  ProgressLine progress(!command.quiet);
  progress.show("preparing " + command.problemName());
  const LinearSystem system = makeSystem(command);
  const Environment environment = describe(typename Device::execution_space());
  const bool json_on_stdout = command.json == "-";
  Table table(json_on_stdout ? std::cerr : std::cout, command);
  MemoryMeter memory(Device::memory_space::name());
  Runner<Scalar, Device> runner(command, system, progress, memory);
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
  return converged ? success : not_converged;
}

template <class Device>
ExitCode solveOn(const CommandLine& command) {
  return command.single_precision ? solveAll<float, Device>(command)
                                  : solveAll<double, Device>(command);
}

ExitCode run(const Arguments& arguments) {
  const CommandLine command = parseCommandLine(arguments.own);
  if (!command.help.empty()) {
    std::cout << command.help;
    return success;
  }
  const std::string json_file = command.json == "-" ? "" : command.json;
  for (const std::string& path : {json_file, command.history, command.solution})
    if (!path.empty())
      checkWritable(path);
  const KokkosScope scope(arguments);
  return command.on_host ? solveOn<HostDevice>(command) : solveOn<DefaultDevice>(command);
}

} // namespace

int main(int argc, char** argv) {
  return ainvil::perf::runProgram("ainvil-solve", argc, argv, run);
}
