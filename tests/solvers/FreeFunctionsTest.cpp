// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/SolverSupport.hpp"

namespace ainvil {
namespace test {
namespace {

TEST(FreeFunctions, SolveAsTheirClassesDo) {
  const HostCsr host_a = convectionDiffusion(17, 11);
  const Sequence<> a(host_a);
  const auto m = toDevice<double>(inverseDiagonal(host_a));
  const Doubles host_b = randomVector(host_a.size(), 2);
  const auto b = toDevice<double>(host_b);
  const SolverOptions o = options(1e-9, 300, 10);
  const auto check = [&](const Solved& expected, const auto& solve) {
    const auto x = toDevice<double>(Doubles(host_a.size(), 0.0));
    const SolveResult result = solve(x);
    EXPECT_EQ(result.status, SolveStatus::Converged);
    EXPECT_EQ(result.history, expected.result.history);
    EXPECT_EQ(toHost<double>(x), expected.x);
  };
  const HostCsr host_m = inverseDiagonal(host_a);
  const Solved by_cg = solveWith<Cg>(o, host_a, host_b, &host_m);
  check(by_cg, [&](const auto& x) { return cg(a, &m, b, x, o); });
  check(by_cg, [&](const auto& x) { return cg(Exec(), a, &m, b, x, o); });
  const Solved by_gmres = solveWith<Gmres>(o, host_a, host_b, &host_m);
  check(by_gmres, [&](const auto& x) { return gmres(a, &m, b, x, o); });
  check(by_gmres, [&](const auto& x) { return gmres(Exec(), a, &m, b, x, o); });
  const Solved by_fgmres = solveWith<Fgmres>(o, host_a, host_b, &host_m);
  check(by_fgmres, [&](const auto& x) { return fgmres(a, &m, b, x, o); });
  check(by_fgmres, [&](const auto& x) { return fgmres(Exec(), a, &m, b, x, o); });
  const Solved by_bicgstab = solveWith<BiCgStab>(o, host_a, host_b, &host_m);
  check(by_bicgstab, [&](const auto& x) { return bicgstab(a, &m, b, x, o); });
  check(by_bicgstab, [&](const auto& x) { return bicgstab(Exec(), a, &m, b, x, o); });
}

} // namespace
} // namespace test
} // namespace ainvil
