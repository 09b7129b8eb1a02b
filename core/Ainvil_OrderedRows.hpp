// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Running over rows that depend on each other: triangular solves and factorisations.

#include "Ainvil_LevelSets.hpp"
#include "Ainvil_RowTeams.hpp"

#include <climits>

namespace ainvil {
namespace detail {

/// Lets a row wait for rows it depends on, and announces it. With `Spin` false the caller has
/// already ordered the rows, and nothing is waited for.
template <class Device, bool Spin>
struct RowGate {
  Kokkos::View<unsigned*, Device> done; ///< epoch in which a row was last finished
  unsigned epoch = 0;

  /// Returns once row j is finished and its results are visible to the calling lane. Epochs wrap
  /// around, hence the difference; the half of them that lies ahead counts as finished.
  KOKKOS_INLINE_FUNCTION void wait(Ordinal j) const {
    if (Spin) {
      while (compat::volatileLoad(&done(j)) - epoch > UINT_MAX / 2) {
      }
      Kokkos::memory_fence();
    }
  }

  /// To be called by all lanes of a row after their last write.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void announce(const Member& member, Ordinal row) const {
    if (Spin) {
      // Joins the lanes: what they wrote happens before the fence of the one that raises the flag.
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, 1), [](int) {});
      Kokkos::single(Kokkos::PerThread(member), [&]() {
        Kokkos::memory_fence();
        compat::volatileStore(&done(row), epoch);
      });
    }
  }
};

template <class Device>
struct RowAsItStands {
  Ordinal num_rows;
  Uplo uplo;
  Kokkos::View<Ordinal*, Device> rows;

  KOKKOS_FUNCTION void operator()(Offset i) const {
    rows(i) = static_cast<Ordinal>(uplo == Uplo::Lower ? i : num_rows - 1 - i);
  }
};

/// All rows in one set, those of an upper triangle from the last on.
template <class Device>
LevelSets<Device> rowsAsTheyStand(const typename Device::execution_space& exec, Ordinal num_rows,
                                  Uplo uplo) {
  const auto rows = allocate<Ordinal, Device>(exec, "Ainvil::rows", size_t(num_rows));
  Kokkos::parallel_for("Ainvil::rowsAsTheyStand",
                       Range<typename Device::execution_space>(exec, 0, num_rows),
                       RowAsItStands<Device>{num_rows, uplo, rows});
  return {rows, num_rows > 0 ? std::vector<Ordinal>{0, num_rows} : std::vector<Ordinal>{0}};
}

template <class Device, bool Spin, class Body>
struct OrderedRowBody {
  Body body;
  Kokkos::View<const Ordinal*, Device> rows;
  Ordinal first;
  int step; ///< 1 or -1
  RowGate<Device, Spin> gate;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal index, void* scratch) const {
    const Ordinal row = rows(first + step * index);
    body(member, row, scratch, gate);
    gate.announce(member, row);
  }
};

} // namespace detail

/// The order in which the rows of a triangular pattern can be worked on. Where teams start in order
/// the rows go into a single launch, a warp each, level by level, and wait for each other through
/// one flag a row. On a host of one thread a single launch takes them as they stand in memory;
/// elsewhere every level is a launch of its own. One run at a time per object.
template <class Device>
class OrderedRows {
public:
  using execution_space = typename Device::execution_space;

  OrderedRows() = default;
  // Flags and epoch belong together: a copy would share the one and not the other.
  OrderedRows(const OrderedRows&) = delete;
  OrderedRows& operator=(const OrderedRows&) = delete;
  OrderedRows(OrderedRows&&) = default;            ///< takes the flags along
  OrderedRows& operator=(OrderedRows&&) = default; ///< likewise
  /// Finds the level sets of the triangle `uplo` of the graph: see levelSets(). Waits.
  OrderedRows(const execution_space& exec, const Graph<Device>& graph, Uplo uplo)
      : levels_(levelSets(exec, graph, uplo)) {
    if constexpr (spin)
      done_ = allocateZeros<unsigned, Device>(exec, "Ainvil::done", size_t(graph.num_rows));
    const bool one_thread = !compat::IsGpu<execution_space>::value && exec.concurrency() == 1;
    launches_ = one_thread ? detail::rowsAsTheyStand<Device>(exec, graph.num_rows, uplo) : levels_;
  }

  const LevelSets<Device>& levels() const { return levels_; } ///< whether a launch each or not

  /// Calls body(member, row, scratch, gate) for all rows; the body calls gate.wait(j) before it
  /// reads what row j wrote. `scratch` as in forEachRow.
  template <class Body>
  void run(const execution_space& exec, const char* label, const Body& body,
           std::size_t scratch_bytes) const {
    using detail::OrderedRowBody;
    using detail::RowGate;
    // A whole warp a row: lanes of one warp must not wait for each other.
    detail::RowTeams shape = detail::RowTeams::forWork<execution_space>(1024);
    if constexpr (spin) {
      ++epoch_;
      detail::forEachRow(exec, label, static_cast<Ordinal>(levels_.rows.extent(0)), shape,
                         OrderedRowBody<Device, true, Body>{body, levels_.rows, 0, 1,
                                                            RowGate<Device, true>{done_, epoch_}},
                         scratch_bytes);
    } else {
      for (int launch = 0; launch < launches_.numLevels(); ++launch)
        runLaunch(exec, label, launch, body, scratch_bytes);
    }
  }

  /// The same in reverse order and by levels everywhere, for bodies that update the rows they
  /// depend on (transposed solves). gate.wait does nothing.
  template <class Body>
  void runReversed(const execution_space& exec, const char* label, const Body& body,
                   std::size_t scratch_bytes) const {
    for (int launch = launches_.numLevels() - 1; launch >= 0; --launch)
      runLaunch(exec, label, launch, body, scratch_bytes, -1);
  }

private:
  static constexpr bool spin = compat::TeamsStartInOrder<execution_space>::value;

  template <class Body>
  void runLaunch(const execution_space& exec, const char* label, int launch, const Body& body,
                 std::size_t scratch_bytes, int step = 1) const {
    const Ordinal begin = launches_.offsets[launch], end = launches_.offsets[launch + 1];
    detail::RowTeams shape = detail::RowTeams::forWork<execution_space>(1024);
    detail::forEachRow(exec, label, end - begin, shape,
                       detail::OrderedRowBody<Device, false, Body>{
                           body, launches_.rows, step > 0 ? begin : end - 1, step,
                           detail::RowGate<Device, false>{}},
                       scratch_bytes);
  }

  LevelSets<Device> levels_;
  LevelSets<Device> launches_; ///< levels_, but on one thread
  Kokkos::View<unsigned*, Device> done_;
  mutable unsigned epoch_ = 0;
};

} // namespace ainvil
