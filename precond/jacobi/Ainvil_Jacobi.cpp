// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Jacobi.hpp"

#include "parameters/Ainvil_CommonParameters.hpp"

namespace ainvil {

const ParameterTable<JacobiParameters>& JacobiParameters::table() {
  using P = JacobiParameters;
  const auto make = [] {
    ParameterTable<P> table;
    table
        .choice("variant", "jacobi: variant", &P::point, {{"block", false}, {"point", true}},
                "blocks of the matrix, or its scalar diagonal")
        .details("b^2 values a block row against b.")
        .describedBy({"variant"});
    detail::addPivots(table, "block", "eps (of double)");
    return table;
  };
  static const ParameterTable<P> table = make();
  return table;
}

template <class Scalar, class Device>
Jacobi<Scalar, Device>::Jacobi(JacobiParameters parameters)
    : parameters_(parameterTable().checked(parameters)) {}

template <class Scalar, class Device>
std::string Jacobi<Scalar, Device>::description() const {
  return message("jacobi: {", parameterTable().describe(parameters_), "}");
}

template <class Scalar, class Device>
void Jacobi<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  const auto of = parameters_.point ? detail::DiagonalOf::Points : detail::DiagonalOf::Blocks;
  inverse_.initialize(exec, a, of, parameters_.breakdown, parameters_.shift,
                      parameters_.pivot_tolerance);
}

template <class Scalar, class Device>
void Jacobi<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  report_.phases.time(exec, "Jacobi", "invert",
                      [&] { inverse_.compute(exec, "Ainvil::Jacobi[invert]", a, report_); });
  report_.factor_entries = inverse_.entries();
  report_.factor_bytes = report_.factor_entries * Offset(sizeof(Scalar));
}

template <class Scalar, class Device>
void Jacobi<Scalar, Device>::doApply(const execution_space& exec,
                                     MultiVectorArg<const Scalar, Device> x,
                                     MultiVectorArg<Scalar, Device> y, Trans trans) const {
  inverse_.apply(exec, trans, Scalar(1), x, Scalar(0), y);
}

AINVIL_INSTANTIATE_CLASS(Jacobi)

} // namespace ainvil
