// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Groups of lanes that work on one small dense problem together: the vector lanes of a thread, all
/// of a team, or a single core of a host. One source serves all of them:
///   group.forEach(n, f)  calls f(0) .. f(n - 1), spread over the lanes, and joins them at its end;
///   group.join()         after it every lane sees what every other has written;
///   group.lanes          how many there are.

#include "backend/Ainvil_KokkosCompat.hpp"

namespace ainvil {
namespace detail {

/// The vector lanes of one thread of a team.
template <class Member>
struct ThreadLanes {
  const Member& member;
  int lanes;

  template <class F>
  KOKKOS_INLINE_FUNCTION void forEach(int n, const F& f) const {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, n), f);
  }
  KOKKOS_INLINE_FUNCTION void join() const {
    forEach(1, [](int) {});
  }
};

/// All lanes of all threads of a team.
template <class Member>
struct TeamLanes {
  const Member& member;
  int lanes;

  template <class F>
  KOKKOS_INLINE_FUNCTION void forEach(int n, const F& f) const {
    Kokkos::parallel_for(Kokkos::TeamVectorRange(member, n), f);
    member.team_barrier();
  }
  KOKKOS_INLINE_FUNCTION void join() const { member.team_barrier(); }
};

/// A thread on its own.
struct OneLane {
  static constexpr int lanes = 1;

  template <class F>
  KOKKOS_INLINE_FUNCTION void forEach(int n, const F& f) const {
    for (int i = 0; i < n; ++i)
      f(i);
  }
  KOKKOS_INLINE_FUNCTION void join() const {}
};

/// to[e] = from[e] for e < count: neighbouring lanes take neighbouring entries, and each lane has
/// several loads under way before it waits for the first.
template <class Group, class Scalar>
KOKKOS_INLINE_FUNCTION void copyEntries(const Group& group, int count, const Scalar* from,
                                        Scalar* to) {
  constexpr int batch = 8;
  const int step = group.lanes;
  const int batches = (count + batch * step - 1) / (batch * step);
  group.forEach(batches * step, [&](const int t) {
    const int first = t / step * step * batch + t % step;
    Scalar value[batch];
    AINVIL_UNROLL
    for (int v = 0; v < batch; ++v)
      value[v] = first + v * step < count ? from[first + v * step] : Scalar(0);
    AINVIL_UNROLL
    for (int v = 0; v < batch; ++v)
      if (first + v * step < count)
        to[first + v * step] = value[v];
  });
}

/// Which of its thread's `Lanes` vector lanes runs this code. For GPUs, where what stands outside
/// of nested loops is run by all lanes, each with variables of its own.
template <int Lanes, class Member>
KOKKOS_INLINE_FUNCTION int laneOf(const Member& member) {
  int lane = 0;
  Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, Lanes), [&](const int i) { lane = i; });
  return lane;
}

} // namespace detail
} // namespace ainvil
