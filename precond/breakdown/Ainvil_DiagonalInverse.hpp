// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The inverted diagonal blocks of a matrix.

#include "breakdown/Ainvil_PivotInverter.hpp"

namespace ainvil {
namespace detail {

/// Of what the diagonal is taken.
enum class DiagonalOf {
  Blocks, ///< the matrix of blocks
  Points  ///< the matrix of scalars
};

/// D^-1, D the diagonal blocks of A or its scalar diagonal. Blocks without an inverse follow the
/// breakdown policy, see PivotInverter.
template <class Scalar, class Device>
class DiagonalInverse {
public:
  using execution_space = typename Device::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>; ///< A

  /// For matrices of this graph. A block counts as singular below
  /// so many eps of double times the largest entry of its row of A. \throws InvalidArgument if
  /// diagonal blocks are missing and the policy is `fail`.
  void initialize(const execution_space& exec, const Matrix& a, DiagonalOf of,
                  BreakdownPolicy policy, double shift, double pivot_tolerance);
  /// The inverses; counts breakdowns. `label` is that of the kernel. Waits. \throws BreakdownError
  /// under the policy `fail`.
  void compute(const execution_space& exec, const char* label, const Matrix& a, Report& report);

  /// y = alpha op(D^-1) x + beta y; asynchronous.
  void apply(const execution_space& exec, Trans trans, Scalar alpha,
             MultiVectorArg<const Scalar, Device> x, Scalar beta,
             MultiVectorArg<Scalar, Device> y) const;

  Offset entries() const { return static_cast<Offset>(inverse_.extent(0)); } ///< scalars stored

private:
  int block_size_ = 1;                     ///< of the inverted blocks
  Kokkos::View<Scalar*, Device> diagonal_; ///< n * block_size_^2
  Kokkos::View<Scalar*, Device> inverse_;  ///< its blocks inverted
  Kokkos::View<int*, Device> pivots_;      ///< room for the inversion of large blocks
  Kokkos::View<Scalar*, Device> scales_;   ///< row scales for the same inversion
  PivotInverter<Scalar, Device> pivot_inverter_;
};

} // namespace detail
} // namespace ainvil
