// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How often this rank has called MPI.

namespace ainvil {
namespace test {

/// Calls since the program began, of whichever library.
struct MpiCalls {
  int reductions = 0; ///< MPI_Allreduce
  int begun = 0;      ///< MPI_Iallreduce
  int sends = 0;      ///< of one message to one rank, blocking or not
  int blocking = 0;   ///< those of them that may wait for the receiver
};

/// Those until now.
const MpiCalls& mpiCalls();

} // namespace test
} // namespace ainvil
