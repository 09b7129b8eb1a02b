// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_IluParameters.hpp"

namespace ainvil {

template <class Device>
template <class Scalar>
IluParameters<Device>::operator IluParts<Scalar, Device>() const {
  return {std::make_unique<BlockIlu<Scalar, Device>>(factorization),
          makeTriangularSolver<Scalar>(solve, storage),
          makeTriangularSolver<Scalar>(solve, storage), storage, rearrangement};
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template IluParameters<DEVICE>::operator IluParts<double, DEVICE>() const;                       \
  template IluParameters<DEVICE>::operator IluParts<float, DEVICE>() const;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
