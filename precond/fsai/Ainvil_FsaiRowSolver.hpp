// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Internal to Fsai: the rows of G from their local systems.

#include "Ainvil_BatchedCholesky.hpp"
#include "Ainvil_BsrMatrix.hpp"
#include "backend/Ainvil_SlowScratch.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace ainvil {
namespace detail {

template <class Scalar>
struct FsaiWorkRows;

/// Computes G on one pattern for matrices with one graph, see Fsai. On GPUs the local systems are a
/// BatchedCholesky; those beyond scratch memory get places in the memory of a chunk, and chunks are
/// worked on one after the other. On hosts a thread takes some rows at a time, see FsaiHostRows;
/// as many threads as have room in the memory of a chunk, one at least.
template <class Scalar, class Device>
class FsaiRowSolver {
public:
  using execution_space = typename Device::execution_space;

  FsaiRowSolver() = default;
  /// Plans for a lower triangular pattern with its diagonal. Rows with active(i) == 0 are left out;
  /// none is if `active` is empty. `filter` is that of filterRows(). Waits.
  FsaiRowSolver(const execution_space& exec, const Graph<Device>& pattern, int block_size,
                Offset chunk_bytes, const Kokkos::View<const char*, Device>& active = {},
                double filter = 0);

  /// values <- G, info(i) <- 0, or the pivot of a local system at which its factorisation failed:
  /// such a row is that of its pivot block alone. With shift > 0 the systems that info counts as
  /// failed get (1 + shift) times their diagonal; the other rows are there from the run before. Of
  /// rows left out only info is written, as 0. `progress`, if there is one, is told how many rows
  /// are done, between launches: up to a hundred on hosts, one a chunk on GPUs.
  void run(const execution_space& exec, const BsrMatrix<Scalar, Device>& a,
           const Kokkos::View<Scalar*, Device>& values, const Kokkos::View<int*, Device>& info,
           double shift = 0, const std::function<void(Offset)>& progress = {}) const;

  /// The post-filter of all rows, see FsaiFilterRow, behind the last run. What it drops becomes
  /// zero. On hosts run() has done it already.
  void filterRows(const execution_space& exec, const BsrMatrix<Scalar, Device>& a,
                  const Kokkos::View<Scalar*, Device>& values) const;

private:
  struct Chunk {
    Ordinal first = 0;
    BatchedCholesky<Scalar, Device> cholesky; ///< of the rows from `first` on
  };

  void plan(const execution_space& exec, const Kokkos::View<Ordinal*, Device>& sizes,
            Offset chunk_bytes);
  void planOnHost(const execution_space& exec, Ordinal longest, int block_size, Offset chunk_bytes);

  Graph<Device> pattern_;
  Kokkos::View<const char*, Device> active_;
  double filter_ = 0;
  mutable SlowScratch<execution_space> scratch_; ///< of the filter with large blocks
  // On hosts:
  std::shared_ptr<std::vector<FsaiWorkRows<Scalar>>> work_rows_; ///< one a thread
  // On GPUs:
  std::vector<Chunk> chunks_;
  Kokkos::View<Scalar*, Device> memory_; ///< of a chunk
  Kokkos::View<Offset*, Device> homes_;  ///< of each row in it
};

} // namespace detail
} // namespace ainvil
