// SPDX-License-Identifier: BSD-3-Clause
#include "krylov/Ainvil_ResidualMeter.hpp"

#include "product/Ainvil_VectorKernels.hpp"

#include <cmath>

namespace ainvil {
namespace detail {

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
                                     VectorIn x) {
  return measure(exec, columns, x.extent(0), NormBody<Scalar>{x, result_.data()});
}

template <class Scalar, class Device>
typename ResidualMeter<Scalar, Device>::Norms ResidualMeter<Scalar, Device>::residuals(
    const execution_space& exec, const LinearOperator<Scalar, Device>& a, const ColumnSet& columns,
    VectorIn b, VectorIn x, VectorOut r) {
  copyColumns<Scalar, Device>(exec, columns, b, r);
  applyToColumns<Scalar, Device>(exec, a, columns, x, r, 0, Scalar(-1), Scalar(1));
  return measure(exec, columns, x.extent(0), ResidualNormBody<Scalar>{{r, result_.data()}, x});
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class ResidualMeter<double, DEVICE>;                                                    \
  template class ResidualMeter<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
