// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What a race looks at before it begins.

#include "Ainvil_BsrMatrix.hpp"

#include <string>
#include <vector>

namespace ainvil {
namespace detail {

/// What a matrix looks like, in scalars whatever its blocks.
struct MatrixTraits {
  Offset rows = 0, entries = 0;
  int block_size = 1;
  int natural_block_size = 1;     ///< largest blocks of scalar entries that are mostly full
  Offset longest_row = 0;         ///< entries
  Offset weak_diagonals = 0;      ///< rows whose diagonal block is zero beside them, to rounding
  Offset dominant_rows = 0;       ///< rows whose diagonal is at least the sum of the others
  bool symmetric = false;         ///< to rounding
  bool positive_diagonal = false; ///< of all rows
  bool indefinite = false;        ///< CG has found a direction with p.A p <= 0
  /// Products l_k u_k over the pivots k, l_k and u_k being the blocks of A in column k below and in
  /// row k right of the diagonal, over the blocks of A: what ILU(1) looks at at most.
  double fill_products = 0;

  bool maybeSpd() const { return symmetric && positive_diagonal && !indefinite; }
  std::vector<std::string> text() const; ///< a line each
};

/// All but `indefinite`: a few passes over the matrix, on the host, where GPUs have to copy it.
template <class Scalar, class Device>
MatrixTraits traitsOf(const typename Device::execution_space& exec,
                      const BsrMatrix<Scalar, Device>& a);

} // namespace detail
} // namespace ainvil
