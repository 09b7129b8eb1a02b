// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_BatchedCholesky.hpp"

#include "backend/Ainvil_SizeClasses.hpp"
#include "dense/Ainvil_CholeskyRun.hpp"

#include <climits>

namespace ainvil {
namespace {

using detail::packedRow;

/// Matrices and vectors that lie in the caller's arrays and stay there.
template <bool Solves, class Scalar, class Device>
struct InPlace {
  static constexpr bool solves = Solves;
  static constexpr bool in_place = true;

  CholeskyBatch<Scalar, Device> matrices;
  VectorBatch<Scalar, Device> vectors;
  Kokkos::View<int*, Device> info;

  KOKKOS_INLINE_FUNCTION Scalar* matrixHome(Ordinal b) const {
    return matrices.values.data() + matrices.offsets(b);
  }
  KOKKOS_INLINE_FUNCTION Scalar* vectorHome(Ordinal b) const {
    return vectors.values.data() + vectors.offsets(b);
  }
  template <class Group>
  KOKKOS_INLINE_FUNCTION void load(const Group& group, Ordinal b, int n, Scalar* a) const {
    const Scalar* home = matrixHome(b);
    if (a != home)
      copyEntries(group, packedRow(n), home, a);
  }
  template <class Group>
  KOKKOS_INLINE_FUNCTION void store(const Group& group, Ordinal b, int n, int bad,
                                    const Scalar* a) const {
    Scalar* home = matrixHome(b);
    if (a != home)
      copyEntries(group, packedRow(n), a, home);
    group.forEach(1, [&](int) { info(b) = bad; });
  }
  KOKKOS_INLINE_FUNCTION int columns() const { return 1; }
  template <class Group>
  KOKKOS_INLINE_FUNCTION void storeVector(const Group& group, Ordinal b, int n, int,
                                          const Scalar* g) const {
    if (g != vectorHome(b))
      copyEntries(group, n, g, vectorHome(b));
  }
};

/// The largest matrix for which scratch memory suffices; those of 32 rows need very little.
template <class InScratch>
int largestFitting() {
  using Policy = typename InScratch::Policy;
  const int room = compat::IsGpu<typename Policy::execution_space>::value
                       ? compat::teamScratchBytes<Policy>(InScratch::team_size, InScratch::teams)
                       : Policy::scratch_size_max(1);
  constexpr int beyond_any_scratch = 4096; // 32 MiB in float
  int n = 32;
  while (n < beyond_any_scratch && InScratch::scratchBytes(n + 1) <= room)
    ++n;
  return n;
}

void checkExtents(const char* what, size_t given, Ordinal needed) {
  if (given < size_t(needed))
    throw InvalidArgument(
        message("a batch of ", needed, " matrices needs as many ", what, ", but has ", given));
}

} // namespace

template <class Scalar, class Device>
BatchedCholesky<Scalar, Device>::BatchedCholesky(const execution_space& exec, const Sizes& sizes)
    : sizes_(sizes) {
  using Policy = Kokkos::TeamPolicy<execution_space>;
  constexpr bool on_gpu = compat::IsGpu<execution_space>::value;
  if (sizes.extent(0) > size_t(INT_MAX))
    throw InvalidArgument(message("a batch holds at most ", INT_MAX, " matrices, but ",
                                  sizes.extent(0), " sizes are given"));
  if (on_gpu && Policy::vector_length_max() < detail::panel_width)
    throw Error(message("batched Cholesky needs a GPU with ", detail::panel_width,
                        " lanes a thread, but this one has ", Policy::vector_length_max()));

  using Io = InPlace<true, Scalar, Device>;
  const int largest_in_few = largestFitting<detail::CholeskyInScratch<64, Scalar, Device, Io>>();
  largest_in_scratch_ = largestFitting<detail::CholeskyInScratch<128, Scalar, Device, Io>>();

  const auto members = allocate<Ordinal, Device>(exec, "Ainvil::cholesky_members", sizes.extent(0));
  Ordinal end = 0;
  const auto add = [&](Kind kind, int smallest, int largest) {
    const Ordinal begin = end;
    end = detail::selectSizes(exec, numMatrices(), sizes, smallest, largest, begin, members);
    classes_[kind] = {sizes, members, begin, end,
                      static_cast<int>(detail::largestSize(exec, numMatrices(), sizes, largest))};
  };
  if (numMatrices() == 0)
    return;
  if (on_gpu) {
    add(up_to_8, -1, 8);
    add(up_to_16, 8, 16);
    add(up_to_32, 16, 32);
    const int few = std::min(64, largest_in_few);
    add(up_to_64, 32, few);
    add(in_scratch, few, largest_in_scratch_);
    add(in_panels, largest_in_scratch_, INT_MAX);
  } else {
    add(on_host, -1, INT_MAX);
  }
  for (const auto& of_class : classes_)
    if (of_class.largest > detail::largest_cholesky)
      throw InvalidArgument(message("a batch holds matrices of up to ", detail::largest_cholesky,
                                    " rows, but one has ", of_class.largest));
  if (end < numMatrices())
    throw InvalidArgument(message("a size of a matrix must not be negative, but ",
                                  numMatrices() - end, " of the batch are"));
}

template <class Scalar, class Device>
void BatchedCholesky<Scalar, Device>::factor(const execution_space& exec,
                                             const CholeskyBatch<Scalar, Device>& a,
                                             const Info& info) const {
  checkExtents("offsets", a.offsets.extent(0), numMatrices());
  checkExtents("elements of info", info.extent(0), numMatrices());
  run(exec, "Ainvil::BatchedCholesky[factor]", InPlace<false, Scalar, Device>{a, {}, info});
}

template <class Scalar, class Device>
void BatchedCholesky<Scalar, Device>::factorSolveLast(const execution_space& exec,
                                                      const CholeskyBatch<Scalar, Device>& a,
                                                      const VectorBatch<Scalar, Device>& g,
                                                      const Info& info) const {
  checkExtents("offsets", a.offsets.extent(0), numMatrices());
  checkExtents("offsets of vectors", g.offsets.extent(0), numMatrices());
  checkExtents("elements of info", info.extent(0), numMatrices());
  run(exec, "Ainvil::BatchedCholesky[factorSolveLast]", InPlace<true, Scalar, Device>{a, g, info});
}

AINVIL_INSTANTIATE_CLASS(BatchedCholesky)

} // namespace ainvil
