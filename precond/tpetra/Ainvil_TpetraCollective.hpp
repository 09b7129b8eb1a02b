// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Errors that all ranks learn of.

#include "Ainvil_Error.hpp"

#include <Teuchos_CommHelpers.hpp>

#include <string>

namespace ainvil {
namespace tpetra {
namespace detail {

/// Runs work() on every rank; where it throws on one of them, all throw what the first of them has
/// to say. work() must not communicate. \throws Error; on a single rank, what work() throws
template <class Work>
void onAllRanks(const Teuchos::Comm<int>& comm, const Work& work) {
  if (comm.getSize() == 1)
    return work();
  std::string problem;
  try {
    work();
  } catch (const std::exception& error) {
    problem = message("rank ", comm.getRank(), " of ", comm.getSize(), ": ", error.what());
  }
  const int here = problem.empty() ? comm.getSize() : comm.getRank();
  int first = here;
  Teuchos::reduceAll(comm, Teuchos::REDUCE_MIN, here, Teuchos::outArg(first));
  if (first == comm.getSize())
    return;
  int length = static_cast<int>(problem.size());
  Teuchos::broadcast(comm, first, Teuchos::outArg(length));
  problem.resize(length);
  Teuchos::broadcast(comm, first, length, &problem[0]);
  throw Error(problem);
}

} // namespace detail
} // namespace tpetra
} // namespace ainvil
