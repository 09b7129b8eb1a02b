// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Between scalar and block storage, and to and from Kokkos Kernels' matrices.

#include "Ainvil_GraphAlgebra.hpp"

#include <KokkosSparse_CrsMatrix.hpp>
#if __has_include(<KokkosSparse_BsrMatrix.hpp>)
#include <KokkosSparse_BsrMatrix.hpp>
#define AINVIL_HAVE_KOKKOS_BSR
#endif

#include <type_traits>

namespace ainvil {

/// The graph of a scalar matrix in blocks of the given size: a block wherever an entry is, block
/// rows sorted; and where the scalars of the blocks come from, -1 for those that fill up a block.
/// Waits.
/// \throws InvalidArgument if block_size does not divide the numbers of rows and columns, if the
/// graph is not valid, see validate(), or if a row holds a column twice.
template <class Device>
PermutedGraph<Device> toBlocks(const typename Device::execution_space& exec,
                               const Graph<Device>& graph, int block_size);

/// The matrix in blocks of the given size: a block is stored where any of its entries is, filled up
/// with zeros. On the device; waits.
/// \throws InvalidArgument as above.
template <class Scalar, class Device>
BsrMatrix<Scalar, Device> toBlocks(const typename Device::execution_space& exec,
                                   const BsrMatrix<Scalar, Device>& a, int block_size);

/// The graph of a matrix in blocks as that of a scalar one: entries of every block, row by row; and
/// where their values come from, in scalars. Waits. \throws InvalidArgument if there are more than
/// 2^31 - 1 point rows or columns, or if the graph is not valid, see validate().
template <class Device>
PermutedGraph<Device> toPoints(const typename Device::execution_space& exec,
                               const Graph<Device>& graph, int block_size);

/// The matrix as scalar CSR (block size 1): every entry of every block is stored, zeros included,
/// so toBlocks of the result gives `a` back. On the device; waits. \throws InvalidArgument as
/// above.
template <class Scalar, class Device>
BsrMatrix<Scalar, Device> toPoints(const typename Device::execution_space& exec,
                                   const BsrMatrix<Scalar, Device>& a);

namespace detail {

/// to(i) = from(i)
template <class Device, class From>
struct ToOffset {
  From from;
  Kokkos::View<Offset*, Device> to;

  KOKKOS_FUNCTION void operator()(Offset i) const { to(i) = static_cast<Offset>(from(i)); }
};

/// The row map of a matrix of Kokkos Kernels: shared if its type is Offset, else converted. A
/// default-constructed matrix has none at all; it gets that of no rows.
template <class Device, class RowMap>
Kokkos::View<const Offset*, Device> toOffsets(const typename Device::execution_space& exec,
                                              const RowMap& source) {
  if (source.extent(0) == 0)
    return allocateZeros<Offset, Device>(exec, "Ainvil::row_map", 1);
  if constexpr (std::is_same<typename RowMap::non_const_value_type, Offset>::value) {
    return source;
  } else {
    const auto converted = allocate<Offset, Device>(exec, "Ainvil::row_map", source.extent(0));
    Kokkos::parallel_for(
        "Ainvil::toOffsets",
        Kokkos::RangePolicy<typename Device::execution_space>(exec, 0, source.extent(0)),
        ToOffset<Device, RowMap>{source, converted});
    return converted;
  }
}

template <class Scalar, class Device, class Memory, class Size>
int blockSizeOf(const KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, Memory, Size>&) {
  return 1;
}

#ifdef AINVIL_HAVE_KOKKOS_BSR
template <class Scalar, class Device, class Memory, class Size>
int blockSizeOf(
    const KokkosSparse::Experimental::BsrMatrix<Scalar, Ordinal, Device, Memory, Size>& a) {
  return a.blockDim();
}
#endif

/// The arrays of any matrix of Kokkos Kernels.
template <class Scalar, class Device, class Matrix>
BsrMatrix<Scalar, Device> wrapped(const typename Device::execution_space& exec, const Matrix& a) {
  const Graph<Device> graph(a.numRows(), a.numCols(), toOffsets<Device>(exec, a.graph.row_map),
                            a.graph.entries);
  validate(exec, graph);
  return {graph, a.values, blockSizeOf(a)};
}

} // namespace detail

/// Kokkos Kernels' CRS matrix as a BSR matrix of block size 1. Columns and values are shared; the
/// row map is too if its type is Offset, else converted. Waits. \throws InvalidArgument if the
/// arrays do not fit together: see validate(), which takes a pass over them.
template <class Scalar, class Device, class Memory, class Size>
BsrMatrix<Scalar, Device>
fromKokkos(const typename Device::execution_space& exec,
           const KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, Memory, Size>& a) {
  return detail::wrapped<Scalar, Device>(exec, a);
}

#ifdef AINVIL_HAVE_KOKKOS_BSR
/// The same for Kokkos Kernels' BSR matrix (from its version 3.6 on), block by block.
template <class Scalar, class Device, class Memory, class Size>
BsrMatrix<Scalar, Device>
fromKokkos(const typename Device::execution_space& exec,
           const KokkosSparse::Experimental::BsrMatrix<Scalar, Ordinal, Device, Memory, Size>& a) {
  return detail::wrapped<Scalar, Device>(exec, a);
}
#endif

/// A BSR matrix of block size 1 as Kokkos Kernels' CRS matrix. Values and row map are shared; the
/// columns are copied, since Kokkos Kernels wants them writable and a Graph is immutable.
template <class Scalar, class Device>
KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, void, Offset>
toKokkos(const typename Device::execution_space& exec, const BsrMatrix<Scalar, Device>& a) {
  using Crs = KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, void, Offset>;
  if (a.block_size != 1)
    throw InvalidArgument(message("a CRS matrix needs block size 1, but this one has ",
                                  a.block_size, ": convert it with toPoints first"));
  const auto columns = allocate<Ordinal, Device>(exec, "Ainvil::entries", a.numEntries());
  Kokkos::deep_copy(exec, columns, a.graph.entries);
  typename Crs::staticcrsgraph_type graph(columns, a.graph.row_map);
  return Crs("Ainvil::crs", a.numCols(), a.values, graph);
}

} // namespace ainvil
