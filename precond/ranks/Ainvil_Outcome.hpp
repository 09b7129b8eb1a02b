// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Between exceptions and the error codes of another library, on one rank and on all of them.

#include "Ainvil_Error.hpp"

#include <mpi.h>

#include <string>

namespace ainvil {
/// What the adapters for libraries of C with MPI share.
namespace ranks {

/// Thrown when a function of the other library has failed, which has told its user then.
struct ForeignFailure {
  int code; ///< what it returned
};

/// How some work ended. The worse, the larger.
enum class Ending {
  Fine,        ///< it did what it should
  Unusable,    ///< this matrix gives no preconditioner: a pivot is zero, a value not finite
  BadArgument, ///< InvalidArgument
  NoMemory,    ///< OutOfMemory, or that of the standard library
  Failed,      ///< any other exception
  Foreign      ///< ForeignFailure
};

/// How some work ended, and why.
struct Outcome {
  Ending ending = Ending::Fine; ///< how
  int foreign_code = 0;         ///< of ForeignFailure
  std::string reason;           ///< a sentence; empty if all is fine, or told already
};

/// The outcome of the exception that is being handled.
Outcome outcomeOfException();

/// work(); no exception leaves it.
template <class Work>
Outcome attempt(const Work& work) {
  try {
    work();
    return {};
  } catch (...) {
    return outcomeOfException();
  }
}

/// Gives all ranks the worst outcome of them, and of equal ones that of the first rank, whose
/// number is added to the reason where there are several ranks. Where MPI fails and returns, the
/// outcome is that it did. Collective.
void agree(MPI_Comm comm, Outcome& outcome);

/// \throws Error unless the code of an MPI function is that of success
void checkMpi(int code);

} // namespace ranks
} // namespace ainvil
