// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Compares AINV, SAINV and BAINV as preconditioners of CG on SPD systems that are scaled by their
/// column norms, as the thesis does in its tables 7.2 to 7.9.

#include "program/KokkosProgram.hpp"
#include "program/Measure.hpp"
#include "studies/InverseFactorsFormats.hpp"

#include "Ainvil_Cg.hpp"
#include "Ainvil_Factory.hpp"
#include "ainv/Ainvil_InverseFactors.hpp"
#include "io/Ainvil_Files.hpp"

#include <iostream>
#include <set>
#include <type_traits>

namespace {

using namespace ainvil;
using namespace ainvil::perf;

using Options = InverseFactorsOptions;

/// One row of a table.
struct Setting {
  std::string method; ///< none, jacobi, ainv, sainv or bainv
  double drop = not_measured;
  int parts = 1;

  bool isAinv() const { return method != "none" && method != "jacobi"; }
};

struct Outcome {
  Report report;
  SolveResult result;
  Cell rounds = not_measured, edge_cut = not_measured, largest = not_measured;
  std::vector<double> initialize, compute, solve; ///< seconds
};

std::vector<Column> columns() {
  const auto time = [](const char* name, const char* title) { return Column{name, title, 8, 1e3}; };
  return {{"method", "method", -6},
          {"drop", "drop", 7},
          {"parts", "parts", 5},
          {"order", "", 0},
          {"factor_entries", "entries", 9},
          {"rounds", "rounds", 6},
          {"edge_cut", "edge cut", 8},
          {"largest_part", "largest", 7},
          time("initialize_seconds", "order ms"),
          time("compute_seconds", "fact. ms"),
          {"setup_seconds", "", 0},
          {"iterations", "iters", 6},
          time("solve_seconds", "solve ms"),
          time("total_seconds", "total ms"),
          {"status", "status", -9},
          {"rel_residual", "", 0},
          {"breakdowns", "", 0},
          {"message", "", 0}};
}

std::vector<Cell> cells(const Options& options, const Setting& setting, const Outcome& outcome) {
  const auto median = [](const std::vector<double>& seconds) { return Statistics(seconds).median; };
  const double initialize = median(outcome.initialize), compute = median(outcome.compute);
  const double setup = initialize + compute, solve = median(outcome.solve);
  const SolveResult& result = outcome.result;
  const bool solved = !outcome.solve.empty();
  const auto ifAinv = [&](const Cell& cell) { return setting.isAinv() ? cell : not_measured; };
  return {setting.method,
          setting.drop,
          ifAinv(Offset(setting.parts)),
          setting.isAinv() ? options.order : "",
          outcome.report.factor_entries,
          outcome.rounds,
          outcome.edge_cut,
          outcome.largest,
          initialize,
          compute,
          setup,
          solved ? Cell(Offset(result.iterations)) : not_measured,
          solve,
          setup + solve,
          toString(result.status),
          solved ? result.true_rel_residual : not_measured,
          outcome.report.breakdowns,
          result.message};
}

template <class Device>
class Bench {
public:
  Bench(const Options& options, const LinearSystem& system)
      : options_(options), a_(copyTo<Device>(system.matrix)), operator_(a_),
        b_(Kokkos::create_mirror_view_and_copy(typename Device::memory_space(), system.rhs)),
        x_(Kokkos::view_alloc(exec_, Kokkos::WithoutInitializing, "Ainvil::x"), b_.extent(0)),
        cg_(solverOptions(options)) {}

  /// The first of each method is run once more, as kernels may be loaded when they first run.
  Outcome run(const Setting& setting) {
    Outcome outcome, warm_up;
    try {
      if (warm_.insert(setting.method).second)
        runOnce(setting, warm_up);
      for (int repetition = 0; repetition < options_.repeat; ++repetition)
        runOnce(setting, outcome);
    } catch (const BreakdownError& error) {
      outcome.result.status = SolveStatus::Breakdown;
      outcome.result.message = error.what();
    }
    return outcome;
  }

  /// The setting of the method with about as many entries: from 1 down the tolerance is halved
  /// until there are at least as many, then the last interval is.
  Setting ofSize(const std::string& method, Offset entries) {
    Setting setting{method, 1};
    double above = 1, below = 0;
    for (int step = 0; step < 40 && above > 1e-9; ++step) {
      const Offset found = entriesOf(setting);
      if (std::abs(found - entries) <= entries / 100)
        break;
      (found < entries ? above : below) = setting.drop;
      setting.drop = below > 0 ? std::sqrt(above * below) : above / 2;
      if (above < 1.001 * below)
        break;
    }
    return setting;
  }

private:
  AinvParameters parametersOf(const Setting& setting) const {
    AinvParameters parameters = ainvParameters(options_, setting.drop);
    parameters.stabilized = setting.method != "ainv";
    parameters.parts = setting.parts;
    return parameters;
  }

  Offset entriesOf(const Setting& setting) const {
    AinvParameters parameters = parametersOf(setting);
    parameters.breakdown = BreakdownPolicy::Replace;
    Ainv<double, Device> ainv(parameters);
    ainv.initialize(exec_, a_);
    ainv.compute(exec_, a_);
    return ainv.report().factor_entries;
  }

  void runOnce(const Setting& setting, Outcome& outcome) {
    if (setting.method == "none") {
      solve(nullptr, outcome);
    } else if (setting.method == "jacobi") {
      const auto jacobi = createPreconditioner<double, Device>("jacobi");
      setUp(*jacobi, outcome);
      solve(jacobi.get(), outcome);
    } else {
      Ainv<double, Device> ainv(parametersOf(setting));
      setUp(ainv, outcome);
      outcome.rounds = Offset(ainv.factors().rounds());
      if (setting.method == "bainv") {
        outcome.edge_cut = ainv.edgeCut();
        outcome.largest = Offset(ainv.largestPart());
      }
      solve(&ainv, outcome);
    }
  }

  void setUp(Preconditioner<double, Device>& m, Outcome& outcome) {
    outcome.initialize.push_back(secondsOnce(exec_, [&] { m.initialize(exec_, a_); }));
    outcome.compute.push_back(secondsOnce(exec_, [&] { m.compute(exec_, a_); }));
    outcome.report = m.report();
  }

  void solve(const Preconditioner<double, Device>* m, Outcome& outcome) {
    Kokkos::deep_copy(exec_, x_, 0.0);
    outcome.solve.push_back(
        secondsOnce(exec_, [&] { outcome.result = cg_.solve(exec_, operator_, m, b_, x_); }));
  }

  const Options& options_;
  typename Device::execution_space exec_;
  BsrMatrix<double, Device> a_;
  MatrixOperator<double, Device> operator_;
  Vector<double, Device> b_, x_;
  Cg<double, Device> cg_;
  std::set<std::string> warm_; ///< methods
};

template <class Device>
void measure(const Options& options, const NamedSystem& named, Results& results) {
  results.start(named, describe(typename Device::execution_space()));
  if (options.study == "formats") {
    studyFormats<Device>(options, named.system, results);
    return;
  }
  Bench<Device> bench(options, named.system);
  const auto add = [&](const Setting& setting) {
    const Outcome outcome = bench.run(setting);
    results.add(cells(options, setting, outcome));
    return outcome.report.factor_entries;
  };
  if (options.study == "compare") {
    add({"none"});
    add({"jacobi"});
    for (const double drop : options.drops)
      for (const char* method : {"ainv", "sainv"})
        add({method, drop});
  }
  for (const int parts : options.parts)
    for (const double drop : options.drops) {
      const Offset entries = add({"bainv", drop, parts});
      if (options.study == "size" && entries > 0)
        for (const char* method : {"ainv", "sainv"})
          add(bench.ofSize(method, entries));
    }
}

ExitCode run(const Arguments& arguments) {
  const Options options = parseInverseFactorsOptions(arguments.own);
  if (!options.help.empty()) {
    std::cout << options.help;
    return success;
  }
  for (const std::string& path : {options.csv, options.json})
    if (!path.empty() && path != "-")
      checkWritable(path);
  const KokkosScope scope(arguments);
  const auto make = [&](size_t k) {
    CommandLine command = options.system(k);
    command.preconds = {"jacobi"}; // refuses zeros on the diagonal
    command.rhs = RhsKind::ScaledRowSum;
    command.scale = "norm";
    if (options.study == "formats")
      command.block_size = 1; // the only one that all of them have
    return makeNamedSystem(command);
  };
  runStudy(options, options.study == "formats" ? formatColumns() : columns(), make,
           [&](const NamedSystem& named, Results& results) {
             constexpr bool one_space = std::is_same<HostDevice, DefaultDevice>::value;
             if (options.exec == "host" || (options.exec == "both" && !one_space))
               measure<HostDevice>(options, named, results);
             if (options.exec != "host")
               measure<DefaultDevice>(options, named, results);
           });
  return success;
}

} // namespace

int main(int argc, char** argv) {
  return ainvil::perf::runProgram("ainvil-inverse-factors", argc, argv, run);
}
