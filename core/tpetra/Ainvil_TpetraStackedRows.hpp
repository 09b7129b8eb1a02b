// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The rows of two matrices of a rank, one below the other, on the device.

#include "Ainvil_Convert.hpp"
#include "Ainvil_TpetraStructures.hpp"
#include "graph/Ainvil_SelectEntries.hpp"

namespace ainvil {
namespace tpetra {

/// The rows that a rank has of A and, below them, those it has of another matrix, and of their
/// entries those in the local columns 0, 1, ..., n - 1, where n are all these rows: both matrices
/// number the columns alike. So Ifpack2 has the rows that a rank shares with others.
template <class Scalar, class LO, class GO, class Node>
struct StackedRows {
  using crs_matrix_type = Tpetra::CrsMatrix<Scalar, LO, GO, Node>;

  const crs_matrix_type* upper = nullptr; ///< A
  const crs_matrix_type* lower = nullptr; ///< the other one; may be null
};

namespace detail {

template <class Device>
struct AppendOffsets {
  Kokkos::View<const Offset*, Device> from;
  Kokkos::View<Offset*, Device> to;
  Offset begin; ///< rows above
  Offset above; ///< their entries

  KOKKOS_FUNCTION void operator()(Offset row) const { to(begin + row) = above + from(row); }
};

/// The rows of `lower` below those of `upper`.
template <class Device>
Graph<Device> stacked(const typename Device::execution_space& exec, const Graph<Device>& upper,
                      const Graph<Device>& lower) {
  using Range = ainvil::detail::Range<typename Device::execution_space>;
  const Ordinal n = upper.num_rows + lower.num_rows;
  const Offset above = upper.numEntries();
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(n) + 1);
  const auto entries =
      allocate<Ordinal, Device>(exec, "Ainvil::entries", above + lower.numEntries());
  const auto append = [&](const Graph<Device>& part, Offset begin, Offset entries_above) {
    Kokkos::parallel_for("Ainvil::stacked", Range(exec, 0, part.row_map.extent(0)),
                         AppendOffsets<Device>{part.row_map, row_map, begin, entries_above});
    const std::pair<Offset, Offset> range(entries_above, entries_above + part.numEntries());
    Kokkos::deep_copy(exec, Kokkos::subview(entries, range), part.entries);
  };
  append(upper, 0, 0);
  append(lower, upper.num_rows, above); // overwrites the last offset with the same
  return {n, std::max(upper.num_cols, lower.num_cols), row_map, entries};
}

template <class Device>
struct HasColumn {
  Kokkos::View<const Ordinal*, Device> entries;
  Ordinal num_columns;

  KOKKOS_FUNCTION bool operator()(Ordinal, Offset e) const { return entries(e) < num_columns; }
};

/// The graph of the rows, and where its entries are: first in `upper`, then in `lower`. Waits.
template <class Scalar, class LO, class GO, class Node>
PermutedGraph<typename Node::device_type>
stackedGraph(const typename Node::device_type::execution_space& exec,
             const StackedRows<Scalar, LO, GO, Node>& rows) {
  using Device = typename Node::device_type;
  Graph<Device> all = localGraph(exec, *rows.upper->getCrsGraph());
  if (rows.lower != nullptr)
    all = stacked<Device>(exec, all, localGraph(exec, *rows.lower->getCrsGraph()));
  const PermutedGraph<Device> kept =
      ainvil::detail::selectWithSource(exec, all, HasColumn<Device>{all.entries, all.num_rows});
  return {Graph<Device>(all.num_rows, all.num_rows, kept.graph.row_map, kept.graph.entries),
          kept.source};
}

template <class Scalar, class Device>
struct GatherStacked {
  Kokkos::View<const Offset*, Device> source;
  Kokkos::View<const Scalar*, Device> upper, lower;
  Kokkos::View<Scalar*, Device> to;

  KOKKOS_FUNCTION void operator()(Offset i) const {
    const Offset from = source(i), num_upper = Offset(upper.extent(0));
    to(i) = from < 0 ? Scalar(0) : from < num_upper ? upper(from) : lower(from - num_upper);
  }
};

/// to(i) <- value source(i) of upper and, behind its values, of lower; 0 where source(i) < 0.
template <class Scalar, class Device>
void gatherStacked(const typename Device::execution_space& exec,
                   const Kokkos::View<const Offset*, Device>& source,
                   const Kokkos::View<const Scalar*, Device>& upper,
                   const Kokkos::View<const Scalar*, Device>& lower,
                   const Kokkos::View<Scalar*, Device>& to) {
  Kokkos::parallel_for(
      "Ainvil::gatherStacked",
      ainvil::detail::Range<typename Device::execution_space>(exec, 0, to.extent(0)),
      GatherStacked<Scalar, Device>{source, upper, lower, to});
}

} // namespace detail
} // namespace tpetra
} // namespace ainvil
