// SPDX-License-Identifier: BSD-3-Clause
#include "program/Measure.hpp"
#include "studies/SweepsStudy.hpp"
#include "studies/SweepsTriangle.hpp"

#include "Ainvil_Gmres.hpp"
#include "Ainvil_Ilu.hpp"

namespace ainvil {
namespace perf {
namespace {

/// FGMRES, since asynchronous sweeps are another operator at each application.
template <class Device>
Gmres<double, Device> makeSolver(const SolverOptions& options) {
  return Gmres<double, Device>(options, Flexible::Yes);
}

/// One preconditioner of the study.
template <class Device>
struct Setting {
  int factor_sweeps;
  TriangularSolverMaker<double, Device> solve;
  const char* method; ///< of the triangular solves
  int sweeps;         ///< of the triangular solves

  /// It is the first to run some kernels, and kernels may be loaded when they first run.
  bool isFirstOfItsKind() const { return std::max(sweeps, factor_sweeps) <= 1; }

  IluParameters<double, Device> parameters() const {
    BlockIluParameters factorization;
    factorization.sweeps = factor_sweeps;
    IluParameters<double, Device> parameters;
    parameters.factorization = factorization;
    parameters.solve = solve;
    return parameters;
  }
};

template <class Device>
std::vector<Setting<Device>> settings(const SweepsOptions& options) {
  std::vector<Setting<Device>> all;
  const auto add = [&](int factor_sweeps, const TriangularSolverMaker<double, Device>& solve,
                       const char* method, int sweeps) {
    all.push_back({factor_sweeps, solve, method, sweeps});
  };
  add(0, ExactParameters(), "exact", 0);
  for (const SweepMethod& method : {jacobi_sweeps, async_sweeps})
    for (int sweeps = 1; sweeps <= options.sweeps; ++sweeps)
      add(0, sweepParameters(method, sweeps), method.name, sweeps);
  for (int sweeps = 1; sweeps <= options.factor_sweeps; ++sweeps)
    add(sweeps, ExactParameters(), "exact", 0);
  return all;
}

struct Outcome {
  std::vector<double> setup_seconds, solve_seconds, iterations;
  std::string status, message;
  double residual = not_measured;
};

template <class Device>
class SolveStudy {
public:
  SolveStudy(const SweepsOptions& options, const LinearSystem& system)
      : options_(options), a_(copyTo<Device>(system.matrix)), operator_(a_),
        b_(Kokkos::create_mirror_view_and_copy(typename Device::memory_space(), system.rhs)),
        x_(Kokkos::view_alloc(exec_, Kokkos::WithoutInitializing, "Ainvil::x"), b_.extent(0)),
        solver_(makeSolver<Device>(solverOptions(options))) {}

  Outcome run(const Setting<Device>& setting) {
    Outcome outcome, warm_up;
    try {
      if (setting.isFirstOfItsKind())
        runOnce(setting, warm_up);
      for (int repetition = 0; repetition < options_.repeat; ++repetition)
        runOnce(setting, outcome);
    } catch (const BreakdownError& error) {
      refuse(outcome, toString(SolveStatus::Breakdown), error.what());
    }
    return outcome;
  }

private:
  static SolverOptions solverOptions(const SweepsOptions& options) {
    SolverOptions result;
    result.tolerance = options.tolerance;
    result.max_iterations = options.max_iterations;
    result.restart = options.restart;
    return result;
  }

  static void refuse(Outcome& outcome, const std::string& status, const std::string& reason) {
    outcome.status = status;
    outcome.message = reason;
  }

  void runOnce(const Setting<Device>& setting, Outcome& outcome) {
    Ilu<double, Device> ilu(setting.parameters());
    outcome.setup_seconds.push_back(secondsOnce(exec_, [&] {
      ilu.initialize(exec_, a_);
      ilu.compute(exec_, a_);
    }));
    if (!ilu.objection().empty())
      return refuse(outcome, "refused", ilu.objection());
    Kokkos::deep_copy(exec_, x_, 0.0);
    SolveResult result;
    outcome.solve_seconds.push_back(
        secondsOnce(exec_, [&] { result = solver_.solve(exec_, operator_, &ilu, b_, x_); }));
    outcome.iterations.push_back(result.iterations);
    outcome.status = toString(result.status);
    outcome.message = result.message;
    outcome.residual = result.true_rel_residual;
  }

  const SweepsOptions& options_;
  typename Device::execution_space exec_;
  BsrMatrix<double, Device> a_;
  MatrixOperator<double, Device> operator_;
  Vector<double, Device> b_, x_;
  Gmres<double, Device> solver_;
};

} // namespace

std::vector<Column> solveColumns() {
  return {{"factor_sweeps", "ILU sweeps", 10},
          {"method", "solves", -6},
          {"sweeps", "sweeps", 6},
          {"iterations", "iters", 6},
          {"iterations_min", "", 0},
          {"iterations_max", "", 0},
          {"status", "status", -14},
          {"rel_residual", "residual"},
          milliseconds("setup_seconds", "setup ms"),
          milliseconds("solve_seconds", "solve ms"),
          milliseconds("total_seconds", "total ms"),
          {"message", "", 0}};
}

template <class Device>
void studySolve(const SweepsOptions& options, const LinearSystem& system, Results& results) {
  SolveStudy<Device> study(options, system);
  for (const Setting<Device>& setting : settings<Device>(options)) {
    const Outcome outcome = study.run(setting);
    const Statistics iterations(outcome.iterations);
    const double setup_seconds = Statistics(outcome.setup_seconds).median;
    const double solve_seconds = Statistics(outcome.solve_seconds).median;
    results.add({Offset(setting.factor_sweeps), setting.method, Offset(setting.sweeps),
                 iterations.median, iterations.min, iterations.max, outcome.status,
                 outcome.residual, setup_seconds, solve_seconds, setup_seconds + solve_seconds,
                 outcome.message});
  }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template void studySolve<DEVICE>(const SweepsOptions&, const LinearSystem&, Results&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace perf
} // namespace ainvil
