// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ordering.hpp"
#include "backend/Ainvil_Profiling.hpp"
#include "metis/Ainvil_Metis.hpp"

namespace ainvil {

Permutation<HostDevice> nestedDissection(const Graph<HostDevice>& graph) {
  ScopedRegion region("Ainvil::nestedDissection");
  return detail::reportingOutOfMemory("nestedDissection()", [&] {
    const Graph<HostDevice> adjacent = adjacency(graph);
    // Nothing depends on the order of isolated rows.
    if (adjacent.numEntries() == 0)
      return ordering(Ordering::Natural, graph);
    return makePermutation<HostDevice>(HostDevice::execution_space(), detail::metisOrder(adjacent));
  });
}

} // namespace ainvil
