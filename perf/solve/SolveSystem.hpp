// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The linear system that ainvil-solve solves: read or built, checked, regrouped, matched, scaled
/// and reordered.

#include "program/ProgressLine.hpp"
#include "solve/SolveCommandLine.hpp"

#include "Ainvil_BsrMatrix.hpp"
#include "Ainvil_Ordering.hpp"
#include "Ainvil_Scaling.hpp"

#include <vector>

namespace ainvil {
namespace perf {

/// A right-hand side as the solvers see it, and as the user gave it: the two share memory where the
/// system is neither scaled nor reordered.
struct RightHandSide {
  Vector<double, HostDevice> rhs, original_rhs;
  /// What `rhs` was divided by, a power of 2, where squares of its entries over- or underflow.
  double rhs_scale = 1;
  Vector<double, HostDevice> guess; ///< of the x that the solvers see; empty: zeros
  /// relativeResidual() of the guess, of the system as given and of the one that the solvers see.
  double guess_residual = 1, scaled_guess_residual = 1;
};

/// A x = b as the solvers see it, and as the user gave it: x is the solution of the former, and
/// rhs_scale C P^T x that of the latter. It is a RightHandSide itself, the first.
struct LinearSystem : RightHandSide {
  BsrMatrix<double, HostDevice> matrix;
  /// In blocks, but neither scaled nor reordered; shares memory with the above where that is not
  /// either.
  BsrMatrix<double, HostDevice> original_matrix;
  /// R and C where the matrix is made from R A C, both S for S A S, else empty.
  RowColumnScaling<double, HostDevice> scaling;
  Permutation<HostDevice> matching; ///< Q where it is Q R A C, else without rows
  Permutation<HostDevice> order;    ///< P where the matrix is P (Q R A C) P^T, else without rows
  double reorder_seconds = 0;       ///< to find P and to apply it
  Offset num_weak_diagonals = 0;    ///< rows as given whose diagonal is zero to rounding
  std::vector<RightHandSide> more;  ///< behind the first, in their order

  int numColumns() const { return 1 + static_cast<int>(more.size()); }
  RightHandSide& column(int c) { return c == 0 ? *this : more[c - 1]; }
  const RightHandSide& column(int c) const { return c == 0 ? *this : more[c - 1]; }
  /// The same system with this right-hand side alone, 0 being the first; shares the arrays.
  LinearSystem withColumn(int column) const;
};

/// The system that the command line describes, on the host. `progress` shows how far a matching is.
/// \throws FileError if a file cannot be read or is malformed; InvalidArgument if the matrix is not
/// square, has a row without nonzero values or a diagonal that cannot be scaled with, or if the
/// block size does not divide the number of rows, for several right-hand sides where the program
/// solves for one, or for a guess of another size. Rows are counted from 1.
LinearSystem makeSystem(const CommandLine& command, ProgressLine* progress = nullptr);

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
