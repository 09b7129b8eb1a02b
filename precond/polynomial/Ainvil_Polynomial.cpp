// SPDX-License-Identifier: BSD-3-Clause
#include "polynomial/Ainvil_Polynomial.hpp"

#include "parameters/Ainvil_ParameterTable.hpp"

namespace ainvil {

template <class Scalar, class Device>
Polynomial<Scalar, Device>::Polynomial(PreconditionerPtr<Scalar, Device> inner,
                                       const PolynomialParameters& parameters)
    : inner_(std::move(inner)), parameters_(parameterTable().checked(parameters)),
      polynomial_(parameters_) {
  if (inner_ == nullptr)
    throw InvalidArgument("a polynomial needs a preconditioner to go around, but got none");
  if (parameters_.degree <= 0)
    throw InvalidArgument("a polynomial around a preconditioner has a degree of at least 1");
}

template <class Scalar, class Device>
std::string Polynomial<Scalar, Device>::description() const {
  return message(inner_->description(), ", ", parameterTable().describe(parameters_));
}

/// The report of M^-1 with what is our own.
template <class Scalar, class Device>
void Polynomial<Scalar, Device>::takeReport() {
  const Report& inner = inner_->report();
  for (const PhaseTimes::Phase& phase : inner.phases.phases())
    report_.phases.set(phase.first, phase.second);
  const PhaseTimes phases = report_.phases;
  report_ = inner;
  report_.phases = phases;
  polynomial_.addTo(report_);
}

template <class Scalar, class Device>
void Polynomial<Scalar, Device>::doInitialize(const execution_space& exec, const Matrix& a) {
  polynomial_ = ResidualPolynomial<Scalar, Device>(parameters_); // frees memory first
  inner_->setProgress(this->progress());
  inner_->initialize(exec, a);
  polynomial_.initialize(exec, a);
  takeReport();
}

template <class Scalar, class Device>
void Polynomial<Scalar, Device>::doCompute(const execution_space& exec, const Matrix& a) {
  polynomial_.clear();
  inner_->setProgress(this->progress());
  inner_->compute(exec, a);
  takeReport();
  polynomial_.update(exec, a);
  if (inner_->report().objection.empty())
    polynomial_.findRoots(exec, *inner_, report_.phases);
  takeReport();
}

template <class Scalar, class Device>
void Polynomial<Scalar, Device>::doDiagnose(const execution_space& exec, const Matrix& a) {
  inner_->diagnose(exec, a);
  takeReport();
}

template <class Scalar, class Device>
void Polynomial<Scalar, Device>::doApply(const execution_space& exec,
                                         MultiVectorArg<const Scalar, Device> x,
                                         MultiVectorArg<Scalar, Device> y, Trans trans) const {
  polynomial_.apply(exec, *inner_, x, y, trans);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class Polynomial<double, DEVICE>;                                                       \
  template class Polynomial<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
