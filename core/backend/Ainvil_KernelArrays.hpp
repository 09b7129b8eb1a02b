// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Arrays as kernels hold them: pointers that read like views. A launch copies its kernel several
/// times; where it holds views, each copy compiles to code that counts their references, more than
/// most kernels have themselves.

#include "Ainvil_Types.hpp"

namespace ainvil {
namespace detail {

/// A view of rank 1 in a kernel. It does not keep the array alive.
template <class T>
class KernelArray {
public:
  KernelArray() = default;
  /// Any view whose pointer converts; on hosts also a std::vector.
  template <class View>
  KernelArray(const View& view) : data_(view.data()) {}

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(Offset i) const { return data_[i]; }
  KOKKOS_FORCEINLINE_FUNCTION T* data() const { return data_; }

private:
  T* data_ = nullptr;
};

/// A multivector in a kernel, likewise.
template <class T>
class KernelColumns {
public:
  KernelColumns() = default;
  /// Any view of this layout whose pointer converts.
  template <class View>
  KernelColumns(const View& view)
      : data_(view.data()), stride_(view.stride(1)), columns_(view.extent(1)) {}

  KOKKOS_FORCEINLINE_FUNCTION T& operator()(Offset row, Offset column) const {
    return data_[row + column * stride_];
  }
  KOKKOS_FORCEINLINE_FUNCTION T* data() const { return data_; }
  KOKKOS_FORCEINLINE_FUNCTION Offset stride() const { return stride_; } ///< between columns
  KOKKOS_FORCEINLINE_FUNCTION Offset numColumns() const { return columns_; }

private:
  T* data_ = nullptr;
  Offset stride_ = 0, columns_ = 0;
};

/// A graph in a kernel, likewise.
struct KernelGraph {
  KernelArray<const Offset> row_map;
  KernelArray<const Ordinal> entries;
  Ordinal num_rows = 0;

  KernelGraph() = default;
  /// Of a Graph.
  template <class Graph>
  KernelGraph(const Graph& graph)
      : row_map(graph.row_map), entries(graph.entries), num_rows(graph.num_rows) {}
};

/// A block matrix in a kernel, likewise.
template <class Scalar>
struct KernelMatrix {
  KernelGraph graph;
  KernelArray<Scalar> values;
  int block_size = 1;

  KernelMatrix() = default;
  /// Of a BsrMatrix.
  template <class Matrix>
  KernelMatrix(const Matrix& a) : graph(a.graph), values(a.values), block_size(a.block_size) {}
};

} // namespace detail
} // namespace ainvil
