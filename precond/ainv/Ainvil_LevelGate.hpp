// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Levels of columns in one launch, which wait for each other.

#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Lanes.hpp"

namespace ainvil {
namespace detail {

/// Lets the columns of a level wait until all columns of the level before it have been computed, in
/// a launch that takes them level by level in the order in which its teams start. As it is made by
/// default nothing waits.
struct LevelGate {
  KernelArray<const unsigned> level; ///< of each column, counted from 1
  KernelArray<const unsigned> ends;  ///< where level l + 1 ends among the columns by level
  KernelArray<unsigned> computed;    ///< how many of level l + 1 have been
  unsigned first_level = 0;          ///< of this launch, which waits for nothing; 0: none waits

  /// Returns once what columns of lower levels have written is visible to all lanes.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void wait(const Member& member, Ordinal j) const {
    if (first_level == 0 || level(j) == first_level)
      return;
    const unsigned before = level(j) - 2; // its place in `ends` and `computed`
    forLanes(member, 1, [&](int) {
      const unsigned all = ends(before) - (before > 0 ? ends(before - 1) : 0);
      while (compat::volatileLoad(&computed(before)) != all) {
      }
      compat::loadAcquire(&computed(before));
    });
  }

  /// To be called by all lanes for every column, whether it could be computed or not.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void announce(const Member& member, Ordinal j) const {
    if (first_level == 0)
      return;
    joinLanes(member); // what they wrote happens before one of them counts
    Kokkos::single(Kokkos::PerThread(member),
                   [&]() { compat::addRelease(&computed(level(j) - 1)); });
  }
};

} // namespace detail
} // namespace ainvil
