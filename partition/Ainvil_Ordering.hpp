// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Permutations of matrices and vectors in units of block rows and block columns, and what finds
/// them on the host: orders for rows and columns, a matching for rows alone. For a matrix on a
/// device: copyTo<HostDevice> its graph, or the matrix, and copyTo<Device> the permutation.
///
/// Orders look at the undirected graph of the matrix only: its values, its diagonal and the order
/// within its rows do not matter, and entries may be missing on one side of the diagonal or be
/// there twice.

#include "Ainvil_GraphAlgebra.hpp"

#include <functional>
#include <string>

namespace ainvil {

/// A new order of the block rows and columns of a square matrix. With P_kl = 1 where
/// l = new_to_old(k) and 0 elsewhere, (P A P^T) (P x) = P b says the same as A x = b.
/// Immutable and shared: copies are shallow. The default-constructed one has no rows.
template <class Device>
struct Permutation {
  static_assert(detail::CompiledDevice<Device>::value, "");
  using device_type = Device;
  using execution_space = typename Device::execution_space;

  Kokkos::View<const Ordinal*, Device> new_to_old; ///< row k of P A P^T is row new_to_old(k) of A
  Kokkos::View<const Ordinal*, Device> old_to_new; ///< row i of A is row old_to_new(i) of P A P^T

  Ordinal numRows() const { return static_cast<Ordinal>(new_to_old.extent(0)); } ///< block rows
};

/// The permutation with the given `new_to_old`, which is shared. Waits.
/// \throws InvalidArgument unless it holds each of 0 .. n - 1 once; the message names the first
/// that is missing.
template <class Device>
Permutation<Device> makePermutation(const typename Device::execution_space& exec,
                                    const Kokkos::View<const Ordinal*, Device>& new_to_old);

/// The permutation that leaves n rows in their order.
template <class Device>
Permutation<Device> identityPermutation(const typename Device::execution_space& exec, Ordinal n);

/// P^T in place of P; shares the arrays.
template <class Device>
Permutation<Device> inverse(const Permutation<Device>& perm) {
  return {perm.old_to_new, perm.new_to_old};
}

/// The same permutation in the memory of another device; shares the arrays where the memory is the
/// same.
template <class ToSpace, class Device>
Permutation<DeviceOf<ToSpace>> copyTo(const Permutation<Device>& perm) {
  using ToDevice = DeviceOf<ToSpace>;
  return {copyArray<ToDevice>(perm.new_to_old, "Ainvil::new_to_old"),
          copyArray<ToDevice>(perm.old_to_new, "Ainvil::old_to_new")};
}

/// P A P^T with sorted rows, whether those of A are or not. Values follow, now and whenever they
/// change, by gatherBlocks(exec, Trans::No, source, ...). O(nnz log(row length)); waits.
/// \throws InvalidArgument if A is not square, has another number of rows than P, is not valid, see
/// validate(), or holds a column twice in a row.
template <class Device>
PermutedGraph<Device> permuted(const typename Device::execution_space& exec,
                               const Permutation<Device>& perm, const Graph<Device>& graph);

/// P A Q^T likewise, with P = `rows` and Q = `columns`: row k of it is row rows.new_to_old(k) of A,
/// column l is column columns.new_to_old(l).
template <class Device>
PermutedGraph<Device> permuted(const typename Device::execution_space& exec,
                               const Permutation<Device>& rows, const Permutation<Device>& columns,
                               const Graph<Device>& graph);

/// P A P^T, graph and values, as above.
template <class Scalar, class Device>
BsrMatrix<Scalar, Device> permuted(const typename Device::execution_space& exec,
                                   const Permutation<Device>& perm,
                                   const BsrMatrix<Scalar, Device>& a);

/// y = op(P) x for vectors of blocks: with Trans::No from the old order to the new one, with
/// Trans::Yes back. x and y must not overlap. Asynchronous, no allocation.
/// \throws InvalidArgument if the shapes do not match.
template <class Scalar, class Device>
void permute(const typename Device::execution_space& exec, Trans trans,
             const Permutation<Device>& perm, int block_size,
             MultiVectorArg<const Scalar, Device> x, MultiVectorArg<Scalar, Device> y);

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

/// Pairs of block rows and block columns, and scalings that belong to them: a permutation of rows
/// that brings large entries to the diagonal (copyArray<Device> the rows for a device). Immutable
/// and shared: copies are shallow.
struct Matching {
  /// Block row of A that is paired with each block column: row k of P A is row row_of(k) of A. A
  /// permutation.
  Kokkos::View<const Ordinal*, HostDevice> row_of;
  /// r, one positive number a block row, all 1 where num_matched is less than the number of rows.
  Kokkos::View<const double*, HostDevice> row_scaling;
  /// c, likewise for block columns.
  Kokkos::View<const double*, HostDevice> column_scaling;
  Ordinal num_matched = 0;      ///< pairs with a weight other than zero
  Ordinal first_unmatched = -1; ///< the first block row that has no such pair, -1: all have one

  Ordinal numRows() const { return static_cast<Ordinal>(row_of.extent(0)); } ///< block rows
};

/// The pairs whose weights have the largest product, and scalings with which no weight is above 1
/// and that of each pair is 1, to rounding. The weight of an entry is its modulus: in R A C, with
/// its rows permuted, the diagonal holds entries of modulus 1 and nothing is larger. The weight of
/// a block is |det|^(1/block_size), the mean of its pivots: block rows are exchanged as a whole,
/// for diagonal blocks that can be inverted, and the pairs do not change when A is multiplied by
/// block-diagonal matrices from either side. A block whose determinant vanishes counts eps times
/// its largest entry, so that it is paired only where nothing else is left. Entries that are zero
/// count as not stored. Pairs on the diagonal of A are preferred among equals.
///
/// Where not all rows can be paired, A is structurally singular: no values of its entries make it
/// regular. The pairs are then as many as there can be, the other rows stay in their places as far
/// as these are free, and num_matched tells.
///
/// `progress`, if there is one, is called with the number of rows that are paired: about a hundred
/// times while searches take them from those that passes over the entries have paired to all, and
/// in the end with n. What it throws comes out.
///
/// Serial and the same everywhere. Cost: passes over the entries, then searches over parts of the
/// matrix for the rows that the first of these leave without a pair: O(n (entries + n log n)) at
/// worst, in practice a few passes; for blocks their factorisations. Memory: 8 bytes an entry, and
/// about 60 a row and 16 an entry while searching. Source: Duff and Koster, On algorithms for
/// permuting large entries to the diagonal of a sparse matrix, SIAM J. Matrix Anal. Appl. 22
/// (2001), option 5 of the code MC64. \throws InvalidArgument if A is not square, not valid, see
/// validate(), or holds a value that is not finite; OutOfMemory.
template <class Scalar>
Matching maximumProductMatching(const BsrMatrix<Scalar, HostDevice>& a,
                                const std::function<void(Offset)>& progress = {});

} // namespace ainvil
