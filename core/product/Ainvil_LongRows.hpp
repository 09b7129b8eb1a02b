// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Load balance for matrices with a few very long rows: circuits, networks, constraints.

#include "Ainvil_BsrMatrix.hpp"

#include <climits>

namespace ainvil {

/// The rows of a graph that are much longer than the average one, cut into segments of equal
/// length. A kernel that gives every row one thread leaves them to a second launch with a warp a
/// segment. The sums of a row's segments are added in a fixed order by the segment that finishes
/// last, so results do not depend on the schedule. Copies share the workspace of these sums: of all
/// products with an object and its copies, one may run at a time, be it on another instance.
template <class Device>
class LongRows {
public:
  using execution_space = typename Device::execution_space;

  /// No row is long.
  LongRows() = default;
  /// Finds the rows longer than 64 blocks and 4 times the mean. Waits for the instance; O(n).
  LongRows(const execution_space& exec, const Graph<Device>& graph, int block_size);

  static constexpr int segment_length = 256; ///< blocks
  static constexpr int column_tile = 4;      ///< columns of a product there is workspace for

  /// Blocks of the longest row; 0 if nobody has looked.
  Ordinal longest() const { return longest_; }
  /// Rows with more blocks than this are long.
  Offset limit() const { return limit_; }
  /// Rows that are long.
  Ordinal numRows() const { return static_cast<Ordinal>(segments_.rows.extent(0)); }
  Ordinal numSegments() const { return num_segments_; } ///< of all long rows

  /// What a kernel over the segments needs: segment s is number s - first_segment(k) of row
  /// rows(k), with k = owner(s).
  struct Segments {
    Kokkos::View<const Ordinal*, Device> rows;          ///< long rows
    Kokkos::View<const Ordinal*, Device> first_segment; ///< of each long row, and their total
    Kokkos::View<const Ordinal*, Device> owner;         ///< of each segment: position in `rows`
    Kokkos::View<Ordinal*, Device> arrived;             ///< of each long row: segments done, or 0
    Kokkos::View<double*, Device> partials;             ///< block_size * column_tile sums a segment
  };
  const Segments& segments() const { return segments_; } ///< empty if no row is long

private:
  Ordinal longest_ = 0;
  Offset limit_ = LLONG_MAX;
  Ordinal num_segments_ = 0;
  Segments segments_;
};

namespace detail {

/// Length of the longest row of a graph. Waits for the instance.
template <class Device>
Ordinal longestRow(const typename Device::execution_space& exec, const Graph<Device>& graph);

/// Rows with smallest < length <= largest, in ascending order. Waits for the instance.
template <class Device>
Kokkos::View<const Ordinal*, Device> rowsOfLength(const typename Device::execution_space& exec,
                                                  const Graph<Device>& graph, Offset smallest,
                                                  Offset largest);

} // namespace detail
} // namespace ainvil
