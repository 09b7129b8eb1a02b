// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What ainvil-solve --recommend prints when the race is over.

#include "solve/SolveRecord.hpp"

#include "Ainvil_Recommend.hpp"

#include <ostream>
#include <string>
#include <vector>

namespace ainvil {
namespace perf {

/// What the race measured of a run, without its solution and residuals.
RunRecord recordOf(const RaceEntry& entry);

/// The command line with the solver of an entry in place of that of the race.
CommandLine commandOf(const CommandLine& command, const Configuration& entry);

/// One line for people who wait.
std::string progressText(const RaceState& state, int block_size);

/// Lines that have the configuration again: a command, C++, Trilinos and PETSc.
std::vector<std::string> reproduction(const CommandLine& command, const Configuration& entry,
                                      int block_size);

/// The table, the fastest first, why the others have not converged, how to have the best again,
/// what to take in other circumstances, and what was not tried; or an explanation. `records` are
/// those of the entries, judged. Prints nothing if the command line says --quiet.
void printRace(std::ostream& out, const CommandLine& command, const Recommendation& found,
               const std::vector<RunRecord>& records, int block_size);

} // namespace perf
} // namespace ainvil
