// SPDX-License-Identifier: BSD-3-Clause
#include "product/Ainvil_NearColumns.hpp"

#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_RowTeams.hpp"

namespace ainvil {
namespace {

/// The lowest and the highest diagonal, column less row, that entries of a row lie on.
struct DiagonalsOfRow {
  detail::KernelGraph graph;

  KOKKOS_FUNCTION void operator()(Offset row, Kokkos::MinMaxScalar<Offset>& range) const {
    for (Offset k = graph.row_map(row); k < graph.row_map(row + 1); ++k) {
      const Offset diagonal = graph.entries(k) - row;
      range.min_val = diagonal < range.min_val ? diagonal : range.min_val;
      range.max_val = diagonal > range.max_val ? diagonal : range.max_val;
    }
  }
};

/// distances(k) = column of entry k - its row - first, a row an item.
struct DistancesOfRow {
  detail::KernelGraph graph;
  Offset first;
  detail::KernelArray<std::uint16_t> distances;

  KOKKOS_FUNCTION void operator()(Offset row) const {
    for (Offset k = graph.row_map(row); k < graph.row_map(row + 1); ++k)
      distances(k) = static_cast<std::uint16_t>(graph.entries(k) - row - first);
  }
};

} // namespace

template <class Device>
detail::NearColumns<Device> detail::nearColumns(const typename Device::execution_space& exec,
                                                const Graph<Device>& graph) {
  const Range<typename Device::execution_space> rows(exec, 0, graph.num_rows);
  Kokkos::MinMaxScalar<Offset> diagonals;
  Kokkos::parallel_reduce("Ainvil::nearColumns[diagonals]", rows, DiagonalsOfRow{graph},
                          Kokkos::MinMax<Offset>(diagonals));
  if (graph.numEntries() == 0 || diagonals.max_val - diagonals.min_val > UINT16_MAX)
    return {};
  const auto distances =
      allocate<std::uint16_t, Device>(exec, "Ainvil::near_columns", graph.numEntries());
  Kokkos::parallel_for("Ainvil::nearColumns", rows,
                       DistancesOfRow{graph, diagonals.min_val, distances});
  return {distances, diagonals.min_val};
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template detail::NearColumns<DEVICE> detail::nearColumns(const DEVICE::execution_space&,         \
                                                           const Graph<DEVICE>&);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
