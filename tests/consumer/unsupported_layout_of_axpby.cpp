// SPDX-License-Identifier: BSD-3-Clause
// Does not compile, and says why.
#include <product/Ainvil_Spmv.hpp>

int main() {
  using Device = ainvil::DefaultDevice;
  const Kokkos::View<double**, Kokkos::LayoutRight, Device> x("x", 3, 2), y("y", 3, 2);
  ainvil::axpby<double, Device>(Device::execution_space(), 1.0, x, 0.0, y);
}
