// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The pattern of sparse columns by rows, to which a kernel may add while others read.

#include "ainv/Ainvil_SparseColumns.hpp"
#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_Lanes.hpp"

#include <climits>

namespace ainvil {
namespace detail {

/// Calls f with the rows of column j, in the version that current(j) tells, or in version 0 if
/// `current` is empty.
template <class Scalar, class Device>
struct RowsOfColumn {
  SparseColumns<Scalar, Device> columns;
  Kokkos::View<const char*, Device> current;

  template <class F>
  KOKKOS_FUNCTION void forEach(Ordinal j, const F& f) const {
    const int version = current.data() != nullptr ? current(j) : 0;
    const Offset begin = columns.begin(j, version), end = begin + columns.count(j, version);
    for (Offset e = begin; e < end; ++e)
      f(columns.rows(e));
  }
};

/// counts(row) = number of columns with an entry in the row; counts are zero before.
template <class Scalar, class Device>
struct CountColumnsByRow {
  RowsOfColumn<Scalar, Device> pattern;
  Kokkos::View<Offset*, Device> counts;

  KOKKOS_FUNCTION void operator()(Offset j) const {
    pattern.forEach(static_cast<Ordinal>(j),
                    [&](const Ordinal row) { Kokkos::atomic_fetch_add(&counts(row), Offset(1)); });
  }
};

/// columns(row_map(row)), ... = the columns with an entry in the row; `filled` is zero before.
template <class Scalar, class Device>
struct FillColumnsByRow {
  RowsOfColumn<Scalar, Device> pattern;
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> filled, columns;

  KOKKOS_FUNCTION void operator()(Offset column) const {
    const Ordinal j = static_cast<Ordinal>(column);
    pattern.forEach(j, [&](const Ordinal row) {
      columns(row_map(row) + Kokkos::atomic_fetch_add(&filled(row), Ordinal(1))) = j;
    });
  }
};

/// For every row the columns that have an entry in it, in no order: those at the last rebuild() in
/// compressed rows, those inserted since in a linked list a row. Nothing is removed in between: the
/// lists are a superset, in which a column may occur twice.
template <class Scalar, class Device>
struct ColumnsByRow {
  using execution_space = typename Device::execution_space;

  Kokkos::View<Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> columns; ///< may be longer than needed
  Kokkos::View<Ordinal*, Device> head;    ///< first link of the list of each row, or -1
  Kokkos::View<Ordinal*, Device> link_column, link_next;
  Counter<Device> num_links; ///< beyond the end of link_next if insert() failed
  Offset num_compressed = 0; ///< entries in compressed rows

  ColumnsByRow() = default;
  /// For n rows and columns. rebuild() comes before all else.
  ColumnsByRow(const execution_space& exec, Ordinal n, const Counter<Device>& counter)
      : row_map(allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(n) + 1)),
        head(allocate<Ordinal, Device>(exec, "Ainvil::head", n)), num_links(counter) {}

  KOKKOS_FUNCTION bool exists() const { return head.data() != nullptr; }

  /// Compresses the pattern as it is now and empties the linked lists. These have place for half as
  /// many entries as there are, and for 16 a row while columns are short. `filled` is workspace of
  /// n elements. Waits.
  void rebuild(const execution_space& exec, const RowsOfColumn<Scalar, Device>& pattern,
               const Kokkos::View<Ordinal*, Device>& filled) {
    const Offset n = static_cast<Offset>(head.extent(0));
    Kokkos::deep_copy(exec, row_map, 0);
    Kokkos::deep_copy(exec, filled, 0);
    Kokkos::parallel_for("Ainvil::ColumnsByRow[count]", Range<execution_space>(exec, 0, n),
                         CountColumnsByRow<Scalar, Device>{pattern, row_map});
    const Offset total = countsToOffsets(exec, row_map);
    if (Offset(columns.extent(0)) < total)
      columns = allocate<Ordinal, Device>(exec, "Ainvil::columns", total + total / 4);
    num_compressed = total;
    Kokkos::parallel_for("Ainvil::ColumnsByRow[fill]", Range<execution_space>(exec, 0, n),
                         FillColumnsByRow<Scalar, Device>{pattern, row_map, filled, columns});
    Kokkos::deep_copy(exec, head, -1);
    Kokkos::deep_copy(exec, num_links, 0);
    const Offset links = std::min<Offset>(INT_MAX / 2, total / 2 + 16 * n);
    if (Offset(link_next.extent(0)) < links) {
      link_next = allocate<Ordinal, Device>(exec, "Ainvil::link_next", links);
      link_column = allocate<Ordinal, Device>(exec, "Ainvil::link_column", links);
    }
  }

  /// Whether so many links fill more than half of their place: time to rebuild, before insert()
  /// fails and because linked lists are slow to read.
  bool isHalfFull(Offset links) const { return 2 * links > Offset(link_next.extent(0)); }

  /// Inserts column j into `count` rows, a lane each. False if there is no place for so many links.
  template <class Member>
  KOKKOS_INLINE_FUNCTION bool insert(const Member& member, Ordinal j, const Ordinal* rows,
                                     Ordinal count) const {
    Offset place = 0;
    Kokkos::single(
        Kokkos::PerThread(member),
        [&](Offset& begin) { begin = Kokkos::atomic_fetch_add(&num_links(0), Offset(count)); },
        place);
    if (place + count > Offset(link_next.extent(0))) // and so for all who come later in the round
      return false;
    const Ordinal first = static_cast<Ordinal>(place);
    forLanes(member, count, [&](const Ordinal e) {
      link_column(first + e) = j;
      Ordinal before = compat::volatileLoad(&head(rows[e])), expected;
      do {
        expected = before;
        link_next(first + e) = expected;
        Kokkos::memory_fence(); // the link is complete before the head leads to it
        before = Kokkos::atomic_compare_exchange(&head(rows[e]), expected, first + e);
      } while (before != expected);
    });
    return true;
  }

  /// Calls f(column) for the columns of a row. Others may be inserting: a column inserted during
  /// the call may be left out.
  template <class F>
  KOKKOS_INLINE_FUNCTION void forEach(Ordinal row, const F& f) const {
    const Offset end = row_map(row + 1);
    for (Offset e = row_map(row); e < end; ++e)
      f(columns(e));
    // Volatile: a cached copy of a link may be older than the head that leads to it.
    for (Ordinal link = compat::volatileLoad(&head(row)); link >= 0;
         link = compat::volatileLoad(&link_next(link)))
      f(compat::volatileLoad(&link_column(link)));
  }
};

} // namespace detail
} // namespace ainvil
