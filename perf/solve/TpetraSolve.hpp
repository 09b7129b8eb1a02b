// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Setting up and applying one preconditioner on the ranks of an MPI job.

#include "program/MemoryMeter.hpp"
#include "solve/SolveCommandLine.hpp"
#include "solve/SolveRecord.hpp"

#include "Ainvil_TpetraDistribute.hpp"
#include "Ainvil_TpetraFactory.hpp"

#include <functional>

namespace ainvil {
namespace perf {

using TpetraRow = Tpetra::RowMatrix<>;
using TpetraOperator = Tpetra::Operator<>;
using TpetraVector = Tpetra::Vector<>;

/// The largest value of all ranks.
double maxOverRanks(const tpetra::Comm& comm, double value);
Offset sumOverRanks(const tpetra::Comm& comm, Offset value);

/// Seconds that work() takes on the slowest rank, from a barrier to the end of the device's work.
template <class Work>
double timedOverRanks(const tpetra::Comm& comm, Work&& work) {
  const tpetra::Map::node_type::execution_space exec;
  compat::fence(exec, "Ainvil::solve[timer]");
  comm.barrier();
  Kokkos::Timer timer;
  work();
  compat::fence(exec, "Ainvil::solve[timer]");
  return maxOverRanks(comm, timer.seconds());
}

/// The map of block rows that the command line asks for: METIS' parts of the graph that makeGraph()
/// gives, or consecutive rows. It is called on rank 0 if need be, num_rows looked at there.
/// Collective.
Teuchos::RCP<const tpetra::Map> makeRowMap(const CommandLine& command, Ordinal num_rows,
                                           const std::function<Graph<HostDevice>()>& makeGraph,
                                           const Teuchos::RCP<const tpetra::Comm>& comm);

/// Tells before any work what a TpetraPreconditioner would throw for a bad specification, and that
/// the solver needs another one. \throws InvalidArgument, also if the preconditioner varies between
/// applications and the solver of the command line relies on a fixed one; and
/// Teuchos::Exceptions::InvalidParameter
void checkSpecification(const CommandLine& command, const std::string& specification);

/// A preconditioner of ainvil-solve-mpi.
class TpetraPreconditioner {
public:
  /// What ainvil::tpetra::create() makes of the specification, inside of AdditiveSchwarz with
  /// --overlap; of a method of Ifpack2 and of "muelu" the parameters follow as NAME=VALUE. Block
  /// size 1 for those that find blocks in the matrix, or need none. \throws Error and what Trilinos
  /// throws
  TpetraPreconditioner(const CommandLine& command, const std::string& specification,
                       const Teuchos::RCP<const TpetraRow>& a, int block_size);

  /// Both are collective, also in what they throw.
  void initialize() const;
  void compute() const;
  /// True if compute() needs new rows of other ranks, which initialize() fetches.
  bool sharesRows() const { return outer_ != inner_; }

  const Ifpack2::Preconditioner<>& get() const { return *outer_; }
  const Teuchos::RCP<Ifpack2::Preconditioner<>>& rcp() const { return outer_; }

  /// The set-up as the report of the slowest rank has it, the sums of entries, into the record; of
  /// Ifpack2's methods no more than the times of the two phases.
  void report(const tpetra::Comm& comm, RunRecord& record) const;

private:
  Teuchos::RCP<Ifpack2::Preconditioner<>> outer_, inner_;
};

/// Seconds of `count` applications, after one that is not timed.
double timeApplications(const tpetra::Comm& comm, const Ifpack2::Preconditioner<>& m, int count);

} // namespace perf
} // namespace ainvil
