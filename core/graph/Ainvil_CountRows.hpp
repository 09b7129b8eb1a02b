// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How many rows something is true of, and which is the first.

#include "backend/Ainvil_RowTeams.hpp"

#include <climits>

namespace ainvil {
namespace detail {

template <class Concerns>
struct CountAndFirst {
  Concerns concerns;

  KOKKOS_FUNCTION void operator()(Offset row, Ordinal& count, Ordinal& first) const {
    if (!concerns(row))
      return;
    ++count;
    first = row < first ? static_cast<Ordinal>(row) : first;
  }
};

/// True of rows whose mark is not 0.
template <class Device>
struct IsMarked {
  Kokkos::View<const int*, Device> marks;

  KOKKOS_FUNCTION bool operator()(Offset row) const { return marks(row) != 0; }
};

/// Number of rows in [0, num_rows) with concerns(row); `first` becomes the first of them, or -1.
/// Waits.
template <class Exec, class Concerns>
Ordinal countRows(const Exec& exec, const char* label, Ordinal num_rows, const Concerns& concerns,
                  Ordinal& first) {
  Ordinal count = 0, smallest = INT_MAX;
  Kokkos::parallel_reduce(label, Range<Exec>(exec, 0, num_rows), CountAndFirst<Concerns>{concerns},
                          count, Kokkos::Min<Ordinal>(smallest));
  compat::fence(exec, label);
  first = count > 0 ? smallest : -1;
  return count;
}

} // namespace detail
} // namespace ainvil
