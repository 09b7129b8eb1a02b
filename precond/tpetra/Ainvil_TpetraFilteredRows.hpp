// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What is behind the matrix that Ifpack2's AdditiveSchwarz hands to its inner preconditioner.

#include "Ainvil_TpetraStackedRows.hpp"

#include <Ifpack2_LocalFilter.hpp>
#include <Ifpack2_OverlappingRowMatrix.hpp>

namespace ainvil {
namespace tpetra {
namespace detail {

/// The rows of A and those imported from other ranks in OverlappingRowMatrix(A), or those of A
/// alone, where `a` is Ifpack2's LocalFilter around one of these: its entries are those in the
/// first columns, as many as there are rows. `upper` is null for all other kinds, further filters
/// and orders around such a one included.
template <class Scalar, class LO, class GO, class Node>
StackedRows<Scalar, LO, GO, Node> filteredRows(const Tpetra::RowMatrix<Scalar, LO, GO, Node>& a) {
  using Rows = Tpetra::RowMatrix<Scalar, LO, GO, Node>;
  using Crs = Tpetra::CrsMatrix<Scalar, LO, GO, Node>;
  const auto* filter = dynamic_cast<const Ifpack2::LocalFilter<Rows>*>(&a);
  if (filter == nullptr)
    return {};
  const auto inside = filter->getUnderlyingMatrix();
  if (const auto* crs = dynamic_cast<const Crs*>(inside.getRawPtr()))
    return {crs, nullptr};
  const auto* overlapping =
      dynamic_cast<const Ifpack2::OverlappingRowMatrix<Rows>*>(inside.getRawPtr());
  if (overlapping == nullptr)
    return {};
  const auto upper = overlapping->getUnderlyingMatrix(), lower = overlapping->getExtMatrix();
  const auto *crs_upper = dynamic_cast<const Crs*>(upper.getRawPtr()),
             *crs_lower = dynamic_cast<const Crs*>(lower.getRawPtr());
  if (crs_upper == nullptr || crs_lower == nullptr)
    return {};
  return {crs_upper, crs_lower};
}

} // namespace detail
} // namespace tpetra
} // namespace ainvil
