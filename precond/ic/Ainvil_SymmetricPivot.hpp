// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Inverting the pivot blocks of block IC by all lanes of a thread.

#include "backend/Ainvil_Lanes.hpp"
#include "breakdown/Ainvil_PivotLanes.hpp"

namespace ainvil {
namespace detail {

/// D_i and its inverse, both made symmetric: rounding makes mirror images differ. The lanes have
/// been joined before and are joined at the end; all memory is shared by them.
template <int BS, class Member, class Scalar>
KOKKOS_INLINE_FUNCTION void
invertSymmetricPivot(const Member& member, const PivotInversion<Scalar>& pivot_inverter, Ordinal i,
                     int block_size, Scalar* d, const Scalar* sizes, Scalar* inverse,
                     const PivotRoom<Scalar>& room) {
  const int bs = BS > 0 ? BS : block_size, bs2 = bs * bs;
  const auto makeSymmetric = [&](Scalar* a) {
    forLanes(member, bs2, [&](const int e) {
      const int r = e / bs, c = e - r * bs;
      if (c < r)
        a[e] = a[c * bs + r] = (a[e] + a[c * bs + r]) / 2;
    });
  };
  makeSymmetric(d);
  if constexpr (BS == 1) {
    Kokkos::single(Kokkos::PerThread(member), [&]() {
      pivot_inverter.template invert<1>(i, 1, d, sizes, inverse, room.ints, room.scalars);
    });
    joinLanes(member);
  } else {
    invertByLanes<BS>(member, pivot_inverter, i, bs, d, sizes, inverse, room);
  }
  makeSymmetric(inverse);
}

} // namespace detail
} // namespace ainvil
