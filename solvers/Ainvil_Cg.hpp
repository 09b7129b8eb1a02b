// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Preconditioned conjugate gradients.

#include "Ainvil_ResidualMeter.hpp"

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
/// without preconditioner), kept between solves of the same size.
///
/// Convergence by recurrence is believed only if the recomputed residual agrees; otherwise the
/// method restarts from it, as long as that brings half of what the recurrence announces.
/// Breakdown: p.A p <= 0 (A indefinite) or r.z <= 0 (M indefinite); x is then the iterate before.
template <class Scalar, class Device>
class Cg {
public:
  using execution_space = typename Device::execution_space;

  /// \throws InvalidArgument if an option is out of range.
  explicit Cg(SolverOptions options = {});

  /// Solves A x = b. `m` is the preconditioner, an approximate inverse of A, or null for none. `x`
  /// holds the initial guess and receives the solution. Waits for the instance.
  /// \throws InvalidArgument if shapes do not match.
  SolveResult solve(const execution_space& exec, const LinearOperator<Scalar, Device>& a,
                    const LinearOperator<Scalar, Device>* m, Vector<const Scalar, Device> b,
                    Vector<Scalar, Device> x);

  SolveResult solve(const LinearOperator<Scalar, Device>& a,
                    const LinearOperator<Scalar, Device>* m, Vector<const Scalar, Device> b,
                    Vector<Scalar, Device> x) {
    return solve(execution_space(), a, m, b, x);
  }

private:
  void allocate(const execution_space& exec, Offset n, bool preconditioned);
  int run(const execution_space& exec, const LinearOperator<Scalar, Device>& a,
          const LinearOperator<Scalar, Device>* m, MultiVectorArg<Scalar, Device> x, double b_norm,
          SolveResult& result);

  SolverOptions options_;
  Offset n_ = -1;
  int interval_ = 1;
  detail::SumTeams shape_;
  detail::PartialSums<Device> sums_;
  detail::ResidualMeter<Scalar, Device> meter_;
  Vector<Scalar, Device> r_, z_, w_, p_, q_; ///< w = A z, q = A p
  Kokkos::View<double*, Device> state_;      ///< a CgState and the residuals since the last look
  typename Kokkos::View<double*, Device>::HostMirror host_state_;
};

/// One solve with its own workspace: see Cg.
template <class Scalar, class Device>
SolveResult
cg(const typename Device::execution_space& exec, const LinearOperator<Scalar, Device>& a,
   typename detail::NonDeduced<const LinearOperator<Scalar, Device>*>::type m,
   typename detail::NonDeduced<Vector<const Scalar, Device>>::type b,
   typename detail::NonDeduced<Vector<Scalar, Device>>::type x, SolverOptions options = {}) {
  return Cg<Scalar, Device>(std::move(options)).solve(exec, a, m, b, x);
}

template <class Scalar, class Device>
SolveResult cg(const LinearOperator<Scalar, Device>& a,
               typename detail::NonDeduced<const LinearOperator<Scalar, Device>*>::type m,
               typename detail::NonDeduced<Vector<const Scalar, Device>>::type b,
               typename detail::NonDeduced<Vector<Scalar, Device>>::type x,
               SolverOptions options = {}) {
  return cg(typename Device::execution_space(), a, m, b, x, std::move(options));
}

} // namespace ainvil
