// SPDX-License-Identifier: BSD-3-Clause
#include "ainv/Ainvil_InverseFactors.hpp"

#include "ainv/Ainvil_ConjugateColumns.hpp"
#include "ainv/Ainvil_RoundKernels.hpp"
#include "backend/Ainvil_SizeClasses.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"
#include "graph/Ainvil_CountRows.hpp"

#include <algorithm>
#include <climits>
#include <utility>

namespace ainvil {
namespace detail {
namespace {

// A whole warp a column: with eight lanes the columns of a warp wait for each other, and the same
// takes 1.2 to 2 times as long, although more columns are under way (docs/results/ainv.md, AINV).
constexpr int lanes_of_column = 32;
constexpr int lanes_of_support = 8; // the rows of a support are mostly about as many

// Scratch memory of one launch: more columns are computed in several launches.
constexpr Offset scratch_limit = 1ll << 30; // bytes

// A thread of a host is worth its start for that many columns, 0.3 ms at 1.1 microseconds a column
// (docs/results/ainv.md, AINV).
constexpr Offset columns_of_thread = 256;

// Chunks compute a column up to so many times on average, then one thread computes the rest in
// order, once. Where chains are short they need 1.3 to 4 (docs/results/ainv.md, AINV); where they
// are long, chunks would go on for as many rounds as there are chunks in a chain.
constexpr Offset computations_in_chunks = 3;

// Launches of a chunk between which progress is told, and the fewest columns of one.
constexpr Ordinal launches_of_chunk = 100, fewest_columns_of_launch = 64;

/// As many columns as a GPU computes at the same time, a warp each: no column is put off before
/// there are more. Where some need long tables four times as many: a round then takes as long as
/// the longest column, and others that are computed beside it cost nothing, even in vain.
/// (laplace7:46 in nested dissection with drop=0.01: 7.4 s in 638 rounds with 1.5 computations a
/// column, 1.6 s in 44 with 7.4; docs/results/ainv.md, AINV.)
template <class Scalar, class Exec>
Offset fewColumns(const Exec& exec, Ordinal largest_table) {
  constexpr Ordinal long_table =
      4 * FactorStorage<Scalar, typename Exec::device_type>::smallest_table;
  const Offset at_once = exec.concurrency() / Kokkos::TeamPolicy<Exec>::vector_length_max();
  return largest_table > long_table ? 4 * at_once : at_once;
}

/// The pending columns into `list`, ascending. Returns how many there are; waits.
template <class Scalar, class Device>
Ordinal listPending(const typename Device::execution_space& exec,
                    const ColumnState<Scalar, Device>& state,
                    const Kokkos::View<Ordinal*, Device>& list) {
  return selectSizes(exec, state.pending.extent(0), IsPending<Device>{state.pending}, 0, 1,
                     Ordinal(0), list);
}

/// Number of pending columns; `first` becomes the first of them, or -1. Waits.
template <class Scalar, class Device>
Ordinal countPending(const typename Device::execution_space& exec,
                     const ColumnState<Scalar, Device>& state, Ordinal& first) {
  return countRows(exec, "Ainvil::InverseFactors[pending]",
                   static_cast<Ordinal>(state.pending.extent(0)), IsPending<Device>{state.pending},
                   first);
}

} // namespace

template <class Scalar, class Device>
InverseFactors<Scalar, Device>::InverseFactors(const execution_space& exec,
                                               const InverseFactorsParameters& parameters,
                                               Ordinal n)
    : parameters_(parameters), n_(n),
      by_worklist_(parameters.schedule == ColumnSchedule::Device
                       ? compat::IsGpu<execution_space>::value
                       : parameters.schedule == ColumnSchedule::Worklist),
      storage_(exec, n, parameters.symmetric ? 1 : 2, parameters.stabilized,
               by_worklist_ || exec.concurrency() > 1, by_worklist_),
      size_begins_(allocate<Offset, HostDevice>(HostDevice::execution_space(), "Ainvil::begins",
                                                Worklist<Device>::num_sizes)) {
  if (parameters.drop_rule == DropRule::Relative)
    scales_ = allocate<Scalar, Device>(exec, "Ainvil::scales", n);
  if (!parameters.symmetric)
    row_sizes_ = allocate<Scalar, Device>(exec, "Ainvil::row_sizes", n);
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::compute(const execution_space& exec, const Matrix& a,
                                             const Matrix& transposed, const Progress& progress) {
  if (n_ == 0)
    return;
  const ColumnState<Scalar, Device>& state = storage_.state;
  if (rounds_ == 0)
    Kokkos::parallel_for("Ainvil::InverseFactors[pivots]", Range<execution_space>(exec, 0, n_),
                         PivotsOfIdentity<Scalar, Device>{a, state.pivots});
  rounds_ = 0;
  num_batched_ = 0;
  last_ = n_ - 1;
  if (scales_.data() != nullptr)
    Kokkos::parallel_for("Ainvil::InverseFactors[diagonal]", Range<execution_space>(exec, 0, n_),
                         DiagonalRoots<Scalar, Device>{a, scales_});
  if (row_sizes_.data() != nullptr)
    findRowSizes<Scalar, Device>(exec, a, row_sizes_);
  Kokkos::deep_copy(exec, state.pending, 1);
  Kokkos::deep_copy(exec, state.change, static_cast<char>(Change::None));
  Kokkos::deep_copy(exec, state.chunk_begin, ColumnState<Scalar, Device>::not_computed);
  Kokkos::deep_copy(exec, storage_.worklist.num_failed, 0);
  Kokkos::deep_copy(exec, storage_.stop, 0);
  storage_.grow(exec, true);
  if (by_worklist_)
    runWorklist(exec, {a, transposed}, progress);
  else
    runChunks(exec, {a, transposed}, progress);
  breakdowns_ = countRows(exec, "Ainvil::InverseFactors[broken]", n_,
                          IsBroken<Device>{state.broken}, first_breakdown_);
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::runWorklist(const execution_space& exec,
                                                 const Matrices& matrices,
                                                 const Progress& progress) {
  const Worklist<Device>& worklist = storage_.worklist;
  Kokkos::deep_copy(exec, worklist.is_queued, 0);
  queuePending(exec);
  while (true) {
    const Ordinal last = last_, count = select(exec, matrices);
    if (hasStopped(exec))
      return;
    const bool released = last_ > last; // columns that waited behind a broken one
    if (count == 0) {
      queuePending(exec);
      if (num_queued_ == 0)
        return;
      continue;
    }
    Ordinal begin = 0;
    for (int log = 0; log < Worklist<Device>::num_sizes; ++log) {
      const Ordinal end = begin + static_cast<Ordinal>(storage_.read(worklist.by_size, log));
      conjugate(exec, matrices, begin, end, 1, Ordinal(1) << log, {});
      begin = end;
    }
    const bool by_pass = notifyDependents(exec, matrices, count);
    endRound(exec, count, !by_pass);
    num_queued_ = -1;
    if (released)
      Kokkos::deep_copy(exec, worklist.is_queued, 0);
    if (by_pass || released)
      queuePending(exec);
    num_batched_ += count;
    ++rounds_;
    tell(exec, progress);
  }
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::runChunks(const execution_space& exec,
                                               const Matrices& matrices, const Progress& progress) {
  const ColumnState<Scalar, Device>& state = storage_.state;
  while (true) {
    const bool in_order =
        exec.concurrency() == 1 || columnsComputed() > computations_in_chunks * n_;
    Ordinal count = listPending(exec, state, storage_.worklist.batch);
    if (count == 0)
      return;
    if (in_order) { // all columns from the first pending one on
      const Ordinal first = readBack(exec, storage_.worklist.batch, 0);
      Kokkos::deep_copy(exec, Kokkos::subview(state.pending, std::make_pair(first, n_)), 1);
      count = listPending(exec, state, storage_.worklist.batch);
    }
    const Offset table_size =
        largestSize(exec, n_, PendingTableSize<Scalar, Device>{state}, INT_MAX);
    const Offset chunks =
        in_order ? 1 : std::min<Offset>(exec.concurrency(), count / columns_of_thread + 1);
    conjugate(exec, matrices, 0, count, static_cast<Ordinal>((count + chunks - 1) / chunks),
              static_cast<Ordinal>(table_size), progress);
    if (!in_order)
      notifyDependents(exec, matrices, count);
    endRound(exec, count, false);
    num_batched_ += count;
    ++rounds_;
    storage_.grow(exec, false);
    if (hasStopped(exec))
      return;
  }
}

/// Whether to end before all columns are complete, by the counters last read: there are too many
/// entries, or the first broken column is complete, because none before it is pending. Until it is,
/// the columns behind it wait: after a broken pivot they may grow without bounds.
template <class Scalar, class Device>
bool InverseFactors<Scalar, Device>::hasStopped(const execution_space& exec) {
  last_ = n_ - 1;
  if (storage_.read(storage_.stop) != Offset(FactorStop::None))
    return true;
  if (parameters_.breakdown != BreakdownPolicy::Fail || storage_.read(storage_.num_broken) == 0)
    return false;
  Ordinal broken, pending;
  countRows(exec, "Ainvil::InverseFactors[broken]", n_, IsBroken<Device>{storage_.state.broken},
            broken);
  countPending(exec, storage_.state, pending);
  last_ = broken;
  return pending < 0 || broken < pending;
}

template <class Scalar, class Device>
Offset InverseFactors<Scalar, Device>::columnsComputed() const {
  return n_ == 0 ? 0 : num_batched_ - storage_.read(storage_.worklist.num_failed);
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::tell(const execution_space& exec,
                                          const Progress& progress) const {
  Ordinal first;
  if (progress)
    progress(n_ - countPending(exec, storage_.state, first));
}

/// Queues all pending columns, none of which is queued. Waits.
template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::queuePending(const execution_space& exec) {
  num_queued_ = listPending(exec, storage_.state, storage_.worklist.queue);
  Kokkos::deep_copy(exec, storage_.worklist.num_queued, num_queued_);
}

/// The batch of the next round out of the queue, which is empty then. Returns its length; waits.
template <class Scalar, class Device>
Ordinal InverseFactors<Scalar, Device>::select(const execution_space& exec,
                                               const Matrices& matrices) {
  const Worklist<Device>& worklist = storage_.worklist;
  SelectColumns<Scalar, Device> kernel;
  kernel.few = fewColumns<Scalar>(exec, largest_table_);
  kernel.last = last_;
  const bool by_pass = num_queued_ > kernel.few && passIsCheaper(matrices, num_queued_);
  for (int s = 0; s < storage_.num_sides; ++s) {
    kernel.sides[s] = {matrices.bTransposed(s).graph,
                       storage_.sides[s].supports,
                       other(s).columns,
                       other(s).by_row,
                       {}};
    if (!by_pass)
      continue;
    findFirstInfluence(exec, matrices, s, Influencing::Pending, worklist.queue,
                       static_cast<Ordinal>(num_queued_));
    kernel.sides[s].first_influence = storage_.sides[s].first_influence;
  }
  kernel.num_sides = storage_.num_sides;
  kernel.stabilized = parameters_.stabilized;
  kernel.state = storage_.state;
  kernel.worklist = worklist;
  const RowTeams shape = RowTeams::forWork<execution_space>(lanes_of_support);
  kernel.num_threads =
      static_cast<Ordinal>(std::min<Offset>(n_, exec.concurrency() / shape.lanes + 1));
  Kokkos::deep_copy(exec, worklist.num_selected, 0);
  Kokkos::deep_copy(exec, worklist.by_size, 0);
  forEachRow(exec, "Ainvil::InverseFactors[select]", kernel.num_threads, shape, kernel);
  Kokkos::deep_copy(exec, worklist.num_queued, 0);
  storage_.grow(exec, false);
  const Ordinal count = static_cast<Ordinal>(storage_.read(worklist.num_selected));
  sortBatch(exec, count);
  return count;
}

/// batch = the selected columns by table size.
template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::sortBatch(const execution_space& exec, Ordinal count) {
  Worklist<Device>& worklist = storage_.worklist;
  int num_sizes = 0;
  Offset begin = 0;
  for (int log = 0; log < Worklist<Device>::num_sizes; ++log) {
    const Offset of_size = storage_.read(worklist.by_size, log);
    size_begins_(log) = begin;
    begin += of_size;
    if (of_size == 0)
      continue;
    ++num_sizes;
    largest_table_ = Ordinal(1) << log;
  }
  if (num_sizes < 2) { // sorted already
    std::swap(worklist.selected, worklist.batch);
    return;
  }
  Kokkos::deep_copy(exec, worklist.by_size, size_begins_);
  Kokkos::parallel_for("Ainvil::InverseFactors[sort]", Range<execution_space>(exec, 0, count),
                       SortByTableSize<Scalar, Device>{storage_.state, worklist});
}

/// Columns begin, ..., end - 1 of the batch, `per_chunk` of them by a thread, with tables of at
/// most that size. If there is progress to be told, in several launches for a part of each chunk.
template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::conjugate(const execution_space& exec,
                                               const Matrices& matrices, Ordinal begin, Ordinal end,
                                               Ordinal per_chunk, Ordinal max_table_size,
                                               const Progress& progress) {
  using Kernel = ConjugateColumns<Scalar, Device>;
  Kernel kernel;
  kernel.batch = storage_.worklist.batch;
  for (int s = 0; s < storage_.num_sides; ++s) {
    const FactorSide<Scalar, Device>& side = storage_.sides[s];
    kernel.sides[s] = {side.columns,    other(s).columns, matrices.bTransposed(s), side.by_row,
                       other(s).by_row, side.supports,    side.supports_by_row};
  }
  kernel.state = storage_.state;
  kernel.stabilized = parameters_.stabilized;
  kernel.symmetric = parameters_.symmetric;
  kernel.drop = static_cast<Scalar>(parameters_.drop);
  kernel.scales = scales_;
  kernel.max_column = parameters_.max_column;
  kernel.policy = parameters_.breakdown;
  kernel.shift = static_cast<Scalar>(parameters_.shift);
  kernel.pivot_tolerance = static_cast<Scalar>(parameters_.pivot_tolerance);
  kernel.row_sizes = row_sizes_;
  kernel.batch_is_all_pending = !by_worklist_;
  kernel.max_entries = parameters_.max_entries > 0 ? parameters_.max_entries : LLONG_MAX;
  kernel.num_entries = storage_.num_entries;
  kernel.num_broken = storage_.num_broken;
  kernel.stop = storage_.stop;
  kernel.max_table_size = max_table_size;
  kernel.per_chunk = per_chunk;
  kernel.steps =
      progress ? std::max(fewest_columns_of_launch, per_chunk / launches_of_chunk) : per_chunk;
  const std::size_t bytes = Kernel::Workspace::bytes(max_table_size);
  const Offset at_a_time = std::max<Offset>(1, scratch_limit / Offset(bytes)) * per_chunk;
  for (Offset first = begin; first < end; first += at_a_time) {
    kernel.batch_begin = static_cast<Ordinal>(first);
    kernel.batch_end = static_cast<Ordinal>(std::min<Offset>(end, first + at_a_time));
    const Ordinal chunks = (kernel.batch_end - kernel.batch_begin + per_chunk - 1) / per_chunk;
    for (kernel.first_step = 0; kernel.first_step < per_chunk; kernel.first_step += kernel.steps) {
      forEachRow(exec, "Ainvil::InverseFactors[columns]", chunks,
                 RowTeams::forWork<execution_space>(lanes_of_column), kernel, bytes);
      tell(exec, progress);
    }
  }
}

/// Makes those columns pending that depend on one of the batch which has changed. Returns true if
/// by a pass over all columns; else the worklist has them in its queue, too.
template <class Scalar, class Device>
bool InverseFactors<Scalar, Device>::notifyDependents(const execution_space& exec,
                                                      const Matrices& matrices, Ordinal count) {
  const Worklist<Device>& worklist = storage_.worklist;
  if (passIsCheaper(matrices, count)) {
    for (int s = 0; s < storage_.num_sides; ++s) {
      const FactorSide<Scalar, Device>& side = storage_.sides[s];
      findFirstInfluence(exec, matrices, s, Influencing::Changed, worklist.batch, count);
      forEachRow(
          exec, "Ainvil::InverseFactors[mark]", n_,
          RowTeams::forWork<execution_space>(lanes_of_support),
          MarkDependents<Scalar, Device>{side.supports, side.first_influence, storage_.state});
    }
    return true;
  }
  NotifyDependents<Scalar, Device> kernel;
  for (int s = 0; s < storage_.num_sides; ++s)
    kernel.sides[s] = {
        {matrices.b(s).graph, other(s).columns, parameters_.stabilized, storage_.state.current},
        storage_.sides[s].supports_by_row};
  kernel.num_sides = storage_.num_sides;
  kernel.state = storage_.state;
  kernel.worklist = worklist;
  kernel.enqueue = by_worklist_;
  forEachRow(exec, "Ainvil::InverseFactors[notify]", count, teamsForRowsOf(matrices.a.graph),
             kernel);
  return false;
}

template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::endRound(const execution_space& exec, Ordinal count,
                                              bool enqueue) {
  Kokkos::parallel_for("Ainvil::InverseFactors[end]", Range<execution_space>(exec, 0, count),
                       EndRound<Scalar, Device>{storage_.state, storage_.worklist, enqueue});
}

/// Whether a pass over all columns costs less than to look from each of `count` columns at the rows
/// it influences: these are more than n, as far as their number is known.
template <class Scalar, class Device>
bool InverseFactors<Scalar, Device>::passIsCheaper(const Matrices& matrices, Offset count) const {
  double entries = 0; // of Y
  for (int s = 0; s < storage_.num_sides; ++s) {
    const ColumnsByRow<Scalar, Device>& by_row = storage_.sides[s].by_row;
    entries += parameters_.stabilized
                   ? double(by_row.num_compressed + storage_.read(by_row.num_links))
                   : n_;
  }
  return double(count) / n_ * entries * matrices.a.graph.meanRowLength() > n_;
}

/// first_influence of a side, for the columns of a list.
template <class Scalar, class Device>
void InverseFactors<Scalar, Device>::findFirstInfluence(
    const execution_space& exec, const Matrices& matrices, int side, Influencing which,
    const Kokkos::View<const Ordinal*, Device>& list, Ordinal count) {
  const auto first = storage_.sides[side].first_influence;
  const ColumnState<Scalar, Device>& state = storage_.state;
  Kokkos::deep_copy(exec, first, INT_MAX);
  forEachRow(exec, "Ainvil::InverseFactors[influence]", count, teamsForRowsOf(matrices.a.graph),
             FirstInfluence<Scalar, Device>{{matrices.b(side).graph, other(side).columns,
                                             parameters_.stabilized, state.current},
                                            which,
                                            state,
                                            list,
                                            first});
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class InverseFactors<double, DEVICE>;                                                   \
  template class InverseFactors<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
