// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Factors of Ainv in blocks, of a matrix on a device.

#include "Ainvil_Ordering.hpp"
#include "ainv/Ainvil_BlockInverseFactors.hpp"

namespace ainvil {
namespace detail {

/// BlockInverseFactors on the host of a matrix on a device, and what they become there.
template <class Scalar, class Device>
class BlockAinv {
public:
  using execution_space = typename Device::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>;
  using Arrays = AinvArrays<Scalar, Device>;

  /// For matrices of these graphs, A in its elimination order and its transpose, or A twice if
  /// symmetric. Waits.
  BlockAinv(const execution_space& exec, const InverseFactorsParameters& parameters,
            const Matrix& ordered, const Matrix& transposed, const Permutation<Device>& order);

  /// From the values of the same graphs. Waits.
  void compute(const execution_space& exec, const Matrix& ordered, const Matrix& transposed,
               const ColumnProgress& progress);

  const BlockInverseFactors<Scalar>& factors() const { return factors_; } ///< on the host

  /// L^-1 Z^T with D = L L^T if symmetric, or D^-1 W^T, in the numbering of A and the arrays of
  /// `to`. Waits.
  Matrix right(const execution_space& exec, Arrays& to);
  /// Z^T, likewise.
  Matrix zTransposed(const execution_space& exec, Arrays& to);

private:
  using HostArrays = AinvArrays<Scalar, HostDevice>;
  using HostMatrix = BsrMatrix<Scalar, HostDevice>;

  template <class FactorOf>
  Matrix rowsOf(const execution_space& exec, const BlockColumns<Scalar>& columns,
                const FactorOf& factor_of, Arrays& to);

  bool symmetric_;
  BlockInverseFactors<Scalar> factors_;
  HostMatrix a_, transposed_; ///< as the host reads them
  Permutation<HostDevice> order_;
  HostArrays arrays_; ///< to write factors into that are copied to a GPU then
};

} // namespace detail
} // namespace ainvil
