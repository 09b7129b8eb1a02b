// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ilu.hpp"

namespace ainvil {
namespace {

template <class Scalar, class Device>
using TriangularSolverPtr = std::unique_ptr<TriangularSolver<Scalar, Device>>;

/// The strategy that its parameters name.
template <class Stored, class Scalar, class Device>
struct MakeStored {
  using Ptr = TriangularSolverPtr<Scalar, Device>;

  Ptr operator()(const ExactParameters& parameters) const {
    return std::make_unique<ExactTriangularSolver<Stored, Scalar, Device>>(parameters);
  }
  Ptr operator()(const IsaiParameters<Device>& parameters) const {
    return std::make_unique<IsaiTriangularSolver<Stored, Scalar, Device>>(parameters);
  }
  Ptr operator()(const SweepParameters& parameters) const {
    return std::make_unique<SweepTriangularSolver<Stored, Scalar, Device>>(parameters);
  }
};

template <class Scalar, class Device>
TriangularSolverPtr<Scalar, Device> makeSolver(const IluParameters<Device>& parameters) {
  switch (parameters.storage) {
  case Storage::Float:
    return std::visit(MakeStored<float, Scalar, Device>(), parameters.solve);
  case Storage::BFloat16:
    return std::visit(MakeStored<BFloat16, Scalar, Device>(), parameters.solve);
  default:
    return std::visit(MakeStored<Scalar, Scalar, Device>(), parameters.solve);
  }
}

} // namespace

template <class Scalar, class Device>
Ilu<Scalar, Device>::Ilu(const IluParameters<Device>& parameters)
    : parameters_(parameters), factors_(parameters.factorization),
      lower_(makeSolver<Scalar>(parameters)), upper_(makeSolver<Scalar>(parameters)) {}

template <class Scalar, class Device>
std::string Ilu<Scalar, Device>::description() const {
  const std::string solve =
      std::visit([](const auto& strategy) { return describe(strategy); }, parameters_.solve);
  return message("ilu: {", describe(parameters_.factorization), ", solve: ", solve,
                 ", storage: ", nameOf<Scalar>(parameters_.storage), "}");
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
