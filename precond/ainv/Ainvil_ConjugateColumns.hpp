// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// One column of an inverse factor from the columns before it: the kernel of AINV and SAINV.

#include "Ainvil_Preconditioner.hpp"
#include "ainv/Ainvil_ConjugationWorkspace.hpp"
#include "ainv/Ainvil_SparseColumns.hpp"

namespace ainvil {
namespace detail {

/// a_ii, 0 where it is missing; for block size 1.
template <class Scalar, class Device>
KOKKOS_INLINE_FUNCTION Scalar diagonalEntry(const BsrMatrix<Scalar, Device>& a, Ordinal i) {
  const Offset at = findEntry(a.graph.entries, a.graph.row_map(i), a.graph.row_map(i + 1), i);
  return at < 0 ? Scalar(0) : a.values(at);
}

/// What one factor, X, is computed from: the columns of the other, Y, and B = A for X = Z, Y = W,
/// or B = A^T for X = W, Y = Z.
template <class Scalar, class Device>
struct ConjugateSide {
  FactorColumns<Scalar, Device> own, other; ///< X and Y
  BsrMatrix<Scalar, Device> transposed;     ///< B^T: its rows are the columns of B
  ColumnsOfRows<Device> own_of_rows, other_of_rows;
  IndexLists<Device> touched;
  ColumnsOfRows<Device> touching; ///< empty if not wanted
};

/// Columns x_j of one or two factors from the columns i < j:
///   x_j = e_j;  for i = 1 .. j - 1:  p = y_i^T B x_j  (AINV: row i of B times x_j),
///                                    x_j -= (p / d_i) x_i,  |x_kj| < drop: x_kj = 0,
/// and d_j = y_j^T B x_j (AINV: row j of A times z_j). A thread works through a chunk of columns.
/// x_j and v = B x_j live in hash tables in scratch memory; where an x_kj changes, so does v, by
/// the change times column k of B. Only i that can have p != 0 are visited, in ascending order:
/// they are gathered when a v_l comes to be, as the columns of Y that have an entry in row l (AINV:
/// as l). The lanes of the thread are over the entries of x_i, of a column of B, and over the
/// candidates i. What is added up is added in the order of stored columns, so that no result
/// depends on the order of the lanes.
template <class Scalar, class Device>
struct ConjugateColumns {
  using execution_space = typename Device::execution_space;
  using Work = ConjugateScratch<Scalar, Device>;
  using Side = ConjugateSide<Scalar, Device>;

  Kokkos::View<const Ordinal*, Device> members; ///< the columns to compute, ascending in a chunk
  Ordinal first_member, end_member;
  Ordinal per_chunk;         ///< members a thread works through
  Ordinal first_step, steps; ///< of a chunk: those of this launch
  Ordinal max_room;          ///< of hash tables: a power of two

  Side sides[2]; ///< only the first if symmetric
  FactorState<Scalar, Device> state;
  bool stabilized, symmetric;
  Scalar drop;
  Kokkos::View<const Scalar*, Device> scales; ///< empty: the drop tolerance is absolute
  Ordinal max_column;
  BreakdownPolicy policy;
  Scalar shift;
  Offset most_entries; ///< that the columns may have together
  /// Members are ascending, and columns before the first one will stay as they are.
  bool ascending;
  Counter<Device> num_entries; ///< of all columns, in the versions computed last
  Counter<Device> num_broken;  ///< of their pivots
  Counter<Device> stop;        ///< a FactorStop; other than None it ends it all

  /// The column at hand.
  struct Column {
    Ordinal j;
    Ordinal chunk; ///< first column of the chunk
  };

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal chunk, void* scratch) const {
    const Ordinal begin = first_member + chunk * per_chunk;
    const Ordinal end = end_member - begin < per_chunk ? end_member : begin + per_chunk;
    const Ordinal first = begin + first_step;
    // The columns after one that cannot be computed yet would only start from an old one.
    if (first >= end || (first > begin && state.base(members(first - 1)) < 0))
      return;
    const Ordinal last = end - first < steps ? end : first + steps;
    for (Ordinal m = first; m < last; ++m) {
      const Column column{members(m), members(begin)};
      if (hasEnded(member))
        return;
      if (!compute(member, column, scratch))
        return;
      // The first columns in a row stay as they are now.
      const bool stays = ascending && begin == 0 && column.j - column.chunk == m;
      if (stays && policy == BreakdownPolicy::Fail && state.broken(column.j) != 0)
        compat::volatileStore(&stop(0), Offset(FactorStop::Breakdown));
    }
  }

  /// Whether somebody has set `stop`; the same on all lanes, whoever sets it meanwhile.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool hasEnded(const Member& member) const {
    int ended = 0;
    Kokkos::single(
        Kokkos::PerThread(member),
        [&](int& value) { value = compat::volatileLoad(&stop(0)) != 0 ? 1 : 0; }, ended);
    return ended != 0;
  }

  /// The version of column i that column j is computed with.
  KOKKOS_INLINE_FUNCTION int version(const Column& column, Ordinal i) const {
    const int current = state.current(i);
    return i >= column.chunk && state.changed(i) != 0 ? 1 - current : current;
  }
  KOKKOS_INLINE_FUNCTION Scalar& pivot(Ordinal i, int version) const {
    return state.pivots(i + Offset(version) * sides[0].own.num_columns);
  }

  /// False if the tables or the pools are too small for it; the column stays dirty then.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool compute(const Member& member, const Column& column,
                                      void* scratch) const {
    const Ordinal j = column.j;
    Ordinal room = state.rooms(j);
    const int next = 1 - state.current(j);
    const int num_sides = symmetric ? 1 : 2;
    Scalar d = 0;
    Change change = Change::None;
    for (int s = 0; s < num_sides; ++s) {
      const Side& side = sides[s];
      while (room <= max_room && !conjugate(member, side, column, Work(scratch, room)))
        room *= 2;
      if (room > max_room) {
        Kokkos::single(Kokkos::PerThread(member), [&]() { state.rooms(j) = room; });
        return false;
      }
      const Work work(scratch, room);
      if (!store(member, side, column, work, change))
        return false;
      if (s == (stabilized ? num_sides - 1 : 0))
        d = coefficient(member, side, work, j, next);
    }
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      const bool finite = d * Scalar(0) == Scalar(0);
      const bool good = finite && (symmetric ? d > Scalar(0) : d != Scalar(0));
      const Scalar used = good ? d : substitute(j);
      pivot(j, next) = used;
      const char broken = good ? 0 : 1;
      if (broken != state.broken(j))
        Kokkos::atomic_fetch_add(&num_broken(0), Offset(broken) - Offset(state.broken(j)));
      state.broken(j) = broken;
      countEntries(j, next);
      if (change == Change::None && !same(used, pivot(j, 1 - next)))
        change = Change::Values;
      state.changed(j) = static_cast<char>(change);
      state.base(j) = column.chunk;
      state.rooms(j) = room;
      state.dirty(j) = 0;
    });
    return true;
  }

  /// Counts those of the new versions instead of the current ones; too many end it all.
  KOKKOS_INLINE_FUNCTION void countEntries(Ordinal j, int next) const {
    Offset more = 0;
    for (int s = 0; s < (symmetric ? 1 : 2); ++s)
      more += Offset(sides[s].own.count(j, next)) - Offset(sides[s].own.count(j, 1 - next));
    if (more != 0 && Kokkos::atomic_fetch_add(&num_entries(0), more) + more > most_entries)
      compat::volatileStore(&stop(0), Offset(FactorStop::TooFull));
  }

  /// What the breakdown policy puts in place of a bad pivot.
  KOKKOS_INLINE_FUNCTION Scalar substitute(Ordinal j) const {
    // A^T has the same diagonal.
    const Scalar size = compat::math::fabs(diagonalEntry(sides[0].transposed, j));
    const Scalar base = size > Scalar(0) ? size : Scalar(1);
    return policy == BreakdownPolicy::Shift ? shift * base : base;
  }

  /// x_j in scratch memory; false if the tables are too small.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool conjugate(const Member& member, const Side& side,
                                        const Column& column, const Work& work) const {
    work.clear(member);
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      const Ordinal slot = work.open(column.j);
      work.values[slot] = work.changes[0] = Scalar(1);
      work.list[0] = slot;
    });
    updateProduct(member, side, work, 1, column.j, -1);
    Ordinal last = -1;
    while (true) {
      const Ordinal i = work.nextToMeet(member, last);
      const bool full = *work.full != 0;
      if (full || i == list_end)
        return !full;
      last = i;
      const int version_i = version(column, i);
      const Scalar p = coefficient(member, side, work, i, version_i);
      if (p == Scalar(0))
        continue;
      if (!subtract(member, side, work, column.j, i, version_i, p / pivot(i, version_i)))
        return false;
      updateProduct(member, side, work, side.own.count(i, version_i), column.j, last);
    }
  }

  /// v += B (changes of x_j), those of the first `length` slots of the list, and what that brings
  /// to what x_j is to meet.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void updateProduct(const Member& member, const Side& side,
                                            const Work& work, Ordinal length, Ordinal j,
                                            Ordinal last) const {
    const BsrMatrix<Scalar, Device>& b = side.transposed;
    for (Ordinal c = 0; c < length; ++c) {
      const Scalar change = work.changes[c];
      if (change == Scalar(0))
        continue;
      const Ordinal k = work.rows.keys[work.list[c]];
      const Offset begin = b.graph.row_map(k);
      const Ordinal entries = static_cast<Ordinal>(b.graph.row_map(k + 1) - begin);
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, entries), [&](const Ordinal e) {
        const Ordinal l = b.graph.entries(begin + e);
        bool added;
        const Ordinal slot = work.product.insert(l, added);
        if (slot < 0) {
          *work.full = 1;
          return;
        }
        const Scalar before = added ? Scalar(0) : work.product_values[slot];
        work.product_values[slot] = before + change * b.values(begin + e);
        if (!added)
          return;
        const auto meet = [&](const Ordinal i) {
          if (i > last && i < j)
            work.meet(i);
        };
        if (stabilized)
          side.other_of_rows.forEach(l, meet);
        else
          meet(l);
      });
    }
  }

  /// p = y_i^T v or v_i.
  template <class Member>
  KOKKOS_INLINE_FUNCTION Scalar coefficient(const Member& member, const Side& side,
                                            const Work& work, Ordinal i, int version_i) const {
    if (!stabilized) {
      const Ordinal slot = work.product.find(i);
      return slot >= 0 ? work.product_values[slot] : Scalar(0);
    }
    const FactorColumns<Scalar, Device>& y = side.other;
    const Offset begin = y.begin(i, version_i);
    Scalar p = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, y.count(i, version_i)),
        [&](const Ordinal e, Scalar& sum) {
          const Ordinal slot = work.product.find(y.rows(begin + e));
          if (slot >= 0)
            sum += y.values(begin + e) * work.product_values[slot];
        },
        p);
    joinLanes(member); // before any writes again
    return p;
  }

  /// x_j -= factor x_i, with dropping. The first of `list` become the slots of the entries of x_i,
  /// the first of `changes` what they change by. False if the table is too small.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool subtract(const Member& member, const Side& side, const Work& work,
                                       Ordinal j, Ordinal i, int version_i, Scalar factor) const {
    const FactorColumns<Scalar, Device>& x = side.own;
    const Offset begin = x.begin(i, version_i);
    const Ordinal length = x.count(i, version_i);
    if (length > work.rows.size) // and the list
      return false;
    Ordinal refused = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, length),
        [&](const Ordinal e, Ordinal& sum) {
          const Ordinal k = x.rows(begin + e);
          Ordinal slot = work.rows.find(k);
          const Scalar before = slot >= 0 ? work.values[slot] : Scalar(0);
          Scalar after = before - factor * x.values(begin + e);
          const Scalar limit = scales.data() != nullptr ? drop * scales(j) / scales(k) : drop;
          if (compat::math::fabs(after) < limit)
            after = 0;
          work.changes[e] = after - before;
          if (slot < 0 && after == Scalar(0))
            return;
          if (slot < 0)
            slot = work.open(k);
          if (slot < 0) {
            ++sum;
            return;
          }
          work.values[slot] = after;
          work.list[e] = slot;
        },
        refused);
    joinLanes(member);
    return refused == 0;
  }

  /// Writes x_j as the version that is not current. False if there is no place.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool store(const Member& member, const Side& side, const Column& column,
                                    const Work& work, Change& change) const {
    const FactorColumns<Scalar, Device>& x = side.own;
    const Ordinal j = column.j;
    const int current = state.current(j), next = 1 - current;
    Ordinal kept = work.collect(member);
    if (max_column > 0 && kept > max_column) {
      work.keepLargest(member, j, kept, max_column);
      updateProduct(member, side, work, kept, j, j);
      kept = work.collect(member);
    }
    int placed = 0;
    Kokkos::single(
        Kokkos::PerThread(member),
        [&](int& good) { good = x.pool.place(x.list(j, next), kept) ? 1 : 0; }, placed);
    if (placed == 0)
      return false;
    const Ordinal* sorted = work.list;
    const Offset before = x.begin(j, current), after = x.begin(j, next);
    const bool same_length = x.count(j, current) == kept;
    Ordinal other_rows = 0, other_values = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, kept),
        [&](const Ordinal e, Ordinal& sum) {
          const Ordinal row = work.rows.keys[sorted[e]];
          sum += same_length && x.rows(before + e) != row ? 1 : 0;
          x.rows(after + e) = row;
        },
        other_rows);
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, kept),
        [&](const Ordinal e, Ordinal& sum) {
          const Scalar value = work.values[sorted[e]];
          sum += same_length && !same(x.values(before + e), value) ? 1 : 0;
          x.values(after + e) = value;
        },
        other_values);
    joinLanes(member);
    const bool same_rows = same_length && other_rows == 0;
    if (!same_rows)
      change = Change::Rows;
    else if (other_values > 0 && change == Change::None)
      change = Change::Values;
    if (!touch(member, side, work, j))
      return false;
    Kokkos::single(Kokkos::PerThread(member), [&]() { x.count(j, next) = kept; });
    return !stabilized || same_rows || side.own_of_rows.add(member, j, x.rows.data() + after, kept);
  }

  /// Writes down the rows in which x_j was not zero. False if there is no place.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool touch(const Member& member, const Side& side, const Work& work,
                                    Ordinal j) const {
    const IndexLists<Device>& touched = side.touched;
    const Ordinal opened = *work.rows.count;
    if (side.touching.head.data() != nullptr) {
      // Of these the new ones are listed.
      const Offset begin = touched.pool.begin(j);
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, opened),
                           [&](const Ordinal t) { work.changes[work.rows.list[t]] = Scalar(1); });
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, touched.count(j)),
                           [&](const Ordinal t) {
                             const Ordinal slot = work.rows.find(touched.indices(begin + t));
                             if (slot >= 0)
                               work.changes[slot] = Scalar(0);
                           });
      Kokkos::single(Kokkos::PerThread(member), [&]() { *work.list_length = 0; });
      Ordinal* fresh = work.met.list; // no longer needed
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, opened), [&](const Ordinal t) {
        const Ordinal slot = work.rows.list[t];
        if (work.changes[slot] != Scalar(0))
          fresh[Work::Table::next(work.list_length)] = work.rows.keys[slot];
      });
      if (!side.touching.add(member, j, fresh, *work.list_length))
        return false;
    }
    int placed = 0;
    Kokkos::single(
        Kokkos::PerThread(member), [&](int& good) { good = touched.pool.place(j, opened) ? 1 : 0; },
        placed);
    if (placed == 0)
      return false;
    const Offset to = touched.pool.begin(j);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, opened), [&](const Ordinal t) {
      touched.indices(to + t) = work.rows.keys[work.rows.list[t]];
    });
    Kokkos::single(Kokkos::PerThread(member), [&]() { touched.count(j) = opened; });
    return true;
  }

  /// Not numbers are the same: a comparison that may come to rest.
  KOKKOS_INLINE_FUNCTION static bool same(Scalar a, Scalar b) {
    return a == b || (a != a && b != b);
  }
};

} // namespace detail
} // namespace ainvil
