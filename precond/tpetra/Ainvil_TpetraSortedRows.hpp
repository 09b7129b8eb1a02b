// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The rows of a rank together with rows of other ranks.

#include "Ainvil_Ordering.hpp"
#include "Ainvil_TpetraImportedRows.hpp"
#include "Ainvil_TpetraLocalBlock.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace ainvil {
namespace tpetra {
namespace detail {

/// The global number of column c of a map.
template <class LocalMap>
struct GlobalOfColumn {
  LocalMap columns;

  KOKKOS_FUNCTION auto operator()(Offset c) const {
    return columns.getGlobalElement(static_cast<Ordinal>(c));
  }
};

/// The global number that stands in an array.
template <class Array>
struct GlobalInArray {
  Array array;

  KOKKOS_FUNCTION auto operator()(Offset e) const { return array(e); }
};

/// place(k) = number of the row with the global number global(k): the own ones have those of
/// `rows`, the others, whose global numbers ascend, numbers(their index); -1 if there is none.
template <class LocalMap, class Globals, class Global, class Device>
struct PlaceGlobals {
  LocalMap rows;
  Ordinal num_own;
  Globals others;
  Kokkos::View<const Ordinal*, Device> numbers;
  Global global;
  Kokkos::View<Ordinal*, Device> place;

  KOKKOS_FUNCTION void operator()(Offset k) const {
    const auto wanted = global(k);
    const Ordinal own = rows.getLocalElement(wanted);
    if (own >= 0 && own < num_own) {
      place(k) = own;
      return;
    }
    const Offset at = ainvil::detail::findEntry(others, 0, others.extent(0), wanted);
    place(k) = at >= 0 ? numbers(at) : -1;
  }
};

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
  using map_type = Tpetra::Map<LO, GO, Node>;

  SortedRows() = default;

  /// With rows from up to `levels` edges away, imported level by level. Collective. Waits. \throws
  /// on all ranks
  SortedRows(const execution_space& exec, const crs_matrix_type& a, int levels) {
    if (a.getComm()->getSize() > 1)
      importRows(exec, a, levels);
    onAllRanks(*a.getComm(), [&] { merge(exec, a); });
    importValues(exec, a);
  }

  /// The values that rows of other ranks have now. Collective.
  void importValues(const execution_space& exec, const crs_matrix_type& a) {
    Offset begin = 0;
    for (auto& level : levels_) {
      const Offset end = begin + level.offsets().back();
      level.fetchValues(exec, a, Kokkos::subview(others_values_, std::make_pair(begin, end)));
      begin = end;
    }
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
    detail::gatherStacked<Scalar, device_type>(exec, source_, a.getLocalMatrixDevice().values,
                                               others_values_, values_);
    return {graph_, values_, 1};
  }

private:
  void importRows(const execution_space& exec, const crs_matrix_type& a, int levels) {
    const map_type& rows = *a.getRowMap();
    const Teuchos::Comm<int>& comm = *rows.getComm();
    const GO last = compat::numLocalElements(rows) > 0 ? rows.getMaxGlobalIndex() : -1;
    std::vector<GO> known, wanted; // in order
    const auto want = [&](GO global) {
      if (!rows.isNodeGlobalElement(global) &&
          !std::binary_search(known.begin(), known.end(), global))
        wanted.push_back(global);
    };
    for (int level = 0; level < levels; ++level) {
      onAllRanks(comm, [&] {
        wanted.clear();
        if (level == 0)
          for (int c = 0; c < compat::numLocalElements(*a.getColMap()); ++c)
            want(a.getColMap()->getGlobalElement(c));
        else
          for (size_t e = 0; e < levels_.back().columns().extent(0); ++e)
            if (levels_.back().columns()(e) < last)
              want(levels_.back().columns()(e));
        std::sort(wanted.begin(), wanted.end());
        wanted.erase(std::unique(wanted.begin(), wanted.end()), wanted.end());
        known.insert(known.end(), wanted.begin(), wanted.end());
        std::inplace_merge(known.begin(), known.end() - wanted.size(), known.end());
      });
      if (!anyOnRanks(comm, !wanted.empty()))
        return;
      levels_.emplace_back(exec, a, wanted);
    }
  }

  /// Puts the rows together.
  void merge(const execution_space& exec, const crs_matrix_type& a) {
    const map_type& rows = *a.getRowMap();
    const std::vector<Ordinal> stacked = findGlobals(rows);
    merged_ = !levels_.empty() || !std::is_sorted(stacked.begin(), stacked.end());
    if (!merged_) {
      block_ = {exec, a, 1};
      own_first_ = identityPermutation<device_type>(exec, count());
      return;
    }
    const Permutation<device_type> perm = makePermutation<device_type>(
        exec,
        onDevice<device_type>(Teuchos::ArrayView<const Ordinal>(stacked), "Ainvil::new_to_old"));
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
    const auto list = [&](GO global) {
      all.emplace_back(global, static_cast<Ordinal>(all.size()));
    };
    for (int i = 0; i < compat::numLocalElements(rows); ++i)
      list(rows.getGlobalElement(i));
    for (const auto& level : levels_)
      for (const GO global : level.globals())
        list(global);
    const auto others = all.begin() + compat::numLocalElements(rows);
    own_ascend_ = std::is_sorted(all.begin(), others);
    if (!own_ascend_)
      std::sort(all.begin(), others);
    std::sort(others, all.end());
    for (auto other = others; other != all.end(); ++other) {
      others_.push_back(other->first);
      others_numbers_.push_back(other->second);
    }
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
    using Columns = std::decay_t<decltype(a.getColMap()->getLocalMap())>;
    const PermutedGraph<device_type> upper = detail::selectPlaced<device_type>(
        exec, localGraph(exec, *a.getCrsGraph()),
        placed(exec, *a.getRowMap(), compat::numLocalElements(*a.getColMap()),
               detail::GlobalOfColumn<Columns>{a.getColMap()->getLocalMap()}));
    if (levels_.empty())
      return upper;
    const PermutedGraph<device_type> lower = graphOfOthers(exec, *a.getRowMap());
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
    return {Graph<device_type>(all.num_rows, count(), all.row_map, all.entries), source};
  }

  /// Of the others' entries those in columns of rows that are there; makes room for their values.
  PermutedGraph<device_type> graphOfOthers(const execution_space& exec, const map_type& rows) {
    std::vector<Offset> offsets(1, 0);
    for (const auto& level : levels_)
      for (size_t k = 1; k < level.offsets().size(); ++k)
        offsets.push_back(offsets.back() + level.offsets()[k] - level.offsets()[k - 1]);
    others_values_ = allocate<Scalar, device_type>(exec, "Ainvil::values", offsets.back());
    const auto entries = allocate<Ordinal, device_type>(exec, "Ainvil::entries", offsets.back());
    Offset begin = 0;
    for (auto& level : levels_) {
      using Array = std::decay_t<decltype(level.columns())>;
      const Offset end = begin + level.offsets().back();
      const auto place =
          placed(exec, rows, end - begin, detail::GlobalInArray<Array>{level.columns()});
      Kokkos::deep_copy(exec, Kokkos::subview(entries, std::make_pair(begin, end)), place);
      ainvil::compat::fence(exec, "Ainvil::SortedRows");
      level.dropColumns();
      begin = end;
    }
    const auto n = static_cast<Ordinal>(offsets.size()) - 1;
    return ainvil::detail::selectWithSource(
        exec,
        Graph<device_type>(
            n, count(),
            onDevice<device_type>(Teuchos::ArrayView<const Offset>(offsets), "Ainvil::row_map"),
            entries),
        detail::IsPlaced<device_type>{entries});
  }

  /// The numbers of the rows, own ones above the others, that have the global numbers global(0),
  /// global(1), ...; -1 where there is none.
  template <class Global>
  Kokkos::View<const Ordinal*, device_type>
  placed(const execution_space& exec, const map_type& rows, Offset count, const Global& global) {
    const auto place = allocate<Ordinal, device_type>(exec, "Ainvil::place", count);
    const auto own = rows.getLocalMap();
    const auto others =
        onDevice<device_type>(Teuchos::ArrayView<const GO>(others_), "Ainvil::others");
    const auto numbers =
        onDevice<device_type>(Teuchos::ArrayView<const Ordinal>(others_numbers_), "Ainvil::others");
    Kokkos::parallel_for("Ainvil::SortedRows[place]",
                         ainvil::detail::Range<execution_space>(exec, 0, count),
                         detail::PlaceGlobals<std::decay_t<decltype(own)>,
                                              std::decay_t<decltype(others)>, Global, device_type>{
                             own, compat::numLocalElements(rows), others, numbers, global, place});
    ainvil::compat::fence(exec, "Ainvil::SortedRows"); // what it reads may go
    return place;
  }

  std::vector<ImportedRows<Scalar, LO, GO, Node>> levels_; ///< by their distance; empty: none
  std::vector<GO> others_;                                 ///< rows of other ranks, in order
  std::vector<Ordinal> others_numbers_;                    ///< of them, behind the own ones
  Kokkos::View<Scalar*, device_type> others_values_;       ///< level by level
  std::vector<GO> globals_;                                ///< of all rows
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
