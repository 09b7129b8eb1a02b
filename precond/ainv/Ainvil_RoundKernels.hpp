// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The kernels with which a round of InverseFactors begins and ends: which columns it computes, and
/// which have to be computed again after it.

#include "ainv/Ainvil_Influence.hpp"
#include "ainv/Ainvil_Worklist.hpp"
#include "backend/Ainvil_Flags.hpp"

namespace ainvil {
namespace detail {

/// selected = the queued columns up to `last` that are pending; but where more than `few` are
/// queued, a column j waits if a pending i < j influences it: it would be computed again after i.
/// Who computes i enqueues j again (NotifyDependents). A thread of any number of them takes every
/// num_threads-th column of the queue, whose length the host does not know; its lanes are over the
/// support of x_j.
template <class Scalar, class Device>
struct SelectColumns {
  struct Side {
    Graph<Device> b_transposed;
    SparseColumns<Scalar, Device> supports; ///< of x_j
    SparseColumns<Scalar, Device> y;
    ColumnsByRow<Scalar, Device> y_by_row;
    /// FirstInfluence of all pending columns; or empty: it is looked for in y_by_row.
    Kokkos::View<const Ordinal*, Device> first_influence;
  };

  Side sides[2];
  int num_sides;
  bool stabilized;
  ColumnState<Scalar, Device> state;
  Worklist<Device> worklist;
  Offset few;
  Ordinal last;
  Ordinal num_threads;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal thread, void*) const {
    const Offset end = worklist.num_queued(0);
    for (Offset at = thread; at < end; at += num_threads) {
      const Ordinal j = worklist.queue(at);
      bool selected = j <= last && state.pending(j) != 0;
      for (int s = 0; s < num_sides && selected && end > few; ++s)
        selected = !mustWait(member, sides[s], j);
      Kokkos::single(Kokkos::PerThread(member), [&]() {
        worklist.is_queued(j) = 0;
        if (selected)
          worklist.select(j, state.table_sizes(j));
      });
    }
  }

  /// Whether a pending i < j has an entry (i, k) of Y^T B in a row k of the support of x_j.
  template <class Member>
  KOKKOS_FUNCTION bool mustWait(const Member& member, const Side& side, Ordinal j) const {
    if (side.first_influence.data() != nullptr)
      return isInfluenced(member, side.supports, side.first_influence, j, j);
    const Offset begin = side.supports.begin(j);
    Ordinal reasons = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, side.supports.count(j)),
        [&](const Ordinal t, Ordinal& sum) {
          const Ordinal k = side.supports.rows(begin + t);
          const Offset last = side.b_transposed.row_map(k + 1);
          for (Offset e = side.b_transposed.row_map(k); e < last && sum == 0; ++e) {
            const Ordinal l = side.b_transposed.entries(e);
            if (!stabilized)
              sum += l < j && state.pending(l) != 0 ? 1 : 0;
            else
              side.y_by_row.forEach(l, [&](const Ordinal i) {
                sum += i < j && state.pending(i) != 0 && hasRow(side.y, i, l) ? 1 : 0;
              });
          }
        },
        reasons);
    return reasons > 0;
  }

  /// Whether the current y_i has an entry in row l: y_by_row may be of older versions.
  KOKKOS_FUNCTION bool hasRow(const SparseColumns<Scalar, Device>& y, Ordinal i, Ordinal l) const {
    const int version = state.current(i);
    const Offset begin = y.begin(i, version);
    return findEntry(y.rows, begin, begin + y.count(i, version), l) >= 0;
  }
};

/// batch = the selected columns sorted by table size; by_size(s) is where those of size 2^s begin
/// and becomes where they end.
template <class Scalar, class Device>
struct SortByTableSize {
  ColumnState<Scalar, Device> state;
  Worklist<Device> worklist;

  KOKKOS_FUNCTION void operator()(Offset s) const {
    const Ordinal j = worklist.selected(s);
    Offset& place = worklist.by_size(Worklist<Device>::logarithm(state.table_sizes(j)));
    worklist.batch(Kokkos::atomic_fetch_add(&place, Offset(1))) = j;
  }
};

/// For every column i of the batch: the columns j > i that i influences, with its current or its
/// next version, and that were not computed from the next one become pending if i changes; those
/// pending are enqueued. A thread a column i, its lanes over the rows that i influences.
template <class Scalar, class Device>
struct NotifyDependents {
  struct Side {
    InfluencedRows<Scalar, Device> rows;
    ColumnsByRow<Scalar, Device> supports_by_row;
  };

  Side sides[2];
  int num_sides;
  ColumnState<Scalar, Device> state;
  Worklist<Device> worklist;
  bool enqueue; ///< else they become pending only

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal m, void*) const {
    const Ordinal i = worklist.batch(m);
    const Change change = state.changeOf(i);
    if (state.chunk_begin(i) == state.not_computed || (!enqueue && change == Change::None))
      return;
    const auto notify = [&](const Ordinal j) {
      if (i >= j || state.knowsNext(j, i))
        return;
      if (change != Change::None)
        compat::volatileStore(&state.pending(j), char(1)); // other threads may store the same
      if (enqueue && compat::volatileLoad(&state.pending(j)) != 0)
        worklist.enqueue(j);
    };
    for (int s = 0; s < num_sides; ++s)
      sides[s].rows.forEach(member, i, change == Change::Pattern,
                            [&](const Ordinal k) { sides[s].supports_by_row.forEach(k, notify); });
  }
};

/// The next versions of the batch become current. Columns that could not be computed are counted
/// and, if wanted, enqueued again.
template <class Scalar, class Device>
struct EndRound {
  ColumnState<Scalar, Device> state;
  Worklist<Device> worklist;
  bool enqueue;

  KOKKOS_FUNCTION void operator()(Offset m) const {
    const Ordinal j = worklist.batch(m);
    if (state.chunk_begin(j) == state.not_computed) {
      Kokkos::atomic_fetch_add(&worklist.num_failed(0), Offset(1));
      if (enqueue)
        worklist.enqueue(j);
    } else if (state.changeOf(j) != Change::None) {
      state.current(j) = static_cast<char>(1 - state.current(j));
    }
    state.change(j) = static_cast<char>(Change::None);
    state.chunk_begin(j) = state.not_computed;
  }
};

} // namespace detail
} // namespace ainvil
