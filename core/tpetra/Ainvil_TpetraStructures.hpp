// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Maps and graphs between Tpetra and Ainvil.

#include "Ainvil_Convert.hpp"
#include "Ainvil_TpetraCompat.hpp"

#include <Tpetra_Distributor.hpp>
#include <Tpetra_Import.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace ainvil {
namespace tpetra {

/// The numbers in an array on the device. Waits. \throws OutOfMemory
template <class Device, class T>
Kokkos::View<const T*, Device> onDevice(const Teuchos::ArrayView<const T>& numbers,
                                        const std::string& label) {
  const auto to = allocate<T, Device>(typename Device::execution_space(), label, numbers.size());
  const auto host = hostMirror(to);
  std::copy(numbers.begin(), numbers.end(), host.data());
  Kokkos::deep_copy(to, host);
  return to;
}

/// The map that has these indices, in their order, on the calling rank. Collective.
template <class LO, class GO, class Node>
Teuchos::RCP<const Tpetra::Map<LO, GO, Node>> makeMap(const std::vector<GO>& indices,
                                                      const Tpetra::Map<LO, GO, Node>& like) {
  return Teuchos::rcp(
      new Tpetra::Map<LO, GO, Node>(Teuchos::OrdinalTraits<Tpetra::global_size_t>::invalid(),
                                    Teuchos::ArrayView<const GO>(indices.data(), indices.size()),
                                    like.getIndexBase(), like.getComm()));
}

/// The plan that brings what the `target` map has on the calling rank from the ranks that have it
/// in the `source` map. Its messages are sent without waiting for their receivers: by default
/// Tpetra sends one after the other, each when its receiver is there. Collective.
template <class LO, class GO, class Node>
Teuchos::RCP<const Tpetra::Import<LO, GO, Node>>
makeImport(const Teuchos::RCP<const Tpetra::Map<LO, GO, Node>>& source,
           const Teuchos::RCP<const Tpetra::Map<LO, GO, Node>>& target) {
  const auto import = Teuchos::rcp(new Tpetra::Import<LO, GO, Node>(source, target));
  const auto parameters = Teuchos::parameterList();
  parameters->set("Send type", std::string("Isend"));
  import->getDistributor().setParameterList(parameters);
  return import;
}

/// True for a CrsMatrix or BlockCrsMatrix, whose rows kernels may read where they are; of other
/// kinds of RowMatrix only the host gets copies.
template <class Scalar, class LO, class GO, class Node>
bool hasRowsOnDevice(const Tpetra::RowMatrix<Scalar, LO, GO, Node>& a) {
  return dynamic_cast<const Tpetra::CrsMatrix<Scalar, LO, GO, Node>*>(&a) != nullptr ||
         dynamic_cast<const Tpetra::BlockCrsMatrix<Scalar, LO, GO, Node>*>(&a) != nullptr;
}

/// True if a rank numbers its rows as its unknowns. Rows that filters of Ifpack2 make are.
template <class Scalar, class LO, class GO, class Node>
bool rowsAreUnknowns(const Tpetra::RowMatrix<Scalar, LO, GO, Node>& a) {
  if (dynamic_cast<const Tpetra::CrsMatrix<Scalar, LO, GO, Node>*>(&a) != nullptr)
    return a.getRowMap()->isSameAs(*a.getRangeMap());
  if (const auto* blocks = dynamic_cast<const Tpetra::BlockCrsMatrix<Scalar, LO, GO, Node>*>(&a))
    return a.getRowMap()->isSameAs(*blocks->getCrsGraph().getRangeMap());
  return true;
}

/// The graph of the rows that the calling rank has, in local columns. The columns are Tpetra's own
/// array, without a part in its ownership, because Tpetra lets nobody read an array on the host
/// while other views own it on the device. They are for reading only, and by kernels that have
/// ended before Tpetra's graph goes. The row map is shared, or converted.
template <class LO, class GO, class Node>
Graph<typename Node::device_type>
borrowedGraph(const typename Node::device_type::execution_space& exec,
              const Tpetra::CrsGraph<LO, GO, Node>& graph) {
  using Device = typename Node::device_type;
  const auto local = graph.getLocalGraphDevice();
  const auto row_map = ainvil::detail::toOffsets<Device>(exec, local.row_map);
  return {static_cast<Ordinal>(row_map.extent(0)) - 1, compat::numLocalElements(*graph.getColMap()),
          row_map,
          Kokkos::View<const Ordinal*, Device>(local.entries.data(), local.entries.extent(0))};
}

/// The graph with a copy of its columns.
template <class Device>
Graph<Device> withOwnColumns(const typename Device::execution_space& exec,
                             const Graph<Device>& graph) {
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", graph.numEntries());
  Kokkos::deep_copy(exec, entries, graph.entries);
  return {graph.num_rows, graph.num_cols, graph.row_map, entries};
}

/// A copy of borrowedGraph().
template <class LO, class GO, class Node>
Graph<typename Node::device_type>
localGraph(const typename Node::device_type::execution_space& exec,
           const Tpetra::CrsGraph<LO, GO, Node>& graph) {
  return withOwnColumns(exec, borrowedGraph(exec, graph));
}

} // namespace tpetra
} // namespace ainvil
