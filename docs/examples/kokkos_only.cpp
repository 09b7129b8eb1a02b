// SPDX-License-Identifier: BSD-3-Clause
// Ainvil in an application that has Kokkos and nothing else: a KokkosSparse::CrsMatrix,
// ILU(0) applied by sparse approximate inverses of its factors, and GMRES(30).
#include <Ainvil_Convert.hpp>
#include <Ainvil_Factory.hpp>
#include <Ainvil_Gmres.hpp>

#include <iostream>

using Device = ainvil::DefaultDevice;
using Matrix = KokkosSparse::CrsMatrix<double, int, Device, void, ainvil::Offset>;

/// -Laplace u + 20 du/dx on n x n interior points of the unit square, h^2 times upwind differences.
Matrix convectionDiffusion(int n) {
  const double wind = 20.0 / (n + 1);
  const Kokkos::View<ainvil::Offset*, Device> row_map("row_map", size_t(n) * n + 1);
  const Kokkos::View<int*, Device> entries("entries", 5 * size_t(n) * n - 4 * n);
  const Kokkos::View<double*, Device> values("values", entries.extent(0));
  Kokkos::parallel_scan(
      "rows", Kokkos::RangePolicy<Device::execution_space>(0, n * n + 1),
      KOKKOS_LAMBDA(const int row, ainvil::Offset& at, const bool final) {
        if (final)
          row_map(row) = at;
        const int ix = row % n, iy = row / n;
        const bool there[] = {iy > 0, ix > 0, true, ix < n - 1, iy < n - 1};
        const int column[] = {row - n, row - 1, row, row + 1, row + n};
        const double value[] = {-1, -1 - wind, 4 + wind, -1, -1};
        for (int k = 0; k < 5 && row < n * n; ++k)
          if (there[k]) {
            if (final) {
              entries(at) = column[k];
              values(at) = value[k];
            }
            ++at;
          }
      });
  return {"A", n * n, n * n, ainvil::Offset(entries.extent(0)), values, row_map, entries};
}

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const Device::execution_space exec;
  const Matrix matrix = convectionDiffusion(100);
  const Kokkos::View<double*, Device> b("b", matrix.numRows()), x("x", matrix.numRows());
  Kokkos::deep_copy(b, 1.0);

  const auto a = ainvil::fromKokkos(exec, matrix); // shares columns and values
  const auto m = ainvil::createPreconditioner<double, Device>("ilu:solve=isai,power=2");
  m->initialize(exec, a); // pattern
  m->compute(exec, a);    // values; again whenever they change

  ainvil::SolverOptions options;
  options.tolerance = 1e-8;
  const auto result =
      ainvil::gmres(exec, ainvil::MatrixOperator<double, Device>(a), m.get(), b, x, options);
  std::cout << ainvil::toString(result.status) << " after " << result.iterations
            << " iterations, ||b - A x|| / ||b|| = " << result.true_rel_residual << '\n';
  return result.status == ainvil::SolveStatus::Converged ? 0 : 1;
}
