// SPDX-License-Identifier: BSD-3-Clause
#include <Ainvil_BsrMatrix.hpp>
#include <Ainvil_Ordering.hpp>
#include <gallery/Ainvil_Gallery.hpp>
#include <io/Ainvil_MatrixMarket.hpp>

#include <iostream>

namespace {

/// True if Ainvil says that it needs Kokkos.
bool isRefused() {
  try {
    ainvil::makeProblem("poisson5:10x10");
  } catch (const ainvil::Error& error) {
    return std::string(error.what()).find("Kokkos is not initialised") == 0;
  }
  return false;
}

bool works() {
  const ainvil::Problem problem = ainvil::makeProblem("poisson5:10x10");
  const auto parsed = ainvil::parseMatrixMarket("%%MatrixMarket matrix coordinate real general\n"
                                                "2 2 2\n1 1 3.0\n2 2 4.0\n",
                                                "consumer");
  // Needs a library that only Ainvil itself is linked with.
  const auto order = ainvil::nestedDissection(ainvil::copyTo<ainvil::HostDevice>(parsed.graph));
  std::cout << problem.name << ": " << problem.matrix.numRows() << " rows\n";
  return problem.matrix.numRows() == 100 && parsed.numEntries() == 2 && order.numRows() == 2;
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
