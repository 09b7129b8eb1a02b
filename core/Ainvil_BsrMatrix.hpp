// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Block sparse row storage. A scalar CSR matrix is the case of block size 1.

#include "backend/Ainvil_Allocation.hpp"

#include <string>

namespace ainvil {

/// The pattern of a sparse matrix by rows: the columns of row i are
/// entries[row_map[i]] .. entries[row_map[i + 1] - 1].
/// Immutable and shared: copies are shallow and may be handed around freely. The functions of this
/// library return graphs with strictly ascending columns in each row and expect such graphs unless
/// they say otherwise.
template <class Device>
struct Graph {
  static_assert(detail::CompiledDevice<Device>::value, "");
  using device_type = Device;
  using execution_space = typename Device::execution_space;

  Kokkos::View<const Offset*, Device> row_map;  ///< num_rows + 1 offsets, from 0
  Kokkos::View<const Ordinal*, Device> entries; ///< column of every entry
  Ordinal num_rows = 0;                         ///< block rows
  Ordinal num_cols = 0;                         ///< block columns

  Graph() = default;
  /// Shares the arrays. Of the entries only the number of offsets is checked here: see validate().
  /// \throws InvalidArgument unless there are rows + 1 offsets.
  Graph(Ordinal rows, Ordinal cols, Kokkos::View<const Offset*, Device> row_map_in,
        Kokkos::View<const Ordinal*, Device> entries_in)
      : row_map(row_map_in), entries(entries_in), num_rows(rows), num_cols(cols) {
    if (rows < 0 || cols < 0 || row_map.extent(0) != size_t(rows) + 1)
      throw InvalidArgument(message("a graph of ", rows, " rows needs a row map of ", rows,
                                    " + 1 offsets, but it has ", row_map.extent(0)));
  }

  Offset numEntries() const { return static_cast<Offset>(entries.extent(0)); } ///< of all rows
  /// Entries a row; 0 without rows.
  double meanRowLength() const { return num_rows > 0 ? double(numEntries()) / num_rows : 0.0; }
};

namespace detail {

/// Throws InvalidArgument unless there are as many rows as columns. `what` needs that, as "a
/// triangle".
inline void requireSquare(const char* what, Offset rows, Offset columns) {
  if (rows != columns)
    throw InvalidArgument(message(what, " needs a square matrix, but this one has ", rows,
                                  " rows and ", columns, " columns"));
}

/// Throws InvalidArgument unless an int can count the scalars of 64 blocks, as many as a kernel
/// takes at a time: 64 x 4096^2 = 2^30.
inline void requireBlockSize(int block_size) {
  constexpr int largest = 4096;
  if (block_size < 1 || block_size > largest)
    throw InvalidArgument(
        message("block size must lie between 1 and ", largest, ", but it is ", block_size));
}

/// Bytes a product reads from a matrix of that graph whose values have `value_bytes` each: values,
/// columns and row map.
template <class Device>
Offset productBytes(const Graph<Device>& graph, int block_size, std::size_t value_bytes) {
  const Offset of_block = Offset(block_size) * block_size * Offset(value_bytes);
  return graph.numEntries() * (of_block + Offset(sizeof(Ordinal))) +
         (Offset(graph.num_rows) + 1) * Offset(sizeof(Offset));
}

} // namespace detail

/// Block sparse row matrix: the pattern `graph` in units of dense square blocks, block e of the
/// pattern stored row-major and contiguous at values[e * block_size^2]. This is the layout of
/// Kokkos Kernels' BsrMatrix and of Tpetra::BlockCrsMatrix, so both are wrapped without copying
/// values.
template <class Scalar, class Device>
struct BsrMatrix {
  static_assert(detail::CompiledValues<Scalar, Device>::value, "");
  using value_type = Scalar;
  using device_type = Device;
  using execution_space = typename Device::execution_space;

  Graph<Device> graph;                  ///< of the blocks
  Kokkos::View<Scalar*, Device> values; ///< numEntries() * block_size^2 scalars
  int block_size = 1;                   ///< rows and columns of a block

  BsrMatrix() = default;
  /// Shares the arrays. \throws InvalidArgument if the block size is out of range (see
  /// requireBlockSize) or the number of values is another.
  BsrMatrix(Graph<Device> graph_in, Kokkos::View<Scalar*, Device> values_in, int block_size_in)
      : graph(graph_in), values(values_in), block_size(block_size_in) {
    detail::requireBlockSize(block_size);
    const Offset bs2 = Offset(block_size) * block_size, scalars = values.extent(0);
    if (scalars % bs2 != 0 || scalars / bs2 != graph.numEntries())
      throw InvalidArgument(message("a matrix of ", graph.numEntries(), " blocks of size ",
                                    block_size, " needs ", numScalars(), " values, but it has ",
                                    values.extent(0)));
  }

  Ordinal numRows() const { return graph.num_rows; }                           ///< block rows
  Ordinal numCols() const { return graph.num_cols; }                           ///< block columns
  Offset numEntries() const { return graph.numEntries(); }                     ///< blocks
  Offset numPointRows() const { return Offset(graph.num_rows) * block_size; }  ///< scalar rows
  Offset numPointCols() const { return Offset(graph.num_cols) * block_size; }  ///< scalar columns
  Offset numScalars() const { return numEntries() * block_size * block_size; } ///< stored values
  /// Bytes a product with this matrix reads: values, columns and row map.
  Offset bytes() const { return detail::productBytes(graph, block_size, sizeof(Scalar)); }
};

/// The same graph in the memory of another device; shares the arrays where the memory is the same.
template <class ToSpace, class Device>
Graph<DeviceOf<ToSpace>> copyTo(const Graph<Device>& graph) {
  using ToDevice = DeviceOf<ToSpace>;
  return {graph.num_rows, graph.num_cols, copyArray<ToDevice>(graph.row_map, "Ainvil::row_map"),
          copyArray<ToDevice>(graph.entries, "Ainvil::entries")};
}

/// The same matrix in the memory of another device; shares the arrays where the memory is the same.
template <class ToSpace, class Scalar, class Device>
BsrMatrix<Scalar, DeviceOf<ToSpace>> copyTo(const BsrMatrix<Scalar, Device>& a) {
  using ToDevice = DeviceOf<ToSpace>;
  return {copyTo<ToDevice>(a.graph), copyArray<ToDevice>(a.values, "Ainvil::values"), a.block_size};
}

} // namespace ainvil
