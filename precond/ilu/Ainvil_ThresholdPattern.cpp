// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_ThresholdPattern.hpp"

#include "dense/Ainvil_BlockArrays.hpp"
#include "ilu/Ainvil_IlutRows.hpp"
#include "ilu/Ainvil_IlutSteps.hpp"

#include <limits>

namespace ainvil {
namespace detail {

template <class Scalar, class Device>
FillTriangles<Device> thresholdPattern(const typename Device::execution_space& exec,
                                       const BsrMatrix<Scalar, Device>& a,
                                       const ThresholdOptions& options,
                                       IluOnPatternOptions pivots) {
  constexpr bool on_gpu = compat::IsGpu<typename Device::execution_space>::value;
  const IlutRule rule{options.drop, options.max_fill};
  if (pivots.breakdown == BreakdownPolicy::Fail)
    pivots.breakdown = BreakdownPolicy::Replace;
  if (options.search == PatternSearch::Parallel ||
      (on_gpu && options.search == PatternSearch::Auto))
    return ilutPatternBySteps(exec, a, rule, pivots, options.steps);

  compat::fence(exec, "Ainvil::Ilut[pattern]"); // before the host reads
  Ordinal breakdowns[2] = {0, 0};
  PivotInversion<Scalar> inversion;
  inversion.policy = pivots.breakdown;
  inversion.shift = static_cast<Scalar>(pivots.shift);
  inversion.tolerance =
      static_cast<Scalar>(pivots.pivot_tolerance * std::numeric_limits<Scalar>::epsilon());
  inversion.breakdowns = Kokkos::View<Ordinal*, HostDevice>(breakdowns, 2);
  const auto pattern = ilutPattern(copyTo<HostDevice>(a), rule, inversion);
  return {copyTo<Device>(pattern.lower), copyTo<Device>(pattern.upper)};
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template FillTriangles<DEVICE> thresholdPattern<double, DEVICE>(                                 \
      const typename DEVICE::execution_space&, const BsrMatrix<double, DEVICE>&,                   \
      const ThresholdOptions&, IluOnPatternOptions);                                               \
  template FillTriangles<DEVICE> thresholdPattern<float, DEVICE>(                                  \
      const typename DEVICE::execution_space&, const BsrMatrix<float, DEVICE>&,                    \
      const ThresholdOptions&, IluOnPatternOptions);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
