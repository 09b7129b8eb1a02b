// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_BiCgStab.hpp"

#include "backend/Ainvil_ScalarLimits.hpp"
#include "product/Ainvil_VectorKernels.hpp"

namespace ainvil {
namespace detail {
namespace {

enum BiCgStabStop { NoAlpha = FirstBreakdown, NoOmega, NoBeta };

struct BiCgStabState : RecurrenceState {
  KOKKOS_INLINE_FUNCTION double& rho() const { return scalar(0); }
  KOKKOS_INLINE_FUNCTION double& alpha() const { return scalar(1); }
  KOKKOS_INLINE_FUNCTION double& omega() const { return scalar(2); } ///< 0: half an iteration
  KOKKOS_INLINE_FUNCTION double& beta() const { return scalar(3); }
  KOKKOS_INLINE_FUNCTION double& shadow() const { return scalar(4); } ///< r^.r^
};

/// Whether two vectors of Scalar with this product and these squared norms are orthogonal up to the
/// rounding of the row sums they come from: 100 eps, for rows of up to 100 entries. Without this
/// hard problems take up to twice as many iterations, because everything that follows from such a
/// product is rounding.
template <class Scalar>
KOKKOS_INLINE_FUNCTION bool areOrthogonal(double product, double norm1_squared,
                                          double norm2_squared) {
  constexpr double rounding = 100 * ScalarLimits<Scalar>::epsilon;
  return compat::math::fabs(product) <=
         rounding * compat::math::sqrt(norm1_squared) * compat::math::sqrt(norm2_squared);
}

/// r^ = p = r, rho = r.r
template <class Scalar>
struct BiCgStabStartBody {
  KernelColumn<const Scalar> r;
  KernelColumn<Scalar> shadow, p;
  BiCgStabState state;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    r.moveTo(column);
    shadow.moveTo(column);
    p.moveTo(column);
    state.moveTo(column);
    return true;
  }

  KOKKOS_INLINE_FUNCTION Sums<1> row(Offset i) const {
    const Scalar r_i = r[i];
    shadow[i] = r_i;
    p[i] = r_i;
    return {{double(r_i) * r_i}};
  }

  KOKKOS_INLINE_FUNCTION void finish(const Sums<1>& sums) const {
    state.rho() = sums.value[0];
    state.shadow() = sums.value[0];
  }
};

/// Ends an iteration with this squared residual norm and omega.
template <class Scalar>
KOKKOS_INLINE_FUNCTION void endBiCgStabIteration(const BiCgStabState& state, int slot,
                                                 double squared_norm, double limit) {
  state.endIteration(slot, squared_norm, limit);
  if (!state.running())
    return;
  if (state.omega() == 0)
    state.stop() = NoOmega;
  else if (areOrthogonal<Scalar>(state.rho(), state.shadow(), squared_norm))
    state.stop() = NoBeta;
}

/// alpha = rho / r^.v. With norm: and sum r_i^2, which ends the iteration before, if the slot is
/// not negative.
template <class Scalar, bool WithNorm>
struct BiCgStabAlphaBody {
  static constexpr int num_sums = WithNorm ? 3 : 2;

  KernelColumn<const Scalar> shadow, v, r;
  BiCgStabState state;
  int slot;
  SquaredTargets targets;
  double limit = 0; ///< square of the residual norm to reach

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    shadow.moveTo(column);
    v.moveTo(column);
    r.moveTo(column);
    state.moveTo(column);
    limit = targets.of(column);
    return state.running();
  }

  KOKKOS_INLINE_FUNCTION Sums<num_sums> row(Offset i) const {
    const double v_i = v[i];
    Sums<num_sums> products;
    products.value[0] = shadow[i] * v_i;
    products.value[1] = v_i * v_i;
    if constexpr (WithNorm) {
      const double r_i = r[i];
      products.value[2] = r_i * r_i;
    }
    return products;
  }

  KOKKOS_INLINE_FUNCTION void finish(const Sums<num_sums>& sums) const {
    if constexpr (WithNorm)
      if (slot >= 0) {
        endBiCgStabIteration<Scalar>(state, slot, sums.value[2], limit);
        if (!state.running())
          return;
      }
    const double shadow_v = sums.value[0];
    const double vv = sums.value[1];
    if (!detail::isFinite(shadow_v + vv))
      state.stop() = NotFinite;
    else if (areOrthogonal<Scalar>(shadow_v, state.shadow(), vv))
      state.stop() = NoAlpha;
    state.alpha() = state.rho() / shadow_v;
  }
};

/// s = r - alpha v in place.
template <class Scalar>
struct BiCgStabHalfBody {
  KernelColumn<Scalar> r;
  KernelColumn<const Scalar> v;
  BiCgStabState state;
  double alpha = 0;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    r.moveTo(column);
    v.moveTo(column);
    state.moveTo(column);
    alpha = state.alpha();
    return state.running();
  }

  KOKKOS_INLINE_FUNCTION void row(Offset i) const {
    r[i] = static_cast<Scalar>(r[i] - alpha * v[i]);
  }
};

/// omega = t.s / t.t, the next rho = r^.r = r^.s - omega r^.t, and beta from them.
template <class Scalar>
struct BiCgStabOmegaBody {
  KernelColumn<const Scalar> s, t, shadow;
  BiCgStabState state;
  SquaredTargets targets;
  double limit = 0; ///< square of the residual norm to reach

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    s.moveTo(column);
    t.moveTo(column);
    shadow.moveTo(column);
    state.moveTo(column);
    limit = targets.of(column);
    return state.running();
  }

  KOKKOS_INLINE_FUNCTION Sums<5> row(Offset i) const {
    const double s_i = s[i];
    const double t_i = t[i];
    const double shadow_i = shadow[i];
    return {{t_i * s_i, t_i * t_i, s_i * s_i, shadow_i * s_i, shadow_i * t_i}};
  }

  KOKKOS_INLINE_FUNCTION void finish(const Sums<5>& sums) const {
    const double ts = sums.value[0];
    const double tt = sums.value[1];
    const double ss = sums.value[2];
    const bool tolerance_met = ss <= limit;
    if (!tolerance_met && !detail::isFinite(ts + tt + ss))
      state.stop() = NotFinite;
    const bool half = tolerance_met || areOrthogonal<Scalar>(ts, tt, ss);
    const double omega = half ? 0.0 : ts / tt;
    const double rho = half ? 0.0 : sums.value[3] - omega * sums.value[4];
    state.beta() = half ? 0.0 : rho / state.rho() * (state.alpha() / omega);
    state.rho() = rho;
    state.omega() = omega;
  }
};

/// x += alpha y + omega z, r = s - omega t, p = r + beta (p - omega v), and sum r_i^2.
template <class Scalar>
struct BiCgStabUpdateBody {
  KernelColumn<const Scalar> v, t;
  KernelColumn<const Scalar> y, z; // p and r themselves without preconditioner
  KernelColumn<Scalar> x, r, p;    // r comes as s
  BiCgStabState state;
  int slot;
  SquaredTargets targets;
  double limit = 0; ///< square of the residual norm to reach
  double alpha = 0, beta = 0, omega = 0;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    v.moveTo(column);
    t.moveTo(column);
    y.moveTo(column);
    z.moveTo(column);
    x.moveTo(column);
    r.moveTo(column);
    p.moveTo(column);
    state.moveTo(column);
    limit = targets.of(column);
    alpha = state.alpha();
    beta = state.beta();
    omega = state.omega();
    return state.running();
  }

  KOKKOS_INLINE_FUNCTION Sums<1> row(Offset i) const {
    double x_i = x[i] + alpha * y[i];
    double r_i = r[i];
    if (omega != 0) { // else z and t do not count, whatever they hold
      x_i += omega * z[i];
      r_i -= omega * t[i];
    }
    p[i] = static_cast<Scalar>(r_i + beta * (p[i] - omega * v[i]));
    x[i] = static_cast<Scalar>(x_i);
    r[i] = static_cast<Scalar>(r_i);
    return {{r_i * r_i}};
  }

  KOKKOS_INLINE_FUNCTION void finish(const Sums<1>& sums) const {
    endBiCgStabIteration<Scalar>(state, slot, sums.value[0], limit);
  }
};

} // namespace
} // namespace detail

using detail::BiCgStabState;

template <class Scalar, class Device>
BiCgStab<Scalar, Device>::BiCgStab(SolverOptions options) : Base(std::move(options), "BiCGStab") {}

template <class Scalar, class Device>
void BiCgStab<Scalar, Device>::allocate(const execution_space& exec, Offset n,
                                        bool preconditioned) {
  const auto vectors = [&](const std::string& name) {
    return allocateView<MultiVector<Scalar, Device>>(exec, "Ainvil::BiCgStab::" + name, size_t(n),
                                                     size_t(this->capacity_));
  };
  r_ = vectors("r");
  shadow_ = vectors("shadow");
  p_ = vectors("p");
  v_ = vectors("v");
  t_ = vectors("t");
  y_ = preconditioned ? vectors("y") : MultiVector<Scalar, Device>();
  z_ = preconditioned ? vectors("z") : MultiVector<Scalar, Device>();
  sums_ =
      detail::PartialSums<Device>(exec, 5, shape_, this->reduction() != nullptr, this->capacity_);
  recurrence_ =
      detail::DeviceRecurrence<Device>(exec, "Ainvil::BiCgStab::state", options_, this->capacity_);
}

template <class Scalar, class Device>
void BiCgStab<Scalar, Device>::run(const System& system, const Columns& columns,
                                   SolveResult* results, Stop* stops) {
  const BiCgStabState state{recurrence_.state()};
  if (!system.resumes) {
    for (const int c : columns)
      before_[c] = results[c].iterations;
    recurrence_.start(system.exec, options_, columns, results);
    detail::sumRows<1>(system.exec, "Ainvil::BiCgStab::start", shape_, sums_, n_,
                       detail::BiCgStabStartBody<Scalar>{r_, shadow_, p_, state}, this->reduction(),
                       columns);
  }
  const auto y = system.m != nullptr ? y_ : p_;
  const auto z = system.m != nullptr ? z_ : r_;
  const auto update = [&](int slot) {
    return detail::BiCgStabUpdateBody<Scalar>{
        v_, t_, y, z, system.x, r_, p_, state, slot, detail::SquaredTargets(system.targets)};
  };
  const auto usual = [&](int slot, const Columns& running) {
    multiply<false>(system, running, slot);
    multiplyHalf(system, running);
    detail::sumRows<1>(system.exec, "Ainvil::BiCgStab::update", shape_, sums_, n_, update(slot),
                       this->reduction(), running);
  };
  const auto fewest = [&](int slot, const Columns& running) {
    multiplyHalf(system, running);
    detail::forRows<Device>(system.exec, "Ainvil::BiCgStab::update", n_, update(slot), running);
    multiply<true>(system, running, slot);
  };
  const auto iterate = [&](const auto& step) {
    return recurrence_.run(
        system.exec, options_, system.targets, columns, system.resumes, results, step,
        [&](const Columns& looked) { return this->goesOn(system, looked, results); });
  };
  const bool has_fewest = options_.reductions == Reductions::Fewest;
  if (has_fewest && !system.resumes)
    multiply<true>(system, columns, -1);
  const auto ends = has_fewest ? iterate(fewest) : iterate(usual);
  for (const int c : columns) {
    if (ends[c] == detail::NotFinite)
      stops[c] = {SolveStatus::Diverged, "A or the preconditioner gave NaN or Inf"};
    // After at least one iteration another shadow residual may do better.
    else if (ends[c] == detail::NoAlpha && results[c].iterations == before_[c])
      stops[c] = {SolveStatus::Breakdown, "r.A M r = 0: BiCGStab has no direction to go"};
  }
}

/// y = M p, v = A y and alpha.
template <class Scalar, class Device>
template <bool WithNorm>
void BiCgStab<Scalar, Device>::multiply(const System& system, const Columns& columns, int slot) {
  const execution_space& exec = system.exec;
  const auto y = system.m != nullptr ? y_ : p_;
  if (system.m != nullptr)
    this->apply(exec, *system.m, columns, p_, y);
  this->apply(exec, system.a, columns, y, v_);
  using Body = detail::BiCgStabAlphaBody<Scalar, WithNorm>;
  detail::sumRows<Body::num_sums>(
      exec, "Ainvil::BiCgStab::alpha", shape_, sums_, n_,
      Body{shadow_, v_, r_, {recurrence_.state()}, slot, detail::SquaredTargets(system.targets)},
      this->reduction(), columns);
}

/// s = r - alpha v, z = M s, t = A z and omega.
template <class Scalar, class Device>
void BiCgStab<Scalar, Device>::multiplyHalf(const System& system, const Columns& columns) {
  const execution_space& exec = system.exec;
  const BiCgStabState state{recurrence_.state()};
  const auto z = system.m != nullptr ? z_ : r_;
  detail::forRows<Device>(exec, "Ainvil::BiCgStab::half", n_,
                          detail::BiCgStabHalfBody<Scalar>{r_, v_, state}, columns);
  if (system.m != nullptr)
    this->apply(exec, *system.m, columns, r_, z);
  this->apply(exec, system.a, columns, z, t_);
  detail::sumRows<5>(exec, "Ainvil::BiCgStab::omega", shape_, sums_, n_,
                     detail::BiCgStabOmegaBody<Scalar>{r_, t_, shadow_, state,
                                                       detail::SquaredTargets(system.targets)},
                     this->reduction(), columns);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class BiCgStab<double, DEVICE>;                                                         \
  template class BiCgStab<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
