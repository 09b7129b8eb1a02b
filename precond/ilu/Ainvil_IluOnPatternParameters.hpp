// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The parameters that all incomplete LU factorisations have, whatever their patterns.

#include "parameters/Ainvil_CommonParameters.hpp"

namespace ainvil {
namespace detail {

/// `iterative`, the member `sweeps` of a struct that derives from IluOnPatternOptions. The pivots
/// are those of addFactorPivots().
template <class Struct>
void addSweeps(ParameterTable<Struct>& table) {
  table
      .integer("iterative", "fact: sweeps", &Struct::sweeps, 0,
               "factors by n sweeps over all rows instead of level by level")
      .details("0: level by level. Sweeps wait for nothing; the factors are approximate. Work of "
               "a factorisation a sweep.");
}

/// What `modified` of ILU does with blocks.
constexpr const char* modifiedBlocks = "In blocks: whole blocks, from the diagonal block.";

/// DiagonalThresholds, and what is done with pivots that break down nevertheless.
template <class Struct>
void addFactorPivots(ParameterTable<Struct>& table) {
  addDiagonalThresholds(table);
  addBreakdown(table,
               "Throw, shift its diagonal, take a multiple of I instead, or factor A + alpha "
               "diag(A), alpha doubled until no pivot is singular. All but the first are counted "
               "and reported.",
               "Part of the block's largest entry that is added to its diagonal; where the block "
               "is nothing but rounding, of the largest entry of its rows. With `shift-all` the "
               "first alpha.",
               {{"fail", BreakdownPolicy::Fail},
                {"shift", BreakdownPolicy::Shift},
                {"replace", BreakdownPolicy::Replace},
                {"shift-all", BreakdownPolicy::ShiftAll}},
               "breakdown=shift or shift-all");
  addPivotTolerance(table, pivotToleranceDetails("pivot block", "eps"));
}

} // namespace detail
} // namespace ainvil
