// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Inverting pivot blocks and dealing with those that have no inverse.

#include "Ainvil_Preconditioner.hpp"
#include "backend/Ainvil_KernelArrays.hpp"
#include "breakdown/Ainvil_DiagonalThresholds.hpp"
#include "dense/Ainvil_SmallBlock.hpp"

#include <climits>
#include <functional>

namespace ainvil {
namespace detail {

/// Inverts pivot blocks in kernels and counts the ones that cannot be.
template <class Scalar>
struct PivotInversion {
  BreakdownPolicy policy = BreakdownPolicy::Fail;
  Scalar shift = 0;
  Scalar tolerance = 0;            ///< relative to row_sizes
  bool positive = false;           ///< blocks must be positive definite, or count as singular
  KernelArray<Scalar> row_sizes;   ///< largest entry of every point row of A
  KernelArray<Ordinal> breakdowns; ///< how many, INT_MAX - first block row
  DiagonalChange<Scalar> change;   ///< of what is factored

  /// Whether changeDiagonal() does anything: if not, what is factored is A to the bit.
  KOKKOS_INLINE_FUNCTION bool changesDiagonal() const {
    return change.absolute != Scalar(0) || change.relative != Scalar(1) ||
           change.alpha != Scalar(0);
  }
  /// What is factored in place of d, a diagonal entry of A whose row has entries up to `size`:
  ///   d' = relative d + sign(d) absolute,   d' + sign(d') alpha |d'|,
  /// with sizeToShiftBy() for |d'|, and the sign of the shift + where blocks must be positive.
  KOKKOS_INLINE_FUNCTION Scalar changed(Scalar d, Scalar size) const {
    d = change.relative * d + (d < Scalar(0) ? -change.absolute : change.absolute);
    if (change.alpha == Scalar(0))
      return d;
    const Scalar shifted_by = change.alpha * sizeToShiftBy(&d, 1, &size);
    return d < Scalar(0) && !positive ? d - shifted_by : d + shifted_by;
  }
  /// The same for the diagonal of a diagonal block, `sizes` of its rows.
  KOKKOS_INLINE_FUNCTION void changeDiagonal(Scalar* d, int bs, const Scalar* sizes) const {
    if (changesDiagonal())
      for (int r = 0; r < bs; ++r)
        d[r * (bs + 1)] = changed(d[r * (bs + 1)], sizes[r]);
  }

  /// d_inverse = d^-1 for one row-major block, by one lane; `sizes` are the row_sizes of its rows.
  /// BS = 0 takes the size `bs` at run time, works in place and needs room for `bs` integers and 2
  /// `bs` scalars. A singular block is counted and `d` itself changed as the policy says, so that
  /// d_inverse is finite and the inverse of d in any case.
  template <int BS>
  KOKKOS_INLINE_FUNCTION void invert(Ordinal row, int bs, Scalar* d, const Scalar* sizes,
                                     Scalar* d_inverse, int* pivots, Scalar* scales) const {
    const int bs2 = bs * bs;
    Scalar local[BS > 0 ? BS * BS : 1];
    int local_pivots[BS > 0 ? BS : 1];
    Scalar local_scales[BS > 0 ? 2 * BS : 1];
    Scalar* work = BS > 0 ? local : d_inverse;
    int* work_pivots = BS > 0 ? local_pivots : pivots;
    Scalar* work_scales = BS > 0 ? local_scales : scales;
    for (int e = 0; e < bs2; ++e)
      work[e] = d[e];
    const int n = BS > 0 ? BS : bs;
    bool good = exceedsRounding(d, n, sizes);
    if (positive && good) {
      good = isPositive(work, n, sizes);
      for (int e = 0; e < bs2; ++e)
        work[e] = d[e];
    }
    good = good && invertBlock<BS>(work, work_pivots, work_scales, n);
    if (!good) {
      Kokkos::atomic_fetch_add(&breakdowns(0), 1);
      Kokkos::atomic_fetch_max(&breakdowns(1), INT_MAX - row);
      const Scalar largest = sizeToShiftBy(d, bs, sizes);
      if (policy == BreakdownPolicy::Shift) {
        for (int r = 0; r < bs; ++r)
          d[r * bs + r] += shift * largest;
        for (int e = 0; e < bs2; ++e)
          work[e] = d[e];
        good = exceedsRounding(d, n, sizes) && invertBlock<BS>(work, work_pivots, work_scales, n);
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

  /// Whether every pivot of d = L D L^T exceeds tolerance times the largest entry of its row of A,
  /// and so is positive. The lower triangle of d is read and overwritten.
  KOKKOS_INLINE_FUNCTION bool isPositive(Scalar* d, const int n, const Scalar* sizes) const {
    for (int k = 0; k < n; ++k) {
      const Scalar pivot = d[k * n + k];
      if (!(pivot > tolerance * sizes[k]))
        return false;
      for (int i = k + 1; i < n; ++i) {
        const Scalar factor = d[i * n + k] / pivot;
        for (int j = k + 1; j <= i; ++j)
          d[i * n + j] -= factor * d[j * n + k];
      }
    }
    return true;
  }

  /// What a shift is relative to: the largest entry of d; where that is no more than rounding
  /// errors, the largest entry of its rows of A; and 1 where 1 / that is not finite.
  KOKKOS_INLINE_FUNCTION Scalar sizeToShiftBy(const Scalar* d, int bs, const Scalar* sizes) const {
    Scalar largest = 0, row_size = 0;
    for (int e = 0; e < bs * bs; ++e)
      largest = compat::math::fabs(d[e]) > largest ? compat::math::fabs(d[e]) : largest;
    for (int r = 0; r < bs; ++r)
      row_size = sizes[r] > row_size ? sizes[r] : row_size;
    if (largest <= tolerance * row_size)
      largest = row_size;
    const bool usable = isFinite(Scalar(1) / largest) && isFinite(largest);
    return usable ? largest : Scalar(1);
  }

private:
  /// Whether every row and every column of d has an entry above the rounding errors of its row of
  /// A. An elimination subtracts from entries of that row: what it leaves below tolerance times the
  /// largest of them has no correct digit.
  KOKKOS_INLINE_FUNCTION bool exceedsRounding(const Scalar* d, const int bs,
                                              const Scalar* sizes) const {
    bool all = true;
    for (int i = 0; i < bs; ++i) {
      bool in_row = false, in_column = false;
      for (int j = 0; j < bs; ++j) {
        in_row = in_row || compat::math::fabs(d[i * bs + j]) > tolerance * sizes[i];
        in_column = in_column || compat::math::fabs(d[j * bs + i]) > tolerance * sizes[j];
      }
      all = all && in_row && in_column;
    }
    return all;
  }
};

/// What a PivotInversion needs around the kernels of a compute.
template <class Scalar, class Device>
class PivotInverter : public PivotInversion<Scalar> {
public:
  using execution_space = typename Device::execution_space;

  PivotInverter() = default;
  /// `row_sizes` has room for a number a point row; with `positive` for blocks that must be
  /// positive definite.
  PivotInverter(const execution_space& exec, BreakdownPolicy policy, double shift, double tolerance,
                const Kokkos::View<Scalar*, Device>& row_sizes, bool positive = false);

  /// Before the kernels of a compute on `a`. Asynchronous; one pass over the matrix.
  void start(const execution_space& exec, const BsrMatrix<Scalar, Device>& a) const;

  /// The largest entries of the rows of A, where start() has found them.
  const Kokkos::View<Scalar*, Device>& rowSizes() const { return row_sizes_; }

  /// Counts from 0 again. Asynchronous.
  void forget(const execution_space& exec) const;

  /// How many blocks were not inverted as they were. Waits.
  Ordinal count(const execution_space& exec) const;

  /// After them: waits, reports, and throws BreakdownError under the policy `fail`.
  void check(const execution_space& exec, Report& report) const;

  /// Where pivots have broken down: factors A + alpha diag(A) in place of A, alpha = `first` and
  /// twice as much each time until no pivot breaks down, and returns alpha. factor() counts
  /// from 0 and runs the kernels of one attempt. Notes alpha and how many factorisations there
  /// were, that without a shift included. Waits. \throws BreakdownError if no alpha serves.
  /// Sources: Manteuffel, An incomplete factorization technique for positive definite linear
  /// systems (1980); doubling: Lin, More, Incomplete Cholesky factorizations with limited memory
  /// (1999).
  double growShift(const execution_space& exec, double first, Report& report,
                   const std::function<void()>& factor);

private:
  Kokkos::View<Scalar*, Device> row_sizes_;
  Kokkos::View<Ordinal*, Device> breakdowns_;
};

/// sizes(i) = max over j of |a_ij| for every point row i of A; 0 for rows without entries.
/// Asynchronous; one pass over the matrix.
template <class Scalar, class Device>
void findRowSizes(const typename Device::execution_space& exec, const BsrMatrix<Scalar, Device>& a,
                  const Kokkos::View<Scalar*, Device>& sizes);

/// Throws InvalidArgument if diagonal blocks are missing and the policy is `fail`; returns how
/// many.
template <class Device>
Ordinal checkDiagonal(const typename Device::execution_space& exec, const Graph<Device>& graph,
                      BreakdownPolicy policy);

} // namespace detail
} // namespace ainvil
