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

/// A halo of these rows, for which an exchange brings the unknowns of the map `of_others` from
/// where the map `own` has them; with `reverse` also the way back. Collective; waits. \throws
/// OutOfMemory on all ranks
template <class Scalar, class LO, class GO, class Node>
Halo<Scalar, LO, GO, Node> makeHalo(const typename Node::device_type::execution_space& exec,
                                    const HaloRows<Scalar, typename Node::device_type>& rows,
                                    const Teuchos::RCP<const Tpetra::Map<LO, GO, Node>>& own,
                                    const Teuchos::RCP<const Tpetra::Map<LO, GO, Node>>& of_others,
                                    bool reverse) {
  const auto import = makeImport(own, of_others);
  Halo<Scalar, LO, GO, Node> halo;
  onAllRanks(*own->getComm(), [&] {
    HaloExchange<Scalar, LO, GO, Node> exchange(import);
    if (reverse)
      exchange.allowReverse();
    halo = Halo<Scalar, LO, GO, Node>(exec, rows, exchange);
  });
  return halo;
}

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
  return makeHalo<Scalar, LO, GO, Node>(exec, halo, a.getDomainMap(), of_others, transposed);
}

} // namespace tpetra
} // namespace ainvil
