// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_BiCgStab.hpp"

#include "backend/Ainvil_ScalarLimits.hpp"
#include "product/Ainvil_VectorKernels.hpp"

namespace ainvil {
namespace detail {
namespace {

enum BiCgStabStop {
  NoDirection = FirstBreakdown, ///< no alpha in the first iteration after a start
  NoAlpha,
  NoOmega,
  NoBeta
};

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
                                                 double squared_norm) {
  state.endIteration(slot, squared_norm);
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

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    shadow.moveTo(column);
    v.moveTo(column);
    r.moveTo(column);
    state.moveTo(column);
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
        endBiCgStabIteration<Scalar>(state, slot, sums.value[2]);
        if (!state.running())
          return;
      }
    const double shadow_v = sums.value[0];
    const double vv = sums.value[1];
    if (!detail::isFinite(shadow_v + vv))
      state.stop() = NotFinite;
    else if (areOrthogonal<Scalar>(shadow_v, state.shadow(), vv))
      state.stop() = state.iterations() == 0 ? NoDirection : NoAlpha;
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

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    s.moveTo(column);
    t.moveTo(column);
    shadow.moveTo(column);
    state.moveTo(column);
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
    const bool tolerance_met = ss <= state.limit();
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
    endBiCgStabIteration<Scalar>(state, slot, sums.value[0]);
  }
};

} // namespace
} // namespace detail

template <class Scalar, class Device>
BiCgStab<Scalar, Device>::BiCgStab(SolverOptions options)
    : Base(std::move(options), "BiCGStab", "Ainvil::BiCgStab", 5) {}

template <class Scalar, class Device>
void BiCgStab<Scalar, Device>::allocateVectors(const execution_space& exec, Offset n,
                                               bool preconditioned) {
  r_ = this->vectors(exec, "r", n);
  shadow_ = this->vectors(exec, "shadow", n);
  p_ = this->vectors(exec, "p", n);
  v_ = this->vectors(exec, "v", n);
  t_ = this->vectors(exec, "t", n);
  y_ = preconditioned ? this->vectors(exec, "y", n) : MultiVector<Scalar, Device>();
  z_ = preconditioned ? this->vectors(exec, "z", n) : MultiVector<Scalar, Device>();
}

template <class Scalar, class Device>
void BiCgStab<Scalar, Device>::begin(const System& system, const Columns& columns) {
  detail::sumRows<1>(system.exec, "Ainvil::BiCgStab::start", shape_, sums_, n_,
                     detail::BiCgStabStartBody<Scalar>{r_, shadow_, p_, {recurrence_.state()}},
                     this->reduction(), columns);
}

/// y = M p, v = A y and alpha.
template <class Scalar, class Device>
void BiCgStab<Scalar, Device>::open(const System& system, const Columns& columns, int slot,
                                    TakesNorm norm) {
  this->multiply(system, columns, p_, y_, v_);
  this->choose(norm, [&](auto with_norm) {
    using Body = detail::BiCgStabAlphaBody<Scalar, decltype(with_norm)::value>;
    detail::sumRows<Body::num_sums>(system.exec, "Ainvil::BiCgStab::alpha", shape_, sums_, n_,
                                    Body{shadow_, v_, r_, {recurrence_.state()}, slot},
                                    this->reduction(), columns);
  });
}

/// s = r - alpha v, z = M s, t = A z and omega; then the updates of x, r and p.
template <class Scalar, class Device>
void BiCgStab<Scalar, Device>::close(const System& system, const Columns& columns, int slot,
                                     TakesNorm norm) {
  const execution_space& exec = system.exec;
  const detail::BiCgStabState state{recurrence_.state()};
  detail::forRows<Device>(exec, "Ainvil::BiCgStab::half", n_,
                          detail::BiCgStabHalfBody<Scalar>{r_, v_, state}, columns);
  this->multiply(system, columns, r_, z_, t_);
  detail::sumRows<5>(exec, "Ainvil::BiCgStab::omega", shape_, sums_, n_,
                     detail::BiCgStabOmegaBody<Scalar>{r_, t_, shadow_, state}, this->reduction(),
                     columns);
  const auto y = system.m != nullptr ? y_ : p_;
  const auto z = system.m != nullptr ? z_ : r_;
  const detail::BiCgStabUpdateBody<Scalar> update{v_, t_, y, z, system.x, r_, p_, state, slot};
  if (norm == TakesNorm::Yes)
    detail::sumRows<1>(exec, "Ainvil::BiCgStab::update", shape_, sums_, n_, update,
                       this->reduction(), columns);
  else
    detail::forRows<Device>(exec, "Ainvil::BiCgStab::update", n_, update, columns);
}

/// After at least one iteration another shadow residual may do better.
template <class Scalar, class Device>
typename BiCgStab<Scalar, Device>::Stop BiCgStab<Scalar, Device>::breakdown(int stop) const {
  if (stop != detail::NoDirection)
    return {};
  return {SolveStatus::Breakdown, "r.A M r = 0: BiCGStab has no direction to go"};
}

AINVIL_INSTANTIATE_CLASS(BiCgStab)

} // namespace ainvil
