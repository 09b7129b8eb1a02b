// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ilu.hpp"

#include "Ainvil_ExactTriangularSolver.hpp"

namespace ainvil {
namespace {

template <class Stored, class Scalar, class Device>
std::unique_ptr<TriangularSolver<Scalar, Device>>
makeStored(const IluParameters<Device>& parameters) {
  if (parameters.solve == TriangularStrategy::Exact)
    return std::make_unique<ExactTriangularSolver<Stored, Scalar, Device>>();
  return std::make_unique<IsaiTriangularSolver<Stored, Scalar, Device>>(parameters.isai);
}

template <class Scalar, class Device>
std::unique_ptr<TriangularSolver<Scalar, Device>>
makeSolver(const IluParameters<Device>& parameters) {
  return parameters.storage == Storage::Float ? makeStored<float, Scalar>(parameters)
                                              : makeStored<Scalar, Scalar>(parameters);
}

} // namespace

template <class Scalar, class Device>
Ilu<Scalar, Device>::Ilu(const IluParameters<Device>& parameters)
    : parameters_(parameters), factors_(parameters.factorization),
      lower_(makeSolver<Scalar>(parameters)), upper_(makeSolver<Scalar>(parameters)) {}

template <class Scalar, class Device>
std::string Ilu<Scalar, Device>::description() const {
  const auto& isai = parameters_.isai;
  std::string text = message("ilu: {level: ", parameters_.factorization.level, ", solve: ");
  if (parameters_.solve == TriangularStrategy::Exact) {
    text += "exact";
  } else {
    text += isai.lower_pattern.row_map.extent(0) > 0 || isai.upper_pattern.row_map.extent(0) > 0
                ? std::string("isai, pattern: user")
                : message("isai, power: ", isai.power);
    text += isai.side == IsaiSide::Rows ? ", side: rows" : ", side: columns";
    text += isai.relax == IsaiParameters<Device>::relax_auto ? std::string(", relax: auto")
                                                             : message(", relax: ", isai.relax);
  }
  const bool in_float = parameters_.storage == Storage::Float || std::is_same<Scalar, float>::value;
  return text + (in_float ? ", storage: float}" : ", storage: double}");
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  factors_.initialize(exec, a, report_);
  lower_->initialize(exec, factors_.lower(), "lower_", report_);
  upper_->initialize(exec, factors_.upper(), "upper_", report_);
  detail::workspaceOf(exec, intermediate_, a.numPointRows(), 1);
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  report_.notes.clear();
  factors_.compute(exec, a, report_);
  lower_->compute(exec, factors_.lower(), "lower_", report_);
  upper_->compute(exec, factors_.upper(), "upper_", report_);
  report_.factor_entries = lower_->entries() + upper_->entries();
  report_.factor_bytes = lower_->bytes() + upper_->bytes();
}

template <class Scalar, class Device>
void Ilu<Scalar, Device>::doApply(const execution_space& exec,
                                  MultiVectorArg<const Scalar, Device> x,
                                  MultiVectorArg<Scalar, Device> y, Trans trans) const {
  const auto t = detail::workspaceOf(exec, intermediate_, x.extent(0), x.extent(1));
  const auto& first = trans == Trans::No ? *lower_ : *upper_;
  const auto& second = trans == Trans::No ? *upper_ : *lower_;
  first.apply(exec, x, t, trans);
  second.apply(exec, t, y, trans);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Ilu<double, DEVICE>;                                                              \
  template class Ilu<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
