// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Columns of inverse factors from those before them: the kernel of AINV and SAINV.

#include "Ainvil_Preconditioner.hpp"
#include "ainv/Ainvil_Diagonal.hpp"
#include "ainv/Ainvil_LevelGate.hpp"
#include "ainv/Ainvil_StoreColumn.hpp"
#include "backend/Ainvil_FiniteNumbers.hpp"
#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_Lanes.hpp"

namespace ainvil {
namespace detail {

/// Columns x_j of one or two factors by left-looking incomplete conjugation,
///   x_j = e_j;  for i = 1 .. j - 1:  p = y_i^T B x_j  (AINV: b_i^T x_j, b_i^T being row i of B),
///                                    x_j -= (p / d_i) x_i,  |x_kj| < drop: x_kj = 0,
/// and their pivots d_j = y_j^T B x_j (AINV: a_j^T z_j).
///
/// A thread (on GPUs a warp) works through a chunk of columns, one after the other. It keeps x_j
/// and v = B x_j in hash tables in scratch memory: p is then a dot product of y_i with v (AINV:
/// v_i), and where x_kj changes, v changes by as much times column k of B. Most i have p = 0 by
/// structure. Visited are the candidates, in ascending order: when v_l becomes an entry, those
/// columns of Y that have an entry in row l (AINV: column l). Lanes are over the entries of x_i in
/// the update of x_j, of a column of B in that of v, of y_i in the dot product, and over the
/// candidates in the search for the next one. Sums are over stored columns in their order, so that
/// no result depends on the order of the lanes.
template <class Scalar, class Device>
struct ConjugateColumns {
  using execution_space = typename Device::execution_space;
  using Workspace = ConjugationWorkspace<Scalar, Device>;
  using Side = ConjugationSide<Scalar, Device>;

  Kokkos::View<const Ordinal*, Device> batch; ///< the columns to compute, ascending in a chunk
  Ordinal batch_begin, batch_end;
  Ordinal per_chunk;         ///< columns a thread works through
  Ordinal first_step, steps; ///< of each chunk the columns of this launch
  Ordinal max_table_size;

  Side sides[2];
  int num_sides; ///< 1 if symmetric
  ColumnState<Scalar, Device> state;
  bool stabilized;
  Scalar drop;
  Kokkos::View<const Scalar*, Device> scales; ///< empty: the drop tolerance is absolute
  Ordinal max_column;                         ///< 0: any number of entries
  BreakdownPolicy policy;
  Scalar shift;
  Scalar pivot_tolerance;
  Kokkos::View<const Scalar*, Device> row_sizes; ///< max_k |a_jk|; empty if symmetric
  Offset max_entries;                            ///< that all columns may have together
  bool batch_is_all_pending;   ///< in ascending order; else any of the pending columns in any order
  Counter<Device> num_entries; ///< of all columns, in the versions computed last
  Counter<Device> num_broken;  ///< of their pivots
  Counter<Device> stop;        ///< a FactorStop; other than None it ends all rounds
  LevelGate gate;              ///< where columns of one launch wait for those of lower levels

  /// The column at hand and the first one of its chunk.
  struct Column {
    Ordinal j, chunk_begin;
  };

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal chunk, void* scratch) const {
    const Ordinal begin = batch_begin + chunk * per_chunk;
    gate.wait(member, batch(begin));
    computeChunk(member, begin, scratch);
    gate.announce(member, batch(begin));
  }

  /// The columns of the chunk that begins there in the batch.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void computeChunk(const Member& member, Ordinal begin,
                                           void* scratch) const {
    const Ordinal end = batch_end - begin < per_chunk ? batch_end : begin + per_chunk;
    const Ordinal first = begin + first_step;
    // After a column that could not be computed the rest of the chunk is left for the next round:
    // it would only be computed from an old version.
    if (first >= end ||
        (first > begin && state.chunk_begin(batch(first - 1)) == state.not_computed))
      return;
    const Ordinal last = end - first < steps ? end : first + steps;
    for (Ordinal m = first; m < last; ++m) {
      const Column column{batch(m), batch(begin)};
      if (hasStopped(member))
        return;
      if (!compute(member, column, scratch))
        return;
      // A column with no gap before it in a batch of all that are pending is complete.
      const bool complete =
          batch_is_all_pending && begin == 0 && column.j - column.chunk_begin == m;
      if (complete && policy == BreakdownPolicy::Fail && state.broken(column.j) != 0)
        compat::volatileStore(&stop(0), Offset(FactorStop::Breakdown));
    }
  }

  /// Whether any thread has set `stop`; the same answer on all lanes.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool hasStopped(const Member& member) const {
    int stopped = 0;
    Kokkos::single(
        Kokkos::PerThread(member),
        [&](int& value) { value = compat::volatileLoad(&stop(0)) != 0 ? 1 : 0; }, stopped);
    return stopped != 0;
  }

  /// The version of column i that column j is computed from.
  KOKKOS_INLINE_FUNCTION int versionFor(const Column& column, Ordinal i) const {
    const int current = state.current(i);
    const bool next = i >= column.chunk_begin || state.isOfLowerLevel(i, column.j);
    return next && state.change(i) != 0 ? 1 - current : current;
  }

  /// The next versions of z_j, w_j and d_j. False if a table, a pool or a list is too small for
  /// them; the column stays pending then.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool compute(const Member& member, const Column& column,
                                      void* scratch) const {
    const Ordinal j = column.j;
    Ordinal table_size = state.table_sizes(j);
    const int current = state.current(j), next = 1 - current;
    Scalar d = 0;
    Change change = Change::None;
    for (int s = 0; s < num_sides; ++s) {
      const Side& side = sides[s];
      while (table_size <= max_table_size &&
             !conjugate(member, side, column, Workspace(scratch, table_size)))
        table_size *= 2;
      if (table_size > max_table_size) { // the next round has a launch with larger tables
        Kokkos::single(Kokkos::PerThread(member), [&]() { state.table_sizes(j) = table_size; });
        return false;
      }
      const Workspace work(scratch, table_size);
      const Ordinal kept = limitLength(member, side, work, j);
      const StoreColumn<Scalar, Device> store{side, work, j, current, stabilized};
      if (!store(member, kept, change))
        return false;
      if (s == (stabilized ? num_sides - 1 : 0))
        d = coefficient(member, side, work, j, next);
    }
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      const bool finite = isFinite(d);
      const bool good =
          finite &&
          (num_sides == 1 ? d > Scalar(0) : compat::math::fabs(d) > pivot_tolerance * row_sizes(j));
      const Scalar used = good ? d : substitute(j);
      state.pivot(j, next) = used;
      const char broken = good ? 0 : 1;
      if (broken != state.broken(j))
        Kokkos::atomic_fetch_add(&num_broken(0), Offset(broken) - Offset(state.broken(j)));
      state.broken(j) = broken;
      countEntries(j, next);
      if (change == Change::None &&
          !StoreColumn<Scalar, Device>::same(used, state.pivot(j, current)))
        change = Change::Values;
      state.change(j) = static_cast<char>(change);
      state.chunk_begin(j) = column.chunk_begin;
      state.table_sizes(j) = table_size;
      state.pending(j) = 0;
    });
    return true;
  }

  /// num_entries with the next version of column j in place of its current one.
  KOKKOS_INLINE_FUNCTION void countEntries(Ordinal j, int next) const {
    Offset more = 0;
    for (int s = 0; s < num_sides; ++s)
      more += Offset(sides[s].x.count(j, next)) - Offset(sides[s].x.count(j, 1 - next));
    if (more != 0 && Kokkos::atomic_fetch_add(&num_entries(0), more) + more > max_entries)
      compat::volatileStore(&stop(0), Offset(FactorStop::TooFull));
  }

  /// What the breakdown policy puts in place of a bad pivot.
  KOKKOS_INLINE_FUNCTION Scalar substitute(Ordinal j) const {
    const Scalar size = compat::math::fabs(diagonalEntry(sides[0].b_transposed, j)); // |a_jj|
    const Scalar base = size > Scalar(0) ? size : Scalar(1);
    return policy == BreakdownPolicy::Shift ? shift * base : base;
  }

  /// x_j and v in scratch memory; false if the tables are too small.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool conjugate(const Member& member, const Side& side,
                                        const Column& column, const Workspace& work) const {
    work.clear(member);
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      const Ordinal slot = work.addRow(column.j);
      work.values[slot] = work.changes[0] = Scalar(1);
      work.slots[0] = slot;
    });
    updateProduct(member, side, work, 1, column.j, -1);
    Ordinal last = -1;
    while (true) {
      const Ordinal i = work.nextCandidate(member, last);
      const bool overflow = *work.overflow != 0;
      if (overflow || i == list_end)
        return !overflow;
      last = i;
      const int version = versionFor(column, i);
      const Scalar p = coefficient(member, side, work, i, version);
      if (p == Scalar(0))
        continue;
      if (!subtract(member, side, work, column.j, i, version, p / state.pivot(i, version)))
        return false;
      updateProduct(member, side, work, side.x.count(i, version), column.j, last);
    }
  }

  /// v += B (changes of x_j), of those at the first `length` slots. Entries that are new in v bring
  /// candidates, of which those in (last, j) are still to be visited.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void updateProduct(const Member& member, const Side& side,
                                            const Workspace& work, Ordinal length, Ordinal j,
                                            Ordinal last) const {
    const BsrMatrix<Scalar, Device>& b = side.b_transposed;
    for (Ordinal c = 0; c < length; ++c) {
      const Scalar change = work.changes[c];
      if (change == Scalar(0))
        continue;
      const Ordinal k = work.rows.keys[work.slots[c]];
      const Offset begin = b.graph.row_map(k);
      const Ordinal entries = static_cast<Ordinal>(b.graph.row_map(k + 1) - begin);
      forLanes(member, entries, [&](const Ordinal e) {
        const Ordinal l = b.graph.entries(begin + e);
        bool added;
        const Ordinal slot = work.product.insert(l, added);
        if (slot < 0) {
          *work.overflow = 1;
          return;
        }
        const Scalar before = added ? Scalar(0) : work.product_values[slot];
        work.product_values[slot] = before + change * b.values(begin + e);
        if (!added)
          return;
        const auto addCandidate = [&](const Ordinal i) {
          if (i > last && i < j)
            work.addCandidate(i);
        };
        if (stabilized)
          side.y_by_row.forEach(l, addCandidate);
        else
          addCandidate(l);
      });
    }
  }

  /// p = y_i^T v  (AINV: v_i)
  template <class Member>
  KOKKOS_INLINE_FUNCTION Scalar coefficient(const Member& member, const Side& side,
                                            const Workspace& work, Ordinal i, int version) const {
    if (!stabilized) {
      const Ordinal slot = work.product.find(i);
      return slot >= 0 ? work.product_values[slot] : Scalar(0);
    }
    const SparseColumns<Scalar, Device>& y = side.y;
    const Offset begin = y.begin(i, version);
    Scalar p = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, y.count(i, version)),
        [&](const Ordinal e, Scalar& sum) {
          const Ordinal slot = work.product.find(y.rows(begin + e));
          if (slot >= 0)
            sum += y.values(begin + e) * work.product_values[slot];
        },
        p);
    joinLanes(member); // before any writes again
    return p;
  }

  /// x_j -= factor x_i, with dropping. `slots` becomes where the entries of x_i are in x_j,
  /// `changes` by how much each of them changes x_j. False if the table is too small.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool subtract(const Member& member, const Side& side,
                                       const Workspace& work, Ordinal j, Ordinal i, int version,
                                       Scalar factor) const {
    const SparseColumns<Scalar, Device>& x = side.x;
    const Offset begin = x.begin(i, version);
    const Ordinal length = x.count(i, version);
    if (length > work.rows.size) // `slots` and `changes` are as long
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
            slot = work.addRow(k);
          if (slot < 0) {
            ++sum;
            return;
          }
          work.values[slot] = after;
          work.slots[e] = slot;
        },
        refused);
    joinLanes(member);
    return refused == 0;
  }

  /// Drops from the complete x_j all but its max_column largest entries, and from v what they
  /// brought. Returns how many are left; their slots are by ascending rows.
  template <class Member>
  KOKKOS_INLINE_FUNCTION Ordinal limitLength(const Member& member, const Side& side,
                                             const Workspace& work, Ordinal j) const {
    const Ordinal kept = work.sortNonzeros(member);
    if (max_column == 0 || kept <= max_column)
      return kept;
    work.keepLargest(member, j, kept, max_column);
    updateProduct(member, side, work, kept, j, j);
    return work.sortNonzeros(member);
  }
};

} // namespace detail
} // namespace ainvil
