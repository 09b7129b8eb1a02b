// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Setting up, applying and solving with one preconditioner, in one precision on one device.

#include "program/Interruption.hpp"
#include "program/Measure.hpp"
#include "program/MemoryMeter.hpp"
#include "program/ProgressLine.hpp"
#include "solve/SolveOutcome.hpp"

#include "Ainvil_BiCgStab.hpp"
#include "Ainvil_Cg.hpp"
#include "Ainvil_Gmres.hpp"
#include "Ainvil_Preconditioner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

namespace ainvil {
namespace perf {

template <class Scalar, class Device>
class Runner {
public:
  using Precond = Preconditioner<Scalar, Device>;

  /// Copies the system to the device. \throws InvalidArgument if a value is too large or too small
  /// for Scalar.
  Runner(const CommandLine& command, const LinearSystem& system, ProgressLine& progress,
         MemoryMeter& memory)
      : command_(command), system_(system), progress_(progress), memory_(memory),
        matrix_(toDevice(system.matrix)), operator_(matrix_), b_(toDevice(system.rhs)),
        x_(allocate<Scalar, Device>(exec_, "Ainvil::x", b_.extent(0))) {
    const bool has_guess = system.guess.extent(0) > 0;
    if (system.more.empty()) {
      if (has_guess)
        guess_ = toDevice(system.guess, "initial guess");
      return;
    }
    const size_t columns = system.numColumns();
    all_b_ = allocateView<MultiVector<Scalar, Device>>(exec_, "Ainvil::b", b_.extent(0), columns);
    all_x_ = allocateView<MultiVector<Scalar, Device>>(exec_, "Ainvil::x", b_.extent(0), columns);
    if (has_guess)
      all_guess_ =
          allocateView<MultiVector<Scalar, Device>>(exec_, "Ainvil::guess", b_.extent(0), columns);
    for (size_t c = 0; c < columns; ++c) {
      systems_.push_back(system.withColumn(static_cast<int>(c)));
      Kokkos::deep_copy(exec_, columnOf(all_b_, c), toDevice(systems_.back().rhs));
      if (has_guess)
        Kokkos::deep_copy(exec_, columnOf(all_guess_, c),
                          toDevice(systems_.back().guess, "initial guess"));
    }
    compat::fence(exec_, "Ainvil::solve[columns]");
  }

  /// Whatever stops the run is part of the record.
  RunRecord run(const std::string& specification, Precond& precond) {
    RunRecord record;
    record.precond = specification;
    memory_.resetPeak();
    try {
      repeat(precond, record);
    } catch (const std::exception& error) {
      recordFailure(error, record);
      const std::string order =
          (system_.matching.numRows() > 0 ? " --match " + command_.match : "") +
          (system_.order.numRows() > 0 ? " --reorder " + command_.reorder : "");
      if (record.status == toString(SolveStatus::Breakdown) && !order.empty())
        record.message += " (block rows in the order of" + order + ")";
    }
    record.peak_bytes = memory_.peak();
    return record;
  }

  /// The matrix on the device, in the precision of the runs. \throws InvalidArgument like the
  /// constructor
  static BsrMatrix<Scalar, Device> toDevice(const BsrMatrix<double, HostDevice>& a) {
    const std::vector<double> largest =
        std::is_same<Scalar, double>::value ? std::vector<double>() : largestOfPointRows(a);
    return copyTo<Device>(BsrMatrix<Scalar, HostDevice>(
        a.graph, rounded(a.values, "matrix", [&](size_t i) { return largest[pointRowOf(a, i)]; }),
        a.block_size));
  }

  /// The same for a vector.
  static Vector<Scalar, Device> toDevice(const Vector<double, HostDevice>& b,
                                         const char* what = "right-hand side") {
    double largest = 0;
    for (size_t i = 0; i < b.extent(0); ++i)
      largest = std::fmax(largest, std::fabs(b(i)));
    return copyArray<Device>(rounded(b, what, [=](size_t) { return largest; }), "Ainvil::b");
  }

private:
  using Exec = typename Device::execution_space;

  void repeat(Precond& precond, RunRecord& record) {
    SolverOptions options = solverOptions(command_);
    options.tolerance = smallestTolerance();
    options.progress = [&](int iteration, double rel_residual) {
      throwIfInterrupted();
      if (progress_.isDue())
        progress_.show(message(record.precond, ": iteration ", iteration, ", relative residual ",
                               rel_residual));
    };
    // Only where somebody sees it: for the numbers kernels are cut into pieces. The first number of
    // a phase is shown at once, however short the phase.
    if (progress_.isActive())
      precond.setProgress([this, name = record.precond, shown = std::string()](
                              const char* phase, Offset done, Offset total) mutable {
        throwIfInterrupted();
        if (shown == phase && !progress_.isDue())
          return;
        progress_.show(message(name, ": setup, ", done, " of ", total, " ", phase));
        shown = phase;
      });
    const auto solver = createSolver<Scalar, Device>(command_.solver, options);
    for (int repetition = 0; repetition < command_.repeat; ++repetition) {
      const RunRecord before = beginRepetition(record);
      setUp(precond, record);
      throwIfInterrupted();
      timeApplications(precond, record);
      throwIfInterrupted();
      solve(options, *solver, precond, record);
      endRepetition(before, record);
    }
  }

  /// Of all right-hand sides.
  double smallestTolerance() const {
    double smallest = toleranceOf(command_, system_);
    for (const LinearSystem& system : systems_)
      smallest = std::fmin(smallest, toleranceOf(command_, system));
    return smallest;
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
    precond.diagnose(exec_, matrix_);
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

  static Vector<Scalar, Device> columnOf(const MultiVector<Scalar, Device>& x, size_t column) {
    return Kokkos::subview(x, Kokkos::ALL(), column);
  }

  /// Of several right-hand sides.
  void solveAll(const SolverOptions& options, KrylovSolver<Scalar, Device>& solver,
                const Precond& precond, RunRecord& record) {
    start(all_guess_, all_x_);
    double seconds = 0;
    std::vector<SolveResult> results;
    seconds += timed([&] { results = solver.solve(exec_, operator_, &precond, all_b_, all_x_); });
    record.columns.assign(results.size(), {});
    for (size_t c = 0; c < results.size(); ++c) {
      record.columns[c].iterations = 0;
      const Column column{systems_[c], columnOf(all_b_, c), columnOf(all_x_, c)};
      goOn(take(results[c], column, record.columns[c]), options, column, precond, record.columns[c],
           seconds);
    }
    sumUpColumns(record);
    record.solve_seconds = seconds;
  }

  /// x <- the guess, or zeros where there is none.
  template <class View>
  void start(const View& guess, const View& x) const {
    if (guess.extent(0) > 0)
      Kokkos::deep_copy(exec_, x, guess);
    else
      Kokkos::deep_copy(exec_, x, Scalar(0));
  }

  /// True if the guess is within the tolerance of the command line: the solver's own system may be
  /// scaled. Not for b = 0, of which solvers make x = 0.
  bool guessSuffices(RunRecord& record) const {
    if (guess_.extent(0) == 0 || normOf(system_.rhs) == 0)
      return false;
    record.converged = false;
    record.solution = toHost(x_);
    judge(command_, system_, record);
    if (record.converged)
      record.history = {command_.isScaled() ? record.scaled_rel_residual : record.rel_residual};
    return record.converged;
  }

  /// Solves from the guess. The solver stops by the residual of its own system, which may be scaled
  /// or rounded; where that of the command line is not small enough yet, it goes on from there with
  /// a smaller tolerance, as long as this helps.
  void solve(SolverOptions options, KrylovSolver<Scalar, Device>& solver, const Precond& precond,
             RunRecord& record) {
    if (!systems_.empty())
      return solveAll(options, solver, precond, record);
    start(guess_, x_);
    record.iterations = 0;
    record.history.clear();
    double seconds = 0;
    const Column column{system_, b_, x_};
    if (!guessSuffices(record))
      goOn(iterate(solver, column, precond, record, seconds), options, column, precond, record,
           seconds);
    record.solve_seconds = seconds;
  }

  /// A right-hand side, the system with it alone, and the iterate.
  struct Column {
    const LinearSystem& system;
    Vector<Scalar, Device> b, x;
  };

  /// What the solver reached of its own system, if it is content and the judgement of the solution
  /// is not.
  using Reached = std::optional<double>;

  /// Solves on with smaller tolerances, as long as this helps.
  void goOn(Reached reached, SolverOptions options, const Column& column, const Precond& precond,
            RunRecord& record, double& seconds) {
    while (reached) {
      const double before = record.decisiveResidual(command_);
      options.tolerance = smallerTolerance(options.tolerance, *reached,
                                           toleranceOf(command_, column.system), before);
      options.max_iterations = command_.max_iterations - record.iterations;
      reached = iterate(*createSolver<Scalar, Device>(command_.solver, options), column, precond,
                        record, seconds);
      if (!(record.decisiveResidual(command_) <= 0.9 * before))
        return;
    }
  }

  /// Goes on from x and judges what it has become.
  Reached iterate(KrylovSolver<Scalar, Device>& solver, const Column& column,
                  const Precond& precond, RunRecord& record, double& seconds) {
    SolveResult result;
    try {
      seconds +=
          timed([&] { result = solver.solve(exec_, operator_, &precond, column.b, column.x); });
    } catch (const Interrupted&) {
      record.solution = toHost(column.x); // as far as it has come
      judge(command_, column.system, record);
      throw;
    }
    return take(result, column, record);
  }

  /// Takes what the solver made of a column and judges it.
  Reached take(const SolveResult& result, const Column& column, RunRecord& record) {
    const bool content = result.status == SolveStatus::Converged;
    record.converged = content;
    record.status = toString(result.status);
    record.message = result.message;
    record.iterations += result.iterations;
    const bool first = record.history.empty();
    record.history.insert(record.history.end(), result.history.begin() + (first ? 0 : 1),
                          result.history.end());
    record.solution = toHost(column.x);
    judge(command_, column.system, record);
    if (!content || record.converged || record.iterations >= command_.max_iterations ||
        !std::isfinite(record.decisiveResidual(command_)))
      return {};
    return result.true_rel_residual;
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

  /// The point row of value i of a matrix.
  static size_t pointRowOf(const BsrMatrix<double, HostDevice>& a, size_t i) {
    const size_t bs = a.block_size;
    const Offset* const first = a.graph.row_map.data();
    const Offset* const next =
        std::upper_bound(first, first + a.graph.num_rows + 1, Offset(i / (bs * bs)));
    return size_t(next - first - 1) * bs + i % (bs * bs) / bs;
  }

  /// The largest moduli in them.
  static std::vector<double> largestOfPointRows(const BsrMatrix<double, HostDevice>& a) {
    std::vector<double> largest(size_t(a.numPointRows()), 0.0);
    const size_t bs = a.block_size;
    for (size_t row = 0; row < size_t(a.numRows()); ++row)
      for (size_t i = size_t(a.graph.row_map(row)) * bs * bs;
           i < size_t(a.graph.row_map(row + 1)) * bs * bs; ++i) {
        double& of_row = largest[row * bs + i % (bs * bs) / bs];
        of_row = std::fmax(of_row, std::fabs(a.values(i)));
      }
    return largest;
  }

  /// Values in the precision of the runs; shared where that is double. A value that would become 0
  /// is let go only where it is below rounding beside largestBeside(i), the largest of the values
  /// that it is added to.
  template <class View, class LargestBeside>
  static auto rounded(const View& values, const char* what, const LargestBeside& largestBeside) {
    if constexpr (std::is_same<Scalar, double>::value) {
      return values;
    } else {
      using Rounded = Kokkos::View<Scalar*, typename View::array_layout, HostDevice>;
      using Limits = std::numeric_limits<Scalar>;
      const auto result =
          allocateView<Rounded>(HostDevice::execution_space(), "Ainvil::rounded", values.extent(0));
      const auto refuse = [&](double value, const char* size) {
        throw InvalidArgument(message("the value ", value, " of the ", what, " is too ", size,
                                      " for --precision float: scale the system or use double"));
      };
      for (size_t i = 0; i < values.extent(0); ++i) {
        const double size = std::fabs(values(i));
        if (size > double(Limits::max()))
          refuse(values(i), "large");
        if (size > 0 && size < double(Limits::min()) &&
            size > double(Limits::epsilon()) * largestBeside(i))
          refuse(values(i), "small");
        result(i) = static_cast<Scalar>(values(i));
      }
      return result;
    }
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
  Vector<Scalar, Device> b_, x_; ///< of the first right-hand side
  Vector<Scalar, Device> guess_; ///< of the only one, if there is a guess
  // Of several ones, else empty.
  std::vector<LinearSystem> systems_;
  MultiVector<Scalar, Device> all_b_, all_x_, all_guess_;
};

} // namespace perf
} // namespace ainvil
