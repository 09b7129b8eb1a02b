// SPDX-License-Identifier: BSD-3-Clause
#include "ranks/Ainvil_Outcome.hpp"

#include <new>

namespace ainvil {
namespace ranks {

Outcome outcomeOfException() {
  try {
    throw;
  } catch (const ForeignFailure& failure) {
    return {Ending::Foreign, failure.code, {}};
  } catch (const BreakdownError& error) {
    return {Ending::Unusable, 0, error.what()};
  } catch (const OutOfMemory& error) {
    return {Ending::NoMemory, 0, error.what()};
  } catch (const std::bad_alloc&) {
    return {Ending::NoMemory, 0, "there is no memory left"};
  } catch (const InvalidArgument& error) {
    return {Ending::BadArgument, 0, error.what()};
  } catch (const std::exception& error) {
    return {Ending::Failed, 0, error.what()};
  } catch (...) {
    return {Ending::Failed, 0, "something was thrown that is no exception"};
  }
}

void checkMpi(int code) {
  if (code != MPI_SUCCESS)
    throw Error(message("MPI has failed with error code ", code));
}

void agree(MPI_Comm comm, Outcome& outcome) {
  const Outcome of_mpi = attempt([&] {
    int size, rank;
    checkMpi(MPI_Comm_size(comm, &size));
    if (size == 1)
      return;
    checkMpi(MPI_Comm_rank(comm, &rank));
    int here[2] = {static_cast<int>(outcome.ending), rank}, worst[2];
    checkMpi(MPI_Allreduce(here, worst, 1, MPI_2INT, MPI_MAXLOC, comm));
    if (worst[0] == static_cast<int>(Ending::Fine))
      return;
    int told[2] = {outcome.foreign_code, static_cast<int>(outcome.reason.size())};
    checkMpi(MPI_Bcast(told, 2, MPI_INT, worst[1], comm));
    std::string reason = outcome.reason;
    reason.resize(told[1]);
    checkMpi(MPI_Bcast(&reason[0], told[1], MPI_CHAR, worst[1], comm));
    if (!reason.empty())
      reason = message("rank ", worst[1], " of ", size, ": ", reason);
    outcome = {static_cast<Ending>(worst[0]), told[0], reason};
  });
  if (of_mpi.ending != Ending::Fine)
    outcome = of_mpi;
}

} // namespace ranks
} // namespace ainvil
