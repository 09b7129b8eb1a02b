// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Reads or builds a linear system and solves it with one preconditioner after the other.

#include "peers/PeerPreconditioners.hpp"
#include "program/Interruption.hpp"
#include "program/KokkosProgram.hpp"
#include "solve/DefaultSets.hpp"
#include "solve/RaceRun.hpp"

#include "io/Ainvil_Files.hpp"

#include <iostream>
#include <utility>

namespace {

using namespace ainvil;
using namespace ainvil::perf;

/// Not after a signal, nor where nobody would see the results: the table of a closed pipe, or of a
/// full disk if there is no file beside it.
bool mayGoOn(const CommandLine& command) {
  const bool has_files = (!command.json.empty() && command.json != "-") ||
                         !command.history.empty() || !command.solution.empty();
  return caughtSignal() == 0 && (std::cout || (has_files && !outputIsPipe()));
}

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
    for (size_t i = 0; i < preconds_.size() && mayGoOn(command_); ++i) {
      RunRecord record = runner.run(command_.preconds[i], *preconds_[i]);
      preconds_[i].reset(); // room for the next one
      progress.clear();
      table.printRow(record);
      const std::string json = toJson(record, command_, system, environment);
      outputs.add(std::move(record), json);
    }
  }

private:
  const CommandLine& command_;
  std::vector<PreconditionerPtr<Scalar, Device>> preconds_;
};

template <class Scalar, class Device>
ExitCode solveAll(CommandLine command) {
  Comparison<Scalar, Device>{command};
  ProgressLine progress(!command.quiet);
  progress.show("preparing " + command.problemName());
  const LinearSystem system = makeSystem(command, &progress);
  if (command.recommend && system.matrix.numRows() == 0)
    throw InvalidArgument("--recommend has nothing to race for: the matrix has no rows");
  catchSignals(); // before, there was nothing to lose
  const CommandLine others =
      otherSet(command, system.matrix.numPointRows(), system.num_weak_diagonals);

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
  if (!others.preconds.empty() && !outputs.anyConverged() && mayGoOn(command)) {
    if (!command.quiet)
      out << other_set_follows;
    Table second(out, others);
    second.printTitles();
    Comparison<Scalar, Device>(others).run(runner, progress, second, system, outputs);
  }
  outputs.finish();
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
  return command.on_host ? solveOn<HostDevice>(command) : solveOn<DefaultDevice>(command);
}

} // namespace

int main(int argc, char** argv) {
  return ainvil::perf::runProgram("ainvil-solve", argc, argv, run);
}
