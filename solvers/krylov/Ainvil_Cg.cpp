// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Cg.hpp"

#include "krylov/Ainvil_CgKernels.hpp"

namespace ainvil {
namespace detail {
namespace {

const char* describe(int stop) {
  switch (stop) {
  case IndefiniteMatrix:
    return "p.A p <= 0: the matrix is not positive definite";
  case IndefinitePreconditioner:
    return "r.M r <= 0: the preconditioner is not positive definite";
  case IndefiniteBoth:
    return "r.M r < 0 and z.A z < 0 for z = M r: neither the matrix nor the preconditioner is "
           "positive definite";
  default:
    return "";
  }
}

const char* advice(int stop) {
  switch (stop) {
  case IndefinitePreconditioner:
    return "take ic or fsai, which are positive definite wherever A is, or gmres";
  case IndefiniteMatrix:
  case IndefiniteBoth:
    return "if A is negative definite, as with a negative diagonal, solve (-A) x = -b, else take "
           "gmres";
  default:
    return "";
  }
}

/// p = z + beta p, q = w + beta q, x += alpha p, r -= alpha q, and sum r_i^2, each r_i with its
/// weight.
template <class Scalar, class Weights>
struct CgUpdateBody {
  KernelColumn<const Scalar> z, w; // z is r itself without preconditioner
  KernelColumn<Scalar> p, q, x, r;
  Weights weights;
  CgState state;
  int slot;
  double alpha = 0, beta = 0;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    z.moveTo(column);
    w.moveTo(column);
    p.moveTo(column);
    q.moveTo(column);
    x.moveTo(column);
    r.moveTo(column);
    state.moveTo(column);
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
    const double counted = weights.of(i, r_i);
    return {{counted * counted}};
  }

  KOKKOS_INLINE_FUNCTION void finish(const Sums<1>& sums) const {
    state.endIteration(slot, sums.value[0]);
  }
};

} // namespace
} // namespace detail

template <class Scalar, class Device>
Cg<Scalar, Device>::Cg(SolverOptions options)
    : Base(std::move(options), "CG", "Ainvil::Cg", 3, "its recurrences hold for one fixed M only") {
}

template <class Scalar, class Device>
void Cg<Scalar, Device>::allocateVectors(const execution_space& exec, Offset n,
                                         bool preconditioned) {
  r_ = this->vectors(exec, "r", n);
  w_ = this->vectors(exec, "w", n);
  p_ = this->vectors(exec, "p", n);
  q_ = this->vectors(exec, "q", n);
  z_ = preconditioned ? this->vectors(exec, "z", n) : MultiVector<Scalar, Device>();
  if (isPipelined())
    allocatePipeline(exec, n, preconditioned);
}

template <class Scalar, class Device>
void Cg<Scalar, Device>::begin(const System& system, const Columns& columns) {
  if (isPipelined())
    fillPipeline(system, columns);
}

/// z = M r, w = A z and their inner products.
template <class Scalar, class Device>
void Cg<Scalar, Device>::open(const System& system, const Columns& columns, int slot,
                              TakesNorm norm) {
  if (isPipelined())
    return advancePipeline(system, columns, slot);
  this->multiply(system, columns, r_, z_, w_);
  const auto z = system.m != nullptr ? z_ : r_;
  const detail::CgState state{recurrence_.state()};
  detail::withWeights(this->weights(), [&](const auto& weights) {
    this->choose(norm, [&](auto with_norm) {
      using Weights = std::decay_t<decltype(weights)>;
      using Body = detail::CgDotsBody<Scalar, Weights, decltype(with_norm)::value>;
      detail::sumRows<Body::num_sums>(system.exec, "Ainvil::Cg::innerProducts", shape_, sums_, n_,
                                      Body{r_, z, w_, weights, state, slot}, this->reduction(),
                                      columns);
    });
  });
}

/// The updates of p, q, x and r.
template <class Scalar, class Device>
void Cg<Scalar, Device>::close(const System& system, const Columns& columns, int slot,
                               TakesNorm norm) {
  if (isPipelined())
    return; // open() of the next iteration does both
  const auto z = system.m != nullptr ? z_ : r_;
  const detail::CgState state{recurrence_.state()};
  detail::withWeights(this->weights(), [&](const auto& weights) {
    const detail::CgUpdateBody<Scalar, std::decay_t<decltype(weights)>> update{
        z, w_, p_, q_, system.x, r_, weights, state, slot};
    if (norm == TakesNorm::Yes)
      detail::sumRows<1>(system.exec, "Ainvil::Cg::update", shape_, sums_, n_, update,
                         this->reduction(), columns);
    else
      detail::forRows<Device>(system.exec, "Ainvil::Cg::update", n_, update, columns);
  });
}

template <class Scalar, class Device>
typename Cg<Scalar, Device>::Stop Cg<Scalar, Device>::breakdown(int stop) const {
  // Where pipelined recurrences have drifted, signs mean nothing.
  return {SolveStatus::Breakdown, detail::describe(stop), detail::advice(stop), isPipelined()};
}

AINVIL_INSTANTIATE_CLASS(Cg)

} // namespace ainvil
