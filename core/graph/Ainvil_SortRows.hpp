// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Sorting the rows of a graph, each by the lanes of a thread.

#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_RowTeams.hpp"

namespace ainvil {
namespace detail {

/// A bitonic network over `length` keys, all of whose comparators put the smaller key first: so
/// keys past the end, which would be infinite, never move and need not exist. Calls exchange(low,
/// high), low < high < length, which is to put the smaller of two keys first, of many pairs at a
/// time; O(length log^2 length) calls.
template <class Member, class Exchange>
KOKKOS_INLINE_FUNCTION void sortingNetwork(const Member& member, Offset length,
                                           const Exchange& exchange) {
  // In every group of 2 half keys compares each of the first half with its mirror image or with
  // the one half away.
  const auto compareAll = [&](const Offset half, const bool mirrored) {
    const Offset pairs = (length + 2 * half - 1) / (2 * half) * half;
    forLanes(member, pairs, [&](const Offset pair) {
      const Offset within = pair & (half - 1);
      const Offset group = 2 * (pair - within);
      const Offset low = group + within;
      const Offset high = mirrored ? group + 2 * half - 1 - within : low + half;
      if (high < length)
        exchange(low, high);
    });
  };
  for (Offset half = 1; half < length; half *= 2) {
    compareAll(half, true);
    for (Offset step = half / 2; step > 0; step /= 2)
      compareAll(step, false);
  }
}

/// Brings the keys of each row into ascending order and takes their sources along; a warp a row.
/// Rows that are in order already cost one pass. Others of up to `room` keys go through scratch
/// memory to their ranks,
///   key k to position #{m : key_m < key_k, or key_m = key_k and m < k};
/// longer ones are sorted in place by a bitonic network.
template <class Device>
struct SortRow {
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> keys;
  Kokkos::View<Offset*, Device> sources; ///< may be empty
  int room;                              ///< at least 1

  KOKKOS_FUNCTION bool hasSources() const { return sources.data() != nullptr; }
  std::size_t scratchBytes() const {
    return room * (sizeof(Ordinal) + (hasSources() ? sizeof(Offset) : 0));
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void* scratch) const {
    const Offset begin = row_map(row);
    const Ordinal length = static_cast<Ordinal>(row_map(row + 1) - begin);
    int descents = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, length),
        [&](const Ordinal k, int& sum) {
          sum += k > 0 && keys(begin + k - 1) > keys(begin + k) ? 1 : 0;
        },
        descents);
    if (descents == 0)
      return;
    if (length <= room)
      sortByRank(member, begin, length, scratch);
    else
      sortInPlace(member, begin, length);
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void sortByRank(const Member& member, Offset begin, Ordinal length,
                                         void* scratch) const {
    // The wider type first, for its alignment.
    Offset* old_sources = static_cast<Offset*>(scratch);
    Ordinal* old_keys = reinterpret_cast<Ordinal*>(old_sources + (hasSources() ? room : 0));
    forLanes(member, length, [&](const Ordinal k) {
      old_keys[k] = keys(begin + k);
      if (hasSources())
        old_sources[k] = sources(begin + k);
    });
    forLanes(member, length, [&](const Ordinal k) {
      const Ordinal key = old_keys[k];
      Ordinal rank = 0;
      for (Ordinal m = 0; m < length; ++m)
        rank += old_keys[m] < key || (old_keys[m] == key && m < k) ? 1 : 0;
      keys(begin + rank) = key;
      if (hasSources())
        sources(begin + rank) = old_sources[k];
    });
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void sortInPlace(const Member& member, Offset begin,
                                          Ordinal length) const {
    sortingNetwork(member, length, [&](const Offset first, const Offset second) {
      const Offset low = begin + first, high = begin + second;
      if (keys(low) <= keys(high))
        return;
      const Ordinal key = keys(low);
      keys(low) = keys(high);
      keys(high) = key;
      if (hasSources()) {
        const Offset source = sources(low);
        sources(low) = sources(high);
        sources(high) = source;
      }
    });
  }
};

/// Sorts the keys of all rows as SortRow says; no memory is allocated.
template <class Device>
void sortKeys(const typename Device::execution_space& exec, const char* label,
              const Kokkos::View<const Offset*, Device>& row_map,
              const Kokkos::View<Ordinal*, Device>& keys,
              const Kokkos::View<Offset*, Device>& sources) {
  const Ordinal num_rows = static_cast<Ordinal>(row_map.extent(0)) - 1;
  const RowTeams shape = RowTeams::forWork<typename Device::execution_space>(
      num_rows > 0 ? double(keys.extent(0)) / num_rows : 0.0);
  // 12 KiB of scratch memory for the 128 lanes of a team, at 4 bytes a key and 8 a source: the 16
  // teams that fill a multiprocessor then need 192 KiB, less than an H100 or H200 has.
  constexpr int keys_of_lane = 8;
  const SortRow<Device> body{row_map, keys, sources, keys_of_lane * shape.lanes};
  forEachRow(exec, label, num_rows, shape, body, body.scratchBytes());
}

} // namespace detail
} // namespace ainvil
