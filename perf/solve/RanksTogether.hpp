// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Work of all ranks of an MPI job that may fail on one of them alone.

#include "Ainvil_TpetraDistribute.hpp"

#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace ainvil {
namespace perf {

/// Ends such work on all ranks. tpetra::onAllRanks() is for work that does not communicate; this is
/// for what does, as solvers and preconditioners of Trilinos do, in ways not known here. Where one
/// rank fails amid communication, the others wait for it for ever, and only the end of the job
/// helps. All methods are collective.
class RanksTogether {
public:
  /// `patience` is how long a rank that has failed waits for the others.
  explicit RanksTogether(const tpetra::Comm& comm,
                         std::chrono::seconds patience = std::chrono::seconds(30));

  /// Runs work() on every rank; where it throws on one of them, all throw, as from
  /// tpetra::onAllRanks(). If the other ranks have not finished when the patience of one that has
  /// failed ends, this one tells why on stderr and ends the job.
  void run(const std::function<void()>& work) const;

  /// To be called by ranks that have failed and are about to end the program. Returns when all
  /// ranks have; if not all do within the patience, tells the reason on stderr and ends the job
  /// with the exit code.
  void end(const std::string& reason, int exit_code) const;

private:
  std::chrono::seconds patience_;
  // Of their own, lest what is sent here be taken for what the ranks that work wait for.
  Teuchos::RCP<const tpetra::Comm> runs_, ends_;
};

/// The signal that came to one of the ranks, or 0. Collective, a reduction.
int caughtSignal(const tpetra::Comm& comm);

/// The arguments of rank 0 on every rank: what starts the job may give each its own.
std::vector<std::string> argumentsOfFirst(const tpetra::Comm& comm, int argc, char** argv);

} // namespace perf
} // namespace ainvil
