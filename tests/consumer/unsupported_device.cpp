// SPDX-License-Identifier: BSD-3-Clause
// Does not compile, and says why.
#include <Ainvil_Jacobi.hpp>

int main() {
  const ainvil::Jacobi<double, Kokkos::DefaultExecutionSpace> m{ainvil::JacobiParameters()};
  return m.isComputed();
}
