// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Sparse columns that change their length while they are computed, and the memory they share.

#include "Ainvil_BsrMatrix.hpp"
#include "graph/Ainvil_RowSearch.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

/// One number that kernels add to. Its owner keeps all of them in one array, to read them at once.
template <class Device>
using Counter = Kokkos::View<Offset*, Device>;

/// begin(list) = capacity(list)
template <class Device>
struct CapacityOfList {
  Kokkos::View<const Ordinal*, Device> capacity;
  Kokkos::View<Offset*, Device> begin;

  KOKKOS_FUNCTION void operator()(Offset list) const { begin(list) = capacity(list); }
};

/// Where each of many lists lies in one array. A list that outgrows its capacity moves to the end
/// of the array, and its old place is lost until the next grown(). At the end of the array
/// reserve() fails, and the cursor stays beyond `size`, by which the host sees that it must grow
/// the pool.
template <class Device>
struct ListPool {
  using execution_space = typename Device::execution_space;

  Kokkos::View<Offset*, Device> begin;
  Kokkos::View<Ordinal*, Device> capacity;
  Counter<Device> cursor; ///< end of what is taken; beyond `size` if reserve() failed
  Offset size = 0;        ///< elements of the array

  ListPool() = default;
  /// Every list has the capacity `each`, and half of the array is left for lists that grow.
  ListPool(const execution_space& exec, Offset num_lists, Ordinal each,
           const Counter<Device>& counter)
      : begin(allocate<Offset, Device>(exec, "Ainvil::begin", num_lists + 1)),
        capacity(allocate<Ordinal, Device>(exec, "Ainvil::capacity", num_lists)), cursor(counter),
        size(2 * num_lists * each) {
    Kokkos::deep_copy(exec, capacity, each);
    pack(exec, *this);
  }

  /// Makes sure that a list can have `count` elements; if it moves, what it held is lost. False at
  /// the end of the array.
  KOKKOS_FUNCTION bool reserve(Offset list, Ordinal count) const {
    if (count <= capacity(list))
      return true;
    const Ordinal wanted =
        count + count / 4 + 1; // a quarter more: columns grow from round to round
    const Offset at = Kokkos::atomic_fetch_add(&cursor(0), Offset(wanted));
    if (at + wanted > size)
      return false;
    begin(list) = at;
    capacity(list) = wanted;
    return true;
  }

  /// The same capacities without the gaps that moved lists left, in an array at least twice as long
  /// as before and at least half free.
  ListPool grown(const execution_space& exec) const {
    ListPool result;
    result.begin = allocate<Offset, Device>(exec, "Ainvil::begin", begin.extent(0));
    result.capacity = capacity;
    result.cursor = cursor;
    result.size = std::max(2 * size, 2 * pack(exec, result));
    return result;
  }

  /// Places the lists one after the other; returns the sum of their capacities.
  static Offset pack(const execution_space& exec, const ListPool& pool) {
    const Offset n = static_cast<Offset>(pool.capacity.extent(0));
    Kokkos::parallel_for("Ainvil::ListPool[pack]", Range<execution_space>(exec, 0, n),
                         CapacityOfList<Device>{pool.capacity, pool.begin});
    const Offset total = countsToOffsets(exec, pool.begin);
    Kokkos::deep_copy(exec, pool.cursor, total);
    return total;
  }
};

enum class ColumnContent { Pattern, Values };

/// n sparse columns, or their patterns only, in one or two versions. With two, a round of
/// InverseFactors reads one version of a column and writes the other.
template <class Scalar, class Device>
struct SparseColumns {
  using execution_space = typename Device::execution_space;

  Ordinal num_columns = 0;
  ListPool<Device> pool;
  Kokkos::View<Ordinal*, Device> rows;
  Kokkos::View<Scalar*, Device> values;  ///< empty if only patterns are kept
  Kokkos::View<Ordinal*, Device> counts; ///< of version 0 of all columns, then of version 1

  SparseColumns() = default;
  /// Version 0 is the identity, version 1 is empty; all with a capacity of `each` entries.
  SparseColumns(const execution_space& exec, Ordinal n, int num_versions, ColumnContent content,
                Ordinal each, const Counter<Device>& cursor)
      : num_columns(n), pool(exec, Offset(num_versions) * n, each, cursor),
        counts(allocate<Ordinal, Device>(exec, "Ainvil::counts", size_t(num_versions) * n)) {
    allocateEntries(exec, content);
    Kokkos::parallel_for("Ainvil::SparseColumns[identity]",
                         Range<execution_space>(exec, 0, counts.extent(0)), Identity{*this});
  }

  KOKKOS_FUNCTION Offset list(Ordinal j, int version = 0) const {
    return j + Offset(version) * num_columns;
  }
  /// Position of the first entry in `rows` and `values`.
  KOKKOS_FUNCTION Offset begin(Ordinal j, int version = 0) const {
    return pool.begin(list(j, version));
  }
  /// Number of entries.
  KOKKOS_FUNCTION Ordinal& count(Ordinal j, int version = 0) const {
    return counts(list(j, version));
  }

  /// Grows the pool where reserve() has failed in it; the columns keep their entries. Waits.
  void grow(const execution_space& exec) {
    const SparseColumns from = *this;
    pool = pool.grown(exec);
    allocateEntries(exec,
                    from.values.data() != nullptr ? ColumnContent::Values : ColumnContent::Pattern);
    Kokkos::parallel_for("Ainvil::SparseColumns[grow]",
                         Range<execution_space>(exec, 0, counts.extent(0)), Copy{from, *this});
  }

  struct Identity; ///< lists become columns of the identity
  struct Copy;     ///< copies lists to their new places

private:
  void allocateEntries(const execution_space& exec, ColumnContent content) {
    rows = allocate<Ordinal, Device>(exec, "Ainvil::rows", pool.size);
    if (content == ColumnContent::Values)
      values = allocate<Scalar, Device>(exec, "Ainvil::values", pool.size);
  }
};

template <class Scalar, class Device>
struct SparseColumns<Scalar, Device>::Identity {
  SparseColumns columns;

  KOKKOS_FUNCTION void operator()(Offset list) const {
    columns.counts(list) = list < columns.num_columns ? 1 : 0;
    if (list >= columns.num_columns)
      return;
    columns.rows(columns.pool.begin(list)) = static_cast<Ordinal>(list);
    if (columns.values.data() != nullptr)
      columns.values(columns.pool.begin(list)) = Scalar(1);
  }
};

template <class Scalar, class Device>
struct SparseColumns<Scalar, Device>::Copy {
  SparseColumns from, to;

  KOKKOS_FUNCTION void operator()(Offset list) const {
    const Offset source = from.pool.begin(list), target = to.pool.begin(list);
    for (Ordinal k = 0; k < from.counts(list); ++k) {
      to.rows(target + k) = from.rows(source + k);
      if (to.values.data() != nullptr)
        to.values(target + k) = from.values(source + k);
    }
  }
};

} // namespace detail
} // namespace ainvil
