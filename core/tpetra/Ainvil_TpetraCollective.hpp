// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Errors that all ranks learn of.

#include "Ainvil_Error.hpp"

#include <Teuchos_CommHelpers.hpp>
#include <Teuchos_ParameterListExceptions.hpp>

#include <new>
#include <string>

namespace ainvil {
namespace tpetra {

/// What an exception says; of one of Trilinos without the place in its sources and the condition.
inline std::string reasonOf(const std::exception& error) {
  const std::string text = error.what();
  const size_t condition = text.find("Throw test that evaluated to true");
  const size_t blank = condition == std::string::npos ? condition : text.find("\n\n", condition);
  const size_t reason = blank == std::string::npos ? blank : text.find_first_not_of('\n', blank);
  return reason == std::string::npos ? text : text.substr(reason);
}

namespace detail {

/// Which exception it was.
enum class Kind : int {
  Any,
  Error,
  InvalidArgument,
  Breakdown,
  File,
  OutOfMemory,
  ParameterName,
  ParameterType,
  ParameterValue
};

inline Kind kindOf(const std::exception& error) {
  namespace Wrong = Teuchos::Exceptions;
  if (dynamic_cast<const Wrong::InvalidParameterName*>(&error) != nullptr)
    return Kind::ParameterName;
  if (dynamic_cast<const Wrong::InvalidParameterType*>(&error) != nullptr)
    return Kind::ParameterType;
  if (dynamic_cast<const Wrong::InvalidParameterValue*>(&error) != nullptr)
    return Kind::ParameterValue;
  if (dynamic_cast<const InvalidArgument*>(&error) != nullptr)
    return Kind::InvalidArgument;
  if (dynamic_cast<const BreakdownError*>(&error) != nullptr)
    return Kind::Breakdown;
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr ||
      dynamic_cast<const std::bad_alloc*>(&error) != nullptr)
    return Kind::OutOfMemory;
  if (dynamic_cast<const FileError*>(&error) != nullptr)
    return Kind::File;
  return dynamic_cast<const Error*>(&error) != nullptr ? Kind::Error : Kind::Any;
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
  case Kind::ParameterName:
    throw Teuchos::Exceptions::InvalidParameterName(text);
  case Kind::ParameterType:
    throw Teuchos::Exceptions::InvalidParameterType(text);
  case Kind::ParameterValue:
    throw Teuchos::Exceptions::InvalidParameterValue(text);
  case Kind::Error:
    throw Error(text);
  default:
    throw std::runtime_error(text);
  }
}

} // namespace detail

/// Runs work() on every rank; where it throws on one of them, all throw what the first of them has
/// to say, as the same kind of Error or Teuchos::Exceptions::InvalidParameter, else as
/// std::runtime_error. The message names the rank, unless all say the same. If work() communicates,
/// it must not throw on one rank before its communication is done, because the others would wait
/// for it there. \throws these; on a single rank, what work() throws
template <class Work>
void onAllRanks(const Teuchos::Comm<int>& comm, const Work& work) {
  if (comm.getSize() == 1)
    return work();
  bool failed = false;
  std::string own;
  int kind = 0;
  try {
    work();
  } catch (const std::exception& error) {
    failed = true;
    kind = static_cast<int>(detail::kindOf(error));
    own = reasonOf(error);
  }
  const int here = failed ? comm.getRank() : comm.getSize();
  int first = here;
  Teuchos::reduceAll(comm, Teuchos::REDUCE_MIN, here, Teuchos::outArg(first));
  if (first == comm.getSize())
    return;
  std::string problem = own;
  int length = static_cast<int>(problem.size());
  Teuchos::broadcast(comm, first, Teuchos::outArg(length));
  problem.resize(length);
  Teuchos::broadcast(comm, first, length, &problem[0]);
  Teuchos::broadcast(comm, first, Teuchos::outArg(kind));
  const int same = failed && own == problem;
  int all_same = same;
  Teuchos::reduceAll(comm, Teuchos::REDUCE_MIN, same, Teuchos::outArg(all_same));
  if (all_same == 0)
    problem = message("rank ", first, " of ", comm.getSize(), ": ", problem);
  detail::throwAs(static_cast<detail::Kind>(kind), problem);
}

/// Whether it is so on one of the ranks. Collective.
inline bool anyOnRanks(const Teuchos::Comm<int>& comm, bool here) {
  const int own = here ? 1 : 0;
  int any = own;
  Teuchos::reduceAll(comm, Teuchos::REDUCE_MAX, own, Teuchos::outArg(any));
  return any != 0;
}

/// Makes sure that all ranks have the same text, and so take the same path through what
/// communicates. `what` it is goes into the message. Collective. \throws InvalidArgument on all
/// ranks if one has another text than rank 0
inline void requireSame(const Teuchos::Comm<int>& comm, const std::string& what,
                        const std::string& text) {
  std::string of_first = text;
  int length = static_cast<int>(text.size());
  Teuchos::broadcast(comm, 0, Teuchos::outArg(length));
  of_first.resize(length);
  Teuchos::broadcast(comm, 0, length, &of_first[0]);
  onAllRanks(comm, [&] {
    if (text != of_first)
      throw InvalidArgument(message(what, " is ", text, ", but that of rank 0 is ", of_first,
                                    ": give all ranks the same"));
  });
}

} // namespace tpetra
} // namespace ainvil
