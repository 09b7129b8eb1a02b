// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Block incomplete LU factorisation with level of fill.

#include "Ainvil_OrderedRows.hpp"
#include "Ainvil_PivotInverter.hpp"

namespace ainvil {

/// A triangular matrix T = D + S in the two shapes this library knows:
/// unit, D = I: `matrix` holds S only and `diagonal_inverse` is empty;
/// general: `matrix` holds S and the diagonal blocks, `diagonal_inverse` the n inverses D_i^-1.
/// Rows are sorted, so the diagonal block of a lower row comes last, that of an upper one first.
template <class Scalar, class Device>
struct TriangularFactor {
  BsrMatrix<Scalar, Device> matrix;
  Kokkos::View<Scalar*, Device> diagonal_inverse; ///< n * block_size^2
  Uplo uplo = Uplo::Lower;
  bool unit = false;
};

struct BlockIluParameters {
  int level = 0; ///< fill level k of ILU(k)
  BreakdownPolicy breakdown = BreakdownPolicy::Fail;
  double shift = 1e-3; ///< relative size of the shift under BreakdownPolicy::Shift
};

/// A ~ L U in Crout's normalisation: L = D + S_L is lower triangular with the pivot blocks on its
/// diagonal, U = I + S_U is unit upper triangular; A = L U holds on the pattern S(LU). The inverses
/// of the pivot blocks are stored. Any block size; block size 1 is scalar ILU(k). Work: 2
/// block_size^3 operations for every pair (i,k) in L, (k,j) in U with (i,j) in the pattern. Source:
/// Saad, Iterative Methods for Sparse Linear Systems (2003), sections 10.3 and 10.4.
template <class Scalar, class Device>
class BlockIlu {
public:
  using execution_space = typename Device::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>;

  explicit BlockIlu(BlockIluParameters parameters);

  /// Pattern of the factors, row order of the factorisation. Records its phases in `report`.
  /// \throws InvalidArgument if a diagonal block is missing and the policy is `fail`.
  void initialize(const execution_space& exec, const Matrix& a, Report& report);

  /// Factors of a matrix with the same graph. \throws BreakdownError under the policy `fail`.
  void compute(const execution_space& exec, const Matrix& a, Report& report);

  const TriangularFactor<Scalar, Device>& lower() const { return lower_; }
  const TriangularFactor<Scalar, Device>& upper() const { return upper_; }

private:
  BlockIluParameters parameters_;
  TriangularFactor<Scalar, Device> lower_;
  TriangularFactor<Scalar, Device> upper_;
  OrderedRows<Device> order_;
  detail::PivotInverter<Scalar, Device> pivot_inverter_;
};

namespace detail {

/// Length of the longest row of a graph. Waits for the instance.
template <class Device>
Ordinal longestRow(const typename Device::execution_space& exec, const Graph<Device>& graph);

} // namespace detail
} // namespace ainvil
