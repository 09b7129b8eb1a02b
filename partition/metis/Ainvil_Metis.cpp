// SPDX-License-Identifier: BSD-3-Clause
#include "metis/Ainvil_Metis.hpp"

#include <metis.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

namespace ainvil {
namespace detail {
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

template <class View>
std::vector<idx_t> toMetis(const View& view) {
  return {view.data(), view.data() + view.extent(0)};
}

/// The graph as METIS wants it: in its own index type, of 32 or 64 bits as it was built, and in
/// arrays it could write to.
struct MetisGraph {
  idx_t num_rows;
  std::vector<idx_t> row_map, entries;
  idx_t options[METIS_NOPTIONS];

  /// Messages say what else the user might do.
  MetisGraph(const Graph<HostDevice>& graph, const char* instead) : num_rows(graph.num_rows) {
    constexpr Offset limit = std::numeric_limits<idx_t>::max();
    if (graph.numEntries() > limit)
      throw InvalidArgument(message("the undirected graph of the matrix has ", graph.numEntries(),
                                    " entries, but the indices of this METIS end at ", limit,
                                    ": build Ainvil with a METIS of 64-bit indices, or ", instead));
    row_map = toMetis(graph.row_map);
    entries = toMetis(graph.entries);
    METIS_SetDefaultOptions(options);
  }

  void check(int status, const char* task, const char* instead) const {
    if (status == METIS_OK)
      return;
    const std::string sentence =
        message("METIS cannot ", task, " the graph of ", num_rows, " rows and ", entries.size(),
                " entries: ", reason(status), "; ", instead);
    if (status == METIS_ERROR_MEMORY)
      throw OutOfMemory(sentence);
    throw Error(sentence);
  }
};

Kokkos::View<Ordinal*, HostDevice> fromMetis(const char* label, const std::vector<idx_t>& from) {
  const auto to = allocate<Ordinal, HostDevice>(HostDevice::execution_space(), label, from.size());
  std::copy(from.begin(), from.end(), to.data());
  return to;
}

} // namespace

Kokkos::View<Ordinal*, HostDevice> metisOrder(const Graph<HostDevice>& adjacent) {
  constexpr const char* instead = "use another ordering";
  MetisGraph graph(adjacent, instead);
  std::vector<idx_t> new_to_old(graph.num_rows), old_to_new(graph.num_rows);
  const int status = METIS_NodeND(&graph.num_rows, graph.row_map.data(), graph.entries.data(),
                                  nullptr, graph.options, new_to_old.data(), old_to_new.data());
  graph.check(status, "order", instead);
  return fromMetis("Ainvil::new_to_old", new_to_old);
}

Kokkos::View<Ordinal*, HostDevice> metisParts(const Graph<HostDevice>& adjacent, Ordinal parts) {
  constexpr const char* instead = "ask for a single part";
  MetisGraph graph(adjacent, instead);
  std::vector<idx_t> part_of(graph.num_rows);
  idx_t num_weights = 1, num_parts = parts, claimed_cut = 0;
  graph.options[METIS_OPTION_SEED] = 1;
  const int status = METIS_PartGraphKway(
      &graph.num_rows, &num_weights, graph.row_map.data(), graph.entries.data(), nullptr, nullptr,
      nullptr, &num_parts, nullptr, nullptr, graph.options, &claimed_cut, part_of.data());
  graph.check(status, "partition", instead);
  return fromMetis("Ainvil::part_of", part_of);
}

} // namespace detail
} // namespace ainvil
