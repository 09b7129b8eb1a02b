// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the library asks of METIS (Karypis and Kumar 1998), without its header. The graphs are
/// undirected, as adjacency() gives them, and have entries: METIS divides by numbers that are 0
/// without. It is serial, gives the same at every call, and reseeds rand() of the C library. An
/// Ainvil built with AINVIL_ENABLE_METIS=OFF refuses both calls.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {
namespace detail {

/// The rows in an order of nested dissection: new_to_old of a Permutation.
/// \throws InvalidArgument if METIS cannot count the entries or is not there; Error if it fails.
Kokkos::View<Ordinal*, HostDevice> metisOrder(const Graph<HostDevice>& adjacent);

/// The part of each row, 0 .. parts - 1, some of which may be empty; 1 < parts <= rows. Few entries
/// connect different parts, and the parts are about equally large. \throws as above.
Kokkos::View<Ordinal*, HostDevice> metisParts(const Graph<HostDevice>& adjacent, Ordinal parts);

} // namespace detail
} // namespace ainvil
