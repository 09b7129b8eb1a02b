// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A conjugated column from scratch memory into its factor.

#include "ainv/Ainvil_ColumnState.hpp"
#include "ainv/Ainvil_ColumnsByRow.hpp"
#include "ainv/Ainvil_ConjugationWorkspace.hpp"
#include "backend/Ainvil_Lanes.hpp"

namespace ainvil {
namespace detail {

/// What a factor X is computed from and what is written with it: X = Z, Y = W, B = A, or X = W,
/// Y = Z, B = A^T.
template <class Scalar, class Device>
struct ConjugationSide {
  SparseColumns<Scalar, Device> x, y;
  BsrMatrix<Scalar, Device> b_transposed; ///< its rows are the columns of B
  ColumnsByRow<Scalar, Device> x_by_row, y_by_row;
  SparseColumns<Scalar, Device> supports;       ///< patterns: where an x_j was nonzero on the way
  ColumnsByRow<Scalar, Device> supports_by_row; ///< empty if one thread computes all
};

/// Writes a column and its support; false where a pool or a list is full, whereupon the column is
/// to be computed again after they have grown. A lane an entry.
template <class Scalar, class Device>
struct StoreColumn {
  using Workspace = ConjugationWorkspace<Scalar, Device>;

  const ConjugationSide<Scalar, Device>& side;
  const Workspace& work;
  Ordinal j;
  int current;     ///< version of column j that is left alone
  bool stabilized; ///< x_by_row is in use

  /// x_j, version 1 - current, = the values at the first `kept` slots, by ascending rows. `change`
  /// grows to what they differ by from the current version.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool operator()(const Member& member, Ordinal kept, Change& change) const {
    const SparseColumns<Scalar, Device>& x = side.x;
    const int next = 1 - current;
    if (!reserve(member, x.pool, x.list(j, next), kept))
      return false;
    const Offset before = x.begin(j, current), after = x.begin(j, next);
    const bool same_length = x.count(j, current) == kept;
    Ordinal other_rows = 0, other_values = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, kept),
        [&](const Ordinal e, Ordinal& sum) {
          const Ordinal row = work.rows.keys[work.slots[e]];
          sum += same_length && x.rows(before + e) != row ? 1 : 0;
          x.rows(after + e) = row;
        },
        other_rows);
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, kept),
        [&](const Ordinal e, Ordinal& sum) {
          const Scalar value = work.values[work.slots[e]];
          sum += same_length && !same(x.values(before + e), value) ? 1 : 0;
          x.values(after + e) = value;
        },
        other_values);
    joinLanes(member);
    const bool same_rows = same_length && other_rows == 0;
    if (!same_rows)
      change = Change::Pattern;
    else if (other_values > 0 && change == Change::None)
      change = Change::Values;
    if (!storeSupport(member))
      return false;
    Kokkos::single(Kokkos::PerThread(member), [&]() { x.count(j, next) = kept; });
    return !stabilized || same_rows || side.x_by_row.insert(member, j, x.rows.data() + after, kept);
  }

  /// Whether values are equal; NaN equals NaN, so that columns of NaN do not change for ever.
  KOKKOS_INLINE_FUNCTION static bool same(Scalar a, Scalar b) {
    return a == b || (a != a && b != b);
  }

private:
  /// support(j) = the rows of the table; those that are new to it go into supports_by_row.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool storeSupport(const Member& member) const {
    const SparseColumns<Scalar, Device>& supports = side.supports;
    const Ordinal length = *work.rows.count;
    if (side.supports_by_row.exists()) {
      // changes(slot) = whether the row is new
      const Offset begin = supports.begin(j);
      forLanes(member, length,
               [&](const Ordinal t) { work.changes[work.rows.list[t]] = Scalar(1); });
      forLanes(member, supports.count(j), [&](const Ordinal t) {
        const Ordinal slot = work.rows.find(supports.rows(begin + t));
        if (slot >= 0)
          work.changes[slot] = Scalar(0);
      });
      Kokkos::single(Kokkos::PerThread(member), [&]() { *work.num_slots = 0; });
      Ordinal* added = work.candidates.list; // all have been visited
      forLanes(member, length, [&](const Ordinal t) {
        const Ordinal slot = work.rows.list[t];
        if (work.changes[slot] != Scalar(0))
          added[Workspace::Table::next(work.num_slots)] = work.rows.keys[slot];
      });
      if (!side.supports_by_row.insert(member, j, added, *work.num_slots))
        return false;
    }
    if (!reserve(member, supports.pool, supports.list(j), length))
      return false;
    const Offset to = supports.begin(j);
    forLanes(member, length,
             [&](const Ordinal t) { supports.rows(to + t) = work.rows.keys[work.rows.list[t]]; });
    Kokkos::single(Kokkos::PerThread(member), [&]() { supports.count(j) = length; });
    return true;
  }

  /// ListPool::reserve() by one lane; all lanes get the answer.
  template <class Member>
  KOKKOS_INLINE_FUNCTION static bool reserve(const Member& member, const ListPool<Device>& pool,
                                             Offset list, Ordinal count) {
    int reserved = 0;
    Kokkos::single(
        Kokkos::PerThread(member), [&](int& good) { good = pool.reserve(list, count) ? 1 : 0; },
        reserved);
    return reserved != 0;
  }
};

} // namespace detail
} // namespace ainvil
