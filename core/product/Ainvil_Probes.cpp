// SPDX-License-Identifier: BSD-3-Clause
#include "product/Ainvil_Probes.hpp"

#include "backend/Ainvil_FiniteNumbers.hpp"
#include "backend/Ainvil_Hash.hpp"
#include "backend/Ainvil_RowTeams.hpp"

namespace ainvil {

using detail::Range;

namespace {

/// sum over all entries of (z_ij / unit)^2.
template <class Scalar, class Device>
double sumOfSquares(const typename Device::execution_space& exec,
                    MultiVectorArg<const Scalar, Device> z, double unit) {
  using Exec = typename Device::execution_space;
  const Offset columns = z.extent(1);
  double sum = 0;
  Kokkos::parallel_reduce(
      "Ainvil::norm", Range<Exec>(exec, 0, z.extent(0)),
      KOKKOS_LAMBDA(const Offset i, double& partial) {
        for (Offset j = 0; j < columns; ++j) {
          const double ratio = double(z(i, j)) / unit;
          partial += ratio * ratio;
        }
      },
      sum);
  return sum;
}

} // namespace

template <class Scalar, class Device>
void detail::fillProbes(const typename Device::execution_space& exec,
                        MultiVectorArg<Scalar, Device> z) {
  using Exec = typename Device::execution_space;
  const Offset columns = z.extent(1);
  Kokkos::parallel_for(
      "Ainvil::fillProbes", Range<Exec>(exec, 0, z.extent(0)), KOKKOS_LAMBDA(const Offset i) {
        for (Offset j = 0; j < columns; ++j) {
          const std::uint64_t counter =
              std::uint64_t(i) * std::uint64_t(columns) + std::uint64_t(j);
          z(i, j) = (detail::hash(counter) & 1) != 0 ? Scalar(1) : Scalar(-1);
        }
      });
}

template <class Scalar, class Device>
double detail::largestModulus(const typename Device::execution_space& exec,
                              MultiVectorArg<const Scalar, Device> z) {
  using Exec = typename Device::execution_space;
  const Offset columns = z.extent(1);
  double largest = 0;
  Kokkos::parallel_reduce(
      "Ainvil::largestModulus", Range<Exec>(exec, 0, z.extent(0)),
      KOKKOS_LAMBDA(const Offset i, double& most) {
        for (Offset j = 0; j < columns; ++j) {
          const double size = compat::math::fabs(double(z(i, j)));
          most = size > most ? size : most;
        }
      },
      Kokkos::Max<double>(largest));
  return largest > 0 ? largest : 0; // of nothing it is the least number
}

template <class Scalar, class Device>
double detail::norm(const typename Device::execution_space& exec,
                    MultiVectorArg<const Scalar, Device> z) {
  return safeNormBy([&](double unit) { return sumOfSquares<Scalar, Device>(exec, z, unit); },
                    [&]() { return largestModulus<Scalar, Device>(exec, z); });
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template void detail::fillProbes<SCALAR, DEVICE>(const typename DEVICE::execution_space&,        \
                                                   MultiVectorArg<SCALAR, DEVICE>);                \
  template double detail::largestModulus<SCALAR, DEVICE>(const typename DEVICE::execution_space&,  \
                                                         MultiVectorArg<const SCALAR, DEVICE>);    \
  template double detail::norm<SCALAR, DEVICE>(const typename DEVICE::execution_space&,            \
                                               MultiVectorArg<const SCALAR, DEVICE>);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
