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
  rows_ = rows;
  first_segment_ = first;
  owner_ = segmentOwners(exec, first, num_segments_);
  workspaces_ = std::make_shared<detail::SegmentWorkspaces<Device>>(
      count, size_t(num_segments_) * block_size * detail::most_columns);
  workspaces_->giveBack(workspaces_->take(exec));
  compat::fence(exec, "Ainvil::LongRows");
}

template <class Device>
typename detail::SegmentWorkspaces<Device>::Workspace&
detail::SegmentWorkspaces<Device>::take(const execution_space& exec) {
  // Kernels of a GPU's queue run one after the other: they may share a workspace, however many of
  // them are waiting. On a host a launch has run when it returns, so its workspace is free then.
  constexpr bool returns_early = compat::IsGpu<execution_space>::value;
  const std::uintptr_t queue = compat::queueOf(exec);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (Workspace& workspace : all_)
    if (returns_early ? workspace.queue == queue : !workspace.taken) {
      workspace.taken = true;
      return workspace;
    }
  Workspace fresh{allocateZeros<Ordinal, Device>(exec, "Ainvil::arrived", num_rows_),
                  allocate<double, Device>(exec, "Ainvil::partials", num_partials_), queue, true};
  all_.push_back(fresh);
  return all_.back();
}

template <class Device>
void detail::SegmentWorkspaces<Device>::giveBack(Workspace& workspace) {
  const std::lock_guard<std::mutex> lock(mutex_);
  workspace.taken = false;
}

template <class Device>
LongRows<Device>::Lease::Lease(const LongRows& rows, const execution_space& exec)
    : pool_(rows.workspaces_.get()), segments_(rows.segments()) {
  if (pool_ == nullptr)
    return;
  workspace_ = &pool_->take(exec);
  segments_.arrived = workspace_->arrived.data();
  segments_.partials = workspace_->partials.data();
}

template <class Device>
LongRows<Device>::Lease::~Lease() {
  if (pool_ != nullptr)
    pool_->giveBack(*workspace_);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template Ordinal detail::longestRow<DEVICE>(const typename DEVICE::execution_space&,             \
                                              const Graph<DEVICE>&);                               \
  template Kokkos::View<const Ordinal*, DEVICE> detail::rowsOfLength<DEVICE>(                      \
      const typename DEVICE::execution_space&, const Graph<DEVICE>&, Offset, Offset);              \
  template class detail::SegmentWorkspaces<DEVICE>;                                                \
  template class LongRows<DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
