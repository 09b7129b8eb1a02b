// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_FactorGrowth.hpp"

#include "breakdown/Ainvil_PivotInverter.hpp"
#include "product/Ainvil_Probes.hpp"
#include "product/Ainvil_Spmv.hpp"

#include <algorithm>

namespace ainvil {
namespace detail {

std::string Growth::note() const {
  return message("growth=", factor, " (block row ", row + 1, ")");
}

template <class Scalar, class Device>
Growth growthOf(const typename Device::execution_space& exec,
                const TriangularFactor<Scalar, Device>& t, const BsrMatrix<Scalar, Device>& a) {
  const auto sizes = allocate<Scalar, Device>(exec, "Ainvil::row_sizes", t.matrix.numPointRows());
  findRowSizes<Scalar, Device>(exec, t.matrix, sizes);
  const auto on_host = Kokkos::create_mirror_view(sizes);
  Kokkos::deep_copy(exec, on_host, sizes);
  compat::fence(exec, "Ainvil::growthOf"); // before the host reads
  const double unit = t.unit ? 1.0 : largestModulus<Scalar, Device>(exec, asColumn(a.values));
  const Scalar *const begin = on_host.data(), *const end = begin + on_host.extent(0);
  const Scalar* const largest = std::max_element(begin, end);
  if (largest == end || unit == 0)
    return {};
  return {*largest / unit, static_cast<Ordinal>((largest - begin) / t.matrix.block_size)};
}

#define AINVIL_INSTANTIATE_SCALAR(SCALAR, DEVICE)                                                  \
  template Growth growthOf<SCALAR, DEVICE>(const typename DEVICE::execution_space&,                \
                                           const TriangularFactor<SCALAR, DEVICE>&,                \
                                           const BsrMatrix<SCALAR, DEVICE>&);
#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  AINVIL_INSTANTIATE_SCALAR(double, DEVICE)                                                        \
  AINVIL_INSTANTIATE_SCALAR(float, DEVICE)
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
