// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests of SPAI share.

#include "Ainvil_Spai.hpp"
#include "precond/PrecondSupport.hpp"

namespace ainvil {
namespace test {

using SpaiMethod = Spai<double, Device>;

inline SpaiParameters<Device> spai(int power, BreakdownPolicy breakdown = BreakdownPolicy::Fail) {
  SpaiParameters<Device> parameters;
  parameters.power = power;
  parameters.breakdown = breakdown;
  return parameters;
}

inline SpaiParameters<Device> spaiOn(const Rows& pattern) {
  SpaiParameters<Device> parameters;
  parameters.pattern = copyTo<Device>(makeGraph(pattern));
  return parameters;
}

inline HostBsr inverseOf(const SpaiMethod& method) {
  return copyTo<HostDevice>(method.inverse().native());
}

/// M by the normal equations of dense rows, M_i,J = E_i A_J^T (A_J A_J^T)^-1.
inline std::vector<double> reference(const std::vector<double>& a, const Rows& pattern, int bs) {
  const size_t n = pattern.size() * bs;
  std::vector<double> m(n * n);
  for (size_t i = 0; i < pattern.size(); ++i) {
    std::vector<double> rows;
    for (const Ordinal j : pattern[i])
      rows.insert(rows.end(), a.begin() + j * bs * n, a.begin() + (j + 1) * bs * n);
    const size_t unknowns = pattern[i].size() * bs;
    const auto columns = transposed(rows, n);
    const std::vector<double> right(columns.begin() + i * bs * unknowns,
                                    columns.begin() + (i + 1) * bs * unknowns);
    const auto solution = solve(multiply(rows, columns, n), transposed(right, unknowns), unknowns);
    for (size_t k = 0; k < unknowns; ++k)
      for (int r = 0; r < bs; ++r)
        m[(i * bs + r) * n + size_t(pattern[i][k / bs]) * bs + k % bs] = solution[k * bs + r];
  }
  return m;
}

} // namespace test
} // namespace ainvil
