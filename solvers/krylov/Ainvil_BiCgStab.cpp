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
  const Scalar* r;
  Scalar *shadow, *p;
  BiCgStabState state;

  KOKKOS_INLINE_FUNCTION bool begin() const { return true; }

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

/// alpha = rho / r^.v
template <class Scalar>
struct BiCgStabAlphaBody {
  const Scalar* shadow;
  const Scalar* v;
  BiCgStabState state;

  KOKKOS_INLINE_FUNCTION bool begin() const { return state.running(); }

  KOKKOS_INLINE_FUNCTION Sums<2> row(Offset i) const {
    const double v_i = v[i];
    return {{shadow[i] * v_i, v_i * v_i}};
  }

  KOKKOS_INLINE_FUNCTION void finish(const Sums<2>& sums) const {
    const double shadow_v = sums.value[0];
    const double vv = sums.value[1];
    if (!detail::isFinite(shadow_v + vv))
      state.stop() = NotFinite;
    else if (areOrthogonal<Scalar>(shadow_v, state.shadow(), vv))
      state.stop() = NoAlpha;
    state.alpha() = state.rho() / shadow_v;
  }
};

/// s = r - alpha v in place, for a run of rows.
template <class Scalar, class Device>
struct BiCgStabHalfKernel {
  static constexpr int block = rowsAtOnce<typename Device::execution_space>();

  Scalar* r;
  const Scalar* v;
  BiCgStabState state;
  Offset num_rows;

  KOKKOS_FUNCTION void operator()(const Offset item) const {
    if (!state.running())
      return;
    const double alpha = state.alpha();
    const Offset begin = item * block;
    const Offset end = begin + block < num_rows ? begin + block : num_rows;
    for (Offset i = begin; i < end; ++i)
      r[i] = static_cast<Scalar>(r[i] - alpha * v[i]);
  }
};

/// omega = t.s / t.t, the next rho = r^.r = r^.s - omega r^.t, and beta from them.
template <class Scalar>
struct BiCgStabOmegaBody {
  const Scalar* s;
  const Scalar* t;
  const Scalar* shadow;
  BiCgStabState state;
  double limit; ///< square of the residual norm to reach

  KOKKOS_INLINE_FUNCTION bool begin() const { return state.running(); }

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
  const Scalar *v, *t;
  const Scalar *y, *z; // p and r themselves without preconditioner
  Scalar *x, *r, *p;   // r comes as s
  BiCgStabState state;
  int slot;
  double limit; ///< square of the residual norm to reach
  double alpha = 0, beta = 0, omega = 0;

  KOKKOS_INLINE_FUNCTION bool begin() {
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
    state.endIteration(slot, sums.value[0], limit);
    if (!state.running())
      return;
    if (omega == 0)
      state.stop() = NoOmega;
    else if (areOrthogonal<Scalar>(state.rho(), state.shadow(), sums.value[0]))
      state.stop() = NoBeta;
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
  const auto vector = [&](const std::string& name) {
    return allocateView<Vector<Scalar, Device>>(exec, "Ainvil::BiCgStab::" + name, size_t(n));
  };
  r_ = vector("r");
  shadow_ = vector("shadow");
  p_ = vector("p");
  v_ = vector("v");
  t_ = vector("t");
  y_ = preconditioned ? vector("y") : Vector<Scalar, Device>();
  z_ = preconditioned ? vector("z") : Vector<Scalar, Device>();
  sums_ = detail::PartialSums<Device>(exec, 5, shape_, this->reduction() != nullptr);
  recurrence_ = detail::DeviceRecurrence<Device>(exec, "Ainvil::BiCgStab::state", options_);
}

template <class Scalar, class Device>
typename BiCgStab<Scalar, Device>::Stop BiCgStab<Scalar, Device>::run(const System& system,
                                                                      SolveResult& result) {
  const BiCgStabState state{recurrence_.state()};
  const int before = result.iterations;
  recurrence_.start(system.exec);
  detail::sumRows<1>(system.exec, "Ainvil::BiCgStab::start", shape_, sums_, n_,
                     detail::BiCgStabStartBody<Scalar>{r_.data(), shadow_.data(), p_.data(), state},
                     this->reduction());
  const int stop = recurrence_.run(system.exec, options_, system.reference, result,
                                   [&](int slot) { iterate(system, slot); });
  if (stop == detail::NotFinite)
    return {SolveStatus::Diverged, "A or the preconditioner gave NaN or Inf"};
  // After at least one iteration another shadow residual may do better.
  if (stop == detail::NoAlpha && result.iterations == before)
    return {SolveStatus::Breakdown, "r.A M r = 0: BiCGStab has no direction to go"};
  return {};
}

template <class Scalar, class Device>
void BiCgStab<Scalar, Device>::iterate(const System& system, int slot) {
  const execution_space& exec = system.exec;
  const BiCgStabState state{recurrence_.state()};
  const auto y = system.m != nullptr ? y_ : p_;
  const auto z = system.m != nullptr ? z_ : r_;
  const double target = options_.tolerance * system.reference;
  if (system.m != nullptr)
    system.m->apply(exec, asColumn(p_), asColumn(y));
  system.a.apply(exec, asColumn(y), asColumn(v_));
  detail::sumRows<2>(exec, "Ainvil::BiCgStab::alpha", shape_, sums_, n_,
                     detail::BiCgStabAlphaBody<Scalar>{shadow_.data(), v_.data(), state},
                     this->reduction());
  using Half = detail::BiCgStabHalfKernel<Scalar, Device>;
  const Offset items = (n_ + Half::block - 1) / Half::block;
  Kokkos::parallel_for("Ainvil::BiCgStab::half", detail::Range<execution_space>(exec, 0, items),
                       Half{r_.data(), v_.data(), state, n_});

  if (system.m != nullptr)
    system.m->apply(exec, asColumn(r_), asColumn(z));
  system.a.apply(exec, asColumn(z), asColumn(t_));
  detail::sumRows<5>(exec, "Ainvil::BiCgStab::omega", shape_, sums_, n_,
                     detail::BiCgStabOmegaBody<Scalar>{r_.data(), t_.data(), shadow_.data(), state,
                                                       target * target},
                     this->reduction());
  detail::sumRows<1>(exec, "Ainvil::BiCgStab::update", shape_, sums_, n_,
                     detail::BiCgStabUpdateBody<Scalar>{v_.data(), t_.data(), y.data(), z.data(),
                                                        system.x.data(), r_.data(), p_.data(),
                                                        state, slot, target * target},
                     this->reduction());
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class BiCgStab<double, DEVICE>;                                                         \
  template class BiCgStab<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
