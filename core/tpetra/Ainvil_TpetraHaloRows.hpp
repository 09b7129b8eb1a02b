// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The entries of a rank's rows in columns of other ranks.

#include "Ainvil_LinearOperator.hpp"
#include "Ainvil_TpetraPlaces.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "graph/Ainvil_NumberMarked.hpp"
#include "graph/Ainvil_SelectEntries.hpp"

namespace ainvil {
namespace tpetra {
namespace detail {

/// columns(c) = 1 for the column c of each entry.
template <class Device>
struct MarkColumns {
  Kokkos::View<const Ordinal*, Device> entries;
  Kokkos::View<Ordinal*, Device> columns;

  KOKKOS_FUNCTION void operator()(Offset e) const {
    columns(entries(e)) = 1; // whoever writes it, writes the same
  }
};

/// rows(i) = 1 for each row that is not empty, 0 for the others.
template <class Device>
struct MarkRows {
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> rows;

  KOKKOS_FUNCTION void operator()(Offset i) const { rows(i) = row_map(i + 1) > row_map(i) ? 1 : 0; }
};

/// to(k) = from(rows(k)), and behind the last row the number of entries.
template <class Device>
struct KeepOffsets {
  Kokkos::View<const Offset*, Device> from;
  Kokkos::View<const Ordinal*, Device> rows;
  Kokkos::View<Offset*, Device> to;

  KOKKOS_FUNCTION void operator()(Offset k) const {
    to(k) = k < Offset(rows.extent(0)) ? from(rows(k)) : from(from.extent(0) - 1);
  }
};

/// y_i += alpha p_k for the points i of block row rows(k), in all columns.
template <class Scalar, class Device>
struct AddRowsKernel {
  Kokkos::View<const Ordinal*, Device> rows;
  MultiVectorArg<const Scalar, Device> p;
  MultiVectorArg<Scalar, Device> y;
  Scalar alpha;
  int block_size;

  KOKKOS_FUNCTION void operator()(const Offset k) const {
    const Offset row = k / block_size, in_block = k % block_size;
    const Offset i = Offset(rows(row)) * block_size + in_block;
    for (Offset column = 0; column < Offset(p.extent(1)); ++column)
      y(i, column) += alpha * p(k, column);
  }
};

} // namespace detail

/// H_r, the entries of a rank's rows in columns of other ranks: its rows that are not empty, its
/// columns those that occur, in the order that they have in the graph. Values are copies.
template <class Scalar, class Device>
class HaloRows {
public:
  using execution_space = typename Device::execution_space; ///< of the kernels
  using VectorIn = MultiVectorArg<const Scalar, Device>;    ///< read
  using VectorOut = MultiVectorArg<Scalar, Device>;         ///< written

  HaloRows() = default;
  /// Of the entries of `from.graph`, blocks of a size, whose columns c have place(c) < 0.
  /// `from.source` tells where the values of all its entries are, if not in their order. Waits.
  HaloRows(const execution_space& exec, const PermutedGraph<Device>& from,
           const Kokkos::View<const Ordinal*, Device>& place, int block_size)
      : num_local_rows_(from.graph.num_rows) {
    const PermutedGraph<Device> kept = ainvil::detail::selectWithSource(
        exec, from.graph, detail::HasNoPlace<Device>{{from.graph.entries, place}});
    source_ = from.source.data() == nullptr ? kept.source
                                            : composed<Device>(exec, kept.source, from.source);
    const ainvil::detail::Marked<Device> columns = columnsOf(exec, kept.graph);
    columns_ = columns.members;
    rows_ = rowsOf(exec, kept.graph);
    const auto row_map =
        allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(rows_.extent(0)) + 1);
    Kokkos::parallel_for("Ainvil::HaloRows[row_map]", Range(exec, 0, row_map.extent(0)),
                         detail::KeepOffsets<Device>{kept.graph.row_map, rows_, row_map});
    const Graph<Device> halo(static_cast<Ordinal>(rows_.extent(0)),
                             static_cast<Ordinal>(columns_.extent(0)), row_map,
                             detail::renumbered<Device>(exec, kept.graph.entries, columns.before));
    values_ = allocate<Scalar, Device>(exec, "Ainvil::halo_values",
                                       source_.extent(0) * size_t(block_size) * block_size);
    matrix_ = Operator(exec, BsrMatrix<Scalar, Device>(halo, values_, block_size));
  }

  /// The numbers that its columns have in the graph.
  const Kokkos::View<const Ordinal*, Device>& columns() const { return columns_; }
  Offset numPointRows() const { return matrix_.numPointRows(); } ///< not empty ones
  Offset numPointCols() const { return matrix_.numPointCols(); } ///< points of columns()

  /// From now on there are products with H_r^T. Waits.
  void keepTransposed(const execution_space& exec) {
    const PermutedGraph<Device> transposed = transpose(exec, matrix_.graph());
    transposed_source_ = transposed.source;
    const Graph<Device> graph(transposed.graph.num_rows, num_local_rows_, transposed.graph.row_map,
                              detail::renumbered<Device>(exec, transposed.graph.entries, rows_));
    transposed_values_ =
        allocate<Scalar, Device>(exec, "Ainvil::halo_transposed", values_.extent(0));
    transposed_ =
        Operator(exec, BsrMatrix<Scalar, Device>(graph, transposed_values_, matrix_.blockSize()));
  }

  /// Takes its values from the array that `source` is of. Asynchronous; no allocation.
  void update(const execution_space& exec, const Kokkos::View<const Scalar*, Device>& all) {
    gatherBlocks<Scalar, Device>(exec, Trans::No, source_, matrix_.blockSize(), all, values_);
    if (transposed_source_.extent(0) > 0)
      gatherBlocks<Scalar, Device>(exec, Trans::Yes, transposed_source_, matrix_.blockSize(),
                                   values_, transposed_values_);
  }

  /// y += alpha H_r h for the rank's rows y; `products` is workspace of numPointRows().
  /// Asynchronous.
  void add(const execution_space& exec, Scalar alpha, VectorIn h, VectorOut products,
           VectorOut y) const {
    if (rows_.extent(0) == 0)
      return;
    matrix_.multiply(exec, Trans::No, Scalar(1), h, Scalar(0), products);
    Kokkos::parallel_for(
        "Ainvil::HaloRows[add]", Range(exec, 0, products.extent(0)),
        detail::AddRowsKernel<Scalar, Device>{rows_, products, y, alpha, matrix_.blockSize()});
  }

  /// h = H_r^T x for the rank's rows x, after keepTransposed(). Asynchronous.
  void multiplyTransposed(const execution_space& exec, VectorIn x, VectorOut h) const {
    if (columns_.extent(0) > 0)
      transposed_.multiply(exec, Trans::No, Scalar(1), x, Scalar(0), h);
  }

  Offset numScalars() const { return matrix_.numScalars(); } ///< stored values of H_r
  /// Bytes that a product reads.
  Offset bytes(Trans trans) const {
    return trans == Trans::Yes ? transposed_.bytes() : matrix_.bytes();
  }

private:
  using Operator = SparseOperator<Scalar, Device>;
  using Range = ainvil::detail::Range<execution_space>;

  static ainvil::detail::Marked<Device> columnsOf(const execution_space& exec,
                                                  const Graph<Device>& graph) {
    const auto marks =
        allocateZeros<Ordinal, Device>(exec, "Ainvil::columns", size_t(graph.num_cols) + 1);
    Kokkos::parallel_for("Ainvil::HaloRows[columns]", Range(exec, 0, graph.numEntries()),
                         detail::MarkColumns<Device>{graph.entries, marks});
    return ainvil::detail::numberMarked<Device>(exec, marks);
  }

  static Kokkos::View<const Ordinal*, Device> rowsOf(const execution_space& exec,
                                                     const Graph<Device>& graph) {
    const auto marks =
        allocateZeros<Ordinal, Device>(exec, "Ainvil::rows", size_t(graph.num_rows) + 1);
    Kokkos::parallel_for("Ainvil::HaloRows[rows]", Range(exec, 0, graph.num_rows),
                         detail::MarkRows<Device>{graph.row_map, marks});
    return ainvil::detail::numberMarked<Device>(exec, marks).members;
  }

  Ordinal num_local_rows_ = 0;
  Kokkos::View<const Offset*, Device> source_;            ///< of its entries, see update()
  Kokkos::View<const Ordinal*, Device> columns_, rows_;   ///< their numbers in the graph
  Kokkos::View<Scalar*, Device> values_;                  ///< of H_r
  Operator matrix_;                                       ///< H_r
  Kokkos::View<const Offset*, Device> transposed_source_; ///< of the entries of H_r^T in H_r
  Kokkos::View<Scalar*, Device> transposed_values_;       ///< of H_r^T
  Operator transposed_;                                   ///< H_r^T, columns: all rows
};

} // namespace tpetra
} // namespace ainvil
