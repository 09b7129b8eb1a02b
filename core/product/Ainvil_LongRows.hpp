// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Load balance for matrices with a few very long rows: circuits, networks, constraints.

#include "Ainvil_BsrMatrix.hpp"

#include <climits>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>

namespace ainvil {

namespace detail {

/// Most right-hand sides that a kernel takes in one pass over the matrix. More of them would take
/// more registers a thread than GPUs have for all threads that hide each other's latency.
constexpr int most_columns = 8;

/// What kernels over the segments of long rows add up in, one workspace for each queue of launches
/// that may be running at the same time. Thread-safe.
template <class Device>
class SegmentWorkspaces {
public:
  using execution_space = typename Device::execution_space;

  /// Of one queue or, on hosts, one launch at a time.
  struct Workspace {
    Kokkos::View<Ordinal*, Device> arrived; ///< of each long row: segments done, 0 between launches
    Kokkos::View<double*, Device> partials; ///< sums of the segments
    std::uintptr_t queue = 0;               ///< compat::queueOf() the instances it serves
    bool taken = false;                     ///< by a launch that has not returned, on hosts
  };

  /// None yet; all for so many long rows and sums.
  SegmentWorkspaces(Ordinal num_rows, size_t num_partials)
      : num_rows_(num_rows), num_partials_(num_partials) {}

  /// One that no other launch uses until the kernels launched on the instance before giveBack()
  /// have run. Allocates where all are in use: on hosts for each call at the same time, on GPUs for
  /// each queue. \throws OutOfMemory
  Workspace& take(const execution_space& exec);
  void giveBack(Workspace& workspace); ///< the launches that take() was for have been made

private:
  Ordinal num_rows_;
  size_t num_partials_;
  std::mutex mutex_;
  std::list<Workspace> all_; ///< a list: references stay valid
};

} // namespace detail

/// The rows of a graph that are much longer than the average one, cut into segments of equal
/// length. A kernel that gives every row one thread leaves them to a second launch with a warp a
/// segment. The sums of a row's segments are added in a fixed order by the segment that finishes
/// last, so results do not depend on the schedule. Copies share the arrays. Any number of threads
/// and instances may use an object at the same time.
template <class Device>
class LongRows {
public:
  using execution_space = typename Device::execution_space;

  /// No row is long.
  LongRows() = default;
  /// Finds the rows longer than 64 blocks and 4 times the mean, and allocates what products on
  /// `exec` work with. Waits for the instance; O(n).
  LongRows(const execution_space& exec, const Graph<Device>& graph, int block_size);

  static constexpr int segment_length = 256; ///< blocks

  /// Blocks of the longest row; 0 if nobody has looked.
  Ordinal longest() const { return longest_; }
  /// Rows with more blocks than this are long.
  Offset limit() const { return limit_; }
  /// Rows that are long.
  Ordinal numRows() const { return static_cast<Ordinal>(rows_.extent(0)); }
  Ordinal numSegments() const { return num_segments_; } ///< of all long rows

  /// What a kernel over the segments needs: segment s is number s - first_segment[k] of row
  /// rows[k], with k = owner[s]. Pointers, because views would make the kernel's arguments too long
  /// (see detail::withinArguments).
  struct Segments {
    const Ordinal* rows = nullptr;          ///< long rows
    const Ordinal* first_segment = nullptr; ///< of each long row, and their total
    const Ordinal* owner = nullptr;         ///< of each segment: position in `rows`
    Ordinal* arrived = nullptr;             ///< of each long row: segments done, or 0
    double* partials = nullptr;             ///< block_size * most_columns sums a segment
  };
  /// Without a workspace: `arrived` and `partials` are null.
  Segments segments() const {
    return {rows_.data(), first_segment_.data(), owner_.data(), nullptr, nullptr};
  }

  /// Segments with a workspace that nobody else uses while the object lives; kernels on its
  /// instance may still run afterwards. The first one on an instance may allocate.
  class Lease {
  public:
    /// \throws OutOfMemory
    Lease(const LongRows& rows, const execution_space& exec);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    const Segments& segments() const { return segments_; } ///< all null if no row is long

  private:
    detail::SegmentWorkspaces<Device>* pool_ = nullptr;
    typename detail::SegmentWorkspaces<Device>::Workspace* workspace_ = nullptr;
    Segments segments_;
  };

private:
  Ordinal longest_ = 0;
  Offset limit_ = LLONG_MAX;
  Ordinal num_segments_ = 0;
  Kokkos::View<const Ordinal*, Device> rows_, first_segment_, owner_;
  std::shared_ptr<detail::SegmentWorkspaces<Device>> workspaces_;
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
