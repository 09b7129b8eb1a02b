// SPDX-License-Identifier: BSD-3-Clause
#include "fsai/Ainvil_FsaiRowSolver.hpp"

#include "backend/Ainvil_LoopProgress.hpp"
#include "dense/Ainvil_CholeskyRun.hpp"
#include "fsai/Ainvil_FsaiHostRows.hpp"
#include "product/Ainvil_LongRows.hpp"

#include <atomic>

namespace ainvil {
namespace {

using detail::Range;

/// Scalars in each row's local system, none in those left out.
template <class Device>
Kokkos::View<Ordinal*, Device> systemSizes(const typename Device::execution_space& exec,
                                           const Graph<Device>& pattern, int block_size,
                                           const Kokkos::View<const char*, Device>& active) {
  using Exec = typename Device::execution_space;
  const bool all = active.extent(0) == 0;
  const auto sizes = allocate<Ordinal, Device>(exec, "Ainvil::Fsai::sizes", pattern.num_rows);
  Kokkos::parallel_for(
      "Ainvil::Fsai[sizes]", Range<Exec>(exec, 0, pattern.num_rows),
      KOKKOS_LAMBDA(const Offset row) {
        const Offset length = pattern.row_map(row + 1) - pattern.row_map(row);
        sizes(row) = all || active(row) != 0 ? static_cast<Ordinal>(length * block_size) : 0;
      });
  return sizes;
}

/// body(thread, first, end) for chunks of rows, which threads take until none is left, so that long
/// rows are levelled out; all of them stop to tell `progress`. Waits.
template <class Exec, class Body>
void runOnHost(const Exec& exec, Ordinal num_rows, int threads, const Body& body,
               const std::function<void(Offset)>& progress) {
  const Ordinal at_a_time = detail::rowsOfLaunch(num_rows, 128 * threads, progress);
  const Offset chunk = std::max(1, std::min(32, at_a_time / (8 * std::max(1, threads))));
  detail::launchInPieces(exec, num_rows, at_a_time, progress, [&](Ordinal begin, Ordinal end) {
    std::atomic<Offset> next(0);
    Kokkos::parallel_for(
        "Ainvil::Fsai[cholesky]", Kokkos::RangePolicy<Exec>(exec, 0, threads), [&](const int t) {
          for (Offset row = begin + chunk * next++; row < end; row = begin + chunk * next++)
            body(t, static_cast<Ordinal>(row),
                 static_cast<Ordinal>(std::min(row + chunk, Offset(end))));
        });
    compat::fence(exec, "Ainvil::Fsai[cholesky]");
  });
}

} // namespace

template <class Scalar, class Device>
detail::FsaiRowSolver<Scalar, Device>::FsaiRowSolver(
    const execution_space& exec, const Graph<Device>& pattern, int block_size, Offset chunk_bytes,
    const Kokkos::View<const char*, Device>& active, double filter)
    : pattern_(pattern), active_(active), filter_(filter) {
  const Ordinal longest = longestRow(exec, pattern);
  const Offset largest = Offset(longest) * block_size;
  if (largest > largest_cholesky)
    throw InvalidArgument(message("fsai needs a local system of ", largest,
                                  " unknowns, but can solve up to ", largest_cholesky,
                                  ": take a sparser pattern by power, tau or max-row"));
  if constexpr (compat::IsGpu<execution_space>::value) {
    const auto sizes = systemSizes(exec, pattern, block_size, active);
    chunks_.assign(1, {0, BatchedCholesky<Scalar, Device>(exec, sizes)});
    if (largest > chunks_[0].cholesky.largestInScratch())
      plan(exec, sizes, chunk_bytes);
  } else {
    planOnHost(exec, longest, block_size, chunk_bytes);
  }
}

template <class Scalar, class Device>
void detail::FsaiRowSolver<Scalar, Device>::planOnHost(const execution_space& exec, Ordinal longest,
                                                       int block_size, Offset chunk_bytes) {
  const Offset largest = Offset(longest) * block_size;
  const Offset bytes = std::max<Offset>(1, packedRow(largest) * Offset(sizeof(Scalar)));
  const Offset threads =
      std::min<Offset>(exec.concurrency(), std::max<Offset>(1, chunk_bytes / bytes));
  reportingOutOfMemory("Ainvil::Fsai::work", [&] {
    work_rows_ = std::make_shared<std::vector<FsaiWorkRows<Scalar>>>();
    for (Offset t = 0; t < threads && pattern_.num_rows > 0; ++t)
      work_rows_->emplace_back(pattern_.num_cols, longest, block_size);
  });
}

/// Systems beyond scratch memory get places in the chunk's memory, one after the other; where they
/// exceed it, a new chunk begins.
template <class Scalar, class Device>
void detail::FsaiRowSolver<Scalar, Device>::plan(const execution_space& exec,
                                                 const Kokkos::View<Ordinal*, Device>& sizes,
                                                 Offset chunk_bytes) {
  const Ordinal n = pattern_.num_rows;
  const Offset largest_inside = chunks_[0].cholesky.largestInScratch();
  const auto host_sizes = hostMirror(sizes);
  Kokkos::deep_copy(exec, host_sizes, sizes);
  compat::fence(exec, "Ainvil::Fsai::plan");
  homes_ = allocate<Offset, Device>(exec, "Ainvil::Fsai::homes", n);
  const auto host_homes = hostMirror(homes_);
  const Offset limit = chunk_bytes / Offset(sizeof(Scalar));
  Offset used = 0, most = 0;
  std::vector<Ordinal> firsts = {0};
  for (Ordinal row = 0; row < n; ++row) {
    const Offset size = host_sizes(row);
    const Offset scalars = size > largest_inside ? size * (size + 1) / 2 + size : 0;
    if (used > 0 && used + scalars > limit) {
      firsts.push_back(row);
      used = 0;
    }
    host_homes(row) = used;
    used += scalars;
    most = std::max(most, used);
  }
  Kokkos::deep_copy(exec, homes_, host_homes);
  compat::fence(exec, "Ainvil::Fsai::plan"); // host_homes is read until then
  memory_ = allocate<Scalar, Device>(exec, "Ainvil::Fsai::chunk", most);
  if (firsts.size() == 1)
    return;
  chunks_.clear();
  for (size_t k = 0; k < firsts.size(); ++k) {
    const Ordinal end = k + 1 < firsts.size() ? firsts[k + 1] : n;
    chunks_.push_back(
        {firsts[k], BatchedCholesky<Scalar, Device>(
                        exec, Kokkos::subview(sizes, std::make_pair(firsts[k], end)))});
  }
}

template <class Scalar, class Device>
void detail::FsaiRowSolver<Scalar, Device>::run(const execution_space& exec,
                                                const BsrMatrix<Scalar, Device>& a,
                                                const Kokkos::View<Scalar*, Device>& values,
                                                const Kokkos::View<int*, Device>& info,
                                                double shift,
                                                const std::function<void(Offset)>& progress) const {
  FsaiSystems<Scalar, Device> systems{a, pattern_, values, info, 0, Scalar(shift), memory_, homes_};
  if constexpr (compat::IsGpu<execution_space>::value) {
    for (size_t k = 0; k < chunks_.size(); ++k) {
      systems.first = chunks_[k].first;
      chunks_[k].cholesky.run(exec, "Ainvil::Fsai[cholesky]", systems);
      if (progress) {
        compat::fence(exec, "Ainvil::Fsai[progress]");
        progress(k + 1 < chunks_.size() ? chunks_[k + 1].first : pattern_.num_rows);
      }
    }
  } else {
    const auto launch = [&](auto size) {
      runOnHost(exec, pattern_.num_rows, static_cast<int>(work_rows_->size()),
                FsaiHostRows<decltype(size)::value, Scalar, Device>{systems, active_.data(),
                                                                    filter_, work_rows_->data()},
                progress);
    };
    if (a.block_size == 1)
      launch(std::integral_constant<int, 1>());
    else
      launch(std::integral_constant<int, 0>());
  }
}

template <class Scalar, class Device>
void detail::FsaiRowSolver<Scalar, Device>::filterRows(
    const execution_space& exec, const BsrMatrix<Scalar, Device>& a,
    const Kokkos::View<Scalar*, Device>& values) const {
  if constexpr (compat::IsGpu<execution_space>::value) {
    using Row = FsaiFilterRow<Scalar, Device>;
    forEachRow(exec, "Ainvil::Fsai[filter]", pattern_.num_rows, teamsForRowsOf(pattern_),
               Row{a, pattern_, values, filter_}, Row::scratchBytes(a.block_size), &scratch_);
  }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class detail::FsaiRowSolver<double, DEVICE>;                                            \
  template class detail::FsaiRowSolver<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
