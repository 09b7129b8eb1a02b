// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The preconditioners that the programs compare where the user names none.

#include "solve/SolveCommandLine.hpp"

#include <string>
#include <vector>

namespace ainvil {
namespace perf {

/// For a solver of the program; those of other libraries where they are built.
std::vector<std::string> defaultsOf(Program program, const std::string& solver);

/// For matrices that ainvil-solve's own leave unsolved: large diagonals by exchanged rows, pivots
/// that are shifted, and fill by threshold in an order that bounds it. Cheaper ones first.
std::vector<std::string> otherPreconds(const std::string& solver, bool single_precision);

/// After these, for matrices of up to CommandLine::small_rows.
constexpr const char* nearly_complete =
    "ilu:factorization=ilut,drop=1e-5,match=product,reorder=nd,breakdown=shift";

} // namespace perf
} // namespace ainvil
