// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Matrices over arrays on the host, such as std::vector; between scalar and block storage; to and
/// from Kokkos Kernels' matrices.

#include "Ainvil_GraphAlgebra.hpp"
#include "backend/Ainvil_KokkosBsr.hpp"

#include <KokkosSparse_CrsMatrix.hpp>

#include <cstring>
#include <new>
#include <string>
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

/// to(i) = from(i), for row maps of int or unsigned int. Asynchronous.
template <class Size, class Device>
void convertOffsets(const typename Device::execution_space& exec,
                    const Kokkos::View<const Size*, Device>& from,
                    const Kokkos::View<Offset*, Device>& to);

/// The same array, its elements taken for another type of their size: signed for unsigned integers.
/// Both views keep it alive. No function of Kokkos does that; but a view is a pointer, extents and
/// a counted reference, whatever its elements are, so its bytes are those of the other view.
template <class To, class From>
To reinterpreted(const From& from) {
  static_assert(sizeof(typename To::value_type) == sizeof(typename From::value_type) &&
                    sizeof(To) == sizeof(From),
                "only the type of the elements may differ");
  alignas(From) unsigned char bytes[sizeof(From)];
  new (bytes) From(from); // never destroyed: its reference becomes that of `to`
  To to;
  std::memcpy(static_cast<void*>(&to), bytes, sizeof(To));
  return to;
}

/// The row map of a matrix of Kokkos Kernels: shared if its integers are as wide as an Offset, else
/// converted. A default-constructed matrix has none at all; it gets that of no rows.
template <class Device, class RowMap>
Kokkos::View<const Offset*, Device> toOffsets(const typename Device::execution_space& exec,
                                              const RowMap& source) {
  using Size = typename RowMap::non_const_value_type;
  if (source.extent(0) == 0)
    return allocateZeros<Offset, Device>(exec, "Ainvil::row_map", 1);
  if constexpr (std::is_same<Size, Offset>::value) {
    return source;
  } else if constexpr (sizeof(Size) == sizeof(Offset)) {
    return reinterpreted<Kokkos::View<const Offset*, Device>>(
        Kokkos::View<const Size*, Device>(source));
  } else {
    static_assert(std::is_same<Size, int>::value || std::is_same<Size, unsigned int>::value,
                  "Ainvil takes row maps of 32-bit and 64-bit integers");
    const auto converted = allocate<Offset, Device>(exec, "Ainvil::row_map", source.extent(0));
    convertOffsets<Size, Device>(exec, source, converted);
    return converted;
  }
}

/// The values of a matrix of Kokkos Kernels: shared, or copied if they are const. Waits then.
template <class Device, class Values>
Kokkos::View<typename Values::non_const_value_type*, Device>
toValues(const typename Device::execution_space& exec, const Values& source) {
  using Scalar = typename Values::non_const_value_type;
  if constexpr (std::is_const<typename Values::value_type>::value) {
    const auto copy = allocate<Scalar, Device>(exec, "Ainvil::values", source.extent(0));
    Kokkos::deep_copy(exec, copy, source);
    compat::fence(exec, "Ainvil::fromKokkos");
    return copy;
  } else {
    return source;
  }
}

template <class Scalar, class Index, class Space, class Memory, class Size>
int blockSizeOf(const KokkosSparse::CrsMatrix<Scalar, Index, Space, Memory, Size>&) {
  return 1;
}

template <class Scalar, class Index, class Space, class Memory, class Size>
int blockSizeOf(const compat::KokkosBsr<Scalar, Index, Space, Memory, Size>& a) {
  return a.blockDim();
}

/// What fromKokkos() makes of a matrix of Kokkos Kernels, CRS or BSR.
template <class Matrix>
using FromKokkos =
    BsrMatrix<std::remove_const_t<typename Matrix::value_type>, typename Matrix::device_type>;

/// The arrays of any matrix of Kokkos Kernels.
template <class Matrix>
FromKokkos<Matrix> wrapped(const typename Matrix::execution_space& exec, const Matrix& a) {
  static_assert(std::is_same<std::remove_const_t<typename Matrix::ordinal_type>, Ordinal>::value,
                "Ainvil numbers columns by int: copy the matrix into one with int as its ordinal");
  using Device = typename FromKokkos<Matrix>::device_type;
  const Graph<Device> graph(a.numRows(), a.numCols(), toOffsets<Device>(exec, a.graph.row_map),
                            a.graph.entries);
  validate(exec, graph);
  return {graph, toValues<Device>(exec, a.values), blockSizeOf(a)};
}

} // namespace detail

/// Kokkos Kernels' CRS matrix as a BSR matrix of block size 1, its ordinals int. Columns and values
/// are shared, const values copied; the row map is shared if its integers are as wide as an Offset,
/// signed or not, else converted. Waits. \throws InvalidArgument if the arrays do not fit together:
/// see validate(), which takes a pass over them.
template <class Scalar, class Index, class Space, class Memory, class Size>
detail::FromKokkos<KokkosSparse::CrsMatrix<Scalar, Index, Space, Memory, Size>>
fromKokkos(const typename Space::execution_space& exec,
           const KokkosSparse::CrsMatrix<Scalar, Index, Space, Memory, Size>& a) {
  return detail::wrapped(exec, a);
}

/// The same for Kokkos Kernels' BSR matrix (from its version 3.6 on), block by block.
template <class Scalar, class Index, class Space, class Memory, class Size>
detail::FromKokkos<compat::KokkosBsr<Scalar, Index, Space, Memory, Size>>
fromKokkos(const typename Space::execution_space& exec,
           const compat::KokkosBsr<Scalar, Index, Space, Memory, Size>& a) {
  return detail::wrapped(exec, a);
}

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

namespace detail {

/// An array of the host as one of To on the device: itself where the device has that memory and the
/// type is To, else a copy. \throws InvalidArgument naming the array if an index does not fit To
template <class To, class Device, class Array>
Kokkos::View<To*, Device> fromHostArray(const char* name, Array& array) {
  using From = std::remove_reference_t<decltype(*array.data())>;
  constexpr bool on_host = std::is_same<typename Device::memory_space, Kokkos::HostSpace>::value;
  if constexpr (on_host && std::is_convertible<From*, To*>::value) {
    return Kokkos::View<To*, Device>(array.data(), array.size());
  } else {
    const typename Device::execution_space exec;
    const auto copy = allocate<std::remove_const_t<To>, Device>(
        exec, std::string("Ainvil::") + name, array.size());
    const auto host = hostMirror(copy);
    for (std::size_t i = 0; i < array.size(); ++i) {
      const auto value = array.data()[i];
      host(i) = static_cast<To>(value);
      if constexpr (std::is_integral<To>::value)
        if (static_cast<std::remove_const_t<From>>(host(i)) != value ||
            (host(i) > 0) != (value > 0))
          throw InvalidArgument(message(name, "[", i, "] = ", value, " is out of range"));
    }
    Kokkos::deep_copy(exec, copy, host);
    compat::fence(exec, "Ainvil::csr");
    return copy;
  }
}

} // namespace detail

/// A square matrix of n block rows over arrays on the host: row_map has n + 1 offsets from 0,
/// `entries` the block columns from 0, `values` the blocks, row-major, in the order of the entries;
/// with block size 1 this is CSR. The arrays are anything with data() and size(), integers of any
/// width; Scalar is double or float.
///
/// On a host device `entries` of int and `values` that are not const are shared, and must live as
/// long as the matrix and what was computed from it; the row map is copied unless it holds
/// ainvil::Offset. A GPU gets copies of all. Waits for the default instance.
/// \throws InvalidArgument if the arrays do not fit together, see validate(); OutOfMemory
template <class Device = DefaultDevice, class RowMap, class Entries, class Values>
BsrMatrix<std::remove_const_t<typename Values::value_type>, Device>
csr(Ordinal n, const RowMap& row_map, const Entries& entries, Values& values, int block_size = 1) {
  using Scalar = std::remove_const_t<typename Values::value_type>;
  const Graph<Device> graph(n, n, detail::fromHostArray<const Offset, Device>("row_map", row_map),
                            detail::fromHostArray<const Ordinal, Device>("entries", entries));
  validate(typename Device::execution_space(), graph);
  return {graph, detail::fromHostArray<Scalar, Device>("values", values), block_size};
}

} // namespace ainvil
