// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The linear system that ainvil-solve solves: read or built, checked, regrouped and scaled.

#include "SolveCommandLine.hpp"

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {
namespace perf {

/// A x = b as the solvers see it.
struct LinearSystem {
  BsrMatrix<double, HostDevice> matrix;
  Vector<double, HostDevice> rhs;
  Vector<double, HostDevice> scaling; ///< S where the matrix is S A S, else empty
};

/// The system that the command line describes, on the host.
/// \throws FileError if a file cannot be read or is malformed; InvalidArgument if the matrix is not
/// square, has a row without nonzero values, a diagonal that cannot be scaled with, or a zero
/// diagonal (block) that one of the preconditioners does not accept, or if the block size does not
/// divide the number of rows. Rows are counted from 1.
LinearSystem makeSystem(const CommandLine& command);

/// ||b - A x|| / ||b||, or ||b - A x|| if b is zero.
double relativeResidual(const LinearSystem& system, const Vector<double, HostDevice>& x);

/// The solution of the system before scaling.
Vector<double, HostDevice> unscaled(const LinearSystem& system,
                                    const Vector<double, HostDevice>& x);

} // namespace perf
} // namespace ainvil
