// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Column indices of 16 bits, for matrices whose entries are near enough to the diagonal.

#include "Ainvil_BsrMatrix.hpp"

#include <cstdint>

namespace ainvil {
namespace detail {

/// The columns of a matrix whose entries lie on a band of at most 2^16 diagonals: entry k of row i
/// in column i + first + distances(k).
template <class Device>
struct NearColumns {
  Kokkos::View<const std::uint16_t*, Device> distances; ///< of each entry; empty where unknown
  Offset first = 0;                                     ///< the lowest diagonal

  bool exist() const { return distances.extent(0) > 0; }
};

/// Those of a graph, or none if it has entries on more diagonals. Two passes over the graph, 2
/// bytes an entry; waits.
template <class Device>
NearColumns<Device> nearColumns(const typename Device::execution_space& exec,
                                const Graph<Device>& graph);

} // namespace detail
} // namespace ainvil
