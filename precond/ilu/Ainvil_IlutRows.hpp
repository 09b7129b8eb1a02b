// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Patterns of threshold ILU by elimination row after row, on the host.

#include "Ainvil_GraphAlgebra.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"

namespace ainvil {
namespace detail {

/// Which entries of the factors threshold ILU keeps. The size of entry (i, j) is ||w_ij||_F, where
/// w_ij = A_ij - sum over k < min(i, j) of L_ik U_kj is L_ij below the diagonal and D_i U_ij above.
struct IlutRule {
  /// Entries of row i below so many times ||A_i||_F, A_i block row i of A, are dropped.
  double drop = 1e-3;
  /// Both factors have at most so many times the entries of A, but all diagonal blocks; the largest
  /// of what is left is kept, relative to ||A_i||_F.
  double max_fill = 10;

  /// Most entries beside the diagonal that the factors of `num_rows` rows with `entries` may have.
  Offset mostBeside(Offset entries, Ordinal num_rows) const {
    const double most = max_fill * double(entries) - num_rows;
    return most <= 0 ? 0 : most < 9e18 ? static_cast<Offset>(most) : Offset(9e18);
  }
};

/// The patterns of the factors by ILUT: row i of A is eliminated with the rows of U before, the
/// entries of w that are dropped below the diagonal eliminate nothing, and what is kept of row i is
/// all that later rows see of it. A row may use what earlier ones have left of the entries that
/// max_fill allows; in each row the largest are kept. Pivots that cannot be inverted are replaced as
/// the policy of `pivots` says, whatever it counts. One thread. Cost: that of the factorisation on
/// the pattern with the products that are dropped, and a heap of the columns below the diagonal.
/// Source: Saad, ILUT: a dual threshold incomplete LU factorization, Numer. Linear Algebra Appl. 1
/// (1994); there with p entries a row for either factor, and multipliers L_ik D_k^-1 in place of
/// L_ik.
template <class Scalar>
FillTriangles<HostDevice> ilutPattern(const BsrMatrix<Scalar, HostDevice>& a, const IlutRule& rule,
                                      const PivotInversion<Scalar>& pivots);

} // namespace detail
} // namespace ainvil
