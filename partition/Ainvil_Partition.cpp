// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Partition.hpp"

#include "Ainvil_Ordering.hpp"
#include "backend/Ainvil_Profiling.hpp"
#include "graph/Ainvil_SelectEntries.hpp"
#include "metis/Ainvil_Metis.hpp"

#include <algorithm>
#include <vector>

namespace ainvil {
namespace {

using Exec = HostDevice::execution_space;
using Parts = Kokkos::View<Ordinal*, HostDevice>;

void requireParts(Ordinal rows, Ordinal parts) {
  if (parts < 1)
    throw InvalidArgument(
        message("a matrix cannot be divided into ", parts, " parts: ask for at least 1"));
  if (parts > std::max(rows, 1))
    throw InvalidArgument(message("a matrix of ", rows, " block rows cannot be divided into ",
                                  parts, " parts: ask for at most ", std::max(rows, 1)));
}

Parts assignRows(const Graph<HostDevice>& adjacent, Ordinal parts) {
  const Ordinal n = adjacent.num_rows;
  if (parts > 1 && parts < n && adjacent.numEntries() > 0)
    return detail::metisParts(adjacent, parts);
  const auto part_of = allocate<Ordinal, HostDevice>(Exec(), "Ainvil::part_of", n);
  for (Ordinal i = 0; i < n; ++i)
    part_of(i) = static_cast<Ordinal>(Offset(i) * parts / n);
  return part_of;
}

/// Closes the gaps that empty parts leave in the numbering.
void removeEmptyParts(const Parts& part_of, std::vector<Ordinal>& sizes) {
  std::vector<Ordinal> new_number(sizes.size());
  Ordinal found = 0;
  for (size_t part = 0; part < sizes.size(); ++part)
    new_number[part] = sizes[part] > 0 ? found++ : -1;
  for (size_t i = 0; i < part_of.extent(0); ++i)
    part_of(i) = new_number[part_of(i)];
  sizes.erase(std::remove(sizes.begin(), sizes.end(), 0), sizes.end());
}

/// Entries of the undirected graph between different parts; it holds each pair twice.
Offset entriesBetween(const Graph<HostDevice>& adjacent, const Parts& part_of) {
  Offset between = 0;
  Kokkos::parallel_reduce(
      "Ainvil::partition[cut]", detail::Range<Exec>(Exec(), 0, adjacent.num_rows),
      [=](const Offset row, Offset& sum) {
        for (Offset e = adjacent.row_map(row); e < adjacent.row_map(row + 1); ++e)
          sum += part_of(adjacent.entries(e)) != part_of(row) ? 1 : 0;
      },
      between);
  return between;
}

template <class Device>
struct InSamePart {
  Graph<Device> graph;
  Kokkos::View<const Ordinal*, Device> part_of;

  KOKKOS_FUNCTION bool operator()(Ordinal row, Offset e) const {
    return part_of(graph.entries(e)) == part_of(row);
  }
};

} // namespace

Partition<HostDevice> partition(const Graph<HostDevice>& graph, Ordinal parts) {
  ScopedRegion region("Ainvil::partition");
  return detail::reportingOutOfMemory("partition()", [&] {
    const Graph<HostDevice> adjacent = adjacency(graph);
    requireParts(graph.num_rows, parts);
    const Parts part_of = assignRows(adjacent, parts);
    std::vector<Ordinal> sizes(parts, 0);
    for (Ordinal i = 0; i < graph.num_rows; ++i)
      ++sizes[part_of(i)];
    removeEmptyParts(part_of, sizes);
    const Ordinal largest = sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
    return Partition<HostDevice>{part_of, static_cast<Ordinal>(sizes.size()),
                                 entriesBetween(adjacent, part_of) / 2, largest};
  });
}

template <class Device>
PermutedGraph<Device> entriesWithinParts(const typename Device::execution_space& exec,
                                         const Graph<Device>& graph,
                                         const Kokkos::View<const Ordinal*, Device>& part_of) {
  if (graph.num_rows != graph.num_cols || part_of.extent(0) != size_t(graph.num_rows))
    throw InvalidArgument(message("a partition of ", part_of.extent(0),
                                  " block rows does not fit a matrix of ", graph.num_rows,
                                  " block rows and ", graph.num_cols, " block columns"));
  ScopedRegion region("Ainvil::entriesWithinParts");
  const auto selected = detail::selectWithSource(exec, graph, InSamePart<Device>{graph, part_of});
  compat::fence(exec, "Ainvil::entriesWithinParts");
  return selected;
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template PermutedGraph<DEVICE> entriesWithinParts<DEVICE>(                                       \
      const typename DEVICE::execution_space&, const Graph<DEVICE>&,                               \
      const Kokkos::View<const Ordinal*, DEVICE>&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
