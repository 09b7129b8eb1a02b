// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The memory of InverseFactors: the factors, the state of their columns, the worklist, and how all
/// of it grows between rounds.

#include "ainv/Ainvil_ColumnState.hpp"
#include "ainv/Ainvil_ColumnsByRow.hpp"
#include "ainv/Ainvil_Worklist.hpp"
#include "backend/Ainvil_AllocateTogether.hpp"
#include "backend/Ainvil_SlowScratch.hpp"

#include <utility>

namespace ainvil {
namespace detail {

/// Numbers that kernels count in, in one array, and a copy of them on the host.
template <class Device>
class Counters {
public:
  using execution_space = typename Device::execution_space;

  Counters() = default;
  Counters(const execution_space& exec, int capacity)
      : counters_(allocateZeros<Offset, Device>(exec, "Ainvil::counters", capacity)),
        read_(allocate<Offset, HostDevice>(HostDevice::execution_space(), "Ainvil::counters",
                                           capacity)) {}

  /// The next `count` of them.
  Counter<Device> take(int count = 1) {
    taken_ += count;
    return Kokkos::subview(counters_, std::make_pair(taken_ - count, taken_));
  }
  /// Copies all to the host. Waits.
  void readAll(const execution_space& exec) {
    Kokkos::deep_copy(exec, read_, counters_);
    compat::fence(exec, "Ainvil::InverseFactors");
  }
  /// Element k of a counter as it was when last read.
  Offset read(const Counter<Device>& counter, int k = 0) const {
    return read_(counter.data() - counters_.data() + k);
  }

private:
  Kokkos::View<Offset*, Device> counters_;
  Kokkos::View<Offset*, HostDevice> read_;
  int taken_ = 0;
};

/// Z or W.
template <class Scalar, class Device>
struct FactorSide {
  SparseColumns<Scalar, Device> columns; ///< in two versions
  ColumnsByRow<Scalar, Device> by_row;   ///< of all versions since its last rebuild; SAINV only
  /// Of each column the rows in which it was nonzero at some step of its last computation.
  SparseColumns<Scalar, Device> supports;
  ColumnsByRow<Scalar, Device> supports_by_row;   ///< not where one thread computes all columns
  Kokkos::View<Ordinal*, Device> first_influence; ///< see FirstInfluence; and workspace of rebuilds
};

template <class Scalar, class Device>
struct FactorStorage {
  using execution_space = typename Device::execution_space;
  using Side = FactorSide<Scalar, Device>;

  FactorStorage() = default;
  /// Columns of the identity. With `dependents` one can ask which columns depend on a given one;
  /// with `queue` the worklist has a queue.
  FactorStorage(const execution_space& exec, Ordinal n, int num_sides, bool stabilized,
                bool dependents, bool queue);

  /// Reads the counters, grows the pools in which the last round found no place, and rebuilds the
  /// patterns by rows whose linked lists are half full, or all of them. Waits.
  void grow(const execution_space& exec, bool rebuild_all);
  /// Reads the counters and grows the pools in which kernels have found no place; false if there
  /// are none. Waits.
  bool growPools(const execution_space& exec);

  /// Where columns begin: columns of SAINV with a tolerance of 0.1 have 3 to 5 entries on grids
  /// (docs/results/ainv.md, AINV), and this table takes a support of 16 rows.
  static constexpr Ordinal smallest_table = 32;

  Offset read(const Counter<Device>& counter, int k = 0) const {
    return counters_.read(counter, k);
  }

  int num_sides = 1; ///< 1 if symmetric: Z, else Z and W
  Side sides[2];
  ColumnState<Scalar, Device> state;
  Worklist<Device> worklist;
  Counter<Device> stop;        ///< a FactorStop
  Counter<Device> num_entries; ///< of Z and W, in the versions computed last
  Counter<Device> num_broken;  ///< of the pivots
  SlowScratch<typename Device::execution_space> scratch; ///< of long columns

private:
  static constexpr Ordinal first_column_capacity = 4;
  static constexpr Ordinal first_support_capacity = 8;

  Counters<Device> counters_;
};

template <class Scalar, class Device>
FactorStorage<Scalar, Device>::FactorStorage(const execution_space& exec, Ordinal n, int num_sides,
                                             bool stabilized, bool dependents, bool queue)
    : num_sides(num_sides), counters_(exec, 6 + Worklist<Device>::num_sizes + 4 * num_sides) {
  const Ordinal of_w = num_sides > 1 ? n : 0, of_queue = queue ? n : 0;
  const auto [influence_z, influence_w, table_sizes, chunk_begin, batch, selected, queued,
              is_queued] = allocateTogether<Ordinal, Device>(exec, "Ainvil::columns", n, of_w, n, n,
                                                             n, of_queue, of_queue, of_queue);
  sides[0].first_influence = influence_z;
  sides[1].first_influence = influence_w;
  for (int s = 0; s < num_sides; ++s) {
    Side& side = sides[s];
    side.columns = SparseColumns<Scalar, Device>(exec, n, 2, ColumnContent::Values,
                                                 first_column_capacity, counters_.take());
    side.supports = SparseColumns<Scalar, Device>(exec, n, 1, ColumnContent::Pattern,
                                                  first_support_capacity, counters_.take());
    if (stabilized)
      side.by_row = ColumnsByRow<Scalar, Device>(exec, n, counters_.take());
    if (dependents)
      side.supports_by_row = ColumnsByRow<Scalar, Device>(exec, n, counters_.take());
  }
  const auto [current, broken, change, pending] =
      allocateTogether<char, Device>(exec, "Ainvil::flags", n, n, n, n);
  Kokkos::deep_copy(exec, current, char(0));
  Kokkos::deep_copy(exec, broken, char(0));
  state.current = current;
  state.broken = broken;
  state.change = change;
  state.pending = pending;
  state.pivots = allocateZeros<Scalar, Device>(exec, "Ainvil::pivots", 2 * size_t(n));
  state.table_sizes = table_sizes;
  Kokkos::deep_copy(exec, state.table_sizes, smallest_table);
  state.chunk_begin = chunk_begin;
  worklist.batch = batch;
  worklist.selected = selected;
  worklist.queue = queued;
  worklist.is_queued = is_queued;
  worklist.num_selected = counters_.take();
  worklist.num_queued = counters_.take();
  worklist.num_failed = counters_.take();
  worklist.by_size = counters_.take(Worklist<Device>::num_sizes);
  stop = counters_.take();
  num_entries = counters_.take();
  num_broken = counters_.take();
  Kokkos::deep_copy(exec, num_entries, Offset(n) * num_sides);
}

template <class Scalar, class Device>
bool FactorStorage<Scalar, Device>::growPools(const execution_space& exec) {
  counters_.readAll(exec);
  bool grown = false;
  for (int s = 0; s < num_sides; ++s)
    for (SparseColumns<Scalar, Device>* columns : {&sides[s].columns, &sides[s].supports})
      if (read(columns->pool.cursor) > columns->pool.size) {
        columns->grow(exec);
        grown = true;
      }
  return grown;
}

template <class Scalar, class Device>
void FactorStorage<Scalar, Device>::grow(const execution_space& exec, bool rebuild_all) {
  growPools(exec);
  for (int s = 0; s < num_sides; ++s) {
    Side& side = sides[s];
    const auto rebuild = [&](ColumnsByRow<Scalar, Device>& by_row,
                             const RowsOfColumn<Scalar, Device>& pattern) {
      if (by_row.exists() && (rebuild_all || by_row.isHalfFull(read(by_row.num_links))))
        by_row.rebuild(exec, pattern, side.first_influence);
    };
    rebuild(side.by_row, {side.columns, state.current});
    rebuild(side.supports_by_row, {side.supports, {}});
  }
}

} // namespace detail
} // namespace ainvil
