// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Incomplete sparse approximate inverses of triangular block matrices.

#include "backend/Ainvil_SlowScratch.hpp"
#include "graph/Ainvil_RowClass.hpp"
#include "triangular/Ainvil_ExactTriangularSolver.hpp"
#include "triangular/Ainvil_TriangularOptions.hpp"
#include "triangular/Ainvil_TriangularSolver.hpp"

namespace ainvil {

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
  mutable detail::SlowScratch<execution_space> scratch_; ///< of long rows
  mutable MultiVector<Scalar, Device> workspace_;
};

} // namespace ainvil
