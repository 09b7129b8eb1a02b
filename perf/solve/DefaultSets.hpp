// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The preconditioners that the programs compare where the user names none.

#include "solve/SolveCommandLine.hpp"

#include "Ainvil_Types.hpp"

#include <string>
#include <vector>

namespace ainvil {
namespace perf {

/// For a solver of the program; those of other libraries where they are built.
std::vector<std::string> defaultsOf(Program program, const std::string& solver);

/// For matrices that these leave unsolved: large diagonals by exchanged rows, pivots
/// that are shifted, and fill by threshold in an order that bounds it. Cheaper ones first.
std::vector<std::string> otherPreconds(const std::string& solver, bool single_precision);

/// After these, for matrices of up to CommandLine::small_rows.
constexpr const char* nearly_complete =
    "ilu:factorization=ilut,drop=1e-5,match=product,reorder=nd,breakdown=shift";

/// Of the two sets that a program chooses itself, `command` keeps or takes the one for matrices
/// with so many zeros on the diagonal; the other is that of the result, which is else the same.
/// Without preconditioners where there is no other: the user has chosen, or the solver has one set.
CommandLine otherSet(CommandLine& command, Offset num_point_rows, Offset num_weak_diagonals);

constexpr const char* other_set_follows =
    "\nNone of these has converged, so here is the other set of --help.\n\n";

} // namespace perf
} // namespace ainvil
