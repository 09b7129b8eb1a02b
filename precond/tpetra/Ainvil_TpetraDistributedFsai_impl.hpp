// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraDistributedFsai.hpp.

#include "Ainvil_Factory.hpp"
#include "Ainvil_TpetraDistributedFsai.hpp"
#include "Ainvil_TpetraPreconditioner_impl.hpp"

#include <Tpetra_RowMatrixTransposer.hpp>

#include <vector>

namespace ainvil {
namespace tpetra {
namespace detail {

template <class Device>
struct MarkOwn {
  Kokkos::View<const Ordinal*, Device> own;
  Kokkos::View<char*, Device> wanted;

  KOKKOS_FUNCTION void operator()(Offset i) const { wanted(own(i)) = 1; }
};

/// wanted(own(i)) <- 1 for all i, 0 elsewhere.
template <class Device>
Kokkos::View<const char*, Device> markOwn(const typename Device::execution_space& exec,
                                          const Kokkos::View<const Ordinal*, Device>& own,
                                          Ordinal n) {
  const auto wanted = allocateZeros<char, Device>(exec, "Ainvil::wanted", n);
  Kokkos::parallel_for(
      "Ainvil::markOwn",
      ainvil::detail::Range<typename Device::execution_space>(exec, 0, own.extent(0)),
      MarkOwn<Device>{own, wanted});
  return wanted;
}

/// Rows own(0), own(1), ... of a matrix, and its columns that they use, renumbered in their order.
template <class Scalar, class Device>
struct OwnRows {
  Kokkos::View<size_t*, Device> row_map;
  Kokkos::View<Ordinal*, Device> entries;
  Kokkos::View<Scalar*, Device> values;
  Kokkos::View<Ordinal*, Device> columns; ///< of the matrix
};

/// The kernels of takeOwnRows: lengths(i) of row own(i), and used(c) = 1 for the columns of all.
template <class Device>
struct CountOwnRows {
  Graph<Device> graph;
  Kokkos::View<const Ordinal*, Device> own;
  Kokkos::View<Offset*, Device> lengths, used;

  KOKKOS_FUNCTION void operator()(Offset i) const {
    const Offset begin = graph.row_map(own(i)), end = graph.row_map(own(i) + 1);
    lengths(i) = end - begin;
    for (Offset e = begin; e < end; ++e)
      used(graph.entries(e)) = 1; // whoever writes it, writes the same
  }
};

/// columns(place(c)) = c for the used columns c, whose number is place(c) among them.
template <class Device>
struct ListUsedColumns {
  Kokkos::View<const Offset*, Device> place;
  Kokkos::View<Ordinal*, Device> columns;

  KOKKOS_FUNCTION void operator()(Offset c) const {
    if (place(c + 1) > place(c))
      columns(place(c)) = static_cast<Ordinal>(c);
  }
};

template <class Scalar, class Device>
struct FillOwnRows {
  BsrMatrix<Scalar, Device> a;
  Kokkos::View<const Ordinal*, Device> own;
  Kokkos::View<const Offset*, Device> offsets, place;
  OwnRows<Scalar, Device> rows;

  KOKKOS_FUNCTION void operator()(Offset i) const {
    rows.row_map(i) = static_cast<size_t>(offsets(i));
    if (i == Offset(own.extent(0)))
      return;
    const Offset begin = a.graph.row_map(own(i));
    for (Offset to = offsets(i); to < offsets(i + 1); ++to) {
      const Offset e = begin + to - offsets(i);
      rows.entries(to) = static_cast<Ordinal>(place(a.graph.entries(e)));
      rows.values(to) = a.values(e);
    }
  }
};

template <class Scalar, class Device>
OwnRows<Scalar, Device> takeOwnRows(const typename Device::execution_space& exec,
                                    const BsrMatrix<Scalar, Device>& a,
                                    const Kokkos::View<const Ordinal*, Device>& own) {
  using Range = ainvil::detail::Range<typename Device::execution_space>;
  const Offset n = own.extent(0);
  const auto offsets = allocate<Offset, Device>(exec, "Ainvil::offsets", n + 1);
  const auto place = allocateZeros<Offset, Device>(exec, "Ainvil::place", a.graph.num_cols + 1);
  Kokkos::parallel_for("Ainvil::ownRows[count]", Range(exec, 0, n),
                       CountOwnRows<Device>{a.graph, own, offsets, place});
  const Offset total = ainvil::detail::countsToOffsets(exec, offsets);
  const Offset used = ainvil::detail::countsToOffsets(exec, place);
  const OwnRows<Scalar, Device> rows = {allocate<size_t, Device>(exec, "Ainvil::row_map", n + 1),
                                        allocate<Ordinal, Device>(exec, "Ainvil::entries", total),
                                        allocate<Scalar, Device>(exec, "Ainvil::values", total),
                                        allocate<Ordinal, Device>(exec, "Ainvil::columns", used)};
  Kokkos::parallel_for("Ainvil::ownRows[columns]", Range(exec, 0, a.graph.num_cols),
                       ListUsedColumns<Device>{place, rows.columns});
  Kokkos::parallel_for("Ainvil::ownRows[fill]", Range(exec, 0, n + 1),
                       FillOwnRows<Scalar, Device>{a, own, offsets, place, rows});
  return rows;
}

} // namespace detail

template <class MatrixType>
const typename DistributedFsai<MatrixType>::crs_matrix_type&
DistributedFsai<MatrixType>::crsMatrix() const {
  const auto* crs = dynamic_cast<const crs_matrix_type*>(&this->matrix());
  TEUCHOS_TEST_FOR_EXCEPTION(crs == nullptr, InvalidArgument,
                             "ainvil fsai: the matrix is no Tpetra::CrsMatrix, whose rows could be "
                             "sent from rank to rank: use local-fsai.");
  return *crs;
}

template <class MatrixType>
void DistributedFsai<MatrixType>::doInitialize(const execution_space& exec) {
  local_.reset();
  g_ = gt_ = Teuchos::null;
  const crs_matrix_type& a = crsMatrix();
  TEUCHOS_TEST_FOR_EXCEPTION(this->blockSize() > 1, InvalidArgument,
                             "ainvil fsai: \"block: size\" is "
                                 << this->blockSize()
                                 << ", but over the ranks there are no blocks: use local-fsai.");
  auto parameters = fsaiParameters<scalar_type, device_type>(this->specification());
  TEUCHOS_TEST_FOR_EXCEPTION(parameters.storage != Storage::Native, InvalidArgument,
                             "ainvil fsai: \"storage: precision\" must be that of the matrix over "
                             "the ranks: leave it out, or use local-fsai.");
  this->timePhase(exec, "import_rows", [&] {
    const bool grows = parameters.adaptive.steps > 0;
    rows_ = {exec, a,
             grows ? parameters.adaptive.power + parameters.adaptive.steps : parameters.power};
  });
  onAllRanks(*a.getComm(), [&] {
    parameters.wanted = detail::markOwn<device_type>(exec, rows_.own(), rows_.count());
    local_ = std::make_unique<Fsai<scalar_type, device_type>>(parameters);
    local_->initialize(exec, rows_.get(exec, a));
    num_entries_ = compat::numLocalEntries(a);
    this->takeReport(local_->report());
  });
}

template <class MatrixType>
void DistributedFsai<MatrixType>::doCompute(const execution_space& exec) {
  const Teuchos::Comm<int>& comm = *this->matrix().getComm();
  onAllRanks(comm, [&] {
    if (compat::numLocalEntries(crsMatrix()) != num_entries_)
      throw InvalidArgument(message("the matrix has ", compat::numLocalEntries(crsMatrix()),
                                    " local entries, but ", num_entries_,
                                    " when initialize was called: call initialize again"));
  });
  this->timePhase(exec, "import_values", [&] { rows_.importValues(crsMatrix()); });
  onAllRanks(comm, [&] { local_->compute(exec, rows_.get(exec, crsMatrix())); });
  g_ = gt_ = Teuchos::null;
  this->timePhase(exec, "assemble", [&] {
    assemble(exec);
    onAllRanks(comm, [&] {
      gt_ = Tpetra::RowMatrixTransposer<scalar_type, local_ordinal_type, global_ordinal_type,
                                        node_type>(g_)
                .createTranspose();
    });
  });
  this->takeReport(local_->report());
}

/// G from the rows that every rank has of it.
template <class MatrixType>
void DistributedFsai<MatrixType>::assemble(const execution_space& exec) {
  using LocalMatrix = typename crs_matrix_type::local_matrix_device_type;
  const crs_matrix_type& a = crsMatrix();
  const Teuchos::Comm<int>& comm = *a.getComm();
  detail::OwnRows<scalar_type, device_type> own;
  std::vector<global_ordinal_type> indices;
  onAllRanks(comm, [&] {
    own =
        detail::takeOwnRows<scalar_type, device_type>(exec, local_->factor().native(), rows_.own());
    const auto columns = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), own.columns);
    for (size_t c = 0; c < columns.extent(0); ++c)
      indices.push_back(rows_.global(columns(c)));
  });
  onAllRanks(comm, [&] {
    const LocalMatrix local("Ainvil::G", static_cast<Ordinal>(rows_.own().extent(0)),
                            static_cast<Ordinal>(indices.size()), own.entries.extent(0), own.values,
                            own.row_map, own.entries);
    g_ = Teuchos::rcp(new crs_matrix_type(local, a.getRowMap(), makeMap(indices, *a.getRowMap()),
                                          a.getDomainMap(), a.getRangeMap()));
  });
}

template <class MatrixType>
void DistributedFsai<MatrixType>::doApply(const execution_space&, const multivector_type& x,
                                          multivector_type& y, Trans, scalar_type alpha,
                                          scalar_type beta) const {
  if (intermediate_.is_null() || intermediate_->getNumVectors() != x.getNumVectors() ||
      intermediate_->getMap() != g_->getRangeMap())
    intermediate_ = Teuchos::rcp(new multivector_type(g_->getRangeMap(), x.getNumVectors()));
  g_->apply(x, *intermediate_);
  gt_->apply(*intermediate_, y, Teuchos::NO_TRANS, alpha, beta);
}

} // namespace tpetra
} // namespace ainvil
