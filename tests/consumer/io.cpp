// SPDX-License-Identifier: BSD-3-Clause
#include <Ainvil_BsrMatrix.hpp>
#include <gallery/Ainvil_Gallery.hpp>
#include <io/Ainvil_MatrixMarket.hpp>

#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  const ainvil::Problem problem = ainvil::makeProblem("poisson5:10x10");
  const auto parsed = ainvil::parseMatrixMarket("%%MatrixMarket matrix coordinate real general\n"
                                                "2 2 2\n1 1 3.0\n2 2 4.0\n",
                                                "consumer");
  std::cout << problem.name << ": " << problem.matrix.numRows() << " rows\n";
  return problem.matrix.numRows() == 100 && parsed.numEntries() == 2 ? 0 : 1;
}
