// SPDX-License-Identifier: BSD-3-Clause
#include <Ainvil.hpp>

#include <iostream>

namespace {

std::vector<int> row_map = {0, 2, 4}, entries = {0, 1, 0, 1};
std::vector<double> values = {3, -1, -1, 4}, b = {1, 2};

/// True if Ainvil says that it needs Kokkos.
bool isRefused() {
  try {
    ainvil::csr(2, row_map, entries, values);
  } catch (const ainvil::Error& error) {
    return std::string(error.what()).find("Kokkos is not initialised") == 0;
  }
  return false;
}

bool works() {
  std::vector<double> x(2, 0.0);
  const auto a = ainvil::csr(2, row_map, entries, values);
  const auto m = ainvil::createPreconditioner("fsai", a);
  const auto result = ainvil::solve("cg", a, m.get(), b, x);
  // Needs a library that only Ainvil itself is linked with.
  const auto order = ainvil::nestedDissection(ainvil::copyTo<ainvil::HostDevice>(a.graph));
  std::cout << "Ainvil " << AINVIL_VERSION_MAJOR << '.' << AINVIL_VERSION_MINOR << ": "
            << result.iterations << " iterations\n";
  return result.status == ainvil::SolveStatus::Converged && order.numRows() == 2;
}

} // namespace

int main(int argc, char** argv) {
  bool passed = isRefused();
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    passed = works() && passed;
  }
  passed = isRefused() && passed;
  return passed ? 0 : 1;
}
