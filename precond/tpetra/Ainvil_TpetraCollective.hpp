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

/// Which exception it was.
enum class Kind : int { Any, InvalidArgument, Breakdown, File, OutOfMemory };

inline Kind kindOf(const std::exception& error) {
  if (dynamic_cast<const InvalidArgument*>(&error) != nullptr)
    return Kind::InvalidArgument;
  if (dynamic_cast<const BreakdownError*>(&error) != nullptr)
    return Kind::Breakdown;
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr)
    return Kind::OutOfMemory;
  return dynamic_cast<const FileError*>(&error) != nullptr ? Kind::File : Kind::Any;
}

[[noreturn]] inline void throwAs(Kind kind, const std::string& text) {
  switch (kind) {
  case Kind::InvalidArgument:
    throw InvalidArgument(text);
  case Kind::Breakdown:
    throw BreakdownError(text);
  case Kind::File:
    throw FileError(text);
  case Kind::OutOfMemory:
    throw OutOfMemory(text);
  default:
    throw Error(text);
  }
}

} // namespace detail

/// Runs work() on every rank; where it throws on one of them, all throw what the first of them has
/// to say, as the same kind of Error. work() must not communicate. \throws Error; on a single rank,
/// what work() throws
template <class Work>
void onAllRanks(const Teuchos::Comm<int>& comm, const Work& work) {
  if (comm.getSize() == 1)
    return work();
  std::string problem;
  int kind = 0;
  try {
    work();
  } catch (const std::exception& error) {
    kind = static_cast<int>(detail::kindOf(error));
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
  Teuchos::broadcast(comm, first, Teuchos::outArg(kind));
  detail::throwAs(static_cast<detail::Kind>(kind), problem);
}

} // namespace tpetra
} // namespace ainvil
