// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// ainvil-solve on the ranks of an MPI job, by Tpetra and Belos.

#include "CavityNewtonRun.hpp"
#include "KokkosProgram.hpp"
#include "NewtonReport.hpp"
#include "SolveReport.hpp"
#include "SolveSystem.hpp"
#include "TpetraSolve.hpp"

#include "Ainvil_Files.hpp"
#include "Ainvil_MatrixMarket.hpp"
#include "Ainvil_Solver.hpp"
#include "Ainvil_TpetraCollective.hpp"

#include <Tpetra_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <mpi.h>

namespace {

using namespace ainvil;
using namespace ainvil::perf;
using tpetra::onAllRanks;
using Exec = tpetra::Map::node_type::execution_space;
using CommPtr = Teuchos::RCP<const tpetra::Comm>;

/// Where rank 0 writes: nowhere on the others.
std::ostream& output(const tpetra::Comm& comm, bool json_on_stdout) {
  static std::ostream nowhere(nullptr);
  return comm.getRank() != 0 ? nowhere : json_on_stdout ? std::cerr : std::cout;
}

class Runner {
public:
  /// The system of rank 0, spread over the ranks.
  Runner(const CommandLine& command, const LinearSystem& system, const CommPtr& comm)
      : command_(command), system_(system), comm_(comm),
        memory_(tpetra::Map::node_type::memory_space::name()) {
    const auto rows = makeRowMap(
        command, system.matrix.numRows(), [&] { return system.matrix.graph; }, comm);
    int block_size = system.matrix.block_size;
    Teuchos::broadcast(*comm, 0, Teuchos::outArg(block_size));
    if (command.in_blocks) {
      matrix_ = tpetra::distributeBlocks(system.matrix, rows);
    } else {
      matrix_ = tpetra::distribute(system.matrix, rows);
      block_size_ = block_size;
    }
    const auto unknowns = matrix_->getRangeMap();
    b_ = tpetra::distribute(Kokkos::View<const double*, HostDevice>(system.rhs), unknowns);
    x_ = Teuchos::rcp(new TpetraVector(unknowns));
  }

  RunRecord run(const std::string& specification) {
    RunRecord record;
    record.precond = specification;
    memory_.resetPeak();
    try {
      for (int repetition = 0; repetition < command_.repeat; ++repetition)
        repeat(record);
    } catch (const BreakdownError& error) {
      record.converged = false;
      record.status = toString(SolveStatus::Breakdown);
      record.message = error.what();
    }
    record.peak_bytes = static_cast<Offset>(maxOverRanks(*comm_, double(memory_.peak())));
    return record;
  }

private:
  void repeat(RunRecord& record) {
    const TpetraPreconditioner m(command_, record.precond, matrix_, block_size_);
    const double seconds = timedOverRanks(*comm_, [&] {
      m.initialize();
      m.compute();
    });
    if (std::isnan(record.first_setup_seconds))
      record.first_setup_seconds = seconds;
    if (!(seconds >= record.setup_seconds)) {
      record.setup_seconds = seconds;
      m.report(*comm_, record);
    }
    if (command_.repeat > 1)
      record.recompute_seconds =
          std::fmin(record.recompute_seconds, timedOverRanks(*comm_, [&] { m.compute(); }));
    record.apply30_seconds =
        std::fmin(record.apply30_seconds, timeApplications(*comm_, m.get(), 30));
    const BelosResult solved = solveByBelos(command_, matrix_, m, b_, x_);
    record.solve_seconds = std::fmin(record.solve_seconds, solved.seconds);
    record.iterations = solved.iterations;
    record.converged = solved.converged;
    record.status =
        toString(solved.converged ? SolveStatus::Converged : SolveStatus::MaxIterations);
    // Recomputed where the whole system is, without Tpetra.
    record.solution = tpetra::gather(*x_);
    double residual = comm_->getRank() == 0 ? relativeResidual(system_, record.solution) : 0;
    Teuchos::broadcast(*comm_, 0, Teuchos::outArg(residual));
    record.rel_residual = residual;
  }

  const CommandLine& command_;
  const LinearSystem& system_;
  CommPtr comm_;
  MemoryMeter memory_;
  Teuchos::RCP<const TpetraRow> matrix_;
  int block_size_ = 1; ///< that the local blocks of a matrix in points are to have
  Teuchos::RCP<TpetraVector> b_, x_;
};

Environment environmentOf(const tpetra::Comm& comm) {
  Environment environment = describe(Exec());
  environment.ranks = comm.getSize();
  return environment;
}

ExitCode solveSystem(const CommandLine& command, const CommPtr& comm) {
  const bool first = comm->getRank() == 0, json_on_stdout = command.json == "-";
  LinearSystem system;
  onAllRanks(*comm, [&] {
    if (first)
      system = makeSystem(command);
  });
  Runner runner(command, system, comm);
  const Environment environment = environmentOf(*comm);
  Table table(output(*comm, json_on_stdout), command);
  table.printHeader(system, environment);
  std::vector<RunRecord> records;
  std::string json;
  for (const std::string& specification : command.preconds) {
    RunRecord record = runner.run(specification);
    table.printRow(record);
    const std::string line = toJson(record, command, system, environment);
    json += line;
    if (json_on_stdout && first)
      std::cout << line << std::flush;
    if (command.solution.empty())
      record.solution = {};
    records.push_back(std::move(record));
  }
  table.printFooter(records);
  onAllRanks(*comm, [&] {
    if (!first)
      return;
    if (!command.json.empty() && !json_on_stdout)
      writeFile(command.json, json);
    const size_t best = bestRun(records);
    if (!command.solution.empty() && best < records.size())
      writeMatrixMarket(command.solution, originalSolution(system, records[best].solution),
                        message("solution of ", command.problemName(), "\nby ", command.solver,
                                " with ", records[best].precond));
  });
  const bool converged = std::all_of(records.begin(), records.end(),
                                     [](const RunRecord& record) { return record.converged; });
  return converged ? success : not_converged;
}

ExitCode solveNewton(const CommandLine& command, Ordinal n, const CommPtr& comm) {
  const bool json_on_stdout = command.json == "-";
  const Environment environment = environmentOf(*comm);
  CavityNewtonRun newton(command, n, comm);
  NewtonTable table(output(*comm, json_on_stdout), command);
  std::string json;
  bool converged = true;
  for (const std::string& specification : command.preconds) {
    const NewtonResult result = newton.run(specification);
    table.print(specification, result, environment);
    const std::string line = toJson(specification, result, command, environment);
    json += line;
    if (json_on_stdout && comm->getRank() == 0)
      std::cout << line << std::flush;
    converged = converged && result.converged;
  }
  onAllRanks(*comm, [&] {
    if (comm->getRank() == 0 && !command.json.empty() && !json_on_stdout)
      writeFile(command.json, json);
  });
  return converged ? success : not_converged;
}

ExitCode solve(const CommandLine& command, const CommPtr& comm) {
  onAllRanks(*comm, [&] {
    if (comm->getRank() != 0)
      return;
    for (const std::string& path : {command.json == "-" ? "" : command.json, command.solution})
      if (!path.empty())
        checkWritable(path);
  });
  for (const std::string& specification : command.preconds) // before all that takes time
    checkSpecification(specification);
  requireBelosSolver(command.belos);
  if (const Ordinal n = cavityNewtonSize(command))
    return solveNewton(command, n, comm);
  return solveSystem(command, comm);
}

/// Has Tpetra unpack what a GPU imports on the GPU, unless the user says otherwise. For few
/// elements (22000 in Trilinos 13.2) it takes the host, and copies the whole vector there and back
/// for them.
void unpackOnDevice() {
  using Space = Tpetra::Map<>::node_type::memory_space;
  if (!Kokkos::SpaceAccessibility<Kokkos::HostSpace, Space>::accessible)
    setenv("TPETRA_VECTOR_DEVICE_THRESHOLD", "0", 0);
}

} // namespace

int main(int argc, char** argv) {
  unpackOnDevice();
  const Tpetra::ScopeGuard tpetra(&argc, &argv); // takes the options of MPI and Kokkos
  const CommPtr comm = Tpetra::getDefaultComm();
  // What all ranks know is told by the first.
  const auto fail = [&](const std::string& reason, ExitCode code) {
    if (comm->getRank() == 0)
      std::cerr << "ainvil-solve-mpi: " << oneLine(reason) << std::endl;
    return code;
  };
  // Perhaps of this rank alone: the others would wait for ever.
  const auto abort = [&](const std::exception& error) {
    std::cerr << "ainvil-solve-mpi, rank " << comm->getRank() << ": " << oneLine(error.what())
              << std::endl;
    MPI_Abort(MPI_COMM_WORLD, other_error);
    return other_error;
  };
  try {
    const CommandLine command =
        parseCommandLine(std::vector<std::string>(argv + 1, argv + argc), Program::SolveMpi);
    if (!command.help.empty()) {
      output(*comm, false) << command.help;
      return success;
    }
    return solve(command, comm);
  } catch (const OutOfMemory& error) {
    return abort(error);
  } catch (const Error& error) {
    return fail(error.what(), bad_input);
  } catch (const Teuchos::Exceptions::InvalidParameter& error) {
    return fail(error.what(), bad_input);
  } catch (const std::exception& error) {
    return abort(error);
  }
}
