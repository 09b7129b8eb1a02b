// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Sparse columns that change their length while they are computed.

#include "graph/Ainvil_RowSearch.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

/// One number that kernels add to; the owner may keep several in one array, to read them at once.
template <class Device>
using Counter = Kokkos::View<Offset*, Device>;

/// begin(list) = capacity(list)
template <class Device>
struct CapacityOfList {
  Kokkos::View<const Ordinal*, Device> capacity;
  Kokkos::View<Offset*, Device> begin;

  KOKKOS_FUNCTION void operator()(Offset list) const { begin(list) = capacity(list); }
};

/// Lists of changing length in one array: a list that outgrows its place moves to the end. When the
/// end is reached, place() fails until grown() has made room.
template <class Device>
struct ListPool {
  using execution_space = typename Device::execution_space;

  Kokkos::View<Offset*, Device> begin;
  Kokkos::View<Ordinal*, Device> capacity;
  Counter<Device> cursor; ///< end of what is taken; past `size` if place() failed
  Offset size = 0;

  ListPool() = default;
  /// Every list has place for `each` elements, and there is as much left.
  ListPool(const execution_space& exec, Offset num_lists, Ordinal each,
           const Counter<Device>& counter)
      : begin(allocate<Offset, Device>(exec, "Ainvil::begin", num_lists + 1)),
        capacity(allocate<Ordinal, Device>(exec, "Ainvil::capacity", num_lists)), cursor(counter),
        size(2 * num_lists * each) {
    Kokkos::deep_copy(exec, capacity, each);
    placeInOrder(exec, *this);
  }

  /// Makes sure that the list has place for so many elements; where it moves, they are lost.
  KOKKOS_FUNCTION bool place(Offset list, Ordinal count) const {
    if (count <= capacity(list))
      return true;
    const Ordinal room = count + count / 4 + 1;
    const Offset at = Kokkos::atomic_fetch_add(&cursor(0), Offset(room));
    if (at + room > size)
      return false;
    begin(list) = at;
    capacity(list) = room;
    return true;
  }

  /// The same lists without gaps, and as much place again, or the size before twice.
  ListPool grown(const execution_space& exec) const {
    ListPool result;
    result.begin = allocate<Offset, Device>(exec, "Ainvil::begin", begin.extent(0));
    result.capacity = capacity;
    result.cursor = cursor;
    result.size = std::max(2 * size, 2 * placeInOrder(exec, result));
    return result;
  }

  /// Lists one after the other, as long as their capacities; returns the sum of these.
  static Offset placeInOrder(const execution_space& exec, const ListPool& pool) {
    const Offset n = static_cast<Offset>(pool.capacity.extent(0));
    Kokkos::parallel_for("Ainvil::ListPool[place]", Range<execution_space>(exec, 0, n),
                         CapacityOfList<Device>{pool.capacity, pool.begin});
    const Offset total = countsToOffsets(exec, pool.begin);
    Kokkos::deep_copy(exec, pool.cursor, total);
    return total;
  }
};

/// n lists of indices.
template <class Device>
struct IndexLists {
  using execution_space = typename Device::execution_space;

  ListPool<Device> pool;
  Kokkos::View<Ordinal*, Device> indices;
  Kokkos::View<Ordinal*, Device> count;

  IndexLists() = default;
  /// Place for `each` in every list; list j holds j.
  IndexLists(const execution_space& exec, Ordinal n, Ordinal each, const Counter<Device>& cursor)
      : pool(exec, n, each, cursor),
        indices(allocate<Ordinal, Device>(exec, "Ainvil::indices", pool.size)),
        count(allocate<Ordinal, Device>(exec, "Ainvil::count", n)) {
    Kokkos::parallel_for("Ainvil::IndexLists[identity]", Range<execution_space>(exec, 0, n),
                         Identity{*this});
  }

  /// Makes place where there is none left; what the lists hold stays. Waits.
  void grow(const execution_space& exec) {
    const IndexLists from = *this;
    pool = pool.grown(exec);
    indices = allocate<Ordinal, Device>(exec, "Ainvil::indices", pool.size);
    Kokkos::parallel_for("Ainvil::IndexLists[grow]",
                         Range<execution_space>(exec, 0, count.extent(0)), Copy{from, *this});
  }

  struct Identity; ///< makes list j hold j
  struct Copy;     ///< copies list j to another place
};

template <class Device>
struct IndexLists<Device>::Identity {
  IndexLists lists;

  KOKKOS_FUNCTION void operator()(Offset j) const {
    lists.indices(lists.pool.begin(j)) = static_cast<Ordinal>(j);
    lists.count(j) = 1;
  }
};

template <class Device>
struct IndexLists<Device>::Copy {
  IndexLists from, to;

  KOKKOS_FUNCTION void operator()(Offset j) const {
    for (Ordinal k = 0; k < from.count(j); ++k)
      to.indices(to.pool.begin(j) + k) = from.indices(from.pool.begin(j) + k);
  }
};

/// n sparse columns, rows ascending, each in two versions, 0 and 1: kernels read one and write the
/// other.
template <class Scalar, class Device>
struct FactorColumns {
  using execution_space = typename Device::execution_space;

  Ordinal num_columns = 0;
  ListPool<Device> pool;
  Kokkos::View<Ordinal*, Device> rows;
  Kokkos::View<Scalar*, Device> values;
  Kokkos::View<Ordinal*, Device> counts; ///< of version 0, then of version 1

  FactorColumns() = default;
  /// The columns of the identity as version 0, with place for `each` entries.
  FactorColumns(const execution_space& exec, Ordinal n, Ordinal each, const Counter<Device>& cursor)
      : num_columns(n), pool(exec, 2 * Offset(n), each, cursor),
        rows(allocate<Ordinal, Device>(exec, "Ainvil::rows", pool.size)),
        values(allocate<Scalar, Device>(exec, "Ainvil::values", pool.size)),
        counts(allocate<Ordinal, Device>(exec, "Ainvil::counts", 2 * size_t(n))) {
    Kokkos::parallel_for("Ainvil::FactorColumns[identity]", Range<execution_space>(exec, 0, n),
                         Identity{*this});
  }

  KOKKOS_FUNCTION Offset list(Ordinal j, int version) const {
    return j + Offset(version) * num_columns;
  }
  /// Position of the first entry, and the number of entries.
  KOKKOS_FUNCTION Offset begin(Ordinal j, int version) const {
    return pool.begin(list(j, version));
  }
  KOKKOS_FUNCTION Ordinal& count(Ordinal j, int version) const { return counts(list(j, version)); }

  /// Makes place where there is none left; what the columns hold stays. Waits.
  void grow(const execution_space& exec) {
    const FactorColumns from = *this;
    pool = pool.grown(exec);
    rows = allocate<Ordinal, Device>(exec, "Ainvil::rows", pool.size);
    values = allocate<Scalar, Device>(exec, "Ainvil::values", pool.size);
    Kokkos::parallel_for("Ainvil::FactorColumns[grow]",
                         Range<execution_space>(exec, 0, counts.extent(0)), Copy{from, *this});
  }

  struct Identity; ///< makes column j that of the identity
  struct Copy;     ///< copies a version of a column to another place
};

template <class Scalar, class Device>
struct FactorColumns<Scalar, Device>::Identity {
  FactorColumns columns;

  KOKKOS_FUNCTION void operator()(Offset column) const {
    const Ordinal j = static_cast<Ordinal>(column);
    columns.rows(columns.begin(j, 0)) = j;
    columns.values(columns.begin(j, 0)) = Scalar(1);
    columns.count(j, 0) = 1;
    columns.count(j, 1) = 0;
  }
};

template <class Scalar, class Device>
struct FactorColumns<Scalar, Device>::Copy {
  FactorColumns from, to;

  KOKKOS_FUNCTION void operator()(Offset list) const {
    for (Ordinal k = 0; k < from.counts(list); ++k) {
      to.rows(to.pool.begin(list) + k) = from.rows(from.pool.begin(list) + k);
      to.values(to.pool.begin(list) + k) = from.values(from.pool.begin(list) + k);
    }
  }
};

/// counts(row) <- number of columns j for which rowsOf(j, f) calls f(row)
template <class RowsOf, class Device>
struct CountColumnsOfRows {
  RowsOf rowsOf;
  Kokkos::View<Offset*, Device> counts;

  KOKKOS_FUNCTION void operator()(Offset j) const {
    rowsOf(static_cast<Ordinal>(j),
           [&](const Ordinal row) { Kokkos::atomic_fetch_add(&counts(row), Offset(1)); });
  }
};

template <class RowsOf, class Device>
struct FillColumnsOfRows {
  RowsOf rowsOf;
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> cursor, columns;

  KOKKOS_FUNCTION void operator()(Offset column) const {
    const Ordinal j = static_cast<Ordinal>(column);
    rowsOf(j, [&](const Ordinal row) {
      columns(row_map(row) + Kokkos::atomic_fetch_add(&cursor(row), Ordinal(1))) = j;
    });
  }
};

/// For every row the columns that concern it, in no order: those of the last listing in a list,
/// and in a chain those that were added since. Columns stay that no longer concern the row.
template <class Device>
struct ColumnsOfRows {
  using execution_space = typename Device::execution_space;

  Kokkos::View<Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> columns; ///< may be longer than needed
  Kokkos::View<Ordinal*, Device> head;    ///< first link of the chain of each row, or -1
  Kokkos::View<Ordinal*, Device> link_column, link_next;
  Counter<Device> num_links; ///< past the end if add() failed
  Offset num_listed = 0;

  ColumnsOfRows() = default;
  /// For n rows and columns, to be listed.
  ColumnsOfRows(const execution_space& exec, Ordinal n, const Counter<Device>& counter)
      : row_map(allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(n) + 1)),
        head(allocate<Ordinal, Device>(exec, "Ainvil::head", n)), num_links(counter) {}

  /// Lists every column by the rows that rowsOf(j, f) calls f with, and leaves the chains empty,
  /// with place for half as many again. `cursor` is for n elements to work with. Waits.
  template <class RowsOf>
  void list(const execution_space& exec, const RowsOf& rowsOf,
            const Kokkos::View<Ordinal*, Device>& cursor) {
    const Offset n = static_cast<Offset>(head.extent(0));
    Kokkos::deep_copy(exec, row_map, 0);
    Kokkos::deep_copy(exec, cursor, 0);
    Kokkos::parallel_for("Ainvil::ColumnsOfRows[count]", Range<execution_space>(exec, 0, n),
                         CountColumnsOfRows<RowsOf, Device>{rowsOf, row_map});
    const Offset total = countsToOffsets(exec, row_map);
    if (Offset(columns.extent(0)) < total)
      columns = allocate<Ordinal, Device>(exec, "Ainvil::columns", total + total / 4);
    num_listed = total;
    Kokkos::parallel_for("Ainvil::ColumnsOfRows[fill]", Range<execution_space>(exec, 0, n),
                         FillColumnsOfRows<RowsOf, Device>{rowsOf, row_map, cursor, columns});
    Kokkos::deep_copy(exec, head, -1);
    Kokkos::deep_copy(exec, num_links, 0);
    const Offset links = std::min<Offset>(INT_MAX / 2, total / 2 + 16 * n);
    if (Offset(link_next.extent(0)) < links) {
      link_next = allocate<Ordinal, Device>(exec, "Ainvil::link_next", links);
      link_column = allocate<Ordinal, Device>(exec, "Ainvil::link_column", links);
    }
  }

  /// True if chains of so many links are more than half full: time for a new listing.
  bool areLong(Offset links) const { return 2 * links > Offset(link_next.extent(0)); }

  /// Adds column j to the chains of `count` rows, a lane each. False if there is no room for so
  /// many.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool add(const Member& member, Ordinal j, const Ordinal* rows,
                                  Ordinal count) const {
    Offset place = 0;
    Kokkos::single(
        Kokkos::PerThread(member),
        [&](Offset& begin) { begin = Kokkos::atomic_fetch_add(&num_links(0), Offset(count)); },
        place);
    if (place + count > Offset(link_next.extent(0))) // stays so: others find no room either
      return false;
    const Ordinal first = static_cast<Ordinal>(place);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, count), [&](const Ordinal e) {
      link_column(first + e) = j;
      Ordinal before = compat::volatileLoad(&head(rows[e])), expected;
      do {
        expected = before;
        link_next(first + e) = expected;
        Kokkos::memory_fence();
        before = Kokkos::atomic_compare_exchange(&head(rows[e]), expected, first + e);
      } while (before != expected);
    });
    return true;
  }

  /// Calls f(column) for the columns of row l.
  template <class F>
  KOKKOS_INLINE_FUNCTION void forEach(Ordinal l, const F& f) const {
    const Offset end = row_map(l + 1);
    for (Offset e = row_map(l); e < end; ++e)
      f(columns(e));
    // Other threads may be adding: what lies in a cache may be older than the link that led here.
    for (Ordinal link = compat::volatileLoad(&head(l)); link >= 0;
         link = compat::volatileLoad(&link_next(link)))
      f(compat::volatileLoad(&link_column(link)));
  }
};

/// Calls f with the rows of column j as it is.
template <class Scalar, class Device>
struct RowsOfCurrent {
  FactorColumns<Scalar, Device> columns;
  Kokkos::View<const char*, Device> current;

  template <class F>
  KOKKOS_FUNCTION void operator()(Ordinal j, const F& f) const {
    const int version = current(j);
    const Offset begin = columns.begin(j, version), end = begin + columns.count(j, version);
    for (Offset e = begin; e < end; ++e)
      f(columns.rows(e));
  }
};

/// Calls f with the rows that column j touched.
template <class Device>
struct RowsTouched {
  IndexLists<Device> touched;

  template <class F>
  KOKKOS_FUNCTION void operator()(Ordinal j, const F& f) const {
    const Offset begin = touched.pool.begin(j), end = begin + touched.count(j);
    for (Offset e = begin; e < end; ++e)
      f(touched.indices(e));
  }
};

/// Why the computation of columns ended before all were done: a pivot broke down for good under the
/// policy `fail`, or the columns have more entries than they may.
enum class FactorStop { None, Breakdown, TooFull };

/// By what a column differs from its version before.
enum class Change : char { None, Values, Rows };

/// What the columns of both factors have in common; one element a column.
template <class Scalar, class Device>
struct FactorState {
  Kokkos::View<char*, Device> current;  ///< version of z_j, w_j and d_j
  Kokkos::View<char*, Device> changed;  ///< a Change; if any, the other version is the new one
  Kokkos::View<Scalar*, Device> pivots; ///< d_j, in two versions like columns
  Kokkos::View<char*, Device> broken;   ///< d_j is not what the columns give
  Kokkos::View<Ordinal*, Device> rooms; ///< of the hash tables a column needs, a power of two
  Kokkos::View<char*, Device> dirty;    ///< to be computed
  /// Column j was computed in this round with the new versions of the columns base(j), ..., j - 1;
  /// or it was not and base(j) = -1.
  Kokkos::View<Ordinal*, Device> base;
};

/// 1 for dirty columns.
template <class Device>
struct IsDirty {
  Kokkos::View<const char*, Device> dirty;

  KOKKOS_FUNCTION Offset operator()(Offset j) const { return dirty(j) != 0 ? 1 : 0; }
};

/// The room that column j needs, 0 if it is clean.
template <class Scalar, class Device>
struct RoomOfDirty {
  FactorState<Scalar, Device> state;

  KOKKOS_FUNCTION Offset operator()(Offset j) const {
    return state.dirty(j) != 0 ? state.rooms(j) : 0;
  }
};

/// The pivot of column j is not what the columns give.
template <class Device>
struct IsBroken {
  Kokkos::View<const char*, Device> broken;

  KOKKOS_FUNCTION bool operator()(Offset j) const { return broken(j) != 0; }
};

} // namespace detail
} // namespace ainvil
