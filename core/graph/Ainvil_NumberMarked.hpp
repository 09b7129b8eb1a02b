// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Numbers for some of the rows or columns of a graph.

#include "Ainvil_GraphAlgebra.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace detail {

/// Those of 0, 1, ..., n - 1 that are marked, in order.
template <class Device>
struct Marked {
  Kokkos::View<const Ordinal*, Device> before;  ///< n + 1: how many marked ones are below i
  Kokkos::View<const Ordinal*, Device> members; ///< which they are
};

/// members(before(i)) = i for the marked i.
template <class Device>
struct ListMarked {
  Kokkos::View<const Ordinal*, Device> before;
  Kokkos::View<Ordinal*, Device> members;

  KOKKOS_FUNCTION void operator()(Offset i) const {
    if (before(i + 1) > before(i))
      members(before(i)) = static_cast<Ordinal>(i);
  }
};

/// `marks` are n + 1 numbers, 1 where i is marked and 0 elsewhere; the array is taken. Waits.
template <class Device>
Marked<Device> numberMarked(const typename Device::execution_space& exec,
                            const Kokkos::View<Ordinal*, Device>& marks) {
  scanCounts(exec, marks);
  const Ordinal count = readBack(exec, marks, marks.extent(0) - 1);
  const auto members = allocate<Ordinal, Device>(exec, "Ainvil::marked", count);
  Kokkos::parallel_for(
      "Ainvil::numberMarked",
      Range<typename Device::execution_space>(exec, 0, Offset(marks.extent(0)) - 1),
      ListMarked<Device>{marks, members});
  return {marks, members};
}

} // namespace detail
} // namespace ainvil
