// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Graphs for the tests of the graph algebra.

#include "Ainvil_GraphAlgebra.hpp"
#include "TestSupport.hpp"

namespace ainvil {
namespace test {

using Device = DefaultDevice;
using Exec = Device::execution_space;

inline const std::vector<Ordinal> long_rows = {1, 31, 32, 33, 65, 300, 0};

inline Graph<Device> deviceGraph(const Rows& rows) {
  return copyTo<Device>(makeGraph(rows));
}
inline Graph<Device> deviceGraph(const Rows& rows, Ordinal num_cols) {
  return copyTo<Device>(makeGraph(rows, num_cols));
}
/// From raw arrays, right or wrong.
inline Graph<Device> deviceGraph(const std::vector<Offset>& row_map,
                                 const std::vector<Ordinal>& entries, Ordinal num_cols) {
  return {static_cast<Ordinal>(row_map.size()) - 1, num_cols, toDevice(row_map), toDevice(entries)};
}

inline RandomOptions anyDiagonal(std::uint64_t seed) {
  RandomOptions options;
  options.diagonal = false;
  options.seed = seed;
  return options;
}

inline Rows serialTriangle(const Rows& rows, Uplo uplo, Diagonal diagonal) {
  const Ordinal n = static_cast<Ordinal>(rows.size());
  Rows result(n);
  for (Ordinal i = 0; i < n; ++i) {
    for (const Ordinal j : rows[i])
      if (uplo == Uplo::Lower ? j < i : j > i)
        result[i].push_back(j);
    if (diagonal == Diagonal::Keep)
      result[i].push_back(i);
    std::sort(result[i].begin(), result[i].end());
  }
  return result;
}

} // namespace test
} // namespace ainvil
