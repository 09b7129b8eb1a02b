// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_WorkerSchedule.hpp"

#include "backend/Ainvil_Profiling.hpp"
#include "graph/Ainvil_RowUnits.hpp"

#include <limits>
#include <set>
#include <utility>

namespace ainvil {
namespace detail {
namespace {

using Exec = HostDevice::execution_space;

// Of the model: nanoseconds.
constexpr double launch_time = 5000, step_time = 150, longest_delay = 600;

constexpr Ordinal numbers_of_cache_line = 8;
// Of units, a few times as many as of groups that are worth it.
constexpr Ordinal units_of_worker = 1024, least_units = 4096;
constexpr Ordinal groups_of_worker = 16; // fewer would wait for each other too long
constexpr int few_workers = 4;
constexpr int most_passes = 4; // over the graph, for the choice of groups

/// Who takes a group, and in which step.
using Place = WorkerWait;

/// Groups by step, ascending in each, and where each step begins.
struct Steps {
  std::vector<Ordinal> groups, begins;

  Ordinal count() const { return static_cast<Ordinal>(begins.size()) - 1; }
};

Steps sortBySteps(const RowGroups& groups) {
  const std::vector<Ordinal>& step = groups.step;
  Steps steps;
  steps.begins.assign(step.empty() ? 1 : *std::max_element(step.begin(), step.end()) + 2, 0);
  for (const Ordinal s : step)
    ++steps.begins[s + 1];
  for (size_t s = 1; s < steps.begins.size(); ++s)
    steps.begins[s] += steps.begins[s - 1];
  std::vector<Ordinal> next(steps.begins);
  steps.groups.resize(step.size());
  for (Ordinal group = 0; group < groups.count(); ++group)
    steps.groups[next[step[group]]++] = group;
  return steps;
}

/// A schedule without waits, and what they follow from.
struct DealtGroups {
  RowGroups groups;
  std::vector<Place> places; ///< of groups
  /// Of each piece of the schedule: its units from the first up to the second.
  std::vector<std::pair<Ordinal, Ordinal>> units;
  WorkerSchedule schedule;
};

/// The place of each group: a step is dealt out in contiguous parts of about as much work each.
std::vector<Place> dealOut(const RowUnits& units, const RowGroups& groups, const Steps& steps,
                           int workers) {
  std::vector<Place> places(steps.groups.size());
  const auto work = [&](Ordinal i) {
    const Ordinal group = steps.groups[i];
    return units.work[groups.first[group + 1]] - units.work[groups.first[group]];
  };
  for (Ordinal step = 0; step < steps.count(); ++step) {
    const Ordinal begin = steps.begins[step], end = steps.begins[step + 1];
    Offset all = 0, before = 0;
    for (Ordinal i = begin; i < end; ++i)
      all += work(i);
    const Offset parts = std::min<Offset>(workers, end - begin);
    Offset part = 0;
    int worker = 0;
    for (Ordinal i = begin; i < end; ++i) {
      for (; before * parts >= (part + 1) * all; worker = static_cast<int>(part * workers / parts))
        ++part;
      places[steps.groups[i]] = {worker, step};
      before += work(i);
    }
  }
  return places;
}

/// The tasks of all workers and their pieces: groups that follow each other in a task are one.
void listTasks(const RowUnits& units, const RowPositions& at, const Steps& steps,
               DealtGroups& dealt) {
  WorkerSchedule& schedule = dealt.schedule;
  const auto workers = static_cast<size_t>(schedule.num_workers);
  std::vector<std::vector<WorkerTask>> tasks(workers);
  std::vector<std::vector<std::pair<Ordinal, Ordinal>>> pieces(workers);
  for (const Ordinal group : steps.groups) {
    const Place place = dealt.places[group];
    const Ordinal first = dealt.groups.first[group], end = dealt.groups.first[group + 1];
    auto& mine = tasks[place.worker];
    auto& its = pieces[place.worker];
    const bool begins = mine.empty() || mine.back().step != place.step;
    if (begins)
      mine.push_back({place.step, static_cast<Ordinal>(its.size()), 0});
    if (begins || its.back().second != first)
      its.emplace_back(first, end);
    else
      its.back().second = end;
  }
  schedule.first_task.assign(1, 0);
  for (size_t w = 0; w < workers; ++w) {
    const auto before = static_cast<Ordinal>(dealt.units.size());
    for (WorkerTask task : tasks[w]) {
      task.first_piece += before;
      schedule.tasks.push_back(task);
    }
    dealt.units.insert(dealt.units.end(), pieces[w].begin(), pieces[w].end());
    schedule.first_task.push_back(static_cast<Ordinal>(schedule.tasks.size()));
  }
  schedule.tasks.push_back({schedule.num_steps, static_cast<Ordinal>(dealt.units.size()), 0});
  for (const auto& [u, end_unit] : dealt.units) {
    const Ordinal begin = units.first[u], end = units.first[end_unit];
    schedule.pieces.push_back({at.lower ? begin : at(end - 1), at.lower ? end : at(begin) + 1,
                               units.work[end_unit] - units.work[u] - (end - begin)});
  }
}

DealtGroups deal(const RowUnits& units, RowGroups groups, const RowPositions& at, int workers) {
  const Steps steps = sortBySteps(groups);
  DealtGroups dealt;
  dealt.schedule.num_steps = steps.count();
  dealt.schedule.num_workers = workers;
  dealt.places = dealOut(units, groups, steps, workers);
  dealt.groups = std::move(groups);
  listTasks(units, at, steps, dealt);
  return dealt;
}

/// The waits of the tasks of one worker: if `counts` their numbers into first_wait, else
/// themselves.
struct FindWaits {
  KernelArray<const Offset> first_source;
  KernelArray<const Ordinal> sources, group;
  KernelArray<const Place> places;
  KernelArray<const std::pair<Ordinal, Ordinal>> units;
  int num_workers;
  KernelArray<const Ordinal> first_task;
  WorkerTask* tasks;
  WorkerWait* waits;
  bool counts;

  void operator()(const Offset worker) const {
    Ordinal needed[most_workers], known[most_workers]; // steps that others have done
    std::fill_n(needed, most_workers, -1);
    std::fill_n(known, most_workers, -1);
    for (Ordinal t = first_task(worker); t < first_task(worker + 1); ++t) {
      for (Ordinal k = tasks[t].first_piece; k < tasks[t + 1].first_piece; ++k)
        for (Ordinal u = units(k).first; u < units(k).second; ++u)
          need(u, tasks[t].step, needed);
      Offset count = 0;
      for (int other = 0; other < num_workers; ++other) {
        if (other == worker || needed[other] <= known[other])
          continue;
        known[other] = needed[other];
        if (!counts)
          waits[tasks[t].first_wait + count] = {other, needed[other]};
        ++count;
      }
      if (counts)
        tasks[t].first_wait = count;
    }
  }

private:
  void need(Ordinal unit, Ordinal step, Ordinal* needed) const {
    for (Offset k = first_source(unit); k < first_source(unit + 1); ++k) {
      const Place place = places(group(sources(k)));
      if (place.step < step) // not in the same group
        needed[place.worker] = std::max(needed[place.worker], place.step);
    }
  }
};

void findWaits(const Exec& exec, const RowUnits& units, DealtGroups& dealt) {
  WorkerSchedule& schedule = dealt.schedule;
  const auto run = [&](bool counts) {
    Kokkos::parallel_for(
        "Ainvil::workerSchedules[waits]", Range<Exec>(exec, 0, schedule.num_workers),
        FindWaits{units.first_source, units.sources, dealt.groups.group, dealt.places, dealt.units,
                  schedule.num_workers, schedule.first_task, schedule.tasks.data(),
                  schedule.waits.data(), counts});
    compat::fence(exec, "Ainvil::workerSchedules");
  };
  run(true);
  Offset num_waits = 0;
  for (WorkerTask& task : schedule.tasks)
    num_waits += std::exchange(task.first_wait, num_waits);
  schedule.waits.resize(size_t(num_waits));
  run(false);
}

/// Looks for the groups that each of some runs takes the least time with.
class GroupSearch {
public:
  struct Best {
    double time = std::numeric_limits<double>::infinity();
    Offset length = 0;
    DealtGroups dealt;
  };

  GroupSearch(const RowUnits& units, Uplo uplo, int workers, const std::vector<RowCosts>& runs)
      : units_(units), uplo_(uplo), workers_(workers), runs_(runs), best_(runs.size()),
        visits_left_(most_passes * units.work.back()) {}

  /// Few workers gain most by groups that are as long as can be, and have few units: all lengths.
  /// Else lengths that double, and then others about the best of each run.
  std::vector<Best> run() {
    const bool few = workers_ <= few_workers;
    const Offset most = std::max(4, 4 * (units_.count() / (groups_of_worker * workers_)));
    for (Offset length = 4; length <= most; length *= 2) {
      attempt(length, Joining::Prompt);
      if (few) {
        attempt(length, Joining::Chained);
        attempt(length / 2 * 3, Joining::Prompt);
        attempt(length / 2 * 3, Joining::Chained);
      }
    }
    for (size_t r = 0; r < runs_.size() && !few; ++r) {
      const Offset length = best_[r].length;
      for (const Offset other : {length / 4 * 3, length / 2 * 3})
        attempt(other, Joining::Prompt);
      for (const Offset other : {length, length * 2, length * 4})
        attempt(other, Joining::Chained);
    }
    return std::move(best_);
  }

private:
  /// Groups of `length` quarters of a mean unit, and one more: units differ a little.
  void attempt(Offset length, Joining joining) {
    if (visits_left_ <= 0 || !tried_.emplace(length, joining).second)
      return;
    visits_left_ -= units_.count() + Offset(units_.sources.size());
    RowGroups groups;
    joinUnits(units_, (length + 1) * units_.work.back() / (4 * Offset(units_.count())), joining,
              groups);
    const RowPositions at{units_.first.back(), uplo_ == Uplo::Lower};
    const DealtGroups dealt = deal(units_, std::move(groups), at, workers_);
    for (size_t r = 0; r < runs_.size(); ++r) {
      const double time = sharedTime(dealt.schedule, uplo_, runs_[r]);
      if (time < best_[r].time)
        best_[r] = {time, length, dealt};
    }
  }

  const RowUnits& units_;
  const Uplo uplo_;
  const int workers_;
  const std::vector<RowCosts>& runs_;
  std::vector<Best> best_;
  std::set<std::pair<Offset, Joining>> tried_;
  Offset visits_left_;
};

} // namespace

double sharedTime(const WorkerSchedule& schedule, Uplo uplo, const RowCosts& costs) {
  std::vector<double> longest(size_t(schedule.num_steps), 0.0);
  const auto delay = [&](double time) {
    return std::min((costs.scattered - 1) * time, longest_delay);
  };
  for (int worker = 0; worker < schedule.num_workers; ++worker) {
    double since_jump = 0;
    WorkerPiece last{-1, -1, 0};
    for (Ordinal t = schedule.first_task[worker]; t < schedule.first_task[worker + 1]; ++t) {
      double time = 0;
      for (Ordinal k = schedule.tasks[t].first_piece; k < schedule.tasks[t + 1].first_piece; ++k) {
        const WorkerPiece& piece = schedule.pieces[k];
        const bool follows =
            uplo == Uplo::Lower ? piece.first == last.end : piece.end == last.first;
        if (!follows)
          since_jump = 0;
        const double in_order = timeAlone(piece.entries, costs);
        time += in_order + delay(since_jump + in_order) - delay(since_jump);
        since_jump += in_order;
        last = piece;
      }
      double& most = longest[schedule.tasks[t].step];
      most = std::max(most, time);
    }
  }
  double sum = launch_time;
  for (const double time : longest)
    sum += step_time + time;
  return sum;
}

double leastSharedTime(double alone, int workers) {
  return launch_time + step_time + alone / workers;
}

std::vector<WorkerSchedule> workerSchedules(const Exec& exec, const KernelGraph& graph, Uplo uplo,
                                            const std::vector<RowCosts>& runs, int workers) {
  ScopedRegion region("Ainvil::workerSchedules");
  if (graph.num_rows == 0)
    return {};
  const Ordinal shortest = std::max(1, numbers_of_cache_line / runs.front().block_size);
  const Ordinal longest =
      std::max(shortest, graph.num_rows / std::max(least_units, units_of_worker * workers));
  const RowUnits units = rowUnits(exec, graph, uplo, longest, shortest);
  std::vector<WorkerSchedule> schedules;
  auto best = GroupSearch(units, uplo, workers, runs).run();
  for (size_t r = 0; r < runs.size(); ++r)
    if (best[r].time < timeAlone(graph.row_map(graph.num_rows), runs[r])) {
      findWaits(exec, units, best[r].dealt);
      schedules.push_back(std::move(best[r].dealt.schedule));
    }
  return schedules;
}

} // namespace detail
} // namespace ainvil
