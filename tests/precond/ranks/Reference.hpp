// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// What the tests of the adapters for C compare with: Ainvil without them, in a library of its own
/// that hides its Kokkos as they do.

#include <string>
#include <utility>
#include <vector>

namespace ainvil {
namespace reference {

/// A block sparse matrix, blocks row-major, and its right-hand side.
struct System {
  int block_size = 1;
  std::vector<int> row_map, entries;
  std::vector<double> values, rhs;

  int numBlockRows() const { return static_cast<int>(row_map.size()) - 1; }
  int numRows() const { return numBlockRows() * block_size; }
};

/// A problem of the gallery.
System gallerySystem(const std::string& problem);

/// Iterations of Ainvil's solver, -1 if it does not converge.
int iterationsOf(const System& system, const std::string& solver, const std::string& precond,
                 double tolerance);

/// op(M^-1) x.
std::vector<double> applied(const System& system, const std::string& precond,
                            const std::vector<double>& x, bool transposed);

/// "-pc_ainvil_max_row" and the like of all parameters, by method.
std::vector<std::pair<std::string, std::vector<std::string>>> methodsAndKeys();

/// Ends what the functions above have begun.
void stop();

} // namespace reference
} // namespace ainvil
