// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Definitions for Ainvil_TpetraDistributedFsai.hpp.

#include "Ainvil_Factory.hpp"
#include "Ainvil_TpetraDistributedFsai.hpp"
#include "Ainvil_TpetraMatrixHalo.hpp"
#include "Ainvil_TpetraPreconditioner_impl.hpp"
#include "fsai/Ainvil_FsaiOnePass.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace tpetra {
namespace detail {

template <class Device>
struct IsOwn {
  Kokkos::View<const Ordinal*, Device>
      own_first; ///< places of rows in the order with own rows first
  Ordinal num_own;
  Kokkos::View<char*, Device> wanted;

  KOKKOS_FUNCTION void operator()(Offset row) const {
    wanted(row) = own_first(row) < num_own ? 1 : 0;
  }
};

/// 1 for the own rows, 0 for the others, in ascending order of global numbers.
template <class Device>
Kokkos::View<const char*, Device> markOwn(const typename Device::execution_space& exec,
                                          const Permutation<Device>& own_first, Ordinal num_own) {
  const auto wanted = allocate<char, Device>(exec, "Ainvil::wanted", own_first.numRows());
  Kokkos::parallel_for(
      "Ainvil::markOwn",
      ainvil::detail::Range<typename Device::execution_space>(exec, 0, own_first.numRows()),
      IsOwn<Device>{own_first.old_to_new, num_own, wanted});
  return wanted;
}

/// place(c) = first(c) for columns c that come among the first n, -1 for the others.
template <class Device>
struct PlaceFirst {
  Kokkos::View<const Ordinal*, Device> first;
  Ordinal n;
  Kokkos::View<Ordinal*, Device> place;

  KOKKOS_FUNCTION void operator()(Offset c) const { place(c) = first(c) < n ? first(c) : -1; }
};

/// The numbers that columns have among own rows, -1 for those of others.
template <class Device>
Kokkos::View<const Ordinal*, Device> placeOwn(const typename Device::execution_space& exec,
                                              const Permutation<Device>& own_first,
                                              Ordinal num_own) {
  const auto place = allocate<Ordinal, Device>(exec, "Ainvil::place", own_first.numRows());
  Kokkos::parallel_for(
      "Ainvil::placeOwn",
      ainvil::detail::Range<typename Device::execution_space>(exec, 0, own_first.numRows()),
      PlaceFirst<Device>{own_first.old_to_new, num_own, place});
  return place;
}

/// lengths(i) = entries of row rows(i).
template <class Device>
struct LengthsOfRows {
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<const Ordinal*, Device> rows;
  Kokkos::View<Offset*, Device> lengths;

  KOKKOS_FUNCTION void operator()(Offset i) const {
    lengths(i) = row_map(rows(i) + 1) - row_map(rows(i));
  }
};

/// Row i of `to` <- row rows(i) of `from`.
template <class Device>
struct TakeRows {
  Graph<Device> from;
  Kokkos::View<const Ordinal*, Device> rows;
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> entries;
  Kokkos::View<Offset*, Device> source;

  KOKKOS_FUNCTION void operator()(Offset i) const {
    const Offset begin = from.row_map(rows(i));
    for (Offset to = row_map(i); to < row_map(i + 1); ++to) {
      source(to) = begin + to - row_map(i);
      entries(to) = from.entries(source(to));
    }
  }
};

/// The first n rows of a graph in another order; its columns stay. Waits.
template <class Device>
PermutedGraph<Device> firstRows(const typename Device::execution_space& exec,
                                const Graph<Device>& graph,
                                const Kokkos::View<const Ordinal*, Device>& order, Ordinal n) {
  using Range = ainvil::detail::Range<typename Device::execution_space>;
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(n) + 1);
  Kokkos::parallel_for("Ainvil::firstRows[count]", Range(exec, 0, n),
                       LengthsOfRows<Device>{graph.row_map, order, row_map});
  const Offset total = ainvil::detail::countsToOffsets(exec, row_map);
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", total);
  const auto source = allocate<Offset, Device>(exec, "Ainvil::source", total);
  Kokkos::parallel_for("Ainvil::firstRows", Range(exec, 0, n),
                       TakeRows<Device>{graph, order, row_map, entries, source});
  return {Graph<Device>(n, graph.num_cols, row_map, entries), source};
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
  num_graphs_ = 0;
  own_ = {};
  halo_ = {};
  const crs_matrix_type& a = crsMatrix();
  TEUCHOS_TEST_FOR_EXCEPTION(!rowsAreUnknowns(a), InvalidArgument,
                             "ainvil fsai: the row map of the matrix is not its range map, but a "
                             "rank must have the rows of its own unknowns, in their order.");
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
    if (!hasAllInOrder()) {
      parameters.wanted = detail::markOwn<device_type>(exec, rows_.ownFirst(),
                                                       compat::numLocalElements(*a.getRowMap()));
      parameters.applied = false;
    }
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
  this->timePhase(exec, "import_values", [&] { rows_.importValues(exec, crsMatrix()); });
  onAllRanks(comm, [&] { local_->compute(exec, rows_.get(exec, crsMatrix())); });
  Report report = local_->report();
  if (!hasAllInOrder()) {
    this->timePhase(exec, "assemble", [&] {
      if (anyOnRanks(comm, num_graphs_ != local_->numGraphs()))
        takeGraph(exec);
      onAllRanks(comm, [&] { takeValues(exec); });
    });
    report.factor_entries = own_.numScalars() + halo_.rows().numScalars();
    report.factor_bytes = (inOnePass(exec) ? 1 : 2) * own_.bytes() + halo_.rows().bytes(Trans::No) +
                          halo_.rows().bytes(Trans::Yes);
  }
  this->takeReport(report);
}

/// Takes the own rows of G apart.
template <class MatrixType>
void DistributedFsai<MatrixType>::takeGraph(const execution_space& exec) {
  const Teuchos::Comm<int>& comm = *this->matrix().getComm();
  num_graphs_ = 0;
  typename Halo::Rows halo;
  std::vector<global_ordinal_type> unknowns;
  onAllRanks(comm, [&] {
    const Ordinal n = compat::numLocalElements(*this->matrix().getRowMap());
    const Graph<device_type>& g = local_->factor().graph();
    const PermutedGraph<device_type> rows =
        detail::firstRows<device_type>(exec, g, rows_.ownFirst().new_to_old, n);
    const auto place = detail::placeOwn<device_type>(exec, rows_.ownFirst(), n);
    const PermutedGraph<device_type> own =
        detail::selectPlaced<device_type>(exec, rows.graph, place);
    source_ = composed<device_type>(exec, own.source, rows.source);
    values_ = allocate<scalar_type, device_type>(exec, "Ainvil::values", source_.extent(0));
    own_ = SparseOperator<scalar_type, device_type>(
        exec, BsrMatrix<scalar_type, device_type>(own.graph, values_, 1));
    if (!inOnePass(exec))
      own_.keepTransposed(exec);

    halo = {exec, rows, place, 1};
    halo.keepTransposed(exec);
    unknowns = rows_.globalsOfOthers(exec, halo.columns());
  });
  takeHalo(exec, halo, unknowns);
  num_graphs_ = local_->numGraphs();
}

/// The halo has these rows from now on. The plan of its exchange stays where no rank needs other
/// unknowns than before.
template <class MatrixType>
void DistributedFsai<MatrixType>::takeHalo(const execution_space& exec,
                                           const typename Halo::Rows& rows,
                                           const std::vector<global_ordinal_type>& unknowns) {
  const auto map = this->matrix().getDomainMap();
  const Teuchos::Comm<int>& comm = *map->getComm();
  if (!anyOnRanks(comm, !halo_.exists() || unknowns != unknowns_)) {
    onAllRanks(comm, [&] { halo_ = Halo(exec, rows, halo_.exchange()); });
    return;
  }
  halo_ = {};
  if (!anyOnRanks(comm, !unknowns.empty()))
    return;
  halo_ = makeHalo<scalar_type, local_ordinal_type, global_ordinal_type, node_type>(
      exec, rows, map, makeMap(unknowns, *map), true);
  unknowns_ = unknowns;
}

template <class MatrixType>
void DistributedFsai<MatrixType>::takeValues(const execution_space& exec) {
  const auto& g = local_->factor().native().values;
  gatherBlocks<scalar_type, device_type>(exec, Trans::No, source_, 1, g, values_);
  own_.updateTransposed(exec); // nothing in one pass
  halo_.update(exec, g);
}

template <class MatrixType>
void DistributedFsai<MatrixType>::reserve(const execution_space& exec, size_t columns) const {
  if (hasAllInOrder())
    return;
  const auto n = static_cast<size_t>(own_.numPointRows());
  ainvil::detail::workspaceOf(exec, intermediate_, n, columns);
  if (inOnePass(exec))
    ainvil::detail::workspaceOf(exec, product_, n, columns);
  halo_.reserve(exec, columns);
}

/// w = G_rr x + H_r h, y = beta y + alpha (G_rr^T w + what the others send back).
template <class MatrixType>
void DistributedFsai<MatrixType>::doApply(const execution_space& exec, const VectorIn& x,
                                          const VectorOut& y, Trans, scalar_type alpha,
                                          scalar_type beta) const {
  if (hasAllInOrder()) {
    local_->apply(exec, x, y, Trans::No, alpha, beta);
    return;
  }
  const VectorOut w = ainvil::detail::workspaceOf(exec, intermediate_, x.extent(0), x.extent(1));
  if (inOnePass(exec)) {
    multiplyInOnePass(exec, x, w, y, alpha, beta);
    return;
  }
  halo_.begin(exec, x);
  own_.multiply(exec, Trans::No, scalar_type(1), x, scalar_type(0), w);
  halo_.add(exec, scalar_type(1), w);
  halo_.beginTransposed(exec, w);
  own_.multiply(exec, Trans::Yes, alpha, w, beta, y);
  halo_.addTransposed(exec, alpha, y);
}

/// The same for one thread of a host, which reads G_rr once: w = H_r h, then
///   w <- w + G_rr x and z = G_rr^T w, row by row, y = beta y + alpha (z + what the others send).
template <class MatrixType>
void DistributedFsai<MatrixType>::multiplyInOnePass([[maybe_unused]] const execution_space& exec,
                                                    [[maybe_unused]] const VectorIn& x,
                                                    [[maybe_unused]] const VectorOut& w,
                                                    [[maybe_unused]] const VectorOut& y,
                                                    [[maybe_unused]] scalar_type alpha,
                                                    [[maybe_unused]] scalar_type beta) const {
  if constexpr (!ainvil::compat::IsGpu<execution_space>::value) {
    const bool plain = alpha == scalar_type(1) && beta == scalar_type(0);
    const VectorOut z =
        plain ? y : ainvil::detail::workspaceOf(exec, product_, y.extent(0), y.extent(1));
    halo_.begin(exec, x);
    Kokkos::deep_copy(exec, w, scalar_type(0));
    halo_.add(exec, scalar_type(1), w);
    Kokkos::parallel_for("Ainvil::DistributedFsai[apply]",
                         ainvil::detail::Range<execution_space>(exec, 0, x.extent(1)),
                         ainvil::detail::FsaiOnePass<1, scalar_type, scalar_type, device_type>{
                             own_.native(), x, z, w});
    halo_.beginTransposed(exec, w);
    halo_.addTransposed(exec, scalar_type(1), z);
    if (!plain)
      axpby<scalar_type, device_type>(exec, alpha, z, beta, y);
  }
}

} // namespace tpetra
} // namespace ainvil
