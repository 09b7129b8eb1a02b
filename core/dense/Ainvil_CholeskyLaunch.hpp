// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Kernels of BatchedCholesky, one for each class of sizes: load, factor, solve, store.

#include "Ainvil_Types.hpp"
#include "dense/Ainvil_CholeskyClass.hpp"
#include "dense/Ainvil_CholeskyHost.hpp"
#include "dense/Ainvil_CholeskyPanels.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

/// What comes after a factorisation, in which 1 / L_ii took the place of L_ii: the rows of L^-1
/// that the owner wants, by a solve(k) that leaves row k in g, then L.
template <class Group, class Io, class Scalar, class Solve>
KOKKOS_INLINE_FUNCTION void finishCholesky(const Group& group, const Io& io, Ordinal b, int n,
                                           int info, Scalar* a, Scalar* g, const Solve& solve) {
  if constexpr (Io::solves) {
    const int last = n - io.columns();
    for (int k = n - 1; info == 0 && k >= last && k >= 0; --k) {
      solve(k);
      io.storeVector(group, b, n, k, g);
      group.join();
    }
  }
  restoreDiagonal(group, info == 0 ? n : info - 1, a);
  io.store(group, b, n, info, a);
}

/// Row k of L^-1 by the lanes of `group`, for finishCholesky().
template <class Group, class Scalar>
struct SolveForRow {
  const Group& group;
  Scalar* a;
  Scalar* g;

  KOKKOS_INLINE_FUNCTION void operator()(int k) const { solveLast(group, k + 1, a, g); }
};

/// Up to W rows: W vector lanes a matrix.
template <int W, class Scalar, class Device, class Io>
struct CholeskyOfLanes {
  using Exec = typename Device::execution_space;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int columns_size = 2 * W, packed_size = packedRow(W);
  static constexpr int scratch_bytes = (columns_size + packed_size + W) * sizeof(Scalar);
  static constexpr int team_lanes = 128;
  /// To a multiprocessor, as many as its 65,536 registers suffice for: 64, 72 and 96 a lane.
  static constexpr int teams = W == 8 ? 8 : W == 16 ? 7 : 5;

  CholeskyClass<Device> batch;
  Io io;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    char* scratch = static_cast<char*>(
        member.team_scratch(0).get_shmem_aligned(member.team_size() * scratch_bytes, 16));
    Scalar* columns = reinterpret_cast<Scalar*>(scratch + member.team_rank() * scratch_bytes);
    Scalar* a = columns + columns_size;
    Scalar* g = a + packed_size;
    const Offset index =
        batch.begin + Offset(member.league_rank()) * member.team_size() + member.team_rank();
    if (index >= batch.end)
      return;
    const Ordinal b = batch.members(index);
    const int n = batch.sizes(b);
    const ThreadLanes<Member> lanes{member, W};
    io.load(lanes, b, n, a);
    const int info = factorRows<W, 2>(
        member, n, [&](int i, int j) -> Scalar& { return a[packedRow(i) + j]; }, columns);
    finishCholesky(lanes, io, b, n, info, a, g,
                   SolveForRow<ThreadLanes<Member>, Scalar>{lanes, a, g});
  }

  static void launch(const Exec& exec, const char* label, const CholeskyClass<Device>& batch,
                     const Io& io) {
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<team_lanes, teams>>;
    constexpr int team_size = team_lanes / W;
    Policy policy(exec, (batch.end - batch.begin + team_size - 1) / team_size, team_size, W);
    policy.set_scratch_size(0, Kokkos::PerTeam(team_size * scratch_bytes + 16));
    Kokkos::parallel_for(label, policy, CholeskyOfLanes{batch, io});
  }
};

/// A team of `Lanes` lanes a matrix, which lies in scratch memory.
template <int Lanes, class Scalar, class Device, class Io>
struct CholeskyInScratch {
  using Exec = typename Device::execution_space;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int columns_size = panel_width * panel_width;
  static constexpr int team_size = Lanes / panel_width;
  static constexpr int teams = 512 / Lanes; ///< to a multiprocessor: 128 of its registers a lane
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Lanes, teams>>;

  CholeskyClass<Device> batch;
  Io io;

  static int scratchBytes(int n) {
    return (columns_size + packedRow(n) + n) * int(sizeof(Scalar)) + 16;
  }

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    const int size = columns_size + packedRow(batch.largest) + batch.largest;
    Scalar* columns =
        static_cast<Scalar*>(member.team_scratch(0).get_shmem_aligned(size * sizeof(Scalar), 16));
    Scalar* a = columns + columns_size;
    Scalar* g = a + packedRow(batch.largest);
    const Ordinal b = batch.members(batch.begin + member.league_rank());
    const int n = batch.sizes(b);
    const TeamLanes<Member> team{member, Lanes};
    io.load(team, b, n, a);
    const int info = factorInScratch<Lanes>(member, n, a, columns);
    finishCholesky(team, io, b, n, info, a, g, [&](int k) {
      if (member.team_rank() == 0)
        solveLast(ThreadLanes<Member>{member, panel_width}, k + 1, a, g);
      member.team_barrier();
    });
  }

  static void launch(const Exec& exec, const char* label, const CholeskyClass<Device>& batch,
                     const Io& io) {
    Policy policy(exec, batch.end - batch.begin, team_size, panel_width);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratchBytes(batch.largest)));
    Kokkos::parallel_for(label, policy, CholeskyInScratch{batch, io});
  }
};

/// A team a matrix, which lies in global memory.
template <class Scalar, class Device, class Io>
struct CholeskyInPanels {
  using Exec = typename Device::execution_space;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Panels = PanelCholesky<Scalar, Member>;
  static constexpr int scratch_bytes = Panels::scratch_scalars * sizeof(Scalar);

  CholeskyClass<Device> batch;
  Io io;

  KOKKOS_FUNCTION void operator()(const Member& member) const {
    Scalar* scratch =
        static_cast<Scalar*>(member.team_scratch(0).get_shmem_aligned(int(scratch_bytes), 16));
    const Ordinal b = batch.members(batch.begin + member.league_rank());
    const int n = batch.sizes(b);
    const TeamLanes<Member> team{member, Panels::team_lanes};
    Scalar* a = io.matrixHome(b);
    Scalar* g = Io::solves ? io.vectorHome(b) : nullptr;
    io.load(team, b, n, a);
    const int info = Panels(member, n, a, scratch).factor();
    finishCholesky(team, io, b, n, info, a, g, [&](int k) {
      if (member.team_rank() == 0)
        solveLast(ThreadLanes<Member>{member, panel_width}, k + 1, a, g);
      member.team_barrier();
    });
  }

  static void launch(const Exec& exec, const char* label, const CholeskyClass<Device>& batch,
                     const Io& io) {
    using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<Panels::team_lanes, 4>>;
    Policy policy(exec, batch.end - batch.begin, Panels::team_lanes / panel_width, panel_width);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes + 16));
    Kokkos::parallel_for(label, policy, CholeskyInPanels{batch, io});
  }
};

/// One core a matrix.
template <class Scalar, class Device, class Io>
struct CholeskyOnHost {
  using Exec = typename Device::execution_space;
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>>;
  using Member = typename Policy::member_type;

  CholeskyClass<Device> batch;
  Io io;
  int largest_in_scratch;
  int matrices_per_team;

  static std::size_t scratchScalars(std::size_t n) { return Io::in_place ? 0 : packedRow(n) + n; }

  void operator()(const Member& member) const {
    Scalar* scratch = nullptr;
    if (!Io::in_place)
      scratch = static_cast<Scalar*>(member.team_scratch(1).get_shmem_aligned(
          scratchScalars(std::min(batch.largest, largest_in_scratch)) * sizeof(Scalar), 16));
    const Offset begin = batch.begin + Offset(member.league_rank()) * matrices_per_team;
    const Offset end = std::min(Offset(batch.end), begin + matrices_per_team);
    for (Offset index = begin; index < end; ++index) {
      const Ordinal b = batch.members(index);
      const int n = batch.sizes(b);
      const bool at_home = Io::in_place || n > largest_in_scratch;
      Scalar* a = at_home ? io.matrixHome(b) : scratch;
      Scalar* g = !Io::solves ? nullptr : at_home ? io.vectorHome(b) : scratch + packedRow(n);
      const OneLane core;
      io.load(core, b, n, a);
      const int info = factorOnHost(n, a);
      finishCholesky(core, io, b, n, info, a, g, SolveForRow<OneLane, Scalar>{core, a, g});
    }
  }

  static void launch(const Exec& exec, const char* label, const CholeskyClass<Device>& batch,
                     int largest_in_scratch, const Io& io) {
    const Ordinal count = batch.end - batch.begin;
    // Eight teams a thread level out matrices of different sizes; 32 matrices outweigh fetching
    // them.
    const int per_team = std::max(1, std::min<int>(32, count / (8 * exec.concurrency())));
    Policy policy(exec, (count + per_team - 1) / per_team, 1, 1);
    if (!Io::in_place)
      policy.set_scratch_size(
          1,
          Kokkos::PerTeam(int(
              scratchScalars(std::min(batch.largest, largest_in_scratch)) * sizeof(Scalar) + 16)));
    Kokkos::parallel_for(label, policy, CholeskyOnHost{batch, io, largest_in_scratch, per_team});
  }
};

} // namespace detail
} // namespace ainvil
