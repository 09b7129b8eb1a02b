// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Orders of the rows of a sparse matrix, found on the host. All of them look at the undirected
/// graph of the matrix only: its values, its diagonal and the order within its rows do not matter,
/// and entries may be missing on one side of the diagonal or be there twice. Matrices in blocks are
/// ordered in block rows. For a matrix on a device: copyTo<HostDevice> its graph and
/// copyTo<Device> the permutation.

#include "Ainvil_Permutation.hpp"

namespace ainvil {

/// The orders that ordering() finds.
enum class Ordering {
  Natural,         ///< as it is
  Rcm,             ///< reverseCuthillMcKee()
  NestedDissection ///< nestedDissection()
};

/// \throws InvalidArgument if the graph is not square or has columns outside of it; also what the
/// functions below throw.
Permutation<HostDevice> ordering(Ordering method, const Graph<HostDevice>& graph);

/// Reverse Cuthill-McKee order: entries move close to the diagonal. The connected components stay
/// in the order of their first rows; each is numbered breadth first from a pseudo-peripheral row,
/// the neighbours of a row by ascending degree, and then turned round. The same everywhere.
/// Cost: that of adjacency(), then serial passes over the graph, seldom more than five. Sources:
/// Cuthill and McKee (1969); George and Liu, Computer Solution of Large Sparse Positive Definite
/// Systems (1981), section 4.3.
Permutation<HostDevice> reverseCuthillMcKee(const Graph<HostDevice>& graph);

/// Nested dissection: the rows of a small separator last, the parts that it leaves the same way
/// before it, so that complete factors fill in little and elimination trees are low. By METIS
/// (Karypis and Kumar 1998), which is serial, takes about ten times as long as
/// reverseCuthillMcKee(), and reseeds rand() of the C library.
/// \throws InvalidArgument if there are more adjacent pairs than this METIS counts (2^30 with
/// 32-bit indices, as in Debian); Error if METIS fails.
Permutation<HostDevice> nestedDissection(const Graph<HostDevice>& graph);

/// The undirected graph of a matrix, that is S(A) + S(A)^T without the diagonal, rows sorted. In
/// parallel on the default host space; O(nnz log(row length)).
/// \throws InvalidArgument if the graph is not square or has columns outside of it.
Graph<HostDevice> adjacency(const Graph<HostDevice>& graph);

/// The largest |i - j| of all entries (i, j); 0 for a graph without entries.
Ordinal bandwidth(const Graph<HostDevice>& graph);

} // namespace ainvil
