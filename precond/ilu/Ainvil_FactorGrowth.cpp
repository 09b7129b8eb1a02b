// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_FactorGrowth.hpp"

#include "backend/Ainvil_FiniteNumbers.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "product/Ainvil_Probes.hpp"
#include "product/Ainvil_Spmv.hpp"

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace detail {
namespace {

/// Values of `lower` come first, then those of `upper` and the sizes of rows of A.
template <class Scalar>
struct LargestOfThree {
  KernelArray<const Scalar> lower, upper, row_sizes;
  Offset num_lower, num_upper;

  KOKKOS_FUNCTION void operator()(Offset i, double& of_lower, double& of_upper,
                                  double& of_a) const {
    const bool in_lower = i < num_lower, in_upper = !in_lower && i < num_lower + num_upper;
    const double value = in_lower   ? lower(i)
                         : in_upper ? upper(i - num_lower)
                                    : row_sizes(i - num_lower - num_upper);
    double& largest = in_lower ? of_lower : in_upper ? of_upper : of_a;
    const double size = isFinite(value) ? compat::math::fabs(value) : HUGE_VAL;
    largest = size > largest ? size : largest;
  }
};

/// The first block row of the matrix with an entry of that modulus.
template <class Scalar>
struct FirstRowWith {
  KernelMatrix<const Scalar> t;
  double size;

  KOKKOS_FUNCTION void operator()(Offset i, Ordinal& first) const {
    const Offset bs2 = Offset(t.block_size) * t.block_size;
    for (Offset e = t.graph.row_map(i) * bs2; e < t.graph.row_map(i + 1) * bs2; ++e)
      if (compat::math::fabs(double(t.values(e))) >= size && i < first)
        first = static_cast<Ordinal>(i);
  }
};

} // namespace

std::string Growth::note() const {
  return message("growth=", factor, " (block row ", row + 1, ")");
}

template <class Scalar, class Device>
Growth growthOf(const typename Device::execution_space& exec,
                const TriangularFactor<Scalar, Device>& t, const BsrMatrix<Scalar, Device>& a) {
  using Exec = typename Device::execution_space;
  Growth growth{t.growth, t.growth_row};
  if (growth.factor >= 0 && (growth.row >= 0 || !growth.isLarge()))
    return growth;
  const double largest = largestModulus<Scalar, Device>(exec, asColumn(t.matrix.values));
  if (growth.factor < 0) {
    const double unit = t.unit ? 1.0 : largestModulus<Scalar, Device>(exec, asColumn(a.values));
    growth.factor = unit > 0 ? largest / unit : 0;
  }
  if (growth.isLarge())
    Kokkos::parallel_reduce("Ainvil::growthOf", Range<Exec>(exec, 0, t.matrix.numRows()),
                            FirstRowWith<Scalar>{t.matrix, largest},
                            Kokkos::Min<Ordinal>(growth.row));
  return growth;
}

template <class Scalar, class Device>
LargestModuli largestModuli(const typename Device::execution_space& exec,
                            const Kokkos::View<const Scalar*, Device>& lower,
                            const Kokkos::View<const Scalar*, Device>& upper,
                            const Kokkos::View<const Scalar*, Device>& row_sizes) {
  const Offset num_lower = lower.extent(0), num_upper = upper.extent(0);
  const Offset num = num_lower + num_upper + Offset(row_sizes.extent(0));
  double of_lower = 0, of_upper = 0, of_a = 0;
  Kokkos::parallel_reduce(
      "Ainvil::largestModuli", Range<typename Device::execution_space>(exec, 0, num),
      LargestOfThree<Scalar>{lower, upper, row_sizes, num_lower, num_upper},
      Kokkos::Max<double>(of_lower), Kokkos::Max<double>(of_upper), Kokkos::Max<double>(of_a));
  compat::fence(exec, "Ainvil::largestModuli");
  // of nothing they are the least number
  return {std::max(of_lower, 0.0), std::max(of_upper, 0.0), std::max(of_a, 0.0)};
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template LargestModuli largestModuli<SCALAR, DEVICE>(                                            \
      const typename DEVICE::execution_space&, const Kokkos::View<const SCALAR*, DEVICE>&,         \
      const Kokkos::View<const SCALAR*, DEVICE>&, const Kokkos::View<const SCALAR*, DEVICE>&);     \
  template Growth growthOf<SCALAR, DEVICE>(const typename DEVICE::execution_space&,                \
                                           const TriangularFactor<SCALAR, DEVICE>&,                \
                                           const BsrMatrix<SCALAR, DEVICE>&);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
