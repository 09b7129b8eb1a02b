// SPDX-License-Identifier: BSD-3-Clause
#include "graph/Ainvil_Sparsify.hpp"

#include "graph/Ainvil_SelectEntries.hpp"
#include "graph/Ainvil_Symmetry.hpp"

namespace ainvil {
namespace {

template <class Scalar, class Device>
struct KeepLarge {
  BsrMatrix<Scalar, Device> a;
  Kokkos::View<const double*, Device> scales; ///< of the diagonal
  double tau;

  KOKKOS_FUNCTION bool operator()(Ordinal row, Offset e) const {
    const Ordinal column = a.graph.entries(e);
    return column == row || detail::blockNorm(a, e) > tau * scales(row) * scales(column);
  }
};

} // namespace

template <class Scalar, class Device>
Kokkos::View<double*, Device> detail::diagonalScales(const typename Device::execution_space& exec,
                                                     const BsrMatrix<Scalar, Device>& a) {
  using Exec = typename Device::execution_space;
  const auto scales = allocate<double, Device>(exec, "Ainvil::diagonal_scales", a.numRows());
  Kokkos::parallel_for(
      "Ainvil::diagonalScales", Range<Exec>(exec, 0, a.numRows()),
      KOKKOS_LAMBDA(const Offset i) { scales(i) = compat::math::sqrt(diagonalNorm(a, i)); });
  return scales;
}

template <class Scalar, class Device>
Graph<Device> detail::sparsified(const typename Device::execution_space& exec,
                                 const BsrMatrix<Scalar, Device>& a, double tau) {
  return selectEntries(exec, a.graph, KeepLarge<Scalar, Device>{a, diagonalScales(exec, a), tau});
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template Kokkos::View<double*, DEVICE> detail::diagonalScales<SCALAR, DEVICE>(                   \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&);                  \
  template Graph<DEVICE> detail::sparsified<SCALAR, DEVICE>(                                       \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&, double);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
