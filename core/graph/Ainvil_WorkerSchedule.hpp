// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How threads of a host share the rows of a triangular pattern, and which of them wait for which.

#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_RowTeams.hpp"

#include <algorithm>
#include <chrono>
#include <climits>
#include <thread>
#include <vector>

namespace ainvil {
namespace detail {

constexpr int most_workers = 64; ///< threads in a host's team of Kokkos

/// What a run over the rows of a triangle takes on a core of a host, about, in nanoseconds.
struct RowCosts {
  double entry = 0;     ///< an entry, where rows come in the order of memory
  double scattered = 1; ///< how many times as long just after a jump to rows elsewhere
  int block_size = 1;   ///< of the rows

  /// Substitution reads: what hardware reads ahead is not there after a jump.
  static RowCosts ofSolve(int bs) { return {0.7 * bs * bs, 3.5, bs}; }
  /// Factorisation computes.
  static RowCosts ofFactorization(int bs) { return {12 + 2.0 * bs * bs * bs, 1.25, bs}; }
};

/// What a worker does at a time: consecutive rows, one after the other, after the waits from
/// `first_wait` up to that of the next task.
struct WorkerTask {
  Ordinal first, end; ///< rows
  Offset first_wait;
};

/// Until `worker` has done its task of this number, from 0 on.
struct WorkerWait {
  int worker;
  Ordinal task;
};

/// The rows of a triangular pattern for threads of a host, workers, which run at the same time:
/// who takes which of them, one after the other, and which tasks of others he waits for, those
/// alone that he has not waited for already.
struct WorkerSchedule {
  int num_workers = 1;
  RowCosts costs;                  ///< for which it was made
  double time = 0;                 ///< that it takes then, about, in nanoseconds
  Ordinal most_tasks = 0;          ///< that a worker has
  std::vector<WorkerTask> tasks;   ///< worker by worker; one behind the last
  std::vector<Ordinal> first_task; ///< of each worker; one behind the last
  std::vector<WorkerWait> waits;   ///< task by task
};

/// For each of the runs that gain by it, a schedule of the triangle `uplo` of a graph on a host
/// with ascending rows; entries outside of the triangle are ignored. A run gains if its schedule
/// takes less time than one thread. At most most_workers. Waits.
///
/// A task is a group of consecutive rows (RowGroups), which lie together in memory. Groups are
/// dealt out in their order, each to the worker that is done with it first, at
///   done = max(here, there + 1000) + 100, if it waits for somebody, + the time of its entries,
/// where `there` is when all groups of others that it has entries in are done: until that is seen,
/// and what they have written is fetched, a thousand nanoseconds go by, and to look for it takes a
/// hundred. The worker is `here` after its last group, and where this one does not follow that in
/// memory after so many nanoseconds more:
///   min((scattered - 1) t, 600) for rows that one core takes in time t where they follow,
/// as it takes hardware that long until it reads ahead again. So on a grid workers take lines, or
/// planes, in turn, each a little behind the one before. Groups are as long as makes the last one
/// be done first, among those of one unit (RowUnits), two, four, and so on. All figures are
/// estimates (AMD EPYC and Intel Xeon). Sources: Topcuoglu, Hariri, Wu, Performance-effective and
/// low-complexity task scheduling for heterogeneous computing (2002), earliest finish times; Park,
/// Smelyanskiy, Sundaram, Dubey, Sparsifying synchronization for high-performance shared-memory
/// sparse triangular solver (2014), for single waits, where workers share level sets instead.
///
/// Cost: two passes over the graph by all threads of the instance; by one thread a pass over its
/// rows; and by as many threads as there are lengths a pass over units, of which there are at most
/// about a thousand a worker on grids.
std::vector<WorkerSchedule> workerSchedules(const HostDevice::execution_space& exec,
                                            const KernelGraph& graph, Uplo uplo,
                                            const std::vector<RowCosts>& runs, int workers);

/// How long, about, one thread takes for so many entries, in nanoseconds.
inline double timeAlone(Offset entries, const RowCosts& costs) {
  return costs.entry * double(entries);
}

/// No schedule for so many workers takes less.
double leastSharedTime(double alone, int workers);

/// For how long a worker looks, again and again, for what it waits for, before it sleeps between
/// looks: at each wait for 512 looks, ten to thirty microseconds, and for more while it has
/// patience left, some milliseconds, of which each run gives back four times what it takes by the
/// model. So none should sleep where every worker has a core, even on machines a few times as slow
/// as the model: those who wait for it would sleep in turn. Where whom it waits for has none, since
/// others are at work there, it leaves him its own soon.
class Patience {
public:
  static constexpr Ordinal looks_of_wait = 512, most_looks = 1 << 18;
  static constexpr double look_time = 25; ///< in nanoseconds, about

  /// For a run that takes so many nanoseconds by the model, after runs that have spent so many
  /// looks.
  Patience(Ordinal spent, double run_time)
      : spent_(spent - std::min(spent, static_cast<Ordinal>(std::min(4 * run_time / look_time,
                                                                     1.0 * most_looks)))) {}

  /// Whether to sleep after so many looks in a wait.
  bool isOver(Ordinal looks) {
    if (looks < looks_of_wait)
      return false;
    if (spent_ == most_looks)
      return true;
    ++spent_;
    return false;
  }
  Ordinal spent() const { return spent_; } ///< by this run and those before, so far

private:
  Ordinal spent_;
};

/// How many tasks each worker has done in all runs so far, modulo 2^32: nothing is reset, so one
/// that is done with a run counts as many as the worker with the most.
struct WorkerProgress {
  static constexpr int stride = 32; ///< two cache lines, which some processors fetch together

  KernelArray<unsigned> done; ///< that of worker w at w * stride
  KernelArray<Ordinal> spent; ///< of its patience, likewise
  unsigned start;             ///< of this run
  double run_time;            ///< by the model, in nanoseconds

  void announce(int worker, Ordinal tasks) const {
    compat::storeRelease(&done(Offset(worker) * stride), after(tasks));
  }
  Patience patienceOf(int worker) const { return {spent(Offset(worker) * stride), run_time}; }
  void keep(int worker, const Patience& patience) const {
    spent(Offset(worker) * stride) = patience.spent();
  }
  /// Returns once what it waits for is visible; `seen` has what was last seen of each worker.
  void wait(const WorkerWait& wait, unsigned* seen, Patience& patience) const {
    for (Ordinal looks = 0; isPending(seen[wait.worker], wait.task + 1); ++looks) {
      if (patience.isOver(looks)) // only to yield would keep its claim to a core
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      compat::pause();
      seen[wait.worker] = compat::loadAcquire(&done(Offset(wait.worker) * stride));
    }
  }

private:
  unsigned after(Ordinal tasks) const { return start + static_cast<unsigned>(tasks); }
  bool isPending(unsigned done_tasks, Ordinal tasks) const {
    return done_tasks - after(tasks) > UINT_MAX / 2;
  }
};

/// The rows of some tasks in the order in which a worker takes them, for a worker that asks its
/// caches for a row while it is so many rows before it. Where a task ends it goes on with the next
/// one, which may lie elsewhere in memory: there the prefetcher of the hardware has to begin anew.
class RowsAhead {
public:
  /// Of no rows, for bodies that ask for none.
  RowsAhead() = default;
  /// For the tasks from `task` up to `end`, each from its last row on if `downwards`; the first
  /// `rows` rows are left out, the last one is followed by -1.
  RowsAhead(const WorkerTask* task, const WorkerTask* end, bool downwards, Ordinal rows)
      : task_(task), end_(end), step_(downwards ? -1 : 1) {
    begin();
    for (Ordinal k = 0; k < rows && row_ >= 0; ++k)
      next();
  }

  Ordinal next() {
    const Ordinal row = row_;
    if (row_ == last_) {
      task_ += task_ < end_ ? 1 : 0;
      begin();
    } else {
      row_ += step_;
    }
    return row;
  }

private:
  void begin() {
    row_ = last_ = -1;
    if (task_ < end_) {
      row_ = step_ > 0 ? task_->first : task_->end - 1;
      last_ = step_ > 0 ? task_->end - 1 : task_->first;
    }
  }

  const WorkerTask* task_ = nullptr;
  const WorkerTask* end_ = nullptr;
  int step_ = 1;
  Ordinal row_ = -1, last_ = -1;
};

/// The kernel of a worker: body(member, first, end, scratch, ahead) for the rows of each of its
/// tasks. `ahead` is what body.rowsAhead(task, end) gives for all of them, a RowsAhead of which
/// the body takes a row for each of its own.
template <class Body>
struct WorkerRows {
  Body body;
  KernelArray<const WorkerTask> tasks;
  KernelArray<const Ordinal> first_task;
  KernelArray<const WorkerWait> waits;
  WorkerProgress progress;
  int num_workers;
  Ordinal most_tasks;
  Ordinal num_rows;
  std::size_t scratch_bytes;

  template <class Member>
  void operator()(const Member& member) const {
    void* const scratch = member.thread_scratch(0).get_shmem(scratch_bytes);
    const int worker = member.team_rank();
    // A launch in a parallel region of somebody else has one thread, whatever was asked for.
    if (num_workers == 1 || member.team_size() < num_workers) {
      const WorkerTask all{0, num_rows, 0};
      RowsAhead ahead = body.rowsAhead(&all, &all + (num_rows > 0 ? 1 : 0));
      body(member, 0, num_rows, scratch, ahead);
      return;
    }
    const Ordinal begin = first_task(worker), end = first_task(worker + 1);
    RowsAhead ahead = body.rowsAhead(tasks.data() + begin, tasks.data() + end);
    unsigned seen[most_workers];
    std::fill_n(seen, num_workers, progress.start);
    Patience patience = progress.patienceOf(worker);
    for (Ordinal t = begin; t < end; ++t) {
      for (Offset w = tasks(t).first_wait; w < tasks(t + 1).first_wait; ++w)
        progress.wait(waits(w), seen, patience);
      body(member, tasks(t).first, tasks(t).end, scratch, ahead);
      progress.announce(worker, t - begin + 1);
    }
    progress.announce(worker, most_tasks);
    progress.keep(worker, patience);
  }
};

} // namespace detail
} // namespace ainvil
