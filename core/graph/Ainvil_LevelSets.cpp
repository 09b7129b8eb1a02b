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

/// One chaotic sweep of the same recurrence, for groups of so many rows: levels only grow, so
/// sweeps end at its fixed point. Groups visited in the order of their dependencies make one thread
/// converge in a single sweep.
template <class Device, Ordinal group_size>
struct SweepLevels {
  Graph<Device> graph;
  Kokkos::View<unsigned*, Device> level;
  bool lower;

  KOKKOS_FUNCTION void operator()(const Offset index, Offset& changes) const {
    const Offset group = lower ? index : Offset(level.extent(0)) - 1 - index;
    const Offset first = group * group_size, last = first + group_size;
    unsigned highest = 0;
    for (Offset e = graph.row_map(first);
         e < graph.row_map(last < graph.num_rows ? last : graph.num_rows); ++e) {
      const Ordinal j = graph.entries(e);
      if (lower ? j < first : j >= last) {
        const unsigned known = compat::volatileLoad(&level(j / group_size));
        highest = known > highest ? known : highest;
      }
    }
    if (highest + 1 != level(group)) {
      compat::volatileStore(&level(group), highest + 1);
      ++changes;
    }
  }
};

/// The highest level.
template <class Device>
struct Highest {
  Kokkos::View<const unsigned*, Device> level;

  KOKKOS_FUNCTION void operator()(const Offset i, unsigned& highest) const {
    highest = level(i) > highest ? level(i) : highest;
  }
};

/// The levels of all rows, or groups, from zeros; `ticket` is one zero.
template <Ordinal group_size, class Device>
void findLevels(const typename Device::execution_space& exec, const Graph<Device>& graph,
                bool lower, const Kokkos::View<unsigned*, Device>& level,
                [[maybe_unused]] unsigned* ticket) {
  using Exec = typename Device::execution_space;
  if constexpr (compat::TeamsMayWait<Exec>::value && group_size == 1) {
    using Kernel = WaitForLevels<Device>;
    const int teams =
        static_cast<int>((Offset(graph.num_rows) + Kernel::team_size - 1) / Kernel::team_size);
    if (teams > 0)
      Kokkos::parallel_for("Ainvil::levelSets[wait]",
                           Kokkos::TeamPolicy<Exec>(exec, teams, Kernel::team_size),
                           Kernel{graph, level, lower, {ticket, 0}});
    return;
  }
  const Offset n = static_cast<Offset>(level.extent(0));
  Offset changes = n;
  while (changes > 0) {
    Kokkos::parallel_reduce("Ainvil::levelSets[sweep]", Range<Exec>(exec, 0, n),
                            SweepLevels<Device, group_size>{graph, level, lower}, changes);
    if (!compat::IsGpu<Exec>::value && exec.concurrency() == 1)
      break; // one thread sees the rows in their order
  }
}

/// counts(l) += how many rows have level l + 1
template <class Device>
struct CountLevels {
  Kokkos::View<const unsigned*, Device> level;
  Kokkos::View<unsigned*, Device> counts;

  KOKKOS_FUNCTION void operator()(const Offset i) const {
    Kokkos::atomic_fetch_add(&counts(level(i) - 1), 1U);
  }
};

/// Writes row i to the next free place of its level.
template <class Device>
struct FillLevels {
  Kokkos::View<const unsigned*, Device> level;
  Kokkos::View<unsigned*, Device> next;
  Kokkos::View<Ordinal*, Device> rows;

  KOKKOS_FUNCTION void operator()(const Offset i) const {
    rows(Kokkos::atomic_fetch_add(&next(level(i) - 1), 1U)) = static_cast<Ordinal>(i);
  }
};

/// Calls work(i) for 0 <= i < n; on a host by one thread, in this order.
template <class Work>
struct InTurn {
  Work work;
  Offset n;

  KOKKOS_FUNCTION void operator()(const Offset) const {
    for (Offset i = 0; i < n; ++i)
      work(i);
  }
};
template <class Exec, class Work>
void forRows(const Exec& exec, const char* label, Offset n, const Work& work) {
  if constexpr (compat::IsGpu<Exec>::value)
    Kokkos::parallel_for(label, Range<Exec>(exec, 0, n), work);
  else
    Kokkos::parallel_for(label, Range<Exec>(exec, 0, 1), InTurn<Work>{work, n});
}

/// Rows, or groups, by level; on hosts ascending within a level. Where each level ends replaces the
/// n + 1 zeros of `ends`. Asynchronous.
template <class Device>
Kokkos::View<Ordinal*, Device> sortByLevel(const typename Device::execution_space& exec,
                                           const Kokkos::View<unsigned*, Device>& level,
                                           const Kokkos::View<unsigned*, Device>& ends) {
  const Offset n = static_cast<Offset>(level.extent(0));
  const auto rows = allocate<Ordinal, Device>(exec, "Ainvil::level_rows", n);
  forRows(exec, "Ainvil::levelSets[count]", n, CountLevels<Device>{level, ends});
  detail::scanCounts(exec, ends);
  forRows(exec, "Ainvil::levelSets[fill]", n, FillLevels<Device>{level, ends, rows});
  return rows;
}

template <Ordinal group_size, class Device>
LevelSets<Device> setsOf(const typename Device::execution_space& exec, const Graph<Device>& graph,
                         Uplo uplo) {
  using Exec = typename Device::execution_space;
  ScopedRegion region("Ainvil::levelSets");
  const size_t n = (size_t(graph.num_rows) + group_size - 1) / group_size;
  // One array that begins with zeros: levels, of which there are n at most, their ends, a ticket.
  const auto scratch = allocateZeros<unsigned, Device>(exec, "Ainvil::level", 2 * n + 2);
  const auto level = firstOf(scratch, n);
  findLevels<group_size>(exec, graph, uplo == Uplo::Lower, level, scratch.data() + 2 * n + 1);
  unsigned num_levels = 0;
  Kokkos::parallel_reduce("Ainvil::levelSets[max]", Range<Exec>(exec, 0, n), Highest<Device>{level},
                          Kokkos::Max<unsigned>(num_levels));
  const auto ends = Kokkos::subview(scratch, std::make_pair(n, 2 * n + 1));
  LevelSets<Device> sets;
  sets.rows = sortByLevel<Device>(exec, level, ends);
  const auto ends_of_levels = firstOf<unsigned, Device>(ends, num_levels);
  const auto host_ends = hostMirror(ends_of_levels);
  Kokkos::deep_copy(exec, host_ends, ends_of_levels);
  compat::fence(exec, "Ainvil::levelSets");
  sets.offsets.assign(1, 0);
  sets.offsets.insert(sets.offsets.end(), host_ends.data(), host_ends.data() + num_levels);
  return sets;
}

} // namespace

template <class Device>
LevelSets<Device> levelSets(const typename Device::execution_space& exec,
                            const Graph<Device>& graph, Uplo uplo) {
  return setsOf<1>(exec, graph, uplo);
}

template <class Device>
LevelSets<Device> levelSetsOfGroups(const typename Device::execution_space& exec,
                                    const Graph<Device>& graph, Uplo uplo) {
  return setsOf<rows_of_group>(exec, graph, uplo);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template LevelSets<DEVICE> levelSets<DEVICE>(const typename DEVICE::execution_space&,            \
                                               const Graph<DEVICE>&, Uplo);                        \
  template LevelSets<DEVICE> levelSetsOfGroups<DEVICE>(const typename DEVICE::execution_space&,    \
                                                       const Graph<DEVICE>&, Uplo);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
