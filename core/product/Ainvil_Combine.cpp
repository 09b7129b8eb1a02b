// SPDX-License-Identifier: BSD-3-Clause
#include "product/Ainvil_Combine.hpp"

#include "backend/Ainvil_RowTeams.hpp"

namespace ainvil {
namespace {

/// y_ij = alpha x_ij + beta u_ij + gamma v_ij for all columns j of row i.
template <class Scalar, class Device>
struct CombineKernel {
  Scalar alpha, beta, gamma;
  MultiVectorArg<const Scalar, Device> x, u, v;
  MultiVectorArg<Scalar, Device> y;

  KOKKOS_FUNCTION void operator()(const Offset i) const {
    const Offset columns = y.extent(1);
    for (Offset j = 0; j < columns; ++j)
      y(i, j) = term(alpha, x, i, j) + term(beta, u, i, j) + term(gamma, v, i, j);
  }

  KOKKOS_INLINE_FUNCTION static Scalar
  term(Scalar factor, const MultiVectorArg<const Scalar, Device>& w, Offset i, Offset j) {
    return factor != Scalar(0) ? factor * w(i, j) : Scalar(0);
  }
};

template <class In, class Out>
void requireSameShape(bool is_read, const char* name, const In& x, const Out& y) {
  if (is_read && (x.extent(0) != y.extent(0) || x.extent(1) != y.extent(1)))
    throw InvalidArgument(message(name, " is ", x.extent(0), " x ", x.extent(1), ", but y is ",
                                  y.extent(0), " x ", y.extent(1)));
}

} // namespace

template <class Scalar, class Device>
void detail::combine(const typename Device::execution_space& exec, Scalar alpha,
                     MultiVectorArg<const Scalar, Device> x, Scalar beta,
                     MultiVectorArg<const Scalar, Device> u, Scalar gamma,
                     MultiVectorArg<const Scalar, Device> v, MultiVectorArg<Scalar, Device> y) {
  requireSameShape(alpha != Scalar(0), "x", x, y);
  requireSameShape(beta != Scalar(0), "u", u, y);
  requireSameShape(gamma != Scalar(0), "v", v, y);
  Kokkos::parallel_for(
      "Ainvil::combine", Range<typename Device::execution_space>(exec, 0, y.extent(0)),
      withinArguments(CombineKernel<Scalar, Device>{alpha, beta, gamma, x, u, v, y}));
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template void detail::combine<SCALAR, DEVICE>(                                                   \
      const typename DEVICE::execution_space&, SCALAR, MultiVectorArg<const SCALAR, DEVICE>,       \
      SCALAR, MultiVectorArg<const SCALAR, DEVICE>, SCALAR, MultiVectorArg<const SCALAR, DEVICE>,  \
      MultiVectorArg<SCALAR, DEVICE>);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
