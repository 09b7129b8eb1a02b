// SPDX-License-Identifier: BSD-3-Clause
#include "krylov/Ainvil_ResidualMeter.hpp"

#include "product/Ainvil_VectorKernels.hpp"

#include <cmath>

namespace ainvil {
namespace detail {
namespace {

/// sum (w_i x_i)^2 and sum |x_i|; all w_i = 1 without weights.
template <class Scalar, class Weights>
struct NormBody {
  Weights weights;
  KernelColumn<const Scalar> x;
  double* result; ///< two numbers a column

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    x.moveTo(column);
    result += 2 * column;
    return true;
  }
  KOKKOS_INLINE_FUNCTION Sums<2> row(Offset i) const {
    const double x_i = x[i];
    const double weighted = weights.of(i, x_i);
    return {{weighted * weighted, x_i < 0 ? -x_i : x_i}};
  }
  KOKKOS_INLINE_FUNCTION void finish(const Sums<2>& sums) const {
    result[0] = sums.value[0];
    result[1] = sums.value[1];
  }
};

/// The same of r, both sums NaN if x is not finite: 0 x_i is 0 or NaN.
template <class Scalar, class Weights>
struct ResidualNormBody {
  NormBody<Scalar, Weights> norm;
  KernelColumn<const Scalar> x;

  KOKKOS_INLINE_FUNCTION bool begin(int column) {
    x.moveTo(column);
    return norm.begin(column);
  }
  KOKKOS_INLINE_FUNCTION Sums<2> row(Offset i) const {
    Sums<2> sums = norm.row(i);
    const double nothing = double(0) * x[i];
    sums.value[0] += nothing;
    sums.value[1] += nothing;
    return sums;
  }
  KOKKOS_INLINE_FUNCTION void finish(const Sums<2>& sums) const { norm.finish(sums); }
};

} // namespace

template <class Scalar, class Device>
template <class Body>
typename ResidualMeter<Scalar, Device>::Norms
ResidualMeter<Scalar, Device>::measure(const execution_space& exec, const ColumnSet& columns,
                                       Offset n, const Body& body) {
  Norms norms;
  if (columns.empty() || (n == 0 && reduction_ == nullptr))
    return norms;
  sumRows<2>(exec, "Ainvil::norm", shape_, sums_, n, body, reduction_, columns);
  Kokkos::deep_copy(exec, host_result_, result_);
  compat::fence(exec, "Ainvil::ResidualMeter::norm");
  for (const int c : columns)
    norms[c] = {std::sqrt(host_result_(2 * c)), host_result_(2 * c + 1) == 0};
  return norms;
}

template <class Scalar, class Device>
typename ResidualMeter<Scalar, Device>::Norms
ResidualMeter<Scalar, Device>::norms(const execution_space& exec, const ColumnSet& columns,
                                     VectorIn x, const Weights& weights) {
  Norms norms;
  withWeights(weights, [&](const auto& w) {
    using Body = NormBody<Scalar, std::decay_t<decltype(w)>>;
    norms = measure(exec, columns, x.extent(0), Body{w, x, result_.data()});
  });
  return norms;
}

template <class Scalar, class Device>
typename ResidualMeter<Scalar, Device>::Norms ResidualMeter<Scalar, Device>::residuals(
    const execution_space& exec, const LinearOperator<Scalar, Device>& a, const ColumnSet& columns,
    VectorIn b, VectorIn x, VectorOut r, const Weights& weights, Residual kept) {
  copyColumns<Scalar, Device>(exec, columns, b, r);
  applyToColumns<Scalar, Device>(exec, a, columns, x, r, 0, Scalar(-1), Scalar(1));
  const bool weighs = kept == Residual::Weighted && weights.extent(0) > 0;
  if (weighs)
    weighRows<Scalar, Device>(exec, columns, weights, r);
  Norms norms;
  withWeights(weighs ? Weights() : weights, [&](const auto& w) {
    using Body = ResidualNormBody<Scalar, std::decay_t<decltype(w)>>;
    norms = measure(exec, columns, x.extent(0), Body{{w, r, result_.data()}, x});
  });
  return norms;
}

AINVIL_INSTANTIATE_CLASS(ResidualMeter)

} // namespace detail
} // namespace ainvil
