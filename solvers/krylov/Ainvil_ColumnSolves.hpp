// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What a solver has to know of each of the columns that it solves for together.

#include "Ainvil_Solver.hpp"
#include "backend/Ainvil_ColumnSet.hpp"

#include <array>

namespace ainvil {
namespace detail {

/// What the residuals of each column are relative to, and are to become.
struct Targets {
  std::array<double, ColumnSet::capacity> reference = {}; ///< ||b|| or what stands in its place
  std::array<double, ColumnSet::capacity> tolerance = {}; ///< of the residual relative to it

  /// The residual norms to reach.
  double norm(int column) const { return tolerance[column] * reference[column]; }
};

/// The column that is furthest from its tolerance.
inline int furthestColumn(const Targets& targets, const ColumnSet& columns,
                          const SolveResult* results) {
  int worst = columns[0];
  const auto distance = [&](int c) { return results[c].rel_residual / targets.tolerance[c]; };
  for (const int c : columns)
    if (distance(c) > distance(worst))
      worst = c;
  return worst;
}

} // namespace detail
} // namespace ainvil
