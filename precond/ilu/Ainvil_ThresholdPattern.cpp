// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_ThresholdPattern.hpp"

#include "dense/Ainvil_BlockArrays.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "ilu/Ainvil_IctRows.hpp"
#include "ilu/Ainvil_IlutRows.hpp"
#include "ilu/Ainvil_IlutSteps.hpp"

#include <limits>

namespace ainvil {
namespace detail {

namespace {

/// A pattern, and how many pivots were made up on the way.
template <class Device>
struct FoundPattern {
  FillTriangles<Device> pattern;
  Ordinal breakdowns = 0;
};

/// By the search that `options` name. With `stops` there may be no pattern where a pivot was made
/// up.
template <class Scalar, class Device>
FoundPattern<Device> search(const typename Device::execution_space& exec,
                            const BsrMatrix<Scalar, Device>& a, const ThresholdOptions& options,
                            const IluOnPatternOptions& pivots, FactorKind kind, bool stops,
                            const std::function<void(Offset)>& progress) {
  constexpr bool on_gpu = compat::IsGpu<typename Device::execution_space>::value;
  const IlutRule rule{options.drop, options.max_fill};
  FoundPattern<Device> found;
  if (options.search == PatternSearch::Parallel ||
      (on_gpu && options.search == PatternSearch::Auto)) {
    found.pattern =
        ilutPatternBySteps(exec, a, rule, pivots, options.steps, kind, found.breakdowns, progress);
    return found;
  }
  compat::fence(exec, "Ainvil::Ilut[pattern]"); // before the host reads
  Ordinal breakdowns[2] = {0, 0};
  PivotInversion<Scalar> inversion;
  inversion.policy = pivots.breakdown;
  inversion.shift = static_cast<Scalar>(pivots.shift);
  inversion.tolerance =
      static_cast<Scalar>(pivots.pivot_tolerance * std::numeric_limits<Scalar>::epsilon());
  inversion.positive = kind == FactorKind::Positive;
  inversion.change = DiagonalChange<Scalar>(pivots);
  inversion.breakdowns = Kokkos::View<Ordinal*, HostDevice>(breakdowns, 2);
  if (kind != FactorKind::General) {
    const Graph<HostDevice> upper =
        ictPattern(copyTo<HostDevice>(a), rule, inversion, stops, progress);
    if (!stops || breakdowns[0] == 0) // else it lacks rows
      found.pattern = symmetricTriangles(exec, copyTo<Device>(upper));
  } else {
    const auto pattern = ilutPattern(copyTo<HostDevice>(a), rule, inversion, progress);
    found.pattern = {copyTo<Device>(pattern.lower), copyTo<Device>(pattern.upper)};
  }
  found.breakdowns = breakdowns[0];
  return found;
}

/// values <- (1 + alpha) values on the scalar diagonal, a point row a thread.
template <class Scalar>
struct ShiftDiagonal {
  KernelGraph graph;
  KernelArray<Scalar> values;
  int block_size;
  Scalar alpha;

  KOKKOS_FUNCTION void operator()(Offset row) const {
    const Ordinal i = static_cast<Ordinal>(row / block_size);
    const int r = static_cast<int>(row - Offset(i) * block_size);
    const Offset at = findEntry(graph.entries, graph.row_map(i), graph.row_map(i + 1), i);
    if (at >= 0)
      values((at * block_size + r) * block_size + r) *= 1 + alpha;
  }
};

/// A + alpha diag(A).
template <class Scalar, class Device>
BsrMatrix<Scalar, Device> shiftedMatrix(const typename Device::execution_space& exec,
                                        const BsrMatrix<Scalar, Device>& a, double alpha) {
  const auto values = allocate<Scalar, Device>(exec, "Ainvil::shifted", a.values.extent(0));
  Kokkos::deep_copy(exec, values, a.values);
  Kokkos::parallel_for("Ainvil::Ilut[shift]",
                       Range<typename Device::execution_space>(exec, 0, a.numPointRows()),
                       ShiftDiagonal<Scalar>{a.graph, values, a.block_size, Scalar(alpha)});
  return BsrMatrix<Scalar, Device>(a.graph, values, a.block_size);
}

/// After so many searches, an estimate, pivots that are made up are taken as they are.
constexpr int most_searches = 12;

} // namespace

template <class Scalar, class Device>
FillTriangles<Device>
thresholdPattern(const typename Device::execution_space& exec, const BsrMatrix<Scalar, Device>& a,
                 const ThresholdOptions& options, IluOnPatternOptions pivots, FactorKind kind,
                 const std::function<void(Offset)>& progress) {
  const bool shifts = kind != FactorKind::General && pivots.breakdown == BreakdownPolicy::Shift;
  if (shifts || pivots.breakdown == BreakdownPolicy::Fail)
    pivots.breakdown = BreakdownPolicy::Replace;
  auto found = search(exec, a, options, pivots, kind, shifts, progress);
  double alpha = pivots.shift;
  for (int s = 2; shifts && found.breakdowns > 0 && s <= most_searches; ++s, alpha *= 4)
    found = search(exec, shiftedMatrix(exec, a, alpha), options, pivots, kind, s < most_searches,
                   progress);
  return found.pattern;
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template FillTriangles<DEVICE> thresholdPattern<SCALAR, DEVICE>(                                 \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&,                   \
      const ThresholdOptions&, IluOnPatternOptions, FactorKind,                                    \
      const std::function<void(Offset)>&);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
