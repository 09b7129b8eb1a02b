// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The keys of polynomials, which every method takes.

#include "Ainvil_Preconditioner.hpp"

namespace ainvil {

/// Parameters of Polynomial.
struct PolynomialParameters {
  /// A degree for createPreconditioner(): the fastest of several, found by a race.
  static constexpr int automatic = -1;

  int degree = 0; ///< products with M^-1 an application; 0: no polynomial around the method
  Storage storage = Storage::Native; ///< of its copy of A

  /// The keys that every method takes; the words of `poly-storage` depend on the precision of the
  /// vectors.
  static const ParameterTable<PolynomialParameters>& table(VectorPrecision vectors);
};

} // namespace ainvil
