// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests of incomplete sparse approximate inverses share.

#include "precond/PrecondSupport.hpp"

namespace ainvil {
namespace test {

using Isai = IsaiTriangularSolver<double, double, Device>;

/// T as a dense matrix, its unit diagonal included.
inline std::vector<double> denseFactor(const TriangularFactor<double, Device>& factor) {
  auto dense = toDense(copyTo<HostDevice>(factor.matrix));
  const size_t n = static_cast<size_t>(factor.matrix.numPointRows());
  if (factor.unit)
    for (size_t i = 0; i < n; ++i)
      dense[i * n + i] += 1.0;
  return dense;
}

/// M as a dense matrix, its unit diagonal included.
inline std::vector<double> denseApproximation(const Isai& solver, bool unit) {
  auto dense = toDense(copyTo<HostDevice>(solver.inverse()));
  const size_t n = static_cast<size_t>(solver.inverse().numPointRows());
  if (unit)
    for (size_t i = 0; i < n; ++i)
      dense[i * n + i] += 1.0;
  return dense;
}

inline const Isai& lowerOf(const Ilu<double, Device>& ilu) {
  return dynamic_cast<const Isai&>(ilu.lowerSolver());
}
inline const Isai& upperOf(const Ilu<double, Device>& ilu) {
  return dynamic_cast<const Isai&>(ilu.upperSolver());
}

} // namespace test
} // namespace ainvil
