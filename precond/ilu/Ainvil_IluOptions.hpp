// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The parameters of the factorisations of the library: a FactorizationMaker takes any.

#include "breakdown/Ainvil_DiagonalThresholds.hpp"
#include "ilu/Ainvil_Factorization.hpp"
#include "ilu/Ainvil_ThresholdOptions.hpp"

namespace ainvil {

/// Method and breakdown policy of a factorisation on a given pattern.
struct IluOnPatternOptions : DiagonalThresholds {
  /// 0: factorisation level by level. n > 0: n sweeps over all rows at once; the factors are then
  /// approximate, and exact after as many sweeps as L has level sets.
  int sweeps = 0;
  /// omega of MILU: so many times what is dropped is subtracted from the diagonal block of its row;
  /// from 0 to below 2. Dropped are the products L_ik U_kj for (i, j) beside the pattern less the
  /// blocks of A there.
  double modified = 0;
  BreakdownPolicy breakdown = BreakdownPolicy::Fail; ///< for pivot blocks that are singular
  /// Relative size of the shift under BreakdownPolicy::Shift; the first alpha under ShiftAll.
  double shift = 1e-3;
  /// A pivot block counts as singular where a row or column of it has no entry above so many eps
  /// times the largest entry of its row of A; >= 0.
  double pivot_tolerance = 10;
};

/// Pattern, method and breakdown policy of BlockIlu, the factorisation by level of fill.
struct BlockIluParameters : IluOnPatternOptions {
  int level = 0; ///< fill level k of ILU(k)

  static const ParameterTable<BlockIluParameters>& table(); ///< the keys that name them

  /// The factorisation. \throws InvalidArgument for parameters out of range.
  template <class Scalar, class Device>
  FactorizationPtr<Scalar, Device> makeFactorization() const;
};

/// Thresholds, method and breakdown policy of Ilut, the factorisation by threshold.
struct IlutParameters : IluOnPatternOptions, ThresholdOptions {
  static const ParameterTable<IlutParameters>& table(); ///< the keys that name them

  /// The factorisation. \throws InvalidArgument for parameters out of range.
  template <class Scalar, class Device>
  FactorizationPtr<Scalar, Device> makeFactorization() const;
};

} // namespace ainvil
