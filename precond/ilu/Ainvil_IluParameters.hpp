// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The parameters of Ilu in C++, for the factorisation and the triangular strategies of the
/// library.

#include "Ainvil_Ilu.hpp"
#include "ilu/Ainvil_BlockIlu.hpp"
#include "triangular/Ainvil_TriangularStrategies.hpp"

namespace ainvil {

/// The factorisation and how its factors are applied: `Ilu<double, Device> m(parameters);`
template <class Device>
struct IluParameters {
  BlockIluParameters factorization;      ///< of A
  TriangularParameters<Device> solve;    ///< how L^-1 and U^-1 are applied
  Storage storage = Storage::Native;     ///< of the factors or inverses that are applied
  RearrangementParameters rearrangement; ///< of A before it is factored

  /// Makes them. \throws InvalidArgument for parameters out of range.
  template <class Scalar>
  operator IluParts<Scalar, Device>() const;
};

} // namespace ainvil
