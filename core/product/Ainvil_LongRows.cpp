// SPDX-License-Identifier: BSD-3-Clause
#include "product/Ainvil_LongRows.hpp"

#include "backend/Ainvil_SizeClasses.hpp"

namespace ainvil {

using detail::Range;

template <class Device>
Ordinal detail::longestRow(const typename Device::execution_space& exec,
                           const Graph<Device>& graph) {
  return static_cast<Ordinal>(
      largestSize(exec, graph.num_rows, RowLength<Device>{graph.row_map}, LLONG_MAX));
}

template <class Device>
Kokkos::View<const Ordinal*, Device>
detail::rowsOfLength(const typename Device::execution_space& exec, const Graph<Device>& graph,
                     Offset smallest, Offset largest) {
  const auto rows = allocate<Ordinal, Device>(exec, "Ainvil::rowsOfLength", graph.num_rows);
  const Ordinal found = selectSizes(exec, graph.num_rows, RowLength<Device>{graph.row_map},
                                    smallest, largest, 0, rows);
  return Kokkos::subview(rows, std::make_pair(Ordinal(0), found));
}

namespace {

/// For every long row the number of segments of the rows before it, and their total at the end.
template <class Device>
Kokkos::View<Ordinal*, Device> firstSegments(const typename Device::execution_space& exec,
                                             const Graph<Device>& graph,
                                             const Kokkos::View<Ordinal*, Device>& rows) {
  using Exec = typename Device::execution_space;
  constexpr Offset length = LongRows<Device>::segment_length;
  const Offset count = rows.extent(0);
  const auto row_map = graph.row_map;
  const auto first = allocate<Ordinal, Device>(exec, "Ainvil::first_segment", count + 1);
  Kokkos::parallel_scan(
      "Ainvil::firstSegments", Range<Exec>(exec, 0, count + 1),
      KOKKOS_LAMBDA(const Offset k, Ordinal& sum, const bool final) {
        if (final)
          first(k) = sum;
        if (k < count)
          sum +=
              static_cast<Ordinal>((row_map(rows(k) + 1) - row_map(rows(k)) + length - 1) / length);
      });
  return first;
}

template <class Device>
Kokkos::View<Ordinal*, Device> segmentOwners(const typename Device::execution_space& exec,
                                             const Kokkos::View<Ordinal*, Device>& first,
                                             Ordinal num_segments) {
  using Exec = typename Device::execution_space;
  const auto owner = allocate<Ordinal, Device>(exec, "Ainvil::segment_owner", num_segments);
  Kokkos::parallel_for(
      "Ainvil::segmentOwners", Range<Exec>(exec, 0, first.extent(0) - 1),
      KOKKOS_LAMBDA(const Offset k) {
        for (Ordinal s = first(k); s < first(k + 1); ++s)
          owner(s) = static_cast<Ordinal>(k);
      });
  return owner;
}

} // namespace

template <class Device>
LongRows<Device>::LongRows(const execution_space& exec, const Graph<Device>& graph,
                           int block_size) {
  constexpr Offset always_short = 64;
  const Offset mean = graph.num_rows > 0 ? graph.numEntries() / graph.num_rows : 0;
  const Offset limit = std::max(always_short, 4 * mean);
  longest_ = detail::longestRow(exec, graph);
  if (longest_ <= limit)
    return;
  limit_ = limit;
  // What rowsOfLength returns keeps memory for all rows alive.
  const auto found = detail::rowsOfLength(exec, graph, limit, LLONG_MAX);
  const Ordinal count = static_cast<Ordinal>(found.extent(0));
  const auto rows = allocate<Ordinal, Device>(exec, "Ainvil::long_rows", count);
  Kokkos::deep_copy(exec, rows, found);
  const auto first = firstSegments(exec, graph, rows);
  num_segments_ = detail::readBack(exec, first, count);
  segments_ = {rows, first, segmentOwners(exec, first, num_segments_),
               allocateZeros<Ordinal, Device>(exec, "Ainvil::arrived", count),
               allocate<double, Device>(exec, "Ainvil::partials",
                                        size_t(num_segments_) * block_size * column_tile)};
  compat::fence(exec, "Ainvil::LongRows");
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template Ordinal detail::longestRow<DEVICE>(const typename DEVICE::execution_space&,             \
                                              const Graph<DEVICE>&);                               \
  template Kokkos::View<const Ordinal*, DEVICE> detail::rowsOfLength<DEVICE>(                      \
      const typename DEVICE::execution_space&, const Graph<DEVICE>&, Offset, Offset);              \
  template class LongRows<DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
