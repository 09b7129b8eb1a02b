// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_FactorGrowth.hpp"

#include "backend/Ainvil_FiniteNumbers.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"
#include "product/Ainvil_Probes.hpp"
#include "product/Ainvil_Spmv.hpp"

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace detail {
namespace {

/// Values of `lower` come first, those of `upper` behind them.
template <class Scalar>
struct LargestOfBoth {
  KernelArray<const Scalar> lower, upper;
  Offset num_lower;

  KOKKOS_FUNCTION void operator()(Offset i, double& of_lower, double& of_upper) const {
    const bool in_lower = i < num_lower;
    const double value = in_lower ? lower(i) : upper(i - num_lower);
    double& largest = in_lower ? of_lower : of_upper;
    const double size = isFinite(value) ? compat::math::fabs(value) : HUGE_VAL;
    largest = size > largest ? size : largest;
  }
};

} // namespace

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

template <class Scalar, class Device>
LargestModuli largestModuli(const typename Device::execution_space& exec,
                            const Kokkos::View<const Scalar*, Device>& lower,
                            const Kokkos::View<const Scalar*, Device>& upper) {
  const Offset num_lower = lower.extent(0), num_upper = upper.extent(0);
  double of_lower = 0, of_upper = 0;
  Kokkos::parallel_reduce("Ainvil::largestModuli",
                          Range<typename Device::execution_space>(exec, 0, num_lower + num_upper),
                          LargestOfBoth<Scalar>{lower, upper, num_lower},
                          Kokkos::Max<double>(of_lower), Kokkos::Max<double>(of_upper));
  compat::fence(exec, "Ainvil::largestModuli");
  return {std::max(of_lower, 0.0), std::max(of_upper, 0.0)}; // of nothing they are the least number
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template LargestModuli largestModuli<SCALAR, DEVICE>(                                            \
      const typename DEVICE::execution_space&, const Kokkos::View<const SCALAR*, DEVICE>&,         \
      const Kokkos::View<const SCALAR*, DEVICE>&);                                                 \
  template Growth growthOf<SCALAR, DEVICE>(const typename DEVICE::execution_space&,                \
                                           const TriangularFactor<SCALAR, DEVICE>&,                \
                                           const BsrMatrix<SCALAR, DEVICE>&);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
