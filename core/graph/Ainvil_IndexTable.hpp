// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A hash table of indices in scratch memory.

#include "Ainvil_Types.hpp"
#include "backend/Ainvil_Flags.hpp"

namespace ainvil {
namespace detail {

/// Fibonacci hashing (Knuth, The Art of Computer Programming 3, section 6.4).
KOKKOS_INLINE_FUNCTION Ordinal hashOf(Ordinal key) {
  return static_cast<Ordinal>((static_cast<unsigned>(key) * 2654435769u) >> 7);
}

/// A set of indices (keys) >= 0 in open addressing with linear probing; `size` slots, a power of
/// two. Beside it lies a list for its user, who may list slots or keys in the order of insertion:
/// the table itself does not touch `list` and `count`. Shared by the lanes of a thread;
/// `Concurrent` where these are more than one.
template <bool Concurrent>
struct IndexTable {
  Ordinal* keys;  ///< -1: free
  Ordinal* list;  ///< of the user, `size` long; may be null
  Ordinal* count; ///< elements of the list
  Ordinal* used;  ///< number of keys
  Ordinal size;

  KOKKOS_INLINE_FUNCTION Ordinal hash(Ordinal key) const { return hashOf(key) & (size - 1); }
  /// Other lanes may be adding keys.
  KOKKOS_INLINE_FUNCTION Ordinal keyAt(Ordinal slot) const {
    return Concurrent ? compat::volatileLoad(keys + slot) : keys[slot];
  }
  /// Slot of the key or -1.
  KOKKOS_INLINE_FUNCTION Ordinal find(Ordinal key) const {
    Ordinal slot = hash(key);
    for (Ordinal probe = 0; probe < size; ++probe, slot = (slot + 1) & (size - 1)) {
      const Ordinal found = keyAt(slot);
      if (found == key)
        return slot;
      if (found < 0)
        return -1;
    }
    return -1;
  }
  /// Slot of the key, which is added if it is new; -1 if that would fill more than a half, so that
  /// searching for keys that are not there stays short.
  KOKKOS_INLINE_FUNCTION Ordinal insert(Ordinal key, bool& added) const {
    added = false;
    Ordinal slot = hash(key);
    for (Ordinal probe = 0; probe < size; ++probe, slot = (slot + 1) & (size - 1)) {
      Ordinal found = keyAt(slot);
      if (found < 0) {
        if constexpr (Concurrent) {
          found = Kokkos::atomic_compare_exchange(keys + slot, Ordinal(-1), key);
        } else {
          keys[slot] = key;
        }
        if (found < 0) {
          added = true;
          return next(used) < size / 2 ? slot : -1;
        }
      }
      if (found == key)
        return slot;
    }
    return -1;
  }
  /// Adds one to a counter and returns what it was.
  KOKKOS_INLINE_FUNCTION static Ordinal next(Ordinal* counter) {
    if constexpr (Concurrent) {
      return Kokkos::atomic_fetch_add(counter, Ordinal(1));
    } else {
      return (*counter)++;
    }
  }
};

} // namespace detail
} // namespace ainvil
