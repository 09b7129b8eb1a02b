// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// MPI has each function under a second name, so that a program may count the calls of the first.
#include "solvers/tpetra/MpiCalls.hpp"

#include <mpi.h>

namespace {

ainvil::test::MpiCalls calls;

} // namespace

const ainvil::test::MpiCalls& ainvil::test::mpiCalls() {
  return calls;
}

extern "C" {

int MPI_Allreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                  MPI_Comm comm) {
  ++calls.reductions;
  return PMPI_Allreduce(from, to, count, type, op, comm);
}

int MPI_Iallreduce(const void* from, void* to, int count, MPI_Datatype type, MPI_Op op,
                   MPI_Comm comm, MPI_Request* request) {
  ++calls.begun;
  return PMPI_Iallreduce(from, to, count, type, op, comm, request);
}

int MPI_Send(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++calls.sends;
  ++calls.blocking;
  return PMPI_Send(from, count, type, to, tag, comm);
}

int MPI_Rsend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++calls.sends;
  ++calls.blocking;
  return PMPI_Rsend(from, count, type, to, tag, comm);
}

int MPI_Ssend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  ++calls.sends;
  ++calls.blocking;
  return PMPI_Ssend(from, count, type, to, tag, comm);
}

int MPI_Isend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  ++calls.sends;
  return PMPI_Isend(from, count, type, to, tag, comm, request);
}

int MPI_Irsend(const void* from, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request* request) {
  ++calls.sends;
  return PMPI_Irsend(from, count, type, to, tag, comm, request);
}

} // extern "C"
