// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_LevelSets.hpp"

#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_Profiling.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace {

using detail::Range;

/// level(i) = 1 + max over j in row i, j before i, of level(j); 0 marks a level not known yet.
/// One thread a row, rows in the order of their dependencies. There is a single loop, which looks
/// at one level a pass, known or not, and no inner loop that waits: lanes of one warp that wait for
/// each other then get on together.
template <class Device>
struct WaitForLevels {
  Graph<Device> graph;
  Kokkos::View<unsigned*, Device> level;
  bool lower;
  detail::Ticket ticket;

  static constexpr int team_size = 128; ///< rows of a team

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const Offset index = Offset(ticket.take(member)) * team_size + member.team_rank();
    if (index >= graph.num_rows)
      return;
    const Ordinal row = static_cast<Ordinal>(lower ? index : graph.num_rows - 1 - index);
    Offset e = graph.row_map(row);
    const Offset end = graph.row_map(row + 1);
    unsigned highest = 0;
    bool done = false;
    while (!done) {
      if (e < end) {
        const Ordinal j = graph.entries(e);
        const bool depends = lower ? j < row : j > row;
        const unsigned known = depends ? compat::volatileLoad(&level(j)) : 1;
        if (known > 0) {
          highest = depends && known > highest ? known : highest;
          ++e;
        }
      } else {
        compat::volatileStore(&level(row), highest + 1);
        done = true;
      }
    }
  }
};

/// One chaotic sweep of the same recurrence: levels only grow, so sweeps end at its fixed point.
/// Rows visited in the order of their dependencies make one thread converge in a single sweep.
template <class Device>
struct SweepLevels {
  Graph<Device> graph;
  Kokkos::View<unsigned*, Device> level;
  bool lower;

  KOKKOS_FUNCTION void operator()(const Offset index, Offset& changes) const {
    const Ordinal row = static_cast<Ordinal>(lower ? index : graph.num_rows - 1 - index);
    unsigned highest = 0;
    for (Offset e = graph.row_map(row); e < graph.row_map(row + 1); ++e) {
      const Ordinal j = graph.entries(e);
      if (lower ? j < row : j > row) {
        const unsigned known = compat::volatileLoad(&level(j));
        highest = known > highest ? known : highest;
      }
    }
    if (highest + 1 != level(row)) {
      compat::volatileStore(&level(row), highest + 1);
      ++changes;
    }
  }
};

/// The levels of all rows, from zeros; `ticket` is one zero.
template <class Device>
void findLevels(const typename Device::execution_space& exec, const Graph<Device>& graph,
                bool lower, const Kokkos::View<unsigned*, Device>& level,
                [[maybe_unused]] unsigned* ticket) {
  using Exec = typename Device::execution_space;
  const Ordinal n = graph.num_rows;
  if constexpr (compat::TeamsMayWait<Exec>::value) {
    using Kernel = WaitForLevels<Device>;
    const int teams = static_cast<int>((Offset(n) + Kernel::team_size - 1) / Kernel::team_size);
    if (teams > 0)
      Kokkos::parallel_for("Ainvil::levelSets[wait]",
                           Kokkos::TeamPolicy<Exec>(exec, teams, Kernel::team_size),
                           Kernel{graph, level, lower, {ticket, 0}});
  } else {
    Offset changes = n;
    while (changes > 0) {
      Kokkos::parallel_reduce("Ainvil::levelSets[sweep]", Range<Exec>(exec, 0, n),
                              SweepLevels<Device>{graph, level, lower}, changes);
      if (!compat::IsGpu<Exec>::value && exec.concurrency() == 1)
        break; // one thread sees the rows in their order
    }
  }
}

} // namespace

template <class Device>
LevelSets<Device> levelSets(const typename Device::execution_space& exec,
                            const Graph<Device>& graph, Uplo uplo) {
  using Exec = typename Device::execution_space;
  ScopedRegion region("Ainvil::levelSets");
  const Ordinal n = graph.num_rows;
  // One array that begins with zeros: the level of each row, where each level begins, of which
  // there are n at most, and a ticket.
  const size_t rows_end = size_t(n), begins_end = 2 * rows_end + 1;
  const auto scratch = allocateZeros<unsigned, Device>(exec, "Ainvil::level", begins_end + 1);
  const auto level = firstOf(scratch, n);
  findLevels<Device>(exec, graph, uplo == Uplo::Lower, level, scratch.data() + begins_end);

  unsigned num_levels = 0;
  Kokkos::parallel_reduce(
      "Ainvil::levelSets[max]", Range<Exec>(exec, 0, n),
      KOKKOS_LAMBDA(const Offset i, unsigned& highest) {
        if (level(i) > highest)
          highest = level(i);
      },
      Kokkos::Max<unsigned>(num_levels));

  // Counting sort of the rows by level.
  const Kokkos::View<unsigned*, Device> begins =
      Kokkos::subview(scratch, std::make_pair(rows_end, rows_end + num_levels + 1));
  Kokkos::parallel_for(
      "Ainvil::levelSets[count]", Range<Exec>(exec, 0, n),
      KOKKOS_LAMBDA(const Offset i) { Kokkos::atomic_fetch_add(&begins(level(i) - 1), 1U); });
  detail::scanCounts(exec, begins);
  const auto host_begins = hostMirror(begins);
  Kokkos::deep_copy(exec, host_begins, begins);
  compat::fence(exec, "Ainvil::levelSets");

  LevelSets<Device> sets;
  sets.offsets.assign(host_begins.data(), host_begins.data() + num_levels + 1);
  const auto rows = allocate<Ordinal, Device>(exec, "Ainvil::level_rows", n);
  Kokkos::parallel_for(
      "Ainvil::levelSets[fill]", Range<Exec>(exec, 0, n), KOKKOS_LAMBDA(const Offset i) {
        const unsigned at = Kokkos::atomic_fetch_add(&begins(level(i) - 1), 1U);
        rows(at) = static_cast<Ordinal>(i);
      });
  compat::fence(exec, "Ainvil::levelSets");
  sets.rows = rows;
  sets.level = level;
  sets.ends = firstOf(begins, num_levels); // where the next row of each would go
  return sets;
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template LevelSets<DEVICE> levelSets<DEVICE>(const typename DEVICE::execution_space&,            \
                                               const Graph<DEVICE>&, Uplo);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
