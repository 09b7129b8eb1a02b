// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The rows of a rank together with rows of other ranks.

#include "Ainvil_Ordering.hpp"
#include "Ainvil_TpetraGlobalOrder.hpp"
#include "Ainvil_TpetraImportedRows.hpp"
#include "Ainvil_TpetraLocalBlock.hpp"
#include "Ainvil_TpetraPlaces.hpp"

#include <limits>
#include <utility>
#include <vector>

namespace ainvil {
namespace tpetra {
namespace detail {

/// True of entries whose column is a row that is there.
template <class Device>
struct IsPlaced {
  Kokkos::View<const Ordinal*, Device> entries;

  KOKKOS_FUNCTION bool operator()(Ordinal, Offset e) const { return entries(e) >= 0; }
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
/// others alone are imported, each once; rows are put together on the device.
///
/// Of rows behind the last own one only the neighbours of own rows are there, with which the
/// symmetry of own rows can be seen: a lower triangle does not reach further.
template <class Scalar, class LO, class GO, class Node>
class SortedRows {
public:
  using device_type = typename Node::device_type;
  using execution_space = typename device_type::execution_space;
  using crs_matrix_type = Tpetra::CrsMatrix<Scalar, LO, GO, Node>;

  SortedRows() = default;

  /// With rows from up to `levels` edges away, imported level by level. Collective. Waits. \throws
  /// on all ranks
  SortedRows(const execution_space& exec, const crs_matrix_type& a, int levels) {
    onAllRanks(*a.getComm(), [&] { order_ = {exec, *a.getRowMap()}; });
    if (a.getComm()->getSize() > 1)
      importRows(exec, a, levels);
    onAllRanks(*a.getComm(), [&] { merge(exec, a); });
    importValues(exec, a);
  }

  /// The values that rows of other ranks have now. Collective.
  void importValues(const execution_space& exec, const crs_matrix_type& a) {
    Offset begin = 0;
    for (Imported& level : levels_) {
      const Offset end = begin + level.offsets().back();
      level.fetchValues(exec, a, Kokkos::subview(others_values_, std::make_pair(begin, end)));
      begin = end;
    }
  }

  /// Whether the own rows are all, in ascending order.
  bool areOwn() const { return !merged_; }
  /// Whether the rank numbers its own rows in ascending order.
  bool ownAscend() const { return order_.ownAscend(); }
  /// From the order of rows here to that with own rows first, in the rank's order, the others
  /// behind them.
  const Permutation<device_type>& ownFirst() const { return own_first_; }
  /// The global numbers of rows of other ranks. Waits.
  std::vector<GO> globalsOfOthers(const execution_space& exec,
                                  const Kokkos::View<const Ordinal*, device_type>& rows) const {
    const auto stacked = copyArray<HostDevice>(
        detail::renumbered<device_type>(exec, rows, own_first_.old_to_new), "Ainvil::others");
    std::vector<GO> globals;
    for (size_t k = 0; k < stacked.extent(0); ++k)
      globals.push_back(order_.globalOfOther(stacked(k)));
    return globals;
  }

  /// All rows, with the values of `a` now and those of the others at the last importValues(). No
  /// allocation; asynchronous. The result must not outlive the next access to the matrix.
  BsrMatrix<Scalar, device_type> get(const execution_space& exec, const crs_matrix_type& a) {
    if (!merged_)
      return block_.get(exec, a);
    detail::gatherStacked<Scalar, device_type>(exec, source_, a.getLocalMatrixDevice().values,
                                               others_values_, values_);
    return {graph_, values_, 1};
  }

private:
  using map_type = Tpetra::Map<LO, GO, Node>;
  using Imported = ImportedRows<Scalar, LO, GO, Node>;
  using Order = GlobalOrder<LO, GO, Node>;
  using Columns = std::decay_t<decltype(std::declval<map_type>().getLocalMap())>;

  void importRows(const execution_space& exec, const crs_matrix_type& a, int levels) {
    const map_type& rows = *a.getRowMap();
    const Teuchos::Comm<int>& comm = *rows.getComm();
    const GO last = compat::numLocalElements(rows) > 0 ? rows.getMaxGlobalIndex() : -1;
    std::vector<GO> wanted;
    for (int level = 0; level < levels; ++level) {
      onAllRanks(comm, [&] {
        if (level == 0)
          wanted = order_.missing(exec, compat::numLocalElements(*a.getColMap()),
                                  detail::GlobalOfColumn<Columns>{a.getColMap()->getLocalMap()},
                                  std::numeric_limits<GO>::max());
        else
          wanted = order_.missing(exec, levels_.back().columns().extent(0),
                                  columnsOf(levels_.back()), last);
      });
      if (!anyOnRanks(comm, !wanted.empty()))
        return;
      levels_.emplace_back(exec, a, wanted);
      onAllRanks(comm, [&] { order_.add(levels_.back().globals()); });
    }
  }

  /// Puts the rows together.
  void merge(const execution_space& exec, const crs_matrix_type& a) {
    merged_ = !levels_.empty() || !order_.ownAscend();
    if (!merged_) {
      block_ = {exec, a, 1};
      own_first_ = identityPermutation<device_type>(exec, order_.count());
      return;
    }
    const auto perm = makePermutation<device_type>(exec, order_.stacked(exec));
    own_first_ = {perm.old_to_new, perm.new_to_old};
    const PermutedGraph<device_type> kept = stackedGraph(exec, a);
    const PermutedGraph<device_type> sorted = permuted(exec, perm, kept.graph);
    graph_ = sorted.graph;
    source_ = composed<device_type>(exec, sorted.source, kept.source);
    values_ = allocate<Scalar, device_type>(exec, "Ainvil::values", source_.extent(0));
  }

  /// Own rows above the others, columns numbered alike; `source` is in the values of `a` and,
  /// behind them, those of the others.
  PermutedGraph<device_type> stackedGraph(const execution_space& exec, const crs_matrix_type& a) {
    const PermutedGraph<device_type> upper = detail::selectPlaced<device_type>(
        exec, borrowedGraph(exec, *a.getCrsGraph()),
        order_.placed(exec, compat::numLocalElements(*a.getColMap()),
                      detail::GlobalOfColumn<Columns>{a.getColMap()->getLocalMap()}));
    if (levels_.empty())
      return upper;
    const PermutedGraph<device_type> lower = graphOfOthers(exec);
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
    return {Graph<device_type>(all.num_rows, order_.count(), all.row_map, all.entries), source};
  }

  /// Of the others' entries those in columns of rows that are there; makes room for their values.
  PermutedGraph<device_type> graphOfOthers(const execution_space& exec) {
    std::vector<Offset> offsets(1, 0);
    for (const Imported& level : levels_)
      for (size_t k = 1; k < level.offsets().size(); ++k)
        offsets.push_back(offsets.back() + level.offsets()[k] - level.offsets()[k - 1]);
    others_values_ = allocate<Scalar, device_type>(exec, "Ainvil::values", offsets.back());
    const auto entries = allocate<Ordinal, device_type>(exec, "Ainvil::entries", offsets.back());
    Offset begin = 0;
    for (Imported& level : levels_) {
      const Offset end = begin + level.offsets().back();
      const auto place = order_.placed(exec, end - begin, columnsOf(level));
      Kokkos::deep_copy(exec, Kokkos::subview(entries, std::make_pair(begin, end)), place);
      ainvil::compat::fence(exec, "Ainvil::SortedRows");
      level.dropColumns();
      begin = end;
    }
    const auto n = static_cast<Ordinal>(offsets.size()) - 1;
    return ainvil::detail::selectWithSource(
        exec,
        Graph<device_type>(
            n, order_.count(),
            onDevice<device_type>(Teuchos::ArrayView<const Offset>(offsets), "Ainvil::row_map"),
            entries),
        detail::IsPlaced<device_type>{entries});
  }

  static auto columnsOf(const Imported& level) {
    return detail::GlobalInArray<std::decay_t<decltype(level.columns())>>{level.columns()};
  }

  std::vector<Imported> levels_;                     ///< by their distance; empty: none
  Kokkos::View<Scalar*, device_type> others_values_; ///< level by level
  Order order_;                                      ///< of own rows and those of others
  Permutation<device_type> own_first_;
  bool merged_ = false;                    ///< else own rows are all, and in order:
  LocalBlock<Scalar, LO, GO, Node> block_; ///< these; what is below is empty
  Graph<device_type> graph_;
  Kokkos::View<const Offset*, device_type> source_;
  Kokkos::View<Scalar*, device_type> values_;
};

} // namespace tpetra
} // namespace ainvil
