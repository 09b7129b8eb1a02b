// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The norm ||W r||_2 with W = diag(w_1, w_2, ...) that residuals may be judged by.

#include "Ainvil_LinearOperator.hpp"
#include "backend/Ainvil_ColumnSet.hpp"

namespace ainvil {
namespace detail {

/// What entry i of a residual counts in a norm without weights.
struct Unweighted {
  KOKKOS_INLINE_FUNCTION double of(Offset, double r_i) const { return r_i; }
};

/// What it counts with them: w_i r_i.
template <class Scalar>
struct Weighted {
  const Scalar* w;
  KOKKOS_INLINE_FUNCTION double of(Offset i, double r_i) const { return w[i] * r_i; }
};

/// Calls f(Weighted) or, without weights, f(Unweighted).
template <class Scalar, class Device, class F>
void withWeights(const Vector<const Scalar, Device>& weights, const F& f) {
  if (weights.extent(0) > 0)
    f(Weighted<Scalar>{weights.data()});
  else
    f(Unweighted());
}

/// \throws InvalidArgument unless there are n weights, all positive and finite, or none. Waits.
template <class Scalar, class Device>
void checkWeights(const typename Device::execution_space& exec,
                  const Vector<const Scalar, Device>& weights, Offset n);

/// y = W y for some columns. Asynchronous.
template <class Scalar, class Device>
void weighRows(const typename Device::execution_space& exec, const ColumnSet& columns,
               const Vector<const Scalar, Device>& weights, MultiVectorArg<Scalar, Device> y);

/// M W^-1, or W^-1 where there is no M. On W A x = W b a method takes it in place of M: its
/// products W A M W^-1 then have the Krylov spaces of A M, and what M is good for with A it is good
/// for with W A.
template <class Scalar, class Device>
class WeightedPreconditioner final : public LinearOperator<Scalar, Device> {
public:
  using typename LinearOperator<Scalar, Device>::execution_space;
  using Operator = LinearOperator<Scalar, Device>;

  /// Allocates for n unknowns and this many columns, where there is not room for them already.
  void reserve(const execution_space& exec, Offset n, int columns);
  /// `m` may be null. The object has no other state that lasts.
  void set(const Operator* m, const Vector<const Scalar, Device>& weights);

  Offset numPointRows() const override { return weights_.extent(0); }
  Offset numPointCols() const override { return weights_.extent(0); }
  /// Untransposed, whatever it is told: solvers ask for nothing else.
  void apply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
             MultiVectorArg<Scalar, Device> y, Trans, Scalar alpha, Scalar beta) const override;
  bool isFixed() const override { return m_ == nullptr || m_->isFixed(); }
  std::string objection() const override { return m_ == nullptr ? "" : m_->objection(); }

private:
  const Operator* m_ = nullptr;
  Vector<const Scalar, Device> weights_;
  MultiVector<Scalar, Device> scaled_; ///< W^-1 x
};

} // namespace detail
} // namespace ainvil
