// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Which columns of an inverse factor depend on which, by structure.

#include "ainv/Ainvil_ColumnState.hpp"
#include "ainv/Ainvil_ColumnsByRow.hpp"
#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_Lanes.hpp"

namespace ainvil {
namespace detail {

/// The rows that column i influences: the pattern of B^T y_i (AINV: of row i of B). In x_j, j > i,
/// the coefficient p_ij = (B^T y_i)^T x_j can be nonzero only where the support of x_j has one of
/// these rows: i then influences j, j depends on i.
template <class Scalar, class Device>
struct InfluencedRows {
  Graph<Device> b;
  SparseColumns<Scalar, Device> y;
  bool stabilized = false;
  Kokkos::View<const char*, Device> current;

  /// Calls f(k), on the lanes of the thread, for the current y_i and, if wanted, for its next
  /// version too; k may come up more than once.
  template <class Member, class F>
  KOKKOS_FUNCTION void forEach(const Member& member, Ordinal i, bool next_too, const F& f) const {
    if (!stabilized) {
      forEachInRow(member, i, f);
      return;
    }
    for (int v = 0; v < (next_too ? 2 : 1); ++v) {
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
    forLanes(member, length, [&](const Ordinal e) { f(b.entries(begin + e)); });
  }
};

/// Which columns of a list count for FirstInfluence.
enum class Influencing {
  Pending, ///< those to be computed, in their current version
  Changed  ///< those that this round has changed, in both versions
};

/// first(k) = min of the columns i of a list that influence row k. A thread a column i.
template <class Scalar, class Device>
struct FirstInfluence {
  InfluencedRows<Scalar, Device> rows;
  Influencing which;
  ColumnState<Scalar, Device> state;
  Kokkos::View<const Ordinal*, Device> list;
  Kokkos::View<Ordinal*, Device> first; ///< at least n before

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal m, void*) const {
    const Ordinal i = list(m);
    const Change change = state.changeOf(i);
    const bool of_changed = which == Influencing::Changed;
    if (of_changed ? change == Change::None : state.pending(i) == 0)
      return;
    rows.forEach(member, i, of_changed && change == Change::Pattern, [&](const Ordinal k) {
      if (compat::volatileLoad(&first(k)) > i)
        Kokkos::atomic_fetch_min(&first(k), i);
    });
  }
};

/// Whether one of the columns i < limit of FirstInfluence influences column j; a lane a row of its
/// support, the answer on all lanes.
template <class Scalar, class Device, class Member>
KOKKOS_INLINE_FUNCTION bool
isInfluenced(const Member& member, const SparseColumns<Scalar, Device>& supports,
             const Kokkos::View<const Ordinal*, Device>& first, Ordinal j, Ordinal limit) {
  const Offset begin = supports.begin(j);
  Ordinal influences = 0;
  Kokkos::parallel_reduce(
      Kokkos::ThreadVectorRange(member, supports.count(j)),
      [&](const Ordinal t, Ordinal& sum) {
        sum += first(supports.rows(begin + t)) < limit ? 1 : 0;
      },
      influences);
  return influences > 0;
}

/// pending(j) = 1 for all columns j that depend on one which this round has changed, unless they
/// were computed from its next version already. A thread a column.
template <class Scalar, class Device>
struct MarkDependents {
  SparseColumns<Scalar, Device> supports;
  Kokkos::View<const Ordinal*, Device> first; ///< of the changed columns
  ColumnState<Scalar, Device> state;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal j, void*) const {
    if (isInfluenced(member, supports, first, j, state.knowsNextFrom(j)))
      Kokkos::single(Kokkos::PerThread(member), [&]() { state.pending(j) = 1; });
  }
};

} // namespace detail
} // namespace ainvil
