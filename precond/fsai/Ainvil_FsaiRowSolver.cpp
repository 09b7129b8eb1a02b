// SPDX-License-Identifier: BSD-3-Clause
#include "fsai/Ainvil_FsaiRowSolver.hpp"

#include "dense/Ainvil_CholeskyRun.hpp"
#include "fsai/Ainvil_FsaiRows.hpp"
#include "product/Ainvil_LongRows.hpp"

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

} // namespace

template <class Scalar, class Device>
detail::FsaiRowSolver<Scalar, Device>::FsaiRowSolver(
    const execution_space& exec, const Graph<Device>& pattern, int block_size, Offset chunk_bytes,
    const Kokkos::View<const char*, Device>& active)
    : pattern_(pattern) {
  const Offset largest = Offset(longestRow(exec, pattern)) * block_size;
  if (largest > largest_cholesky)
    throw InvalidArgument(message("fsai needs a local system of ", largest,
                                  " unknowns, but can solve up to ", largest_cholesky,
                                  ": take a sparser pattern by power, tau or max-row"));
  const auto sizes = systemSizes(exec, pattern, block_size, active);
  chunks_.assign(1, {0, BatchedCholesky<Scalar, Device>(exec, sizes)});
  const Offset largest_inside = chunks_[0].cholesky.largestInScratch();
  if (largest > largest_inside)
    plan(exec, sizes, chunk_bytes);
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
                                                double shift) const {
  for (const Chunk& chunk : chunks_)
    chunk.cholesky.run(exec, "Ainvil::Fsai[cholesky]",
                       FsaiSystems<Scalar, Device>{a, pattern_, values, info, chunk.first,
                                                   Scalar(shift), memory_, homes_});
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class detail::FsaiRowSolver<double, DEVICE>;                                            \
  template class detail::FsaiRowSolver<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
