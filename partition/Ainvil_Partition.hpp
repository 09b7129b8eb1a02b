// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Parts of the rows of a sparse matrix between which few entries lie, found on the host. For a
/// matrix on a device: copyTo<HostDevice> its graph and copyTo<Device> the partition.

#include "Ainvil_GraphAlgebra.hpp"

namespace ainvil {

/// The block rows of a square matrix in parts. Immutable and shared: copies are shallow.
template <class Device>
struct Partition {
  static_assert(detail::CompiledDevice<Device>::value, "");

  Kokkos::View<const Ordinal*, Device> part_of; ///< part of each block row, 0 .. num_parts - 1
  Ordinal num_parts = 0;                        ///< none of them empty
  Offset edge_cut = 0; ///< pairs {i, j} of rows of different parts with an entry (i, j) or (j, i)
  Ordinal largest = 0; ///< rows of the largest part
};

/// The same partition in the memory of another device; shares the array where the memory is the
/// same.
template <class ToDevice, class Device>
Partition<ToDevice> copyTo(const Partition<Device>& from) {
  return {copyArray<ToDevice>(from.part_of, "Ainvil::part_of"), from.num_parts, from.edge_cut,
          from.largest};
}

/// Divides the undirected graph of the matrix, see adjacency(), into `parts` parts about equally
/// large, of few edges between them: k-way partitioning by METIS (Karypis and Kumar 1998), which is
/// serial and reseeds rand() of the C library. The same at every call. A part need not be
/// connected. METIS sometimes leaves parts empty, mostly where there are but few rows a part: they
/// are not counted, and the others move up. Without edges, and with a part a row, rows are assigned
/// in their order.
/// \throws InvalidArgument if the graph is not square or has columns outside of it, if parts < 1 or
/// there are more parts than rows (a matrix without rows has one, none after counting), or if there
/// are more adjacent pairs than this METIS counts (2^30 with 32-bit indices, as in Debian), or if
/// Ainvil was built without METIS and needs it; Error if METIS fails.
Partition<HostDevice> partition(const Graph<HostDevice>& graph, Ordinal parts);

/// The entries (i, j) of a square graph with part_of(i) == part_of(j), in their order, and where
/// they come from. Values follow by gatherBlocks(exec, Trans::No, source, ...). Two passes; waits.
/// \throws InvalidArgument if the graph is not square or part_of is of another size.
template <class Device>
PermutedGraph<Device> entriesWithinParts(const typename Device::execution_space& exec,
                                         const Graph<Device>& graph,
                                         const Kokkos::View<const Ordinal*, Device>& part_of);

} // namespace ainvil
