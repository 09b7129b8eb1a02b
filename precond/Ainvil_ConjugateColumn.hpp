// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// One column of an inverse factor from the columns before it: the kernel of AINV and SAINV.

#include "Ainvil_FactorColumns.hpp"

namespace ainvil {
namespace detail {

/// Fibonacci hashing (Knuth, The Art of Computer Programming 3, section 6.4).
KOKKOS_INLINE_FUNCTION Ordinal hashOf(Ordinal key) {
  return static_cast<Ordinal>((static_cast<unsigned>(key) * 2654435769u) >> 7);
}

/// Integers in open addressing with room for `size`, a power of two, and the order in which they
/// came (on GPUs in any). Shared by the lanes of a thread.
template <bool Concurrent>
struct IndexTable {
  Ordinal* keys;  ///< -1: free
  Ordinal* slots; ///< a list for whoever uses the table, `count` long
  Ordinal* count;
  Ordinal* used; ///< number of keys
  Ordinal size;

  KOKKOS_INLINE_FUNCTION Ordinal hash(Ordinal key) const { return hashOf(key) & (size - 1); }
  /// Other lanes may be adding keys.
  KOKKOS_INLINE_FUNCTION Ordinal keyAt(Ordinal slot) const {
    return Concurrent ? compat::volatileLoad(keys + slot) : keys[slot];
  }
  /// Slot of the key or -1.
  KOKKOS_INLINE_FUNCTION Ordinal find(Ordinal key) const {
    Ordinal slot = hash(key);
    for (Ordinal probe = 0; probe < size; ++probe, slot = (slot + 1) & (size - 1)) {
      const Ordinal found = keyAt(slot);
      if (found == key)
        return slot;
      if (found < 0)
        return -1;
    }
    return -1;
  }
  /// Slot of the key, which is added if it is new; -1 if that would fill more than a half, so that
  /// searching for keys that are not there stays short.
  KOKKOS_INLINE_FUNCTION Ordinal insert(Ordinal key, bool& added) const {
    added = false;
    Ordinal slot = hash(key);
    for (Ordinal probe = 0; probe < size; ++probe, slot = (slot + 1) & (size - 1)) {
      Ordinal found = keyAt(slot);
      if (found < 0) {
        if constexpr (Concurrent) {
          found = Kokkos::atomic_compare_exchange(keys + slot, Ordinal(-1), key);
        } else {
          keys[slot] = key;
        }
        if (found < 0) {
          added = true;
          return next(used) < size / 2 ? slot : -1;
        }
      }
      if (found == key)
        return slot;
    }
    return -1;
  }
  /// Adds one to a counter and returns what it was.
  KOKKOS_INLINE_FUNCTION static Ordinal next(Ordinal* counter) {
    if constexpr (Concurrent) {
      return Kokkos::atomic_fetch_add(counter, Ordinal(1));
    } else {
      return (*counter)++;
    }
  }
};

/// What one factor, X, is computed from: the columns of the other, Y, and B = A for X = Z, Y = W,
/// or B = A^T for X = W, Y = Z.
template <class Scalar, class Device>
struct ConjugateSide {
  FactorColumns<Scalar, Device> own, other; ///< X and Y
  BsrMatrix<Scalar, Device> transposed;     ///< B^T: its rows are the columns of B
  ColumnsOfRows<Device> own_of_rows, other_of_rows;
  IndexLists<Device> touched;
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
  static constexpr bool concurrent = compat::IsGpu<execution_space>::value;
  static constexpr Ordinal product_size = 2; ///< of the table of v, in sizes of that of x_j
  using Table = IndexTable<concurrent>;
  using Side = ConjugateSide<Scalar, Device>;

  Kokkos::View<const Ordinal*, Device> members; ///< the columns to compute, ascending
  Ordinal first_member, end_member;
  Ordinal per_chunk; ///< members a thread works through
  Ordinal max_room;  ///< of hash tables: a power of two

  int num_sides;
  Side sides[2];
  FactorState<Scalar, Device> state;
  bool stabilized, symmetric;
  Scalar drop;
  Kokkos::View<const Scalar*, Device> scales; ///< empty: the drop tolerance is absolute
  Ordinal max_column;
  BreakdownPolicy policy;
  Scalar shift;

  /// Scratch memory of a thread, in bytes.
  static std::size_t scratchBytes(Ordinal room) {
    return std::size_t(room) *
               ((2 + product_size) * sizeof(Scalar) + (5 + product_size) * sizeof(Ordinal) + 1) +
           num_counters * sizeof(Ordinal);
  }
  static constexpr int num_counters = 8;

  /// Scratch memory, laid out.
  struct Work {
    Scalar* values;         ///< of x_j, by slot
    Scalar* changes;        ///< of some of them
    Scalar* product_values; ///< of v, by slot
    Table rows;             ///< of x_j, of what ever was not zero; `slots` holds their slots
    Table met;              ///< candidates; `slots` holds the candidates themselves
    Table product;          ///< of v; without `slots`
    Ordinal* list;          ///< slots of x_j
    Ordinal* list_length;
    Ordinal* counters;
    Ordinal* full; ///< nonzero: a table was too small

    KOKKOS_INLINE_FUNCTION Work(void* scratch, Ordinal size) {
      const Offset n = size;
      values = static_cast<Scalar*>(scratch);
      changes = values + n;
      product_values = changes + n;
      Ordinal* next = reinterpret_cast<Ordinal*>(product_values + product_size * n);
      counters = next + (5 + product_size) * n;
      rows = {next, next + n, counters, counters + 1, size};
      met = {next + 2 * n, next + 3 * n, counters + 2, counters + 3, size};
      product = {next + 5 * n, nullptr, nullptr, counters + 4, product_size * size};
      list = next + 4 * n;
      full = counters + 5;
      list_length = counters + 6;
    }
  };

  /// The column at hand.
  struct Column {
    Ordinal j;
    Ordinal chunk; ///< first column of the chunk
  };

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal chunk, void* scratch) const {
    const Ordinal begin = first_member + chunk * per_chunk;
    const Ordinal end = end_member - begin < per_chunk ? end_member : begin + per_chunk;
    for (Ordinal m = begin; m < end; ++m) {
      const Column column{members(m), members(begin)};
      // The columns after one that cannot be computed yet would only start from an old one.
      if (!compute(member, column, scratch))
        return;
    }
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
    Scalar d = 0;
    bool different = false;
    for (int s = 0; s < num_sides; ++s) {
      const Side& side = sides[s];
      while (room <= max_room && !conjugate(member, side, column, Work(scratch, room)))
        room *= 2;
      if (room > max_room) {
        Kokkos::single(Kokkos::PerThread(member),
                       [&]() { state.rooms(j) = state.dirty(j) = room; });
        return false;
      }
      const Work work(scratch, room);
      if (!store(member, side, column, work, different))
        return false;
      if (s == (stabilized ? num_sides - 1 : 0))
        d = coefficient(member, side, work, j, next);
    }
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      const bool finite = d * Scalar(0) == Scalar(0);
      const bool good = finite && (symmetric ? d > Scalar(0) : d != Scalar(0));
      const Scalar used = good ? d : substitute(j);
      pivot(j, next) = used;
      state.broken(j) = good ? 0 : 1;
      state.changed(j) = different || !same(used, pivot(j, 1 - next)) ? 1 : 0;
      state.base(j) = column.chunk;
      state.rooms(j) = room;
      state.dirty(j) = 0;
    });
    return true;
  }

  /// What the breakdown policy puts in place of a bad pivot.
  KOKKOS_INLINE_FUNCTION Scalar substitute(Ordinal j) const {
    const BsrMatrix<Scalar, Device>& a = sides[0].transposed; // has the same diagonal
    const Offset at = findEntry(a.graph.entries, a.graph.row_map(j), a.graph.row_map(j + 1), j);
    const Scalar size = at < 0 ? Scalar(0) : compat::math::fabs(a.values(at));
    const Scalar base = size > Scalar(0) ? size : Scalar(1);
    return policy == BreakdownPolicy::Shift ? shift * base : base;
  }

  /// x_j in scratch memory; false if the tables are too small.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool conjugate(const Member& member, const Side& side,
                                        const Column& column, const Work& work) const {
    clear(member, work);
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      const Ordinal slot = open(work, column.j);
      work.values[slot] = work.changes[0] = Scalar(1);
      work.list[0] = slot;
    });
    updateProduct(member, side, work, 1, column.j, -1);
    Ordinal last = -1;
    while (true) {
      const Ordinal i = nextCandidate(member, work, last);
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

  template <class Member>
  KOKKOS_INLINE_FUNCTION void clear(const Member& member, const Work& work) const {
    const Ordinal size = work.rows.size;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, product_size * size),
                         [&](const Ordinal t) {
                           work.product.keys[t] = -1;
                           if (t < size) {
                             work.rows.keys[t] = -1;
                             work.met.keys[t] = -1;
                           }
                           if (t < num_counters)
                             work.counters[t] = 0;
                         });
  }

  /// Slot of a row that is not zero any more and was never before; -1 if there is no room.
  KOKKOS_INLINE_FUNCTION Ordinal open(const Work& work, Ordinal row) const {
    bool added;
    const Ordinal slot = work.rows.insert(row, added);
    if (slot >= 0)
      work.rows.slots[Table::next(work.rows.count)] = slot;
    return slot;
  }

  /// v += B (changes of x_j), those of the first `length` slots of the list, and what that brings
  /// to the candidates.
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
        if (stabilized)
          side.other_of_rows.forEach(l, [&](const Ordinal i) { meet(work, i, j, last); });
        else
          meet(work, l, j, last);
      });
    }
  }

  KOKKOS_INLINE_FUNCTION void meet(const Work& work, Ordinal i, Ordinal j, Ordinal last) const {
    if (i <= last || i >= j)
      return;
    bool added;
    if (work.met.insert(i, added) < 0)
      *work.full = 1;
    else if (added)
      work.met.slots[Table::next(work.met.count)] = i;
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION Ordinal nextCandidate(const Member& member, const Work& work,
                                               Ordinal last) const {
    Ordinal next = list_end;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, *work.met.count),
        [&](const Ordinal c, Ordinal& smallest) {
          const Ordinal i = work.met.slots[c];
          smallest = i > last && i < smallest ? i : smallest;
        },
        Kokkos::Min<Ordinal>(next));
    return next;
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
            slot = open(work, k);
          if (slot < 0) {
            ++sum;
            return;
          }
          work.values[slot] = after;
          work.list[e] = slot;
        },
        refused);
    return refused == 0;
  }

  /// Writes x_j as the version that is not current. False if there is no place.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool store(const Member& member, const Side& side, const Column& column,
                                    const Work& work, bool& different) const {
    const FactorColumns<Scalar, Device>& x = side.own;
    const Ordinal j = column.j;
    const int current = state.current(j), next = 1 - current;
    const Ordinal opened = *work.rows.count;
    Ordinal kept = collect(member, work);
    if (max_column > 0 && kept > max_column) {
      keepLargest(member, work, j, kept);
      updateProduct(member, side, work, kept, j, j);
      kept = collect(member, work);
    }
    int placed = 0;
    Kokkos::single(
        Kokkos::PerThread(member),
        [&](int& good) {
          good = x.pool.place(x.list(j, next), kept) && side.touched.pool.place(j, opened) ? 1 : 0;
        },
        placed);
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
    const bool same_rows = same_length && other_rows == 0;
    different = different || !same_rows || other_values > 0;
    const Offset to = side.touched.pool.begin(j);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, opened), [&](const Ordinal t) {
      side.touched.indices(to + t) = work.rows.keys[work.rows.slots[t]];
    });
    Kokkos::single(
        Kokkos::PerThread(member),
        [&](int& good) {
          x.count(j, next) = kept;
          side.touched.count(j) = opened;
          if (stabilized && !same_rows)
            good = side.own_of_rows.add(j, x.rows.data() + after, kept) ? 1 : 0;
        },
        placed);
    return placed != 0;
  }

  /// Not numbers are the same: a comparison that may come to rest.
  KOKKOS_INLINE_FUNCTION static bool same(Scalar a, Scalar b) {
    return a == b || (a != a && b != b);
  }

  /// The slots with nonzero values become the first of `list`, by ascending rows; returns how many.
  template <class Member>
  KOKKOS_INLINE_FUNCTION Ordinal collect(const Member& member, const Work& work) const {
    Kokkos::single(Kokkos::PerThread(member), [&]() { *work.list_length = 0; });
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, *work.rows.count), [&](const Ordinal t) {
      const Ordinal slot = work.rows.slots[t];
      if (work.values[slot] != Scalar(0))
        work.list[Table::next(work.list_length)] = slot;
    });
    const Ordinal kept = *work.list_length;
    const Ordinal* keys = work.rows.keys;
    if constexpr (!concurrent) {
      for (Ordinal e = 1; e < kept; ++e) {
        const Ordinal slot = work.list[e];
        Ordinal at = e;
        for (; at > 0 && keys[work.list[at - 1]] > keys[slot]; --at)
          work.list[at] = work.list[at - 1];
        work.list[at] = slot;
      }
    } else {
      Ordinal* sorted = work.met.slots; // no longer needed
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, kept), [&](const Ordinal e) {
        Ordinal rank = 0;
        for (Ordinal f = 0; f < kept; ++f)
          rank += keys[work.list[f]] < keys[work.list[e]] ? 1 : 0;
        sorted[rank] = work.list[e];
      });
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, kept),
                           [&](const Ordinal e) { work.list[e] = sorted[e]; });
    }
    return kept;
  }

  /// Zeros all of the listed slots but the diagonal and the max_column - 1 of largest magnitude.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void keepLargest(const Member& member, const Work& work, Ordinal j,
                                          Ordinal kept) const {
    // All lanes compare the values as they were.
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, kept), [&](const Ordinal e) {
      const Scalar value = work.values[work.list[e]], size = compat::math::fabs(value);
      Ordinal larger = 0;
      for (Ordinal f = 0; f < kept; ++f) {
        const Scalar rival = compat::math::fabs(work.values[work.list[f]]);
        const bool diagonal = work.rows.keys[work.list[f]] == j;
        larger += diagonal || rival > size || (rival == size && f < e) ? 1 : 0;
      }
      const bool dropped = work.rows.keys[work.list[e]] != j && larger >= max_column;
      work.changes[e] = dropped ? -value : Scalar(0);
    });
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, kept), [&](const Ordinal e) {
      if (work.changes[e] != Scalar(0))
        work.values[work.list[e]] = 0;
    });
  }
};

} // namespace detail
} // namespace ainvil
