// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Incomplete Cholesky factors of symmetric matrices, L D L^T, applied by any triangular strategy.

#include "Ainvil_Preconditioner.hpp"
#include "breakdown/Ainvil_DiagonalThresholds.hpp"
#include "ilu/Ainvil_ThresholdOptions.hpp"
#include "triangular/Ainvil_TriangularOptions.hpp"

namespace ainvil {

/// What the pattern of the factor of Ic follows.
enum class IcPattern {
  Level,    ///< the graph of A: that of IC(k)
  Threshold ///< the values of A: that of ICT, by the ThresholdOptions
};

/// Which pivots Ic takes, and applies. Of blocks the signs of the eigenvalues count.
enum class PivotSigns {
  Positive, ///< positive ones: others break down; A and M are SPD
  Keep,     ///< of either sign: A is symmetric, and M as indefinite as D
  Absolute  ///< likewise; |D| is applied in place of D, so that M is SPD
};

/// Pattern, pivots and breakdown policy of the factor of Ic.
struct IcOptions : ThresholdOptions, DiagonalThresholds {
  IcPattern pattern = IcPattern::Level; ///< what the pattern follows
  int level = 0;                        ///< fill level k of IC(k), with IcPattern::Level
  /// omega of MIC: so many times what is dropped is subtracted from the diagonal of its two rows;
  /// from 0 to below 2.
  double modified = 0;
  PivotSigns signs = PivotSigns::Positive; ///< which pivots there may be
  /// For pivot blocks that are not positive definite, or singular where `signs` allows those. Shift
  /// factors A + alpha diag(A), with alpha = `shift` and twice as much each time until no pivot
  /// breaks down.
  BreakdownPolicy breakdown = BreakdownPolicy::Shift;
  double shift = 1e-3; ///< the first alpha
  /// A pivot counts as not positive, or zero, up to so many eps times the largest entry of its row
  /// of A; >= 0.
  double pivot_tolerance = 10;

  static const ParameterTable<IcOptions>& table(); ///< the keys that name them
};

namespace detail {
template <class Scalar, class Device>
class BlockIc;
} // namespace detail

/// The factor and how it is applied:
///
///     IcParameters<double, Device> parameters;
///     parameters.level = 1;
///     parameters.solve = IsaiParameters<Device>();     // or a function that makes one of yours
///     Ic<double, Device> ic(parameters);
template <class Scalar, class Device>
struct IcParameters : IcOptions {
  /// How (I + S)^-1 and its transposed are applied, by substitution unless said: from
  /// ExactParameters, IsaiParameters or SweepParameters.
  TriangularSolverMaker<Scalar, Device> solve = ExactParameters();
  Storage storage = Storage::Native; ///< of what is applied
};

/// M = (I + S) D (I + S)^T ~ A, block IC(k) or ICT: S strictly lower triangular, D block diagonal
/// with positive definite blocks, (M - A)_ij = 0 on a pattern, that of the fill level k or one that
/// holds the large entries, found by the first compute() after initialize() and kept by those that
/// follow: these allocate nothing. A compute() that throws forgets it. Of S + D and
/// (I + S)^T only S and D^-1 are computed and kept, half of what ILU(k) computes; the strategy that
/// applies W ~ (I + S)^-1 applies W^T as well, so that
///   M^-1 = W^T D^-1 W
/// is symmetric positive definite for every strategy: CG does not break down by it. On GPUs, and
/// where threads share the rows, strategies keep what they apply by rows of its transposed, too.
/// D^-1 is stored in the precision of the vectors: rounded it might not be positive definite.
///
/// Modified factors, with omega > 0: where M - A has blocks X_ij beside the pattern, the row sums
/// of these, times omega, are subtracted from the diagonals of the blocks D_i. With 1, M e = A e
/// for e of ones. They take twice the memory of the others, the transposed pattern among it, in
/// compute().
///
/// Symmetric indefinite A: with PivotSigns::Keep the pivots have either sign, M is symmetric and
/// indefinite, for solvers that take any M; with PivotSigns::Absolute |D| = V |Lambda| V^T is
/// applied in place of D = V Lambda V^T, block by block, and M is SPD. There are no exchanges of
/// rows and no pivots of 2 x 2 but those that blocks are.
///
/// Breakdown: the factor of an SPD matrix without all of its fill may have pivots that are not
/// positive. By default a multiple of the diagonal is added to the whole matrix and the
/// factorisation repeated (Manteuffel's shift), see IcOptions; the pivots of the first attempt are
/// counted, the multiple is in the notes of the report.
///
/// Sources: for patterns that follow the values detail::ictPattern() and
/// detail::ilutPatternBySteps(); Meijerink, van der Vorst, An iterative solution method for linear
/// systems of which the coefficient matrix is a symmetric M-matrix (1977); Gustafsson, A class of
/// first order factorization methods (1978); |D|: Gill, Murray, Ponceleon, Saunders,
/// Preconditioners for indefinite systems arising in optimization (1992); Manteuffel, An
/// incomplete factorization technique for positive definite linear systems (1980); doubling: Lin,
/// More, Incomplete Cholesky factorizations with limited memory (1999).
template <class Scalar, class Device>
class Ic final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;
  using Parameters = IcParameters<Scalar, Device>; ///< what it is made with

  /// The keys of IcOptions, `solve`, those of all strategies, and `storage`.
  static const ParameterTable<Parameters>& parameterTable();

  /// \throws InvalidArgument for parameters out of range, without a strategy, and for one that
  /// varies between applications, which cannot be symmetric.
  explicit Ic(const Parameters& parameters);
  ~Ic() override;

  std::string description() const override;
  const TriangularFactor<Scalar, Device>& factor() const;     ///< I + S
  const Kokkos::View<Scalar*, Device>& pivotInverses() const; ///< the blocks of D^-1
  /// The multiple of diag(A) that the last compute() added; 0 without a breakdown.
  double shift() const;
  const TriangularSolver<Scalar, Device>& solver() const { return *solver_; } ///< of I + S

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override;
  bool refusesNonFinite() const override;
  void doCompute(const execution_space& exec, const Matrix& a) override;
  void doDiagnose(const execution_space& exec, const Matrix& a) override;
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans trans) const override;

private:
  using Base::report_;

  void initializeSolver(const execution_space& exec);
  /// For the rows of a pattern of A to call.
  std::function<void(Offset)> patternProgress(const Matrix& a) const;

  Parameters parameters_;
  TriangularSolverPtr<Scalar, Device> solver_; ///< of I + S
  std::unique_ptr<detail::BlockIc<Scalar, Device>> factorization_;
  bool knows_pattern_ = false;                  ///< that of the last compute() still holds
  Kokkos::View<Offset*, Device> symmetry_room_; ///< of requireSymmetric()
  mutable MultiVector<Scalar, Device> intermediate_;
};

} // namespace ainvil
