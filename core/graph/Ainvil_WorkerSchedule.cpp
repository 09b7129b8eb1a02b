// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_WorkerSchedule.hpp"

#include "backend/Ainvil_Profiling.hpp"

#include <utility>

namespace ainvil {
namespace detail {
namespace {

using Exec = HostDevice::execution_space;

/// Who takes a group, and in which step.
using Place = WorkerWait;

/// Groups by step, ascending in each, and where each step begins.
struct Steps {
  std::vector<Ordinal> groups, begins;

  Ordinal count() const { return static_cast<Ordinal>(begins.size()) - 1; }
};

/// The entries of the rows of a group.
std::pair<Offset, Offset> entriesOf(const KernelGraph& graph, Ordinal group) {
  const Offset first = Offset(group) * rows_of_group;
  return {graph.row_map(first),
          graph.row_map(std::min<Offset>(first + rows_of_group, graph.num_rows))};
}

/// step(g) = 1 + the highest step(h) over the groups h that rows of g have entries in, 0 without
/// any; by one thread, which visits groups behind those that they depend on.
struct FindSteps {
  KernelGraph graph;
  bool lower;
  Ordinal* step;
  Ordinal num_groups;

  void operator()(Offset) const {
    for (Ordinal k = 0; k < num_groups; ++k) {
      const Ordinal group = lower ? k : num_groups - 1 - k;
      const auto entries = entriesOf(graph, group);
      Ordinal next = 0;
      for (Offset e = entries.first; e < entries.second; ++e) {
        const Ordinal other = graph.entries(e) / rows_of_group;
        if (lower ? other < group : other > group)
          next = std::max(next, step[other] + 1);
      }
      step[group] = next;
    }
  }
};

Steps findSteps(const Exec& exec, const KernelGraph& graph, bool lower) {
  std::vector<Ordinal> step((size_t(graph.num_rows) + rows_of_group - 1) / rows_of_group);
  const auto num_groups = static_cast<Ordinal>(step.size());
  Kokkos::parallel_for("Ainvil::workerSchedule[steps]", Range<Exec>(exec, 0, 1),
                       FindSteps{graph, lower, step.data(), num_groups});
  compat::fence(exec, "Ainvil::workerSchedule");
  Steps steps;
  steps.begins.assign(num_groups > 0 ? *std::max_element(step.begin(), step.end()) + 2 : 1, 0);
  for (const Ordinal s : step)
    ++steps.begins[s + 1];
  for (size_t s = 1; s < steps.begins.size(); ++s)
    steps.begins[s] += steps.begins[s - 1];
  std::vector<Ordinal> next(steps.begins);
  steps.groups.resize(step.size());
  for (Ordinal group = 0; group < num_groups; ++group)
    steps.groups[next[step[group]]++] = group;
  return steps;
}

/// The place of each group: a step is dealt out in contiguous parts of about as many entries each.
std::vector<Place> dealOut(const KernelGraph& graph, const Steps& steps, int workers) {
  std::vector<Place> places(steps.groups.size());
  const auto work = [&](Ordinal i) {
    const auto entries = entriesOf(graph, steps.groups[i]);
    return entries.second - entries.first + rows_of_group; // no group is for nothing
  };
  for (Ordinal step = 0; step < steps.count(); ++step) {
    const Ordinal begin = steps.begins[step], end = steps.begins[step + 1];
    Offset all = 0, before = 0;
    for (Ordinal i = begin; i < end; ++i)
      all += work(i);
    const Offset parts = std::min<Offset>(workers, end - begin);
    for (Ordinal i = begin; i < end; ++i) {
      const Offset part = before * parts / all;
      places[steps.groups[i]] = {static_cast<int>(part * workers / parts), step};
      before += work(i);
    }
  }
  return places;
}

/// The tasks of all workers and their groups.
void listTasks(const Steps& steps, const std::vector<Place>& places, WorkerSchedule& schedule) {
  const auto workers = static_cast<size_t>(schedule.num_workers);
  std::vector<std::vector<WorkerTask>> tasks(workers);
  std::vector<std::vector<Ordinal>> groups(workers);
  for (const Ordinal group : steps.groups) {
    const Place place = places[group];
    auto& mine = tasks[place.worker];
    if (mine.empty() || mine.back().step != place.step)
      mine.push_back({place.step, static_cast<Ordinal>(groups[place.worker].size()), 0});
    groups[place.worker].push_back(group);
  }
  schedule.first_task.assign(1, 0);
  for (size_t w = 0; w < workers; ++w) {
    const auto before = static_cast<Ordinal>(schedule.groups.size());
    for (WorkerTask task : tasks[w]) {
      task.first_group += before;
      schedule.tasks.push_back(task);
    }
    schedule.groups.insert(schedule.groups.end(), groups[w].begin(), groups[w].end());
    schedule.first_task.push_back(static_cast<Ordinal>(schedule.tasks.size()));
  }
  schedule.tasks.push_back({schedule.num_steps, static_cast<Ordinal>(schedule.groups.size()), 0});
}

/// The waits of the tasks of one worker: if `counts` their numbers into first_wait, else
/// themselves.
struct FindWaits {
  KernelGraph graph;
  bool lower;
  KernelArray<const Place> places;
  int num_workers;
  KernelArray<const Ordinal> groups, first_task;
  WorkerTask* tasks;
  WorkerWait* waits;
  bool counts;

  void operator()(const Offset worker) const {
    Ordinal needed[most_workers], known[most_workers]; // steps that others have done
    std::fill_n(needed, most_workers, -1);
    std::fill_n(known, most_workers, -1);
    for (Ordinal t = first_task(worker); t < first_task(worker + 1); ++t) {
      for (Ordinal g = tasks[t].first_group; g < tasks[t + 1].first_group; ++g)
        need(groups(g), needed);
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
  void need(Ordinal group, Ordinal* needed) const {
    const auto entries = entriesOf(graph, group);
    for (Offset e = entries.first; e < entries.second; ++e) {
      const Ordinal other = graph.entries(e) / rows_of_group;
      if (lower ? other >= group : other <= group)
        continue;
      const Place place = places(other);
      needed[place.worker] = std::max(needed[place.worker], place.step);
    }
  }
};

void findWaits(const Exec& exec, const KernelGraph& graph, bool lower,
               const std::vector<Place>& places, WorkerSchedule& schedule) {
  const auto run = [&](bool counts) {
    Kokkos::parallel_for(
        "Ainvil::workerSchedule[waits]", Range<Exec>(exec, 0, schedule.num_workers),
        FindWaits{graph, lower, places, schedule.num_workers, schedule.groups, schedule.first_task,
                  schedule.tasks.data(), schedule.waits.data(), counts});
    compat::fence(exec, "Ainvil::workerSchedule");
  };
  run(true);
  Offset num_waits = 0;
  for (WorkerTask& task : schedule.tasks)
    num_waits += std::exchange(task.first_wait, num_waits);
  schedule.waits.resize(size_t(num_waits));
  run(false);
}

} // namespace

WorkerSchedule workerSchedule(const Exec& exec, const KernelGraph& graph, Uplo uplo,
                              Ordinal most_steps) {
  ScopedRegion region("Ainvil::workerSchedule");
  const bool lower = uplo == Uplo::Lower;
  const Steps steps = findSteps(exec, graph, lower);
  WorkerSchedule schedule;
  if (steps.count() > most_steps)
    return schedule;
  schedule.num_steps = steps.count();
  schedule.num_workers = std::min(exec.concurrency(), most_workers);
  const std::vector<Place> places = dealOut(graph, steps, schedule.num_workers);
  listTasks(steps, places, schedule);
  findWaits(exec, graph, lower, places, schedule);
  return schedule;
}

} // namespace detail
} // namespace ainvil
