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

} // namespace perf
} // namespace ainvil
