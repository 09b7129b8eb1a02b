// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The loops of InverseFactors: rounds until no column is pending.

#include "ainv/Ainvil_ColumnLevels.hpp"
#include "ainv/Ainvil_ConjugateColumns.hpp"
#include "ainv/Ainvil_InverseFactors.hpp"
#include "ainv/Ainvil_RoundKernels.hpp"
#include "backend/Ainvil_SizeClasses.hpp"
#include "graph/Ainvil_CountRows.hpp"

#include <algorithm>
#include <climits>
#include <utility>

namespace ainvil {
namespace detail {

/// Number of columns whose flag is set; `first` becomes the first of them, or -1. Waits.
template <class Device>
Ordinal countFlags(const typename Device::execution_space& exec, const char* label,
                   const Kokkos::View<char*, Device>& flags, Ordinal& first) {
  return countRows(exec, label, static_cast<Ordinal>(flags.extent(0)), IsSet<Device>{flags}, first);
}

/// The rounds of one compute() of InverseFactors, in either schedule.
template <class Scalar, class Device>
class ConjugationRounds {
public:
  using execution_space = typename Device::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>;
  using Factors = InverseFactors<Scalar, Device>;

  ConjugationRounds(const execution_space& exec, Factors& factors, const Matrix& a,
                    const Matrix& transposed, const ColumnProgress& progress)
      : exec_(exec), factors_(factors), parameters_(factors.parameters_),
        storage_(factors.storage_), state_(storage_.state), worklist_(storage_.worklist), a_(a),
        transposed_(transposed), progress_(progress), n_(factors.n_), last_(n_ - 1) {}

  /// Rounds by levels, while there are from `fewest` to `most` of them, and while they leave many
  /// columns pending; at first by the levels of the last compute(), if there are any: they may be
  /// any order. What they leave is for the other rounds. False if it is certain already that these
  /// will not complete the columns.
  bool runLevels(int fewest, int most) {
    LevelSets<Device>& levels = factors_.levels_;
    Offset pending = n_;
    for (int times = 0; times < most_rounds_by_levels && fewest <= most && 4 * pending >= n_;
         ++times) {
      if (times > 0 || levels.numLevels() < 1)
        levels = findLevels();
      if (levels.numLevels() < fewest || levels.numLevels() > most)
        return true;
      if (!computeLevels(levels))
        return !hasStopped();
      Ordinal first;
      pending = countFlags(exec_, "Ainvil::InverseFactors[pending]", state_.pending, first);
    }
    return true;
  }

  void runWorklist() {
    Kokkos::deep_copy(exec_, worklist_.is_queued, 0);
    queuePending();
    while (true) {
      const Ordinal last = last_, count = select();
      if (hasStopped())
        return;
      const bool released = last_ > last; // columns that waited behind a broken one
      if (count == 0) {
        queuePending();
        if (num_queued_ == 0)
          return;
        continue;
      }
      for (int log = 0; log < Worklist<Device>::num_sizes; ++log) {
        const Offset begin = factors_.size_begins_(log);
        conjugate(begin, begin + storage_.read(worklist_.by_size, log), 1, Ordinal(1) << log);
      }
      const bool by_pass = notifyDependents(count);
      endRound(count, !by_pass);
      num_queued_ = -1;
      if (released)
        Kokkos::deep_copy(exec_, worklist_.is_queued, 0);
      if (by_pass || released)
        queuePending();
      tell();
    }
  }

  void runChunks() {
    const Offset by_levels = factors_.columnsComputed();
    while (true) {
      const bool in_order = exec_.concurrency() == 1 ||
                            factors_.columnsComputed() - by_levels > computations_in_chunks * n_;
      Ordinal count = listPending(worklist_.batch);
      if (count == 0)
        return;
      if (in_order) { // all columns from the first pending one on
        const Ordinal first = readBack(exec_, worklist_.batch, 0);
        Kokkos::deep_copy(exec_, Kokkos::subview(state_.pending, std::make_pair(first, n_)), 1);
        count = listPending(worklist_.batch);
      }
      const Offset table_size =
          largestSize(exec_, n_, PendingTableSize<Scalar, Device>{state_}, INT_MAX);
      const Offset chunks =
          in_order ? 1 : std::min<Offset>(exec_.concurrency(), count / columns_of_thread + 1);
      conjugate(0, count, static_cast<Ordinal>((count + chunks - 1) / chunks),
                static_cast<Ordinal>(table_size));
      if (!in_order)
        notifyDependents(count);
      endRound(count, false);
      storage_.grow(exec_, false);
      if (hasStopped())
        return;
    }
  }

private:
  using Side = FactorSide<Scalar, Device>;

  // A whole warp a column: with eight lanes the columns of a warp wait for each other, and the same
  // takes 1.2 to 2 times as long, although more columns are under way (docs/results/ainv.md, AINV).
  static constexpr int lanes_of_column = 32;
  static constexpr int lanes_of_support = 8; // the rows of a support are mostly about as many

  // A thread of a host is worth its start for that many columns, 0.3 ms at 1.1 microseconds a
  // column (docs/results/ainv.md, AINV).
  static constexpr Offset columns_of_thread = 256;

  // Chunks compute a column up to so many times on average, then one thread computes the rest in
  // order, once. Where chains are short they need 1.3 to 4 (docs/results/ainv.md, AINV); where they
  // are long, chunks would go on for as many rounds as there are chunks in a chain.
  static constexpr Offset computations_in_chunks = 3;

  static constexpr int most_rounds_by_levels = 3;
  // Pools grow between parts, and patterns by rows are rebuilt.
  static constexpr Ordinal parts_by_levels = 8;
  // Entries of the graph of influences for each entry of A, at most: 32 bytes beside its 12. On
  // grids there are 3 (2D) to 4 (3D).
  static constexpr Offset influences_of_entry = 8;
  // Tables of more than this are long: columns that need them are left to the other rounds.
  static constexpr Ordinal short_table = 4 * FactorStorage<Scalar, Device>::smallest_table;

  // Launches of a chunk between which progress is told, and the fewest columns of one.
  static constexpr Ordinal launches_of_chunk = 100, fewest_columns_of_launch = 64;

  /// As many columns as a GPU computes at the same time, a warp each: no column is put off before
  /// there are more. Where some need long tables four times as many: a round then takes as long as
  /// the longest column, and others that are computed beside it cost nothing, even in vain.
  /// (laplace7:46 in nested dissection with drop=0.01: 7.4 s in 638 rounds with 1.5 computations a
  /// column, 1.6 s in 44 with 7.4; docs/results/ainv.md, AINV.)
  Offset fewColumns() const {
    const Offset at_once =
        exec_.concurrency() / Kokkos::TeamPolicy<execution_space>::vector_length_max();
    return factors_.largest_table_ > short_table ? 4 * at_once : at_once;
  }

  // Of side 0 (X = Z) B = A, of side 1 (X = W) B = A^T; the other side has Y.
  const Matrix& b(int side) const { return side == 0 ? a_ : transposed_; }
  const Matrix& bTransposed(int side) const { return b(1 - side); }
  const Side& other(int side) const { return storage_.sides[storage_.num_sides - 1 - side]; }
  InfluencedRows<Scalar, Device> influencedRows(int side) const {
    return {b(side).graph, other(side).columns, parameters_.stabilized, state_.current};
  }

  /// Whether to end before all columns are complete, by the counters last read: there are too many
  /// entries, or the first broken column is complete, because none before it is pending. Until it
  /// is, the columns behind it wait: after a broken pivot they may grow without bounds.
  bool hasStopped() {
    last_ = n_ - 1;
    if (storage_.read(storage_.stop) != Offset(FactorStop::None))
      return true;
    if (parameters_.breakdown != BreakdownPolicy::Fail || storage_.read(storage_.num_broken) == 0)
      return false;
    Ordinal broken, pending;
    countFlags(exec_, "Ainvil::InverseFactors[broken]", state_.broken, broken);
    countFlags(exec_, "Ainvil::InverseFactors[pending]", state_.pending, pending);
    last_ = broken;
    return pending < 0 || broken < pending;
  }

  void tell() const {
    Ordinal first;
    if (progress_)
      progress_(n_ - countFlags(exec_, "Ainvil::InverseFactors[pending]", state_.pending, first));
  }

  /// The pending columns into `list`, ascending. Returns how many there are; waits.
  Ordinal listPending(const Kokkos::View<Ordinal*, Device>& list) const {
    return selectSizes(exec_, n_, IsSet<Device>{state_.pending}, 0, 1, Ordinal(0), list);
  }

  /// Queues all pending columns, none of which is queued. Waits.
  void queuePending() {
    num_queued_ = listPending(worklist_.queue);
    Kokkos::deep_copy(exec_, worklist_.num_queued, num_queued_);
  }

  /// The batch of the next round out of the queue, which is empty then. Returns its length; waits.
  Ordinal select() {
    SelectColumns<Scalar, Device> kernel;
    kernel.few = fewColumns();
    kernel.last = last_;
    const bool by_pass = num_queued_ > kernel.few && passIsCheaper(num_queued_);
    for (int s = 0; s < storage_.num_sides; ++s) {
      const Side &side = storage_.sides[s], &y = other(s);
      kernel.sides[s] = {bTransposed(s).graph, side.supports, y.columns, y.by_row, {}};
      if (!by_pass)
        continue;
      findFirstInfluence(s, Influencing::Pending, worklist_.queue,
                         static_cast<Ordinal>(num_queued_));
      kernel.sides[s].first_influence = side.first_influence;
    }
    kernel.num_sides = storage_.num_sides;
    kernel.stabilized = parameters_.stabilized;
    kernel.state = state_;
    kernel.worklist = worklist_;
    const RowTeams shape = RowTeams::forWork<execution_space>(lanes_of_support);
    kernel.num_threads =
        static_cast<Ordinal>(std::min<Offset>(n_, exec_.concurrency() / shape.lanes + 1));
    Kokkos::deep_copy(exec_, worklist_.num_selected, 0);
    Kokkos::deep_copy(exec_, worklist_.by_size, 0);
    forEachRow(exec_, "Ainvil::InverseFactors[select]", kernel.num_threads, shape, kernel);
    Kokkos::deep_copy(exec_, worklist_.num_queued, 0);
    storage_.grow(exec_, false);
    const Ordinal count = static_cast<Ordinal>(storage_.read(worklist_.num_selected));
    sortBatch(count);
    return count;
  }

  /// batch = the selected columns by table size.
  void sortBatch(Ordinal count) {
    int used_sizes = 0;
    Offset begin = 0;
    for (int log = 0; log < Worklist<Device>::num_sizes; ++log) {
      const Offset of_size = storage_.read(worklist_.by_size, log);
      factors_.size_begins_(log) = begin;
      begin += of_size;
      if (of_size == 0)
        continue;
      ++used_sizes;
      factors_.largest_table_ = Ordinal(1) << log;
    }
    if (used_sizes < 2) { // sorted already
      std::swap(worklist_.selected, worklist_.batch);
      return;
    }
    Kokkos::deep_copy(exec_, worklist_.by_size, factors_.size_begins_);
    Kokkos::parallel_for("Ainvil::InverseFactors[sort]", Range<execution_space>(exec_, 0, count),
                         SortByTableSize<Scalar, Device>{state_, worklist_});
  }

  /// By the patterns of the current columns.
  LevelSets<Device> findLevels() const {
    InfluenceSide<Scalar, Device> sides[2];
    for (int s = 0; s < storage_.num_sides; ++s)
      sides[s] = {bTransposed(s).graph, storage_.sides[s].supports, other(s).by_row};
    return columnLevels(exec_, n_, sides, storage_.num_sides, parameters_.stabilized,
                        storage_.num_sides * influences_of_entry * a_.numEntries());
  }

  /// Every column once, level by level, in parts. False if many found no place or a pivot has
  /// ended it.
  bool computeLevels(const LevelSets<Device>& levels) {
    const int num_levels = levels.numLevels();
    storage_.state.level = levels.level;
    if (compat::TeamsMayWait<execution_space>::value) {
      reserve(exec_, "Ainvil::computed_of_level", factors_.computed_of_level_, num_levels);
      Kokkos::deep_copy(exec_, factors_.computed_of_level_, 0U);
    }
    bool goes_on = true;
    for (int level = 0; level < num_levels && goes_on;) {
      const Ordinal begin = levels.offsets[level];
      int end_level = level;
      while (end_level < num_levels && levels.offsets[end_level] - begin <= n_ / parts_by_levels)
        ++end_level;
      const Ordinal end = levels.offsets[end_level], count = end - begin;
      Kokkos::deep_copy(exec_, firstOf(worklist_.batch, count),
                        Kokkos::subview(levels.rows, std::make_pair(begin, end)));
      conjugateLevels(levels, level, end_level);
      notifyDependentsOfEach(count, false);
      endRound(count, false);
      storage_.grow(exec_, false);
      ++factors_.rounds_by_levels_;
      tell();
      goes_on = goesOnByLevels();
      level = end_level;
    }
    storage_.state.level = {};
    return goes_on;
  }

  /// Whether columns of the round by levels have found place so far, and no pivot has ended it.
  bool goesOnByLevels() const {
    const bool broken =
        parameters_.breakdown == BreakdownPolicy::Fail && storage_.read(storage_.num_broken) > 0;
    return !broken && storage_.read(storage_.stop) == Offset(FactorStop::None) &&
           4 * storage_.read(worklist_.num_failed) <= factors_.num_batched_;
  }

  /// The batch, which is the columns of levels first, ..., end - 1: in one launch where columns may
  /// wait for each other, else in a launch a level.
  void conjugateLevels(const LevelSets<Device>& levels, int first, int end) {
    const std::vector<Ordinal>& offsets = levels.offsets;
    if constexpr (compat::TeamsMayWait<execution_space>::value) {
      const LevelGate gate{levels.level, levels.ends, factors_.computed_of_level_,
                           static_cast<unsigned>(first + 1)};
      conjugate(0, offsets[end] - offsets[first], 1, short_table, gate);
    } else {
      for (int level = first; level < end; ++level)
        conjugate(offsets[level] - offsets[first], offsets[level + 1] - offsets[first], 1,
                  short_table);
    }
  }

  /// Columns begin, ..., end - 1 of the batch, `per_chunk` of them by a thread, with tables of at
  /// most that size. If progress of chunks is to be told, in several launches for a part of each.
  void conjugate(Offset begin, Offset end, Ordinal per_chunk, Ordinal max_table_size,
                 const LevelGate& gate = {}) {
    using Kernel = ConjugateColumns<Scalar, Device>;
    const bool in_parts = progress_ && !factors_.by_worklist_ && per_chunk > 1;
    Kernel kernel;
    kernel.batch = worklist_.batch;
    for (int s = 0; s < storage_.num_sides; ++s) {
      const Side &side = storage_.sides[s], &y = other(s);
      kernel.sides[s] = {side.columns, y.columns,     bTransposed(s),      side.by_row,
                         y.by_row,     side.supports, side.supports_by_row};
    }
    kernel.num_sides = storage_.num_sides;
    kernel.state = state_;
    kernel.stabilized = parameters_.stabilized;
    kernel.drop = static_cast<Scalar>(parameters_.drop);
    kernel.scales = factors_.scales_;
    kernel.max_column = parameters_.max_column;
    kernel.policy = parameters_.breakdown;
    kernel.shift = static_cast<Scalar>(parameters_.shift);
    kernel.pivot_tolerance = static_cast<Scalar>(parameters_.pivot_tolerance);
    kernel.row_sizes = factors_.row_sizes_;
    kernel.batch_is_all_pending = !factors_.by_worklist_ && state_.level.data() == nullptr;
    kernel.max_entries = parameters_.max_entries > 0 ? parameters_.max_entries : LLONG_MAX;
    kernel.num_entries = storage_.num_entries;
    kernel.num_broken = storage_.num_broken;
    kernel.stop = storage_.stop;
    kernel.gate = gate;
    kernel.max_table_size = max_table_size;
    kernel.per_chunk = per_chunk;
    kernel.steps =
        in_parts ? std::max(fewest_columns_of_launch, per_chunk / launches_of_chunk) : per_chunk;
    kernel.batch_begin = static_cast<Ordinal>(begin);
    kernel.batch_end = static_cast<Ordinal>(end);
    const Ordinal chunks = static_cast<Ordinal>((end - begin + per_chunk - 1) / per_chunk);
    for (kernel.first_step = 0; kernel.first_step < per_chunk; kernel.first_step += kernel.steps) {
      forEachRow(exec_, "Ainvil::InverseFactors[columns]", chunks,
                 RowTeams::forWork<execution_space>(lanes_of_column), kernel,
                 Kernel::Workspace::bytes(max_table_size), &storage_.scratch, factors_.places_);
      if (in_parts)
        tell();
    }
  }

  /// Makes those columns pending that depend on one of the batch which has changed. Returns true if
  /// by a pass over all columns; else the worklist has them in its queue, too.
  bool notifyDependents(Ordinal count) {
    if (passIsCheaper(count)) {
      for (int s = 0; s < storage_.num_sides; ++s) {
        const Side& side = storage_.sides[s];
        findFirstInfluence(s, Influencing::Changed, worklist_.batch, count);
        forEachRow(exec_, "Ainvil::InverseFactors[mark]", n_,
                   RowTeams::forWork<execution_space>(lanes_of_support),
                   MarkDependents<Scalar, Device>{side.supports, side.first_influence, state_});
      }
      return true;
    }
    notifyDependentsOfEach(count, factors_.by_worklist_);
    return false;
  }

  /// The same from each column of the batch to those it influences; those that are pending are
  /// enqueued, if wanted.
  void notifyDependentsOfEach(Ordinal count, bool enqueue) {
    NotifyDependents<Scalar, Device> kernel;
    for (int s = 0; s < storage_.num_sides; ++s)
      kernel.sides[s] = {influencedRows(s), storage_.sides[s].supports_by_row};
    kernel.num_sides = storage_.num_sides;
    kernel.state = state_;
    kernel.worklist = worklist_;
    kernel.enqueue = enqueue;
    forEachRow(exec_, "Ainvil::InverseFactors[notify]", count, teamsForRowsOf(a_.graph), kernel);
  }

  void endRound(Ordinal count, bool enqueue) {
    Kokkos::parallel_for("Ainvil::InverseFactors[end]", Range<execution_space>(exec_, 0, count),
                         EndRound<Scalar, Device>{state_, worklist_, enqueue});
    factors_.num_batched_ += count;
    ++factors_.rounds_;
  }

  /// Whether a pass over all columns costs less than to look from each of `count` columns at the
  /// rows it influences: these are more than n, as far as their number is known.
  bool passIsCheaper(Offset count) const {
    double entries = 0; // of Y
    for (int s = 0; s < storage_.num_sides; ++s) {
      const ColumnsByRow<Scalar, Device>& by_row = storage_.sides[s].by_row;
      entries += parameters_.stabilized
                     ? double(by_row.num_compressed + storage_.read(by_row.num_links))
                     : n_;
    }
    return double(count) / n_ * entries * a_.graph.meanRowLength() > n_;
  }

  /// first_influence of a side, for the columns of a list.
  void findFirstInfluence(int side, Influencing which,
                          const Kokkos::View<const Ordinal*, Device>& list, Ordinal count) {
    const auto first = storage_.sides[side].first_influence;
    Kokkos::deep_copy(exec_, first, INT_MAX);
    forEachRow(exec_, "Ainvil::InverseFactors[influence]", count, teamsForRowsOf(a_.graph),
               FirstInfluence<Scalar, Device>{influencedRows(side), which, state_, list, first});
  }

  const execution_space& exec_;
  Factors& factors_;
  const InverseFactorsParameters& parameters_;
  FactorStorage<Scalar, Device>& storage_;
  const ColumnState<Scalar, Device>& state_;
  Worklist<Device>& worklist_;
  const Matrix &a_, &transposed_;
  const ColumnProgress& progress_;
  const Ordinal n_;
  Ordinal last_; ///< column that may be computed; those behind it wait
  /// Number of queued columns if these are all that are pending, else -1: only the device knows.
  Offset num_queued_ = -1;
};

} // namespace detail
} // namespace ainvil
