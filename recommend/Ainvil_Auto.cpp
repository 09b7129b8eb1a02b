// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Recommend.hpp"

#include "Ainvil_Factory.hpp"
#include "parameters/Ainvil_ParameterTable.hpp"
#include "product/Ainvil_Probes.hpp"
#include "product/Ainvil_Spmv.hpp"
#include "race/Ainvil_Race.hpp"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace ainvil {
namespace {

/// As RecommendOptions calls them.
constexpr std::initializer_list<std::pair<const char*, RaceSolver>> solver_names = {
    {"gmres", RaceSolver::Gmres},
    {"fgmres", RaceSolver::Fgmres},
    {"cg", RaceSolver::Cg},
    {"bicgstab", RaceSolver::BiCgStab},
    {detail::usual_solver, RaceSolver::Usual}};

const char* nameOf(RaceSolver solver) {
  return std::find_if(solver_names.begin(), solver_names.end(),
                      [&](const auto& named) { return named.second == solver; })
      ->first;
}

bool restarts(const AutoParameters& parameters) {
  return parameters.solver != RaceSolver::Cg && parameters.solver != RaceSolver::BiCgStab;
}

/// A z for a z of random entries +-1: there is a solution even where A is singular.
template <class Scalar, class Device>
Vector<Scalar, Device> rightHandSide(const typename Device::execution_space& exec,
                                     const BsrMatrix<Scalar, Device>& a) {
  const auto z = allocate<Scalar, Device>(exec, "Ainvil::z", a.numPointRows());
  const auto b = allocate<Scalar, Device>(exec, "Ainvil::b", a.numPointRows());
  detail::fillProbes<Scalar, Device>(exec, asColumn(z));
  spmv<Scalar, Scalar, Device>(exec, Trans::No, Scalar(1), a, asColumn(z), Scalar(0), asColumn(b));
  return b;
}

} // namespace

const ParameterTable<AutoParameters>& AutoParameters::table() {
  using P = AutoParameters;
  const auto make = [] {
    ParameterTable<P> table;
    table
        .choice("solver", "auto: solver", &P::solver, solver_names,
                "the solver that the preconditioner is for")
        .details("usual: cg where the matrix looks SPD, else gmres.")
        .integer("restart", "auto: restart", &P::restart, 1, "its restart length")
        .onlyIf(restarts, "solver=gmres, fgmres or usual")
        .number("tolerance", "auto: tolerance", &P::tolerance, NumberRange::Positive,
                "relative residual that the solve is to reach")
        .below(1)
        .integer("max-iterations", "auto: maximum iterations", &P::max_iterations, 1,
                 "most iterations of a solve")
        .number("budget", "auto: budget", &P::budget, NumberRange::Positive,
                "the race may take so many times what the best takes")
        .details("The more solves and matrices of the same pattern follow, the larger it may be.")
        .number("seconds", "auto: seconds", &P::seconds, NumberRange::Positive,
                "it ends after so many seconds at any rate")
        .describedBy({"solver", "restart", "tolerance", "budget"});
    return table;
  };
  static const ParameterTable<P> table = make();
  return table;
}

template <class Scalar, class Device>
Auto<Scalar, Device>::Auto(const AutoParameters& parameters)
    : parameters_(parameterTable().checked(parameters)) {
  for (const std::string& specification : parameters_.among)
    createPreconditioner<Scalar, Device>(specification); // refuses what it does not understand
}

template <class Scalar, class Device>
std::string Auto<Scalar, Device>::description() const {
  std::string of_race = message("auto: {", parameterTable().describe(parameters_), "}");
  if (!parameters_.among.empty())
    of_race += message(" among ", parameters_.among.size(), " from ", parameters_.among.front());
  return inner_ == nullptr ? of_race : message(of_race, ", chosen: ", inner_->description());
}

template <class Scalar, class Device>
void Auto<Scalar, Device>::doInitialize(const execution_space&, const Matrix&) {
  inner_ = nullptr;
  chosen_.clear();
}

/// What solves in float reach: with a smaller tolerance all would fail for it.
template <class Scalar>
constexpr double least_tolerance = std::is_same<Scalar, float>::value
                                       ? 1000.0 * std::numeric_limits<float>::epsilon()
                                       : 0;

template <class Scalar, class Device>
void Auto<Scalar, Device>::choose(const execution_space& exec, const Matrix& a) {
  RecommendOptions options;
  options.solver = nameOf(parameters_.solver);
  options.restart = parameters_.restart;
  options.preconds = parameters_.among;
  options.own_blocks = true;
  options.tolerance = std::max(parameters_.tolerance, least_tolerance<Scalar>);
  options.max_iterations = parameters_.max_iterations;
  options.budget = parameters_.seconds;
  options.times_of_best = parameters_.budget;
  options.seconds_besides = 0;
  const Recommendation found =
      recommend<Scalar, Device>(exec, a, rightHandSide<Scalar, Device>(exec, a), options);
  chosen_ = found.specification;
  if (chosen_.empty()) // of what was given the first tells what is wrong
    chosen_ = parameters_.among.empty() ? "none" : parameters_.among.front();
  note_ = message("chose ", chosen_, " of ", found.race.size(), " tried");
  if (!found.converged())
    note_ += ", none of which converged: it came closest";
}

template <class Scalar, class Device>
void Auto<Scalar, Device>::takeReport() {
  report_ = inner_->report();
  report_.phases.set("race", race_seconds_);
  report_.notes = note_;
  if (!inner_->report().notes.empty())
    report_.note(inner_->report().notes);
}

template <class Scalar, class Device>
void Auto<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  if (inner_ != nullptr)
    try {
      inner_->compute(exec, a);
    } catch (const BreakdownError&) { // what was chosen does not suit these values
      inner_ = nullptr;
    }
  if (inner_ == nullptr) {
    PhaseTimes phases;
    phases.time(exec, "Auto", "race", [&] { choose(exec, a); });
    race_seconds_ = phases.total();
    auto inner = createPreconditioner<Scalar, Device>(chosen_);
    inner->initialize(exec, a);
    inner->compute(exec, a);
    inner_ = std::move(inner);
  }
  takeReport();
}

template <class Scalar, class Device>
void Auto<Scalar, Device>::doDiagnose(const execution_space& exec, const Matrix& a) {
  inner_->diagnose(exec, a);
  takeReport();
}

template <class Scalar, class Device>
void Auto<Scalar, Device>::doApply(const execution_space& exec,
                                   MultiVectorArg<const Scalar, Device> x,
                                   MultiVectorArg<Scalar, Device> y, Trans trans) const {
  inner_->apply(exec, x, y, trans);
}

AINVIL_INSTANTIATE_CLASS(Auto)

} // namespace ainvil
