// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Launching one thread of a team per matrix row, the row's work spread over the vector lanes: a
/// warp or a part of a warp on GPUs, a single core on hosts.

#include "Ainvil_Error.hpp"
#include "Ainvil_Types.hpp"
#include "backend/Ainvil_Allocation.hpp"
#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_SlowScratch.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>

namespace ainvil {
namespace detail {

/// Shape of a launch over rows. Nothing may rely on a particular number of lanes.
struct RowTeams {
  int lanes = 1;         ///< vector length
  int team_size = 1;     ///< rows worked on at the same time by a team
  int rows_per_team = 1; ///< rows a team works through

  /// For rows with `work` independent items each.
  template <class Exec>
  static RowTeams forWork(double work) {
    RowTeams shape;
    if constexpr (compat::IsGpu<Exec>::value) {
      const int max_lanes = Kokkos::TeamPolicy<Exec>::vector_length_max();
      while (shape.lanes < max_lanes && shape.lanes < work)
        shape.lanes *= 2;
      shape.team_size = std::max(1, threads_per_team / shape.lanes);
      shape.rows_per_team = shape.team_size;
    } else {
      shape.rows_per_team = rows_of_host_team;
    }
    return shape;
  }

  /// Lanes of a team. Sixteen such teams fill a multiprocessor (64 warps), of the 32 that it takes.
  static constexpr int threads_per_team = 128;
  /// Rows that a host thread fetches at a time, so that fetching them costs little beside them.
  static constexpr int rows_of_host_team = 64;
};

/// For the rows of a Graph, with `items` independent items an entry.
template <class AnyGraph>
RowTeams teamsForRowsOf(const AnyGraph& graph, int items = 1) {
  return RowTeams::forWork<typename AnyGraph::execution_space>(graph.meanRowLength() * items);
}

/// Bytes of a kernel that Kokkos for CUDA passes as arguments of the launch: fewer than 512, less
/// what it adds itself (152 in its ParallelFor over teams). What is longer is copied to constant
/// memory first, for which the host waits until the kernel before has read its own.
constexpr std::size_t most_kernel_bytes = 352;
/// The same of a body of forEachRow(), to which RowKernel adds 32, and a Ticket where it has one.
constexpr std::size_t most_body_bytes = most_kernel_bytes - 32;

/// The kernel; does not compile if its launch would wait. For kernels that an apply() launches.
template <std::size_t MostBytes = most_kernel_bytes, class Kernel>
constexpr const Kernel& withinArguments(const Kernel& kernel) {
  static_assert(sizeof(Kernel) <= MostBytes, "a launch of this kernel waits on CUDA");
  return kernel;
}

/// Rows [first_row, end_row). `Place` is ByRank or Ticket.
template <class Exec, class Body, class Place>
struct RowKernel {
  Body body;
  Ordinal first_row, end_row;
  int rows_per_team;
  Place place;
  char* slow_scratch; ///< a share for each thread of the launch; null: that of Kokkos
  std::size_t scratch_bytes;

  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    void* const scratch = scratchOf(member);
    const Offset begin = first_row + Offset(place.take(member)) * rows_per_team;
    const Offset end = begin + rows_per_team < end_row ? begin + rows_per_team : end_row;
    for (Offset row = begin + member.team_rank(); row < end; row += member.team_size())
      body(member, static_cast<Ordinal>(row), scratch);
  }

  KOKKOS_INLINE_FUNCTION void* scratchOf(const Member& member) const {
    if (slow_scratch != nullptr)
      return slow_scratch +
             (std::size_t(member.league_rank()) * member.team_size() + member.team_rank()) *
                 scratch_bytes;
    return scratch_bytes > 0 ? member.thread_scratch(scratchLevel()).get_shmem(scratch_bytes)
                             : nullptr;
  }

  /// On GPUs the fast memory. On hosts both levels are like any other memory, but Kokkos allows
  /// 32 KiB of level 0.
  KOKKOS_INLINE_FUNCTION static constexpr int scratchLevel() {
    return compat::IsGpu<Exec>::value ? 0 : 1;
  }
};

/// The rows of a body from `first` on.
template <class Body>
struct RowsFrom {
  Body body;
  Ordinal first;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch) const {
    body(member, first + row, scratch);
  }
};

/// Rows that share a launch where their scratch memory is an array: as many as run at a time, no
/// more than fit in 1 GiB, but at least those of a team, of which the number is a multiple. Scratch
/// memory of level 1 will not do: in Kokkos 3.4 and 3.7 it has a share for every warp that runs at
/// a time, however few teams there are, and 23 MB for the one long row of a matrix would be 195 GB
/// on an H200.
template <class Exec>
Ordinal rowsInSlowScratch(const Exec& exec, Ordinal num_rows, const RowTeams& shape,
                          std::size_t scratch_bytes) {
  constexpr std::size_t most_bytes = std::size_t(1) << 30;
  const std::size_t at_a_time = std::size_t(exec.concurrency()) / shape.lanes;
  const std::size_t rows = std::min(at_a_time, most_bytes / scratch_bytes);
  const std::size_t all_teams = (std::size_t(num_rows) + shape.team_size - 1) / shape.team_size;
  const std::size_t teams = std::max<std::size_t>(1, rows / shape.team_size);
  return static_cast<Ordinal>(std::min(all_teams, teams) * shape.team_size);
}

/// Calls body(member, row, scratch) for every row in [0, num_rows): one thread of the team a row,
/// so that forLanes(member, n, f) runs over the lanes of that row and joins them at its end.
/// `scratch` points to memory private to the thread: on GPUs fast memory where the device has that
/// much for a team of one row, else a share of an array, and as many rows as it has shares for are
/// in a launch. The array is `kept`, or one that is freed again; to make it longer or free it waits
/// for the device. No team barriers inside. `places` is Tickets, which hand the rows out in the
/// order in which teams start, where rows wait for earlier ones; else the default.
/// \throws OutOfMemory for 2 GiB of scratch memory a row and more, or if there is no room for the
/// array, before the first launch
template <class Exec, class Body, class Places = PlacesByRank>
void forEachRow(const Exec& exec, const char* label, Ordinal num_rows, RowTeams shape,
                const Body& body, std::size_t scratch_bytes = 0, SlowScratch<Exec>* kept = nullptr,
                Places&& places = Places()) {
  if (num_rows == 0)
    return;
  using Policy = Kokkos::TeamPolicy<Exec>;
  using Kernel = RowKernel<Exec, Body, decltype(places.ofNextLaunch())>;
  // Alignment of a thread's share, and room for the alignment get_shmem itself adds.
  scratch_bytes = (scratch_bytes + 15) / 16 * 16;
  const std::size_t request = scratch_bytes > 0 ? scratch_bytes + 16 : 0;
  if (request > std::size_t(INT_MAX)) // which is as far as Kokkos counts
    throw OutOfMemory(message("out of memory: ", label, " needs ", request,
                              " bytes to work with for its longest row, more than the ", INT_MAX,
                              " a row may have: take a sparser pattern or another method"));
  // What teams are cut down to: seven with as much share the 227 KiB of an H100's multiprocessor.
  constexpr std::size_t preferred = 32 * 1024;
  // Short launches are spread over all threads of a host: four teams a thread level out rows of
  // unequal length.
  if constexpr (!compat::IsGpu<Exec>::value)
    shape.rows_per_team =
        std::max(1, std::min(shape.rows_per_team, num_rows / (4 * exec.concurrency())));
  while (shape.team_size > 1 && request * shape.team_size > preferred) {
    shape.team_size /= 2;
    // Kokkos allots whole warps to a team: where it would have less than one, its rows take more
    // lanes.
    if (shape.team_size * shape.lanes < Policy::vector_length_max())
      shape.lanes *= 2;
    shape.rows_per_team = std::max(shape.team_size, shape.rows_per_team / 2);
  }
  SlowScratch<Exec> own, &shares = kept != nullptr ? *kept : own;
  char* slow_scratch = nullptr;
  Ordinal rows_of_launch = num_rows;
  if constexpr (compat::IsGpu<Exec>::value) {
    if (request * shape.team_size > static_cast<std::size_t>(Policy::scratch_size_max(0))) {
      shape.rows_per_team = shape.team_size;
      rows_of_launch = rowsInSlowScratch(exec, num_rows, shape, scratch_bytes);
      reserve(exec, label, shares, Offset(rows_of_launch) * Offset(scratch_bytes));
      slow_scratch = shares.data();
    }
  }
  for (Ordinal first = 0; first < num_rows;) {
    const Ordinal count = std::min(rows_of_launch, num_rows - first);
    const Offset league = (Offset(count) + shape.rows_per_team - 1) / shape.rows_per_team;
    Policy policy(exec, static_cast<int>(league), shape.team_size, shape.lanes);
    if (request > 0 && slow_scratch == nullptr)
      policy.set_scratch_size(Kernel::scratchLevel(), Kokkos::PerThread(request));
    Kokkos::parallel_for(label, policy,
                         Kernel{body, first, first + count, shape.rows_per_team,
                                places.ofNextLaunch(), slow_scratch, scratch_bytes});
    places.launched(static_cast<int>(league));
    first += count;
  }
}

/// Range over a 64-bit index.
template <class Exec>
using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<Offset>>;

/// Calls f(std::integral_constant<int, BS>()) with BS = block_size for 1..8, and BS = 0, which
/// stands for "known at run time only", for any other size.
template <class F>
void dispatchBlockSize(int block_size, F&& f) {
  switch (block_size) {
  case 1:
    return f(std::integral_constant<int, 1>());
  case 2:
    return f(std::integral_constant<int, 2>());
  case 3:
    return f(std::integral_constant<int, 3>());
  case 4:
    return f(std::integral_constant<int, 4>());
  case 5:
    return f(std::integral_constant<int, 5>());
  case 6:
    return f(std::integral_constant<int, 6>());
  case 7:
    return f(std::integral_constant<int, 7>());
  case 8:
    return f(std::integral_constant<int, 8>());
  default:
    return f(std::integral_constant<int, 0>());
  }
}

/// One element of a device view on the host. Waits for the instance.
template <class Exec, class View>
typename View::non_const_value_type readBack(const Exec& exec, const View& view, size_t index) {
  typename View::non_const_value_type value{};
  Kokkos::View<typename View::non_const_value_type, Kokkos::HostSpace,
               Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      host(&value);
  Kokkos::deep_copy(exec, host, Kokkos::subview(view, index));
  compat::fence(exec, "Ainvil::readBack");
  return value;
}

} // namespace detail
} // namespace ainvil
