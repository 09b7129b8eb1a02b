// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The solvers, for tests of what holds for every one of them.

#include "solvers/SolverSupport.hpp"

namespace ainvil {
namespace test {

/// A method and what the tests have to know of it.
template <template <class, class> class SolverOf, bool IsSymmetric, bool TakesVarying>
struct Method {
  template <class Scalar, class D>
  using Of = SolverOf<Scalar, D>;
  using Solver = SolverOf<double, Device>;
  static constexpr bool takes_varying = TakesVarying;

  /// A matrix the method is made for.
  static HostCsr matrix(int nx, int ny) {
    return IsSymmetric ? convectionDiffusion(nx, ny) : convectionDiffusion(nx, ny, 0.3, 0.2);
  }
};

template <class Method>
class AnySolver : public ::testing::Test {
protected:
  using Solver = typename Method::Solver;

  static HostCsr matrix(int nx, int ny = 1) { return Method::matrix(nx, ny); }

  template <class Scalar = double>
  static Solved solve(const SolverOptions& options, const HostCsr& a, const Doubles& b,
                      const HostCsr* m = nullptr, const Doubles& x0 = {}) {
    return solveWith<Method::template Of, Scalar>(options, a, b, m, x0);
  }
  static Solved solveWithOperator(const SolverOptions& options, const HostCsr& a, const Doubles& b,
                                  const LinearOperator<double, Device>& m, const Doubles& x0 = {}) {
    return test::solveWithOperator<Method::template Of>(options, a, b, &m, x0);
  }
};

using Methods = ::testing::Types<Method<Cg, true, false>, Method<Gmres, false, false>,
                                 Method<Fgmres, false, true>, Method<BiCgStab, false, true>>;

} // namespace test
} // namespace ainvil
