// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Where the iteration of InverseFactors begins.

#include "ainv/Ainvil_SparseColumns.hpp"
#include "backend/Ainvil_KokkosCompat.hpp"

namespace ainvil {
namespace detail {

/// Columns of one factor X to first order in the entries beside the diagonal:
///   x_jj = 1,  x_lj = -b_lj / a_ll for l < j, without what is below the drop tolerance,
/// and supports that are as wide, of columns of the identity. One for which a pool has no place, or
/// that would be longer than it may, stays what it is. A thread a column.
template <class Scalar, class Device>
struct FirstColumns {
  BsrMatrix<Scalar, Device> b_transposed; ///< its rows are the columns of B
  SparseColumns<Scalar, Device> x, supports;
  Kokkos::View<const Scalar*, Device> pivots; ///< of the identity: not 0
  Scalar drop;
  Kokkos::View<const Scalar*, Device> scales; ///< empty: the drop tolerance is absolute
  Ordinal max_column;                         ///< 0: any number of entries
  Counter<Device> num_entries;                ///< of all columns

  KOKKOS_FUNCTION void operator()(const Offset column) const {
    const Ordinal j = static_cast<Ordinal>(column);
    if (x.count(j) > 1)
      return;          // it has been made
    Ordinal count = 1; // x_jj
    forEachBefore(j, [&](Ordinal, Scalar) { ++count; });
    if (count == 1 || (max_column > 0 && count > max_column) ||
        !supports.pool.reserve(supports.list(j), count))
      return;
    supports.rows(supports.begin(j)) = j; // the pool may have moved it
    if (!x.pool.reserve(x.list(j), count))
      return;
    const Offset to = x.begin(j), support = supports.begin(j);
    Ordinal at = 0;
    forEachBefore(j, [&](Ordinal l, Scalar value) {
      x.rows(to + at) = supports.rows(support + at) = l;
      x.values(to + at) = value;
      ++at;
    });
    x.rows(to + at) = supports.rows(support + at) = j;
    x.values(to + at) = Scalar(1);
    x.count(j) = supports.count(j) = count;
    Kokkos::atomic_fetch_add(&num_entries(0), Offset(count - 1));
  }

  /// f(l, x_lj) for l < j, ascending.
  template <class F>
  KOKKOS_FUNCTION void forEachBefore(Ordinal j, const F& f) const {
    const Graph<Device>& graph = b_transposed.graph;
    for (Offset e = graph.row_map(j); e < graph.row_map(j + 1) && graph.entries(e) < j; ++e) {
      const Ordinal l = graph.entries(e);
      const Scalar value = -b_transposed.values(e) / pivots(l);
      const Scalar limit = scales.data() != nullptr ? drop * scales(j) / scales(l) : drop;
      if (compat::math::fabs(value) >= limit && value != Scalar(0))
        f(l, value);
    }
  }
};

} // namespace detail
} // namespace ainvil
