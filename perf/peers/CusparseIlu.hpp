// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Exact triangular solves by cuSPARSE as a preconditioner, to be compared with.

#include "Ainvil_Factory.hpp"

namespace ainvil {
namespace perf {

/// Block ILU(0) by cuSPARSE's bsrilu02 and solves with both triangles by its bsrsv2:
///   "cusparse-ilu"                  with the level information of its analysis
///   "cusparse-ilu:policy=no-level"  without, which it recommends for few rows a level
/// The iterations of "ilu", but for rounding. It has no transpose. \throws InvalidArgument for
/// other parameters, or where there is no cuSPARSE
PreconditionerPtr<double, DefaultDevice> createCusparseIlu(const std::string& specification);

/// True for "cusparse-ilu", with parameters or without.
inline bool isCusparseIlu(const std::string& specification) {
  return specification.substr(0, specification.find(':')) == "cusparse-ilu";
}

/// What createCusparseIlu() or createPreconditioner() makes of the specification. \throws
/// InvalidArgument as these, and for cuSPARSE on hosts or in float
template <class Scalar, class Device>
PreconditionerPtr<Scalar, Device> createOursOrPeer(const std::string& specification) {
  if (!isCusparseIlu(specification))
    return createPreconditioner<Scalar, Device>(specification);
  if constexpr (std::is_same<Scalar, double>::value && std::is_same<Device, DefaultDevice>::value)
    return createCusparseIlu(specification);
  else
    throw InvalidArgument(message("preconditioner '", specification,
                                  "': cuSPARSE computes in double and on the GPU here"));
}

} // namespace perf
} // namespace ainvil
