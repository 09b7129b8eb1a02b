// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_IluParameters.hpp"

namespace ainvil {
namespace {

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

template <class Device>
template <class Scalar>
IluParameters<Device>::operator IluParts<Scalar, Device>() const {
  return {std::make_unique<BlockIlu<Scalar, Device>>(factorization), makeSolver<Scalar>(*this),
          makeSolver<Scalar>(*this), storage, rearrangement};
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template IluParameters<DEVICE>::operator IluParts<double, DEVICE>() const;                       \
  template IluParameters<DEVICE>::operator IluParts<float, DEVICE>() const;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
