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

// A race may take so many times the time of its best, and so many seconds besides.
constexpr double factor_of_best = 1.9, seconds_besides = 0.6;
/// A slice is at least as long as this, and as so many products with A.
constexpr double shortest_slice = 0.01, products_of_slice = 60;
constexpr double growth_of_slice = 3;
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

/// Seconds to the solution: measured, by the recent rate, or infinite.
template <class Scalar, class Device>
double Race<Scalar, Device>::predicted(const Run& run) const {
  if (run.hasEnded())
    return run.entry.converged() ? run.entry.totalSeconds() : infinity;
  return run.course.looks() == 0 ? infinity : run.course.secondsUntil(digits());
}

template <class Scalar, class Device>
const typename Race<Scalar, Device>::Run* Race<Scalar, Device>::leader() const {
  if (best_ != nullptr)
    return best_.get();
  const Run* leader = nullptr;
  for (const RunPtr& run : runs_)
    if (!run->hasEnded() && run->course.looks() > 0 &&
        (leader == nullptr || predicted(*run) < predicted(*leader)))
      leader = run.get();
  return leader;
}

template <class Scalar, class Device>
double Race<Scalar, Device>::secondsOfLeader() const {
  const Run* const leader = this->leader();
  return leader == nullptr ? infinity : predicted(*leader);
}

/// There is time left beside what the leader has yet to run, and `more`.
template <class Scalar, class Device>
bool Race<Scalar, Device>::isAffordable(double more) const {
  const Run* const leader = this->leader();
  if (leader == nullptr)
    return true;
  const double total = predicted(*leader);
  const double left = leader->hasEnded() ? 0.0 : total - leader->course.seconds();
  return now() + left + more < factor_of_best * total + seconds_besides;
}

template <class Scalar, class Device>
void Race<Scalar, Device>::tell(const Run* running) {
  if (!options_.progress)
    return;
  const Run* const leader = this->leader();
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

/// One for each solver and restart length, with the tolerance of the race.
template <class Scalar, class Device>
KrylovSolver<Scalar, Device>& Race<Scalar, Device>::solver(const Configuration& configuration) {
  auto& solver = solvers_[{configuration.solver, configuration.restart, options_.tolerance}];
  if (solver == nullptr) {
    SolverOptions options;
    options.tolerance = options_.tolerance;
    options.max_iterations = options_.max_iterations;
    options.restart = configuration.restart;
    options.progress = [this](int iteration, double residual) { watch(iteration, residual); };
    solver = createSolver<Scalar, Device>(configuration.solver, options);
  }
  return *solver;
}

/// True unless the race has had it before.
template <class Scalar, class Device>
bool Race<Scalar, Device>::add(const Candidate& candidate) {
  bool is_new = false;
  for (const auto& [solver, restart] : candidate.solvers) {
    const auto same = [&, name = solver, length = restart](const RunPtr& run) {
      return run->entry.precond == candidate.precond && run->entry.solver == name &&
             run->entry.block_size == candidate.block_size && run->entry.restart == length;
    };
    if (std::any_of(runs_.begin(), runs_.end(), same))
      continue;
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

/// Of a product with A.
template <class Scalar, class Device>
double Race<Scalar, Device>::secondsOfProduct() {
  const auto y = allocateZeros<Scalar, Device>(exec_, "Ainvil::y", b_.extent(0));
  const auto& op = *system(traits_.block_size).op;
  const auto multiply = [&] { op.apply(exec_, asColumn(b_), asColumn(y)); };
  multiply();
  compat::fence(exec_, "Ainvil::recommend");
  constexpr int times = 3;
  const double start = now();
  for (int i = 0; i < times; ++i)
    multiply();
  compat::fence(exec_, "Ainvil::recommend");
  return (now() - start) / times;
}

/// Seconds of its set-up as far as others tell; 0 if they do not, or it has been set up.
template <class Scalar, class Device>
double Race<Scalar, Device>::expectedSetUp(const Run& run) const {
  const auto parent = setup_seconds_.find({run.entry.block_size, run.parent});
  return run.setup != nullptr || parent == setup_seconds_.end() ? 0 : run.growth * parent->second;
}

/// Empty if there is time for its set-up.
template <class Scalar, class Device>
std::string Race<Scalar, Device>::whyNotSetUp(const Run& run) const {
  const double expected = expectedSetUp(run);
  if (best_ != nullptr && expected > best_->entry.totalSeconds())
    return message("its set-up would take about ", secondsText(expected), " s, the best ",
                   secondsText(best_->entry.totalSeconds()), " s in all");
  if (now() + expected > options_.budget)
    return message("its set-up would take about ", secondsText(expected),
                   " s, more than is left of the budget");
  return {};
}

template <class Scalar, class Device>
std::vector<double> Race<Scalar, Device>::toHost(const Vector<Scalar, Device>& x) const {
  const auto mirror = hostMirror(x);
  Kokkos::deep_copy(exec_, mirror, x);
  compat::fence(exec_, "Ainvil::recommend");
  return std::vector<double>(mirror.data(), mirror.data() + mirror.extent(0));
}

/// Of the fastest that converged, else of the smallest residual.
template <class Scalar, class Device>
void Race<Scalar, Device>::keepSolution(const Run& run) {
  if (run.x.extent(0) == 0 || !std::isfinite(run.entry.rel_residual))
    return;
  const bool better =
      run.entry.converged()
          ? best_ == nullptr || run.entry.totalSeconds() < best_->entry.totalSeconds()
          : best_ == nullptr && (x_of_ == nullptr || run.entry.rel_residual < x_residual_);
  if (!better)
    return;
  x_ = toHost(run.x);
  x_residual_ = run.entry.rel_residual;
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
  keepSolution(run);
  if (options_.ended)
    options_.ended(run.entry, run.x.extent(0) > 0 ? toHost(run.x) : std::vector<double>());
  for (const RunPtr& pointer : runs_)
    if (pointer.get() == &run)
      ended_.push_back(pointer);
  run.x = {};
  if (!run.entry.converged())
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

/// After a round: runs that cannot win any more. Before anything has converged all are kept, for a
/// leader may yet stagnate.
template <class Scalar, class Device>
void Race<Scalar, Device>::dropHopeless() {
  if (best_ == nullptr)
    return;
  const double best = secondsOfLeader();
  for (const RunPtr& run : alive()) {
    const double expected = predicted(*run);
    if (run->course.looks() < looks_to_judge || expected <= 3 * best)
      continue;
    end(*run, "dropped",
        expected < infinity ? message("would take about ", secondsText(expected), " s")
                            : message("its residual does not fall, ", run->entry.rel_residual,
                                      " after ", run->entry.iterations, " iterations"));
  }
}

/// Frees what paused runs hold, which then begin anew. False if there is nothing.
template <class Scalar, class Device>
bool Race<Scalar, Device>::freeOthers(const Run& but) {
  bool freed = false;
  for (const RunPtr& run : runs_) {
    if (run.get() == &but || run->setup == nullptr)
      continue;
    freed = true;
    run->setup = nullptr;
    if (run->hasEnded())
      continue;
    run->x = {};
    run->course = Course();
  }
  return freed;
}

/// Adds the neighbours of the best, once for each best. False if there are none.
template <class Scalar, class Device>
bool Race<Scalar, Device>::deepen() {
  if (best_ == nullptr || deepened_ == best_)
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
  constexpr int most = 3;
  constexpr double close = 1.5;
  std::vector<RunPtr> finalists;
  for (const RunPtr& run : ended_)
    if (run->entry.converged() && run->entry.totalSeconds() < close * secondsOfLeader())
      finalists.push_back(run);
  sortBy(finalists, [&](const Run& run) { return run.entry.totalSeconds(); });
  if (finalists.size() < 2)
    return;
  finalists.resize(std::min<size_t>(finalists.size(), most));
  for (const RunPtr& run : finalists) {
    if (isOver() || !isAffordable(1.2 * run->entry.totalSeconds()))
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

template <class Scalar, class Device>
Recommendation Race<Scalar, Device>::run() {
  probe();
  for (const Candidate& candidate :
       firstCandidates(traits_, compat::IsGpu<Exec>::value, std::is_same<Scalar, float>::value))
    add(candidate);
  double slice = std::max(shortest_slice, products_of_slice * secondsOfProduct());
  while (!isOver()) {
    auto runs = alive();
    if (runs.empty() || !isAffordable()) {
      const bool leader_runs = best_ == nullptr && leader() != nullptr;
      if (!leader_runs && (!isAffordable() || !deepen()))
        break;
      runs = alive();
    }
    // Those that have run by their prospects, then neighbours of the best, then all that wait.
    sortBy(runs, [&](const Run& run) {
      return run.course.looks() > 0 ? std::make_pair(predicted(run), -run.course.digits())
                                    : std::make_pair(run.is_neighbour ? 1e100 : infinity, 1.0);
    });
    bool first = true, any = false;
    for (const RunPtr& run : runs) {
      if (isOver())
        break;
      if (run->hasEnded())
        continue;
      // The leader runs on in any case; the others where there is time for them.
      const bool leads = best_ == nullptr && run.get() == leader();
      const double most = best_ != nullptr ? std::min(slice, secondsOfLeader()) : slice;
      if (!leads && !isAffordable(most + expectedSetUp(*run)))
        continue;
      const double wanted = leads && first && predicted(*run) < infinity
                                ? 1.5 * (predicted(*run) - run->entry.setupSeconds())
                                : 0.0;
      first = false;
      any = true;
      advance(run, std::max(slice, wanted));
      if (isAffordable() && deepen())
        break; // neighbours go before what waits
    }
    dropHopeless();
    if (!any && !deepen())
      break;
    slice *= growth_of_slice;
  }
  if (best_ != nullptr && !isOver())
    playOff();
  return result();
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Race<double, DEVICE>;                                                             \
  template class Race<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
