// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Rows of a matrix that other ranks have.

#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraStructures.hpp"
#include "backend/Ainvil_RowTeams.hpp"

#include <Tpetra_Distributor.hpp>
#include <Tpetra_Import.hpp>

#include <vector>

namespace ainvil {
namespace tpetra {
namespace detail {

/// out(offsets(k)), out(offsets(k) + 1), ... = of(e) for the entries e of row rows(k).
template <class RowMap, class OfEntry, class Device, class Out>
struct PackRowEntries {
  RowMap row_map;
  Kokkos::View<const Ordinal*, Device> rows;
  Kokkos::View<const Offset*, Device> offsets;
  OfEntry of;
  Out out;

  KOKKOS_FUNCTION void operator()(Offset k) const {
    const Offset begin = row_map(rows(k)), length = offsets(k + 1) - offsets(k);
    for (Offset i = 0; i < length; ++i)
      out(offsets(k) + i) = of(begin + i);
  }
};

/// The global number of the column of an entry.
template <class Entries, class LocalMap>
struct GlobalColumn {
  Entries entries;
  LocalMap columns;

  KOKKOS_FUNCTION auto operator()(Offset e) const { return columns.getGlobalElement(entries(e)); }
};

/// The value of an entry.
template <class Values>
struct ValueOfEntry {
  Values values;

  KOKKOS_FUNCTION auto operator()(Offset e) const { return values(e); }
};

} // namespace detail

/// Rows of a CrsMatrix that other ranks have, with all of their entries, in an order of its own.
/// Columns come once, values as often as they are fetched: one message from each rank that has some
/// of the rows. An Import of Tpetra has the plan. Kernels write the messages themselves, into
/// memory that the host sees.
template <class Scalar, class LO, class GO, class Node>
class ImportedRows {
public:
  using device_type = typename Node::device_type;
  using execution_space = typename device_type::execution_space;
  using crs_matrix_type = Tpetra::CrsMatrix<Scalar, LO, GO, Node>;

  /// The rows with these global numbers. Collective. Waits. \throws on all ranks
  ImportedRows(const execution_space& exec, const crs_matrix_type& a, const std::vector<GO>& wanted)
      : import_(makeImport(a.getRowMap(), makeMap(wanted, *a.getRowMap()))) {
    const Teuchos::Comm<int>& comm = *a.getComm();
    Tpetra::Distributor& distributor = import_->getDistributor();
    OnHost sent, received;
    onAllRanks(comm, [&] {
      for (const LO row : import_->getRemoteLIDs())
        globals_.push_back(wanted[row]);
      const auto rows = import_->getExportLIDs();
      rows_ = onDevice<device_type>(rows, label);
      sent = onHost(rows.size());
      received = onHost(globals_.size());
      for (Offset k = 0; k < rows.size(); ++k)
        sent(k) = static_cast<GO>(a.getNumEntriesInLocalRow(rows[k]));
    });
    distributor.doPostsAndWaits(sent, 1, received);
    onAllRanks(comm, [&] {
      const std::vector<Offset> sent_offsets = takeLengths(sent, lengths_sent_);
      offsets_ = takeLengths(received, lengths_);
      sent_offsets_ = onDevice<device_type>(Teuchos::arrayViewFromVector(sent_offsets), label);
      columns_sent_ = allocate<GO, Pinned>(exec, label, sent_offsets.back());
      columns_ = allocate<GO, Pinned>(exec, label, offsets_.back());
      values_sent_ = allocate<Scalar, Pinned>(exec, label, sent_offsets.back());
      values_received_ = allocate<Scalar, Pinned>(exec, label, offsets_.back());
      const auto graph = a.getCrsGraph()->getLocalGraphDevice();
      const auto columns = a.getColMap()->getLocalMap();
      pack(exec, graph.row_map,
           detail::GlobalColumn<std::decay_t<decltype(graph.entries)>,
                                std::decay_t<decltype(columns)>>{graph.entries, columns},
           columns_sent_);
    });
    post(columns_sent_, columns_);
    columns_sent_ = {};
  }

  const std::vector<GO>& globals() const { return globals_; }     ///< numbers of the rows
  const std::vector<Offset>& offsets() const { return offsets_; } ///< of their entries; one more
  /// The global numbers of the columns of their entries, which the host sees too.
  const auto& columns() const { return columns_; }
  void dropColumns() { columns_ = {}; } ///< they are needed no more

  /// to <- the values of the entries now. Collective. Waits for the messages; asynchronous on the
  /// device.
  void fetchValues(const execution_space& exec, const crs_matrix_type& a,
                   const Kokkos::View<Scalar*, device_type>& to) {
    {
      const auto local = a.getLocalMatrixDevice();
      pack(exec, local.graph.row_map,
           detail::ValueOfEntry<std::decay_t<decltype(local.values)>>{local.values}, values_sent_);
    }
    post(values_sent_, values_received_);
    Kokkos::deep_copy(exec, to, values_received_); // done before the next message is packed
  }

private:
  using Import = Tpetra::Import<LO, GO, Node>;
  using Pinned = ainvil::compat::PinnedDevice<execution_space>;
  using OnHost = Kokkos::View<GO*, HostDevice>;
  static constexpr const char* label = "Ainvil::tpetra::ImportedRows";

  static OnHost onHost(size_t n) {
    return allocate<GO, HostDevice>(HostDevice::execution_space(), label, n);
  }

  static std::vector<Offset> takeLengths(const OnHost& of_rows, std::vector<size_t>& lengths) {
    std::vector<Offset> offsets(1, 0);
    for (size_t k = 0; k < of_rows.extent(0); ++k) {
      lengths.push_back(static_cast<size_t>(of_rows(k)));
      offsets.push_back(offsets.back() + static_cast<Offset>(of_rows(k)));
    }
    return offsets;
  }

  template <class RowMap, class OfEntry, class Out>
  void pack(const execution_space& exec, const RowMap& row_map, const OfEntry& of, const Out& out) {
    Kokkos::parallel_for("Ainvil::tpetra::ImportedRows[pack]",
                         ainvil::detail::Range<execution_space>(exec, 0, rows_.extent(0)),
                         detail::PackRowEntries<RowMap, OfEntry, device_type, Out>{
                             row_map, rows_, sent_offsets_, of, out});
    ainvil::compat::fence(exec, label);
  }

  template <class Sent, class Received>
  void post(const Sent& sent, const Received& received) {
    import_->getDistributor().doPostsAndWaits(sent, Teuchos::arrayViewFromVector(lengths_sent_),
                                              received, Teuchos::arrayViewFromVector(lengths_));
  }

  Teuchos::RCP<const Import> import_;
  std::vector<GO> globals_;
  std::vector<size_t> lengths_sent_, lengths_; ///< of rows
  std::vector<Offset> offsets_;
  Kokkos::View<const Ordinal*, device_type> rows_; ///< own ones that are sent
  Kokkos::View<const Offset*, device_type> sent_offsets_;
  Kokkos::View<GO*, Pinned> columns_sent_, columns_;
  Kokkos::View<Scalar*, Pinned> values_sent_, values_received_;
};

} // namespace tpetra
} // namespace ainvil
