// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Chebyshev polynomials in D^-1 A: a preconditioner without factors, the smoother of multigrid.

#include "breakdown/Ainvil_DiagonalInverse.hpp"
#include "product/Ainvil_SparseOperator.hpp"

namespace ainvil {

/// Degree and interval of Chebyshev.
struct ChebyshevParameters {
  int degree = 3;       ///< of the error polynomial: steps of the iteration; >= 1
  double largest = 0;   ///< upper bound of the eigenvalues of D^-1 A; 0: estimated by compute()
  double smallest = 0;  ///< lower end of the interval; 0: the upper end over `ratio`
  double ratio = 30;    ///< upper over lower end of the interval, > 1
  int power_steps = 20; ///< steps of the power method that estimates the largest eigenvalue, >= 1
  double boost = 1.1;   ///< the estimate, which comes from below, times this is the upper end
  BreakdownPolicy breakdown = BreakdownPolicy::Fail; ///< for diagonal blocks that are singular
  double shift = 1e-3; ///< relative size of the shift under BreakdownPolicy::Shift
  /// A block counts as singular where a row or column of it has no entry above so many eps of
  /// double times the largest entry of its row of A; >= 0.
  double pivot_tolerance = 10;

  static const ParameterTable<ChebyshevParameters>& table(); ///< the keys that name them
};

/// M^-1 x = y_m, m the degree, of the Chebyshev iteration for D^-1 A y = D^-1 x from y_0 = 0, with
/// D the diagonal blocks of A, on an interval [a, b] of eigenvalues of D^-1 A:
///   theta = (b + a) / 2,  delta = (b - a) / 2,  rho_1 = delta / theta,
///   y_1 = d_1 = D^-1 x / theta,
///   rho_k = 1 / (2 theta / delta - rho_{k-1}),
///   d_k = rho_k rho_{k-1} d_{k-1} + (2 rho_k / delta) D^-1 (x - A y_{k-1}),  y_k = y_{k-1} + d_k.
/// M^-1 = p(D^-1 A) D^-1 with I - p(t) t = T_m((theta - t) / delta) / T_m(theta / delta), smallest
/// on [a, b] of all polynomials of degree m that are 1 at 0. If A is SPD, so is M^-1, as long as no
/// eigenvalue exceeds a + b: the operator suits CG and is the same at every application. A smoother
/// leaves what lies below a to the coarse grids; a preconditioner alone does well with a larger
/// ratio and degree. The transposed product takes A^T and D^-T.
///
/// Without bounds compute() takes ||(D^-1 A)^k v|| / ||(D^-1 A)^{k-1} v|| after `power_steps` steps
/// from random vectors, the same at each compute, times `boost`; it is noted in the report.
///
/// Cost: degree - 1 products with A and degree with D^-1 an application; power_steps of both a
/// compute. Memory: a copy of A's values, D^-1, four vectors, and two for each right-hand side.
///
/// Sources: Saad, Iterative Methods for Sparse Linear Systems (2003), algorithm 12.1; as a
/// smoother: Adams, Brezina, Hu, Tuminaro, Parallel multigrid smoothing: polynomial versus
/// Gauss-Seidel (2003).
template <class Scalar, class Device>
class Chebyshev final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;
  using Parameters = ChebyshevParameters; ///< what it is made with

  /// The keys that name them.
  static const ParameterTable<Parameters>& parameterTable() { return Parameters::table(); }

  /// \throws InvalidArgument for parameters out of range.
  explicit Chebyshev(const ChebyshevParameters& parameters);

  std::string description() const override;

  double upperEnd() const { return upper_; } ///< b of the last compute
  double lowerEnd() const { return lower_; } ///< a

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override;
  void doCompute(const execution_space& exec, const Matrix& a) override;
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans trans) const override;

private:
  using Base::report_;

  double largestEigenvalue(const execution_space& exec) const;

  ChebyshevParameters parameters_;
  SparseOperator<Scalar, Device> a_; ///< its values are a copy
  detail::DiagonalInverse<Scalar, Device> diagonal_inverse_;
  MultiVector<Scalar, Device> probes_, products_; ///< of the estimate
  double lower_ = 0, upper_ = 0;
  mutable MultiVector<Scalar, Device> workspace_; ///< the residuals, then the steps
};

} // namespace ainvil
