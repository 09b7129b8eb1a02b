// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Short recurrences whose scalars and stopping test live on the device: what CG and BiCGStab
/// share.

#include "Ainvil_Solver.hpp"
#include "backend/Ainvil_FiniteNumbers.hpp"

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace detail {

/// Why the device has stopped; the breakdowns of a method count on from the last one.
enum RecurrenceStop { Running = 0, ToleranceMet, NotFinite, FirstBreakdown };

/// The scalars of an iteration, in device memory; behind them the squared residual norms of the
/// iterations since the host last looked. Once stopped, kernels leave everything as it is.
struct RecurrenceState {
  double* data;

  static constexpr int num_scalars = 8; ///< with room for 6 of the method's own
  KOKKOS_INLINE_FUNCTION double& stop() const { return data[0]; } ///< a RecurrenceStop
  KOKKOS_INLINE_FUNCTION double& iterations() const { return data[1]; }
  KOKKOS_INLINE_FUNCTION double& scalar(int k) const { return data[2 + k]; } ///< 0 at the start
  KOKKOS_INLINE_FUNCTION double& residual(int slot) const { return data[num_scalars + slot]; }

  KOKKOS_INLINE_FUNCTION bool running() const { return stop() == double(Running); }

  /// Ends an iteration whose residual has this squared norm; `limit` is the one to reach.
  KOKKOS_INLINE_FUNCTION void endIteration(int slot, double squared_norm, double limit) const {
    iterations() += 1;
    residual(slot) = squared_norm;
    if (squared_norm <= limit)
      stop() = ToleranceMet;
    else if (!isFinite(squared_norm))
      stop() = NotFinite;
  }
};

/// Iterates until the device stops, with a look of the host every check_interval iterations.
template <class Device>
class DeviceRecurrence {
public:
  using execution_space = typename Device::execution_space;

  DeviceRecurrence() = default;
  DeviceRecurrence(const execution_space& exec, const std::string& label,
                   const SolverOptions& options)
      : interval_(std::max(1, std::min({checkInterval<Device>(options), options.max_iterations,
                                        longest_interval}))),
        data_(allocate<double, Device>(exec, label, RecurrenceState::num_scalars + interval_)),
        host_data_(hostMirror(data_)) {}

  RecurrenceState state() const {
    const RecurrenceState state{data_.data()};
    return state;
  }

  /// Sets all scalars to 0. Asynchronous.
  void start(const execution_space& exec) const {
    std::fill_n(host_data_.data(), host_data_.extent(0), 0.0);
    Kokkos::deep_copy(exec, data_, host_data_);
  }

  /// Calls step(slot) for one iteration after the other, until the device stops or max_iterations
  /// are done; appends residuals relative to `reference` to the history. Returns the
  /// RecurrenceStop.
  template <class Step>
  int run(const execution_space& exec, const SolverOptions& options, double reference,
          SolveResult& result, const Step& step) const {
    const RecurrenceState host{host_data_.data()};
    int done = 0;
    for (;;) {
      const int steps = std::min(interval_, options.max_iterations - result.iterations);
      for (int slot = 0; slot < steps; ++slot)
        step(slot);
      Kokkos::deep_copy(exec, host_data_, data_);
      compat::fence(exec, "Ainvil::DeviceRecurrence::look");

      const int finished = static_cast<int>(host.iterations()) - done;
      for (int slot = 0; slot < finished; ++slot)
        result.history.push_back(std::sqrt(host.residual(slot)) / reference);
      done += finished;
      result.iterations += finished;
      result.rel_residual = result.history.back();
      if (options.progress)
        options.progress(result.iterations, result.rel_residual);
      if (!host.running() || result.iterations >= options.max_iterations)
        return static_cast<int>(host.stop());
    }
  }

private:
  /// Iterations between two looks of the host at most: a look, tens of microseconds, costs little
  /// beside so many iterations, and their residual norms take 8 KiB.
  static constexpr int longest_interval = 1024;

  int interval_ = 1;
  Kokkos::View<double*, Device> data_;
  typename Kokkos::View<double*, Device>::HostMirror host_data_;
};

} // namespace detail
} // namespace ainvil
