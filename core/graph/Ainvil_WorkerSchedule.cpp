// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_WorkerSchedule.hpp"

#include "backend/Ainvil_Profiling.hpp"
#include "graph/Ainvil_RowUnits.hpp"

#include <utility>

namespace ainvil {
namespace detail {
namespace {

using Exec = HostDevice::execution_space;

// Of the model: nanoseconds.
constexpr double launch_time = 5000, wait_time = 100, news_time = 1000, longest_delay = 600;

constexpr Ordinal numbers_of_cache_line = 8;
// Of units, a few times as many as of groups that are worth it.
constexpr Ordinal units_of_worker = 1024, least_units = 4096;
constexpr Ordinal groups_of_worker = 16; // fewer would wait for each other too long
constexpr int most_passes = 4;           // over the graph, for the choice of groups

/// Who has a group, and the number of the task that it is of his.
using Place = WorkerWait;

/// Who takes each group, and when it is done, in nanoseconds.
struct Deal {
  std::vector<Place> places;
  std::vector<double> done;

  void resize(Ordinal groups) {
    places.resize(size_t(groups));
    done.resize(size_t(groups));
  }
};

/// A worker while groups are dealt out.
struct Worker {
  double free = 0;       ///< since when
  double since_jump = 0; ///< for how long it has taken what lies together in memory
  Ordinal next_unit = 0; ///< which lies there next
  Ordinal tasks = 0;
};

/// When the groups that one needs are done: all of them, and those of others than `by`, who is done
/// last.
struct Needed {
  double all = 0, of_others = 0;
  int by = 0;
};

Needed neededBy(const RowUnits& units, const RowGroups& groups, Ordinal g, const Deal& deal) {
  Needed needed;
  const Offset end = units.first_source[groups.first[g + 1]];
  for (Offset k = units.first_source[groups.first[g]]; k < end; ++k) {
    const Ordinal source = groups.group[units.sources[k]];
    if (source == g)
      continue;
    const int worker = deal.places[source].worker;
    const double done = deal.done[source];
    if (done > needed.all) {
      if (worker != needed.by)
        needed.of_others = needed.all;
      needed.all = done;
      needed.by = worker;
    } else if (worker != needed.by) {
      needed.of_others = std::max(needed.of_others, done);
    }
  }
  return needed;
}

/// Deals groups out in the order of their positions by the model of workerSchedules(), and tells
/// when all are done. Allocates nothing.
double dealOut(const RowUnits& units, const RowGroups& groups, const RowCosts& costs, int workers,
               Deal& deal) {
  Worker worker[most_workers];
  const auto delay = [&](double time) {
    return std::min((costs.scattered - 1) * time, longest_delay);
  };
  double all_done = 0;
  int last = 0; // who took the group before
  for (Ordinal g = 0; g < groups.count(); ++g) {
    const Ordinal first = groups.first[g], end = groups.first[g + 1];
    const double time = timeAlone(units.entries(first, end), costs);
    const Needed needed = neededBy(units, groups, g, deal);
    const auto doneBy = [&](int w) {
      const double since = worker[w].next_unit == first ? worker[w].since_jump : 0;
      const double here = worker[w].free + delay(since + time) - delay(since);
      const double there = w == needed.by ? needed.of_others : needed.all;
      return (there > 0 ? std::max(here, there + news_time) + wait_time : here) + time;
    };
    const auto idlest = static_cast<int>(
        std::min_element(worker, worker + workers,
                         [](const Worker& a, const Worker& b) { return a.free < b.free; }) -
        worker);
    int best = last;
    for (const int w : {needed.by, idlest})
      if (doneBy(w) < doneBy(best))
        best = w;
    const double done = doneBy(best);
    Worker& its = worker[best];
    its.since_jump = (its.next_unit == first ? its.since_jump : 0) + time;
    its.next_unit = end;
    its.free = done;
    deal.places[g] = {best, its.tasks++};
    deal.done[g] = done;
    all_done = std::max(all_done, done);
    last = best;
  }
  return all_done;
}

/// One of the ways to join units, and the time that each of some runs takes with it.
struct Attempt {
  Offset most_work;
  Joining joining;
  RowGroups groups;
  Deal deal; // of the last run
  std::vector<double> times;

  Attempt(const RowUnits& units, Offset work, Joining how, size_t runs)
      : most_work(work), joining(how), times(runs) {
    groups.reserve(units.count());
    deal.resize(units.count());
  }
};

/// Groups of one unit, about, two, four, and so on, joined either way.
std::vector<Attempt> listAttempts(const RowUnits& units, int workers, size_t runs) {
  const Ordinal longest = std::max(1, units.count() / (groups_of_worker * workers));
  const Offset visits = units.count() + Offset(units.sources.size());
  Offset visits_left = most_passes * units.work.back();
  std::vector<Attempt> attempts;
  for (Offset length = 1; length <= longest; length *= 2)
    for (const Joining joining : {Joining::Prompt, Joining::Chained})
      if ((visits_left -= visits) >= 0 || attempts.empty()) {
        // A quarter more than so many mean units: units differ a little.
        const Offset work = (4 * length + 1) * units.work.back() / (4 * Offset(units.count()));
        attempts.emplace_back(units, work, joining, runs);
      }
  return attempts;
}

/// Joins the units in one of the ways, and deals the groups out for each of the runs.
struct MakeAttempt {
  const RowUnits& units;
  const std::vector<RowCosts>& runs;
  int workers;
  Attempt* attempts;

  void operator()(const Offset k) const {
    Attempt& attempt = attempts[k];
    joinUnits(units, attempt.most_work, attempt.joining, attempt.groups);
    for (size_t r = 0; r < runs.size(); ++r)
      attempt.times[r] = dealOut(units, attempt.groups, runs[r], workers, attempt.deal);
  }
};

/// A schedule without waits, and what they follow from.
struct ListedTasks {
  WorkerSchedule schedule;
  std::vector<Ordinal> groups; ///< of the tasks
};

/// A task for each group.
ListedTasks listTasks(const RowUnits& units, const RowGroups& groups, const Deal& deal, Uplo uplo,
                      int workers) {
  ListedTasks listed;
  WorkerSchedule& schedule = listed.schedule;
  schedule.num_workers = workers;
  schedule.first_task.assign(size_t(workers) + 1, 0);
  for (Ordinal g = 0; g < groups.count(); ++g)
    ++schedule.first_task[deal.places[g].worker + 1];
  for (int w = 0; w < workers; ++w) {
    schedule.most_tasks = std::max(schedule.most_tasks, schedule.first_task[w + 1]);
    schedule.first_task[w + 1] += schedule.first_task[w];
  }
  const RowPositions at{units.first.back(), uplo == Uplo::Lower};
  schedule.tasks.resize(size_t(groups.count()) + 1);
  schedule.tasks.back() = {0, 0, 0};
  listed.groups.resize(size_t(groups.count()));
  for (Ordinal g = 0; g < groups.count(); ++g) {
    const Place place = deal.places[g];
    const Ordinal t = schedule.first_task[place.worker] + place.task;
    const Ordinal begin = units.first[groups.first[g]], end = units.first[groups.first[g + 1]];
    schedule.tasks[t] = {at.lower ? begin : at(end - 1), at.lower ? end : at(begin) + 1, 0};
    listed.groups[t] = g;
  }
  return listed;
}

/// The waits of the tasks of one worker: if `counts` their numbers into first_wait, else
/// themselves.
struct FindWaits {
  const RowUnits& units;
  const RowGroups& groups;
  const std::vector<Place>& places;
  ListedTasks& listed;
  bool counts;

  void operator()(const Offset worker) const {
    WorkerSchedule& schedule = listed.schedule;
    Ordinal needed[most_workers], known[most_workers]; // tasks that others have done
    std::fill_n(needed, most_workers, -1);
    std::fill_n(known, most_workers, -1);
    for (Ordinal t = schedule.first_task[worker]; t < schedule.first_task[worker + 1]; ++t) {
      need(listed.groups[t], needed);
      Offset count = 0;
      for (int other = 0; other < schedule.num_workers; ++other) {
        if (other == worker || needed[other] <= known[other])
          continue;
        known[other] = needed[other];
        if (!counts)
          schedule.waits[schedule.tasks[t].first_wait + count] = {other, needed[other]};
        ++count;
      }
      if (counts)
        schedule.tasks[t].first_wait = count;
    }
  }

private:
  void need(Ordinal group, Ordinal* needed) const {
    const Offset end = units.first_source[groups.first[group + 1]];
    for (Offset k = units.first_source[groups.first[group]]; k < end; ++k) {
      const Place place = places[groups.group[units.sources[k]]];
      needed[place.worker] = std::max(needed[place.worker], place.task);
    }
  }
};

void findWaits(const Exec& exec, const RowUnits& units, const Attempt& attempt,
               ListedTasks& listed) {
  WorkerSchedule& schedule = listed.schedule;
  const auto run = [&](bool counts) {
    Kokkos::parallel_for("Ainvil::workerSchedules[waits]",
                         Range<Exec>(exec, 0, schedule.num_workers),
                         FindWaits{units, attempt.groups, attempt.deal.places, listed, counts});
    compat::fence(exec, "Ainvil::workerSchedules");
  };
  run(true);
  Offset num_waits = 0;
  for (WorkerTask& task : schedule.tasks)
    num_waits += std::exchange(task.first_wait, num_waits);
  schedule.waits.resize(size_t(num_waits));
  run(false);
}

} // namespace

double leastSharedTime(double alone, int workers) {
  return launch_time + alone / workers;
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
  std::vector<Attempt> attempts = listAttempts(units, workers, runs.size());
  // Attempts with short groups take longest.
  using OneByOne =
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<Offset>, Kokkos::Schedule<Kokkos::Dynamic>>;
  Kokkos::parallel_for("Ainvil::workerSchedules[attempts]",
                       OneByOne(exec, 0, Offset(attempts.size()), Kokkos::ChunkSize(1)),
                       MakeAttempt{units, runs, workers, attempts.data()});
  compat::fence(exec, "Ainvil::workerSchedules");
  std::vector<WorkerSchedule> schedules;
  for (size_t r = 0; r < runs.size(); ++r) {
    Attempt& best = *std::min_element(
        attempts.begin(), attempts.end(),
        [&](const Attempt& a, const Attempt& b) { return a.times[r] < b.times[r]; });
    const double time = launch_time + best.times[r];
    if (time >= timeAlone(graph.row_map(graph.num_rows), runs[r]))
      continue;
    dealOut(units, best.groups, runs[r], workers, best.deal);
    ListedTasks listed = listTasks(units, best.groups, best.deal, uplo, workers);
    findWaits(exec, units, best, listed);
    listed.schedule.costs = runs[r];
    listed.schedule.time = time;
    schedules.push_back(std::move(listed.schedule));
  }
  return schedules;
}

} // namespace detail
} // namespace ainvil
