// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The numeric part of block incomplete LU factorisations: the factors on a given pattern.

#include "Ainvil_GraphAlgebra.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"
#include "graph/Ainvil_OrderedRows.hpp"
#include "ilu/Ainvil_BlockIluHostRow.hpp"
#include "ilu/Ainvil_IluOptions.hpp"
#include "triangular/Ainvil_TriangularFactor.hpp"

#include <functional>

namespace ainvil {

namespace detail {

/// Whether both factors have patterns of their own, and pivots may have either sign.
enum class FactorKind {
  General,   ///< L U
  Symmetric, ///< U^T D U, A symmetric: the pattern of L is the transposed one of U
  Positive   ///< the same with D positive definite
};

/// What a pattern of factors has of that of A.
enum class EntriesOfA {
  All, ///< every entry
  Some ///< those that were not dropped
};

/// A ~ L U in Crout's normalisation: L = D + S_L is lower triangular with the pivot blocks on its
/// diagonal, U = I + S_U is unit upper triangular; A = L U holds on the pattern S(LU), which is
/// given; the diagonal of A is changed before as DiagonalThresholds say. The inverses of the pivot
/// blocks are stored. Any block size; block size 1 is scalar.
/// Work: 2 block_size^3 operations for every pair (i,k) in L, (k,j) in U with (i,j) in the pattern.
/// Source: Saad, Iterative Methods for Sparse Linear Systems (2003), sections 10.3 and 10.4.
///
/// Sweeps solve the same equations as a fixed point: every sweep computes all rows of L and U from
/// the U of the sweep before, starting from U = D^-1 (upper part of A). Nothing waits, and since
/// the equations of a row are solved exactly, a sweep is worth more than one over single entries.
/// Source: Chow, Patel, Fine-grained parallel incomplete LU factorization (2015), there by entries.
template <class Scalar, class Device>
class IluOnPattern {
public:
  using execution_space = typename Device::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>;        ///< A
  using Factor = TriangularFactor<Scalar, Device>; ///< L or U

  /// With options in range. Where D is to be positive definite, pivot blocks that are not count as
  /// singular. With `modified` of 1 block rows of L U and of A have the same sums; with any but 0
  /// the diagonal is left out of what is said of A = L U.
  explicit IluOnPattern(const IluOnPatternOptions& options, FactorKind kind = FactorKind::General)
      : options_(options), kind_(kind) {}

  /// Allocates factors of A on the pattern, which has all diagonal blocks. Entries of A beside it
  /// are left out. To be called before findOrder().
  void setPattern(const execution_space& exec, const Matrix& a,
                  const FillTriangles<Device>& pattern, EntriesOfA holds);
  /// The order of the rows, where they wait for each other. Records it as a phase in `report`.
  void findOrder(const execution_space& exec, const Matrix& a, Report& report);

  /// Factors of a matrix with the same graph. \throws BreakdownError under the policy `fail`, or if
  /// the factors overflow.
  void compute(const execution_space& exec, const Matrix& a, Report& report);

  /// All rows once from those of `u` in place of U, which may have another pattern than U; all zero
  /// without values. Needs no findOrder(), and judges no pivot: those that cannot be inverted are
  /// replaced as the policy says, or where it is `fail`. If there is `progress`, it is told how
  /// many rows are done, after each of so many launches; else asynchronous on GPUs.
  void sweepOnce(const execution_space& exec, const Matrix& a, const Matrix& u, int launches = 1,
                 const std::function<void(Offset)>& progress = {});
  /// How many these are. Waits.
  Ordinal breakdowns(const execution_space& exec) const { return pivot_inverter_.count(exec); }

  /// As Factorization has it.
  static constexpr bool refusesNonFinite() { return on_host; }

  /// ||(A - L U)_S||_F / ||A||_F on the pattern S of the factors, for the matrix of the last
  /// compute(): what sweeps leave. Waits. Cost: about a sweep; allocates a number a row.
  double residual(const execution_space& exec, const Matrix& a) const;
  /// With sweeps, notes that residual.
  void diagnose(const execution_space& exec, const Matrix& a, Report& report) const;

  const Factor& lower() const { return lower_; } ///< L
  const Factor& upper() const { return upper_; } ///< U

private:
  static constexpr bool on_host = !compat::IsGpu<execution_space>::value;

  enum class Rows {
    Ordered, ///< each waits for those that it depends on
    AtOnce   ///< a sweep
  };

  /// All rows of L and u from those of `u_read`, which is u with Rows::Ordered. With Rows::AtOnce
  /// launches and progress as in sweepOnce().
  void factorRows(const execution_space& exec, const Matrix& a, Rows rows,
                  const Kokkos::View<Scalar*, Device>& u, const KernelMatrix<const Scalar>& u_read,
                  int launches = 1, const std::function<void(Offset)>& progress = {});
  /// On a host: makes sure that every worker has one, for values to come.
  void addWorkRows(const Matrix& a, int workers);
  /// On a host: what the workers have seen of it.
  void takeGrowth();
  void sweep(const execution_space& exec, const Matrix& a);
  /// Level by level or by sweeps.
  void factor(const execution_space& exec, const Matrix& a);

  IluOnPatternOptions options_;
  FactorKind kind_;
  Factor lower_;
  Factor upper_;
  bool holds_a_ = true;                       ///< the pattern holds that of A
  Ordinal longest_row_ = 0;                   ///< of L and U together
  OrderedRows<Device> order_;                 ///< without sweeps
  Kokkos::View<Scalar*, Device> other_upper_; ///< with sweeps, U of every other one
  PivotInverter<Scalar, Device> pivot_inverter_;
  SlowScratch<execution_space> scratch_;   ///< of sweeps with large blocks
  std::vector<WorkRow<Scalar>> work_rows_; ///< on hosts, one a thread
};

} // namespace detail
} // namespace ainvil
