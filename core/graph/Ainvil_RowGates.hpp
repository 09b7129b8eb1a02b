// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to OrderedRows: the ways in which rows that run at the same time wait for each other.
/// With `Spin` false the caller has ordered the rows already, and nothing is waited for.

#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_Lanes.hpp"

#include <climits>

namespace ainvil {
namespace detail {

/// Lets a row wait for rows it depends on, and announces it.
template <bool Spin>
struct FlagGate {
  KernelArray<unsigned> done; ///< epoch in which a row was last finished
  unsigned epoch = 0;

  /// Whether a row that was last finished in epoch `finished` is not yet in this one. Epochs wrap
  /// around, so that the sign of their difference decides, not their size.
  KOKKOS_INLINE_FUNCTION bool isPending(unsigned finished) const {
    return finished - epoch > UINT_MAX / 2;
  }

  /// Returns once row j is finished and its results are visible to the calling lane.
  KOKKOS_INLINE_FUNCTION void wait(Ordinal j) const {
    if (Spin) {
      // An acquire empties the first-level cache of the whole multiprocessor: volatile loads look
      // at the flag until the row is finished.
      if (isPending(compat::loadAcquire(&done(j)))) {
        while (isPending(compat::volatileLoad(&done(j)))) {
        }
        compat::loadAcquire(&done(j));
      }
    }
  }

  /// To be called by all lanes of a row after their last write.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void announce(const Member& member, Ordinal row) const {
    if (Spin) {
      joinLanes(member); // what they wrote happens before one of them raises the flag
      Kokkos::single(Kokkos::PerThread(member), [&]() { compat::storeRelease(&done(row), epoch); });
    }
  }
};

/// Lets a row read what rows that it depends on write, one number at a time: a number is its own
/// flag, so that a row waits for one access to memory where flags take three.
template <bool Spin>
struct ValueGate {
  /// The N numbers from `from` on, once all of them are there: N loads at a time.
  template <int N, class Scalar>
  KOKKOS_INLINE_FUNCTION void read(const Scalar* from, Scalar (&values)[N]) const {
    bool pending;
    do {
      pending = false;
      unrolled<N>([&](int i) { values[i] = Spin ? compat::volatileLoad(from + i) : from[i]; });
      if (Spin)
        unrolled<N>([&](int i) { pending = pending || compat::isUnset(values[i]); });
    } while (pending);
  }

  /// Writes a number for others to read.
  template <class Scalar>
  KOKKOS_INLINE_FUNCTION void write(Scalar* to, Scalar value) const {
    if (Spin)
      compat::setValue(to, value);
    else
      *to = value;
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void announce(const Member&, Ordinal) const {} ///< the numbers do
};

/// Lets a row wait for the updates that it gets from rows that depend on it, in runs in reverse
/// order.
template <bool Spin>
struct UpdateGate {
  KernelArray<unsigned> done;           ///< updates that row i has had in all runs
  KernelArray<const unsigned> expected; ///< updates that row i gets in one run
  unsigned runs = 0;                    ///< runs so far, this one included

  /// Returns in all lanes once row i has all updates, and shows them.
  template <class Member>
  KOKKOS_INLINE_FUNCTION void wait(const Member& member, Ordinal i) const {
    if (Spin)
      forLanes(member, 1, [&](int) { // sums wrap around alike
        const unsigned all = runs * expected(i);
        if (compat::loadAcquire(&done(i)) != all) {
          while (compat::volatileLoad(&done(i)) != all) {
          }
          compat::loadAcquire(&done(i));
        }
      });
  }

  /// To be called by one lane of a row, after all of its lanes have been joined, for every row that
  /// it has updated.
  KOKKOS_INLINE_FUNCTION void updated(Ordinal i) const {
    if (Spin)
      compat::addRelease(&done(i));
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void announce(const Member&, Ordinal) const {} ///< updated() does
};

} // namespace detail
} // namespace ainvil
