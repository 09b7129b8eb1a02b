// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Reads or builds a linear system and solves it with one preconditioner after the other.

#include "peers/PeerPreconditioners.hpp"
#include "program/Interruption.hpp"
#include "program/KokkosProgram.hpp"
#include "solve/RaceRun.hpp"

#include "io/Ainvil_Files.hpp"

#include <algorithm>
#include <iostream>
#include <utility>

namespace {

using namespace ainvil;
using namespace ainvil::perf;

/// The preconditioners of a command line, run one after the other.
template <class Scalar, class Device>
class Comparison {
public:
  /// Makes them before anything that takes time, so that a misspelt key is told at once, or a
  /// preconditioner that the solver refuses.
  explicit Comparison(const CommandLine& command) : command_(command) {
    const auto solver = createSolver<Scalar, Device>(command.solver, solverOptions(command));
    for (const std::string& specification : command.preconds) {
      preconds_.push_back(createOursOrPeer<Scalar, Device>(specification));
      solver->checkPreconditioner(*preconds_.back());
    }
  }

  void run(Runner<Scalar, Device>& runner, ProgressLine& progress, Table& table,
           const LinearSystem& system, SolveOutputs& outputs) {
    const Environment environment = describe(typename Device::execution_space());
    for (size_t i = 0; i < preconds_.size() && mayGoOn(); ++i) {
      RunRecord record = runner.run(command_.preconds[i], *preconds_[i]);
      preconds_[i].reset(); // room for the next one
      progress.clear();
      table.printRow(record);
      const std::string json = toJson(record, command_, system, environment);
      outputs.add(std::move(record), json);
    }
  }

  static bool mayGoOn() { return caughtSignal() == 0 && std::cout; }

private:
  const CommandLine& command_;
  std::vector<PreconditionerPtr<Scalar, Device>> preconds_;
};

bool anyConverged(const std::vector<RunRecord>& records) {
  return std::any_of(records.begin(), records.end(),
                     [](const RunRecord& record) { return record.converged; });
}

template <class Scalar, class Device>
ExitCode solveAll(CommandLine command) {
  Comparison<Scalar, Device>{command};
  ProgressLine progress(!command.quiet);
  progress.show("preparing " + command.problemName());
  const LinearSystem system = makeSystem(command);
  // Of the two sets that the program chooses itself, the one that is made for such a matrix.
  CommandLine others = command;
  others.preconds = command.other_preconds;
  if (!command.small_precond.empty() && system.matrix.numPointRows() <= CommandLine::small_rows)
    others.preconds.push_back(command.small_precond);
  if (!others.preconds.empty() && system.num_weak_diagonals > 0)
    std::swap(command.preconds, others.preconds);

  std::ostream& out = command.json == "-" ? std::cerr : std::cout;
  Table table(out, command);
  const auto tellOfSolution = [&](const SolveOutputs& outputs) {
    if (!command.solution.empty() && bestRun(outputs.records()) == outputs.records().size())
      std::cerr << "ainvil-solve: no solution is written because no run has a finite residual\n";
  };
  if (command.recommend) {
    progress.clear();
    table.printHeader(system, describe(typename Device::execution_space()));
    SolveOutputs outputs(command, system);
    const ExitCode code = runRace<Scalar, Device>(command, system, progress, out, outputs);
    tellOfSolution(outputs);
    return code;
  }
  MemoryMeter memory(Device::memory_space::name());
  Runner<Scalar, Device> runner(command, system, progress, memory);
  progress.clear();
  table.printHeader(system, describe(typename Device::execution_space()));

  SolveOutputs outputs(command, system);
  Comparison<Scalar, Device>(command).run(runner, progress, table, system, outputs);
  if (!others.preconds.empty() && !anyConverged(outputs.records()) &&
      Comparison<Scalar, Device>::mayGoOn()) {
    if (!command.quiet)
      out << "\nNone of these has converged, so here is the other set of --help.\n\n";
    Table second(out, others);
    second.printTitles();
    Comparison<Scalar, Device>(others).run(runner, progress, second, system, outputs);
  }
  table.printFooter(outputs.records());
  tellOfSolution(outputs);
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
