// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Orders of the rows of a sparse matrix, found on the host. All of them look at the undirected
/// graph of the matrix only: its values, its diagonal and the order within its rows do not matter,
/// and entries may be missing on one side of the diagonal or be there twice. Matrices in blocks are
/// ordered in block rows. For a matrix on a device: copyTo<HostDevice> its graph and
/// copyTo<Device> the permutation.

#include "Ainvil_Permutation.hpp"

#include <string>

namespace ainvil {

/// The orders that ordering() finds.
enum class Ordering {
  Natural,          ///< as it is
  Rcm,              ///< reverseCuthillMcKee()
  NestedDissection, ///< nestedDissection()
  Multicolour,      ///< multicolour()
  BlockMulticolour  ///< blockMulticolour()
};

/// The word for an order: natural, rcm, nd, colour, block-colour.
const char* nameOf(Ordering method);
/// The order with that name. \throws InvalidArgument for any other word.
Ordering orderingNamed(const std::string& name);

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
/// 32-bit indices, as in Debian), or if Ainvil was built without METIS; Error if METIS fails.
Permutation<HostDevice> nestedDissection(const Graph<HostDevice>& graph);

/// Multicolour order: rows of the same colour, none of which are adjacent, stay together, so that a
/// triangle of the matrix has as many level sets as there are colours, and a factorisation without
/// fill likewise: one launch each on a GPU. Rows take the first colour that no neighbour has, in
/// their order, and keep that order within a colour; at most one colour more than the most
/// neighbours of a row. Incomplete factors lose by it what they know about rows farther apart:
/// Krylov methods take more iterations. The same everywhere. Cost: that of adjacency(), then two
/// serial passes over the graph. Sources: Poole and Ortega (1987); Saad, Iterative Methods for
/// Sparse Linear Systems (2003), section 12.4.
Permutation<HostDevice> multicolour(const Graph<HostDevice>& graph);

/// Block multicolour order: connected groups of up to `rows_per_block` rows, grown breadth first
/// from the first row that is in none yet, are coloured in place of rows, and keep the order of
/// their rows within. There are at most `rows_per_block` times as many level sets as colours, and
/// fewer iterations are lost than by multicolour(). The same everywhere; cost as there. Source:
/// Iwashita, Nakashima, Takahashi, Algebraic block multi-color ordering (2012).
/// \throws InvalidArgument if rows_per_block < 1.
Permutation<HostDevice> blockMulticolour(const Graph<HostDevice>& graph, int rows_per_block = 16);

/// The undirected graph of a matrix, that is S(A) + S(A)^T without the diagonal, rows sorted. In
/// parallel on the default host space; O(nnz log(row length)).
/// \throws InvalidArgument if the graph is not square or has columns outside of it.
Graph<HostDevice> adjacency(const Graph<HostDevice>& graph);

/// The largest |i - j| of all entries (i, j); 0 for a graph without entries.
Ordinal bandwidth(const Graph<HostDevice>& graph);

} // namespace ainvil
