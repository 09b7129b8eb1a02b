// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A matrix or vector that one rank holds, spread over all ranks, and back.

#include "Ainvil_BsrMatrix.hpp"
#include "Ainvil_TpetraCompat.hpp"

#include <vector>

namespace ainvil {
namespace tpetra {

using Map = Tpetra::Map<>;       ///< with Tpetra's default types
using Comm = Teuchos::Comm<int>; ///< the ranks

/// Row i of as many as `owners` has on rank 0 goes to rank owners[i]; rows keep their order and get
/// their number as global index. `owners` of other ranks is not looked at. Collective, as all
/// functions here. \throws Error on all ranks if an owner is no rank
Teuchos::RCP<const Map> makeRowMap(const Teuchos::RCP<const Comm>& comm,
                                   const std::vector<int>& owners);

/// The map of the points of block rows, block_size for each.
Teuchos::RCP<const Map> makePointMap(const Map& blocks, int block_size);

/// MPI counts the bytes of a message in an int. `bytes` is what this rank gets from rank 0; that of
/// rank 0 itself does not count. \throws Error on all ranks if it does not fit
void requireOneMessage(size_t bytes, const Comm& comm);

/// The square matrix that rank 0 has (that of other ranks is not looked at) as a Tpetra matrix in
/// points, all entries of every block, rows as in `rows`, a map of block rows. Everything passes
/// through the memory of rank 0 twice. \throws Error on all ranks if what one of the others is to
/// get does not fit into one message of MPI, 2 GiB
Teuchos::RCP<Tpetra::CrsMatrix<>> distribute(const BsrMatrix<double, HostDevice>& a,
                                             const Teuchos::RCP<const Map>& rows);

/// The same in blocks.
Teuchos::RCP<Tpetra::BlockCrsMatrix<>> distributeBlocks(const BsrMatrix<double, HostDevice>& a,
                                                        const Teuchos::RCP<const Map>& rows);

/// The vector that rank 0 has, on the map.
Teuchos::RCP<Tpetra::Vector<>> distribute(const Kokkos::View<const double*, HostDevice>& x,
                                          const Teuchos::RCP<const Map>& map);

/// The whole vector on rank 0, in the order of global indices; nothing on other ranks.
Kokkos::View<double*, HostDevice> gather(const Tpetra::Vector<>& x);

} // namespace tpetra
} // namespace ainvil
