// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Who leads a race, who runs next, and who is dropped.
#include "race/Ainvil_Race.hpp"

#include <algorithm>
#include <string>
#include <tuple>

namespace ainvil {
namespace detail {
namespace {

// Of the times of its best, and of the seconds besides, that a race may take: as long as less has
// passed runs begin and go on. What is left is for the play-off.
constexpr double part_of_times = 2.6 / 3, part_of_seconds = 0.8;
/// The same, of the time that the leader has had, as long as it runs.
constexpr double part_of_leader = 1.6 / 3, part_of_seconds_beside_leader = 0.5;
/// A slice is at least as long as this, and as the looks that it takes to judge a run.
constexpr double shortest_slice = 0.01;
/// Runs without prospects get slices nevertheless, until they have had this part of the time of the
/// leader, neighbours of the best the other: many residuals fall late.
constexpr double part_of_hopeless = 0.1, part_of_neighbours = 0.5;
/// Another run leads once its prediction is smaller than this part of that of the leader.
constexpr double clearly = 0.8;
/// The time that is left to a run may be this part of what its rate says.
constexpr double doubt = 0.5;
/// What METIS takes an entry of the matrix, about, on a core of an x86-64 server.
constexpr double seconds_of_dissection = 1e-6;

} // namespace

/// Seconds to the solution: measured, by the recent rate and the course of the leader, or infinite.
template <class Scalar, class Device>
double Race<Scalar, Device>::predicted(const Run& run) const {
  if (run.hasEnded())
    return run.entry.converged() ? run.entry.totalSeconds() : infinity;
  if (run.course.looks() == 0)
    return infinity;
  return leader_ == nullptr || leader_.get() == &run
             ? run.course.secondsUntil(digits())
             : run.course.secondsUntil(digits(), leader_->course);
}

/// The same if it goes on faster than lately.
template <class Scalar, class Device>
double Race<Scalar, Device>::hoped(const Run& run) const {
  const double seconds = run.course.seconds();
  return seconds + doubt * (predicted(run) - seconds);
}

/// Of the time of the leader: what a run gets at least.
template <class Scalar, class Device>
double Race<Scalar, Device>::partOf(const Run& run) const {
  return run.is_neighbour ? part_of_neighbours : part_of_hopeless;
}

template <class Scalar, class Device>
void Race<Scalar, Device>::chooseLeader() {
  if (best_ != nullptr) {
    leader_ = best_;
    return;
  }
  if (leader_ != nullptr && leader_->hasEnded())
    leader_ = nullptr;
  double first = leader_ != nullptr ? clearly * predicted(*leader_) : infinity;
  for (const RunPtr& run : runs_)
    if (!run->hasEnded() && run != leader_ && run->isSampled() &&
        run->course.digits() >= Course::least_digits && predicted(*run) < first) {
      leader_ = run;
      first = predicted(*run);
    }
  if (leader_ != nullptr && !(predicted(*leader_) < infinity))
    leader_ = nullptr;
}

/// Seconds that others than the leader may take from now on.
template <class Scalar, class Device>
double Race<Scalar, Device>::affordable() const {
  const double spent = now();
  const auto most_of = [&](double seconds, double of_times, double of_seconds) {
    return of_times * options_.times_of_best * seconds + of_seconds * options_.seconds_besides;
  };
  const double most =
      best_ != nullptr ? most_of(best_->entry.totalSeconds(), part_of_times, part_of_seconds)
      : leader_ != nullptr
          ? most_of(leader_->course.seconds(), part_of_leader, part_of_seconds_beside_leader)
          : infinity;
  return std::min(most, options_.budget) - spent;
}

/// Seconds that its set-up will take: those of an earlier one of the same method, or of a method
/// that it grew from, times the growth, or at least what METIS takes; 0 if unknown, or it has been
/// set up.
template <class Scalar, class Device>
double Race<Scalar, Device>::expectedSetUp(const Run& run) const {
  if (run.setup != nullptr)
    return 0;
  const auto seen = [&](const std::string& precond) {
    const auto found = setup_seconds_.find({run.entry.block_size, precond});
    return found == setup_seconds_.end() ? 0.0 : found->second;
  };
  if (const double own = seen(run.entry.precond); own > 0)
    return own;
  double least = 0; // METIS is most of a set-up that calls it
  const std::string dissects = "reorder=nd";
  if (run.entry.precond.find(dissects) != std::string::npos) {
    least = seconds_of_dissection * double(traits_.entries) /
            double(traits_.block_size * traits_.block_size);
    for (const auto& [key, seconds] : setup_seconds_)
      if (key.first == run.entry.block_size && key.second.find(dissects) != std::string::npos)
        least = std::min(least, seconds);
  }
  double growth = run.growth;
  std::string parent = run.parent;
  for (int generation = 0; generation < 5 && !parent.empty() && seen(parent) == 0; ++generation) {
    const auto of_parent = std::find_if(runs_.begin(), runs_.end(), [&](const RunPtr& other) {
      return other->entry.precond == parent;
    });
    growth *= of_parent == runs_.end() ? 1 : (*of_parent)->growth;
    parent = of_parent == runs_.end() ? std::string() : (*of_parent)->parent;
  }
  return std::max(least, growth * seen(parent));
}

/// Empty if there is time for its set-up.
template <class Scalar, class Device>
std::string Race<Scalar, Device>::whyNotSetUp(const Run& run) const {
  const double expected = expectedSetUp(run);
  if (best_ != nullptr && expected > best_->entry.totalSeconds() + loading)
    return message("its set-up would take about ", secondsText(expected), " s, the best ",
                   secondsText(best_->entry.totalSeconds()), " s in all");
  if (now() + expected > options_.budget)
    return message("its set-up would take about ", secondsText(expected),
                   " s, more than is left of the budget");
  return {};
}

/// Who may run besides the leader, in this order: who is predicted to be faster than the best;
/// neighbours of the best that have not run yet; others that have not, in the order of the list;
/// who may yet be faster than the leader; and who has had the smallest part of the leader's time.
/// Null if there is none, or no time for it.
template <class Scalar, class Device>
typename Race<Scalar, Device>::RunPtr Race<Scalar, Device>::nextChallenger() {
  const double time = affordable(), of_leader = secondsOfLeader();
  if (time <= 0)
    return nullptr;
  const auto rank = [&](const Run& run) {
    if (!run.isSampled())
      return std::make_tuple(run.is_neighbour ? 1 : 2, 0.0, 0.0);
    if (best_ != nullptr && predicted(run) < of_leader)
      return std::make_tuple(0, predicted(run), 0.0);
    const bool hopes = hoped(run) < of_leader;
    return std::make_tuple(hopes              ? 3
                           : run.is_neighbour ? 4
                                              : 5,
                           hopes ? hoped(run) : 0.0, run.entry.solve_seconds);
  };
  RunPtr next;
  for (const RunPtr& run : alive()) {
    if (run == leader_ || expectedSetUp(*run) > std::min(time, of_leader + loading))
      continue;
    const auto of_run = rank(*run);
    if (leader_ != nullptr && std::get<0>(of_run) >= 4 &&
        run->entry.solve_seconds > partOf(*run) * leader_->course.seconds())
      continue;
    if (next == nullptr || of_run < rank(*next))
      next = run;
  }
  return next;
}

/// Seconds: a run that has been sampled doubles its time, the leader gives others their turn.
template <class Scalar, class Device>
double Race<Scalar, Device>::sliceOf(const Run& run) const {
  const double solved = run.entry.solve_seconds;
  if (&run == leader_.get())
    return std::max(shortest_slice, solved / 4);
  return std::min(affordable(), run.isSampled() ? std::max(shortest_slice, solved) : 0.0);
}

/// Runs that cannot win any more. Before anything has converged all are kept, for a leader may yet
/// stagnate.
template <class Scalar, class Device>
void Race<Scalar, Device>::dropHopeless() {
  if (best_ == nullptr)
    return;
  const double best = best_->entry.totalSeconds();
  for (const RunPtr& run : alive()) {
    const bool is_sure = run->isSampled() && run->entry.solve_seconds >= partOf(*run) * best;
    if (is_sure && !(hoped(*run) < best + loading))
      end(*run, "dropped", whyHopeless(*run));
  }
  for (const RunPtr& run : ended_)
    if (run->entry.totalSeconds() > close * best)
      run->x = {};
}

template <class Scalar, class Device>
std::string Race<Scalar, Device>::whyHopeless(const Run& run) const {
  const double expected = predicted(run);
  return expected < infinity ? message("would take about ", secondsText(expected), " s")
                             : message("its residual does not fall, ", run.entry.rel_residual,
                                       " after ", run.entry.iterations, " iterations");
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template double Race<SCALAR, DEVICE>::predicted(const Run&) const;                               \
  template void Race<SCALAR, DEVICE>::chooseLeader();                                              \
  template double Race<SCALAR, DEVICE>::affordable() const;                                        \
  template std::string Race<SCALAR, DEVICE>::whyNotSetUp(const Run&) const;                        \
  template typename Race<SCALAR, DEVICE>::RunPtr Race<SCALAR, DEVICE>::nextChallenger();           \
  template double Race<SCALAR, DEVICE>::sliceOf(const Run&) const;                                 \
  template void Race<SCALAR, DEVICE>::dropHopeless();
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
