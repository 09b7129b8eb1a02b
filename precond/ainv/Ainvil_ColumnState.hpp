// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the rounds of InverseFactors know of each column beside its entries.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {
namespace detail {

/// Why the rounds ended before all columns were complete.
enum class FactorStop {
  None,
  Breakdown, ///< under the policy `fail` a pivot is certain to stay bad
  TooFull    ///< the columns have more entries than they may
};

/// By what the next version of a column differs from its current one. After None both are the same
/// and the current one stays.
enum class Change : char { None, Values, Pattern };

/// One element a column j: of z_j, w_j and d_j together.
template <class Scalar, class Device>
struct ColumnState {
  Kokkos::View<char*, Device> current;        ///< version of z_j, w_j and d_j that counts, 0 or 1
  Kokkos::View<char*, Device> change;         ///< a Change, of the computation of this round
  Kokkos::View<char*, Device> pending;        ///< 1: to be computed, or computed again
  Kokkos::View<char*, Device> broken;         ///< 1: the policy's substitute is in place of d_j
  Kokkos::View<Scalar*, Device> pivots;       ///< d_j, of version 0 of all columns, then of 1
  Kokkos::View<Ordinal*, Device> table_sizes; ///< of the hash tables that it needs, a power of two
  /// First column of the chunk in which j was computed in this round: from the next versions of
  /// columns chunk_begin(j), ..., j - 1 and the current ones of those before. not_computed: it was
  /// not in a batch, or tables or pools were too small for it.
  Kokkos::View<Ordinal*, Device> chunk_begin;
  /// Empty; or the levels of columns in a round by levels, in which a column is computed from the
  /// next versions of those of lower levels, too.
  Kokkos::View<const unsigned*, Device> level;

  static constexpr Ordinal not_computed = -1;

  /// Of the columns i before this one, j knows the current versions only: if i changes in this
  /// round, j has to be computed again. Of those from it on j has used the next versions. Not in a
  /// round by levels.
  KOKKOS_FUNCTION Ordinal knowsNextFrom(Ordinal j) const {
    const Ordinal begin = chunk_begin(j);
    return begin != not_computed ? begin : j;
  }
  /// Whether column j was computed in this round, and from the next version of column i < j.
  KOKKOS_FUNCTION bool knowsNext(Ordinal j, Ordinal i) const {
    const Ordinal begin = chunk_begin(j);
    return begin != not_computed && (i >= begin || isOfLowerLevel(i, j));
  }
  KOKKOS_FUNCTION bool isOfLowerLevel(Ordinal i, Ordinal j) const {
    return level.data() != nullptr && level(i) < level(j);
  }
  KOKKOS_FUNCTION Change changeOf(Ordinal j) const { return static_cast<Change>(change(j)); }
  KOKKOS_FUNCTION Scalar& pivot(Ordinal j, int version) const {
    return pivots(j + Offset(version) * static_cast<Offset>(current.extent(0)));
  }
};

/// 1 for columns whose flag is set, 0 for the others.
template <class Device>
struct IsSet {
  Kokkos::View<const char*, Device> flags;

  KOKKOS_FUNCTION Offset operator()(Offset j) const { return flags(j) != 0 ? 1 : 0; }
};

/// The table size of a pending column, 0 for the others.
template <class Scalar, class Device>
struct PendingTableSize {
  ColumnState<Scalar, Device> state;

  KOKKOS_FUNCTION Offset operator()(Offset j) const {
    return state.pending(j) != 0 ? state.table_sizes(j) : 0;
  }
};

} // namespace detail
} // namespace ainvil
