// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A polynomial around any preconditioner: fewer inner products for the same products.

#include "Ainvil_Preconditioner.hpp"
#include "polynomial/Ainvil_ResidualPolynomial.hpp"

namespace ainvil {

/// M^-1 p(A M^-1) for a preconditioner M^-1 and a polynomial p of degree d - 1: what
/// `METHOD:poly=d` makes. The polynomial 1 - t p(t) = prod over i of (1 - t / theta_i) is the
/// residual polynomial of d steps of GMRES for A M^-1 and a random vector, the same at every
/// compute. Its roots are the harmonic Ritz values of these steps. An application with
/// z = M^-1 r, from r = x and y = 0, in the order of Leja, does for a real root
///   y += z / theta,  r -= A z / theta,
/// and for a pair of conjugate roots a +- ib, m = a^2 + b^2, in real arithmetic
///   s = A z,  q = M^-1 s,  y += (2 a z - q) / m,  r -= (2 a s - A q) / m.
/// No inner product, no wait; a Krylov method takes d products for one set of its own inner
/// products, and a restart length of 30 reaches over 30 d products. The transposed application is
/// the same with A^T and M^-T: (M^-1 p(A M^-1))^T = M^-T p(A^T M^-T).
///
/// Stability. A root at which the product of all other factors exceeds 1e4 is taken more than once,
/// so that its error is damped; such copies are products more than d. A degree whose roots cannot
/// be applied (zero to rounding, not finite, or more copies than roots) is lowered by one. What the
/// polynomial leaves of another random vector, x - A M^-1 p(A M^-1) x, is compared with what GMRES
/// had left of its own after half of the steps: if it is more than twice as much, or more than 1.25
/// of the vector, half the degree is taken, and so on; without any left, M^-1 alone. The report
/// notes the degree, why it is lower, and what it leaves. What M^-1 objects to, this object
/// objects to.
///
/// If A is symmetric and M^-1 symmetric and positive, which compute() finds out with two random
/// vectors, the steps are taken in the inner product of M^-1, in which A M^-1 is self-adjoint, and
/// the roots are real. Where they are positive, as for SPD A, their number is made odd, 20 becomes
/// 19, and lowered until 1 - t p(t) < 1 between them. Then p(t) > 0 for all t > 0, beyond the
/// largest root too, where an odd product is negative: M^-1 p(A M^-1) is SPD whatever the spectrum,
/// and CG may take it.
///
/// Cost of an application: d applications of M^-1, d - 1 passes over A, each with the update of r
/// in it, and d passes over y and z. A compute beside that of M^-1: d products with A and M^-1
/// (three with M^-1 in the symmetric case), twice orthogonalised, one wait a step, and an
/// application. Memory: a copy of A's values, d + 1 vectors, and four for each right-hand side.
/// The copy may be in a shorter precision: the polynomial, its roots included, is then that of the
/// rounded matrix. compute() throws InvalidArgument as SparseOperator::checkRange() does.
///
/// Sources: Embree, Loe, Morgan, Polynomial preconditioned Arnoldi with stability control, SIAM J.
/// Sci. Comput. 43 (2021), algorithms 2 and 3; Loe, Thornquist, Boman, Polynomial preconditioned
/// GMRES in Trilinos (2020). The rule of odd degrees and the choice of lower ones are ours.
template <class Scalar, class Device>
class Polynomial final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;
  using Parameters = PolynomialParameters; ///< what it is made with, beside M^-1

  /// The keys that every method takes.
  static const ParameterTable<Parameters>& parameterTable() {
    return Parameters::table(precisionOf<Scalar>());
  }

  /// Takes M^-1, set up or not: initialize() and compute() set it up. \throws InvalidArgument for a
  /// null pointer, or a degree below 1.
  Polynomial(PreconditionerPtr<Scalar, Device> inner, const PolynomialParameters& parameters);

  std::string description() const override;
  bool isFixed() const override { return inner_->isFixed(); } ///< as M^-1 is

  const Base& inner() const { return *inner_; } ///< M^-1
  /// Applications of M^-1 that one of this object takes: the degree of the last compute, copies of
  /// roots included; 0 where M^-1 is applied alone.
  int degree() const { return polynomial_.degree(); }
  /// theta_i of the last compute in the order in which they are applied; of a pair the one above
  /// the real axis stands for both.
  const std::vector<std::complex<double>>& roots() const { return polynomial_.roots(); }

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override;
  bool refusesNonFinite() const override { return true; } // M^-1 does
  void doCompute(const execution_space& exec, const Matrix& a) override;
  void doDiagnose(const execution_space& exec, const Matrix& a) override;
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans trans) const override;

private:
  using Base::report_;

  void takeReport();

  PreconditionerPtr<Scalar, Device> inner_;
  PolynomialParameters parameters_;
  ResidualPolynomial<Scalar, Device> polynomial_;
};

} // namespace ainvil
