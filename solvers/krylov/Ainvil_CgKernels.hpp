// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the kernels of CG and of pipelined CG share.

#include "krylov/Ainvil_DeviceRecurrence.hpp"
#include "product/Ainvil_VectorKernels.hpp"

namespace ainvil {
namespace detail {

/// Breakdowns of CG.
enum CgStop { IndefiniteMatrix = FirstBreakdown, IndefinitePreconditioner, IndefiniteBoth };

/// The scalars of CG.
struct CgState : RecurrenceState {
  KOKKOS_INLINE_FUNCTION double& gamma() const { return scalar(0); }
  KOKKOS_INLINE_FUNCTION double& alpha() const { return scalar(1); }
  KOKKOS_INLINE_FUNCTION double& beta() const { return scalar(2); }

  /// The step of an iteration from its gamma = r.z and delta = z.A z.
  KOKKOS_INLINE_FUNCTION void takeStep(double new_gamma, double delta) const {
    const double new_beta = gamma() > 0 ? new_gamma / gamma() : 0.0;
    const double p_a_p = new_beta > 0 ? delta - new_beta * new_gamma / alpha() : delta;
    if (!isFinite(new_gamma) || !isFinite(delta))
      stop() = NotFinite;
    else if (new_gamma < 0 && delta < 0)
      stop() = IndefiniteBoth;
    else if (new_gamma <= 0)
      stop() = IndefinitePreconditioner;
    else if (p_a_p <= 0)
      stop() = IndefiniteMatrix;
    gamma() = new_gamma;
    beta() = new_beta;
    alpha() = new_gamma / p_a_p;
  }
};

/// gamma = r.z, delta = w.z with w = A z; from them beta and alpha. With norm: and sum r_i^2, each
/// r_i with its weight, which ends the iteration before, if the slot is not negative.
template <class Scalar, class Weights, bool WithNorm>
struct CgDotsBody {
  static constexpr int num_sums = WithNorm ? 3 : 2;

  KernelColumn<const Scalar> r, z, w;
  Weights weights;
  CgState state;
  int slot;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    r.moveTo(column);
    z.moveTo(column);
    w.moveTo(column);
    state.moveTo(column);
    return state.running();
  }

  KOKKOS_INLINE_FUNCTION Sums<num_sums> row(Offset i) const {
    const double z_i = z[i];
    const double r_i = r[i];
    Sums<num_sums> products;
    products.value[0] = r_i * z_i;
    products.value[1] = double(w[i]) * z_i;
    if constexpr (WithNorm) {
      const double counted = weights.of(i, r_i);
      products.value[2] = counted * counted;
    }
    return products;
  }

  KOKKOS_INLINE_FUNCTION void finish(const Sums<num_sums>& sums) const {
    if constexpr (WithNorm)
      if (slot >= 0) {
        state.endIteration(slot, sums.value[2]);
        if (!state.running())
          return;
      }
    state.takeStep(sums.value[0], sums.value[1]);
  }
};

} // namespace detail
} // namespace ainvil
