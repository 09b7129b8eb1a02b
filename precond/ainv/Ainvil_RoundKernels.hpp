// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Which columns of inverse factors are to be computed next, and which of them change others.

#include "ainv/Ainvil_SparseColumns.hpp"

namespace ainvil {
namespace detail {

/// Columns to look at, and those of them to compute in this round. One element a column.
template <class Device>
struct Agenda {
  static constexpr int num_rooms = 31; ///< powers of two

  Kokkos::View<Ordinal*, Device> proposed, chosen; ///< lists in no order, the second to compute
  Kokkos::View<Ordinal*, Device> members;          ///< the chosen by the room they need
  Kokkos::View<Ordinal*, Device> is_proposed;      ///< so that no column is in the list twice
  Counter<Device> num_proposed, num_chosen;
  Counter<Device> num_left;              ///< members that could not be computed
  Kokkos::View<Offset*, Device> of_room; ///< chosen columns by the logarithm of the room they need

  KOKKOS_FUNCTION void propose(Ordinal j) const {
    if (Kokkos::atomic_compare_exchange(&is_proposed(j), Ordinal(0), Ordinal(1)) == 0)
      proposed(Kokkos::atomic_fetch_add(&num_proposed(0), Offset(1))) = j;
  }

  KOKKOS_FUNCTION void choose(Ordinal j, Ordinal room) const {
    chosen(Kokkos::atomic_fetch_add(&num_chosen(0), Offset(1))) = j;
    Kokkos::atomic_fetch_add(&of_room(logarithm(room)), Offset(1));
  }

  KOKKOS_FUNCTION static int logarithm(Ordinal room) {
    int log = 0;
    for (; room > 1; room /= 2)
      ++log;
    return log;
  }
};

/// The rows k that B^T y_i reaches (AINV: row i of B): a column j > i that touched one of them
/// meets i, or may meet it.
template <class Scalar, class Device>
struct ReachedRows {
  Graph<Device> b;
  FactorColumns<Scalar, Device> y;
  bool stabilized = false;
  Kokkos::View<const char*, Device> current;

  /// Calls f(k), on the lanes of the thread, for y_i as it is and, if wanted, in its other version.
  template <class Member, class F>
  KOKKOS_FUNCTION void forEach(const Member& member, Ordinal i, bool both, const F& f) const {
    if (!stabilized) {
      forEachInRow(member, i, f);
      return;
    }
    for (int v = 0; v < (both ? 2 : 1); ++v) {
      const int version = v == 0 ? current(i) : 1 - current(i);
      const Offset begin = y.begin(i, version), end = begin + y.count(i, version);
      for (Offset e = begin; e < end; ++e)
        forEachInRow(member, y.rows(e), f);
    }
  }

  template <class Member, class F>
  KOKKOS_FUNCTION void forEachInRow(const Member& member, Ordinal l, const F& f) const {
    const Offset begin = b.row_map(l);
    const Ordinal length = static_cast<Ordinal>(b.row_map(l + 1) - begin);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, length),
                         [&](const Ordinal e) { f(b.entries(begin + e)); });
  }
};

/// first(k) becomes the smallest column i of a list that reaches row k: of those that have changed,
/// in either version, or else of the dirty ones, as they are.
template <class Scalar, class Device>
struct FirstToReach {
  ReachedRows<Scalar, Device> rows;
  bool changed_only;
  FactorState<Scalar, Device> state;
  Kokkos::View<const Ordinal*, Device> list;
  Kokkos::View<Ordinal*, Device> first;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal m, void*) const {
    const Ordinal i = list(m);
    const Change change = static_cast<Change>(state.changed(i));
    if (changed_only ? change == Change::None || state.base(i) < 0 : state.dirty(i) == 0)
      return;
    rows.forEach(member, i, changed_only && change == Change::Rows, [&](const Ordinal k) {
      if (compat::volatileLoad(&first(k)) > i)
        Kokkos::atomic_fetch_min(&first(k), i);
    });
  }
};

/// Whether column j touched a row that concerns it because of a column before `limit`; on all
/// lanes.
template <class Device, class Member>
KOKKOS_INLINE_FUNCTION bool isReached(const Member& member, const IndexLists<Device>& touched,
                                      const Kokkos::View<const Ordinal*, Device>& first, Ordinal j,
                                      Ordinal limit) {
  const Offset begin = touched.pool.begin(j);
  Ordinal reached = 0;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(member, touched.count(j)),
      [&](const Ordinal t, Ordinal& sum) {
        sum += first(touched.indices(begin + t)) < limit ? 1 : 0;
      },
      reached);
  return reached > 0;
}

/// All columns that met a changed one, whose new version they were not computed with, become dirty.
template <class Scalar, class Device>
struct MarkDirty {
  IndexLists<Device> touched;
  Kokkos::View<const Ordinal*, Device> first;
  FactorState<Scalar, Device> state;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal j, void*) const {
    const Ordinal base = state.base(j);
    if (isReached<Device>(member, touched, first, j, base >= 0 ? base : j))
      Kokkos::single(Kokkos::PerThread(member), [&]() { state.dirty(j) = 1; });
  }
};

/// The proposed columns that are dirty are chosen, but, if these are more than `few`, one for
/// which a dirty i < j is among those that it meets: p_ij = y_i^T B x_j may be other than 0. It is
/// proposed again when i has been computed. Launched for any number of threads.
template <class Scalar, class Device>
struct ChooseColumns {
  struct Side {
    Graph<Device> columns;               ///< rows of B^T
    IndexLists<Device> touched;          ///< by x_j
    FactorColumns<Scalar, Device> other; ///< Y
    ColumnsOfRows<Device> other_of_rows;
    Kokkos::View<const Ordinal*, Device> first; ///< of all dirty columns; or empty
  };

  Side sides[2];
  int num_sides;
  bool stabilized;
  FactorState<Scalar, Device> state;
  Agenda<Device> agenda;
  Offset few;
  Ordinal num_threads;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal thread, void*) const {
    const Offset end = agenda.num_proposed(0);
    for (Offset at = thread; at < end; at += num_threads) {
      const Ordinal j = agenda.proposed(at);
      bool chosen = state.dirty(j) != 0;
      for (int s = 0; s < num_sides && chosen && end > few; ++s)
        chosen = !hasToWait(member, sides[s], j);
      Kokkos::single(Kokkos::PerThread(member), [&]() {
        agenda.is_proposed(j) = 0;
        if (chosen)
          agenda.choose(j, state.rooms(j));
      });
    }
  }

  template <class Member>
  KOKKOS_FUNCTION bool hasToWait(const Member& member, const Side& side, Ordinal j) const {
    if (side.first.data() != nullptr)
      return isReached<Device>(member, side.touched, side.first, j, j);
    const Offset begin = side.touched.pool.begin(j);
    Ordinal reasons = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, side.touched.count(j)),
        [&](const Ordinal t, Ordinal& sum) {
          const Ordinal k = side.touched.indices(begin + t);
          const Offset last = side.columns.row_map(k + 1);
          for (Offset e = side.columns.row_map(k); e < last && sum == 0; ++e) {
            const Ordinal l = side.columns.entries(e);
            if (!stabilized)
              sum += l < j && state.dirty(l) != 0 ? 1 : 0;
            else
              side.other_of_rows.forEach(l, [&](const Ordinal i) {
                sum += i < j && state.dirty(i) != 0 && hasRow(side.other, i, l) ? 1 : 0;
              });
          }
        },
        reasons);
    return reasons > 0;
  }

  /// Whether column i of Y has an entry in row l now.
  KOKKOS_FUNCTION bool hasRow(const FactorColumns<Scalar, Device>& y, Ordinal i, Ordinal l) const {
    const int version = state.current(i);
    const Offset begin = y.begin(i, version);
    return findEntry(y.rows, begin, begin + y.count(i, version), l) >= 0;
  }
};

/// For every computed column i: those j > i that met it, in its old or its new version, and were
/// not computed with the new one, become dirty if i has changed; the dirty ones are proposed.
template <class Scalar, class Device>
struct Wake {
  struct Side {
    ReachedRows<Scalar, Device> rows;
    ColumnsOfRows<Device> touching; ///< columns by the rows that they touched
  };

  Side sides[2];
  int num_sides;
  FactorState<Scalar, Device> state;
  Agenda<Device> agenda;
  bool propose; ///< else leave it at dirty

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal m, void*) const {
    const Ordinal i = agenda.members(m);
    const Change change = static_cast<Change>(state.changed(i));
    if (state.base(i) < 0 || (!propose && change == Change::None))
      return;
    const auto wake = [&](const Ordinal j) {
      const Ordinal base = state.base(j);
      if (i >= (base >= 0 ? base : j))
        return;
      if (change != Change::None)
        compat::volatileStore(&state.dirty(j), char(1)); // others may do the same
      if (propose && compat::volatileLoad(&state.dirty(j)) != 0)
        agenda.propose(j);
    };
    for (int s = 0; s < num_sides; ++s)
      sides[s].rows.forEach(member, i, change == Change::Rows,
                            [&](const Ordinal k) { sides[s].touching.forEach(k, wake); });
  }
};

/// The chosen columns into members, sorted by rooms; of_room(r) is where those of room 2^r begin
/// and becomes where they end.
template <class Scalar, class Device>
struct SortByRoom {
  FactorState<Scalar, Device> state;
  Agenda<Device> agenda;

  KOKKOS_FUNCTION void operator()(Offset c) const {
    const Ordinal j = agenda.chosen(c);
    Offset& place = agenda.of_room(Agenda<Device>::logarithm(state.rooms(j)));
    agenda.members(Kokkos::atomic_fetch_add(&place, Offset(1))) = j;
  }
};

/// The new versions of members become current; those that could not be computed are counted and, if
/// wanted, proposed again.
template <class Scalar, class Device>
struct EndRound {
  FactorState<Scalar, Device> state;
  Agenda<Device> agenda;
  bool propose;

  KOKKOS_FUNCTION void operator()(Offset m) const {
    const Ordinal j = agenda.members(m);
    if (state.base(j) < 0) {
      Kokkos::atomic_fetch_add(&agenda.num_left(0), Offset(1));
      if (propose)
        agenda.propose(j);
    } else if (static_cast<Change>(state.changed(j)) != Change::None) {
      state.current(j) = static_cast<char>(1 - state.current(j));
    }
    state.changed(j) = static_cast<char>(Change::None);
    state.base(j) = -1;
  }
};

} // namespace detail
} // namespace ainvil
