// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Preconditioned conjugate gradients.

#include "krylov/Ainvil_ShortRecurrences.hpp"

namespace ainvil {

/// Conjugate gradients for symmetric positive definite A and M, in the arrangement of Chronopoulos
/// and Gear (s-step iterative methods for symmetric linear systems, J. Comput. Appl. Math. 25
/// (1989)): A is applied to z = M r and q = A p follows by recurrence, so that both inner products
/// of an iteration are taken together,
///     gamma = r.z, delta = z.A z, beta = gamma / gamma', alpha = gamma / (delta - beta gamma /
///     alpha') p = z + beta p,  q = A z + beta q,  x += alpha p,  r -= alpha q
/// with primes for the iteration before.
///
/// Cost of an iteration: the kernels of A and M and **two kernels** of its own: the inner products,
/// and all vector updates together with ||r||^2; memory traffic 13 vectors. **No host
/// synchronisation** but one every check_interval iterations. alpha, beta and the stopping test
/// stay on the device: once it has met the tolerance or broken down it freezes x and r, so the
/// iterate is that of the reported iteration however seldom the host looks. Workspace: 5 vectors (4
/// without preconditioner).
///
/// With SolverOptions::reductions = Fewest ||r||^2 is taken with the inner products of the next
/// iteration, one sum over all rows an iteration in place of two, and with the same numbers up to
/// rounding.
///
/// With SolverOptions::reductions = Pipelined that sum travels between processes during the
/// products of the iteration (Ghysels and Vanroose, Hiding global synchronization latency in the
/// preconditioned conjugate gradient algorithm, Parallel Comput. 40 (2014), Algorithm 4): what A
/// and M are applied to, w = A z, does not wait for alpha and beta, and z, w and q follow by
/// recurrences as r does,
///     q = w + beta q,  mq = M w + beta mq,  amq = A M w + beta amq,  z -= alpha mq,  w -= alpha
///     amq
/// All vector updates and the sums of the next iteration are **one kernel**; memory traffic 18
/// vectors; workspace 9 vectors (6 without preconditioner). More recurrences carry more rounding:
/// every 20 iterations z, w, q, mq and amq are products again (as residuals are replaced by Cools,
/// Yetkin, Agullo, Giraud and Vanroose, SIAM J. Matrix Anal. Appl. 39 (2018)), three with A and two
/// with M more.
///
/// M must be a fixed linear operator. Breakdown: p.A p <= 0 (A indefinite) or r.z <= 0 (M
/// indefinite); x is then the iterate before.
template <class Scalar, class Device>
class Cg final : public ShortRecurrences<Scalar, Device> {
  using Base = ShortRecurrences<Scalar, Device>;
  using Base::n_;
  using Base::recurrence_;
  using Base::shape_;
  using Base::sums_;
  using typename Base::Columns;
  using typename Base::Stop;
  using typename Base::System;
  using typename Base::TakesNorm;
  using typename Base::VectorArg;

public:
  using typename Base::execution_space;

  /// \throws InvalidArgument if an option is out of range.
  explicit Cg(SolverOptions options = {});

private:
  void allocateVectors(const execution_space& exec, Offset n, bool preconditioned) override;
  VectorArg residual() override { return r_; }
  /// W A is not symmetric.
  detail::Residual residualKept() const override { return detail::Residual::Plain; }
  void begin(const System& system, const Columns& columns) override;
  void open(const System& system, const Columns& columns, int slot, TakesNorm norm) override;
  void close(const System& system, const Columns& columns, int slot, TakesNorm norm) override;
  Stop breakdown(int stop) const override;

  bool isPipelined() const { return this->options_.reductions == Reductions::Pipelined; }
  void allocatePipeline(const execution_space& exec, Offset n, bool preconditioned);
  void fillPipeline(const System& system, const Columns& columns);
  void replaceProducts(const System& system, const Columns& columns);
  void advancePipeline(const System& system, const Columns& columns, int slot);

  MultiVector<Scalar, Device> r_, z_, w_, p_, q_; ///< w = A z, q = A p
  // Of pipelined CG: M w and A M w, M q and A M q.
  MultiVector<Scalar, Device> mw_, amw_, mq_, amq_;
  int since_replacement_ = 0; ///< iterations
};

/// One solve with its own workspace: see Cg.
template <class Scalar, class Device>
SolveResult cg(const typename Device::execution_space& exec,
               const LinearOperator<Scalar, Device>& a, detail::PrecondArg<Scalar, Device> m,
               detail::RhsArg<Scalar, Device> b, detail::SolutionArg<Scalar, Device> x,
               SolverOptions options = {}) {
  return Cg<Scalar, Device>(std::move(options)).solve(exec, a, m, b, x);
}

/// The same on the default instance.
template <class Scalar, class Device>
SolveResult cg(const LinearOperator<Scalar, Device>& a, detail::PrecondArg<Scalar, Device> m,
               detail::RhsArg<Scalar, Device> b, detail::SolutionArg<Scalar, Device> x,
               SolverOptions options = {}) {
  return cg(typename Device::execution_space(), a, m, b, x, std::move(options));
}

} // namespace ainvil
