// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Solvers of other libraries on the ranks of an MPI job. Each library is a plug-in of its own:
/// some bring another Kokkos along, which must not meet that of the program. This header is all
/// that the two sides share.

#include <memory>
#include <mpi.h>
#include <string>

namespace ainvil {
namespace perf {

/// A x = b in blocks, as this rank has it. The arrays live as long as the solvers made from it.
struct PeerSystem {
  MPI_Comm comm = MPI_COMM_NULL;
  int block_size = 1;
  int num_block_rows = 0;             ///< of all ranks
  int first_block_row = 0;            ///< of this rank
  int end_block_row = 0;              ///< of this rank, behind the last
  const long long* row_map = nullptr; ///< of all block rows
  const int* entries = nullptr;       ///< block columns of all block rows
  const double* values = nullptr;     ///< of all block rows, blocks row by row
  const double* rhs = nullptr;        ///< of all rows

  bool spd = false; ///< CG, else GMRES(restart) preconditioned from the right
  int restart = 30;
  double tolerance = 1e-8; ///< on ||b - A x|| / ||b||
  int max_iterations = 5000;

  int numBlockRows() const { return end_block_row - first_block_row; }
};

struct PeerResult {
  bool converged = false;
  int iterations = 0;
  std::string message; ///< why it did not converge, if the library tells
};

/// One preconditioner with one Krylov method. All functions are collective.
class PeerSolver {
public:
  virtual ~PeerSolver() = default;
  /// Everything from the assembled matrix to the first iteration, anew at each call.
  virtual void setUp() = 0;
  /// The preconditioner `count` times on b.
  virtual void apply(int count) = 0;
  /// Solves from zero. `x` takes the rows of this rank.
  virtual PeerResult solve(double* x) = 0;
};

/// A library. Exceptions of all functions are std::invalid_argument for a method that it does not
/// understand, else std::runtime_error.
class PeerLibrary {
public:
  virtual ~PeerLibrary() = default;
  virtual std::string version() const = 0; ///< "PETSc 3.18.5"
  /// Refuses a method before any work, as far as the library can tell.
  virtual void check(const std::string& method, bool spd) const = 0;
  /// Assembles the matrix in the format of the library.
  virtual std::unique_ptr<PeerSolver> create(const std::string& method,
                                             const PeerSystem& system) const = 0;
};

} // namespace perf
} // namespace ainvil

/// What a plug-in defines: starts its library, which stops with the object. MPI runs before and
/// after.
extern "C" ainvil::perf::PeerLibrary* ainvilPeerLibrary();
