// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_Ilut.hpp"

#include "ilu/Ainvil_IluOnPatternParameters.hpp"
#include "ilu/Ainvil_ThresholdParameters.hpp"
#include "ilu/Ainvil_ThresholdPattern.hpp"

namespace ainvil {

template <class Scalar, class Device>
Ilut<Scalar, Device>::Ilut(IlutParameters parameters)
    : parameters_(parameterTable().checked(parameters)), factors_(parameters_) {}

const ParameterTable<IlutParameters>& IlutParameters::table() {
  using P = IlutParameters;
  const auto make = [] {
    ParameterTable<P> table;
    detail::addThreshold(table, "fact: ilut ");
    detail::addSweeps(table);
    detail::addModified(table, detail::modifiedBlocks);
    table.describedBy({"drop", "max-fill", "repattern?", "search?", "steps?", "iterative?",
                       "modified?", "abs-threshold?", "rel-threshold?"});
    detail::addFactorPivots(table);
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
}

template <class Scalar, class Device>
bool Ilut<Scalar, Device>::findPattern(const execution_space& exec, const Matrix& a, bool may_keep,
                                       Report& report) {
  if (age_.keeps(may_keep, parameters_.repattern))
    return false;
  factors_ = detail::IluOnPattern<Scalar, Device>(parameters_);
  report.phases.time(exec, "Ilut", "ilut_pattern", [&] {
    if (refusesNonFinite())
      detail::requireFiniteMatrix<Scalar, Device>(exec, a.values);
    factors_.setPattern(exec, a,
                        detail::thresholdPattern(exec, a, parameters_, parameters_,
                                                 detail::FactorKind::General,
                                                 this->patternProgress(a)),
                        detail::EntriesOfA::Some);
  });
  factors_.findOrder(exec, a, report);
  return true;
}

template <class Scalar, class Device>
FactorizationPtr<Scalar, Device> IlutParameters::makeFactorization() const {
  return std::make_unique<Ilut<Scalar, Device>>(*this);
}

AINVIL_INSTANTIATE_CLASS(Ilut)
#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template FactorizationPtr<SCALAR, DEVICE> IlutParameters::makeFactorization<SCALAR, DEVICE>()    \
      const;
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
