// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Norms and true residuals, and the beginning every solver has in common.

#include "Ainvil_KrylovKernels.hpp"
#include "Ainvil_Solver.hpp"

#include <cmath>

namespace ainvil {
namespace detail {

/// Measures vectors of a fixed length. Every measurement waits for the instance.
template <class Scalar, class Device>
class ResidualMeter {
public:
  using execution_space = typename Device::execution_space;
  using VectorIn = MultiVectorArg<const Scalar, Device>;
  using VectorOut = MultiVectorArg<Scalar, Device>;

  ResidualMeter() = default;
  ResidualMeter(const execution_space& exec, Offset n)
      : shape_(SumTeams::forRows(exec, n)), sums_(exec, 2, shape_),
        result_(Kokkos::view_alloc(exec, "Ainvil::norm"), 2),
        host_result_(Kokkos::create_mirror_view(result_)) {}

  struct Norm {
    double two;   ///< 2-norm; 0 also where the squares underflow, Inf where they overflow
    bool is_zero; ///< all entries are 0
  };

  Norm norm(const execution_space& exec, VectorIn x) {
    if (x.extent(0) == 0)
      return {0, true};
    sumRows<2>(exec, "Ainvil::norm", shape_, sums_, x.extent(0),
               NormBody<Scalar, Device>{x, result_});
    Kokkos::deep_copy(exec, host_result_, result_);
    compat::fence(exec, "Ainvil::ResidualMeter::norm");
    return {std::sqrt(host_result_(0)), host_result_(1) == 0};
  }

  /// r = b - A x; returns ||r||.
  double residual(const execution_space& exec, const LinearOperator<Scalar, Device>& a, VectorIn b,
                  VectorIn x, VectorOut r) {
    copyVector<Scalar, Device>(exec, b, r);
    a.apply(exec, x, r, Trans::No, Scalar(-1), Scalar(1));
    return norm(exec, r).two;
  }

private:
  SumTeams shape_;
  PartialSums<Device> sums_;
  Kokkos::View<double*, Device> result_;
  typename Kokkos::View<double*, Device>::HostMirror host_result_;
};

/// Measures ||b|| into `b_norm` and the initial residual r = b - A x into `result`. True if that
/// already settles the matter.
template <class Scalar, class Device>
bool startSolve(const typename Device::execution_space& exec, ResidualMeter<Scalar, Device>& meter,
                const LinearOperator<Scalar, Device>& a, MultiVectorArg<const Scalar, Device> b,
                MultiVectorArg<Scalar, Device> x, MultiVectorArg<Scalar, Device> r,
                const SolverOptions& options, SolveResult& result, double& b_norm) {
  const auto norm = meter.norm(exec, b);
  b_norm = norm.two;
  const auto finish = [&](SolveStatus status, double rel_residual, const char* text) {
    result.status = status;
    result.message = text;
    result.rel_residual = result.true_rel_residual = rel_residual;
    result.history.assign(1, rel_residual);
    return true;
  };
  if (norm.is_zero) {
    fillVector<Scalar, Device>(exec, Scalar(0), x);
    return finish(SolveStatus::Converged, 0, "");
  }
  if (!std::isfinite(b_norm))
    return finish(SolveStatus::Diverged, b_norm, "b holds NaN or Inf, or its norm overflows");
  // Below this the squares of the entries have lost digits to underflow.
  constexpr double smallest_norm = 1e-145;
  if (b_norm < smallest_norm)
    return finish(SolveStatus::Breakdown, 1, "the norm of b underflows: scale the system");
  const double r_norm = meter.residual(exec, a, b, x, r);
  result.history.assign(1, r_norm / b_norm);
  result.rel_residual = result.true_rel_residual = result.history[0];
  if (!std::isfinite(r_norm))
    return finish(SolveStatus::Diverged, r_norm,
                  "the initial residual b - A x holds NaN or Inf, or its norm overflows");
  return result.rel_residual <= options.tolerance;
}

/// Judges the iterate whose true residual was just recomputed; `previous` is the true relative
/// residual at which the recurrence of `result` started. True if the solve is over.
bool isOver(const SolverOptions& options, double previous, SolveResult& result);

} // namespace detail
} // namespace ainvil
