// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What a host loop asks its caches for ahead of time. GPUs do nothing.

#include "Ainvil_Types.hpp"
#include "backend/Ainvil_KokkosCompat.hpp"

#include <cstddef>
#include <cstdint>

namespace ainvil {
namespace detail {

/// How far ahead, in bytes, a host loop asks for what it reads in order: two pages, because the
/// prefetcher of the hardware stops at the end of one, and begins slowly with the next.
constexpr std::ptrdiff_t prefetch_distance = 8192;

/// Asks for `bytes` bytes from `ahead` bytes beyond `data` on, but for no more than a page. There
/// may be nothing. Inlined by force: GCC takes a function that does nothing else for one without
/// effect, and leaves out calls of it.
KOKKOS_FORCEINLINE_FUNCTION void prefetch(const void* data, std::ptrdiff_t bytes,
                                          std::ptrdiff_t ahead) {
  constexpr std::ptrdiff_t page = 4096;
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(data) + ahead;
  for (std::ptrdiff_t b = 0; b < bytes && b < page; b += compat::cache_line)
    compat::prefetchLine(first + b);
}

/// The same for the entries begin .. end - 1 of a sparse matrix, columns and blocks of so many
/// scalars, by a loop that goes through its rows in order; backwards with a negative distance. Rows
/// shorter than a cache line ask for some lines twice; that costs less than to find out.
template <class Column, class Value>
KOKKOS_FORCEINLINE_FUNCTION void prefetchRow(const Column* columns, const Value* values,
                                             Offset begin, Offset end, int scalars,
                                             std::ptrdiff_t ahead = prefetch_distance) {
  prefetch(columns + begin, (end - begin) * Offset(sizeof(Column)), ahead);
  prefetch(values + begin * scalars, (end - begin) * scalars * Offset(sizeof(Value)), ahead);
}

} // namespace detail
} // namespace ainvil
