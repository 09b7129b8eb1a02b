// SPDX-License-Identifier: BSD-3-Clause
#include "race/Ainvil_Race.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"
#include "dense/Ainvil_BlockArrays.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

namespace ainvil {
namespace detail {
namespace {

// Of the times of its best, and of the seconds besides, that a race may take: when the play-off
// ends it.
constexpr double part_of_times = 2.9 / 3, part_of_seconds = 0.9;

/// Of two that are ahead in nothing, the one that came first.
template <class RunPtr, class Key>
void sortBy(std::vector<RunPtr>& runs, const Key& key) {
  std::stable_sort(runs.begin(), runs.end(),
                   [&](const RunPtr& p, const RunPtr& q) { return key(*p) < key(*q); });
}

/// The matrix itself where its rows are sorted. \throws InvalidArgument if its graph is not valid
template <class Scalar, class Device>
BsrMatrix<Scalar, Device> sortedRows(const typename Device::execution_space& exec,
                                     const BsrMatrix<Scalar, Device>& a) {
  if (validate(exec, a.graph))
    return a;
  const auto sorted = sortRows(exec, a.graph);
  const auto values = allocate<Scalar, Device>(exec, "Ainvil::values", a.values.extent(0));
  gatherBlocks<Scalar, Device>(exec, Trans::No, sorted.source, a.block_size, a.values, values);
  return {sorted.graph, values, a.block_size};
}

} // namespace

template <class Scalar, class Device>
Race<Scalar, Device>::Race(const Exec& exec, const BsrMatrix<Scalar, Device>& a,
                           Vector<const Scalar, Device> b, RecommendOptions options)
    : exec_(exec), options_(std::move(options)), b_(b) {
  if (!options_.clock)
    options_.clock = [timer = std::make_shared<Kokkos::Timer>()] { return timer->seconds(); };
  start_ = options_.clock();
  const auto sorted = sortedRows<Scalar, Device>(exec_, a);
  systems_[a.block_size] = {sorted,
                            std::make_unique<MatrixOperator<Scalar, Device>>(sorted, exec_)};
  traits_ = traitsOf<Scalar, Device>(exec_, sorted);
  SolverOptions measuring;
  measuring.max_iterations = 0;
  measure_ = createSolver<Scalar, Device>("cg", measuring);
}

template <class Scalar, class Device>
double Race<Scalar, Device>::digits() const {
  return -std::log10(options_.tolerance);
}

template <class Scalar, class Device>
void Race<Scalar, Device>::tell(const Run* running) {
  if (!options_.progress)
    return;
  const Run* const leader = leader_.get();
  const RaceState state{now(), leader != nullptr ? &leader->entry : nullptr,
                        leader != nullptr ? predicted(*leader) : infinity,
                        running != nullptr ? &running->entry : nullptr};
  interrupted_ = interrupted_ || !options_.progress(state);
}

template <class Scalar, class Device>
typename Race<Scalar, Device>::System& Race<Scalar, Device>::system(int block_size) {
  System& system = systems_[block_size];
  if (system.op == nullptr) {
    system.matrix =
        toBlocks<Scalar, Device>(exec_, systems_.at(traits_.block_size).matrix, block_size);
    system.op = std::make_unique<MatrixOperator<Scalar, Device>>(system.matrix, exec_);
  }
  return system;
}

/// One with the tolerance of the race, and with a workspace where another run has left it.
template <class Scalar, class Device>
std::unique_ptr<KrylovSolver<Scalar, Device>>
Race<Scalar, Device>::takeSolver(const Configuration& configuration) {
  const auto left = solvers_.find({configuration.solver, configuration.restart});
  if (left != solvers_.end())
    return std::move(solvers_.extract(left).mapped());
  SolverOptions options;
  options.tolerance = options_.tolerance;
  options.max_iterations = options_.max_iterations;
  options.restart = configuration.restart;
  options.progress = [this](int iteration, double residual) { watch(iteration, residual); };
  return createSolver<Scalar, Device>(configuration.solver, options);
}

/// Leaves its workspace to others.
template <class Scalar, class Device>
void Race<Scalar, Device>::giveSolver(Run& run) {
  if (run.solver != nullptr)
    solvers_.emplace(std::make_pair(run.entry.solver, run.entry.restart), std::move(run.solver));
}

/// The solvers of a candidate, or the one that the race is for: what is made for others may do
/// with it, but CG is left to candidates for symmetric matrices where A may be one.
template <class Scalar, class Device>
std::vector<std::pair<std::string, int>>
Race<Scalar, Device>::solversOf(const Candidate& candidate) const {
  if (options_.own_blocks && candidate.block_size != traits_.block_size)
    return {};
  if (options_.solver.empty())
    return candidate.solvers;
  std::string name = options_.solver;
  if (name == usual_solver)
    name = traits_.maybeSpd() ? "cg" : "gmres";
  const auto suits = [&](const auto& solver) { return solver.first == name; };
  if (name == "cg" && traits_.maybeSpd() && options_.preconds.empty() &&
      std::none_of(candidate.solvers.begin(), candidate.solvers.end(), suits))
    return {};
  return {{name, options_.restart}};
}

/// True unless the race has had it before.
template <class Scalar, class Device>
bool Race<Scalar, Device>::add(const Candidate& candidate) {
  bool is_new = false;
  for (const auto& [solver, restart] : solversOf(candidate)) {
    const auto same = [&, name = solver, length = restart](const RunPtr& run) {
      return run->entry.precond == candidate.precond && run->entry.solver == name &&
             run->entry.block_size == candidate.block_size && run->entry.restart == length;
    };
    const auto known = std::find_if(runs_.begin(), runs_.end(), same);
    if (known != runs_.end()) {
      (*known)->is_neighbour = best_ != nullptr;
      continue;
    }
    auto run = std::make_shared<Run>();
    static_cast<Configuration&>(run->entry) = {solver, restart, candidate.precond,
                                               candidate.block_size};
    run->parent = candidate.parent;
    run->growth = candidate.growth;
    run->is_neighbour = best_ != nullptr;
    runs_.push_back(run);
    is_new = true;
  }
  return is_new;
}

/// A few steps of CG by the diagonal alone: an indefinite matrix is mostly found out.
template <class Scalar, class Device>
void Race<Scalar, Device>::probe() {
  if (!traits_.maybeSpd())
    return;
  constexpr int steps = 10;
  SolverOptions options;
  options.tolerance = options_.tolerance;
  options.max_iterations = steps;
  const auto x = allocateZeros<Scalar, Device>(exec_, "Ainvil::x", b_.extent(0));
  const auto result = createSolver<Scalar, Device>("cg", options)
                          ->solve(exec_, *system(traits_.block_size).op, nullptr, b_, x);
  traits_.indefinite = result.status == SolveStatus::Breakdown;
}

template <class Scalar, class Device>
std::vector<double> Race<Scalar, Device>::toHost(const Vector<Scalar, Device>& x) const {
  const auto mirror = hostMirror(x);
  Kokkos::deep_copy(exec_, mirror, x);
  compat::fence(exec_, "Ainvil::recommend");
  return std::vector<double>(mirror.data(), mirror.data() + mirror.extent(0));
}

/// Where nothing has converged, that of the smallest residual.
template <class Scalar, class Device>
void Race<Scalar, Device>::keepSolution(const Run& run) {
  const bool better = x_of_ == nullptr || run.entry.rel_residual < x_of_->entry.rel_residual;
  if (best_ != nullptr || run.x.extent(0) == 0 || !std::isfinite(run.entry.rel_residual) || !better)
    return;
  x_ = toHost(run.x);
  x_of_ = &run;
}

template <class Scalar, class Device>
void Race<Scalar, Device>::end(Run& run, const std::string& status, const std::string& reason) {
  run.entry.status = status;
  run.entry.reason = reason;
  run.entry.ended = now();
  if (run.x.extent(0) > 0 && !run.entry.converged())
    run.entry.rel_residual =
        measure_->solve(exec_, *system(traits_.block_size).op, nullptr, b_, run.x)
            .true_rel_residual;
  if (!run.entry.converged())
    keepSolution(run);
  if (options_.ended)
    options_.ended(run.entry, run.x.extent(0) > 0 ? toHost(run.x) : std::vector<double>());
  for (const RunPtr& pointer : runs_)
    if (pointer.get() == &run)
      ended_.push_back(pointer);
  giveSolver(run);
  if (run.entry.converged())
    return;
  run.x = {};
  run.setup = nullptr;
}

template <class Scalar, class Device>
std::vector<typename Race<Scalar, Device>::RunPtr> Race<Scalar, Device>::alive() const {
  std::vector<RunPtr> alive;
  for (const RunPtr& run : runs_)
    if (!run->hasEnded())
      alive.push_back(run);
  return alive;
}

/// Lets a run begin anew.
template <class Scalar, class Device>
void Race<Scalar, Device>::forget(Run& run) {
  run.setup = nullptr;
  run.solver = nullptr;
  run.x = {};
  run.course = Course();
  run.seconds_before = run.entry.solve_seconds = 0;
  run.entry.iterations = 0;
  run.entry.course.clear();
}

/// Frees what paused runs hold, which then begin anew. False if there is nothing.
template <class Scalar, class Device>
bool Race<Scalar, Device>::freeOthers(const Run& but) {
  bool freed = false;
  for (const RunPtr& run : runs_) {
    if (run.get() == &but || run->setup == nullptr)
      continue;
    freed = true;
    if (run->hasEnded())
      run->setup = nullptr;
    else
      forget(*run);
  }
  solvers_.clear();
  return freed;
}

/// Adds the neighbours of the best, once for each best. False if there are none.
template <class Scalar, class Device>
bool Race<Scalar, Device>::deepen() {
  if (best_ == nullptr || deepened_ == best_ || !options_.preconds.empty())
    return false;
  deepened_ = best_;
  bool added = false;
  for (const Candidate& candidate : neighbours(best_->entry, traits_, compat::IsGpu<Exec>::value))
    added = add(candidate) || added;
  return added;
}

/// The fastest few once more, from a new set-up, as long as their times are so short that the first
/// of all runs or a page fault may have decided.
template <class Scalar, class Device>
void Race<Scalar, Device>::playOff() {
  constexpr size_t most = compat::IsGpu<Exec>::value ? 10 : 3;
  std::vector<RunPtr> finalists;
  for (const RunPtr& run : ended_)
    if (run->entry.converged() &&
        run->entry.totalSeconds() < close * best_->entry.totalSeconds() + loading)
      finalists.push_back(run);
  sortBy(finalists, [&](const Run& run) { return run.entry.totalSeconds(); });
  if (finalists.size() < 2)
    return;
  finalists.resize(std::min(finalists.size(), most));
  const double end_of_race = part_of_times * options_.times_of_best * best_->entry.totalSeconds() +
                             part_of_seconds * options_.seconds_besides;
  for (const RunPtr& run : finalists) {
    if (isOver() || now() + 1.2 * run->entry.totalSeconds() > end_of_race)
      return;
    RaceEntry& entry = run->entry;
    Run again;
    static_cast<Configuration&>(again.entry) = entry;
    setups_.erase({entry.block_size, entry.precond});
    try {
      setUp(again);
      SolverOptions options;
      options.tolerance = options_.tolerance;
      options.max_iterations = entry.iterations + 1;
      options.restart = entry.restart;
      const auto solver = createSolver<Scalar, Device>(entry.solver, options);
      const double start = now();
      solver->solve(exec_, *system(entry.block_size).op, again.setup->m.get(), b_, again.x);
      const double seconds = now() - start;
      if (again.setup->seconds() < entry.setupSeconds()) {
        entry.initialize_seconds = again.setup->initialize_seconds;
        entry.compute_seconds = again.setup->compute_seconds;
      }
      entry.solve_seconds = std::min(entry.solve_seconds, seconds);
    } catch (const Dropped&) {
      return;
    } catch (const Error&) { // it has converged before; memory may have become short
      continue;
    }
    if (entry.totalSeconds() < best_->entry.totalSeconds())
      best_ = run;
  }
}

/// Those that were given, or those that suit the matrix.
template <class Scalar, class Device>
std::vector<Candidate> Race<Scalar, Device>::first() const {
  if (options_.preconds.empty())
    return firstCandidates(traits_, compat::IsGpu<Exec>::value, std::is_same<Scalar, float>::value);
  std::vector<Candidate> list;
  for (const std::string& precond : options_.preconds)
    list.push_back({precond, traits_.block_size, {}});
  return list;
}

template <class Scalar, class Device>
Recommendation Race<Scalar, Device>::run() {
  probe();
  for (const Candidate& candidate : first())
    add(candidate);
  while (!isOver()) {
    if (best_ != nullptr && affordable() > 0)
      deepen();
    if (const RunPtr challenger = nextChallenger())
      advance(challenger, sliceOf(*challenger));
    else if (leader_ != nullptr && !leader_->hasEnded())
      advance(leader_, sliceOf(*leader_));
    else
      break;
    chooseLeader();
    dropHopeless();
  }
  if (best_ != nullptr && !isOver())
    playOff();
  return result();
}

AINVIL_INSTANTIATE_CLASS(Race)

} // namespace detail
} // namespace ainvil
