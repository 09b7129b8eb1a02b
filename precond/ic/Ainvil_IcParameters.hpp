// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The parameters of Ic in C++, for the triangular strategies of the library.

#include "Ainvil_Ic.hpp"
#include "triangular/Ainvil_TriangularStrategies.hpp"

namespace ainvil {

/// The factorisation and how its factor is applied: `Ic<double, Device> m(parameters);`
template <class Device>
struct IcParameters {
  IcOptions factorization;            ///< of A
  TriangularParameters<Device> solve; ///< how (I + S)^-1 and its transposed are applied
  Storage storage = Storage::Native;  ///< of the factor or inverse that is applied

  /// Makes the strategy. \throws InvalidArgument for parameters out of range.
  template <class Scalar>
  operator IcParts<Scalar, Device>() const {
    return {factorization, makeTriangularSolver<Scalar>(solve, storage), storage};
  }
};

} // namespace ainvil
