// SPDX-License-Identifier: BSD-3-Clause
// Does not compile, and says why.
#include <Ainvil_Factory.hpp>

int main() {
  using Device = ainvil::DefaultDevice;
  const auto m = ainvil::createPreconditioner<double, Device>("ilu");
  const Kokkos::View<double**, Kokkos::LayoutRight, Device> x("x", 3, 2), y("y", 3, 2);
  m->apply(Device::execution_space(), x, y);
  return m->isComputed();
}
