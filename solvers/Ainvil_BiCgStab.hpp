// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Stabilised bi-conjugate gradients.

#include "krylov/Ainvil_ShortRecurrences.hpp"

namespace ainvil {

/// BiCGStab with right preconditioning for any nonsingular A and M (van der Vorst, SIAM J. Sci.
/// Stat. Comput. 13 (1992)): short recurrences, so that memory and work of an iteration do not grow
/// as those of GMRES do. With a shadow residual r^ and r^.r = rho,
///     y = M p,  v = A y,  alpha = rho / r^.v,  s = r - alpha v
///     z = M s,  t = A z,  omega = t.s / t.t,   x += alpha y + omega z,  r = s - omega t
///     beta = rho / rho' alpha / omega,         p = r + beta (p - omega v)
/// with a prime for the iteration before. If s meets the tolerance, the iteration ends there: omega
/// = 0. M may vary from one application to the next, as y and z enter x as they were applied: that
/// makes it the flexible BiCGStab of Chen, McInnes and Zhang (J. Sci. Comput. 68 (2016)). Nothing
/// is minimised over more than one direction, though: a variation of some percent costs iterations,
/// a larger one convergence, where FGMRES gets on.
///
/// Cost of an iteration: the kernels of A and M, **twice** each, and **four kernels** of its own:
/// r^.v, s, the inner products with s and t, and all vector updates together with ||r||^2; memory
/// traffic 18 vectors. **No host synchronisation** but one every check_interval iterations: all
/// scalars and the stopping test stay on the device, which freezes x once it has stopped, so the
/// iterate is that of the reported iteration however seldom the host looks. Workspace: 7 vectors (5
/// without preconditioner).
///
/// With SolverOptions::reductions = Fewest ||r||^2 is taken with r^.v of the next iteration, two
/// sums over all rows an iteration in place of three, and with the same numbers up to rounding.
///
/// Where r^.v, t.s or r^.r is 0 up to rounding, the recurrences end (with t.s after half an
/// iteration, which counts) and start again from the true residual with r^ = r. Breakdown: r^.v is
/// 0 in the first iteration after a start, as for a skew-symmetric A M; x is then the iterate
/// before. The residual is not monotone.
template <class Scalar, class Device>
class BiCgStab final : public ShortRecurrences<Scalar, Device> {
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
  explicit BiCgStab(SolverOptions options = {});

private:
  void allocateVectors(const execution_space& exec, Offset n, bool preconditioned) override;
  VectorArg residual() override { return r_; }
  void begin(const System& system, const Columns& columns) override;
  void open(const System& system, const Columns& columns, int slot, TakesNorm norm) override;
  void close(const System& system, const Columns& columns, int slot, TakesNorm norm) override;
  Stop breakdown(int stop) const override;

  MultiVector<Scalar, Device> r_; ///< and s
  MultiVector<Scalar, Device> shadow_, p_, v_, t_;
  MultiVector<Scalar, Device> y_, z_; ///< with preconditioner only
};

/// One solve with its own workspace: see BiCgStab.
template <class Scalar, class Device>
SolveResult bicgstab(const typename Device::execution_space& exec,
                     const LinearOperator<Scalar, Device>& a, detail::PrecondArg<Scalar, Device> m,
                     detail::RhsArg<Scalar, Device> b, detail::SolutionArg<Scalar, Device> x,
                     SolverOptions options = {}) {
  return BiCgStab<Scalar, Device>(std::move(options)).solve(exec, a, m, b, x);
}

/// The same on the default instance.
template <class Scalar, class Device>
SolveResult bicgstab(const LinearOperator<Scalar, Device>& a, detail::PrecondArg<Scalar, Device> m,
                     detail::RhsArg<Scalar, Device> b, detail::SolutionArg<Scalar, Device> x,
                     SolverOptions options = {}) {
  return bicgstab(typename Device::execution_space(), a, m, b, x, std::move(options));
}

} // namespace ainvil
