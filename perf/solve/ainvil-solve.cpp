// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Reads or builds a linear system and solves it with one preconditioner after the other.

#include "peers/PeerPreconditioners.hpp"
#include "program/Interruption.hpp"
#include "program/KokkosProgram.hpp"
#include "solve/SolveOutputs.hpp"
#include "solve/SolveReport.hpp"
#include "solve/SolveRun.hpp"

#include "io/Ainvil_Files.hpp"

#include <iostream>

namespace {

using namespace ainvil;
using namespace ainvil::perf;

template <class Scalar, class Device>
ExitCode solveAll(const CommandLine& command) {
  // Before anything that takes time, so that a misspelt key is told at once, or a preconditioner
  // that the solver refuses.
  std::vector<PreconditionerPtr<Scalar, Device>> preconds;
  const auto solver = createSolver<Scalar, Device>(command.solver, solverOptions(command));
  for (const std::string& specification : command.preconds) {
    preconds.push_back(createOursOrPeer<Scalar, Device>(specification));
    solver->checkPreconditioner(*preconds.back());
  }

  ProgressLine progress(!command.quiet);
  progress.show("preparing " + command.problemName());
  const LinearSystem system = makeSystem(command);
  const Environment environment = describe(typename Device::execution_space());
  Table table(command.json == "-" ? std::cerr : std::cout, command);
  MemoryMeter memory(Device::memory_space::name());
  Runner<Scalar, Device> runner(command, system, progress, memory);
  progress.clear();
  table.printHeader(system, environment);

  SolveOutputs outputs(command, system);
  for (size_t i = 0; i < preconds.size() && caughtSignal() == 0 && std::cout; ++i) {
    RunRecord record = runner.run(command.preconds[i], *preconds[i]);
    preconds[i].reset(); // room for the next one
    progress.clear();
    table.printRow(record);
    const std::string json = toJson(record, command, system, environment);
    outputs.add(std::move(record), json);
  }
  table.printFooter(outputs.records());
  if (!command.solution.empty() && bestRun(outputs.records()) == outputs.records().size())
    std::cerr << "ainvil-solve: no solution is written because no run has a finite residual\n";
  return outputs.failed() ? bad_input : outputs.allConverged() ? success : not_converged;
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
  catchSignals();
  return command.on_host ? solveOn<HostDevice>(command) : solveOn<DefaultDevice>(command);
}

} // namespace

int main(int argc, char** argv) {
  return ainvil::perf::runProgram("ainvil-solve", argc, argv, run);
}
