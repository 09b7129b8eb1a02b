// SPDX-License-Identifier: BSD-3-Clause
#include "hypre/Ainvil_Hypre.h"

#include "ranks/Ainvil_Outcome.hpp"
#include "ranks/Ainvil_RankPreconditioner.hpp"
#include "ranks/Ainvil_RunningKokkos.hpp"

#include <_hypre_parcsr_ls.h>

#include <algorithm>
#include <memory>
#include <set>

namespace ainvil {
namespace {

using ranks::attempt;
using ranks::Choice;
using ranks::Ending;
using ranks::Outcome;

static_assert(std::is_same<HYPRE_Int, Ordinal>::value && std::is_same<HYPRE_Complex, double>::value,
              "Ainvil takes a hypre of 32-bit HYPRE_Int and real double precision only");

/// What a HYPRE_Solver of ours is. MGR reads from the solver of its F-points whether it is a
/// BoomerAMG that has been set up; so it begins as one that has not.
struct Precond : hypre_ParAMGData {
  explicit Precond(MPI_Comm of_ranks) : hypre_ParAMGData(), communicator(of_ranks) {}

  MPI_Comm communicator;
  ranks::RankPreconditioner m;
  Graph<HostDevice> pattern; ///< of hypre's matrix last set up, entries as they come
  std::string report;
};

HYPRE_Solver handleOf(Precond* precond) {
  return reinterpret_cast<HYPRE_Solver>(static_cast<hypre_ParAMGData*>(precond));
}

/// All that there are.
std::set<HYPRE_Solver>& handles() {
  static std::set<HYPRE_Solver> all;
  return all;
}

/// \throws InvalidArgument if the handle is none of ours
Precond& precondOf(HYPRE_Solver solver) {
  if (handles().count(solver) == 0)
    throw InvalidArgument(
        "this is no preconditioner of ainvilHypreCreate(), or one that has been "
        "destroyed; MGR hands over one of its own when it is set up again: make a "
        "new MGR, with the same preconditioner");
  return *static_cast<Precond*>(reinterpret_cast<hypre_ParAMGData*>(solver));
}

std::string& lastMessage() {
  static std::string text;
  return text;
}

/// Raises what went wrong as an error of hypre; `argument` is the number of the one that may be at
/// fault. Returns the flag of all errors.
HYPRE_Int raise(const Outcome& outcome, int argument) {
  if (outcome.ending != Ending::Fine) {
    lastMessage() = outcome.reason;
    const HYPRE_Int code = outcome.ending == Ending::BadArgument ? HYPRE_ERROR_ARG | argument << 3
                           : outcome.ending == Ending::NoMemory  ? HYPRE_ERROR_MEMORY
                                                                 : HYPRE_ERROR_GENERIC;
    hypre_error_w_msg(code, outcome.reason.c_str());
  }
  return hypre_error_flag;
}

/// work(precond) on all ranks; the error of one is that of all. Where the handle is none of ours
/// nobody knows the other ranks, but then it is none on them either.
template <class Work>
Outcome onAllRanks(HYPRE_Solver solver, const Work& work) {
  Precond* precond = nullptr;
  Outcome outcome = attempt([&] { precond = &precondOf(solver); });
  if (precond == nullptr)
    return outcome;
  outcome = attempt([&] { work(*precond); });
  ranks::agree(precond->communicator, outcome);
  return outcome;
}

bool samePattern(const Graph<HostDevice>& graph, const hypre_CSRMatrix* a) {
  const HYPRE_Int n = hypre_CSRMatrixNumRows(a);
  if (graph.num_rows != n || graph.num_cols != hypre_CSRMatrixNumCols(a))
    return false;
  for (HYPRE_Int i = 0; i < n; ++i)
    if (graph.row_map(i + 1) != hypre_CSRMatrixI(a)[i + 1])
      return false;
  return std::equal(graph.entries.data(), graph.entries.data() + graph.numEntries(),
                    hypre_CSRMatrixJ(a));
}

/// The part of a set-up that a rank does alone.
void setUpHere(Precond& precond, HYPRE_ParCSRMatrix matrix) {
  if (matrix == nullptr)
    throw InvalidArgument("there is no matrix: assemble one");
  const auto* a = hypre_ParCSRMatrixDiag(reinterpret_cast<hypre_ParCSRMatrix*>(matrix));
  const ranks::RankPreconditioner::Exec exec;
  if (precond.m.needsPattern() || !samePattern(precond.pattern, a)) {
    ranks::StoredPattern stored;
    const HostDevice::execution_space host;
    stored.graph = ranks::copiedGraph(host, hypre_CSRMatrixNumRows(a), hypre_CSRMatrixNumCols(a),
                                      hypre_CSRMatrixI(a), hypre_CSRMatrixJ(a));
    stored.num_scalars = stored.graph.numEntries();
    precond.m.setPattern(exec, stored, std::max(precond.m.choice().block_size, 1));
    precond.pattern = stored.graph;
  }
  precond.m.setValues(exec, hypre_CSRMatrixData(a));
}

/// The columns of a vector, which must lie one after the other.
ranks::Columns<double> columnsOf(HYPRE_ParVector vector, HYPRE_Int& rows, HYPRE_Int& columns) {
  hypre_Vector* local = hypre_ParVectorLocalVector(reinterpret_cast<hypre_ParVector*>(vector));
  rows = hypre_VectorSize(local);
  columns = hypre_VectorNumVectors(local);
  if (columns > 1 && hypre_VectorIndexStride(local) != 1)
    throw InvalidArgument("a multivector must be stored column by column "
                          "(HYPRE_ParVectorSetNumVectors does so)");
  return {hypre_VectorData(local), columns > 1 ? hypre_VectorVectorStride(local) : rows};
}

/// x = op(M^-1) b.
HYPRE_Int solve(HYPRE_Solver solver, HYPRE_ParVector b, HYPRE_ParVector x, Trans trans) {
  const Outcome outcome = attempt([&] {
    Precond& precond = precondOf(solver);
    HYPRE_Int rows, columns, rows_of_x, columns_of_x;
    const auto from = columnsOf(b, rows, columns);
    const auto to = columnsOf(x, rows_of_x, columns_of_x);
    if (rows != rows_of_x || columns != columns_of_x)
      throw InvalidArgument(
          message("b is ", rows, " x ", columns, " and x is ", rows_of_x, " x ", columns_of_x));
    precond.m.apply({from.data, from.stride}, to, rows, columns, trans);
    if (!precond.m.failure().empty())
      throw BreakdownError(precond.m.failure());
  });
  return raise(outcome, 3);
}

} // namespace
} // namespace ainvil

using namespace ainvil;

extern "C" HYPRE_Int ainvilHypreCreate(MPI_Comm comm, const char* specification,
                                       HYPRE_Solver* solver) {
  std::unique_ptr<Precond> precond;
  Outcome outcome = attempt([&] {
    if (specification == nullptr)
      throw InvalidArgument("there is no specification: give one as \"ilu:solve=isai\"");
    ranks::requireRunningKokkos();
    precond = std::make_unique<Precond>(comm);
    precond->m.choose({specification, 1}, "the block size");
    handles().insert(handleOf(precond.get()));
  });
  ranks::agree(comm, outcome);
  const bool is_fine = outcome.ending == Ending::Fine;
  if (!is_fine && precond != nullptr)
    handles().erase(handleOf(precond.get()));
  *solver = is_fine ? handleOf(precond.release()) : nullptr;
  return raise(outcome, 2);
}

extern "C" HYPRE_Int ainvilHypreDestroy(HYPRE_Solver solver) {
  const Outcome outcome = attempt([&] {
    if (solver == nullptr)
      return;
    const std::unique_ptr<Precond> precond(&precondOf(solver));
    handles().erase(solver);
  });
  return raise(outcome, 1);
}

extern "C" HYPRE_Int ainvilHypreSetBlockSize(HYPRE_Solver solver, HYPRE_Int block_size) {
  const Outcome outcome = onAllRanks(solver, [&](Precond& precond) {
    if (block_size < 1)
      throw InvalidArgument(message("the block size must be at least 1, but it is ", block_size));
    precond.m.choose({precond.m.choice().specification, block_size}, "the block size");
  });
  return raise(outcome, 2);
}

extern "C" HYPRE_Int ainvilHypreSetup(HYPRE_Solver solver, HYPRE_ParCSRMatrix matrix,
                                      HYPRE_ParVector, HYPRE_ParVector) {
  const Outcome outcome = onAllRanks(solver, [&](Precond& precond) {
    precond.m.setFailure("");
    setUpHere(precond, matrix);
  });
  if (handles().count(solver) > 0)
    precondOf(solver).m.setFailure(outcome.reason);
  return raise(outcome, 2);
}

extern "C" HYPRE_Int ainvilHypreSolve(HYPRE_Solver solver, HYPRE_ParCSRMatrix, HYPRE_ParVector b,
                                      HYPRE_ParVector x) {
  return solve(solver, b, x, Trans::No);
}

extern "C" HYPRE_Int ainvilHypreSolveTranspose(HYPRE_Solver solver, HYPRE_ParCSRMatrix,
                                               HYPRE_ParVector b, HYPRE_ParVector x) {
  return solve(solver, b, x, Trans::Yes);
}

extern "C" HYPRE_Int ainvilHypreGetReport(HYPRE_Solver solver, const char** text) {
  const ranks::Advice advice{"a flexible solver, as HYPRE_ParCSRFlexGMRES",
                             "ainvilHypreSetBlockSize(..., 1)"};
  *text = "";
  const Outcome outcome = onAllRanks(solver, [&](Precond& precond) {
    precond.report.clear();
    for (const std::string& line : precond.m.report(precond.communicator, advice))
      precond.report += line + "\n";
    *text = precond.report.c_str();
  });
  return raise(outcome, 1);
}

extern "C" const char* ainvilHypreMessage(void) {
  return lastMessage().c_str();
}
