// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Level sets of a triangular pattern: the rows of one level depend on rows of earlier levels only.

#include "Ainvil_BsrMatrix.hpp"

#include <vector>

namespace ainvil {

/// The rows of a triangular pattern by level.
template <class Device>
struct LevelSets {
  Kokkos::View<const Ordinal*, Device> rows; ///< all rows, level by level
  std::vector<Ordinal> offsets; ///< level l holds rows[offsets[l]] .. rows[offsets[l + 1] - 1]
  Kokkos::View<const unsigned*, Device> level; ///< of each row, counted from 1
  Kokkos::View<const unsigned*, Device> ends;  ///< offsets[l + 1] of level l, on the device

  /// Steps in sequence that a substitution takes.
  int numLevels() const { return static_cast<int>(offsets.size()) - 1; }
};

/// Level sets of a triangular graph, computed on the device: level(i) = 1 + max level(j) over the
/// entries j of row i other than i. Entries outside the triangle `uplo` are ignored. Waits for the
/// instance. Source: Anderson and Saad (1989). Cost: one pass over the graph where a kernel may
/// wait for its own earlier rows, else as many as there are levels in the worst case.
template <class Device>
LevelSets<Device> levelSets(const typename Device::execution_space& exec,
                            const Graph<Device>& graph, Uplo uplo);

} // namespace ainvil
