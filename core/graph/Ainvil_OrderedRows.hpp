// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Running over rows that depend on each other: triangular solves and factorisations.

#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "graph/Ainvil_LevelSets.hpp"

#include <climits>

namespace ainvil {
namespace detail {

/// Lets a row wait for rows it depends on, and announces it. With `Spin` false the caller has
/// already ordered the rows, and nothing is waited for.
template <class Device, bool Spin>
struct RowGate {
  KernelArray<unsigned> done; ///< epoch in which a row was last finished
  unsigned epoch = 0;

  /// Whether a row that was last finished in epoch `finished` is not yet in this one. Epochs wrap
  /// around, so that the sign of their difference decides, not their size.
  KOKKOS_INLINE_FUNCTION bool isPending(unsigned finished) const {
    return finished - epoch > UINT_MAX / 2;
  }

  /// Returns once row j is finished and its results are visible to the calling lane.
  KOKKOS_INLINE_FUNCTION void wait(Ordinal j) const {
    if (Spin) {
      // An acquire empties the first-level cache of the whole multiprocessor: volatile loads look
      // at the flag until the row is finished.
      if (isPending(compat::loadAcquire(&done(j)))) {
        while (isPending(compat::volatileLoad(&done(j)))) {
        }
        compat::loadAcquire(&done(j));
      }
    }
  }

  /// To be called by all lanes of a row after their last write.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void announce(const Member& member, Ordinal row) const {
    if (Spin) {
      joinLanes(member); // what they wrote happens before one of them raises the flag
      Kokkos::single(Kokkos::PerThread(member), [&]() { compat::storeRelease(&done(row), epoch); });
    }
  }
};

template <class Device, bool Spin, class Body>
struct OrderedRowBody {
  Body body;
  KernelArray<const Ordinal> rows;
  Ordinal first;
  int step; ///< 1 or -1
  RowGate<Device, Spin> gate;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal index, void* scratch) const {
    const Ordinal row = rows(first + step * index);
    body(member, row, scratch, gate);
    gate.announce(member, row);
  }
};

/// All rows one after the other by the one thread that this is launched for; `downwards` from the
/// last one on.
template <class Device, class Body>
struct RowsInTurnBody {
  Body body;
  Ordinal num_rows;
  bool downwards;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal, void* scratch) const {
    for (Ordinal i = 0; i < num_rows; ++i)
      body(member, downwards ? num_rows - 1 - i : i, scratch, RowGate<Device, false>());
  }
};

/// On a host: body(worker, i) for the rows first <= i < last, a contiguous part of them a worker.
/// Calls with the same worker, 0 <= worker < exec.concurrency(), are never at the same time.
template <class Exec, class Body>
void forPartsOfRows(const Exec& exec, const char* label, Ordinal first, Ordinal last,
                    const Body& body) {
  const Offset workers = std::max(1, std::min<int>(exec.concurrency(), last - first));
  const auto bound = [=](Offset part) {
    return static_cast<Ordinal>(first + part * (last - first) / workers);
  };
  Kokkos::parallel_for(label, Range<Exec>(exec, 0, workers), [&](const Offset worker) {
    for (Ordinal i = bound(worker); i < bound(worker + 1); ++i)
      body(static_cast<int>(worker), i);
  });
  compat::fence(exec, label);
}

} // namespace detail

/// The order in which the rows of a triangular pattern can be worked on. Where teams may wait for
/// each other the rows go into a single launch, a warp each, level by level in the order in which
/// teams start, and wait for each other through one flag a row. Elsewhere every level is a launch
/// of its own; but on a host one thread takes the rows as they stand in memory where levels promise
/// no gain. One run at a time per object.
template <class Device>
class OrderedRows {
public:
  using execution_space = typename Device::execution_space;

  OrderedRows() = default;
  // Flags and epoch belong together: a copy would share the one and not the other.
  OrderedRows(const OrderedRows&) = delete;
  OrderedRows& operator=(const OrderedRows&) = delete;
  OrderedRows(OrderedRows&&) = default;            ///< takes the flags along
  OrderedRows& operator=(OrderedRows&&) = default; ///< likewise
  /// Finds the level sets of the triangle `uplo` of the graph: see levelSets(). Waits. `entry_time`
  /// tells about how many nanoseconds a core of a host takes for an entry of the triangle, and
  /// `scattered` how many times as long where it takes rows level by level, far from each other. A
  /// host with one thread needs no levels and finds none.
  OrderedRows(const execution_space& exec, const Graph<Device>& graph, Uplo uplo, double entry_time,
              double scattered = 1.5)
      : num_rows_(graph.num_rows), uplo_(uplo) {
    in_turn_ = on_host && exec.concurrency() == 1;
    if (!in_turn_) {
      levels_ = levelSets(exec, graph, uplo);
      in_turn_ = on_host && !levelsPay(exec, entry_time * double(graph.numEntries()), scattered);
    }
    if constexpr (spin) {
      const size_t n = size_t(graph.num_rows);
      const auto flags = allocateZeros<unsigned, Device>(exec, "Ainvil::done", n + 1);
      done_ = firstOf(flags, graph.num_rows);
      tickets_ = detail::Tickets<Device>(Kokkos::subview(flags, std::make_pair(n, n + 1)));
    }
  }

  /// Whether level sets were found, be it to run the rows in their order after all.
  bool hasLevels() const { return !levels_.offsets.empty(); }
  const LevelSets<Device>& levels() const { return levels_; } ///< whether a launch each or not

  /// Whether one thread of a host takes all rows in their order.
  bool inTurn() const { return in_turn_; }

  /// Calls body(member, row, scratch, gate) for all rows; the body calls gate.wait(j) before it
  /// reads what row j wrote. `scratch` as in forEachRow.
  template <class Body>
  void run(const execution_space& exec, const char* label, const Body& body,
           std::size_t scratch_bytes) const {
    using detail::OrderedRowBody;
    using detail::RowGate;
    const detail::RowTeams shape = wholeWarps();
    if constexpr (spin) {
      ++epoch_;
      detail::forEachRow(exec, label, static_cast<Ordinal>(levels_.rows.extent(0)), shape,
                         OrderedRowBody<Device, true, Body>{body, levels_.rows, 0, 1,
                                                            RowGate<Device, true>{done_, epoch_}},
                         scratch_bytes, tickets_);
    } else {
      runWithoutWaiting(exec, label, body, scratch_bytes, 1);
    }
  }

  /// On a host: calls body(worker, row) for all rows. Calls with the same worker, of workers(exec)
  /// many, are never at the same time.
  template <class Body>
  void runByWorkers(const execution_space& exec, const char* label, const Body& body) const {
    static_assert(on_host, "teams run on GPUs");
    if (in_turn_) {
      const Ordinal n = num_rows_;
      Kokkos::parallel_for(label, detail::Range<execution_space>(exec, 0, 1), [&](const Offset) {
        for (Ordinal i = 0; i < n; ++i)
          body(0, uplo_ == Uplo::Lower ? i : n - 1 - i);
      });
      compat::fence(exec, label);
      return;
    }
    for (int l = 0; l < levels_.numLevels(); ++l)
      detail::forPartsOfRows(exec, label, levels_.offsets[l], levels_.offsets[l + 1],
                             [&](int worker, Ordinal i) { body(worker, levels_.rows(i)); });
  }
  /// How many workers runByWorkers() has.
  int workers(const execution_space& exec) const { return in_turn_ ? 1 : exec.concurrency(); }

  /// run() in reverse order, and by levels on all GPUs, for bodies that update the rows they
  /// depend on (transposed solves). gate.wait does nothing.
  template <class Body>
  void runReversed(const execution_space& exec, const char* label, const Body& body,
                   std::size_t scratch_bytes) const {
    runWithoutWaiting(exec, label, body, scratch_bytes, -1);
  }

private:
  static constexpr bool spin = compat::TeamsMayWait<execution_space>::value;
  static constexpr bool on_host = !compat::IsGpu<execution_space>::value;

  /// A whole warp a row: lanes of one warp must not wait for each other.
  static detail::RowTeams wholeWarps() {
    constexpr double more_than_lanes = 1024;
    return detail::RowTeams::forWork<execution_space>(more_than_lanes);
  }

  /// Whether all levels, a launch each, take less time than one core for all rows, `alone`
  /// nanoseconds. A launch takes microseconds, and the rows of a level are scattered over memory.
  /// Both are estimates, which need not be close: on grids the two sides differ by factors.
  bool levelsPay(const execution_space& exec, double alone, double scattered) const {
    constexpr double launch = 5000; // nanoseconds
    return levels_.numLevels() * launch + scattered * alone / exec.concurrency() < alone;
  }

  /// By one thread of a host, or a launch a level; backwards if step is -1.
  template <class Body>
  void runWithoutWaiting(const execution_space& exec, const char* label, const Body& body,
                         std::size_t scratch_bytes, int step) const {
    const detail::RowTeams shape = wholeWarps();
    if constexpr (on_host)
      if (in_turn_) {
        const Ordinal n = num_rows_;
        const bool downwards = (uplo_ == Uplo::Upper) == (step > 0);
        detail::forEachRow(exec, label, 1, shape,
                           detail::RowsInTurnBody<Device, Body>{body, n, downwards}, scratch_bytes);
        return;
      }
    const int num_levels = levels_.numLevels();
    for (int l = 0; l < num_levels; ++l) {
      const int level = step > 0 ? l : num_levels - 1 - l;
      const Ordinal begin = levels_.offsets[level], end = levels_.offsets[level + 1];
      detail::forEachRow(exec, label, end - begin, shape,
                         detail::OrderedRowBody<Device, false, Body>{
                             body, levels_.rows, step > 0 ? begin : end - 1, step,
                             detail::RowGate<Device, false>{}},
                         scratch_bytes);
    }
  }

  LevelSets<Device> levels_;
  Ordinal num_rows_ = 0;
  Uplo uplo_ = Uplo::Lower;
  bool in_turn_ = false;
  Kokkos::View<unsigned*, Device> done_;
  mutable unsigned epoch_ = 0;
  mutable detail::Tickets<Device> tickets_;
};

} // namespace ainvil
