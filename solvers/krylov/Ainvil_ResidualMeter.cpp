// SPDX-License-Identifier: BSD-3-Clause
#include "krylov/Ainvil_ResidualMeter.hpp"

#include "product/Ainvil_VectorKernels.hpp"

#include <cmath>

namespace ainvil {
namespace detail {

template <class Scalar, class Device>
template <class Body>
typename ResidualMeter<Scalar, Device>::Norm
ResidualMeter<Scalar, Device>::measure(const execution_space& exec, Offset n, const Body& body) {
  if (n == 0 && reduction_ == nullptr)
    return {0, true};
  sumRows<2>(exec, "Ainvil::norm", shape_, sums_, n, body, reduction_);
  Kokkos::deep_copy(exec, host_result_, result_);
  compat::fence(exec, "Ainvil::ResidualMeter::norm");
  return {std::sqrt(host_result_(0)), host_result_(1) == 0};
}

template <class Scalar, class Device>
typename ResidualMeter<Scalar, Device>::Norm
ResidualMeter<Scalar, Device>::norm(const execution_space& exec, VectorIn x) {
  return measure(exec, x.extent(0), NormBody<Scalar, Device>{x, result_});
}

template <class Scalar, class Device>
double ResidualMeter<Scalar, Device>::residual(const execution_space& exec,
                                               const LinearOperator<Scalar, Device>& a, VectorIn b,
                                               VectorIn x, VectorOut r) {
  copyVector<Scalar, Device>(exec, b, r);
  a.apply(exec, x, r, Trans::No, Scalar(-1), Scalar(1));
  return measure(exec, x.extent(0), ResidualNormBody<Scalar, Device>{{r, result_}, x}).two;
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class ResidualMeter<double, DEVICE>;                                                    \
  template class ResidualMeter<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
