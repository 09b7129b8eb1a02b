// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The factored approximate inverses AINV and SAINV by plain serial right-looking (bi)conjugation,
/// with which those of the library are compared.

#include "Ainvil_Preconditioner.hpp"

#include <utility>
#include <vector>

namespace ainvil {
namespace test {

struct AinvReferenceOptions {
  bool stabilized = true;
  bool symmetric = true; ///< W = Z
  double drop = 0.1;
  bool relative = false; ///< thresholds as if A were scaled to a unit diagonal
  int max_column = 0;    ///< 0: any number
  BreakdownPolicy breakdown = BreakdownPolicy::Fail; ///< fail: counts, and goes on as replace does
  double shift = 1e-3;
};

using SparseColumn = std::vector<std::pair<Ordinal, double>>; ///< (row, value), rows ascending

struct AinvReference {
  std::vector<SparseColumn> z, w; ///< w is empty if symmetric
  std::vector<double> pivots;
  Offset breakdowns = 0;
  Ordinal first_breakdown = -1;
};

/// With a_i^T for row i of A, Z = W = I to begin with, and for i = 0, 1, ..., n - 1:
///   of column i of Z and of W, the max_column largest entries stay, the diagonal among them, the
///   upper of two equal ones;
///   d_i = w_i^T A z_i  (stabilized)  or  a_i^T z_i; where that is not positive (is 0, if not
///   symmetric) or not finite, shift |a_ii| or |a_ii|, with 1 for |a_ii| = 0;
///   for all j > i:  z_j -= (p_j / d_i) z_i  with  p_j = w_i^T A z_j  or  a_i^T z_j,
///                   w_j -= (q_j / d_i) w_i  with  q_j = w_j^T A z_i  or  (A e_i)^T w_j,
///   and after each of these updates, every entry k != j of the column with |z_kj| < drop, or
///   drop sqrt(|a_jj| / |a_kk|) where a root of 0 counts as 1, is dropped.
/// \throws InvalidArgument unless A is square and has block size 1.
AinvReference ainvReference(const BsrMatrix<double, HostDevice>& a,
                            const AinvReferenceOptions& options);

/// Entries of all columns.
Offset numEntries(const std::vector<SparseColumn>& columns);

} // namespace test
} // namespace ainvil
