// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Work of very different sizes, sorted into classes: rows by length, dense matrices by order.

#include "backend/Ainvil_RowTeams.hpp"

namespace ainvil {
namespace detail {

/// The length of a row.
template <class Device>
struct RowLength {
  Kokkos::View<const Offset*, Device> row_map;

  KOKKOS_FUNCTION Offset operator()(Offset row) const { return row_map(row + 1) - row_map(row); }
};

template <class Size>
struct LargestSize {
  Size size;
  Offset limit;

  KOKKOS_FUNCTION void operator()(Offset i, Offset& largest) const {
    const Offset own = size(i);
    largest = own > largest && own <= limit ? own : largest;
  }
};

/// The largest size(i) <= limit with i in [0, n), 0 if there is none. Waits.
template <class Exec, class Size>
Offset largestSize(const Exec& exec, Offset n, const Size& size, Offset limit) {
  Offset largest = 0;
  Kokkos::parallel_reduce("Ainvil::largestSize", Range<Exec>(exec, 0, n),
                          LargestSize<Size>{size, limit}, Kokkos::Max<Offset>(largest));
  return std::max<Offset>(largest, 0); // without elements Kokkos::Max gives the smallest Offset
}

template <class Size, class Device>
struct SelectSizes {
  Size size;
  Offset smallest, largest;
  Ordinal begin;
  Kokkos::View<Ordinal*, Device> members;

  KOKKOS_FUNCTION void operator()(Offset i, Ordinal& position, bool final) const {
    const Offset own = size(i);
    if (own <= smallest || own > largest)
      return;
    if (final)
      members(begin + position) = static_cast<Ordinal>(i);
    ++position;
  }
};

/// The i in [0, n) with smallest < size(i) <= largest into members(begin), ..., in ascending order.
/// Returns the end of them; waits.
template <class Exec, class Size, class Device>
Ordinal selectSizes(const Exec& exec, Offset n, const Size& size, Offset smallest, Offset largest,
                    Ordinal begin, const Kokkos::View<Ordinal*, Device>& members) {
  Ordinal found = 0;
  Kokkos::parallel_scan("Ainvil::selectSizes", Range<Exec>(exec, 0, n),
                        SelectSizes<Size, Device>{size, smallest, largest, begin, members}, found);
  return begin + found;
}

} // namespace detail
} // namespace ainvil
