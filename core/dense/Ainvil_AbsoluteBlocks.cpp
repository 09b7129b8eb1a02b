// SPDX-License-Identifier: BSD-3-Clause
#include "dense/Ainvil_AbsoluteBlocks.hpp"

#include "backend/Ainvil_KernelArrays.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "backend/Ainvil_ScalarLimits.hpp"

namespace ainvil {
namespace detail {
namespace {

/// Jacobi's method ends after some five sweeps, its convergence being quadratic; the bound is for
/// values that rounding, or NaN, keeps from it.
constexpr int most_sweeps = 30;

/// |B| = V |B'| V^T, where rotations make the symmetric B' = V^T B V diagonal: for each p < q the
/// one in that plane which makes b_pq zero,
///   t = sign(theta) / (|theta| + sqrt(theta^2 + 1)),   theta = (b_qq - b_pp) / (2 b_pq),
///   c = 1 / sqrt(t^2 + 1),   s = t c.
/// V lies in scratch memory.
template <class Scalar>
struct AbsoluteBlock {
  KernelArray<Scalar> blocks;
  int n;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal block, void* scratch) const {
    Scalar* const b = blocks.data() + Offset(block) * n * n;
    Scalar* const v = static_cast<Scalar*>(scratch);
    Kokkos::single(Kokkos::PerThread(member), [&]() { replace(b, v, v + n * n); });
  }

private:
  KOKKOS_INLINE_FUNCTION void replace(Scalar* b, Scalar* v, Scalar* sizes) const {
    for (int e = 0; e < n * n; ++e)
      v[e] = e % (n + 1) == 0 ? 1 : 0;
    bool rotated = true;
    for (int sweep = 0; rotated && sweep < most_sweeps; ++sweep) {
      rotated = false;
      for (int p = 0; p < n; ++p)
        for (int q = p + 1; q < n; ++q)
          rotated = rotate(b, v, p, q) || rotated;
    }
    for (int m = 0; m < n; ++m)
      sizes[m] = compat::math::fabs(b[m * (n + 1)]);
    for (int r = 0; r < n; ++r)
      for (int c = 0; c <= r; ++c) {
        Scalar sum = 0;
        for (int m = 0; m < n; ++m)
          sum += v[r * n + m] * sizes[m] * v[c * n + m];
        b[r * n + c] = b[c * n + r] = sum;
      }
  }

  /// Whether there was anything to rotate for.
  KOKKOS_INLINE_FUNCTION bool rotate(Scalar* b, Scalar* v, int p, int q) const {
    const Scalar b_pq = b[p * n + q], b_pp = b[p * n + p], b_qq = b[q * n + q];
    const Scalar least = ScalarLimits<Scalar>::epsilon *
                         compat::math::sqrt(compat::math::fabs(b_pp)) *
                         compat::math::sqrt(compat::math::fabs(b_qq));
    if (!(compat::math::fabs(b_pq) > least))
      return false;
    const Scalar theta = (b_qq / 2 - b_pp / 2) / b_pq;
    const Scalar size = compat::math::fabs(theta) + compat::math::sqrt(theta * theta + 1);
    const Scalar t = theta < 0 ? -1 / size : 1 / size;
    const Scalar c = 1 / compat::math::sqrt(t * t + 1), s = t * c;
    for (int m = 0; m < n; ++m)
      turn(b[m * n + p], b[m * n + q], c, s);
    for (int m = 0; m < n; ++m)
      turn(b[p * n + m], b[q * n + m], c, s);
    for (int m = 0; m < n; ++m)
      turn(v[m * n + p], v[m * n + q], c, s);
    b[p * n + q] = b[q * n + p] = 0;
    return true;
  }

  KOKKOS_INLINE_FUNCTION static void turn(Scalar& x, Scalar& y, Scalar c, Scalar s) {
    const Scalar old = x;
    x = c * old - s * y;
    y = s * old + c * y;
  }
};

} // namespace

template <class Scalar, class Device>
void takeAbsoluteBlocks(const typename Device::execution_space& exec, int block_size,
                        const Kokkos::View<Scalar*, Device>& blocks) {
  using Exec = typename Device::execution_space;
  const Offset bs = block_size;
  forEachRow(exec, "Ainvil::takeAbsoluteBlocks",
             static_cast<Ordinal>(Offset(blocks.extent(0)) / (bs * bs)), RowTeams::forWork<Exec>(1),
             AbsoluteBlock<Scalar>{blocks, block_size}, std::size_t(bs * bs + bs) * sizeof(Scalar));
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template void takeAbsoluteBlocks<SCALAR, DEVICE>(const typename DEVICE::execution_space&, int,   \
                                                   const Kokkos::View<SCALAR*, DEVICE>&);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
