// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The part of a product that needs what other processes have.

#include "Ainvil_Types.hpp"

namespace ainvil {

/// H of y_r = A_rr x_r + H_r h_r, with the own unknowns x_r of a process r and those h_r of others
/// that its rows name; transposed, y_r = A_rr^T x_r + sum over s of (H_s^T x_s)|_r. The product
/// with A_rr is the caller's, between begin() and add(), while messages travel. begin() and add()
/// are collective.
template <class Scalar, class Device>
class ForeignPart {
public:
  using execution_space = typename Device::execution_space;
  using In = MultiVectorArg<const Scalar, Device>; ///< a process's rows, read
  using Out = MultiVectorArg<Scalar, Device>;      ///< a process's rows, written

  virtual ~ForeignPart() = default;

  /// Makes room for products with so many columns. \throws OutOfMemory
  virtual void reserve(const execution_space& exec, size_t columns) const = 0;
  /// Sends what others need of x.
  virtual void begin(const execution_space& exec, Trans trans, const In& x) const = 0;
  /// y += alpha times what came for the x of begin().
  virtual void add(const execution_space& exec, Trans trans, Scalar alpha, const Out& y) const = 0;

  virtual Offset numScalars() const = 0; ///< stored values of H_r
  virtual Offset bytes() const = 0;      ///< that a product reads of H_r
};

} // namespace ainvil
