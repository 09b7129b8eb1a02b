// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Which entries of its factors threshold ILU keeps.

#include "Ainvil_Types.hpp"

namespace ainvil {
namespace detail {

/// The size of entry (i, j) is ||w_ij||_F, where w_ij = A_ij - sum over k < min(i, j) of L_ik U_kj
/// is L_ij below the diagonal and D_i U_ij above.
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

} // namespace detail
} // namespace ainvil
