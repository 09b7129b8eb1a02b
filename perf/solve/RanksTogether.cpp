// SPDX-License-Identifier: BSD-3-Clause
#include "solve/RanksTogether.hpp"

#include "program/Interruption.hpp"
#include "program/KokkosProgram.hpp"

#include "Ainvil_TpetraCollective.hpp"

#include <Teuchos_DefaultMpiComm.hpp>

#include <cstdlib>
#include <exception>
#include <iostream>
#include <limits>
#include <mpi.h>
#include <new>
#include <thread>

namespace ainvil {
namespace perf {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds no_limit(std::numeric_limits<int>::max());

/// Returns true when all ranks have called this; false if that takes longer than the limit.
bool allArrive(const tpetra::Comm& comm, std::chrono::seconds limit) {
  MPI_Request request;
  MPI_Ibarrier(*dynamic_cast<const Teuchos::MpiComm<int>&>(comm).getRawMpiComm(), &request);
  const Clock::time_point begin = Clock::now();
  int arrived = 0;
  MPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
  while (arrived == 0 && Clock::now() - begin < limit) {
    // Leaves the processor to those who work.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    MPI_Test(&request, &arrived, MPI_STATUS_IGNORE);
  }
  return arrived != 0;
}

[[noreturn]] void endJob(const tpetra::Comm& comm, const std::string& reason, int exit_code) {
  std::cerr << "ainvil-solve-mpi, rank " << comm.getRank() << ": " << oneLine(reason)
            << " (the other ranks do not come to an end: the job is ended)" << std::endl;
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::abort();
}

std::string textOf(const std::exception_ptr& problem) {
  try {
    std::rethrow_exception(problem);
  } catch (const std::exception& error) {
    return tpetra::reasonOf(error);
  }
}

} // namespace

RanksTogether::RanksTogether(const tpetra::Comm& comm, std::chrono::seconds patience)
    : patience_(patience), runs_(comm.duplicate()), ends_(comm.duplicate()) {}

void RanksTogether::run(const std::function<void()>& work) const {
  std::exception_ptr problem;
  try {
    work();
  } catch (const std::bad_alloc&) {
    problem = std::make_exception_ptr(OutOfMemory("there is not enough memory"));
  } catch (const std::exception&) {
    problem = std::current_exception();
  }
  if (!allArrive(*runs_, problem != nullptr ? patience_ : no_limit))
    endJob(*runs_, textOf(problem), other_error);
  tpetra::onAllRanks(*runs_, [&] {
    if (problem != nullptr)
      std::rethrow_exception(problem);
  });
}

void RanksTogether::end(const std::string& reason, int exit_code) const {
  if (!allArrive(*ends_, patience_))
    endJob(*ends_, reason, exit_code);
}

int caughtSignal(const tpetra::Comm& comm) {
  const int own = perf::caughtSignal();
  int signal = 0;
  Teuchos::reduceAll(comm, Teuchos::REDUCE_MAX, own, Teuchos::outArg(signal));
  return signal;
}

std::vector<std::string> argumentsOfFirst(const tpetra::Comm& comm, int argc, char** argv) {
  std::string all;
  for (int i = 1; i < argc; ++i)
    all.append(argv[i]).push_back('\0');
  int length = static_cast<int>(all.size());
  Teuchos::broadcast(comm, 0, Teuchos::outArg(length));
  all.resize(length);
  Teuchos::broadcast(comm, 0, length, &all[0]);
  std::vector<std::string> arguments;
  for (size_t begin = 0; begin < all.size(); begin += arguments.back().size() + 1)
    arguments.emplace_back(all.c_str() + begin);
  return arguments;
}

} // namespace perf
} // namespace ainvil
