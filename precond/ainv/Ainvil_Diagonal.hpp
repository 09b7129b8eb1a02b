// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What inverse factors take from the diagonal of A, whose block size is 1.

#include "Ainvil_BsrMatrix.hpp"
#include "graph/Ainvil_RowSearch.hpp"

namespace ainvil {
namespace detail {

/// a_ii, 0 where it is missing.
template <class Scalar, class Device>
KOKKOS_INLINE_FUNCTION Scalar diagonalEntry(const BsrMatrix<Scalar, Device>& a, Ordinal i) {
  const Offset at = findEntry(a.graph.entries, a.graph.row_map(i), a.graph.row_map(i + 1), i);
  return at < 0 ? Scalar(0) : a.values(at);
}

/// pivots(j) = a_jj, the pivot of column j of Z = W = I; 1 where that is 0.
template <class Scalar, class Device>
struct PivotsOfIdentity {
  BsrMatrix<Scalar, Device> a;
  Kokkos::View<Scalar*, Device> pivots;

  KOKKOS_FUNCTION void operator()(Offset j) const {
    const Scalar d = diagonalEntry(a, static_cast<Ordinal>(j));
    pivots(j) = d != Scalar(0) ? d : Scalar(1);
  }
};

/// roots(k) = sqrt |a_kk|; 1 where that is 0.
template <class Scalar, class Device>
struct DiagonalRoots {
  BsrMatrix<Scalar, Device> a;
  Kokkos::View<Scalar*, Device> roots;

  KOKKOS_FUNCTION void operator()(Offset k) const {
    const Scalar size = compat::math::fabs(diagonalEntry(a, static_cast<Ordinal>(k)));
    roots(k) = size > Scalar(0) ? compat::math::sqrt(size) : Scalar(1);
  }
};

} // namespace detail
} // namespace ainvil
