// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Cg.hpp"

#include "Ainvil_Profiling.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {
namespace {

enum CgStop { Running = 0, ToleranceMet, IndefiniteMatrix, IndefinitePreconditioner, NotFinite };

const char* describe(int stop) {
  switch (stop) {
  case IndefiniteMatrix:
    return "p.A p <= 0: the matrix is not positive definite";
  case IndefinitePreconditioner:
    return "r.M r <= 0: the preconditioner is not positive definite";
  default:
    return "A or the preconditioner gave NaN or Inf";
  }
}

/// The scalars of the iteration, in device memory; behind them the squared residual norms of the
/// iterations since the host last looked.
struct CgState {
  double* data;

  static constexpr int num_scalars = 5;
  KOKKOS_INLINE_FUNCTION double& stop() const { return data[0]; } ///< a CgStop
  KOKKOS_INLINE_FUNCTION double& iterations() const { return data[1]; }
  KOKKOS_INLINE_FUNCTION double& gamma() const { return data[2]; } ///< 0 before the first iteration
  KOKKOS_INLINE_FUNCTION double& alpha() const { return data[3]; }
  KOKKOS_INLINE_FUNCTION double& beta() const { return data[4]; }
  KOKKOS_INLINE_FUNCTION double& residual(int slot) const { return data[num_scalars + slot]; }

  KOKKOS_INLINE_FUNCTION bool running() const { return stop() == Running; }
  KOKKOS_INLINE_FUNCTION static bool isFinite(double value) { return value - value == 0; }
};

/// gamma = r.z, delta = w.z with w = A z; from them beta and alpha.
template <class Scalar>
struct CgDotsBody {
  const Scalar* r;
  const Scalar* z;
  const Scalar* w;
  CgState state;

  KOKKOS_INLINE_FUNCTION bool begin() const { return state.running(); }

  KOKKOS_INLINE_FUNCTION Sums<2> row(Offset i) const {
    const double z_i = z[i];
    return {{double(r[i]) * z_i, double(w[i]) * z_i}};
  }

  KOKKOS_INLINE_FUNCTION void finish(const Sums<2>& sums) const {
    const double gamma = sums.value[0];
    const double delta = sums.value[1];
    const double beta = state.gamma() > 0 ? gamma / state.gamma() : 0.0;
    const double p_a_p = beta > 0 ? delta - beta * gamma / state.alpha() : delta;
    if (!CgState::isFinite(gamma) || !CgState::isFinite(delta))
      state.stop() = NotFinite;
    else if (gamma <= 0)
      state.stop() = IndefinitePreconditioner;
    else if (p_a_p <= 0)
      state.stop() = IndefiniteMatrix;
    state.gamma() = gamma;
    state.beta() = beta;
    state.alpha() = gamma / p_a_p;
  }
};

/// p = z + beta p, q = w + beta q, x += alpha p, r -= alpha q, and sum r_i^2.
template <class Scalar>
struct CgUpdateBody {
  const Scalar* z; // r itself without preconditioner
  const Scalar* w;
  Scalar *p, *q, *x, *r;
  CgState state;
  int slot;
  double limit; ///< square of the residual norm to reach
  double alpha = 0, beta = 0;

  KOKKOS_INLINE_FUNCTION bool begin() {
    alpha = state.alpha();
    beta = state.beta();
    return state.running();
  }

  KOKKOS_INLINE_FUNCTION Sums<1> row(Offset i) const {
    double p_i = z[i];
    double q_i = w[i];
    if (beta != 0) { // the first time p and q hold nothing
      p_i += beta * p[i];
      q_i += beta * q[i];
    }
    const double r_i = r[i] - alpha * q_i;
    p[i] = static_cast<Scalar>(p_i);
    q[i] = static_cast<Scalar>(q_i);
    x[i] = static_cast<Scalar>(x[i] + alpha * p_i);
    r[i] = static_cast<Scalar>(r_i);
    return {{r_i * r_i}};
  }

  KOKKOS_INLINE_FUNCTION void finish(const Sums<1>& sums) const {
    const double squared_norm = sums.value[0];
    state.iterations() += 1;
    state.residual(slot) = squared_norm;
    if (squared_norm <= limit)
      state.stop() = ToleranceMet;
    else if (!CgState::isFinite(squared_norm))
      state.stop() = NotFinite;
  }
};

} // namespace
} // namespace detail

using detail::CgState;

template <class Scalar, class Device>
Cg<Scalar, Device>::Cg(SolverOptions options) : options_(std::move(options)) {
  options_.validate();
  interval_ =
      std::max(1, std::min(detail::checkInterval<Device>(options_), options_.max_iterations));
}

template <class Scalar, class Device>
void Cg<Scalar, Device>::allocate(const execution_space& exec, Offset n, bool preconditioned) {
  const auto vector = [&](const std::string& name) {
    return Vector<Scalar, Device>(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Ainvil::Cg::" + name), n);
  };
  if (n != n_) {
    n_ = -1; // until all allocations have succeeded
    shape_ = detail::SumTeams::forRows(exec, n);
    sums_ = detail::PartialSums<Device>(exec, 2, shape_);
    meter_ = detail::ResidualMeter<Scalar, Device>(exec, n);
    r_ = vector("r");
    w_ = vector("w");
    p_ = vector("p");
    q_ = vector("q");
    z_ = {};
    state_ = Kokkos::View<double*, Device>(
        Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Ainvil::Cg::state"),
        CgState::num_scalars + interval_);
    host_state_ = Kokkos::create_mirror_view(state_);
    n_ = n;
  }
  if (preconditioned && Offset(z_.extent(0)) != n)
    z_ = vector("z");
}

template <class Scalar, class Device>
SolveResult Cg<Scalar, Device>::solve(const execution_space& exec,
                                      const LinearOperator<Scalar, Device>& a,
                                      const LinearOperator<Scalar, Device>* m,
                                      Vector<const Scalar, Device> b, Vector<Scalar, Device> x) {
  ScopedRegion region("Ainvil::Cg::solve");
  detail::checkSystem("CG", a, m, b.extent(0), x.extent(0));
  allocate(exec, b.extent(0), m != nullptr);
  SolveResult result;
  double b_norm = 0;
  if (detail::startSolve<Scalar, Device>(exec, meter_, a, asColumn(b), asColumn(x), asColumn(r_),
                                         options_, result, b_norm))
    return result;

  double previous = result.true_rel_residual;
  while (!detail::isOver(options_, previous, result)) {
    const int stop = run(exec, a, m, asColumn(x), b_norm, result);
    previous = result.true_rel_residual;
    result.true_rel_residual =
        meter_.residual(exec, a, asColumn(b), asColumn(x), asColumn(r_)) / b_norm;
    if (stop == detail::Running || stop == detail::ToleranceMet)
      continue;
    result.status = stop == detail::NotFinite ? SolveStatus::Diverged : SolveStatus::Breakdown;
    result.message = message(detail::describe(stop), ", after iteration ", result.iterations);
    return result;
  }
  return result;
}

/// Iterates from the residual in r_ until the device stops or max_iterations are done, and appends
/// to the history. Returns the CgStop.
template <class Scalar, class Device>
int Cg<Scalar, Device>::run(const execution_space& exec, const LinearOperator<Scalar, Device>& a,
                            const LinearOperator<Scalar, Device>* m,
                            MultiVectorArg<Scalar, Device> x, double b_norm, SolveResult& result) {
  const double target = options_.tolerance * b_norm;
  const CgState state{state_.data()}, host{host_state_.data()};
  const auto z = m != nullptr ? z_ : r_;
  std::fill_n(host_state_.data(), host_state_.extent(0), 0.0);
  Kokkos::deep_copy(exec, state_, host_state_);
  int done = 0;
  for (;;) {
    const int steps = std::min(interval_, options_.max_iterations - result.iterations);
    for (int slot = 0; slot < steps; ++slot) {
      if (m != nullptr)
        m->apply(exec, asColumn(r_), asColumn(z_));
      a.apply(exec, asColumn(z), asColumn(w_));
      detail::sumRows<2>(exec, "Ainvil::Cg::innerProducts", shape_, sums_, n_,
                         detail::CgDotsBody<Scalar>{r_.data(), z.data(), w_.data(), state});
      detail::sumRows<1>(exec, "Ainvil::Cg::update", shape_, sums_, n_,
                         detail::CgUpdateBody<Scalar>{z.data(), w_.data(), p_.data(), q_.data(),
                                                      x.data(), r_.data(), state, slot,
                                                      target * target});
    }
    Kokkos::deep_copy(exec, host_state_, state_);
    compat::fence(exec, "Ainvil::Cg::look");

    const int finished = static_cast<int>(host.iterations()) - done;
    for (int slot = 0; slot < finished; ++slot)
      result.history.push_back(std::sqrt(host.residual(slot)) / b_norm);
    done += finished;
    result.iterations += finished;
    result.rel_residual = result.history.back();
    if (options_.progress)
      options_.progress(result.iterations, result.rel_residual);
    if (!host.running() || result.iterations >= options_.max_iterations)
      return static_cast<int>(host.stop());
  }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Cg<double, DEVICE>;                                                               \
  template class Cg<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
