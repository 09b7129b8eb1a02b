// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests of the gallery's problems share.

#include "TestSupport.hpp"
#include "gallery/Ainvil_Gallery.hpp"

namespace ainvil {
namespace test {

using Matrix = BsrMatrix<double, HostDevice>;

/// Block (i, j), or nullptr where none is stored.
inline const double* findBlock(const Matrix& a, Ordinal i, Ordinal j) {
  const Ordinal* columns = a.graph.entries.data();
  const Ordinal* end = columns + a.graph.row_map(i + 1);
  const Ordinal* entry = std::lower_bound(columns + a.graph.row_map(i), end, j);
  if (entry == end || *entry != j)
    return nullptr;
  return a.values.data() + (entry - columns) * a.block_size * a.block_size;
}

} // namespace test
} // namespace ainvil
