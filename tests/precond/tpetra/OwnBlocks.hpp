// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A matrix without the couplings between ranks, of which methods on a rank's block are the same;
/// and matrices to spread.

#include "precond/tpetra/TpetraSupport.hpp"

#include <algorithm>

namespace ainvil {
namespace test {

/// The entries of `a` in rows and columns that have the same owner.
inline HostBsr ownBlocks(const HostBsr& a, const std::vector<int>& owners) {
  Pattern pattern(a.numRows());
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      if (owners[i] == owners[a.graph.entries(e)])
        pattern[i].insert(a.graph.entries(e));
  const HostBsr own = matrixOn(pattern, a.block_size, 1);
  const Offset bs2 = a.block_size * a.block_size;
  Offset to = 0;
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      if (pattern[i].count(a.graph.entries(e)) > 0) {
        std::copy(a.values.data() + e * bs2, a.values.data() + (e + 1) * bs2,
                  own.values.data() + to * bs2);
        ++to;
      }
  return own;
}

/// 61 block rows, symmetric positive definite or not symmetric at all.
inline HostBsr matrixToSpread(bool spd, int block_size, std::uint64_t seed) {
  return spd ? spdMatrixOn(symmetricPattern(61, 4, 71), block_size, seed)
             : matrixOn(randomPattern(61, 5, 71), block_size, seed);
}

} // namespace test
} // namespace ainvil
