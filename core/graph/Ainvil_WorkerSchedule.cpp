// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_WorkerSchedule.hpp"

#include "backend/Ainvil_Profiling.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace detail {
namespace {

/// Who takes a group, and in which step.
using Place = WorkerWait;

/// The entries of the rows of a group.
template <class Device>
std::pair<Offset, Offset> entriesOf(const Graph<Device>& graph, Ordinal group) {
  const Offset first = Offset(group) * rows_of_group;
  return {graph.row_map(first),
          graph.row_map(std::min<Offset>(first + rows_of_group, graph.num_rows))};
}

/// The place of each group: a step is dealt out in contiguous parts of about as many entries each.
template <class Device>
void dealOut(const Graph<Device>& graph, const LevelSets<Device>& sets, int workers,
             const Kokkos::View<Place*, Device>& places) {
  const auto work = [&](Ordinal i) {
    const auto entries = entriesOf(graph, sets.rows(i));
    return entries.second - entries.first + rows_of_group; // no group is for nothing
  };
  for (Ordinal step = 0; step < sets.numLevels(); ++step) {
    const Ordinal begin = sets.offsets[step], end = sets.offsets[step + 1];
    Offset all = 0, before = 0;
    for (Ordinal i = begin; i < end; ++i)
      all += work(i);
    const Offset parts = std::min<Offset>(workers, end - begin);
    for (Ordinal i = begin; i < end; ++i) {
      const Offset part = before * parts / all;
      places(sets.rows(i)) = {static_cast<int>(part * workers / parts), step};
      before += work(i);
    }
  }
}

/// Calls use(group, worker, is_first) for all groups, step by step; `is_first` tells whether it
/// begins a task.
template <class Device, class Use>
void forGroups(const LevelSets<Device>& sets, const Kokkos::View<Place*, Device>& places,
               const Use& use) {
  Ordinal last_step[most_workers];
  std::fill_n(last_step, most_workers, -1);
  for (Ordinal i = 0; i < Ordinal(sets.rows.extent(0)); ++i) {
    const Ordinal group = sets.rows(i);
    const Place place = places(group);
    use(group, place, last_step[place.worker] != place.step);
    last_step[place.worker] = place.step;
  }
}

/// The tasks of all workers and their groups.
template <class Device>
void listTasks(const typename Device::execution_space& exec, const LevelSets<Device>& sets,
               const Kokkos::View<Place*, Device>& places, WorkerSchedule<Device>& schedule) {
  const int workers = schedule.num_workers;
  const auto first_task = allocateZeros<Ordinal, Device>(exec, "Ainvil::first_task", workers + 1);
  compat::fence(exec, "Ainvil::workerSchedule");
  Ordinal next_group[most_workers + 1] = {}, next_task[most_workers];
  forGroups(sets, places, [&](Ordinal, const Place& place, bool is_first) {
    ++next_group[place.worker + 1];
    first_task(place.worker + 1) += is_first;
  });
  for (int w = 0; w < workers; ++w) {
    next_group[w + 1] += next_group[w];
    first_task(w + 1) += first_task(w);
    next_task[w] = first_task(w);
  }
  const Ordinal num_groups = next_group[workers], num_tasks = first_task(workers);
  schedule.groups = allocate<Ordinal, Device>(exec, "Ainvil::groups", num_groups);
  schedule.tasks = allocate<WorkerTask, Device>(exec, "Ainvil::tasks", num_tasks + 1);
  schedule.first_task = first_task;
  compat::fence(exec, "Ainvil::workerSchedule");
  forGroups(sets, places, [&](Ordinal group, const Place& place, bool is_first) {
    if (is_first)
      schedule.tasks(next_task[place.worker]++) = {place.step, next_group[place.worker]};
    schedule.groups(next_group[place.worker]++) = group;
  });
  schedule.tasks(num_tasks) = {schedule.num_steps, num_groups};
}

/// The waits of the tasks of one worker: their numbers in first_wait while there is no room for
/// them, else themselves.
template <class Device>
struct FindWaits {
  WorkerSchedule<Device> schedule;
  Graph<Device> graph;
  bool lower;
  Kokkos::View<const Place*, Device> places;

  void operator()(const Offset worker) const {
    Ordinal needed[most_workers], known[most_workers]; // steps that others have done
    std::fill_n(needed, most_workers, -1);
    std::fill_n(known, most_workers, -1);
    const bool counts = schedule.waits.data() == nullptr;
    for (Ordinal t = schedule.first_task(worker); t < schedule.first_task(worker + 1); ++t) {
      for (Ordinal g = schedule.tasks(t).first_group; g < schedule.tasks(t + 1).first_group; ++g)
        need(schedule.groups(g), needed);
      Offset count = 0;
      for (int other = 0; other < schedule.num_workers; ++other) {
        if (other == worker || needed[other] <= known[other])
          continue;
        known[other] = needed[other];
        if (!counts)
          schedule.waits(schedule.first_wait(t) + count) = {other, needed[other]};
        ++count;
      }
      if (counts)
        schedule.first_wait(t) = count;
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

template <class Device>
void findWaits(const typename Device::execution_space& exec, const Graph<Device>& graph, Uplo uplo,
               const Kokkos::View<Place*, Device>& places, WorkerSchedule<Device>& schedule) {
  using Exec = typename Device::execution_space;
  schedule.first_wait =
      allocate<Offset, Device>(exec, "Ainvil::first_wait", schedule.tasks.extent(0));
  const auto run = [&] {
    Kokkos::parallel_for("Ainvil::workerSchedule[waits]",
                         Range<Exec>(exec, 0, schedule.num_workers),
                         FindWaits<Device>{schedule, graph, uplo == Uplo::Lower, places});
  };
  run();
  const Offset num_waits = countsToOffsets(exec, schedule.first_wait);
  if (num_waits == 0)
    return;
  schedule.waits = allocate<WorkerWait, Device>(exec, "Ainvil::waits", num_waits);
  run();
  compat::fence(exec, "Ainvil::workerSchedule");
}

} // namespace

template <class Device>
WorkerSchedule<Device> workerSchedule(const typename Device::execution_space& exec,
                                      const Graph<Device>& graph, Uplo uplo, Ordinal most_steps) {
  using Exec = typename Device::execution_space;
  WorkerSchedule<Device> schedule;
  if constexpr (!compat::IsGpu<Exec>::value) {
    ScopedRegion region("Ainvil::workerSchedule");
    const LevelSets<Device> sets = levelSetsOfGroups(exec, graph, uplo);
    if (sets.numLevels() > most_steps)
      return schedule;
    schedule.num_steps = sets.numLevels();
    schedule.num_workers = std::min(exec.concurrency(), most_workers);
    const auto places = allocate<Place, Device>(exec, "Ainvil::places", sets.rows.extent(0));
    compat::fence(exec, "Ainvil::workerSchedule");
    dealOut(graph, sets, schedule.num_workers, places);
    listTasks(exec, sets, places, schedule);
    findWaits(exec, graph, uplo, places, schedule);
  }
  return schedule;
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template WorkerSchedule<DEVICE> workerSchedule<DEVICE>(const typename DEVICE::execution_space&,  \
                                                         const Graph<DEVICE>&, Uplo, Ordinal);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
