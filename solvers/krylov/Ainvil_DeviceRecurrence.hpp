// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Short recurrences whose scalars and stopping test live on the device: what CG and BiCGStab
/// share.

#include "Ainvil_Solver.hpp"
#include "backend/Ainvil_ColumnSet.hpp"
#include "backend/Ainvil_FiniteNumbers.hpp"
#include "krylov/Ainvil_ColumnSolves.hpp"

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace detail {

/// Why the device has stopped; the breakdowns of a method count on from the last one.
enum RecurrenceStop { Running = 0, ToleranceMet, NotFinite, LimitReached, FirstBreakdown };

/// The scalars of an iteration of one column and where it stops, in device memory; behind them the
/// squared residual norms of the iterations since the host last looked. Once stopped, kernels leave
/// everything as it is.
struct RecurrenceState {
  double* data; ///< of column 0, until moveTo() another
  int size;     ///< numbers a column

  static constexpr int num_scalars = 11; ///< with room for 7 of the method's own
  KOKKOS_INLINE_FUNCTION void moveTo(int column) { data += column * size; }
  KOKKOS_INLINE_FUNCTION double& stop() const { return data[0]; } ///< a RecurrenceStop
  KOKKOS_INLINE_FUNCTION double& iterations() const { return data[1]; }
  KOKKOS_INLINE_FUNCTION double& mostIterations() const { return data[2]; }
  KOKKOS_INLINE_FUNCTION double& limit() const { return data[3]; } ///< squared norm to reach
  KOKKOS_INLINE_FUNCTION double& scalar(int k) const { return data[4 + k]; } ///< 0 at the start
  KOKKOS_INLINE_FUNCTION double& residual(int slot) const { return data[num_scalars + slot]; }

  KOKKOS_INLINE_FUNCTION bool running() const { return stop() == double(Running); }

  /// Ends an iteration whose residual has this squared norm.
  KOKKOS_INLINE_FUNCTION void endIteration(int slot, double squared_norm) const {
    iterations() += 1;
    residual(slot) = squared_norm;
    if (squared_norm <= limit())
      stop() = ToleranceMet;
    else if (!isFinite(squared_norm))
      stop() = NotFinite;
    else if (iterations() >= mostIterations())
      stop() = LimitReached;
  }
};

/// Iterates until the device has stopped in all columns, with a look of the host every
/// check_interval iterations.
template <class Device>
class DeviceRecurrence {
public:
  using execution_space = typename Device::execution_space;

  DeviceRecurrence() = default;
  /// For so many columns at most.
  DeviceRecurrence(const execution_space& exec, const std::string& label,
                   const SolverOptions& options, int columns)
      : interval_(std::max(1, std::min({checkInterval<Device>(options), options.max_iterations,
                                        longest_interval}))),
        data_(allocate<double, Device>(exec, label, columns * stateSize())),
        host_data_(hostMirror(data_)) {}

  RecurrenceState state() const {
    const RecurrenceState state{data_.data(), stateSize()};
    return state;
  }

  /// Sets all scalars to 0, for at most as many iterations as the results leave. Asynchronous.
  void start(const execution_space& exec, const SolverOptions& options, const Targets& targets,
             const ColumnSet& columns, const SolveResult* results) const {
    std::fill_n(host_data_.data(), host_data_.extent(0), 0.0);
    for (const int c : columns) {
      hostState(c).mostIterations() = options.max_iterations - results[c].iterations;
      hostState(c).limit() = targets.norm(c) * targets.norm(c);
    }
    Kokkos::deep_copy(exec, data_, host_data_);
  }

  /// Calls step(slot, running) for one iteration after the other, until the device has stopped in
  /// all columns, by max_iterations at the latest; `running` are those of which the host does not
  /// know yet. Appends residuals to the histories. At every look of the host goesOn(looked at) may
  /// end it. Where that has thrown, a run that `resumes` goes on behind it. Returns the
  /// RecurrenceStop of each column.
  template <class Step, class GoesOn>
  std::array<int, ColumnSet::capacity>
  run(const execution_space& exec, const SolverOptions& options, const Targets& targets,
      const ColumnSet& columns, bool resumes, SolveResult* results, const Step& step,
      const GoesOn& goesOn) {
    if (!resumes) {
      running_ = columns;
      stops_ = {};
      done_ = 0;
    }
    while (!running_.empty()) {
      int steps = 0;
      for (const int c : running_)
        steps =
            std::max(steps, std::min(interval_, options.max_iterations - results[c].iterations));
      for (int slot = 0; slot < steps; ++slot)
        step(slot, running_);
      const auto used = std::make_pair(0, (columns[columns.size() - 1] + 1) * stateSize());
      Kokkos::deep_copy(exec, Kokkos::subview(host_data_, used), Kokkos::subview(data_, used));
      compat::fence(exec, "Ainvil::DeviceRecurrence::look");

      ColumnSet looked = running_;
      running_ = {};
      for (const int c : looked) {
        const RecurrenceState host = hostState(c);
        SolveResult& result = results[c];
        const int finished = static_cast<int>(host.iterations()) - done_;
        for (int slot = 0; slot < finished; ++slot)
          result.history.push_back(std::sqrt(host.residual(slot)) / targets.reference[c]);
        result.iterations += finished;
        result.rel_residual = result.history.back();
        stops_[c] = static_cast<int>(host.stop());
        if (host.running())
          running_.add(c);
      }
      done_ += steps;
      if (!goesOn(looked))
        break;
    }
    return stops_;
  }

private:
  /// Iterations between two looks of the host at most: a look, tens of microseconds, costs little
  /// beside so many iterations, and their residual norms take 8 KiB.
  static constexpr int longest_interval = 1024;

  int stateSize() const { return RecurrenceState::num_scalars + interval_; }
  RecurrenceState hostState(int column) const {
    RecurrenceState state{host_data_.data(), stateSize()};
    state.moveTo(column);
    return state;
  }

  int interval_ = 1;
  // Of the run.
  ColumnSet running_; ///< columns of which the host does not know that they have stopped
  std::array<int, ColumnSet::capacity> stops_ = {};
  int done_ = 0; ///< iterations of the columns that are running
  Kokkos::View<double*, Device> data_;
  typename Kokkos::View<double*, Device>::HostMirror host_data_;
};

} // namespace detail
} // namespace ainvil
