// SPDX-License-Identifier: BSD-3-Clause
#include "peers/PeerRun.hpp"

#include "program/Measure.hpp"
#include "solve/SolveOutcome.hpp"

#include "Ainvil_BuildInfo.hpp"
#include "Ainvil_Solver.hpp"

#include <algorithm>
#include <cmath>
#include <dlfcn.h>
#include <iterator>
#include <sstream>

namespace ainvil {
namespace perf {
namespace {

std::string libraryOf(const std::string& specification) {
  return specification.substr(0, specification.find(':'));
}

std::string methodOf(const std::string& specification) {
  return specification.substr(libraryOf(specification).size() + 1);
}

bool isBuilt(const std::string& library) {
  std::istringstream names(build_info::peers);
  return std::find(std::istream_iterator<std::string>(names), {}, library) !=
         std::istream_iterator<std::string>();
}

std::unique_ptr<PeerLibrary> load(const std::string& name) {
  if (!isBuilt(name))
    throw InvalidArgument(message("this ainvil-peers was built without ", name,
                                  ": scripts/setup.sh peers installs all on Debian; then run CMake "
                                  "again"));
  // Never closed: libraries that run with MPI may not be.
  void* const module = dlopen(("ainvil-peer-" + name + ".so").c_str(), RTLD_NOW | RTLD_LOCAL);
  void* const start = module == nullptr ? nullptr : dlsym(module, "ainvilPeerLibrary");
  if (start == nullptr)
    throw Error(message("cannot load the plug-in for ", name, ": ", dlerror()));
  return std::unique_ptr<PeerLibrary>(reinterpret_cast<decltype(&ainvilPeerLibrary)>(start)());
}

} // namespace

bool isPeer(const std::string& specification) {
  const std::string library = libraryOf(specification);
  return specification.size() > library.size() &&
         (library == "petsc" || library == "hypre" || library == "ifpack2");
}

const PeerLibrary& PeerLibraries::of(const std::string& specification) {
  std::unique_ptr<PeerLibrary>& library = libraries_[libraryOf(specification)];
  if (library == nullptr)
    library = load(libraryOf(specification));
  return *library;
}

void PeerLibraries::check(const std::string& specification, bool spd) {
  const PeerLibrary& library = of(specification);
  try {
    library.check(methodOf(specification), spd);
  } catch (const std::invalid_argument& error) {
    throw InvalidArgument(message("preconditioner '", specification, "': ", error.what()));
  }
}

PeerRunner::PeerRunner(const CommandLine& command, const LinearSystem& system,
                       PeerLibraries& libraries, MPI_Comm comm)
    : command_(command), system_(system), libraries_(libraries) {
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  const auto& a = system.matrix;
  const auto firstOf = [&](Offset r) { return static_cast<int>(r * a.numRows() / ranks); };
  peer_system_.comm = comm;
  peer_system_.block_size = a.block_size;
  peer_system_.num_block_rows = a.numRows();
  peer_system_.first_block_row = firstOf(rank);
  peer_system_.end_block_row = firstOf(rank + 1);
  static_assert(sizeof(Offset) == sizeof(long long) && sizeof(Ordinal) == sizeof(int),
                "PeerSystem names them by their size");
  peer_system_.row_map = reinterpret_cast<const long long*>(a.graph.row_map.data());
  peer_system_.entries = a.graph.entries.data();
  peer_system_.values = a.values.data();
  peer_system_.rhs = system.rhs.data();
  peer_system_.spd = command.solver == "cg";
  peer_system_.restart = command.restart;
  peer_system_.tolerance = command.tolerance;
  peer_system_.max_iterations = command.max_iterations;
}

template <class Work>
double PeerRunner::timed(const Work& work) const {
  MPI_Barrier(peer_system_.comm);
  const Stopwatch stopwatch(command_.cpu_clock);
  work();
  double seconds = stopwatch.seconds();
  MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, peer_system_.comm);
  return seconds;
}

Vector<double, HostDevice> PeerRunner::gathered(const std::vector<double>& x) const {
  const Vector<double, HostDevice> whole("Ainvil::solution", system_.rhs.extent(0));
  const int count = static_cast<int>(x.size());
  int ranks;
  MPI_Comm_size(peer_system_.comm, &ranks);
  std::vector<int> counts(ranks), begins(ranks, 0);
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, peer_system_.comm);
  for (int r = 1; r < ranks; ++r)
    begins[r] = begins[r - 1] + counts[r - 1];
  MPI_Allgatherv(x.data(), count, MPI_DOUBLE, whole.data(), counts.data(), begins.data(),
                 MPI_DOUBLE, peer_system_.comm);
  return whole;
}

RunRecord PeerRunner::run(const std::string& specification) const {
  RunRecord record;
  record.precond = specification;
  const PeerLibrary& library = libraries_.of(specification);
  record.library = library.version();
  try {
    const auto solver = library.create(methodOf(specification), peer_system_);
    for (int repetition = 0; repetition < command_.repeat; ++repetition) {
      const RunRecord before = beginRepetition(record);
      repeat(*solver, record);
      endRepetition(before, record);
    }
  } catch (const std::invalid_argument& error) { // on all ranks: what the library refuses
    recordFailure(InvalidArgument(error.what()), record);
  } catch (const std::exception& error) {
    // The library's own error. Where there are other ranks, they may wait for this one in it.
    int ranks;
    MPI_Comm_size(peer_system_.comm, &ranks);
    if (ranks > 1)
      throw;
    recordFailure(error, record);
  }
  return record;
}

void PeerRunner::repeat(PeerSolver& solver, RunRecord& record) const {
  const double setup = timed([&] { solver.setUp(); });
  if (std::isnan(record.first_setup_seconds))
    record.first_setup_seconds = setup;
  record.setup_seconds = std::fmin(record.setup_seconds, setup);
  solver.apply(1);
  record.apply30_seconds = std::fmin(record.apply30_seconds, timed([&] { solver.apply(30); }));
  std::vector<double> x(size_t(peer_system_.numBlockRows()) * peer_system_.block_size);
  PeerResult result;
  record.solve_seconds = timed([&] { result = solver.solve(x.data()); });
  record.iterations = result.iterations;
  record.message = result.message;
  record.solution = gathered(x);
  record.converged = result.converged;
  record.status = toString(result.converged ? SolveStatus::Converged : SolveStatus::MaxIterations);
  judge(command_, system_, record);
  if (result.converged && !record.converged)
    record.status = "inaccurate";
}

} // namespace perf
} // namespace ainvil
