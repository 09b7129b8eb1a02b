// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Pipelined CG: the part of Cg that SolverOptions::reductions = Pipelined takes.
#include "Ainvil_Cg.hpp"

#include "krylov/Ainvil_CgKernels.hpp"
#include "product/Ainvil_RowSums.hpp"

namespace ainvil {
namespace detail {
namespace {

/// Iterations after which the products are made anew.
constexpr int replacement_interval = 20;

/// amq = amw + beta amq, q = w + beta q, p = z + beta p, x += alpha p, r -= alpha q, w -= alpha
/// amq, with M mq = mw + beta mq and z -= alpha mq, else z is r; then the sums of the new vectors:
/// gamma = r.z, delta = w.z and sum r_i^2, each r_i with its weight, which ends the iteration.
template <class Scalar, class Weights, bool WithM>
struct PipelinedCgBody {
  static constexpr int num_sums = 3;

  // Of the solver, with one distance between columns: arguments of a kernel are few bytes.
  const Scalar *mw, *amw;
  Scalar *r, *z, *w, *p, *q, *mq, *amq;
  std::int64_t stride;
  KernelColumn<Scalar> x;
  Weights weights;
  CgState state;
  int slot;
  double alpha = 0, beta = 0;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    const std::int64_t before = column * stride;
    amw += before;
    r += before;
    w += before;
    p += before;
    q += before;
    amq += before;
    if constexpr (WithM) {
      mw += before;
      z += before;
      mq += before;
    }
    x.moveTo(column);
    state.moveTo(column);
    alpha = state.alpha();
    beta = state.beta();
    return state.running();
  }

  KOKKOS_INLINE_FUNCTION Sums<num_sums> row(Offset i) const {
    const double amq_i = next(amq, amw[i], i);
    const double q_i = next(q, w[i], i);
    const double p_i = next(p, WithM ? z[i] : r[i], i);
    x[i] = static_cast<Scalar>(x[i] + alpha * p_i);
    const Scalar r_i = static_cast<Scalar>(r[i] - alpha * q_i);
    const Scalar w_i = static_cast<Scalar>(w[i] - alpha * amq_i);
    r[i] = r_i;
    w[i] = w_i;
    Scalar z_i = r_i;
    if constexpr (WithM) {
      z_i = static_cast<Scalar>(z[i] - alpha * next(mq, mw[i], i));
      z[i] = z_i;
    }
    const double counted = weights.of(i, double(r_i));
    return {{double(r_i) * z_i, double(w_i) * z_i, counted * counted}};
  }

  KOKKOS_INLINE_FUNCTION void finish(const Sums<num_sums>& sums) const {
    state.endIteration(slot, sums.value[2]);
    if (state.running())
      state.takeStep(sums.value[0], sums.value[1]);
  }

private:
  /// direction_i = from + beta direction_i; the first time directions hold nothing.
  KOKKOS_INLINE_FUNCTION double next(Scalar* direction, double from, Offset i) const {
    const double sum = beta != 0 ? from + beta * direction[i] : from;
    direction[i] = static_cast<Scalar>(sum);
    return sum;
  }
};

} // namespace
} // namespace detail

template <class Scalar, class Device>
void Cg<Scalar, Device>::allocatePipeline(const execution_space& exec, Offset n,
                                          bool preconditioned) {
  const auto withM = [&](const char* name) {
    return preconditioned ? this->vectors(exec, name, n) : MultiVector<Scalar, Device>();
  };
  amw_ = this->vectors(exec, "amw", n);
  amq_ = this->vectors(exec, "amq", n);
  mw_ = withM("mw");
  mq_ = withM("mq");
}

/// z = M r and w = A z.
template <class Scalar, class Device>
void Cg<Scalar, Device>::fillPipeline(const System& system, const Columns& columns) {
  since_replacement_ = 0;
  this->multiply(system, columns, r_, z_, w_);
}

/// The recurrences of z, w, q, mq and amq drift from the products that they stand for, and faster
/// than r does from b - A x: each feeds on the others' errors.
template <class Scalar, class Device>
void Cg<Scalar, Device>::replaceProducts(const System& system, const Columns& columns) {
  since_replacement_ = 0;
  this->multiply(system, columns, r_, z_, w_);
  detail::applyToColumns<Scalar, Device>(system.exec, system.a, columns, p_, q_,
                                         detail::cheap_columns);
  this->multiply(system, columns, q_, mq_, amq_);
}

/// The vector updates of an iteration, unless the slot is negative, and the sums of the next one,
/// which travel during its products mw = M w and amw = A mw.
template <class Scalar, class Device>
void Cg<Scalar, Device>::advancePipeline(const System& system, const Columns& columns, int slot) {
  const detail::CgState state{recurrence_.state()};
  const auto sumDuringProducts = [&](const char* label, const auto& body) {
    detail::sumRowsDuring<3>(system.exec, label, shape_, sums_, n_, body, this->reduction(),
                             columns, [&] { this->multiply(system, columns, w_, mw_, amw_); });
  };
  detail::withWeights(this->weights(), [&](const auto& weights) {
    using Weights = std::decay_t<decltype(weights)>;
    const auto advance = [&](auto with_m) {
      using Body = detail::PipelinedCgBody<Scalar, Weights, decltype(with_m)::value>;
      const Body body{
          mw_.data(), amw_.data(), r_.data(),  z_.data(),   w_.data(),
          p_.data(),  q_.data(),   mq_.data(), amq_.data(), static_cast<std::int64_t>(r_.stride(1)),
          system.x,   weights,     state,      slot};
      if (++since_replacement_ < detail::replacement_interval)
        return sumDuringProducts("Ainvil::Cg::advance", body);
      detail::forRows<Device>(system.exec, "Ainvil::Cg::advance", n_, body, columns);
      replaceProducts(system, columns);
    };
    if (slot >= 0 && system.m != nullptr)
      advance(std::true_type());
    else if (slot >= 0)
      advance(std::false_type());
    if (slot < 0 || since_replacement_ == 0)
      sumDuringProducts("Ainvil::Cg::innerProducts",
                        detail::CgDotsBody<Scalar, Weights, true>{r_, system.m != nullptr ? z_ : r_,
                                                                  w_, weights, state, slot});
  });
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template void Cg<SCALAR, DEVICE>::allocatePipeline(const execution_space&, Offset, bool);        \
  template void Cg<SCALAR, DEVICE>::fillPipeline(const System&, const Columns&);                   \
  template void Cg<SCALAR, DEVICE>::advancePipeline(const System&, const Columns&, int);

AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

#undef AINVIL_INSTANTIATE

} // namespace ainvil
