// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What tests of incomplete LU factors share.

#include "precond/PrecondSupport.hpp"

#include <cmath>
#include <vector>

namespace ainvil {
namespace test {

/// All phases of a factorisation.
inline void setUpFactors(Factorization<double, Device>& factors, const HostBsr& host_a) {
  const auto a = copyTo<Device>(host_a);
  Report report;
  factors.initialize(Exec(), a, report);
  if (factors.followsValues())
    factors.findPattern(Exec(), a, false, report);
  factors.compute(Exec(), a, report);
}

/// L U as a dense matrix, from the factors' own storage.
inline std::vector<double> denseProduct(const Factorization<double, Device>& factors) {
  const auto lower = toDense(copyTo<HostDevice>(factors.lower().matrix));
  auto upper = toDense(copyTo<HostDevice>(factors.upper().matrix));
  const size_t n = static_cast<size_t>(factors.lower().matrix.numPointRows());
  for (size_t i = 0; i < n; ++i)
    upper[i * n + i] += 1.0;
  return multiply(lower, upper, n);
}

/// ||(A - L U)_S||_F / ||A||_F on the pattern S of the factors.
inline double denseResidual(const Factorization<double, Device>& factors, const HostBsr& a) {
  const auto product = denseProduct(factors);
  const auto dense = toDense(a);
  const size_t n = static_cast<size_t>(a.numPointRows());
  const int bs = a.block_size;
  double squares = 0, size = 0;
  for (const auto& graph : {copyTo<HostDevice>(factors.lower().matrix.graph),
                            copyTo<HostDevice>(factors.upper().matrix.graph)})
    for (size_t i = 0; i < n; ++i)
      for (Offset e = graph.row_map(i / bs); e < graph.row_map(i / bs + 1); ++e)
        for (int c = 0; c < bs; ++c) {
          const size_t at = i * n + size_t(graph.entries(e)) * bs + c;
          squares += (dense[at] - product[at]) * (dense[at] - product[at]);
        }
  for (const double value : dense)
    size += value * value;
  return std::sqrt(squares / size);
}

} // namespace test
} // namespace ainvil
