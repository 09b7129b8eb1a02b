// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Changes of the diagonal of a matrix before it is factored.

namespace ainvil {

/// What is factored in place of A: every entry d of its diagonal, in blocks that of the diagonal
/// block, becomes
///   relative_threshold d + sign(d) absolute_threshold,
/// with sign(0) = 1. Source: the a priori thresholds of Ifpack2's RILUK; Chow, Saad, Experimental
/// study of ILU preconditioners for indefinite matrices, J. Comput. Appl. Math. 86 (1997).
struct DiagonalThresholds {
  double absolute_threshold = 0; ///< in units of A; >= 0
  double relative_threshold = 1; ///< > 0
};

namespace detail {

/// The same in kernels, with a shift relative to the entry that comes of it, see
/// PivotInversion::changed().
template <class Scalar>
struct DiagonalChange {
  Scalar absolute = 0; ///< absolute_threshold
  Scalar relative = 1; ///< relative_threshold
  Scalar alpha = 0;    ///< of A + alpha diag(A)

  DiagonalChange() = default;
  /// Without a shift.
  explicit DiagonalChange(const DiagonalThresholds& thresholds)
      : absolute(static_cast<Scalar>(thresholds.absolute_threshold)),
        relative(static_cast<Scalar>(thresholds.relative_threshold)) {}
};

} // namespace detail
} // namespace ainvil
