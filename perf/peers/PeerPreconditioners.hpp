// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Preconditioners by name, Ainvil's and those of other libraries for the same device.

#include "peers/CusparseIlu.hpp"
#include "peers/KokkosKernelsIlu.hpp"

#include "Ainvil_Factory.hpp"

namespace ainvil {
namespace perf {

/// What createCusparseIlu(), createKokkosKernelsIlu() or createPreconditioner() makes of the
/// specification. \throws InvalidArgument as these, for
/// cuSPARSE on hosts, and for either in float
template <class Scalar, class Device>
PreconditionerPtr<Scalar, Device> createOursOrPeer(const std::string& specification) {
  constexpr bool is_double = std::is_same<Scalar, double>::value;
  if (isCusparseIlu(specification)) {
    if constexpr (is_double && std::is_same<Device, DefaultDevice>::value)
      return createCusparseIlu(specification);
    else
      throw InvalidArgument(message("preconditioner '", specification,
                                    "': cuSPARSE computes in double and on the GPU here"));
  }
  if (isKokkosKernelsIlu(specification)) {
    if constexpr (is_double)
      return createKokkosKernelsIlu<Device>(specification);
    else
      throw InvalidArgument(
          message("preconditioner '", specification, "': Kokkos Kernels computes in double here"));
  }
  return createPreconditioner<Scalar, Device>(specification);
}

} // namespace perf
} // namespace ainvil
