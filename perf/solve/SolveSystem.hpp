// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The linear system that ainvil-solve solves: read or built, checked, regrouped, matched, scaled
/// and reordered.

#include "solve/SolveCommandLine.hpp"

#include "Ainvil_BsrMatrix.hpp"
#include "Ainvil_Permutation.hpp"
#include "Ainvil_Scaling.hpp"

#include <vector>

namespace ainvil {
namespace perf {

/// A x = b as the solvers see it, and as the user gave it: x is the solution of the former, and
/// rhs_scale C P^T x that of the latter.
struct LinearSystem {
  BsrMatrix<double, HostDevice> matrix;
  Vector<double, HostDevice> rhs;
  /// In blocks, but neither scaled nor reordered; share memory with the above where those are not
  /// either.
  BsrMatrix<double, HostDevice> original_matrix;
  Vector<double, HostDevice> original_rhs;
  /// R and C where the matrix is made from R A C, both S for S A S, else empty.
  RowColumnScaling<double, HostDevice> scaling;
  Permutation<HostDevice> matching; ///< Q where it is Q R A C, else without rows
  Permutation<HostDevice> order;    ///< P where the matrix is P (Q R A C) P^T, else without rows
  double reorder_seconds = 0;       ///< to find P and to apply it
  Offset num_weak_diagonals = 0;    ///< rows as given whose diagonal is zero to rounding
  /// What `rhs` was divided by, a power of 2, where squares of its entries over- or underflow.
  double rhs_scale = 1;

  /// A right-hand side behind the first, as the members of the same names.
  struct Column {
    Vector<double, HostDevice> rhs, original_rhs;
    double rhs_scale = 1;
  };
  std::vector<Column> more; ///< in their order

  int numColumns() const { return 1 + static_cast<int>(more.size()); }
  /// The same system with this right-hand side alone, 0 being the first; shares the arrays.
  LinearSystem withColumn(int column) const;
};

/// The system that the command line describes, on the host.
/// \throws FileError if a file cannot be read or is malformed; InvalidArgument if the matrix is not
/// square, has a row without nonzero values or a diagonal that cannot be scaled with, or if the
/// block size does not divide the number of rows, or for several right-hand sides where the program
/// solves for one. Rows are counted from 1.
LinearSystem makeSystem(const CommandLine& command);

/// ||b - A x|| / ||b||, or ||b - A x|| if b is zero; NaN or Inf if x or b - A x is not finite.
/// Evaluated on the host, by none of the kernels that the solvers use, and in a way that neither
/// over- nor underflows where the result does not. Cost: the entries of A once, a vector of memory.
double relativeResidual(const BsrMatrix<double, HostDevice>& a, const Vector<double, HostDevice>& b,
                        const Vector<double, HostDevice>& x);

/// ||v||, which neither over- nor underflows on the way; NaN or Inf if an entry is.
double normOf(const Vector<double, HostDevice>& v);

/// rhs_scale C P^T x: the solution of the system before scaling and reordering.
Vector<double, HostDevice> originalSolution(const LinearSystem& system,
                                            const Vector<double, HostDevice>& x);

} // namespace perf
} // namespace ainvil
