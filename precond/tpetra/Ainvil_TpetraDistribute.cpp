// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_TpetraDistribute.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraStructures.hpp"
#include "backend/Ainvil_Counted.hpp"

#include <climits>
#include <numeric>

namespace ainvil {
namespace tpetra {
namespace {

using Node = Map::node_type;
using Device = Node::device_type;
using Exec = Device::execution_space;
using Global = Map::global_ordinal_type;
using Graph = Tpetra::CrsGraph<>;
using Import = Tpetra::Import<>;

/// All indices of a map 0, 1, ..., on rank 0.
Teuchos::RCP<const Map> onFirstRank(const Map& map) {
  const Tpetra::global_size_t n = map.getGlobalNumElements();
  return Teuchos::rcp(new Map(n, map.getComm()->getRank() == 0 ? n : 0, 0, map.getComm()));
}

/// What rank 0 has, in Tpetra's memory and with its types; without rows elsewhere. They must be
/// gone when Tpetra, which counts who holds its arrays, comes to work with them on the host.
struct Pieces {
  Kokkos::View<size_t*, Device> row_map;
  Kokkos::View<Ordinal*, Device> entries;
  Kokkos::View<double*, Device> values;
};

Pieces piecesOf(const BsrMatrix<double, HostDevice>& a, const Map& rows) {
  if (rows.getComm()->getRank() != 0)
    return {Kokkos::View<size_t*, Device>("Ainvil::row_map", 1),
            Kokkos::View<Ordinal*, Device>("Ainvil::entries", 0),
            Kokkos::View<double*, Device>("Ainvil::values", 0)};
  const size_t n = a.numRows();
  const Kokkos::View<size_t*, HostDevice> row_map("Ainvil::row_map", n + 1);
  std::copy(a.graph.row_map.data(), a.graph.row_map.data() + n + 1, row_map.data());
  Pieces pieces{Kokkos::View<size_t*, Device>("Ainvil::row_map", n + 1),
                Kokkos::View<Ordinal*, Device>("Ainvil::entries", a.numEntries()),
                Kokkos::View<double*, Device>("Ainvil::values", a.numScalars())};
  Kokkos::deep_copy(pieces.row_map, row_map);
  Kokkos::deep_copy(pieces.entries, a.graph.entries);
  Kokkos::deep_copy(pieces.values, a.values);
  return pieces;
}

/// Entries of the rows that this rank will have.
std::vector<size_t> rowLengths(const BsrMatrix<double, HostDevice>& a, const Import& import) {
  Tpetra::Vector<Global> whole(import.getSourceMap()), spread(import.getTargetMap());
  {
    const auto row_map = a.graph.row_map;
    const auto lengths = whole.getLocalViewHost(Tpetra::Access::OverwriteAll);
    for (size_t i = 0; i < whole.getLocalLength(); ++i)
      lengths(i, 0) = static_cast<Global>(row_map(i + 1) - row_map(i));
  }
  spread.doImport(whole, import, Tpetra::INSERT);
  const auto lengths = spread.getLocalViewHost(Tpetra::Access::ReadOnly);
  return std::vector<size_t>(lengths.data(), lengths.data() + spread.getLocalLength());
}

/// Bytes of the message with the rows that a rank gets: entries, lengths and, at most, padding.
size_t bytesOfRows(const std::vector<size_t>& lengths, size_t bytes_per_entry) {
  const size_t entries = std::accumulate(lengths.begin(), lengths.end(), size_t(0));
  return entries * bytes_per_entry + 3 * sizeof(Global) * lengths.size();
}

Teuchos::RCP<const Tpetra::CrsMatrix<>> matrixOf(const BsrMatrix<double, HostDevice>& a,
                                                 const Teuchos::RCP<const Map>& rows) {
  using Matrix = Tpetra::CrsMatrix<>;
  Pieces pieces;
  onAllRanks(*rows->getComm(), [&] { pieces = piecesOf(a, *rows); });
  const Ordinal n = static_cast<Ordinal>(pieces.row_map.extent(0)) - 1;
  const Matrix::local_matrix_device_type local("Ainvil::matrix", n, n, pieces.entries.extent(0),
                                               pieces.values, pieces.row_map, pieces.entries);
  return Teuchos::rcp(new Matrix(local, rows, rows, rows, rows));
}

Teuchos::RCP<const Tpetra::BlockCrsMatrix<>> blockMatrixOf(const BsrMatrix<double, HostDevice>& a,
                                                           int block_size,
                                                           const Teuchos::RCP<const Map>& rows) {
  Pieces pieces;
  onAllRanks(*rows->getComm(), [&] { pieces = piecesOf(a, *rows); });
  const Graph graph(Graph::local_graph_device_type(pieces.entries, pieces.row_map), rows, rows,
                    rows, rows);
  pieces.entries = {};
  const auto matrix = Teuchos::rcp(new Tpetra::BlockCrsMatrix<>(graph, block_size));
  Kokkos::deep_copy(matrix->getValuesDeviceNonConst(), pieces.values);
  return matrix;
}

/// \throws Error on all ranks
void requireRows(const BsrMatrix<double, HostDevice>& a, const Map& rows) {
  onAllRanks(*rows.getComm(), [&] {
    const Tpetra::global_size_t n = rows.getGlobalNumElements();
    if (rows.getComm()->getRank() == 0 &&
        (Tpetra::global_size_t(a.numRows()) != n || Tpetra::global_size_t(a.numCols()) != n))
      throw InvalidArgument(message("the matrix has ", a.numRows(), " block rows and ", a.numCols(),
                                    " block columns, but the map has ", n, " indices"));
  });
}

} // namespace

void requireOneMessage(size_t bytes, const Comm& comm) {
  onAllRanks(comm, [&] {
    if (comm.getRank() != 0 && bytes > INT_MAX)
      throw InvalidArgument(message("rank ", comm.getRank(), " would get ", bytes >> 20,
                                    " MiB from rank 0, but a message holds 2047 MiB; use more "
                                    "ranks, or build the matrix where its rows are"));
  });
}

Teuchos::RCP<const Map> makeRowMap(const Teuchos::RCP<const Comm>& comm,
                                   const std::vector<int>& owners) {
  Ordinal n = static_cast<Ordinal>(owners.size());
  Teuchos::broadcast(*comm, 0, Teuchos::outArg(n));
  std::vector<int> all;
  onAllRanks(*comm, [&] { all = comm->getRank() == 0 ? owners : std::vector<int>(n); });
  Teuchos::broadcast(*comm, 0, n, all.data());
  std::vector<Global> mine;
  onAllRanks(*comm, [&] {
    for (Ordinal i = 0; i < n; ++i) {
      if (all[i] < 0 || all[i] >= comm->getSize())
        throw InvalidArgument(message(counted("row", i), " goes to rank ", all[i],
                                      ", but there are ", comm->getSize(), " ranks"));
      if (all[i] == comm->getRank())
        mine.push_back(i);
    }
  });
  return makeMap(mine, Map(0, 0, comm));
}

Teuchos::RCP<const Map> makePointMap(const Map& blocks, int block_size) {
  const int n = compat::numLocalElements(blocks);
  std::vector<Global> points;
  points.reserve(size_t(n) * block_size);
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < block_size; ++k)
      points.push_back(blocks.getGlobalElement(i) * block_size + k);
  return makeMap(points, blocks);
}

Teuchos::RCP<Tpetra::CrsMatrix<>> distribute(const BsrMatrix<double, HostDevice>& a,
                                             const Teuchos::RCP<const Map>& rows) {
  using Matrix = Tpetra::CrsMatrix<>;
  requireRows(a, *rows);
  int block_size = a.block_size;
  Teuchos::broadcast(*rows->getComm(), 0, Teuchos::outArg(block_size));
  BsrMatrix<double, HostDevice> points;
  onAllRanks(*rows->getComm(), [&] {
    if (rows->getComm()->getRank() == 0)
      points = toPoints(HostDevice::execution_space(), a);
  });
  const auto to = block_size == 1 ? rows : makePointMap(*rows, block_size);
  const auto whole = matrixOf(points, onFirstRank(*to));
  const Import import(whole->getRowMap(), to);
  const auto lengths = rowLengths(points, import);
  requireOneMessage(bytesOfRows(lengths, sizeof(Global) + sizeof(double)), *rows->getComm());
  const auto spread = Teuchos::rcp(new Matrix(to, Teuchos::arrayViewFromVector(lengths)));
  spread->doImport(*whole, import, Tpetra::INSERT);
  spread->fillComplete(to, to);
  return spread;
}

Teuchos::RCP<Tpetra::BlockCrsMatrix<>> distributeBlocks(const BsrMatrix<double, HostDevice>& a,
                                                        const Teuchos::RCP<const Map>& rows) {
  using Matrix = Tpetra::BlockCrsMatrix<>;
  requireRows(a, *rows);
  int block_size = a.block_size;
  Teuchos::broadcast(*rows->getComm(), 0, Teuchos::outArg(block_size));
  const auto whole = blockMatrixOf(a, block_size, onFirstRank(*rows));
  const Import import(whole->getRowMap(), rows);
  const auto lengths = rowLengths(a, import);
  requireOneMessage(bytesOfRows(lengths, sizeof(Global) + sizeof(double) * block_size * block_size),
                    *rows->getComm());
  Graph graph(rows, Teuchos::arrayViewFromVector(lengths));
  graph.doImport(whole->getCrsGraph(), import, Tpetra::INSERT);
  graph.fillComplete(rows, rows);
  const auto spread = Teuchos::rcp(new Matrix(graph, block_size));
  spread->doImport(*whole, import, Tpetra::INSERT);
  return spread;
}

Teuchos::RCP<Tpetra::Vector<>> distribute(const Kokkos::View<const double*, HostDevice>& x,
                                          const Teuchos::RCP<const Map>& map) {
  const auto from = onFirstRank(*map);
  Tpetra::Vector<> whole(from);
  onAllRanks(*map->getComm(), [&] {
    if (map->getComm()->getRank() != 0)
      return;
    if (x.extent(0) != map->getGlobalNumElements())
      throw InvalidArgument(message("the vector has ", x.extent(0), " values, but the map has ",
                                    map->getGlobalNumElements(), " indices"));
    const auto local =
        Kokkos::subview(whole.getLocalViewHost(Tpetra::Access::OverwriteAll), Kokkos::ALL(), 0);
    std::copy(x.data(), x.data() + x.extent(0), local.data());
  });
  const auto spread = Teuchos::rcp(new Tpetra::Vector<>(map));
  spread->doImport(whole, Import(from, map), Tpetra::INSERT);
  return spread;
}

Kokkos::View<double*, HostDevice> gather(const Tpetra::Vector<>& x) {
  const auto to = onFirstRank(*x.getMap());
  Tpetra::Vector<> whole(to);
  whole.doImport(x, Import(x.getMap(), to), Tpetra::INSERT);
  Kokkos::View<double*, HostDevice> result;
  onAllRanks(*x.getMap()->getComm(), [&] {
    result = Kokkos::View<double*, HostDevice>("Ainvil::gathered", whole.getLocalLength());
    const auto local = whole.getLocalViewHost(Tpetra::Access::ReadOnly);
    std::copy(local.data(), local.data() + result.extent(0), result.data());
  });
  return result;
}

} // namespace tpetra
} // namespace ainvil
