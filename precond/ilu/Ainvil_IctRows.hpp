// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Patterns of threshold IC by elimination row after row, on the host.

#include "Ainvil_GraphAlgebra.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"
#include "ilu/Ainvil_IlutRule.hpp"

#include <functional>

namespace ainvil {
namespace detail {

/// The pattern of the strictly upper triangle of U in A ~ U^T D U, U unit upper triangular, by the
/// rule of threshold ILU for its upper factor: row i of D U,
///   w_ij = A_ij - sum over k < i of w_ki^T D_k^-1 w_kj          for j >= i,
/// is computed from the rows k that have kept column i, and what is kept of it is all that later
/// rows see. Of `a`, which is symmetric, the upper triangle is read, and for the norms of rows all.
/// U has half of what max_fill allows both factors. A row may use what earlier ones have left; in
/// each the largest are kept. Pivots that cannot be inverted are counted and replaced as the policy
/// of `pivots` says; with `stops` the first ends the search, and the rows behind it are missing.
/// `progress`, if there is one, is told how many rows are done.
/// One thread. Cost: that of the factorisation on the pattern with the products that are dropped.
/// Sources: Saad, Iterative Methods for Sparse Linear Systems (2003), section 10.4; the kept rows
/// are found as in Lin, More, Incomplete Cholesky factorizations with limited memory, SIAM J. Sci.
/// Comput. 21 (1999), there by columns.
template <class Scalar>
Graph<HostDevice> ictPattern(const BsrMatrix<Scalar, HostDevice>& a, const IlutRule& rule,
                             const PivotInversion<Scalar>& pivots, bool stops,
                             const std::function<void(Offset)>& progress);

} // namespace detail
} // namespace ainvil
