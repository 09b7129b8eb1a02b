// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Patterns of threshold ILU by elimination row after row, on the host.

#include "Ainvil_GraphAlgebra.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"
#include "ilu/Ainvil_IlutRule.hpp"

#include <functional>

namespace ainvil {
namespace detail {

/// The patterns of the factors by ILUT: row i of A is eliminated with the rows of U before, the
/// entries of w that are dropped below the diagonal eliminate nothing, and what is kept of row i is
/// all that later rows see of it. A row may use what earlier ones have left of the entries that
/// max_fill allows; in each row the largest are kept. Pivots that cannot be inverted are replaced
/// as the policy of `pivots` says, whatever it counts. `progress`, if there is one, is told how
/// many rows are done. One thread. Cost: that of the factorisation on the pattern with the products
/// that are dropped, and a heap of the columns below the diagonal. Source: Saad, ILUT: a dual
/// threshold incomplete LU factorization, Numer. Linear Algebra Appl. 1 (1994); there with p
/// entries a row for either factor, and multipliers L_ik D_k^-1 in place of L_ik.
template <class Scalar>
FillTriangles<HostDevice> ilutPattern(const BsrMatrix<Scalar, HostDevice>& a, const IlutRule& rule,
                                      const PivotInversion<Scalar>& pivots,
                                      const std::function<void(Offset)>& progress);

} // namespace detail
} // namespace ainvil
