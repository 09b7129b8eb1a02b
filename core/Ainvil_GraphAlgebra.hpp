// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Algebra of sparsity patterns, all of it on the device.

#include "Ainvil_BsrMatrix.hpp"

#include <functional>

namespace ainvil {

/// Throws InvalidArgument unless the row map ascends from 0 to the number of entries, no row has
/// more than 2^31 - 1 of them, and every column lies in [0, num_cols); a default-constructed graph
/// is valid and has no rows. Returns whether it is sorted: see isSorted(). One pass over the graph;
/// waits for the instance. Everything that sets up something from a matrix of the user's begins
/// with it: initialize() of preconditioners, MatrixOperator, conversions, scalings, orderings and
/// permutations. The algebra below and single products take a valid graph for granted.
template <class Device>
bool validate(const typename Device::execution_space& exec, const Graph<Device>& graph);

/// True if the columns of every row ascend strictly, so no duplicates either. One pass; waits.
template <class Device>
bool isSorted(const typename Device::execution_space& exec, const Graph<Device>& graph);

/// True if both graphs have the same row maps and entries in the same order. At once where they
/// share their arrays, else one pass; waits.
template <class Device>
bool samePattern(const typename Device::execution_space& exec, const Graph<Device>& a,
                 const Graph<Device>& b);

/// A graph together with where its entries come from: entry e was entry source[e] of the original.
template <class Device>
struct PermutedGraph {
  Graph<Device> graph;                        ///< with its entries where they are now
  Kokkos::View<const Offset*, Device> source; ///< of each entry
};

/// Where the entries of a graph come from that is made of a graph made of a third: inner[outer[e]],
/// and outer[e] where that is negative.
template <class Device>
Kokkos::View<const Offset*, Device> composed(const typename Device::execution_space& exec,
                                             const Kokkos::View<const Offset*, Device>& outer,
                                             const Kokkos::View<const Offset*, Device>& inner);

/// The same graph with ascending columns in each row. Each is sorted by a warp: short ones in fast
/// memory, O(nnz log^2(row length)) for long ones.
/// \throws InvalidArgument if a row holds a column twice.
template <class Device>
PermutedGraph<Device> sortRows(const typename Device::execution_space& exec,
                               const Graph<Device>& graph);

/// Whether a triangle is taken with its diagonal.
enum class Diagonal { Keep, Drop };

/// The transposed graph, rows sorted; cost as for sortRows.
template <class Device>
PermutedGraph<Device> transpose(const typename Device::execution_space& exec,
                                const Graph<Device>& graph);

namespace detail {

/// transpose() into arrays of the caller's: num_cols + 1 offsets, and a column and a source an
/// entry. Without an array for the sources they are left out. With Diagonal::Keep and no sources
/// every row gets its diagonal entry, which the square graph must not hold. Asynchronous, no
/// allocation.
template <class Device>
Graph<Device>
transposeInto(const typename Device::execution_space& exec, const Graph<Device>& graph,
              const Kokkos::View<Offset*, Device>& row_map,
              const Kokkos::View<Ordinal*, Device>& entries,
              const Kokkos::View<Offset*, Device>& source = {}, Diagonal diagonal = Diagonal::Drop);

} // namespace detail

/// The lower or upper triangle of a sorted square graph. With Diagonal::Keep every row of the
/// result has its diagonal entry, whether the graph holds it or not; with Diagonal::Drop none has.
template <class Device>
Graph<Device> triangle(const typename Device::execution_space& exec, const Graph<Device>& graph,
                       Uplo uplo, Diagonal diagonal);

/// The pattern that a user gave for a triangular matrix of num_rows rows, which messages call
/// `name`: sorted, and with or without all diagonal entries. \throws InvalidArgument if it is not a
/// graph of that size, holds an entry twice or has one beyond the diagonal.
template <class Device>
Graph<Device> triangularPattern(const typename Device::execution_space& exec, const char* name,
                                const Graph<Device>& given, Ordinal num_rows, Uplo uplo,
                                Diagonal diagonal);

/// Number of rows of a sorted square graph that lack their diagonal entry; `first_row` receives the
/// first of them, or -1.
template <class Device>
Ordinal countMissingDiagonals(const typename Device::execution_space& exec,
                              const Graph<Device>& graph, Ordinal& first_row);

/// The pattern S(|T|^p) of a sorted triangular factor T, p >= 1. A graph without diagonal entries
/// is that of a unit triangular factor and gives the pattern of the power without them. Row i of
/// the power p is the union of row i of the power p - 1 and of its rows j, for the entries (i, j)
/// of T; it ends early at a power that adds nothing. Cost: for each power an insertion into a set
/// for each element of these rows; on GPUs rows of T with up to 15 entries are merged instead, a
/// comparison a list and a column, and both is done twice. Memory: on hosts twice the result for a
/// moment and num_cols / 8 bytes a thread. \throws InvalidArgument if power < 1.
template <class Device>
Graph<Device> patternPower(const typename Device::execution_space& exec, const Graph<Device>& graph,
                           int power);

/// The pattern of the block incomplete factors ILU(k), diagonal included: entry (i, j) is kept if
/// its fill level min over h < min(i, j) of lev(i, h) + lev(h, j) + 1 is at most `level` (0 on the
/// graph itself). That is so if and only if a path of at most level + 1 edges of the graph leads
/// from i to j through vertices before both: a search in breadth a row, all rows at a time. Cost:
/// for every row an insertion into a set for each entry of the rows before it that are fewer than
/// `level` edges away, and for the entries behind it of those at `level`; twice that, and the
/// transposed graph, where the pattern is not symmetric; on GPUs all of it twice. Memory as for
/// patternPower().
/// Source: Saad, Iterative Methods for Sparse Linear Systems (2003), section 10.3; Hysom, Pothen, A
/// scalable parallel algorithm for incomplete factor preconditioning, SIAM J. Sci. Comput. 22
/// (2001), theorem 3.1. \throws InvalidArgument if level < 0.
template <class Device>
Graph<Device> fillPattern(const typename Device::execution_space& exec, const Graph<Device>& graph,
                          int level);

/// The patterns of the factors of an incomplete factorisation.
template <class Device>
struct FillTriangles {
  Graph<Device> lower; ///< of L, with its diagonal
  Graph<Device> upper; ///< of U, without
};

/// fillPattern() in two parts, sorted. Cost and errors are those of fillPattern(), less its join.
/// `progress`, if there is one, is called with how many of graph.num_rows rows are done, where
/// there is fill: on hosts about a hundred times, and with all of them in the end. What it throws
/// comes out.
template <class Device>
FillTriangles<Device> fillTriangles(const typename Device::execution_space& exec,
                                    const Graph<Device>& graph, int level,
                                    const std::function<void(Offset)>& progress = {});

/// The first of them, with its diagonal or without: all that a symmetric factorisation has. Half of
/// the cost where the pattern is not symmetric; errors of fillPattern(), `progress` of
/// fillTriangles().
template <class Device>
Graph<Device> fillLower(const typename Device::execution_space& exec, const Graph<Device>& graph,
                        int level, Diagonal diagonal,
                        const std::function<void(Offset)>& progress = {});

} // namespace ainvil
