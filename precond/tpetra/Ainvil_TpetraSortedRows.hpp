// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The rows of a rank together with rows of other ranks.

#include "Ainvil_Ordering.hpp"
#include "Ainvil_TpetraCollective.hpp"
#include "Ainvil_TpetraLocalBlock.hpp"

#include <Tpetra_Import.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace ainvil {
namespace tpetra {
namespace detail {

/// place(c) = own(c), or where that is -1 num_own + others(c), or -1.
template <class Device>
struct PlaceInEither {
  Kokkos::View<const Ordinal*, Device> own, others;
  Ordinal num_own;
  Kokkos::View<Ordinal*, Device> place;

  KOKKOS_FUNCTION void operator()(const Offset c) const {
    place(c) = own(c) >= 0 ? own(c) : others(c) >= 0 ? num_own + others(c) : -1;
  }
};

/// source(k) += offset.
template <class Device>
struct ShiftSource {
  Kokkos::View<Offset*, Device> source;
  Offset offset;

  KOKKOS_FUNCTION void operator()(const Offset k) const { source(k) += offset; }
};

} // namespace detail

/// The rows that a rank has of a CrsMatrix and those of other ranks up to so many edges of its
/// graph away, in ascending order of global numbers, with the entries in columns of such rows. The
/// others alone are imported, through Tpetra; rows are put together on the device.
///
/// Of rows behind the last own one only the neighbours of own rows are there, with which the
/// symmetry of own rows can be seen: a lower triangle does not reach further.
template <class Scalar, class LO, class GO, class Node>
class SortedRows {
public:
  using device_type = typename Node::device_type;
  using execution_space = typename device_type::execution_space;
  using crs_matrix_type = Tpetra::CrsMatrix<Scalar, LO, GO, Node>;
  using map_type = Tpetra::Map<LO, GO, Node>;

  SortedRows() = default;

  /// With rows from up to `levels` edges away, imported level by level. Collective. Waits. \throws
  /// on all ranks
  SortedRows(const execution_space& exec, const crs_matrix_type& a, int levels) {
    if (a.getComm()->getSize() > 1)
      importRows(a, levels);
    onAllRanks(*a.getComm(), [&] { merge(exec, a); });
  }

  /// The values that rows of other ranks have now. Collective.
  void importValues(const crs_matrix_type& a) {
    if (importer_.is_null())
      return;
    onAllRanks(*a.getComm(), [&] {
      if (others_->isFillComplete())
        others_->resumeFill();
      others_->doImport(a, *importer_, Tpetra::REPLACE);
    });
    onAllRanks(*a.getComm(), [&] { others_->fillComplete(a.getDomainMap(), a.getRangeMap()); });
  }

  Ordinal count() const { return static_cast<Ordinal>(globals_.size()); } ///< all rows
  /// Whether the own rows are all, in ascending order.
  bool areOwn() const { return !merged_; }
  /// Whether the rank numbers its own rows in ascending order.
  bool ownAscend() const { return own_ascend_; }
  /// From the order of rows here to that with own rows first, in the rank's order, the others
  /// behind them.
  const Permutation<device_type>& ownFirst() const { return own_first_; }
  GO global(Ordinal row) const { return globals_[row]; } ///< its global number

  /// All rows, with the values of `a` now and those of the others at the last importValues(). No
  /// allocation; asynchronous. The result must not outlive the next access to the matrix.
  BsrMatrix<Scalar, device_type> get(const execution_space& exec, const crs_matrix_type& a) {
    if (!merged_)
      return block_.get(exec, a);
    Kokkos::View<const Scalar*, device_type> others;
    if (!others_.is_null())
      others = others_->getLocalMatrixDevice().values;
    detail::gatherStacked<Scalar, device_type>(exec, source_, a.getLocalMatrixDevice().values,
                                               others, values_);
    return {graph_, values_, 1};
  }

private:
  using Import = Tpetra::Import<LO, GO, Node>;

  void importRows(const crs_matrix_type& a, int levels) {
    const map_type& rows = *a.getRowMap();
    const Teuchos::Comm<int>& comm = *rows.getComm();
    const GO last = compat::numLocalElements(rows) > 0 ? rows.getMaxGlobalIndex() : -1;
    std::vector<GO> wanted;
    const auto want = [&](const map_type& map, bool behind_last) {
      for (int i = 0; i < compat::numLocalElements(map); ++i)
        if (const GO global = map.getGlobalElement(i);
            (behind_last || global < last) && !rows.isNodeGlobalElement(global))
          wanted.push_back(global);
      std::sort(wanted.begin(), wanted.end());
      wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
    };
    for (int level = 0; level < levels; ++level) {
      onAllRanks(comm,
                 [&] { want(level == 0 ? *a.getColMap() : *others_->getColMap(), level == 0); });
      onAllRanks(comm, [&] {
        importer_ = Teuchos::rcp(new Import(a.getRowMap(), makeMap(wanted, rows)));
        others_ = Tpetra::importAndFillCompleteCrsMatrix<crs_matrix_type>(
            Teuchos::rcpFromRef(a), *importer_, a.getDomainMap(), a.getRangeMap());
      });
    }
    if (levels == 0)
      return;
    // On a graph that is finished, so that new values can be imported into it.
    onAllRanks(comm, [&] { others_ = Teuchos::rcp(new crs_matrix_type(others_->getCrsGraph())); });
    importValues(a);
  }

  /// Puts the rows together.
  void merge(const execution_space& exec, const crs_matrix_type& a) {
    const map_type& rows = *a.getRowMap();
    const std::vector<Ordinal> stacked = findGlobals(rows);
    merged_ = !importer_.is_null() || !std::is_sorted(stacked.begin(), stacked.end());
    if (!merged_) {
      block_ = {exec, a, 1};
      own_first_ = identityPermutation<device_type>(exec, count());
      return;
    }
    const Permutation<device_type> perm =
        makePermutation<device_type>(exec, onDevice<device_type>(stacked, "Ainvil::new_to_old"));
    own_first_ = {perm.old_to_new, perm.new_to_old};
    const PermutedGraph<device_type> kept = stackedGraph(exec, a);
    const PermutedGraph<device_type> sorted = permuted(exec, perm, kept.graph);
    graph_ = sorted.graph;
    source_ = composed<device_type>(exec, sorted.source, kept.source);
    values_ = allocate<Scalar, device_type>(exec, "Ainvil::values", source_.extent(0));
  }

  /// Numbers all rows; returns their numbers with the own ones above the others.
  std::vector<Ordinal> findGlobals(const map_type& rows) {
    std::vector<std::pair<GO, Ordinal>> all;
    const auto list = [&](const map_type& map) {
      for (int i = 0; i < compat::numLocalElements(map); ++i)
        all.emplace_back(map.getGlobalElement(i), static_cast<Ordinal>(all.size()));
    };
    list(rows);
    if (!importer_.is_null())
      list(*importer_->getTargetMap());
    const auto others = all.begin() + compat::numLocalElements(rows); // in order
    own_ascend_ = std::is_sorted(all.begin(), others);
    if (!own_ascend_)
      std::sort(all.begin(), others);
    std::inplace_merge(all.begin(), others, all.end());
    std::vector<Ordinal> stacked;
    for (const auto& [global, row] : all) {
      globals_.push_back(global);
      stacked.push_back(row);
    }
    return stacked;
  }

  /// Own rows above the others, columns numbered alike; `source` is in the values of `a` and,
  /// behind them, those of the others.
  PermutedGraph<device_type> stackedGraph(const execution_space& exec, const crs_matrix_type& a) {
    const PermutedGraph<device_type> upper = placed(exec, a, a);
    if (others_.is_null())
      return upper;
    const PermutedGraph<device_type> lower = placed(exec, a, *others_);
    const Graph<device_type> all = detail::stacked(exec, upper.graph, lower.graph);
    const Offset above = upper.graph.numEntries();
    const auto source = allocate<Offset, device_type>(exec, "Ainvil::source", all.numEntries());
    const auto of_lower = Kokkos::subview(source, std::make_pair(above, all.numEntries()));
    Kokkos::deep_copy(exec, Kokkos::subview(source, std::make_pair(Offset(0), above)),
                      upper.source);
    Kokkos::deep_copy(exec, of_lower, lower.source);
    Kokkos::parallel_for(
        "Ainvil::SortedRows[source]",
        ainvil::detail::Range<execution_space>(exec, 0, of_lower.extent(0)),
        detail::ShiftSource<device_type>{of_lower, Offset(compat::numLocalEntries(a))});
    return {all, source};
  }

  /// The entries of a matrix in columns of own rows of `a` or of others, numbered so.
  PermutedGraph<device_type> placed(const execution_space& exec, const crs_matrix_type& a,
                                    const crs_matrix_type& of) {
    const map_type& columns = *of.getColMap();
    Kokkos::View<const Ordinal*, device_type> place =
        detail::rowsOfColumns<map_type, device_type>(exec, *a.getRowMap(), columns);
    if (!others_.is_null()) {
      const auto either = allocate<Ordinal, device_type>(exec, "Ainvil::place", place.extent(0));
      Kokkos::parallel_for(
          "Ainvil::SortedRows[place]",
          ainvil::detail::Range<execution_space>(exec, 0, either.extent(0)),
          detail::PlaceInEither<device_type>{
              place,
              detail::rowsOfColumns<map_type, device_type>(exec, *others_->getRowMap(), columns),
              compat::numLocalElements(*a.getRowMap()), either});
      place = either;
    }
    const PermutedGraph<device_type> kept =
        detail::selectPlaced<device_type>(exec, localGraph(exec, *of.getCrsGraph()), place);
    return {
        Graph<device_type>(kept.graph.num_rows, count(), kept.graph.row_map, kept.graph.entries),
        kept.source};
  }

  Teuchos::RCP<const Import> importer_;  ///< null: no rows of others
  Teuchos::RCP<crs_matrix_type> others_; ///< those, and no own ones
  std::vector<GO> globals_;              ///< of all rows
  bool own_ascend_ = true;
  Permutation<device_type> own_first_;
  bool merged_ = false;                    ///< else own rows are all, and in order:
  LocalBlock<Scalar, LO, GO, Node> block_; ///< these; what is below is empty
  Graph<device_type> graph_;
  Kokkos::View<const Offset*, device_type> source_;
  Kokkos::View<Scalar*, device_type> values_;
};

} // namespace tpetra
} // namespace ainvil
