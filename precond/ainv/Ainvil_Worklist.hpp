// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The columns that a round of InverseFactors computes: queued, selected, in the order of launches.

#include "ainv/Ainvil_SparseColumns.hpp"

namespace ainvil {
namespace detail {

/// Columns to be considered for the next round, and those of them that it computes.
template <class Device>
struct Worklist {
  static constexpr int num_sizes = 31; ///< of hash tables: powers of two

  Kokkos::View<Ordinal*, Device> queue, selected; ///< in no order
  Kokkos::View<Ordinal*, Device> batch;           ///< the selected ones by table size
  Kokkos::View<Ordinal*, Device> is_queued;       ///< so that no column is in the queue twice
  Counter<Device> num_queued, num_selected;
  Counter<Device> num_failed; ///< columns of batches for which tables or pools were too small
  /// Selected columns by the logarithm of their table size; while the batch is sorted, where the
  /// next one of that size goes.
  Kokkos::View<Offset*, Device> by_size;

  KOKKOS_FUNCTION void enqueue(Ordinal j) const {
    if (Kokkos::atomic_compare_exchange(&is_queued(j), Ordinal(0), Ordinal(1)) == 0)
      queue(Kokkos::atomic_fetch_add(&num_queued(0), Offset(1))) = j;
  }

  KOKKOS_FUNCTION void select(Ordinal j, Ordinal table_size) const {
    selected(Kokkos::atomic_fetch_add(&num_selected(0), Offset(1))) = j;
    Kokkos::atomic_fetch_add(&by_size(logarithm(table_size)), Offset(1));
  }

  /// Of a power of two.
  KOKKOS_FUNCTION static int logarithm(Ordinal size) {
    int log = 0;
    for (; size > 1; size /= 2)
      ++log;
    return log;
  }
};

} // namespace detail
} // namespace ainvil
