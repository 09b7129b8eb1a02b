// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Inverting pivot blocks by all lanes of a thread.

#include "breakdown/Ainvil_PivotInverter.hpp"
#include "dense/Ainvil_SmallBlockLanes.hpp"

namespace ainvil {
namespace detail {

/// Memory that invertByLanes() needs beside d and d_inverse.
template <class Scalar>
struct PivotRoom {
  Scalar* block;   ///< bs x bs
  Scalar* scalars; ///< scalarsOf(bs)
  int* ints;       ///< intsOf(bs)

  KOKKOS_INLINE_FUNCTION static constexpr int scalarsOf(int bs) { return invertByLanesScalars(bs); }
  KOKKOS_INLINE_FUNCTION static constexpr int intsOf(int bs) { return invertByLanesInts(bs); }
};

/// PivotInversion::invert() by all lanes of a thread of a GPU, for which d, sizes, d_inverse and
/// the room lie in memory that the lanes share. Lanes have been joined before and are joined at the
/// end. What a policy does with a singular block is left to a single lane.
template <int BS, class Member, class Scalar>
KOKKOS_INLINE_FUNCTION void
invertByLanes(const Member& member, const PivotInversion<Scalar>& inversion, Ordinal row, int bs,
              Scalar* d, const Scalar* sizes, Scalar* d_inverse, const PivotRoom<Scalar>& room) {
  const auto least = [&](int i) { return inversion.tolerance * sizes[i]; };
  bool good = true;
  if (inversion.positive) {
    forLanes(member, bs * bs, [&](const int e) { room.block[e] = d[e]; });
    Kokkos::single(Kokkos::PerThread(member),
                   [&]() { room.ints[0] = inversion.isPositive(room.block, bs, sizes) ? 1 : 0; });
    joinLanes(member);
    good = room.ints[0] != 0;
    joinLanes(member); // before the room is written to again
  }
  good = good && invertBlockByLanes<BS>(member, d, least, d_inverse, room.block, room.scalars,
                                        room.ints, bs);
  if (!good)
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      inversion.template invert<0>(row, bs, d, sizes, d_inverse, room.ints, room.scalars);
    });
  joinLanes(member);
}

} // namespace detail
} // namespace ainvil
