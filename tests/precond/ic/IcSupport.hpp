// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What tests of incomplete Cholesky factors share.

#include "Ainvil_Ic.hpp"
#include "precond/PrecondSupport.hpp"

#include <cmath>
#include <vector>

namespace ainvil {
namespace test {

using IcMethod = Ic<double, Device>;

/// Substitution, level of fill k.
inline IcParameters<double, Device> exactIc(int level = 0) {
  IcParameters<double, Device> parameters;
  parameters.level = level;
  return parameters;
}

/// The blocks of D^-1 as a dense matrix.
inline std::vector<double> densePivotInverses(const IcMethod& ic) {
  const int bs = ic.factor().matrix.block_size;
  const size_t n = static_cast<size_t>(ic.numPointRows());
  const auto blocks = toHost(ic.pivotInverses());
  std::vector<double> dense(n * n, 0.0);
  for (size_t i = 0; i < n; ++i)
    for (int c = 0; c < bs; ++c)
      dense[i * n + i / bs * bs + c] = blocks[i * bs + c];
  return dense;
}

/// I + S as a dense matrix.
inline std::vector<double> denseFactor(const IcMethod& ic) {
  auto dense = toDense(copyTo<HostDevice>(ic.factor().matrix));
  const size_t n = static_cast<size_t>(ic.numPointRows());
  for (size_t i = 0; i < n; ++i)
    dense[i * n + i] += 1.0;
  return dense;
}

/// (I + S) D (I + S)^T as a dense matrix.
inline std::vector<double> productOfFactors(const IcMethod& ic) {
  const size_t n = static_cast<size_t>(ic.numPointRows());
  const auto factor = denseFactor(ic);
  return multiply(factor, multiply(inverse(densePivotInverses(ic), n), transposed(factor, n), n),
                  n);
}

/// ((I + S) D (I + S)^T)^-1 as a dense matrix.
inline std::vector<double> inverseOfFactors(const IcMethod& ic) {
  const size_t n = static_cast<size_t>(ic.numPointRows());
  const auto inverse_factor = inverse(denseFactor(ic), n);
  return multiply(transposed(inverse_factor, n),
                  multiply(densePivotInverses(ic), inverse_factor, n), n);
}

} // namespace test
} // namespace ainvil
