// SPDX-License-Identifier: BSD-3-Clause
// Does not compile, and says why.
#include <Ainvil_Factory.hpp>

int main() {
  const auto m =
      ainvil::createPreconditioner<Kokkos::complex<double>, ainvil::DefaultDevice>("ilu");
  return m->isComputed();
}
