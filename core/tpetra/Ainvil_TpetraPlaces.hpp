// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Columns with another number, or with none.

#include "Ainvil_BsrMatrix.hpp"
#include "backend/Ainvil_RowTeams.hpp"

namespace ainvil {
namespace tpetra {
namespace detail {

/// True of entries whose column c has place(c) >= 0.
template <class Device>
struct HasPlace {
  Kokkos::View<const Ordinal*, Device> entries, place;

  KOKKOS_FUNCTION bool operator()(Ordinal, Offset e) const { return place(entries(e)) >= 0; }
};

/// True of the others.
template <class Device>
struct HasNoPlace {
  HasPlace<Device> has_place;

  KOKKOS_FUNCTION bool operator()(Ordinal row, Offset e) const { return !has_place(row, e); }
};

template <class Device>
struct PlaceColumn {
  Kokkos::View<const Ordinal*, Device> from, place;
  Kokkos::View<Ordinal*, Device> to;

  KOKKOS_FUNCTION void operator()(Offset e) const { to(e) = place(from(e)); }
};

/// place(entries(e)) of each entry e.
template <class Device>
Kokkos::View<const Ordinal*, Device> renumbered(const typename Device::execution_space& exec,
                                                const Kokkos::View<const Ordinal*, Device>& entries,
                                                const Kokkos::View<const Ordinal*, Device>& place) {
  const auto to = allocate<Ordinal, Device>(exec, "Ainvil::entries", entries.extent(0));
  Kokkos::parallel_for(
      "Ainvil::renumbered",
      ainvil::detail::Range<typename Device::execution_space>(exec, 0, entries.extent(0)),
      PlaceColumn<Device>{entries, place, to});
  return to;
}

} // namespace detail
} // namespace tpetra
} // namespace ainvil
