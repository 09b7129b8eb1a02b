// SPDX-License-Identifier: BSD-3-Clause
#include "triangular/Ainvil_TriangularStrategies.hpp"

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

} // namespace

template <class Scalar, class Device>
TriangularSolverPtr<Scalar, Device>
makeTriangularSolver(const TriangularParameters<Device>& parameters, Storage storage) {
  switch (storage) {
  case Storage::Float:
    return std::visit(MakeStored<float, Scalar, Device>(), parameters);
  case Storage::BFloat16:
    return std::visit(MakeStored<BFloat16, Scalar, Device>(), parameters);
  default:
    return std::visit(MakeStored<Scalar, Scalar, Device>(), parameters);
  }
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template TriangularSolverPtr<double, DEVICE> makeTriangularSolver<double, DEVICE>(               \
      const TriangularParameters<DEVICE>&, Storage);                                               \
  template TriangularSolverPtr<float, DEVICE> makeTriangularSolver<float, DEVICE>(                 \
      const TriangularParameters<DEVICE>&, Storage);
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
