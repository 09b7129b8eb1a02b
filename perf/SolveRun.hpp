// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Setting up, applying and solving with one preconditioner, in one precision on one device.

#include "Measure.hpp"
#include "MemoryMeter.hpp"
#include "ProgressLine.hpp"
#include "SolveRecord.hpp"
#include "SolveSystem.hpp"

#include "Ainvil_BiCgStab.hpp"
#include "Ainvil_Cg.hpp"
#include "Ainvil_Gmres.hpp"
#include "Ainvil_Preconditioner.hpp"

#include <cmath>
#include <memory>
#include <type_traits>

namespace ainvil {
namespace perf {

/// The solver of the command line; `options` adds what the command line does not know.
template <class Scalar, class Device>
std::unique_ptr<KrylovSolver<Scalar, Device>> makeSolver(const CommandLine& command,
                                                         SolverOptions options = {}) {
  options.tolerance = command.tolerance;
  options.max_iterations = command.max_iterations;
  options.restart = command.restart;
  options.basis = command.float_basis ? Storage::Float : Storage::Native;
  options.allow_varying = command.allow_varying;
  if (command.solver == "cg")
    return std::make_unique<Cg<Scalar, Device>>(options);
  if (command.solver == "bicgstab")
    return std::make_unique<BiCgStab<Scalar, Device>>(options);
  return std::make_unique<Gmres<Scalar, Device>>(
      options, command.solver == "fgmres" ? Flexible::Yes : Flexible::No);
}

template <class Scalar, class Device>
class Runner {
public:
  using Precond = Preconditioner<Scalar, Device>;

  /// Copies the system to the device. \throws InvalidArgument if a value is too large for Scalar.
  Runner(const CommandLine& command, const LinearSystem& system, ProgressLine& progress,
         MemoryMeter& memory)
      : command_(command), system_(system), progress_(progress), memory_(memory),
        matrix_(toDevice(system.matrix)), operator_(matrix_), b_(toDevice(system.rhs)),
        x_(allocate<Scalar, Device>(exec_, "Ainvil::x", b_.extent(0))) {}

  /// A BreakdownError or OutOfMemory is part of the record; other exceptions pass.
  RunRecord run(const std::string& specification, Precond& precond) {
    RunRecord record;
    record.precond = specification;
    memory_.resetPeak();
    try {
      repeat(precond, record);
    } catch (const BreakdownError& error) {
      record.converged = false;
      record.status = toString(SolveStatus::Breakdown);
      record.message = error.what();
      if (system_.order.numRows() > 0)
        record.message += " (block rows in the order of --reorder " + command_.reorder + ")";
    } catch (const OutOfMemory& error) { // the next one may need less
      record.converged = false;
      record.status = "out_of_memory";
      record.message = error.what();
    }
    record.peak_bytes = memory_.peak();
    return record;
  }

private:
  using Exec = typename Device::execution_space;

  void repeat(Precond& precond, RunRecord& record) {
    SolverOptions options;
    options.progress = [&](int iteration, double rel_residual) {
      if (progress_.isDue())
        progress_.show(message(record.precond, ": iteration ", iteration, ", relative residual ",
                               rel_residual));
    };
    const auto solver = makeSolver<Scalar, Device>(command_, options);
    for (int repetition = 0; repetition < command_.repeat; ++repetition) {
      setUp(precond, record);
      timeApplications(precond, record);
      solve(*solver, precond, record);
    }
  }

  void setUp(Precond& precond, RunRecord& record) {
    progress_.show(record.precond + ": setup");
    const double seconds = timed([&] {
      precond.initialize(exec_, matrix_);
      precond.compute(exec_, matrix_);
    });
    const Report& report = precond.report();
    if (std::isnan(record.first_setup_seconds))
      record.first_setup_seconds = seconds;
    if (!(seconds >= record.setup_seconds)) { // also if there is none yet
      record.setup_seconds = seconds;
      record.setup_phases = report.phases.phases();
    }
    if (command_.repeat > 1)
      keepFastest(record.recompute_seconds, timed([&] { precond.compute(exec_, matrix_); }));
    record.factor_entries = report.factor_entries;
    record.factor_bytes = report.factor_bytes;
    record.breakdowns = report.breakdowns;
    record.notes = report.notes;
  }

  void timeApplications(const Precond& precond, RunRecord& record) {
    progress_.show(record.precond + ": 30 applications");
    precond.apply(exec_, b_, x_);
    keepFastest(record.apply30_seconds, timed([&] {
                  for (int i = 0; i < 30; ++i)
                    precond.apply(exec_, b_, x_);
                }));
  }

  void solve(KrylovSolver<Scalar, Device>& solver, const Precond& precond, RunRecord& record) {
    Kokkos::deep_copy(exec_, x_, Scalar(0));
    SolveResult result;
    keepFastest(record.solve_seconds,
                timed([&] { result = solver.solve(exec_, operator_, &precond, b_, x_); }));
    record.converged = result.status == SolveStatus::Converged;
    record.status = toString(result.status);
    record.message = result.message;
    record.iterations = result.iterations;
    record.history = result.history;
    record.solution = toHost(x_);
    record.rel_residual = relativeResidual(system_, record.solution);
  }

  template <class Work>
  double timed(Work&& work) const {
    compat::fence(exec_, "Ainvil::solve[timer]");
    const Stopwatch stopwatch(command_.cpu_clock);
    work();
    compat::fence(exec_, "Ainvil::solve[timer]");
    return stopwatch.seconds();
  }

  static void keepFastest(double& fastest, double seconds) {
    fastest = std::fmin(fastest, seconds);
  }

  /// A host array in the precision of the runs; shared where that is double.
  template <class View>
  static auto rounded(const View& values, const char* what) {
    if constexpr (std::is_same<Scalar, double>::value) {
      return values;
    } else {
      using Rounded = Kokkos::View<Scalar*, typename View::array_layout, HostDevice>;
      const auto result =
          allocateView<Rounded>(HostDevice::execution_space(), "Ainvil::rounded", values.extent(0));
      for (size_t i = 0; i < values.extent(0); ++i) {
        result(i) = static_cast<Scalar>(values(i));
        if (!std::isfinite(result(i)))
          throw InvalidArgument(message("the value ", values(i), " of the ", what,
                                        " is too large for --precision float: scale the system or "
                                        "use double"));
      }
      return result;
    }
  }

  static BsrMatrix<Scalar, Device> toDevice(const BsrMatrix<double, HostDevice>& a) {
    return copyTo<Device>(
        BsrMatrix<Scalar, HostDevice>(a.graph, rounded(a.values, "matrix"), a.block_size));
  }

  static Vector<Scalar, Device> toDevice(const Vector<double, HostDevice>& b) {
    return copyArray<Device>(rounded(b, "right-hand side"), "Ainvil::b");
  }

  static Vector<double, HostDevice> toHost(const Vector<Scalar, Device>& x) {
    const auto host_x = copyArray<HostDevice>(x, "Ainvil::solution");
    const auto result = allocateView<Vector<double, HostDevice>>(HostDevice::execution_space(),
                                                                 "Ainvil::solution", x.extent(0));
    for (size_t i = 0; i < x.extent(0); ++i)
      result(i) = host_x(i);
    return result;
  }

  const CommandLine& command_;
  const LinearSystem& system_;
  ProgressLine& progress_;
  MemoryMeter& memory_;
  Exec exec_;
  BsrMatrix<Scalar, Device> matrix_;
  MatrixOperator<Scalar, Device> operator_;
  Vector<Scalar, Device> b_, x_;
};

} // namespace perf
} // namespace ainvil
