// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// GMRES and FGMRES as in the textbook, for the tests of both.

#include "solvers/SolverSupport.hpp"

namespace ainvil {
namespace test {

/// Right-preconditioned GMRES(m) as in the textbook: modified Gram-Schmidt, one vector after the
/// other (Saad and Schultz 1986), in the flexible form (Saad 1993). The preconditioners are applied
/// in turn; one is GMRES itself, none no preconditioner.
inline Solved referenceGmres(const SolverOptions& o, const HostCsr& a, const Doubles& b,
                             const std::vector<HostCsr>& preconds = {}) {
  const int n = a.size();
  const int m = std::min(o.restart, n);
  const double b_norm = norm(b);
  Solved s;
  s.x.assign(n, 0.0);
  Doubles r = b;
  s.result.history = {norm(r) / b_norm};
  while (norm(r) / b_norm > o.tolerance && s.result.iterations < o.max_iterations) {
    std::vector<Doubles> v{r}, z, h;
    Doubles c, sn, g{norm(r)};
    for (double& value : v[0])
      value /= g[0];
    int k = 0;
    while (k < m && s.result.iterations < o.max_iterations) {
      z.push_back(preconds.empty() ? v[k]
                                   : preconds[s.result.iterations % preconds.size()].times(v[k]));
      Doubles w = a.times(z[k]);
      Doubles column;
      for (int i = 0; i <= k; ++i) {
        column.push_back(dot(v[i], w));
        for (int row = 0; row < n; ++row)
          w[row] -= column[i] * v[i][row];
      }
      const double below = norm(w);
      for (int i = 0; i < k; ++i) {
        const double upper = column[i];
        column[i] = c[i] * upper + sn[i] * column[i + 1];
        column[i + 1] = -sn[i] * upper + c[i] * column[i + 1];
      }
      const double length = std::hypot(column[k], below);
      c.push_back(column[k] / length);
      sn.push_back(below / length);
      column[k] = length;
      h.push_back(column);
      g.push_back(-sn[k] * g[k]);
      g[k] *= c[k];
      ++k;
      ++s.result.iterations;
      s.result.history.push_back(std::abs(g[k]) / b_norm);
      for (double& value : w)
        value /= below;
      v.push_back(w);
      if (s.result.history.back() <= o.tolerance)
        break;
    }
    Doubles y(k);
    for (int i = k - 1; i >= 0; --i) {
      y[i] = g[i];
      for (int j = i + 1; j < k; ++j)
        y[i] -= h[j][i] * y[j];
      y[i] /= h[i][i];
      for (int row = 0; row < n; ++row)
        s.x[row] += y[i] * z[i][row];
    }
    r = minus(b, a.times(s.x));
  }
  return s;
}

/// A convection-diffusion chain of any length with a long-range coupling.
inline HostCsr chain(int n) {
  return matrixOf(n, [n](int i, int j) {
    const int d = j - i;
    return d == 0 ? 4.0 + 0.5 * i / n : d == 1 ? -1.2 : d == -1 ? -1.9 : d == 7 ? 0.4 : 0.0;
  });
}

template <template <class, class> class Solver = Gmres>
void compareWithReference(const HostCsr& a, SolverOptions o,
                          const std::vector<HostCsr>& preconds = {}) {
  const Doubles b = randomVector(a.size(), 17);
  const Solved expected = referenceGmres(o, a, b, preconds);
  for (const auto passes : {Reorthogonalize::Always, Reorthogonalize::IfNeeded}) {
    SCOPED_TRACE(passes == Reorthogonalize::Always ? "always twice" : "twice if needed");
    o.reorthogonalize = passes;
    const Sequence<> m(preconds);
    const Solved actual = solveWithOperator<Solver>(o, a, b, preconds.empty() ? nullptr : &m);
    EXPECT_EQ(actual.result.iterations, expected.result.iterations);
    expectSameHistory(actual.result.history, expected.result.history, 1e-8);
    EXPECT_LT(norm(minus(actual.x, expected.x)), 1e-8 * norm(expected.x));
    EXPECT_NEAR(actual.result.true_rel_residual, relativeResidual(a, b, actual.x),
                1e-12 + 0.01 * o.tolerance);
    EXPECT_EQ(actual.result.status == SolveStatus::Converged,
              relativeResidual(a, b, actual.x) <= o.tolerance);
  }
}

} // namespace test
} // namespace ainvil
