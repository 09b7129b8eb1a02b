// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The small dense part of GMRES, which runs on the host.

#include "backend/Ainvil_KokkosCompat.hpp"

#include <cstddef>
#include <vector>

namespace ainvil {
namespace detail {

/// The inner products of Arnoldi step j and the scalars that follow from them, as the device leaves
/// them for the host: capacity numbers dotU and capacity numbers dotZ at `data`, which are sums
/// over rows, and four scalars. u is the candidate for basis vector v_j, z = A M u.
struct ArnoldiRecord {
  double* data;
  int capacity;
  double* scalars;
  static constexpr int num_scalars = 4;

  /// v_c . u for c < j, or 0 where u is not orthogonalised again; u . u for c = j
  KOKKOS_INLINE_FUNCTION double& dotU(int c) const { return data[c]; }
  /// v_c . z for c < j; u . z for c = j; z . z for c = j + 1
  KOKKOS_INLINE_FUNCTION double& dotZ(int c) const { return data[capacity + c]; }
  /// 1 / ||u - V s|| with s_c = dotU(c), or 0 if u lies in the span of the basis
  KOKKOS_INLINE_FUNCTION double& inverseNorm() const { return scalars[0]; }
  /// v_j . z
  KOKKOS_INLINE_FUNCTION double& dotNew() const { return scalars[1]; }
  /// what the next candidate was multiplied with: about 1 / ||z - V V^T z||
  KOKKOS_INLINE_FUNCTION double& scale() const { return scalars[2]; }
  /// 1 where u is orthogonalised again, else 0; known before the step
  KOKKOS_INLINE_FUNCTION double& again() const { return scalars[3]; }
};

/// The records of a step for several columns, one after the other: the sums over rows of all of
/// them, then the scalars of all of them.
struct ArnoldiStep {
  double* data;
  double* scalars;
  int capacity; ///< of each record
  int columns;

  KOKKOS_INLINE_FUNCTION static ArnoldiStep at(double* data, int capacity, int columns) {
    return {data, data + 2 * capacity * columns, capacity, columns};
  }
  /// Numbers of a step.
  KOKKOS_INLINE_FUNCTION static int sizeFor(int capacity, int columns) {
    return (2 * capacity + ArnoldiRecord::num_scalars) * columns;
  }

  KOKKOS_INLINE_FUNCTION int numProducts() const { return 2 * capacity * columns; }
  KOKKOS_INLINE_FUNCTION int size() const { return sizeFor(capacity, columns); }
  KOKKOS_INLINE_FUNCTION ArnoldiRecord record(int column) const {
    return {data + 2 * capacity * column, capacity, scalars + ArnoldiRecord::num_scalars * column};
  }
  /// The same with the sums over rows elsewhere.
  ArnoldiStep withSumsAt(double* sums) const { return {sums, scalars, capacity, columns}; }
  /// The same, whose record 0 is that of this column.
  KOKKOS_INLINE_FUNCTION ArnoldiStep from(int column) const {
    const ArnoldiRecord first = record(column);
    return {first.data, first.scalars, capacity, columns};
  }
  /// The one after it, where they follow one another.
  KOKKOS_INLINE_FUNCTION ArnoldiStep next() const {
    return {data + size(), scalars + size(), capacity, columns};
  }
};

/// min over y of || beta e_1 - H y || for the upper Hessenberg matrix H of A M V_m = V_{m+1} H,
/// updated column by column with Givens rotations.
///
/// With delayed re-orthogonalisation the record of step j does two things. It opens column j,
///     h_j = ([V_j^T z; v_j . z] - H_{j-1} s) / rho,  s = V_j^T u,  rho = ||u - V_j s||
/// because z = A M u and u = rho v_j + V_j s; and it corrects what column j - 1 left open,
///     h_{j-1} += eta s,  h_{j,j-1} = eta rho,  eta = norm of the candidate before scaling.
/// So column j is final with record j + 1, and a prediction of its residual exists before.
/// Source: Bielich, Langou, Thomas, Swirydowicz, Yamazaki, Boman, Low-synch Gram-Schmidt with
/// delayed reorthogonalization for Krylov solvers, Parallel Computing 112 (2022).
class ArnoldiLeastSquares {
public:
  /// Starts a solve. `negligible` is the relative size at which a norm is nothing but rounding.
  void start(double negligible);
  /// Starts a cycle of at most `capacity` columns.
  void startCycle(int capacity);

  /// Takes the record of step j = 0, 1, 2, ... in turn.
  void add(int j, const ArnoldiRecord& record);
  /// Makes the columns below j final from a record of which only dotU and inverseNorm are valid.
  /// add(j, ...) may follow.
  void close(int j, const ArnoldiRecord& record);

  int columns() const { return static_cast<int>(residuals_.size()) - 1; } ///< final columns
  /// ||r|| after k <= columns() columns.
  double residual(int k) const { return residuals_[k]; }
  /// ||r|| after the open column, to about half the digits of the vectors; 0 if not even those are
  /// certain.
  double predictedResidual() const { return predicted_; }

  /// The Krylov space is exhausted: A M maps the span of the final columns into itself.
  bool exhausted() const { return exhausted_; }
  /// A M is singular on the Krylov space, up to rounding: a column depends on the ones before it
  /// and was left out of columns(), or solve() had to leave columns out.
  bool singular() const { return singular_; }
  /// Largest norm of a column of H since start(): a lower bound of ||A M||.
  double largestColumn() const { return column_norm_; }
  /// A number in the records is NaN or Inf.
  bool failed() const { return failed_; }

  /// y of the minimum over the first k columns, or over fewer where rounding errors of the size of
  /// y would outweigh the residual that y is to reduce. Returns the number of columns.
  int solve(int k, double* y);

private:
  double& h(int row, int column) { return h_[std::size_t(column) * (capacity_ + 1) + row]; }
  double& r(int row, int column) { return r_[std::size_t(column) * (capacity_ + 1) + row]; }
  double r(int row, int column) const { return r_[std::size_t(column) * (capacity_ + 1) + row]; }
  void open(int j, const ArnoldiRecord& record);
  double rotateColumn(int j);
  bool solveTriangle(int k, double* y) const;

  int capacity_ = 0;
  double negligible_ = 0;
  double column_norm_ = 0; ///< largest norm of a column in this solve, a lower bound of ||A M||
  bool exhausted_ = false, singular_ = false, failed_ = false;
  double eta_ = 0; ///< norm of the candidate that the open column leaves
  double predicted_ = 0;
  std::vector<double> h_, r_; ///< H and its triangular factor, by columns
  std::vector<double> cos_, sin_;
  std::vector<double> g_; ///< rotated right-hand side
  std::vector<double> residuals_;
};

} // namespace detail
} // namespace ainvil
