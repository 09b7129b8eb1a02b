// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What solvers and polynomials ask of the processes that share their vectors.

#include "Ainvil_Types.hpp"

#include <functional>

namespace ainvil {

/// Sums over the rows that one process has, in memory that kernels and the host share: a kernel
/// leaves them there, a reduction works on them in place, the next kernel reads them.
template <class Device>
using ProcessSums = Kokkos::View<double*, compat::PinnedDevice<typename Device::execution_space>>;

/// Makes sums over all rows of sums over the rows that one process has: all that a Krylov solver
/// or a polynomial has to know of processes, apart from what A and M do. See
/// KrylovSolver::setReduction(). All calls are collective; the processes make the same ones in the
/// same order, because they decide by the same sums.
template <class Device>
class Reduction {
public:
  using execution_space = typename Device::execution_space;

  virtual ~Reduction() = default;

  /// sums(k) <- the sum over all processes of what each has there, the same to the last bit on all
  /// of them. Behind the work on `exec` so far, and before what follows on it; may wait for it.
  virtual void sum(const execution_space& exec, const ProcessSums<Device>& sums) const = 0;
  /// A sum() in two parts: begin() takes the sums of this process, end() brings those of all there,
  /// in the same view. Where they can, they travel in between, while the process goes on with other
  /// work; it leaves the view alone and makes no other call of this object. As they stand here
  /// begin() is sum(), and end() nothing.
  virtual void begin(const execution_space& exec, const ProcessSums<Device>& sums) const {
    sum(exec, sums);
  }
  /// The second part.
  virtual void end(const execution_space&, const ProcessSums<Device>&) const {}
  /// The sum of `mine` over all processes.
  virtual Offset total(Offset mine) const = 0;
  /// Runs work(), which does not communicate. Throws on all processes if it throws on one.
  virtual void together(const std::function<void()>& work) const = 0;
};

} // namespace ainvil
