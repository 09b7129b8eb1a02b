// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the Krylov solvers share: options, status and result.

#include "Ainvil_LinearOperator.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ainvil {

/// The norm that residuals are relative to.
enum class ResidualScale {
  Rhs,             ///< ||b||
  InitialResidual, ///< ||b - A x|| of the initial guess
  One              ///< residuals are absolute
};

/// How many reductions over processes, or waits for sums over all rows, an iteration has.
enum class Reductions {
  Usual, ///< CG 2, BiCGStab 3
  /// CG 1, BiCGStab 2: the residual norm of an iteration is taken together with the first inner
  /// products of the next. All numbers are the same up to rounding; the last products with A and M
  /// before a solve ends or starts again are in vain. GMRES and FGMRES have one anyway.
  Fewest,
  /// CG 1, which travels between processes while A and M are applied: for many of them, where a
  /// reduction takes as long as that. More vectors and more rounding than with Fewest, so more time
  /// where there is nothing to hide, and a few iterations more: see Cg. BiCGStab: as Fewest.
  Pipelined
};

/// When GMRES and FGMRES orthogonalise a basis vector a second time.
enum class Reorthogonalize {
  /// IfNeeded on hosts. Always on GPUs, where the basis is read no more often for it, and where one
  /// group of lanes would have to estimate the loss.
  Default,
  IfNeeded, ///< where the coefficients of the steps before say that the first pass lost too much
  Always
};

/// Options of an iterative solver; each solver reads the ones that concern it.
struct SolverOptions {
  double tolerance = 1e-8; ///< stop at ||b - A x|| / ||b|| <= tolerance, 2-norms; >= 0
  /// What stands in the place of ||b|| there, and in all relative residuals of the result.
  ResidualScale relative_to = ResidualScale::Rhs;
  /// Stop at ||b - A x|| <= absolute_tolerance too, whichever of the two comes first; >= 0.
  double absolute_tolerance = 0;
  int max_iterations = 1000; ///< >= 0; 0 only measures the initial guess
  int restart = 30;          ///< GMRES, FGMRES: basis vectors of a cycle; >= 1
  /// GMRES, FGMRES: precision in which the basis is kept. Float halves what orthogonalisation reads
  /// and the memory; a cycle then reduces the residual by 1e-6 at most. BFloat16 is refused.
  Storage basis = Storage::Native;
  /// GMRES, FGMRES. Results are the same up to rounding.
  Reorthogonalize reorthogonalize = Reorthogonalize::Default;
  /// Iterations between two looks of the host at the residual; >= 0. Results do not depend on it.
  /// CG and BiCGStab look after 1,024 at the latest, for whose residuals the device has room.
  /// 0: 1 on hosts; 10 on GPUs, where a look costs the time of several kernels and the few
  /// iterations run in vain after convergence cost less.
  int check_interval = 0;
  /// CG and GMRES refuse a preconditioner that is not the same linear map at every application.
  /// True lets them try; the residual of the recurrence then means little, that of b - A x decides.
  bool allow_varying = false;
  Reductions reductions = Reductions::Usual; ///< CG and BiCGStab
  /// Seconds of a solve, of all columns together; 0: no limit. Asked for at every look of the host,
  /// after at least one iteration. Over processes it is over where it is over on one; agreeing on
  /// it is a reduction more a look.
  double time_limit = 0;
  /// Called at every look of the host with the same as `progress`, behind it; true ends the solve,
  /// with the iterate as it is. Over processes one that says so suffices; likewise a reduction.
  std::function<bool(int iteration, double rel_residual)> stop;
  /// Called at every look of the host with the last finished iteration and its relative residual.
  std::function<void(int iteration, double rel_residual)> progress;

  /// \throws InvalidArgument naming the first option out of range.
  void validate() const;
};

/// How a solve ended.
enum class SolveStatus {
  Converged,     ///< the true residual meets the tolerance
  MaxIterations, ///< max_iterations were run
  Breakdown,     ///< the method cannot go on: singular or indefinite operator
  Diverged,      ///< NaN or Inf appeared, or the preconditioner has an objection
  Stagnated,     ///< rounding keeps the true residual above the tolerance
  TimeLimit,     ///< time_limit was over
  Stopped        ///< options.stop said so
};

/// The status in words for tables and logs, as "max_iterations".
const char* toString(SolveStatus status);

/// What a solve came to.
struct SolveResult {
  SolveStatus status = SolveStatus::Converged; ///< how it ended
  int iterations = 0;                          ///< after which it did
  double rel_residual = 0;                     ///< as the recurrence of the method has it
  double true_rel_residual = 0;                ///< recomputed from b - A x
  /// Relative residual by recurrence after each iteration; [0] is that of the initial guess.
  std::vector<double> history;
  std::string message; ///< one sentence for the reader of a log; empty if converged
};

namespace detail {

/// A parameter type that takes no part in template argument deduction, so that callers may pass
/// anything convertible to it.
template <class T>
struct NonDeducedType {
  using type = T;
};
template <class T>
using NonDeduced = typename NonDeducedType<T>::type;

// What the free functions cg, gmres, ... take besides A.
template <class Scalar, class Device>
using PrecondArg = NonDeduced<const LinearOperator<Scalar, Device>*>;
template <class Scalar, class Device>
using RhsArg = NonDeduced<Vector<const Scalar, Device>>;
template <class Scalar, class Device>
using SolutionArg = NonDeduced<Vector<Scalar, Device>>;

/// Iterations between looks of the host, the default filled in.
template <class Device>
int checkInterval(const SolverOptions& options) {
  if (options.check_interval > 0)
    return options.check_interval;
  return compat::IsGpu<typename Device::execution_space>::value ? 10 : 1;
}

} // namespace detail

template <class Scalar, class Device>
class KrylovSolver;

/// The solver of this name: "cg", "gmres", "fgmres" or "bicgstab". \throws InvalidArgument for
/// another name or an option out of range.
template <class Scalar, class Device>
std::unique_ptr<KrylovSolver<Scalar, Device>> createSolver(const std::string& name,
                                                           SolverOptions options = {});

/// Solves A x = b for a square matrix and vectors on the host, with the solver of this name and the
/// preconditioner `m`, null for none. `x` holds the initial guess, n zeros for example, and
/// receives the solution. On the default instance; copies b and x to the device and x back, and
/// sets up the solver: for many solves take createSolver() and vectors on the device. \throws
/// InvalidArgument as createSolver() and KrylovSolver::solve(); OutOfMemory
template <class Scalar, class Device>
SolveResult solve(const std::string& solver, const BsrMatrix<Scalar, Device>& a,
                  detail::PrecondArg<Scalar, Device> m, const std::vector<Scalar>& b,
                  std::vector<Scalar>& x, SolverOptions options = {});

} // namespace ainvil
