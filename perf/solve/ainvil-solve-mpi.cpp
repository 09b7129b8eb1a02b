// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// ainvil-solve on the ranks of an MPI job, on Tpetra.

#include "program/Interruption.hpp"
#include "program/KokkosProgram.hpp"
#include "solve/CavityNewtonRun.hpp"
#include "solve/DefaultSets.hpp"
#include "solve/NewtonReport.hpp"
#include "solve/RanksTogether.hpp"
#include "solve/SolveOutcome.hpp"
#include "solve/SolveOutputs.hpp"
#include "solve/SolveReport.hpp"
#include "solve/TpetraKrylov.hpp"

#include "Ainvil_TpetraCollective.hpp"
#include "io/Ainvil_Files.hpp"

#include <Tpetra_Core.hpp>

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <memory>

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
  Runner(const CommandLine& command, const LinearSystem& system, const CommPtr& comm,
         const RanksTogether& ranks)
      : command_(command), system_(system), comm_(comm), ranks_(ranks),
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
    takeColumns();
    krylov_ = std::make_unique<TpetraKrylov>(command, matrix_, command.in_blocks ? 0 : block_size_);
  }

  /// Whatever stops the run is part of the record, which is whole on rank 0.
  RunRecord run(const std::string& specification) {
    RunRecord record;
    record.precond = specification;
    memory_.resetPeak();
    try {
      ranks_.run([&] {
        for (int repetition = 0; repetition < command_.repeat; ++repetition) {
          const RunRecord before = beginRepetition(record);
          repeat(record);
          endRepetition(before, record);
        }
      });
    } catch (const std::exception& error) {
      recordFailure(error, record);
      record.message = oneLine(tpetra::reasonOf(error));
      record.columns.clear();
      if (caughtSignal(*comm_) != 0) // which is why all ranks threw
        record.status = "interrupted";
    }
    record.peak_bytes = static_cast<Offset>(maxOverRanks(*comm_, double(memory_.peak())));
    return record;
  }

private:
  using Vectors = TpetraKrylov::Vectors;

  /// The right-hand sides and guesses of rank 0.
  void takeColumns() {
    int columns = system_.numColumns();
    Teuchos::broadcast(*comm_, 0, Teuchos::outArg(columns));
    const auto unknowns = matrix_->getRangeMap();
    b_ = Teuchos::rcp(new Vectors(unknowns, columns));
    x_ = Teuchos::rcp(new Vectors(unknowns, columns));
    guess_ = Teuchos::rcp(new Vectors(unknowns, columns)); // zeros
    tolerances_.resize(columns);
    onAllRanks(*comm_, [&] {
      if (comm_->getRank() != 0)
        return;
      for (int c = 0; c < columns; ++c) {
        systems_.push_back(system_.withColumn(c));
        tolerances_[c] = toleranceOf(command_, systems_.back());
      }
    });
    Teuchos::broadcast(*comm_, 0, columns, tolerances_.data());
    for (int c = 0; c < columns; ++c) {
      const RightHandSide given = comm_->getRank() == 0 ? system_.column(c) : RightHandSide();
      const auto spread = [&](const Vector<double, HostDevice>& whole, Vectors& to) {
        Tpetra::deep_copy(
            *to.getVectorNonConst(c),
            *tpetra::distribute(Kokkos::View<const double*, HostDevice>(whole), unknowns));
      };
      spread(given.rhs, *b_);
      if (!command_.guess_file.empty())
        spread(given.guess, *guess_);
    }
  }

  void repeat(RunRecord& record) {
    const TpetraPreconditioner m(command_, record.precond, matrix_, block_size_);
    const double seconds = timedOverRanks(*comm_, [&] {
      m.initialize();
      m.compute();
    });
    if (std::isnan(record.first_setup_seconds))
      record.first_setup_seconds = seconds;
    const std::vector<PhaseTimes::Phase> fastest = record.setup_phases;
    m.report(*comm_, record);
    if (seconds >= record.setup_seconds)
      record.setup_phases = fastest;
    else
      record.setup_seconds = seconds;
    if (command_.repeat > 1)
      record.recompute_seconds =
          std::fmin(record.recompute_seconds, timedOverRanks(*comm_, [&] { m.compute(); }));
    record.apply30_seconds =
        std::fmin(record.apply30_seconds, timeApplications(*comm_, m.get(), 30));
    Tpetra::deep_copy(*x_, *guess_);
    const size_t columns = tolerances_.size();
    record.columns.assign(columns > 1 ? columns : 0, {});
    const auto recordOf = [&](int c) -> RunRecord& {
      return columns > 1 ? record.columns[c] : record;
    };
    const KrylovResults solved = krylov_->solve(
        m, b_, x_, tolerances_, [&](int column) { return judged(column, recordOf(column)); });
    record.solve_seconds = solved.seconds;
    for (int c = 0; c < int(columns); ++c) {
      const KrylovResult& result = solved.columns[c];
      RunRecord& column = recordOf(c);
      column.iterations = result.iterations;
      column.converged = result.status == SolveStatus::Converged;
      column.status = toString(result.status);
      column.message = oneLine(result.message);
      judged(c, column);
    }
    if (columns > 1)
      sumUpColumns(record);
  }

  /// Judges a column of x on rank 0, which has the whole system, without Tpetra. Returns the
  /// residual that decides.
  double judged(int column, RunRecord& record) const {
    record.solution = tpetra::gather(*x_->getVector(column));
    double residual = 0;
    onAllRanks(*comm_, [&] {
      if (comm_->getRank() != 0)
        return;
      judge(command_, systems_[column], record);
      residual = record.decisiveResidual(command_);
    });
    Teuchos::broadcast(*comm_, 0, Teuchos::outArg(residual));
    return residual;
  }

  const CommandLine& command_;
  const LinearSystem& system_;
  CommPtr comm_;
  const RanksTogether& ranks_;
  MemoryMeter memory_;
  Teuchos::RCP<const TpetraRow> matrix_;
  int block_size_ = 1;                  ///< that the local blocks of a matrix in points are to have
  Teuchos::RCP<Vectors> b_, x_, guess_; ///< a column for each right-hand side
  std::vector<double> tolerances_;      ///< of the residuals that decide, each relative to its b
  std::vector<LinearSystem> systems_;   ///< one a column; on rank 0
  std::unique_ptr<TpetraKrylov> krylov_;
};

Environment environmentOf(const tpetra::Comm& comm) {
  Environment environment = describe(Exec());
  environment.ranks = comm.getSize();
  return environment;
}

/// What rank 0 knows.
ExitCode ofFirst(const tpetra::Comm& comm, ExitCode code) {
  int number = code;
  Teuchos::broadcast(comm, 0, Teuchos::outArg(number));
  return static_cast<ExitCode>(number);
}

ExitCode solveSystem(CommandLine command, const CommPtr& comm, const RanksTogether& ranks) {
  const bool first = comm->getRank() == 0;
  LinearSystem system;
  onAllRanks(*comm, [&] {
    if (first)
      system = makeSystem(command);
  });
  catchSignals(first); // before, there was nothing to lose
  Offset sizes[] = {system.matrix.numPointRows(), system.num_weak_diagonals};
  Teuchos::broadcast(*comm, 0, 2, sizes);
  const CommandLine others = otherSet(command, sizes[0], sizes[1]);
  Runner runner(command, system, comm, ranks);
  const Environment environment = environmentOf(*comm);
  std::ostream& out = output(*comm, command.json == "-");
  Table table(out, command);
  table.printHeader(system, environment);
  SolveOutputs outputs(command, system); // of rank 0
  const auto runAll = [&](const std::vector<std::string>& preconds, Table& rows) {
    for (const std::string& specification : preconds) {
      if (caughtSignal(*comm) != 0)
        break;
      RunRecord record = runner.run(specification);
      onAllRanks(*comm, [&] {
        if (!first)
          return;
        rows.printRow(record);
        const std::string json = toJson(record, command, system, environment);
        outputs.add(std::move(record), json);
      });
    }
  };
  runAll(command.preconds, table);
  int solved = outputs.anyConverged();
  Teuchos::broadcast(*comm, 0, Teuchos::outArg(solved));
  if (!others.preconds.empty() && solved == 0 && caughtSignal(*comm) == 0) {
    if (!command.quiet)
      out << other_set_follows;
    Table second(out, others);
    second.printTitles();
    runAll(others.preconds, second);
  }
  onAllRanks(*comm, [&] { outputs.finish(); });
  table.printFooter(outputs.records());
  if (first && !command.solution.empty() && bestRun(outputs.records()) == outputs.records().size())
    std::cerr << "ainvil-solve-mpi: no solution is written because no run has a finite residual\n";
  return ofFirst(*comm, outputs.failed()         ? bad_input
                        : outputs.allConverged() ? success
                                                 : not_converged);
}

ExitCode solveNewton(const CommandLine& command, Ordinal n, const CommPtr& comm,
                     const RanksTogether& ranks) {
  const bool json_on_stdout = command.json == "-";
  const Environment environment = environmentOf(*comm);
  CavityNewtonRun newton(command, n, comm, ranks);
  GrowingFile json_file(command.json);
  NewtonTable table(output(*comm, json_on_stdout), command);
  std::string json, failure;
  bool converged = true;
  for (const std::string& specification : command.preconds) {
    if (caughtSignal(*comm) != 0)
      break;
    const NewtonResult result = newton.run(specification);
    converged = converged && result.converged;
    if (comm->getRank() != 0)
      continue;
    table.print(specification, result, environment);
    const std::string line = toJson(specification, result, command, environment);
    json += line;
    failure.clear();
    try {
      if (json_on_stdout)
        std::cout << line << std::flush;
      else if (!command.json.empty())
        json_file.update(json);
    } catch (const FileError& error) { // there may be room again after the next run
      failure = error.what();
    }
  }
  onAllRanks(*comm, [&] {
    if (!failure.empty())
      throw FileError(failure);
  });
  return converged ? success : not_converged;
}

ExitCode solve(const CommandLine& command, const CommPtr& comm, const RanksTogether& ranks) {
  // Files are rank 0's.
  onAllRanks(*comm, [&] {
    if (comm->getRank() != 0)
      return;
    checkFiles(command);
    for (const std::string& path : {command.json == "-" ? "" : command.json, command.solution})
      if (!path.empty())
        checkWritable(path);
  });
  for (const std::string& specification : command.preconds) // before all that takes time
    checkSpecification(command, specification);
  requireBelosSolver(command.belos);
  if (const Ordinal n = cavityNewtonSize(command)) {
    catchSignals(comm->getRank() == 0);
    return solveNewton(command, n, comm, ranks);
  }
  return solveSystem(command, comm, ranks);
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
  ignoreFailedWrites();
  try {
    checkKokkosThreads(sorted(argc, argv));
  } catch (const InvalidArgument& error) { // on every rank, and MPI has not started
    std::cerr << "ainvil-solve-mpi: " << error.what() << std::endl;
    return bad_input;
  }
  unpackOnDevice();
  const Tpetra::ScopeGuard tpetra(&argc, &argv); // takes the options of MPI and Kokkos
  const CommPtr comm = Tpetra::getDefaultComm();
  const RanksTogether ranks(*comm);
  // What all ranks know is told by the first.
  const auto fail = [&](const std::exception& error, ExitCode code) {
    const std::string reason = oneLine(tpetra::reasonOf(error));
    ranks.end(reason, code);
    if (comm->getRank() == 0)
      std::cerr << "ainvil-solve-mpi: " << reason << std::endl;
    return code;
  };
  try {
    const CommandLine command =
        parseCommandLine(argumentsOfFirst(*comm, argc, argv), Program::SolveMpi);
    if (!command.help.empty()) {
      output(*comm, false) << command.help;
      return success;
    }
    const ExitCode code = solve(command, comm, ranks);
    const int signal = caughtSignal(*comm);
    return signal != 0 ? 128 + signal : code; // as shells have it
  } catch (const OutOfMemory& error) {
    return fail(error, other_error);
  } catch (const Error& error) {
    return fail(error, bad_input);
  } catch (const Teuchos::Exceptions::InvalidParameter& error) {
    return fail(error, bad_input);
  } catch (const std::exception& error) {
    return fail(error, other_error);
  }
}
