// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Running over rows that depend on each other: triangular solves and factorisations.

#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "graph/Ainvil_LevelSets.hpp"
#include "graph/Ainvil_RowGates.hpp"
#include "graph/Ainvil_WorkerSchedule.hpp"

#include <cassert>
#include <memory>

namespace ainvil {
namespace detail {

/// The rows of a triangle in an order in which they can be worked on, forwards or backwards.
template <class Gate, class Body>
struct OrderedRowBody {
  Body body;
  KernelArray<const Ordinal> rows;
  Ordinal first;
  int step; ///< 1 or -1
  Gate gate;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal index, void* scratch) const {
    const Ordinal row = rows(first + step * index);
    body(member, row, scratch, gate);
    gate.announce(member, row);
  }
};

/// Marks the numbers of row i in all columns as not there yet, for ValueGate.
template <class Scalar>
struct MarkUnset {
  Scalar* first;
  Offset columns, stride;

  KOKKOS_FUNCTION void operator()(const Offset i) const {
    for (Offset j = 0; j < columns; ++j)
      compat::markUnset(first + i + j * stride);
  }
};

/// For UpdateGate: counts[j] += 1 for every entry of row i in a column j other than i.
struct CountUpdates {
  KernelGraph graph;
  KernelArray<unsigned> counts;

  KOKKOS_FUNCTION void operator()(const Offset i) const {
    for (Offset k = graph.row_map(i); k < graph.row_map(i + 1); ++k)
      if (graph.entries(k) != i)
        Kokkos::atomic_add(&counts(graph.entries(k)), 1U);
  }
};

/// On a host: body(worker, i) for the rows first <= i < end, a contiguous part of them a worker.
/// Calls with the same worker, 0 <= worker < exec.concurrency(), are never at the same time.
template <class Exec, class Body>
void forPartsOfRows(const Exec& exec, const char* label, Ordinal first, Ordinal end,
                    const Body& body) {
  const Ordinal num_rows = end - first;
  const Offset workers = std::max(1, std::min<int>(exec.concurrency(), num_rows));
  const auto bound = [=](Offset part) {
    return first + static_cast<Ordinal>(part * num_rows / workers);
  };
  Kokkos::parallel_for(label, Range<Exec>(exec, 0, workers), [&](const Offset worker) {
    for (Ordinal i = bound(worker); i < bound(worker + 1); ++i)
      body(static_cast<int>(worker), i);
  });
  compat::fence(exec, label);
}

/// Whether bodies of rows have rowsAhead() and prefetch(row).
template <class Body, class = void>
struct AsksAhead : std::false_type {};
template <class Body>
struct AsksAhead<Body, decltype(std::declval<const Body&>().prefetch(Ordinal()))> : std::true_type {
};

/// Calls body(member, row, scratch, gate) for the rows of a task, which wait for nothing.
template <class Gate, class Body>
struct RowsOfTask {
  Body body;
  bool downwards;

  RowsAhead rowsAhead([[maybe_unused]] const WorkerTask* task,
                      [[maybe_unused]] const WorkerTask* end) const {
    if constexpr (AsksAhead<Body>::value)
      return {task, end, downwards, body.rowsAhead()};
    else
      return {};
  }

  template <class Member>
  void operator()(const Member& member, Ordinal first, Ordinal end, void* scratch,
                  [[maybe_unused]] RowsAhead& ahead) const {
    for (Ordinal k = 0; k < end - first; ++k) {
      if constexpr (AsksAhead<Body>::value)
        body.prefetch(ahead.next());
      body(member, downwards ? end - 1 - k : first + k, scratch, Gate());
    }
  }
};

/// Calls body(worker, row) for them.
template <class Body>
struct RowsOfWorker {
  Body body;
  bool downwards;

  RowsAhead rowsAhead(const WorkerTask*, const WorkerTask*) const { return {}; }

  template <class Member>
  void operator()(const Member& member, Ordinal first, Ordinal end, void*, RowsAhead&) const {
    for (Ordinal k = 0; k < end - first; ++k)
      body(member.team_rank(), downwards ? end - 1 - k : first + k);
  }
};

} // namespace detail

/// What the pattern of a triangle alone tells about the order of its rows; several objects may
/// share it.
template <class Device>
struct RowOrder {
  Kokkos::View<const Ordinal*, Device> rows; ///< on GPUs, level by level
  std::vector<Ordinal> offsets;              ///< of the levels, where each is a launch
  /// On hosts, for what found them and for substitutions, if sharing rows pays for these.
  std::vector<detail::WorkerSchedule> schedules;
};

/// How a row on a GPU tells those that wait for it that it is done, which decides which functions
/// of OrderedRows may be called, and how much memory they take.
enum class RowSignals {
  Flags,           ///< a flag a row, 4 bytes: run()
  Values,          ///< the numbers that it writes, no memory: runByValues()
  ValuesAndUpdates ///< runByValues(), and runReversed() by counters, 8 bytes a row
};

/// The order in which the rows of a triangular pattern can be worked on. Where teams may wait for
/// each other the rows go into a single launch, a warp each, level by level in the order in which
/// teams start, and wait for each other as RowSignals say; on other GPUs every level is a launch of
/// its own. Threads of a host share groups of rows and wait for each other; but one thread takes
/// the rows as they stand in memory where more promise no gain. One run at a time per object.
template <class Device>
class OrderedRows {
public:
  using execution_space = typename Device::execution_space;
  using OrderPtr = std::shared_ptr<const RowOrder<Device>>; ///< null where none is needed

  OrderedRows() = default;
  // Flags and epoch belong together: a copy would share the one and not the other.
  OrderedRows(const OrderedRows&) = delete;
  OrderedRows& operator=(const OrderedRows&) = delete;
  OrderedRows(OrderedRows&&) = default;            ///< takes the flags along
  OrderedRows& operator=(OrderedRows&&) = default; ///< takes the flags along
  /// Of the triangle `uplo` of the graph. `costs` are those of what will run, on hosts. `known` is
  /// the order() of another object of the same triangle, one that takes longer; without it the
  /// order is found here, and one for substitutions, too, which waits. Nothing runs but what
  /// `signals` names.
  OrderedRows(const execution_space& exec, const Graph<Device>& graph, Uplo uplo,
              const detail::RowCosts& costs, OrderPtr known = nullptr,
              RowSignals signals = RowSignals::Flags)
      : num_rows_(graph.num_rows), uplo_(uplo), order_(std::move(known)) {
    if constexpr (on_host) {
      shareAmongWorkers(exec, graph, costs);
    } else {
      sortByLevel(exec, graph);
      if constexpr (spin)
        allocateSignals(exec, graph, signals);
    }
  }

  /// For others of the same triangle.
  const OrderPtr& order() const { return order_; }

  /// Whether one thread of a host takes all rows in their order.
  bool inTurn() const { return on_host && schedule_ == nullptr; }

  /// Calls body(member, row, scratch, gate) for all rows; the body calls gate.wait(j) before it
  /// reads what row j wrote. `scratch` as in forEachRow.
  template <class Body>
  void run(const execution_space& exec, const char* label, const Body& body,
           std::size_t scratch_bytes) const {
    assert(!spin || done_.extent(0) == size_t(num_rows_)); // RowSignals::Values has no flags
    ++epoch_;
    runForwards(exec, label, body, scratch_bytes, detail::FlagGate<spin>{done_, epoch_});
  }

  /// To be called before runByValues(): marks the numbers of y, which its rows write, as not there
  /// yet where rows wait for them. Asynchronous.
  template <class Scalar>
  void prepare([[maybe_unused]] const execution_space& exec,
               [[maybe_unused]] const MultiVectorArg<Scalar, Device>& y) const {
    if constexpr (spin)
      Kokkos::parallel_for(
          "Ainvil::OrderedRows[prepare]", detail::Range<execution_space>(exec, 0, y.extent(0)),
          detail::MarkUnset<Scalar>{y.data(), Offset(y.extent(1)), Offset(y.stride(1))});
  }

  /// run() for bodies that read what rows write by gate.read(from, values), and write that by
  /// gate.write(to, value), once each.
  template <class Body>
  void runByValues(const execution_space& exec, const char* label, const Body& body,
                   std::size_t scratch_bytes) const {
    requireShortArguments<detail::ValueGate<spin>, Body>();
    runForwards(exec, label, body, scratch_bytes, detail::ValueGate<spin>{});
  }

  /// On a host: calls body(member, first, end, scratch, ahead) until all rows are done, for rows
  /// from `first` up to `end` that the body takes one after the other, in descending order for an
  /// upper triangle. `ahead` is as body.rowsAhead(task, end) gives it, see detail::WorkerRows.
  /// Calls with the same member.team_rank(), of workers() many, are never at the same time.
  template <class Body>
  void runByTasks(const execution_space& exec, const char* label, const Body& body,
                  std::size_t scratch_bytes = 0) const {
    static_assert(on_host, "GPUs run rows");
    if (inTurn()) {
      launchWorkers(exec, label, body, scratch_bytes, {});
      return;
    }
    launchWorkers(exec, label, body, scratch_bytes, *schedule_);
    tasks_done_ += static_cast<unsigned>(schedule_->most_tasks);
  }

  /// On a host: calls body(worker, row) for all rows. Calls with the same worker, of workers()
  /// many, are never at the same time.
  template <class Body>
  void runByWorkers(const execution_space& exec, const char* label, const Body& body) const {
    runByTasks(exec, label, detail::RowsOfWorker<Body>{body, uplo_ == Uplo::Upper});
    compat::fence(exec, label);
  }
  /// How many workers there are on a host.
  int workers() const { return inTurn() ? 1 : schedule_->num_workers; }

  /// run() in reverse order, on a host by one thread, for bodies that update the rows that a row
  /// depends on (transposed solves). A body calls gate.wait(member, row) first, and for each row j
  /// that it has updated gate.updated(j), after its lanes have been joined.
  template <class Body>
  void runReversed(const execution_space& exec, const char* label, const Body& body,
                   std::size_t scratch_bytes) const {
    using detail::UpdateGate;
    requireShortArguments<UpdateGate<spin>, Body>();
    if constexpr (on_host) {
      launchWorkers(exec, label,
                    detail::RowsOfTask<UpdateGate<false>, Body>{body, uplo_ == Uplo::Lower},
                    scratch_bytes, {});
    } else if constexpr (spin) {
      assert(updates_.extent(0) == size_t(num_rows_)); // RowSignals::ValuesAndUpdates
      launchRows(exec, label, body, scratch_bytes, -1,
                 UpdateGate<true>{done_, updates_, runs_ + 1});
      ++runs_; // behind what may throw: the device has counted nothing then
    } else {
      runByLevels(exec, label, body, scratch_bytes, -1, UpdateGate<false>{});
    }
  }

private:
  static constexpr bool spin = compat::TeamsMayWait<execution_space>::value;
  static constexpr bool on_host = !compat::IsGpu<execution_space>::value;

  /// A whole warp a row: lanes of one warp must not wait for each other.
  static detail::RowTeams wholeWarps() {
    constexpr double more_than_lanes = 1024;
    return detail::RowTeams::forWork<execution_space>(more_than_lanes);
  }

  /// Solves must not wait for their launches: see detail::withinArguments().
  template <class Gate, class Body>
  static constexpr void requireShortArguments() {
    static_assert(sizeof(detail::OrderedRowBody<Gate, Body>) + sizeof(detail::Ticket) <=
                      detail::most_body_bytes,
                  "a launch of this body waits on CUDA");
  }

  template <class Gate, class Body>
  void runForwards(const execution_space& exec, const char* label, const Body& body,
                   std::size_t scratch_bytes, const Gate& gate) const {
    if constexpr (spin)
      launchRows(exec, label, body, scratch_bytes, 1, gate);
    else if constexpr (on_host)
      runByTasks(exec, label, detail::RowsOfTask<Gate, Body>{body, uplo_ == Uplo::Upper},
                 scratch_bytes);
    else
      runByLevels(exec, label, body, scratch_bytes, 1, gate);
  }

  /// On GPUs.
  void sortByLevel(const execution_space& exec, const Graph<Device>& graph) {
    if (order_ != nullptr)
      return;
    LevelSets<Device> sets = levelSets(exec, graph, uplo_);
    order_ = std::make_shared<RowOrder<Device>>(
        RowOrder<Device>{sets.rows, std::move(sets.offsets), {}});
  }

  /// Where rows wait.
  void allocateSignals(const execution_space& exec, const Graph<Device>& graph,
                       RowSignals signals) {
    const bool updates = signals == RowSignals::ValuesAndUpdates;
    const size_t n = signals == RowSignals::Values ? 0 : size_t(num_rows_);
    const auto words =
        allocateZeros<unsigned, Device>(exec, "Ainvil::done", (updates ? 2 * n : n) + 1);
    done_ = Kokkos::subview(words, std::make_pair(size_t(0), n));
    tickets_ = detail::Tickets<Device>(Kokkos::subview(words, std::make_pair(n, n + 1)));
    if (updates) {
      updates_ = Kokkos::subview(words, std::make_pair(n + 1, 2 * n + 1));
      Kokkos::parallel_for("Ainvil::OrderedRows[updates]",
                           detail::Range<execution_space>(exec, 0, num_rows_),
                           detail::CountUpdates{graph, updates_});
    }
  }

  /// On a host.
  void shareAmongWorkers(const execution_space& exec, const Graph<Device>& graph,
                         const detail::RowCosts& costs) {
    using detail::RowCosts;
    const double alone = detail::timeAlone(graph.numEntries(), costs);
    const int workers = std::min(exec.concurrency(), detail::most_workers);
    if (detail::leastSharedTime(alone, workers) >= alone)
      return;
    if (order_ == nullptr) {
      std::vector<RowCosts> runs{costs};
      if (costs.entry != RowCosts::ofSolve(costs.block_size).entry)
        runs.push_back(RowCosts::ofSolve(costs.block_size));
      order_ = std::make_shared<RowOrder<Device>>(
          RowOrder<Device>{{}, {}, detail::workerSchedules(exec, graph, uplo_, runs, workers)});
    }
    for (const detail::WorkerSchedule& schedule : order_->schedules)
      if (schedule.costs.entry == costs.entry)
        schedule_ = &schedule;
    if (schedule_ == nullptr)
      return;
    const size_t length = size_t(schedule_->num_workers) * detail::WorkerProgress::stride;
    progress_ = allocateZeros<unsigned, Device>(exec, "Ainvil::progress", length);
    spent_patience_ = allocateZeros<Ordinal, Device>(exec, "Ainvil::patience", length);
  }

  /// By the workers of a schedule, or by one thread where that is empty.
  template <class Body>
  void launchWorkers(const execution_space& exec, const char* label, const Body& body,
                     std::size_t scratch_bytes, const detail::WorkerSchedule& s) const {
    using Policy = Kokkos::TeamPolicy<execution_space>;
    const std::size_t with_alignment = scratch_bytes + 16;
    Kokkos::parallel_for(
        label,
        Policy(exec, 1, s.num_workers).set_scratch_size(0, Kokkos::PerThread(with_alignment)),
        detail::WorkerRows<Body>{
            body, s.tasks, s.first_task, s.waits,
            detail::WorkerProgress{progress_, spent_patience_, tasks_done_, s.time}, s.num_workers,
            s.most_tasks, num_rows_, scratch_bytes});
  }

  /// All rows in one launch, or in some of large blocks, where they wait; backwards if step is -1.
  template <class Gate, class Body>
  void launchRows(const execution_space& exec, const char* label, const Body& body,
                  std::size_t scratch_bytes, int step, const Gate& gate) const {
    detail::forEachRow(exec, label, num_rows_, wholeWarps(),
                       detail::OrderedRowBody<Gate, Body>{body, order_->rows,
                                                          step > 0 ? 0 : num_rows_ - 1, step, gate},
                       scratch_bytes, &scratch_, tickets_);
  }

  /// A launch a level; backwards if step is -1.
  template <class Gate, class Body>
  void runByLevels(const execution_space& exec, const char* label, const Body& body,
                   std::size_t scratch_bytes, int step, const Gate& gate) const {
    const std::vector<Ordinal>& offsets = order_->offsets;
    const int num_levels = static_cast<int>(offsets.size()) - 1;
    for (int l = 0; l < num_levels; ++l) {
      const int level = step > 0 ? l : num_levels - 1 - l;
      const Ordinal begin = offsets[level], end = offsets[level + 1];
      detail::forEachRow(exec, label, end - begin, wholeWarps(),
                         detail::OrderedRowBody<Gate, Body>{body, order_->rows,
                                                            step > 0 ? begin : end - 1, step, gate},
                         scratch_bytes, &scratch_);
    }
  }

  Ordinal num_rows_ = 0;
  Uplo uplo_ = Uplo::Lower;
  OrderPtr order_;
  const detail::WorkerSchedule* schedule_ = nullptr; ///< of order_; null: one thread does all
  Kokkos::View<unsigned*, Device> done_;    ///< epochs of rows, or updates that they have had
  Kokkos::View<unsigned*, Device> updates_; ///< that a row gets in a run
  mutable unsigned epoch_ = 0, runs_ = 0;
  mutable detail::Tickets<Device> tickets_;
  mutable detail::SlowScratch<execution_space> scratch_; ///< of large blocks
  Kokkos::View<unsigned*, Device> progress_;             ///< of the workers
  Kokkos::View<Ordinal*, Device> spent_patience_;
  mutable unsigned tasks_done_ = 0; ///< by each of them, in all runs
};

} // namespace ainvil
