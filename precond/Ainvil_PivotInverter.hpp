// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Inverting pivot blocks and dealing with those that have no inverse.

#include "Ainvil_Preconditioner.hpp"
#include "Ainvil_SmallBlock.hpp"

#include <climits>

namespace ainvil {
namespace detail {

/// Inverts pivot blocks in kernels and counts the ones that cannot be.
template <class Scalar, class Device>
struct PivotInverter {
  using execution_space = typename Device::execution_space;

  BreakdownPolicy policy = BreakdownPolicy::Fail;
  Scalar shift = 0;
  Kokkos::View<Ordinal*, Device> breakdowns; ///< how many, first block row

  PivotInverter() = default;
  PivotInverter(const execution_space& exec, BreakdownPolicy policy_in, double shift_in)
      : policy(policy_in), shift(static_cast<Scalar>(shift_in)),
        breakdowns(allocate<Ordinal, Device>(exec, "Ainvil::breakdowns", 2)) {}

  /// d_inverse = d^-1 for one row-major block, by one lane; BS = 0 takes the size `bs` at run time,
  /// works in place and needs room for `bs` integers and 2 `bs` scalars. A singular block is
  /// counted and `d` itself changed as the policy says, so that d_inverse is finite and the inverse
  /// of d in any case.
  template <int BS>
  KOKKOS_INLINE_FUNCTION void invert(Ordinal row, int bs, Scalar* d, Scalar* d_inverse, int* pivots,
                                     Scalar* scales) const {
    const int bs2 = bs * bs;
    Scalar local[BS > 0 ? BS * BS : 1];
    int local_pivots[BS > 0 ? BS : 1];
    Scalar local_scales[BS > 0 ? 2 * BS : 1];
    Scalar* work = BS > 0 ? local : d_inverse;
    int* work_pivots = BS > 0 ? local_pivots : pivots;
    Scalar* work_scales = BS > 0 ? local_scales : scales;
    for (int e = 0; e < bs2; ++e)
      work[e] = d[e];
    bool good = invertBlock(work, work_pivots, work_scales, BS > 0 ? BS : bs);
    if (!good) {
      Kokkos::atomic_fetch_add(&breakdowns(0), 1);
      Kokkos::atomic_fetch_min(&breakdowns(1), row);
      Scalar largest = 0;
      for (int e = 0; e < bs2; ++e)
        if (compat::math::fabs(d[e]) > largest)
          largest = compat::math::fabs(d[e]);
      // Nothing to scale with, or nothing whose inverse is finite: 1 keeps the factor finite.
      if (!(Scalar(1) / largest * Scalar(0) == Scalar(0)) || !(largest * Scalar(0) == Scalar(0)))
        largest = Scalar(1);
      if (policy == BreakdownPolicy::Shift) {
        for (int r = 0; r < bs; ++r)
          d[r * bs + r] += shift * largest;
        for (int e = 0; e < bs2; ++e)
          work[e] = d[e];
        good = invertBlock(work, work_pivots, work_scales, BS > 0 ? BS : bs);
      }
      if (!good)
        for (int e = 0; e < bs2; ++e) {
          const bool diagonal = e % (bs + 1) == 0;
          d[e] = diagonal ? largest : Scalar(0);
          work[e] = diagonal ? Scalar(1) / largest : Scalar(0);
        }
    }
    for (int e = 0; e < bs2; ++e)
      d_inverse[e] = work[e];
  }

  /// Before the kernels of a compute.
  void reset(const execution_space& exec) const {
    const Ordinal start[2] = {0, INT_MAX};
    Kokkos::deep_copy(
        exec, breakdowns,
        Kokkos::View<const Ordinal*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(
            start, 2));
  }

  /// After them: waits, reports, and throws BreakdownError under the policy `fail`.
  void check(const execution_space& exec, Report& report) const {
    Ordinal counters[2];
    Kokkos::deep_copy(
        exec,
        Kokkos::View<Ordinal*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(counters,
                                                                                           2),
        breakdowns);
    compat::fence(exec, "Ainvil::PivotInverter");
    if (counters[0] == 0)
      return;
    if (policy == BreakdownPolicy::Fail)
      throw BreakdownError(
          message(counters[0], " pivot blocks are singular or not finite, the first in block row ",
                  counters[1],
                  ": scale or reorder the matrix, exchange rows, or choose the breakdown policy "
                  "'shift' or 'replace'"));
    report.breakdowns = counters[0];
    report.first_breakdown = counters[1];
  }
};

/// Throws InvalidArgument if diagonal blocks are missing and the policy is `fail`; returns how
/// many.
template <class Device>
Ordinal checkDiagonal(const typename Device::execution_space& exec, const Graph<Device>& graph,
                      BreakdownPolicy policy);

} // namespace detail
} // namespace ainvil
