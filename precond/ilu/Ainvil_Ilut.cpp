// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_Ilut.hpp"

#include "dense/Ainvil_BlockArrays.hpp"
#include "ilu/Ainvil_IluOnPatternParameters.hpp"
#include "ilu/Ainvil_IlutSteps.hpp"

#include <limits>

namespace ainvil {

template <class Scalar, class Device>
Ilut<Scalar, Device>::Ilut(IlutParameters parameters)
    : parameters_(parameterTable().checked(parameters)), factors_(parameters_) {}

const ParameterTable<IlutParameters>& IlutParameters::table() {
  using P = IlutParameters;
  const auto make = [] {
    ParameterTable<P> table;
    table
        .number("drop", "fact: drop tolerance", &P::drop, NumberRange::NonNegative,
                "drop entries below so many times the norm of their row of A")
        .details("Frobenius norms, of blocks where the matrix has them. 0 keeps all fill that "
                 "`max-fill` allows.")
        .number("max-fill", "fact: ilut level-of-fill", &P::max_fill, NumberRange::Positive,
                "most entries of both factors, in entries of A")
        .details("The largest are kept, and all diagonal blocks. Bounds memory and work where "
                 "`drop` alone would let them grow.")
        .integer("repattern", "fact: ilut repattern", &P::repattern, 0,
                 "find a new pattern each n computes")
        .details("0: keep that of the first `compute` of a graph; later ones are then numeric "
                 "factorisations alone.");
    table
        .choice("search", "fact: ilut search", &P::search,
                {{"auto", IlutSearch::Auto},
                 {"sequential", IlutSearch::Sequential},
                 {"parallel", IlutSearch::Parallel}},
                "how a pattern is found")
        .details("Row after row on one thread of the host, or all rows at a time on the device in "
                 "`steps` that add candidates and drop again; `auto`: in parallel on GPUs only.")
        .integer("steps", "fact: ilut steps", &P::steps, 1, "steps of a parallel search")
        .details("Fill of a step comes from that of the one before.")
        .onlyIf([](const P& p) { return p.search == IlutSearch::Parallel; }, "search=parallel");
    detail::addSweeps(table);
    table.describedBy({"drop", "max-fill", "repattern?", "search?", "steps?", "iterative?"});
    detail::addPivots(table, "pivot block", "eps");
    return table;
  };
  static const ParameterTable<P> table = make();
  return table;
}

template <class Scalar, class Device>
std::string Ilut<Scalar, Device>::description() const {
  return parameterTable().describe(parameters_);
}

template <class Scalar, class Device>
void Ilut<Scalar, Device>::initialize(const execution_space&, const Matrix&, Report&) {
  factors_ = detail::IluOnPattern<Scalar, Device>(parameters_);
  computes_ = 0;
}

template <class Scalar, class Device>
bool Ilut<Scalar, Device>::findPattern(const execution_space& exec, const Matrix& a, bool may_keep,
                                       Report& report) {
  if (may_keep && (parameters_.repattern == 0 || computes_ < parameters_.repattern)) {
    computes_ += parameters_.repattern == 0 ? 0 : 1;
    return false;
  }
  factors_ = detail::IluOnPattern<Scalar, Device>(parameters_);
  report.phases.time(exec, "Ilut", "ilut_pattern", [&] {
    if (refusesNonFinite())
      detail::requireFiniteMatrix<Scalar, Device>(exec, a.values);
    factors_.setPattern(exec, a, foundPattern(exec, a), false);
  });
  factors_.findOrder(exec, a, report);
  computes_ = 1;
  return true;
}

/// With pivots that are replaced where the factorisation would fail: that is for the numeric phase
/// to say.
template <class Scalar, class Device>
FillTriangles<Device> Ilut<Scalar, Device>::foundPattern(const execution_space& exec,
                                                         const Matrix& a) const {
  constexpr bool on_gpu = compat::IsGpu<execution_space>::value;
  const detail::IlutRule rule{parameters_.drop, parameters_.max_fill};
  IluOnPatternOptions options = parameters_;
  if (options.breakdown == BreakdownPolicy::Fail)
    options.breakdown = BreakdownPolicy::Replace;
  if (parameters_.search == IlutSearch::Parallel ||
      (on_gpu && parameters_.search == IlutSearch::Auto))
    return detail::ilutPatternBySteps(exec, a, rule, options, parameters_.steps);

  compat::fence(exec, "Ainvil::Ilut[pattern]"); // before the host reads
  Ordinal breakdowns[2] = {0, 0};
  detail::PivotInversion<Scalar> pivots;
  pivots.policy = options.breakdown;
  pivots.shift = static_cast<Scalar>(options.shift);
  pivots.tolerance =
      static_cast<Scalar>(options.pivot_tolerance * std::numeric_limits<Scalar>::epsilon());
  pivots.breakdowns = Kokkos::View<Ordinal*, HostDevice>(breakdowns, 2);
  const auto pattern = detail::ilutPattern(copyTo<HostDevice>(a), rule, pivots);
  return {copyTo<Device>(pattern.lower), copyTo<Device>(pattern.upper)};
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Ilut<double, DEVICE>;                                                             \
  template class Ilut<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
