// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_BlockIlu.hpp"

#include "ilu/Ainvil_IluOnPatternParameters.hpp"

namespace ainvil {

template <class Scalar, class Device>
BlockIlu<Scalar, Device>::BlockIlu(BlockIluParameters parameters)
    : parameters_(parameterTable().checked(parameters)), factors_(parameters_) {}

const ParameterTable<BlockIluParameters>& BlockIluParameters::table() {
  using P = BlockIluParameters;
  const auto make = [] {
    ParameterTable<P> table;
    table.integer("level", "fact: iluk level-of-fill", &P::level, 0, "fill level k of ILU(k)")
        .details("Entries, factorisation and applications grow with it.");
    detail::addSweeps(table);
    detail::addModified(table, detail::modifiedBlocks);
    table.describedBy({"level", "iterative?", "modified?", "abs-threshold?", "rel-threshold?"});
    detail::addFactorPivots(table);
    return table;
  };
  static const ParameterTable<P> table = make();
  return table;
}

template <class Scalar, class Device>
std::string BlockIlu<Scalar, Device>::description() const {
  return parameterTable().describe(parameters_);
}

template <class Scalar, class Device>
void BlockIlu<Scalar, Device>::initialize(const execution_space& exec, const Matrix& a,
                                          Report& report) {
  // Elimination fills a missing diagonal block or leaves a zero pivot: the values decide.
  report.phases.time(exec, "BlockIlu", "ilu_symbolic", [&] {
    factors_.setPattern(exec, a,
                        fillTriangles(exec, a.graph, parameters_.level, this->patternProgress(a)),
                        detail::EntriesOfA::All);
  });
  factors_.findOrder(exec, a, report);
}

template <class Scalar, class Device>
FactorizationPtr<Scalar, Device> BlockIluParameters::makeFactorization() const {
  return std::make_unique<BlockIlu<Scalar, Device>>(*this);
}

AINVIL_INSTANTIATE_CLASS(BlockIlu)
#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template FactorizationPtr<SCALAR, DEVICE>                                                        \
  BlockIluParameters::makeFactorization<SCALAR, DEVICE>() const;
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
