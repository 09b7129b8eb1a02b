// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraBlockOperator.hpp, for applications with other types than Tpetra's
/// defaults.

#include "Ainvil_TpetraBlockOperator.hpp"
#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraVectorViews.hpp"

#include <Tpetra_BlockMultiVector.hpp>
#include <Tpetra_Import.hpp>

namespace ainvil {
namespace tpetra {
namespace detail {

template <class Device>
struct HasNoPlace {
  Kokkos::View<const Ordinal*, Device> entries, place;

  KOKKOS_FUNCTION bool operator()(Ordinal, Offset e) const { return place(entries(e)) < 0; }
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

template <class MatrixType>
BlockOperator<MatrixType>::BlockOperator(const Teuchos::RCP<const row_matrix_type>& a,
                                         int block_size)
    : matrix_(a) {
  using Crs = Tpetra::CrsMatrix<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;
  using Blocks =
      Tpetra::BlockCrsMatrix<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;
  const Teuchos::Comm<int>& comm = *a->getComm();
  onAllRanks(comm, [&] {
    if (dynamic_cast<const Crs*>(a.getRawPtr()) == nullptr &&
        dynamic_cast<const Blocks*>(a.getRawPtr()) == nullptr)
      throw InvalidArgument("a BlockOperator needs a CrsMatrix or a BlockCrsMatrix: take the "
                            "products of other matrices as they are");
    if (!a->isFillComplete())
      throw InvalidArgument("a BlockOperator needs a matrix that is fill complete: call its "
                            "fillComplete first");
  });
  const bool same = a->getDomainMap()->isSameAs(*a->getRangeMap()) && rowsAreUnknowns(*a);
  if (!same)
    throw InvalidArgument("a BlockOperator needs a matrix whose rows, domain map and range map are "
                          "spread over the ranks in the same way");
  const execution_space exec;
  std::vector<global_ordinal_type> halo_columns;
  onAllRanks(comm, [&] {
    block_ = {exec, *a, block_size};
    takeHalo(exec, halo_columns);
  });
  makeImport(halo_columns);
  onAllRanks(comm, [&] {
    const auto local = block_.get(exec, *a);
    plan_ = ainvil::detail::planProducts(exec, local.graph, local.block_size, sizeof(scalar_type));
    halo_ = Local(exec,
                  BsrMatrix<scalar_type, device_type>(halo_graph_, halo_values_, halo_block_size_));
    takeValues(exec);
  });
}

/// The graph of H_r, in the host's memory first: it is a small part of A. The global numbers of its
/// columns are returned in the order of the column map.
template <class MatrixType>
void BlockOperator<MatrixType>::takeHalo(const execution_space& exec,
                                         std::vector<global_ordinal_type>& halo_columns) {
  using Crs = Tpetra::CrsMatrix<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;
  using Blocks =
      Tpetra::BlockCrsMatrix<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;
  const auto* blocks = dynamic_cast<const Blocks*>(matrix_.getRawPtr());
  halo_block_size_ = blocks != nullptr ? blocks->getBlockSize() : 1;
  const Graph<device_type> graph =
      localGraph(exec, blocks != nullptr ? blocks->getCrsGraph()
                                         : *dynamic_cast<const Crs&>(*matrix_).getCrsGraph());
  const map_type& columns = *matrix_->getColMap();
  const Kokkos::View<const Ordinal*, device_type> place =
      detail::rowsOfColumns<map_type, device_type>(exec, *matrix_->getRowMap(), columns);
  const PermutedGraph<device_type> kept = ainvil::detail::selectWithSource(
      exec, graph, detail::HasNoPlace<device_type>{graph.entries, place});
  halo_source_ = kept.source;

  const auto host_place = copyArray<HostDevice>(place, "Ainvil::place");
  const auto row_map = copyArray<HostDevice>(kept.graph.row_map, "Ainvil::row_map");
  const auto from = copyArray<HostDevice>(kept.graph.entries, "Ainvil::entries");
  std::vector<Ordinal> number(host_place.extent(0)); // of a column among those of the halo
  for (size_t c = 0; c < number.size(); ++c)
    if (host_place(c) < 0) {
      number[c] = static_cast<Ordinal>(halo_columns.size());
      halo_columns.push_back(columns.getGlobalElement(static_cast<local_ordinal_type>(c)));
    }
  std::vector<Ordinal> rows;
  std::vector<Offset> ends(1, 0);
  for (Ordinal row = 0; row < graph.num_rows; ++row)
    if (row_map(row + 1) > row_map(row)) {
      rows.push_back(row);
      ends.push_back(row_map(row + 1));
    }
  const HostDevice::execution_space host;
  const auto host_rows = allocate<Ordinal, HostDevice>(host, "Ainvil::halo_rows", rows.size());
  const auto host_map = allocate<Offset, HostDevice>(host, "Ainvil::row_map", ends.size());
  const auto entries = allocate<Ordinal, HostDevice>(host, "Ainvil::entries", from.extent(0));
  std::copy(rows.begin(), rows.end(), host_rows.data());
  std::copy(ends.begin(), ends.end(), host_map.data());
  for (size_t e = 0; e < from.extent(0); ++e)
    entries(e) = number[from(e)];
  halo_rows_ = copyArray<device_type>(host_rows, "Ainvil::halo_rows");
  halo_graph_ = copyTo<device_type>(Graph<HostDevice>(static_cast<Ordinal>(rows.size()),
                                                      static_cast<Ordinal>(halo_columns.size()),
                                                      host_map, entries));
  const size_t in_block = size_t(halo_block_size_) * halo_block_size_;
  halo_values_ = allocate<scalar_type, device_type>(exec, "Ainvil::halo_values",
                                                    halo_source_.extent(0) * in_block);
}

template <class MatrixType>
void BlockOperator<MatrixType>::makeImport(const std::vector<global_ordinal_type>& halo_columns) {
  using BlockVectors =
      Tpetra::BlockMultiVector<scalar_type, local_ordinal_type, global_ordinal_type, node_type>;
  const long long here = static_cast<long long>(halo_columns.size());
  long long everywhere = 0;
  Teuchos::reduceAll(*matrix_->getComm(), Teuchos::REDUCE_SUM, here, Teuchos::outArg(everywhere));
  if (everywhere == 0)
    return;
  Teuchos::RCP<const map_type> halo = makeMap(halo_columns, *matrix_->getRowMap());
  if (halo_block_size_ > 1)
    halo = Teuchos::rcp(new map_type(BlockVectors::makePointMap(*halo, halo_block_size_)));
  import_ = Teuchos::rcp(new Import(matrix_->getDomainMap(), halo));
  onAllRanks(*matrix_->getComm(), [&] {
    exchange_ =
        HaloExchange<scalar_type, local_ordinal_type, global_ordinal_type, node_type>(import_);
    haloOf(execution_space(), 1);
  });
}

template <class MatrixType>
auto BlockOperator<MatrixType>::haloOf(const execution_space& exec, size_t columns) const
    -> const Halo& {
  const auto known = halos_.find(columns);
  if (known != halos_.end())
    return known->second;
  Halo halo;
  exchange_.reserve(exec, columns);
  halo.vectors = allocateView<MultiVector<scalar_type, device_type>>(
      exec, "Ainvil::halo", compat::numLocalElements(*import_->getTargetMap()), columns);
  halo.products = allocateView<MultiVector<scalar_type, device_type>>(
      exec, "Ainvil::halo_products", halo_rows_.extent(0) * halo_block_size_, columns);
  return halos_.emplace(columns, halo).first->second;
}

template <class MatrixType>
void BlockOperator<MatrixType>::update() {
  onAllRanks(*matrix_->getComm(), [&] { takeValues(execution_space()); });
}

template <class MatrixType>
void BlockOperator<MatrixType>::takeValues(const execution_space& exec) {
  const BsrMatrix<scalar_type, device_type> local = block_.get(exec, *matrix_);
  using Stored = StoredValues<scalar_type, device_type>;
  local_ =
      Local(local.graph, local.block_size, Stored(std::in_place_index<0>, local.values), plan_);
  if (import_.is_null())
    return;
  gatherBlocks<scalar_type, device_type>(exec, Trans::No, halo_source_, halo_block_size_,
                                         block_.valuesOf(exec, *matrix_), halo_values_);
}

template <class MatrixType>
void BlockOperator<MatrixType>::applyLocal(const execution_space& exec, VectorIn x, VectorOut y,
                                           scalar_type alpha, scalar_type beta) const {
  if (import_.is_null()) {
    local_.multiply(exec, Trans::No, alpha, x, beta, y);
    return;
  }
  const Halo& halo = haloOf(exec, x.extent(1));
  exchange_.begin(exec, x);
  local_.multiply(exec, Trans::No, alpha, x, beta, y);
  exchange_.end(exec, halo.vectors);
  addHalo(exec, halo, alpha, y);
}

template <class MatrixType>
void BlockOperator<MatrixType>::addHalo(const execution_space& exec, const Halo& halo,
                                        scalar_type alpha, VectorOut y) const {
  if (halo_rows_.extent(0) == 0)
    return;
  halo_.multiply(exec, Trans::No, scalar_type(1), VectorIn(halo.vectors), scalar_type(0),
                 halo.products);
  Kokkos::parallel_for("Ainvil::tpetra::addHalo",
                       ainvil::detail::Range<execution_space>(exec, 0, halo.products.extent(0)),
                       detail::AddRowsKernel<scalar_type, device_type>{halo_rows_, halo.products, y,
                                                                       alpha, halo_block_size_});
}

template <class MatrixType>
void BlockOperator<MatrixType>::apply(const multivector_type& x, multivector_type& y,
                                      Teuchos::ETransp mode, scalar_type alpha,
                                      scalar_type beta) const {
  TEUCHOS_TEST_FOR_EXCEPTION(mode != Teuchos::NO_TRANS, std::runtime_error,
                             "ainvil: a BlockOperator has no transposed product: take that of its "
                             "matrix.");
  const size_t n = compat::numLocalElements(*getDomainMap());
  TEUCHOS_TEST_FOR_EXCEPTION(
      x.getNumVectors() != y.getNumVectors() || x.getLocalLength() != n || y.getLocalLength() != n,
      std::runtime_error,
      "ainvil: X and Y of a BlockOperator need as many columns as each other and "
          << n << " rows on this rank, but have " << x.getNumVectors() << " and "
          << y.getNumVectors() << " columns, " << x.getLocalLength() << " and "
          << y.getLocalLength() << " rows.");
  if (x.getNumVectors() == 0)
    return;
  const execution_space exec;
  const Teuchos::RCP<const multivector_type> from = inOnePiece(x);
  const Teuchos::RCP<multivector_type> to = inOnePiece(y);
  const auto x_local = from->getLocalViewDevice(Tpetra::Access::ReadOnly);
  if (beta == scalar_type(0))
    applyLocal(exec, x_local, to->getLocalViewDevice(Tpetra::Access::OverwriteAll), alpha, beta);
  else
    applyLocal(exec, x_local, to->getLocalViewDevice(Tpetra::Access::ReadWrite), alpha, beta);
  if (to.get() != &y)
    Tpetra::deep_copy(y, *to);
}

} // namespace tpetra
} // namespace ainvil
