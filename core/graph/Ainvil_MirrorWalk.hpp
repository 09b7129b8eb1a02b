// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A walk of one thread of a host through the entries of a square pattern and their mirror images.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {
namespace detail {

/// Of how many threads a search of a row for each entry takes as long as this walk of one.
constexpr int threads_of_mirror_walk = 4;

/// Whether every entry (i, j) off the diagonal has a mirror image (j, i), and agree(e, mirror) says
/// so of all these and, for diagonal entries, of agree(e, e). Rows are sorted; `next` is room for a
/// number a row: next[j] is the first entry of row j right of its diagonal that no row has been a
/// mirror image of. Rows come in ascending order, as the columns of row j do, so it is the next one
/// to come.
template <class Device, class Agree>
bool matchesMirror(const Graph<Device>& graph, Offset* next, const Agree& agree) {
  for (Ordinal i = 0; i < graph.num_rows; ++i) {
    const Offset end = graph.row_map(i + 1);
    Offset e = graph.row_map(i);
    for (; e < end && graph.entries(e) < i; ++e) {
      const Ordinal j = graph.entries(e);
      const Offset mirror = next[j]++;
      if (mirror >= graph.row_map(j + 1) || graph.entries(mirror) != i || !agree(e, mirror))
        return false;
    }
    if (e < end && graph.entries(e) == i) {
      if (!agree(e, e))
        return false;
      ++e;
    }
    next[i] = e;
  }
  for (Ordinal j = 0; j < graph.num_rows; ++j)
    if (next[j] != graph.row_map(j + 1))
      return false;
  return true;
}

} // namespace detail
} // namespace ainvil
