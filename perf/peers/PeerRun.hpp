// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Other libraries' solvers on the system of ainvil-peers.

#include "solve/SolveRecord.hpp"
#include "solve/SolveSystem.hpp"

#include "peers/PeerSolver.hpp"

#include <map>
#include <vector>

namespace ainvil {
namespace perf {

/// True for "LIBRARY:METHOD" where LIBRARY is one that ainvil-peers may be built with.
bool isPeer(const std::string& specification);

/// The libraries that this build has, each started when first asked for.
class PeerLibraries {
public:
  /// The library of a specification that isPeer(). \throws InvalidArgument if this build has not
  /// got it, Error if it does not start
  const PeerLibrary& of(const std::string& specification);

  /// \throws InvalidArgument for a method that the library does not understand.
  void check(const std::string& specification, bool spd);

private:
  std::map<std::string, std::unique_ptr<PeerLibrary>> libraries_;
};

/// One system, solved by any of them, a process a core.
class PeerRunner {
public:
  /// `system` is the whole one on every rank.
  PeerRunner(const CommandLine& command, const LinearSystem& system, PeerLibraries& libraries,
             MPI_Comm comm);

  /// Collective. Times are those of the slowest rank, from a barrier on. \throws Error
  RunRecord run(const std::string& specification) const;

private:
  template <class Work>
  double timed(const Work& work) const;
  Vector<double, HostDevice> gathered(const std::vector<double>& x) const;
  /// One set-up and solve.
  void repeat(PeerSolver& solver, RunRecord& record) const;

  const CommandLine& command_;
  const LinearSystem& system_;
  PeerLibraries& libraries_;
  PeerSystem peer_system_;
};

} // namespace perf
} // namespace ainvil
