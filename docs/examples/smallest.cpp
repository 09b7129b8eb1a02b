// SPDX-License-Identifier: BSD-3-Clause
// The smallest program: a CSR matrix in vectors of the standard library, ILU(0) applied by sparse
// approximate inverses, GMRES(30). The matrix is that of -u'' on three points.
#include <Ainvil.hpp>

int main() {
  Kokkos::ScopeGuard kokkos;
  std::vector<int> row_map = {0, 2, 5, 7}, columns = {0, 1, 0, 1, 2, 1, 2};
  std::vector<double> values = {2, -1, -1, 2, -1, -1, 2}, b = {1, 1, 1}, x = {0, 0, 0};

  const auto a = ainvil::csr(3, row_map, columns, values);
  const auto m = ainvil::createPreconditioner("ilu:solve=isai,power=2", a);
  const auto result = ainvil::solve("gmres", a, m.get(), b, x);
  return result.status == ainvil::SolveStatus::Converged ? 0 : 3;
}
