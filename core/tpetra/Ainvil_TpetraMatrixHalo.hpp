// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The halo of a matrix of Tpetra.

#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraHalo.hpp"
#include "Ainvil_TpetraLocalBlock.hpp"

#include <Tpetra_BlockCrsMatrix.hpp>
#include <Tpetra_BlockMultiVector.hpp>
#include <Tpetra_CrsMatrix.hpp>

#include <vector>

namespace ainvil {
namespace tpetra {

/// The entries of a CrsMatrix or BlockCrsMatrix in columns of other ranks, without their values
/// (Halo::update()), and the plan that brings the unknowns of these. With `transposed` for products
/// with H_r^T, too. Collective; waits. \throws InvalidArgument and OutOfMemory on all ranks
template <class Scalar, class LO, class GO, class Node>
Halo<Scalar, LO, GO, Node> haloOf(const typename Node::device_type::execution_space& exec,
                                  const Tpetra::RowMatrix<Scalar, LO, GO, Node>& a,
                                  bool transposed = false) {
  using Device = typename Node::device_type;
  using Map = Tpetra::Map<LO, GO, Node>;
  using Crs = Tpetra::CrsMatrix<Scalar, LO, GO, Node>;
  using Blocks = Tpetra::BlockCrsMatrix<Scalar, LO, GO, Node>;
  using Halo = tpetra::Halo<Scalar, LO, GO, Node>;
  const auto* blocks = dynamic_cast<const Blocks*>(&a);
  const int block_size = blocks != nullptr ? blocks->getBlockSize() : 1;
  const Teuchos::Comm<int>& comm = *a.getComm();
  const Map &rows = *a.getRowMap(), &columns = *a.getColMap();
  typename Halo::Rows halo;
  std::vector<GO> unknowns;
  onAllRanks(comm, [&] {
    const auto& graph =
        blocks != nullptr ? blocks->getCrsGraph() : *dynamic_cast<const Crs&>(a).getCrsGraph();
    halo = {exec,
            {borrowedGraph(exec, graph), {}},
            detail::rowsOfColumns<Map, Device>(exec, rows, columns),
            block_size};
    if (transposed)
      halo.keepTransposed(exec);
    const auto numbers = copyArray<HostDevice>(halo.columns(), "Ainvil::columns");
    for (size_t c = 0; c < numbers.extent(0); ++c)
      unknowns.push_back(columns.getGlobalElement(numbers(c)));
  });
  if (!anyOnRanks(comm, !unknowns.empty()))
    return {};
  Teuchos::RCP<const Map> of_others = makeMap(unknowns, rows);
  if (block_size > 1)
    of_others = Teuchos::rcp(new Map(
        Tpetra::BlockMultiVector<Scalar, LO, GO, Node>::makePointMap(*of_others, block_size)));
  const auto import = makeImport(a.getDomainMap(), of_others);
  Halo made;
  onAllRanks(comm, [&] {
    typename Halo::Exchange exchange(import);
    if (transposed)
      exchange.allowReverse();
    made = Halo(exec, halo, exchange);
  });
  return made;
}

} // namespace tpetra
} // namespace ainvil
