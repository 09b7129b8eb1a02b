// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ilu.hpp"

#include "Ainvil_Registry.hpp"
#include "parameters/Ainvil_CommonParameters.hpp"

namespace ainvil {

template <class Scalar, class Device>
const ParameterTable<IluChoice<Scalar, Device>>& Ilu<Scalar, Device>::parameterTable() {
  using P = IluChoice<Scalar, Device>;
  const auto make = [] {
    // Its entry is among those that the library adds: asking for all would not end.
    auto& known = detail::bareRegistry<Scalar, Device>();
    ParameterTable<P> table;
    table
        .component("factorization", "fact: type", known.factorizations, &P::factorization, "iluk",
                   "incomplete factorisation of A")
        .component("solve", "trisolver: type", known.triangular_solvers, &P::solve, "exact",
                   "substitution, products with approximate inverses, or sweeps")
        .details("How L^-1 and U^-1 are applied.");
    detail::addStorage(table, std::is_same<Scalar, float>::value,
                       "precision in which the applied factors are stored")
        .details("Arithmetic stays in that of the vectors. `float` halves the bytes of its values, "
                 "`bfloat16` quarters them.");
    return table;
  };
  static const ParameterTable<P> table = make();
  return table;
}

template <class Scalar, class Device>
Ilu<Scalar, Device>::Ilu(IluParts<Scalar, Device> parts) : parts_(std::move(parts)) {
  if (parts_.factorization == nullptr || parts_.lower == nullptr || parts_.upper == nullptr)
    throw InvalidArgument("ilu needs a factorisation and a triangular strategy for each factor");
}

template <class Scalar, class Device>
std::string Ilu<Scalar, Device>::description() const {
  return message("ilu: {", factors().description(), ", solve: ", lowerSolver().description(),
                 ", storage: ", nameOf<Scalar>(parts_.storage), "}");
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  parts_.factorization->initialize(exec, a, report_);
  parts_.lower->initialize(exec, factors().lower(), "lower_", report_);
  parts_.upper->initialize(exec, factors().upper(), "upper_", report_);
  detail::workspaceOf(exec, intermediate_, a.numPointRows(), 1);
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  report_.notes.clear();
  parts_.factorization->compute(exec, a, report_);
  parts_.lower->compute(exec, factors().lower(), "lower_", report_);
  parts_.upper->compute(exec, factors().upper(), "upper_", report_);
  report_.factor_entries = lowerSolver().entries() + upperSolver().entries();
  report_.factor_bytes = lowerSolver().bytes() + upperSolver().bytes();
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::doDiagnose(const execution_space& exec, const Matrix& a) {
  factors().diagnose(exec, a, report_);
  lowerSolver().diagnose(exec, factors().lower(), "lower_", report_);
  upperSolver().diagnose(exec, factors().upper(), "upper_", report_);
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::doApply(const execution_space& exec,
                                  MultiVectorArg<const Scalar, Device> x,
                                  MultiVectorArg<Scalar, Device> y, Trans trans) const {
  const auto t = detail::workspaceOf(exec, intermediate_, x.extent(0), x.extent(1));
  const auto& first = trans == Trans::No ? lowerSolver() : upperSolver();
  const auto& second = trans == Trans::No ? upperSolver() : lowerSolver();
  first.apply(exec, x, t, trans);
  second.apply(exec, t, y, trans);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Ilu<double, DEVICE>;                                                              \
  template class Ilu<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
