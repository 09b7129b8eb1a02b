// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ordering.hpp"

#include "Ainvil_Profiling.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace ainvil {
namespace {

std::string reason(int status) {
  switch (status) {
  case METIS_ERROR_MEMORY:
    return "there is not enough memory";
  case METIS_ERROR_INPUT:
    return "it refuses its input";
  default:
    return message("its status is ", status);
  }
}

/// METIS wants its own index type, of 32 or 64 bits as it was built, and arrays it could write to.
template <class View>
std::vector<idx_t> toMetis(const View& view) {
  return {view.data(), view.data() + view.extent(0)};
}

} // namespace

Permutation<HostDevice> nestedDissection(const Graph<HostDevice>& graph) {
  ScopedRegion region("Ainvil::nestedDissection");
  const HostDevice::execution_space exec;
  const Graph<HostDevice> adjacent = adjacency(graph);
  // METIS divides by the number of rows, and nothing depends on the order of isolated ones.
  if (adjacent.numEntries() == 0)
    return ordering(Ordering::Natural, graph);
  constexpr Offset limit = std::numeric_limits<idx_t>::max();
  if (adjacent.numEntries() > limit)
    throw InvalidArgument(message("the undirected graph of the matrix has ", adjacent.numEntries(),
                                  " entries, but the indices of this METIS end at ", limit,
                                  ": build Ainvil with a METIS of 64-bit indices, or use another "
                                  "ordering"));

  idx_t num_rows = graph.num_rows;
  std::vector<idx_t> row_map = toMetis(adjacent.row_map), entries = toMetis(adjacent.entries);
  std::vector<idx_t> new_to_old(num_rows), old_to_new(num_rows);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  const int status = METIS_NodeND(&num_rows, row_map.data(), entries.data(), nullptr, options,
                                  new_to_old.data(), old_to_new.data());
  if (status != METIS_OK)
    throw Error(message("METIS cannot order the graph of ", graph.num_rows, " rows and ",
                        adjacent.numEntries(), " entries: ", reason(status),
                        "; use another ordering"));
  const auto order = allocate<Ordinal, HostDevice>(exec, "Ainvil::new_to_old", graph.num_rows);
  std::copy(new_to_old.begin(), new_to_old.end(), order.data());
  return makePermutation<HostDevice>(exec, order);
}

} // namespace ainvil
