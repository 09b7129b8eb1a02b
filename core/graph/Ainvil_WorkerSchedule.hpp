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

constexpr int most_workers = 64;     ///< threads in a host's team of Kokkos
constexpr Ordinal rows_of_group = 8; ///< scalars in a cache line

/// What a worker does in a step: the groups from `first_group` up to that of the next task, after
/// the waits from `first_wait` up to that of the next one.
struct WorkerTask {
  Ordinal step;
  Ordinal first_group;
  Offset first_wait;
};

/// Until `worker` has done what it has to do in `step`.
struct WorkerWait {
  int worker;
  Ordinal step;
};

/// The rows of a triangular pattern for threads of a host, workers, which run at the same time.
/// Rows are taken in groups of consecutive ones, which lie together in memory and do not wait for
/// each other. A step is a level set of groups; a worker has a contiguous part of it, with about as
/// many entries as the others have. It waits for those workers alone that this part depends on and
/// has not waited for already. Source: Park, Smelyanskiy, Sundaram, Dubey, Sparsifying
/// synchronization for high-performance shared-memory sparse triangular solver (2014), where the
/// matrix is stored in the order of its levels instead.
struct WorkerSchedule {
  int num_workers = 1;
  Ordinal num_steps = 0;           ///< 0: there is none
  std::vector<Ordinal> groups;     ///< worker by worker, step by step
  std::vector<WorkerTask> tasks;   ///< likewise; one behind the last
  std::vector<Ordinal> first_task; ///< of each worker; one behind the last
  std::vector<WorkerWait> waits;   ///< task by task
};

/// The schedule of the triangle `uplo` of a graph on a host, for all threads of the instance;
/// entries outside of the triangle are ignored. None if it has more than `most_steps` steps. Waits.
/// Cost: a pass over the graph by one thread, and two by all.
WorkerSchedule workerSchedule(const HostDevice::execution_space& exec, const KernelGraph& graph,
                              Uplo uplo, Ordinal most_steps);

/// How many steps each worker has done in all runs so far, modulo 2^32: nothing is reset.
struct WorkerProgress {
  static constexpr int stride = 32; ///< two cache lines, which some processors fetch together

  KernelArray<unsigned> done; ///< that of worker w at w * stride
  unsigned start;             ///< of this run

  void announce(int worker, Ordinal step) const {
    compat::storeRelease(&done(Offset(worker) * stride), after(step));
  }
  /// Returns once what it waits for is visible; `seen` has what was last seen of each worker. After
  /// about a hundred microseconds it sleeps between looks: whom it waits for may have no core, and
  /// one that only yields keeps its claim to one.
  void wait(const WorkerWait& wait, unsigned* seen) const {
    constexpr int looks_before_sleep = 1 << 16;
    for (int looks = 0; isPending(seen[wait.worker], wait.step); ++looks) {
      if (looks > looks_before_sleep)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      seen[wait.worker] = compat::loadAcquire(&done(Offset(wait.worker) * stride));
    }
  }

private:
  unsigned after(Ordinal step) const { return start + static_cast<unsigned>(step) + 1; }
  bool isPending(unsigned done_steps, Ordinal step) const {
    return done_steps - after(step) > UINT_MAX / 2;
  }
};

/// The kernel of a worker: body(member, first, end, scratch) for the rows of each of its groups.
template <class Body>
struct WorkerRows {
  Body body;
  KernelArray<const Ordinal> groups;
  KernelArray<const WorkerTask> tasks;
  KernelArray<const Ordinal> first_task;
  KernelArray<const WorkerWait> waits;
  WorkerProgress progress;
  int num_workers;
  Ordinal num_rows;
  std::size_t scratch_bytes;

  template <class Member>
  void operator()(const Member& member) const {
    void* const scratch = member.thread_scratch(0).get_shmem(scratch_bytes);
    const int worker = member.team_rank();
    // A launch in a parallel region of somebody else has one thread, whatever was asked for.
    if (num_workers == 1 || member.team_size() < num_workers) {
      body(member, 0, num_rows, scratch);
      return;
    }
    unsigned seen[most_workers];
    std::fill_n(seen, num_workers, progress.start);
    for (Ordinal t = first_task(worker); t < first_task(worker + 1); ++t) {
      for (Offset w = tasks(t).first_wait; w < tasks(t + 1).first_wait; ++w)
        progress.wait(waits(w), seen);
      for (Ordinal g = tasks(t).first_group; g < tasks(t + 1).first_group; ++g) {
        const Ordinal first = groups(g) * rows_of_group;
        body(member, first, std::min(num_rows - first, rows_of_group) + first, scratch);
      }
      progress.announce(worker, tasks(t).step);
    }
  }
};

} // namespace detail
} // namespace ainvil
