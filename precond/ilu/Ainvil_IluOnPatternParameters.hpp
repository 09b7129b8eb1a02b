// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The parameters that all incomplete LU factorisations have, whatever their patterns.

#include "parameters/Ainvil_CommonParameters.hpp"

namespace ainvil {
namespace detail {

/// `iterative`, the member `sweeps` of a struct that derives from IluOnPatternOptions. The pivots
/// are those of addPivots().
template <class Struct>
void addSweeps(ParameterTable<Struct>& table) {
  table
      .integer("iterative", "fact: sweeps", &Struct::sweeps, 0,
               "factors by n sweeps over all rows instead of level by level")
      .details("0: level by level. Sweeps wait for nothing; the factors are approximate. Work of "
               "a factorisation a sweep.");
}

} // namespace detail
} // namespace ainvil
