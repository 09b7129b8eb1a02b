// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Block incomplete Cholesky factorisation.

#include "Ainvil_GraphAlgebra.hpp"
#include "Ainvil_Ic.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"
#include "graph/Ainvil_OrderedRows.hpp"
#include "ilu/Ainvil_WorkRow.hpp"

#include <functional>

namespace ainvil {
namespace detail {

/// A ~ (I + S) D (I + S)^T with S strictly lower triangular on the pattern of IC(k) or ICT and D
/// block diagonal; equality holds on that pattern and, unless the factor is modified, on the
/// diagonal. Only one triangle of A is read, but for the sizes of its rows and what modified
/// factors drop of A. Any block size; block size 1 is scalar IC(k). Work: 2 block_size^3 operations
/// for every pair (i, j), (j, k) in S with (i, k) in S, and for every (i, j). The verbs as in
/// Factorization.
template <class Scalar, class Device>
class BlockIc {
public:
  using execution_space = typename Device::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>; ///< A

  /// \throws InvalidArgument for options out of range.
  explicit BlockIc(const IcOptions& options);

  /// Pattern of the factor, order of its rows, unless these follow the values. A may lack diagonal
  /// blocks. `progress`, if there is one, is told how many rows of the pattern are found.
  void initialize(const execution_space& exec, const Matrix& a, Report& report,
                  const std::function<void(Offset)>& progress);
  bool followsValues() const { return options_.pattern == IcPattern::Threshold; }
  bool findPattern(const execution_space& exec, const Matrix& a, bool may_keep, Report& report,
                   const std::function<void(Offset)>& progress);
  /// The factor of a matrix with the same graph. \throws BreakdownError under the policy `fail`, or
  /// if the factor overflows.
  void compute(const execution_space& exec, const Matrix& a, Report& report);

  /// Whether compute() itself refuses NaN and infinity in A, as Factorization has it.
  bool refusesNonFinite() const { return remembersColumns(); }

  const TriangularFactor<Scalar, Device>& factor() const { return factor_; }        ///< I + S
  const Kokkos::View<Scalar*, Device>& pivotInverses() const { return d_inverse_; } ///< or |D|^-1
  double shift() const { return alpha_; } ///< what the last compute() added, times diag(A)

private:
  static constexpr bool on_host = !compat::IsGpu<execution_space>::value;

  bool isModified() const { return options_.modified != 0; }
  bool takesAnySign() const { return options_.signs != PivotSigns::Positive; }
  /// Whether BlockIcHostRow computes the rows.
  bool remembersColumns() const { return on_host && !isModified(); }
  /// Allocates a factor of A with this strictly lower triangle.
  void setPattern(const execution_space& exec, const Matrix& a, const Graph<Device>& lower);
  void findOrder(const execution_space& exec, const Matrix& a, Report& report);
  /// All rows for A + alpha_ diag(A).
  void factorRows(const execution_space& exec, const Matrix& a);
  /// On a host: makes sure that every thread has one, for values to come.
  void addWorkRows(const Matrix& a);

  IcOptions options_;
  PatternAge age_; ///< with IcPattern::Threshold
  double alpha_ = 0;
  TriangularFactor<Scalar, Device> factor_;
  Kokkos::View<Scalar*, Device> d_inverse_; ///< n * block_size^2
  Ordinal longest_row_ = 0;                 ///< of S; where that is modified, longest column
  PermutedGraph<Device> columns_;           ///< where S is modified, its transposed
  Kokkos::View<Scalar*, Device> d_;         ///< likewise D, n * block_size^2
  OrderedRows<Device> order_;
  PivotInverter<Scalar, Device> pivot_inverter_;
  std::vector<WorkRow<Scalar>> work_rows_; ///< on hosts, one a thread
};

} // namespace detail
} // namespace ainvil
