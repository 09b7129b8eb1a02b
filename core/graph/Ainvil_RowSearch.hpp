// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Searching in sorted rows, and from counts to offsets.

#include "Ainvil_BsrMatrix.hpp"
#include "backend/Ainvil_RowTeams.hpp"

#include <climits>

namespace ainvil {
namespace detail {

/// Position of the first entry >= key in the ascending entries[begin, end), or end.
template <class Entries, class Key>
KOKKOS_INLINE_FUNCTION Offset lowerBound(const Entries& entries, Offset begin, Offset end,
                                         const Key& key) {
  while (begin < end) {
    const Offset middle = begin + (end - begin) / 2;
    if (entries(middle) < key)
      begin = middle + 1;
    else
      end = middle;
  }
  return begin;
}

/// Position of key in the ascending entries[begin, end), or -1.
template <class Entries, class Key>
KOKKOS_INLINE_FUNCTION Offset findEntry(const Entries& entries, Offset begin, Offset end,
                                        const Key& key) {
  const Offset position = lowerBound(entries, begin, end, key);
  return position < end && entries(position) == key ? position : Offset(-1);
}

/// Greater than any index: the end of what is searched in ascending order.
constexpr Ordinal list_end = INT_MAX;

/// counts(i) <- sum over k < i of counts(k), i = 0 .. n
template <class Count, class Device>
struct ExclusiveScan {
  Kokkos::View<Count*, Device> counts;
  Offset n;

  KOKKOS_FUNCTION void operator()(Offset i, Count& sum, bool final) const {
    const Count count = i < n ? counts(i) : 0;
    if (final)
      counts(i) = sum;
    sum += count;
  }
};

/// scan(i, sum, final) for i = 0 .. n - 1 as Kokkos::parallel_scan() has it, the sum of `Count`.
/// One thread of a host goes through them once, Kokkos twice. Asynchronous.
template <class Count, class Exec, class Scan>
void scanInOrder(const Exec& exec, const char* label, Offset n, const Scan& scan) {
  if constexpr (!compat::IsGpu<Exec>::value) {
    if (exec.concurrency() == 1) {
      Count sum = 0;
      for (Offset i = 0; i < n; ++i)
        scan(i, sum, true);
      return;
    }
  }
  Kokkos::parallel_scan(label, Range<Exec>(exec, 0, n), scan);
}

/// counts(0 .. n - 1) become offsets(0 .. n): an exclusive scan in place. Asynchronous.
template <class Exec, class Count, class Device>
void scanCounts(const Exec& exec, const Kokkos::View<Count*, Device>& counts) {
  const Offset n = static_cast<Offset>(counts.extent(0)) - 1;
  scanInOrder<Count>(exec, "Ainvil::scan", n + 1, ExclusiveScan<Count, Device>{counts, n});
}

/// The same. Returns the total; waits.
template <class Exec, class Device>
Offset countsToOffsets(const Exec& exec, const Kokkos::View<Offset*, Device>& counts) {
  scanCounts(exec, counts);
  return readBack(exec, counts, counts.extent(0) - 1);
}

} // namespace detail
} // namespace ainvil
