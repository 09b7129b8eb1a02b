// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The preconditioner of an incomplete factorisation and a way to apply its triangular factors.

#include "ilu/Ainvil_IluOptions.hpp"
#include "ilu/Ainvil_Rearrangement.hpp"
#include "triangular/Ainvil_TriangularOptions.hpp"

namespace ainvil {

/// What Ilu puts together:
///
///     IluParameters<double, Device> parameters;
///     parameters.factorization = IlutParameters();     // or a function that makes one of yours
///     parameters.solve = IsaiParameters<Device>();
///     Ilu<double, Device> ilu(parameters);
template <class Scalar, class Device>
struct IluParameters {
  /// The factorisation of A, ILU(0) unless said: from BlockIluParameters or IlutParameters.
  FactorizationMaker<Scalar, Device> factorization = BlockIluParameters();
  /// How L^-1 and U^-1 are applied, by substitution unless said: from ExactParameters,
  /// IsaiParameters or SweepParameters.
  TriangularSolverMaker<Scalar, Device> solve = ExactParameters();
  Storage storage = Storage::Native;     ///< of what is applied
  RearrangementParameters rearrangement; ///< of A before it is factored
};

/// M^-1 = U^-1 L^-1 with the factors L U ~ A of a Factorization and a TriangularSolver for each.
///
/// With RearrangementParameters, L U ~ B = P R A C Q^T and M^-1 = C Q^T U^-1 L^-1 P R: P exchanges
/// rows for large entries on the diagonal, R and C scale, and P and Q order rows and columns alike.
/// M^-1 is an approximation of A^-1 as before; factors() and patterns that the user gives are those
/// of B. A matching depends on the values: it is found by the first compute() after initialize(),
/// with the symbolic phases of factorisation and strategies, and kept with its scalings by those
/// that follow, which allocate nothing. A compute() that throws forgets it, so that the next one
/// finds a new one. Patterns of factors that follow the values are found and kept likewise, as
/// Factorization::findPattern() has it.
///
/// Pivots may all be fine and the factors useless nevertheless: M^-1 of any vector is then huge.
/// Where entries of U exceed 1e6, compute() applies B M^-1 to B times random signs; where that
/// multiplies its norm by more than 1e4 / eps, the report gets an objection. Noted beside it, and
/// not judged by, is the condition estimate max |((L U)^-1 e)_i| of Chow, Saad, Experimental study
/// of ILU preconditioners for indefinite matrices, J. Comput. Appl. Math. 86 (1997), which depends
/// on the scale of A. Cost there: two applications and two products with A, whose long rows the
/// first compute() of a graph finds, which may allocate. How far the entries of a factor have grown
/// is noted where that is more than 1000 times.
template <class Scalar, class Device>
class Ilu final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;
  using Parameters = IluParameters<Scalar, Device>; ///< what it is made with

  /// The keys `factorization` and `solve`, those of all that is registered, and `storage`.
  static const ParameterTable<Parameters>& parameterTable();

  /// Makes the factorisation and a strategy for each factor. \throws InvalidArgument if one is
  /// missing, or for parameters out of range.
  explicit Ilu(const Parameters& parameters);

  std::string description() const override;
  bool isFixed() const override { return lower_->isFixed() && upper_->isFixed(); }
  const Factorization<Scalar, Device>& factors() const { return *factorization_; } ///< L, U
  const TriangularSolver<Scalar, Device>& lowerSolver() const { return *lower_; }  ///< of L
  const TriangularSolver<Scalar, Device>& upperSolver() const { return *upper_; }  ///< of U

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override;
  bool refusesNonFinite() const override {
    return !isRearranged() && factorization_->refusesNonFinite();
  }
  void doCompute(const execution_space& exec, const Matrix& a) override;
  void doDiagnose(const execution_space& exec, const Matrix& a) override;
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans trans) const override;

private:
  using Base::report_;

  bool isRearranged() const { return parameters_.rearrangement.changesMatrix(); }
  /// Symbolic and numeric phases of the parts, for A or what is factored in its place.
  void initializeParts(const execution_space& exec, const Matrix& b);
  void initializeSolvers(const execution_space& exec);
  void computeParts(const execution_space& exec, const Matrix& b, bool may_keep);
  void computeRearranged(const execution_space& exec, const Matrix& a, bool may_keep);
  /// Lets strategies that take probes choose: L^-1 by random signs, U^-1 by what L^-1 makes of
  /// them.
  void fitSolvers(const execution_space& exec);
  /// ||B M^-1 z|| / ||z||, z = B times random signs.
  double amplification(const execution_space& exec, const Matrix& b);
  /// max |(M^-1 e)_i|, e of ones.
  double inverseOfOnes(const execution_space& exec) const;
  /// Objects to factors that no solver can use.
  void judgeFactors(const execution_space& exec, const Matrix& b);
  void noteGrowth(const execution_space& exec, const std::string& prefix,
                  const TriangularFactor<Scalar, Device>& factor, const Matrix& b);

  Parameters parameters_;
  FactorizationPtr<Scalar, Device> factorization_;
  TriangularSolverPtr<Scalar, Device> lower_, upper_; ///< of L, of U
  detail::Rearrangement<Scalar, Device> rearrangement_;
  SparseOperator<Scalar, Device> probed_;    ///< L, where the strategy of U takes probes
  SparseOperator<Scalar, Device> amplified_; ///< B, once amplification() was asked for
  bool knows_pattern_ = false; ///< matching and patterns of the last compute() still hold
  mutable MultiVector<Scalar, Device> intermediate_;
  mutable MultiVector<Scalar, Device> rearranged_; ///< vectors of B
};

} // namespace ainvil
