// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Incomplete sparse approximate inverses of triangular block matrices.

#include "graph/Ainvil_RowClass.hpp"
#include "triangular/Ainvil_ExactTriangularSolver.hpp"
#include "triangular/Ainvil_TriangularSolver.hpp"

namespace ainvil {

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
};

/// The incomplete sparse approximate inverse M of a triangular block matrix T, applied by a sparse
/// matrix-vector product, with optional relaxation steps. Works for any block size and rows of any
/// length.
///
/// Rows are solved independently, by a part of a warp or a thread of a host each: row i of M with
/// pattern J satisfies
///   sum over l in J of M_il T_lk = delta_ik for k in J,
/// a triangular system that is solved by walking l through J away from the diagonal; nothing but
/// rows of T is read, so no other storage format of T is needed. The column definition is the row
/// definition of T^T. Cost of compute: sum over (i, l) in S of (length of row l of T) block
/// products; memory: M and, row by row, its accumulators in scratch. The first compute of an
/// adaptive pattern solves all rows once more for each time that rows grow.
///
/// The inverse of a general factor is general; that of a unit factor is unit, its diagonal not
/// stored.
///
/// Sources: Anzt, Huckle, Braeckle, Dongarra, Incomplete sparse approximate inverses for parallel
/// preconditioning (2018); block form and pattern powers: Thuerck et al., Block-ISAI.
template <class Stored, class Scalar, class Device>
class IsaiTriangularSolver final : public TriangularSolver<Scalar, Device> {
public:
  using Base = TriangularSolver<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Factor;
  using Parameters = IsaiParameters<Device>; ///< what it is made with

  /// The keys that name the parameters.
  static const ParameterTable<IsaiOptions>& parameterTable() { return IsaiOptions::table(); }

  /// \throws InvalidArgument for parameters out of range.
  explicit IsaiTriangularSolver(const IsaiParameters<Device>& parameters);

  std::string description() const override;
  void keepTransposed() override { keep_transposed_ = true; }
  void initialize(const execution_space& exec, const Factor& factor, const std::string& prefix,
                  Report& report) override;
  void compute(const execution_space& exec, const Factor& factor, const std::string& prefix,
               Report& report) override;
  bool takesProbes() const override { return isAutomatic(); }
  void fit(const execution_space& exec, const Factor& factor,
           const TriangularProbes<Scalar, Device>& probes, const std::string& prefix,
           Report& report) override;
  void apply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
             MultiVectorArg<Scalar, Device> y, Trans trans) const override;
  Offset entries() const override;
  Offset bytes() const override;

  /// M, without its diagonal where T is unit.
  const BsrMatrix<Stored, Device>& inverse() const { return inverse_.template matrixIn<Stored>(); }
  int relaxationSteps() const { return steps_; } ///< of one application; relax_auto found them
  /// The last compute() has taken substitution in place of the inverse.
  bool isSubstituted() const { return substituted_; }

private:
  Graph<Device> inversePattern(const execution_space& exec, const Factor& factor) const;
  void setFactor(const execution_space& exec, const Factor& factor);
  void setPattern(const execution_space& exec, const Graph<Device>& rows_pattern);
  void growPattern(const execution_space& exec);
  bool isAdaptive() const { return parameters_.adaptive > 0; }
  void solveRows(const execution_space& exec, const Graph<Device>& pattern,
                 const Kokkos::View<Stored*, Device>& values,
                 const std::vector<detail::RowClass<Device>>& classes) const;
  bool isAutomatic() const { return parameters_.relax == IsaiOptions::relax_auto; }
  bool fallsBack() const { return isAutomatic() && parameters_.fallback == IsaiFallback::Exact; }
  void invert(const execution_space& exec, const Factor& factor);
  double findSteps(const execution_space& exec, const TriangularProbes<Scalar, Device>& probes);
  void objectTo(double residual, Report& report) const;
  void substitute(const execution_space& exec, const Factor& factor, const std::string& reason,
                  const std::string& prefix, Report& report);
  void step(const execution_space& exec, MultiVectorArg<const Scalar, Device> r,
            MultiVectorArg<Scalar, Device> z, MultiVectorArg<Scalar, Device> t, Trans trans) const;

  IsaiParameters<Device> parameters_;
  SparseOperator<Scalar, Device> inverse_; ///< M, without its diagonal where T is unit
  bool keep_transposed_ = false;
  bool unit_ = false;
  Uplo uplo_ = Uplo::Lower;
  int steps_ = 0;
  SparseOperator<Scalar, Device> factor_; ///< for relaxation

  // What the kernel solves by rows: T and M, or T^T and M^T for IsaiSide::Columns. There
  // factor_source_ says where the blocks of T^T lie in T, inverse_source_ where those of M lie in
  // M^T.
  Factor rows_factor_;
  Graph<Device> first_pattern_; ///< what rows grow from
  Graph<Device> rows_pattern_;
  bool knows_pattern_ = false; ///< that of the last compute() still holds
  Ordinal grown_rows_ = 0;
  Kokkos::View<const Offset*, Device> factor_source_, inverse_source_;
  Kokkos::View<Stored*, Device> rows_values_;
  std::vector<detail::RowClass<Device>> classes_; ///< by the bytes of their accumulators

  bool is_out_of_range_ = false; ///< M is
  bool substituted_ = false;     ///< exact_ is applied
  std::unique_ptr<ExactTriangularSolver<Stored, Scalar, Device>> exact_;

  MultiVector<Scalar, Device> probe_work_;
  mutable MultiVector<Scalar, Device> workspace_;
};

} // namespace ainvil
