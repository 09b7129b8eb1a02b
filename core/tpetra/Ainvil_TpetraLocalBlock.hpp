// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The diagonal block of a distributed matrix that belongs to the calling rank.

#include "Ainvil_Convert.hpp"
#include "Ainvil_TpetraPlaces.hpp"
#include "Ainvil_TpetraStackedRows.hpp"
#include "Ainvil_TpetraStructures.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "graph/Ainvil_LeadingBlocks.hpp"
#include "graph/Ainvil_SelectEntries.hpp"

#include <algorithm>
#include <type_traits>
#include <vector>

namespace ainvil {
namespace tpetra {
namespace detail {

template <class LocalMap, class Device>
struct RowOfColumn {
  LocalMap rows, columns;
  Ordinal num_rows;
  Kokkos::View<Ordinal*, Device> place;

  KOKKOS_FUNCTION void operator()(Offset c) const {
    const auto global = columns.getGlobalElement(static_cast<Ordinal>(c));
    const Ordinal row = rows.getLocalElement(global);
    place(c) = row >= 0 && row < num_rows ? row : -1;
  }
};

/// place(c) <- local row with the global number of local column c, -1 if the rank has none.
template <class Map, class Device>
Kokkos::View<Ordinal*, Device> rowsOfColumns(const typename Device::execution_space& exec,
                                             const Map& rows, const Map& columns) {
  const auto local_rows = rows.getLocalMap();
  const int n = compat::numLocalElements(columns);
  const int num_rows = compat::numLocalElements(rows);
  const auto place = allocate<Ordinal, Device>(exec, "Ainvil::place", n);
  using LocalMap = std::decay_t<decltype(local_rows)>;
  Kokkos::parallel_for(
      "Ainvil::rowsOfColumns", ainvil::detail::Range<typename Device::execution_space>(exec, 0, n),
      RowOfColumn<LocalMap, Device>{local_rows, columns.getLocalMap(), num_rows, place});
  return place;
}

/// The entries of a graph whose columns have a place, in rows and columns numbered by these.
template <class Device>
PermutedGraph<Device> selectPlaced(const typename Device::execution_space& exec,
                                   const Graph<Device>& graph,
                                   const Kokkos::View<const Ordinal*, Device>& place) {
  const PermutedGraph<Device> kept =
      ainvil::detail::selectWithSource(exec, graph, HasPlace<Device>{graph.entries, place});
  return {Graph<Device>(graph.num_rows, graph.num_rows, kept.graph.row_map,
                        renumbered<Device>(exec, kept.graph.entries, place)),
          kept.source};
}

template <class Device>
struct CountMoved {
  Kokkos::View<const Ordinal*, Device> place;

  KOKKOS_FUNCTION void operator()(Offset c, Ordinal& moved) const {
    moved += place(c) != c ? 1 : 0;
  }
};

/// True if column c has place c, for all of as many columns as there are rows. Waits.
template <class Device>
bool isIdentity(const typename Device::execution_space& exec,
                const Kokkos::View<const Ordinal*, Device>& place, Ordinal num_rows) {
  Ordinal moved = 0;
  Kokkos::parallel_reduce(
      "Ainvil::isIdentity",
      ainvil::detail::Range<typename Device::execution_space>(exec, 0, place.extent(0)),
      CountMoved<Device>{place}, moved);
  ainvil::compat::fence(exec, "Ainvil::isIdentity");
  return moved == 0 && Ordinal(place.extent(0)) == num_rows;
}

} // namespace detail

/// The rows that a rank has of a fill-complete matrix, and of their entries those whose columns it
/// has too, in the numbering of the row map: what block-Jacobi over the ranks inverts. Values of a
/// CrsMatrix or BlockCrsMatrix are never copied where the block is all that the rank has; they are
/// gathered on the device where there are other columns, or blocks are made of points, and from
/// both matrices of StackedRows. That takes an index, 8 bytes, for each value gathered, but not if
/// it is of one matrix where own columns come first in the rows and points fill their blocks (see
/// LeadingBlocks). The rows of other kinds of RowMatrix are copied one by one through the host.
template <class Scalar, class LO, class GO, class Node>
class LocalBlock {
public:
  static_assert(std::is_same<LO, Ordinal>::value, "local indices must be int");

  using device_type = typename Node::device_type;
  using execution_space = typename device_type::execution_space;
  using row_matrix_type = Tpetra::RowMatrix<Scalar, LO, GO, Node>;
  using crs_matrix_type = Tpetra::CrsMatrix<Scalar, LO, GO, Node>;
  using block_matrix_type = Tpetra::BlockCrsMatrix<Scalar, LO, GO, Node>;
  using stacked_rows = StackedRows<Scalar, LO, GO, Node>; ///< own rows above those of overlap
  using Matrix = BsrMatrix<Scalar, device_type>;          ///< the local block
  using Values = Kokkos::View<Scalar*, device_type>;      ///< of matrices

  LocalBlock() = default;

  /// Symbolic part for the rows of the matrix, in blocks of the given size: those of a
  /// BlockCrsMatrix if it is 0, else single points. Copies the graph. Waits. \throws
  /// InvalidArgument if the block size does not divide the rows, or is not that of a
  /// BlockCrsMatrix.
  LocalBlock(const execution_space& exec, const row_matrix_type& a, int block_size = 0) {
    initialize(exec, a, block_size);
  }

  /// The same for all rows of two matrices, in blocks of points of the given size, points if it
  /// is 0.
  LocalBlock(const execution_space& exec, const stacked_rows& rows, int block_size = 0) {
    block_size_ = std::max(block_size, 1);
    num_values_ = compat::numLocalEntries(*rows.upper);
    if (rows.lower != nullptr)
      num_values_ += compat::numLocalEntries(*rows.lower);
    const PermutedGraph<device_type> all = detail::stackedGraph(exec, rows);
    graph_ = all.graph;
    if (rows.lower != nullptr || graph_.numEntries() < num_values_)
      take(exec, all);
    finish(exec);
  }

  /// The block with the values that the matrix has now, which must have the graph of the
  /// constructor's. No allocation; asynchronous but for other kinds of RowMatrix. The result must
  /// not outlive the next access to the matrix. \throws InvalidArgument for a matrix of
  /// another size.
  Matrix get(const execution_space& exec, const row_matrix_type& a) {
    const auto from = valuesOf(exec, a);
    requireNumValues(from.extent(0));
    const int within = in_points_ ? 1 : block_size_;
    if (leading_.exist())
      leading_.gather(exec, within * within, Kokkos::View<const Scalar*, device_type>(from),
                      values_);
    else if (gathered_)
      gatherBlocks<Scalar, device_type>(exec, Trans::No, source_, within, from, values_);
    else
      return Matrix(graph_, from, block_size_);
    return Matrix(graph_, values_, block_size_);
  }

  /// The same with the values that the last get() has taken, where these are copies.
  Matrix latest(const row_matrix_type& a) const {
    return Matrix(graph_, copiesValues() ? values_ : valuesOf({}, a), block_size_);
  }
  /// Rows of the block, in points.
  Offset numPointRows() const { return Offset(graph_.num_rows) * block_size_; }
  /// Whether get() copies values, to an array that stays as it is until the next one.
  bool copiesValues() const { return leading_.exist() || gathered_; }

  /// The same for rows of two matrices, which must be there still, or others of these graphs. No
  /// allocation; asynchronous.
  Matrix get(const execution_space& exec, const stacked_rows& rows) {
    const Values upper = withoutOwner(rows.upper->getLocalMatrixDevice().values);
    Values lower;
    if (rows.lower != nullptr)
      lower = withoutOwner(rows.lower->getLocalMatrixDevice().values);
    requireNumValues(upper.extent(0) + lower.extent(0));
    if (leading_.exist())
      throw InvalidArgument("initialize was called with one matrix: call it again with these rows");
    if (!gathered_)
      return Matrix(graph_, upper, block_size_);
    detail::gatherStacked<Scalar, device_type>(exec, source_, upper, lower, values_);
    return Matrix(graph_, values_, block_size_);
  }

  /// All values in the rows of the rank, in the order of their entries. What holds for get() holds
  /// here.
  Values valuesOf(const execution_space& exec, const row_matrix_type& a) const {
    if (const auto* crs = dynamic_cast<const crs_matrix_type*>(&a))
      return withoutOwner(crs->getLocalMatrixDevice().values);
    if (const auto* blocks = dynamic_cast<const block_matrix_type*>(&a))
      return withoutOwner(blocks->getValuesDevice());
    const Ordinal n = compat::numLocalElements(*a.getRowMap());
    Offset at = 0;
    for (Ordinal row = 0; row < n; ++row) {
      size_t length = a.getNumEntriesInLocalRow(row);
      if (length > row_columns_.extent(0))
        throw InvalidArgument("a row of the matrix is longer than when initialize was called: "
                              "call initialize again");
      a.getLocalRowCopy(row, row_columns_, row_values_, length);
      if (at + Offset(length) > num_values_)
        throw InvalidArgument("the matrix has more entries than when initialize was called: call "
                              "initialize again");
      for (size_t k = 0; k < length; ++k)
        host_values_(at++) = row_values_(k);
    }
    if (at < num_values_)
      throw InvalidArgument("the matrix has fewer entries than when initialize was called: call "
                            "initialize again");
    Kokkos::deep_copy(exec, copied_, host_values_);
    ainvil::compat::fence(exec, "Ainvil::LocalBlock"); // the host array is used again
    return copied_;
  }

private:
  /// The array, to be read only. While views that own it exist on the device, Tpetra lets nobody
  /// read the values of the matrix on the host.
  template <class Array>
  static Values withoutOwner(const Array& values) {
    return Values(const_cast<Scalar*>(values.data()), values.extent(0));
  }

  void initialize(const execution_space& exec, const row_matrix_type& a, int block_size) {
    const auto* blocks = dynamic_cast<const block_matrix_type*>(&a);
    if (blocks != nullptr && block_size > 0 && block_size != blocks->getBlockSize())
      throw InvalidArgument(message("the block size is ", block_size, ", but the matrix has blocks",
                                    " of size ", blocks->getBlockSize(), ": leave it out"));
    block_size_ = blocks != nullptr ? blocks->getBlockSize() : std::max(block_size, 1);
    in_points_ = blocks == nullptr;
    const Graph<device_type> graph = graphOf(exec, a);
    num_values_ = graph.numEntries() * (in_points_ ? 1 : block_size_ * block_size_);

    const Kokkos::View<const Ordinal*, device_type> place =
        detail::rowsOfColumns<Tpetra::Map<LO, GO, Node>, device_type>(exec, *a.getRowMap(),
                                                                      *a.getColMap());
    const bool all = detail::isIdentity<device_type>(exec, place, graph.num_rows);
    const int in_block = in_points_ ? block_size_ : 1; // entries in a row of a block
    if (all && in_block == 1) {
      const bool borrowed = copied_.data() == nullptr; // see graphOf()
      graph_ = borrowed ? withOwnColumns(exec, graph) : graph;
      ainvil::compat::fence(exec, "Ainvil::LocalBlock");
      return;
    }
    ainvil::detail::requireBlockSize(block_size_);
    leading_ = {exec, graph, place, in_block};
    if (leading_.exist()) {
      graph_ = leading_.graph();
      values_ = allocate<Scalar, device_type>(
          exec, "Ainvil::values", graph_.numEntries() * size_t(block_size_) * block_size_);
      return;
    }
    graph_ = graph;
    if (!all)
      take(exec, detail::selectPlaced<device_type>(exec, graph, place));
    finish(exec);
    ainvil::compat::fence(exec, "Ainvil::LocalBlock"); // kernels have read Tpetra's columns
  }

  /// Blocks of points, and the array for what is gathered by indices.
  void finish(const execution_space& exec) {
    if (in_points_ && block_size_ > 1)
      take(exec, toBlocks(exec, graph_, block_size_));
    if (gathered_)
      values_ = allocate<Scalar, device_type>(
          exec, "Ainvil::values",
          source_.extent(0) * (in_points_ ? 1 : size_t(block_size_) * block_size_));
  }

  void requireNumValues(Offset number) const {
    if (number != num_values_)
      throw InvalidArgument(message("the matrix has ", number, " local values, but ", num_values_,
                                    " when initialize was called: call initialize again"));
  }

  /// graph_ <- one that takes its values from where graph_ does.
  void take(const execution_space& exec, const PermutedGraph<device_type>& from) {
    graph_ = from.graph;
    source_ = gathered_ ? composed<device_type>(exec, from.source, source_) : from.source;
    gathered_ = true;
  }

  /// The graph of all local entries in local columns: a CrsMatrix's or BlockCrsMatrix's columns
  /// stand in its own array.
  Graph<device_type> graphOf(const execution_space& exec, const row_matrix_type& a) {
    if (const auto* crs = dynamic_cast<const crs_matrix_type*>(&a))
      return borrowedGraph(exec, *crs->getCrsGraph());
    if (const auto* blocks = dynamic_cast<const block_matrix_type*>(&a))
      return borrowedGraph(exec, blocks->getCrsGraph());
    const Ordinal n = compat::numLocalElements(*a.getRowMap());
    size_t longest = 0;
    for (Ordinal row = 0; row < n; ++row)
      longest = std::max<size_t>(longest, a.getNumEntriesInLocalRow(row));
    row_columns_ = RowColumns("Ainvil::columns", longest);
    row_values_ = RowValues("Ainvil::values", longest);
    const Kokkos::View<Offset*, HostDevice> row_map("Ainvil::row_map", size_t(n) + 1);
    std::vector<Ordinal> columns;
    for (Ordinal row = 0; row < n; ++row) {
      size_t length = 0;
      a.getLocalRowCopy(row, row_columns_, row_values_, length);
      columns.insert(columns.end(), row_columns_.data(), row_columns_.data() + length);
      row_map(row + 1) = Offset(columns.size());
    }
    copied_ = allocate<Scalar, device_type>(exec, "Ainvil::values", columns.size());
    host_values_ = Kokkos::create_mirror_view(copied_);
    const Kokkos::View<Ordinal*, HostDevice> entries("Ainvil::entries", columns.size());
    std::copy(columns.begin(), columns.end(), entries.data());
    return copyTo<device_type>(
        Graph<HostDevice>(n, compat::numLocalElements(*a.getColMap()), row_map, entries));
  }

  using RowColumns = typename row_matrix_type::nonconst_local_inds_host_view_type;
  using RowValues = typename row_matrix_type::nonconst_values_host_view_type;

  Graph<device_type> graph_;
  int block_size_ = 1;
  bool in_points_ = true;
  Offset num_values_ = 0;
  ainvil::detail::LeadingBlocks<device_type> leading_; ///< if they exist, the block is these
  bool gathered_ = false; ///< by source_; else the values are the matrix's own
  Kokkos::View<const Offset*, device_type> source_;
  Values values_;
  // Of other kinds of RowMatrix: one row, and all values.
  mutable RowColumns row_columns_;
  mutable RowValues row_values_;
  typename Values::HostMirror host_values_;
  Values copied_;
};

} // namespace tpetra
} // namespace ainvil
