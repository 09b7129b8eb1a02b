// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Factors of AINV and SAINV in blocks by plain dense right-looking (bi)conjugation, with which
/// those of the library are compared.

#include "precond/PrecondSupport.hpp"

#include "Ainvil_Ainv.hpp"

#include <vector>

namespace ainvil {
namespace test {

/// Dense row-major matrices of as many rows and columns as A has point rows.
struct BlockAinvReference {
  std::vector<double> z, w, d; ///< d is block diagonal
};

/// Z = W = I to begin with, and for the block rows i = 0, 1, ... of A:
///   of block column i of Z and of W, the max_column blocks of largest ||.||_F stay, that of the
///   diagonal among them, the upper of two equal ones;
///   D_i = W_i^T A Z_i (stabilized) or A_i^T Z_i, if symmetric the mean of that and its transposed;
///   for all j > i:  Z_j -= Z_i D_i^-1 P  with  P = W_i^T A Z_j  or  A_i^T Z_j,
///                   W_j -= W_i D_i^-T Q  with  Q = Z_i^T A^T W_j  or  (A E_i)^T W_j,
///   and after each of these updates, every block k != j of the column with ||X_kj||_F < drop
///   sqrt(b) is dropped, where X_kj is scaled from the left by the roots of the diagonal of A_kk,
///   and from the right by those of A_jj inverted, if dropping is relative.
/// W = Z if symmetric. Pivots are not judged. Of the parameters those that the formulas name are
/// read.
BlockAinvReference blockAinvReference(const HostBsr& a, const AinvParameters& parameters);

} // namespace test
} // namespace ainvil
