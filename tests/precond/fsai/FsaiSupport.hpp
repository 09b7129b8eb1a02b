// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests of FSAI share.

#include "Ainvil_Fsai.hpp"
#include "precond/PrecondSupport.hpp"

namespace ainvil {
namespace test {

using FsaiMethod = Fsai<double, Device>;

inline FsaiParameters<Device> fsai(double tau, int power, double filter) {
  FsaiParameters<Device> parameters;
  parameters.tau = tau;
  parameters.power = power;
  parameters.filter = filter;
  return parameters;
}

inline HostBsr factorOf(const FsaiMethod& method) {
  return copyTo<HostDevice>(method.factor().native());
}

/// Columns of every block row.
inline Pattern patternOf(const Graph<HostDevice>& graph) {
  Pattern pattern(graph.num_rows);
  for (Ordinal i = 0; i < graph.num_rows; ++i)
    for (Offset e = graph.row_map(i); e < graph.row_map(i + 1); ++e)
      pattern[i].insert(graph.entries(e));
  return pattern;
}

/// Low(B A) step by step on sets.
inline Pattern lowerPowerOf(const Pattern& a, int power) {
  Pattern b = diagonalPattern(static_cast<Ordinal>(a.size()));
  for (int k = 0; k < power; ++k) {
    Pattern next(a.size());
    for (Ordinal i = 0; i < Ordinal(a.size()); ++i)
      for (const Ordinal j : b[i])
        for (const Ordinal l : a[j])
          if (l <= i)
            next[i].insert(l);
    b = next;
  }
  return b;
}

inline std::vector<double> gagt(const FsaiMethod& method, const HostBsr& a) {
  const size_t n = static_cast<size_t>(a.numPointRows());
  const auto g = toDense(factorOf(method));
  return multiply(multiply(g, toDense(a), n), transposed(g, n), n);
}

/// The diagonal blocks of G A G^T are the identity.
inline void expectUnitDiagonal(const FsaiMethod& method, const HostBsr& a, double tolerance) {
  const auto product = gagt(method, a);
  const size_t n = static_cast<size_t>(a.numPointRows());
  const size_t bs = a.block_size;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i / bs * bs; j < (i / bs + 1) * bs; ++j)
      ASSERT_NEAR(product[i * n + j], i == j ? 1.0 : 0.0, tolerance) << i << ", " << j;
}

} // namespace test
} // namespace ainvil
