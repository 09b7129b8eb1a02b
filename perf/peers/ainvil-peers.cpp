// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Ainvil beside PETSc, hypre and Ifpack2 on the cores of one machine: as many ranks of the others
/// as threads of ours, one after the other on the same system.

#include "peers/PeerRun.hpp"
#include "program/Interruption.hpp"
#include "program/KokkosProgram.hpp"
#include "solve/SolveOutputs.hpp"
#include "solve/SolveReport.hpp"
#include "solve/SolveRun.hpp"

#include "Ainvil_Factory.hpp"
#include "io/Ainvil_Files.hpp"

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <thread>

namespace {

using namespace ainvil;
using namespace ainvil::perf;

/// The ranks of the job, one a core.
struct Job {
  Job() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  }
  bool isFirst() const { return rank == 0; }

  /// Waits until all ranks have come, without keeping a core busy.
  void wait() const {
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    int done = 0;
    for (MPI_Test(&request, &done, MPI_STATUS_IGNORE); !done;
         MPI_Test(&request, &done, MPI_STATUS_IGNORE))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

  int rank, ranks;
};

/// Ainvil on the first rank, with a thread for every rank, while the others sleep.
class OwnRunner {
public:
  OwnRunner(const CommandLine& command, const LinearSystem& system, const Job& job)
      : job_(job), progress_(false), memory_(HostDevice::memory_space::name()) {
    if (job.isFirst())
      runner_ = std::make_unique<Runner<double, HostDevice>>(command, system, progress_, memory_);
  }

  RunRecord run(const std::string& specification) {
    RunRecord record;
    job_.wait();
    if (job_.isFirst())
      record =
          runner_->run(specification, *createPreconditioner<double, HostDevice>(specification));
    job_.wait();
    return record;
  }

private:
  const Job& job_;
  ProgressLine progress_;
  MemoryMeter memory_;
  std::unique_ptr<Runner<double, HostDevice>> runner_;
};

Environment environmentOf(const RunRecord& record, const Environment& own, const Job& job) {
  Environment environment = own;
  if (isPeer(record.precond)) {
    environment.exec_space = "MPI";
    environment.threads = 1;
    environment.ranks = job.ranks;
  }
  return environment;
}

ExitCode solve(const CommandLine& command, const Job& job) {
  if (job.isFirst() && !command.json.empty() && command.json != "-")
    checkWritable(command.json);
  PeerLibraries libraries;
  for (const std::string& specification : command.preconds)
    if (isPeer(specification))
      libraries.check(specification, command.solver == "cg");
    else
      createPreconditioner<double, HostDevice>(specification);

  const LinearSystem system = makeSystem(command); // the same on all ranks
  const Environment own = describe(HostDevice::execution_space());
  static std::ostream nowhere(nullptr);
  Table table(!job.isFirst() ? nowhere : command.json == "-" ? std::cerr : std::cout, command);
  table.printHeader(system, own);
  OwnRunner own_runner(command, system, job);
  const PeerRunner peer_runner(command, system, libraries, MPI_COMM_WORLD);

  SolveOutputs outputs(command, system);
  for (const std::string& specification : command.preconds) {
    RunRecord record =
        isPeer(specification) ? peer_runner.run(specification) : own_runner.run(specification);
    if (!job.isFirst())
      continue;
    table.printRow(record);
    const std::string json = toJson(record, command, system, environmentOf(record, own, job));
    outputs.add(std::move(record), json);
  }
  if (!job.isFirst())
    return success; // what the first returns counts
  outputs.finish();
  table.printFooter(outputs.records());
  return outputs.failed() ? bad_input : outputs.allConverged() ? success : not_converged;
}

ExitCode run(const Arguments& arguments, const Job& job) {
  const CommandLine command = parseCommandLine(arguments.own, Program::Peers);
  if (!command.help.empty()) {
    if (job.isFirst())
      std::cout << command.help;
    return success;
  }
  if (command.cpu_clock && job.ranks > 1)
    throw InvalidArgument("--clock cpu is for one rank: several that wait spend time in vain");
  // Read by every version of Kokkos.
  setenv("KOKKOS_NUM_THREADS", std::to_string(job.isFirst() ? job.ranks : 1).c_str(), 1);
  const KokkosScope scope(arguments);
  return solve(command, job);
}

} // namespace

int main(int argc, char** argv) {
  ignoreFailedWrites();
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const Job job;
  ExitCode code = other_error;
  // What all ranks know is told by the first; the others would wait for a rank that fails alone.
  const auto fail = [&](const std::string& reason) {
    if (job.isFirst())
      std::cerr << "ainvil-peers: " << oneLine(reason) << std::endl;
  };
  try {
    code = run(sorted(argc, argv), job);
  } catch (const InvalidArgument& error) {
    fail(error.what());
    code = bad_input;
  } catch (const FileError& error) {
    fail(error.what());
    code = bad_input;
  } catch (const std::exception& error) {
    std::cerr << "ainvil-peers, rank " << job.rank << ": " << oneLine(error.what()) << std::endl;
    MPI_Abort(MPI_COMM_WORLD, other_error);
  }
  MPI_Finalize();
  return code;
}
