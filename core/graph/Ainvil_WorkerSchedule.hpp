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
  double entry;       ///< an entry, where rows come in the order of memory
  double scattered;   ///< how many times as long just after a jump to rows elsewhere
  int block_size = 1; ///< of the rows

  /// Substitution reads: what hardware reads ahead is not there after a jump.
  static RowCosts ofSolve(int bs) { return {0.7 * bs * bs, 3.5, bs}; }
  /// Factorisation computes.
  static RowCosts ofFactorization(int bs) { return {12 + 2.0 * bs * bs * bs, 1.25, bs}; }
};

/// Consecutive rows that a worker takes one after the other.
struct WorkerPiece {
  Ordinal first, end;
  Offset entries;
};

/// What a worker does in a step: the pieces from `first_piece` up to that of the next task, after
/// the waits from `first_wait` up to that of the next one.
struct WorkerTask {
  Ordinal step;
  Ordinal first_piece;
  Offset first_wait;
};

/// Until `worker` has done what it has to do in `step`.
struct WorkerWait {
  int worker;
  Ordinal step;
};

/// The rows of a triangular pattern for threads of a host, workers, which run at the same time.
/// Rows are taken in groups of consecutive ones (RowGroups), which lie together in memory and do
/// not wait for each other. A step is a level set of groups; a worker has a contiguous part of it,
/// with about as many entries as the others have. It waits for those workers alone that this part
/// depends on and has not waited for already. Source: Park, Smelyanskiy, Sundaram, Dubey,
/// Sparsifying synchronization for high-performance shared-memory sparse triangular solver (2014),
/// where the matrix is stored in the order of its levels instead.
struct WorkerSchedule {
  int num_workers = 1;
  Ordinal num_steps = 0;
  std::vector<WorkerPiece> pieces; ///< worker by worker, step by step
  std::vector<WorkerTask> tasks;   ///< likewise; one behind the last
  std::vector<Ordinal> first_task; ///< of each worker; one behind the last
  std::vector<WorkerWait> waits;   ///< task by task
};

/// For each of the runs that gain by it, a schedule of the triangle `uplo` of a graph on a host
/// with ascending rows; entries outside of the triangle are ignored. Groups are as long as makes
/// sharedTime() least, among ten to twenty lengths and ways to join units, and a run gains if that
/// is less than what one thread takes. At most most_workers. Waits. Cost: two passes over the graph
/// by all threads of the instance; by one thread a pass over its rows, and for each of the lengths
/// one over units of rows (RowUnits), of which there are at most about a thousand a worker on
/// grids, and in all at most four over the graph.
std::vector<WorkerSchedule> workerSchedules(const HostDevice::execution_space& exec,
                                            const KernelGraph& graph, Uplo uplo,
                                            const std::vector<RowCosts>& runs, int workers);

/// How long, about, one thread takes for so many entries, in nanoseconds.
inline double timeAlone(Offset entries, const RowCosts& costs) {
  return costs.entry * double(entries);
}

/// How long, about, the workers of a schedule take:
///   5000 + sum over steps of (150 + the longest time of a worker in the step),
/// because a launch takes microseconds, and in a step somebody waits for what another core has just
/// written. A piece that one core takes in time t where it follows the one before in memory takes
///   t + min((scattered - 1) t, 600)
/// after a jump: that long until the hardware reads ahead again. All are estimates (two AMD EPYC).
double sharedTime(const WorkerSchedule& schedule, Uplo uplo, const RowCosts& costs);

/// No schedule for so many workers takes less.
double leastSharedTime(double alone, int workers);

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
    constexpr int looks_before_sleep = 1 << 12;
    for (int looks = 0; isPending(seen[wait.worker], wait.step); ++looks) {
      if (looks > looks_before_sleep)
        std::this_thread::sleep_for(std::chrono::microseconds(50));
      compat::pause();
      seen[wait.worker] = compat::loadAcquire(&done(Offset(wait.worker) * stride));
    }
  }

private:
  unsigned after(Ordinal step) const { return start + static_cast<unsigned>(step) + 1; }
  bool isPending(unsigned done_steps, Ordinal step) const {
    return done_steps - after(step) > UINT_MAX / 2;
  }
};

/// The rows of some pieces in the order in which a worker takes them, for a worker that asks its
/// caches for a row while it is so many rows before it. Where a piece ends it goes on with the next
/// one, which lies elsewhere in memory: there the prefetcher of the hardware has to begin anew.
class RowsAhead {
public:
  /// Of no rows, for bodies that ask for none.
  RowsAhead() = default;
  /// For the pieces from `piece` up to `end`, each from its last row on if `downwards`; the first
  /// `rows` rows are left out, the last one is followed by -1.
  RowsAhead(const WorkerPiece* piece, const WorkerPiece* end, bool downwards, Ordinal rows)
      : piece_(piece), end_(end), step_(downwards ? -1 : 1) {
    begin();
    for (Ordinal k = 0; k < rows && row_ >= 0; ++k)
      next();
  }

  Ordinal next() {
    const Ordinal row = row_;
    if (row_ == last_) {
      piece_ += piece_ < end_ ? 1 : 0;
      begin();
    } else {
      row_ += step_;
    }
    return row;
  }

private:
  void begin() {
    row_ = last_ = -1;
    if (piece_ < end_) {
      row_ = step_ > 0 ? piece_->first : piece_->end - 1;
      last_ = step_ > 0 ? piece_->end - 1 : piece_->first;
    }
  }

  const WorkerPiece* piece_ = nullptr;
  const WorkerPiece* end_ = nullptr;
  int step_ = 1;
  Ordinal row_ = -1, last_ = -1;
};

/// The kernel of a worker: body(member, first, end, scratch, ahead) for the rows of each of its
/// pieces. `ahead` is what body.rowsAhead(piece, end) gives for all of them, a RowsAhead of which
/// the body takes a row for each of its own.
template <class Body>
struct WorkerRows {
  Body body;
  KernelArray<const WorkerPiece> pieces;
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
      const WorkerPiece all{0, num_rows, 0};
      RowsAhead ahead = body.rowsAhead(&all, &all + (num_rows > 0 ? 1 : 0));
      body(member, 0, num_rows, scratch, ahead);
      return;
    }
    const WorkerPiece* const mine = pieces.data();
    RowsAhead ahead = body.rowsAhead(mine + tasks(first_task(worker)).first_piece,
                                     mine + tasks(first_task(worker + 1)).first_piece);
    unsigned seen[most_workers];
    std::fill_n(seen, num_workers, progress.start);
    for (Ordinal t = first_task(worker); t < first_task(worker + 1); ++t) {
      for (Offset w = tasks(t).first_wait; w < tasks(t + 1).first_wait; ++w)
        progress.wait(waits(w), seen);
      for (Ordinal k = tasks(t).first_piece; k < tasks(t + 1).first_piece; ++k)
        body(member, pieces(k).first, pieces(k).end, scratch, ahead);
      progress.announce(worker, tasks(t).step);
    }
  }
};

} // namespace detail
} // namespace ainvil
