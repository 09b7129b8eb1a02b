// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The parameters of the triangular strategies of the library: a TriangularSolverMaker takes any.

#include "triangular/Ainvil_TriangularSolver.hpp"

#include <type_traits>

namespace ainvil {

/// Substitution, by ExactTriangularSolver. It has no parameters.
struct ExactParameters {
  /// The strategy, what it applies stored in that precision. \throws InvalidArgument for parameters
  /// out of range.
  template <class Scalar, class Device>
  TriangularSolverPtr<Scalar, Device> makeSolver(Storage storage) const;
};

/// Which of the two one-sided definitions of the approximate inverse M of T is taken, on the
/// pattern S: Rows, (M T)_ij = I_ij, or Columns, (T M)_ij = I_ij, for (i, j) in S.
enum class IsaiSide { Rows, Columns };

/// What IsaiOptions::relax_auto does where no number of steps serves.
enum class IsaiFallback {
  None, ///< the report gets an objection
  Exact ///< substitution in place of the approximate inverse
};

/// Pattern and relaxation of IsaiTriangularSolver, but for patterns in memory.
struct IsaiOptions {
  static constexpr int relax_auto = -1; ///< value of `relax`

  int power = 1;                  ///< pattern S(|T|^power)
  IsaiSide side = IsaiSide::Rows; ///< the definition of M
  /// From that pattern, or the user's, a row grows up to so many times by what M T adds to it,
  /// while its residual is larger than eps: rows have powers of their own, up to power + adaptive.
  /// With IsaiSide::Columns columns grow. Found by the first compute() after initialize() and kept.
  int adaptive = 0;
  /// Bound of the residual (M T - I)_i of a row that stays: sum of ||M_il T_lk||_F / sqrt(bs) over
  /// the products that fall outside of its pattern. Depends on the units of the columns of T.
  double eps = 0.1;
  /// Relaxation steps z <- z + M (r - T z) of one application, or relax_auto: the fewest that leave
  /// relax_threshold of right-hand sides A e, e random signs, found at each compute. What is left
  /// of them is measured in the equations of A: t = r - L z for L, L (r - U z) for U.
  int relax = 0;
  double relax_threshold = 0.05; ///< part of the right-hand side that relax_auto accepts
  int relax_limit = 12;          ///< relax_auto tries no more steps than this
  /// Where relax_limit steps leave more than fallback_threshold, or the inverse is not finite or
  /// beyond its storage, although T is finite. Found at each compute; the first one that needs
  /// substitution allocates.
  IsaiFallback fallback = IsaiFallback::Exact;
  double fallback_threshold = 0.5; ///< part of the right-hand side

  static const ParameterTable<IsaiOptions>& table(); ///< the keys that name them
};

/// All of IsaiTriangularSolver.
template <class Device>
struct IsaiParameters : IsaiOptions {
  IsaiParameters() = default;
  /// With the pattern of a power.
  IsaiParameters(const IsaiOptions& options) : IsaiOptions(options) {}

  /// Pattern of L^-1 given by the user instead of a power, in block rows. It must lie in the lower
  /// triangle; the diagonal may be present or not.
  Graph<Device> lower_pattern;
  Graph<Device> upper_pattern; ///< that of U^-1, in the upper triangle

  /// As that of ExactParameters, for vectors on the device where the patterns are.
  template <class Scalar, class OfVectors>
  std::enable_if_t<std::is_same<OfVectors, Device>::value, TriangularSolverPtr<Scalar, Device>>
  makeSolver(Storage storage) const;
};

/// What a sweep reads.
enum class SweepMode {
  Jacobi, ///< all rows from the values of the sweep before
  Async   ///< in place, from whatever values are there
};

/// In which order the rows of an asynchronous sweep are started.
enum class SweepOrder {
  Along,  ///< along the dependencies: forward for L, backward for U
  Against ///< the other way round, for comparison
};

/// What the first sweep begins with.
enum class SweepStart {
  Diagonal, ///< x_0 = D^-1 b
  Zero      ///< x_0 = 0: the first sweep gives D^-1 b
};

/// Kind, number and start of the sweeps of SweepTriangularSolver.
struct SweepParameters {
  SweepMode mode = SweepMode::Jacobi;      ///< what a sweep reads
  int sweeps = 5;                          ///< >= 0, >= 1 from zero
  double damping = 1;                      ///< omega in (0, 2)
  SweepStart start = SweepStart::Diagonal; ///< x_0
  SweepOrder order = SweepOrder::Along;    ///< SweepMode::Async
  /// Sweeps that leave random probes a residual larger than this, relative to the right-hand side,
  /// have diverged: solvers refuse the preconditioner.
  double divergence_limit = 1e3;

  /// The keys that name them for sweeps of that kind.
  static const ParameterTable<SweepParameters>& table(SweepMode mode);

  /// As that of ExactParameters.
  template <class Scalar, class Device>
  TriangularSolverPtr<Scalar, Device> makeSolver(Storage storage) const;
};

} // namespace ainvil
