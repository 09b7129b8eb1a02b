// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Block-Jacobi over the ranks: what an adapter keeps for one preconditioner.

#include "Ainvil_Factory.hpp"
#include "ranks/Ainvil_LocalBlock.hpp"

#include <mpi.h>

#include <string>
#include <vector>

namespace ainvil {
namespace ranks {

/// What a preconditioner is asked to be.
struct Choice {
  std::string specification = "ilu"; ///< for createPreconditioner()
  int block_size = 0;                ///< 0: that of the matrix
};

/// What the report advises, in the words of the other library.
struct Advice {
  std::string flexible; ///< solver for what varies between applications: "FlexGMRES"
  std::string points;   ///< how to take block size 1: "-pc_ainvil_block_size 1"
};

/// A preconditioner for the local block of a rank. Nothing here communicates but report().
class RankPreconditioner {
public:
  using Exec = LocalBlock::Exec; ///< where it runs

  /// What was chosen last.
  const Choice& choice() const { return choice_; }

  /// Takes another choice and returns true, or false if it is the last one. Of another one what has
  /// been set up is gone. \throws InvalidArgument for a specification that is none or a negative
  /// block size, which is called `block_size_name` then.
  bool choose(const Choice& choice, const char* block_size_name);

  /// Frees what has been set up.
  void reset();

  /// Whether setPattern() must come before the next setValues(), whatever the matrix.
  bool needsPattern() const { return m_ == nullptr || !m_->isInitialized(); }

  /// Takes a pattern, in blocks of the given size. \throws as LocalBlock::initialize()
  void setPattern(const Exec& exec, const StoredPattern& stored, int block_size);

  /// The set-up for these values, which are stored in the pattern last taken. Waits. \throws
  /// InvalidArgument for a bad pattern; BreakdownError where the values give no preconditioner:
  /// zero pivots, numbers that are not finite, an objection of the method; OutOfMemory.
  void setValues(const Exec& exec, const double* values, Memory memory = Memory::Host);

  /// From now on the preconditioner is not applied, for this reason, until the next one; "": it is.
  void setFailure(const std::string& reason) { failure_ = reason; }
  const std::string& failure() const { return failure_; } ///< why; empty: there is none

  /// y = op(M^-1) x. After a failure, and where this throws, y is infinite: that is how the norms
  /// of a Krylov solver, on all its ranks, learn of it. Waits, unless x and y lie on the GPU where
  /// the preconditioner does: what comes next on Kokkos' default instance comes after it. \throws
  /// as Preconditioner::apply()
  void apply(Columns<const double> x, Columns<double> y, int rows, int columns, Trans trans);

  /// The parameters, entries of the factors of all ranks, breakdowns, times of the first rank,
  /// notes and numbers of set-ups, in lines. Collective. \throws Error if MPI fails
  std::vector<std::string> report(MPI_Comm comm, const Advice& advice) const;

private:
  Choice choice_;
  PreconditionerPtr<double, Device> m_; ///< what the choice asks for; made when it is needed
  LocalBlock block_;                    ///< of the matrix last set up
  DeviceColumns x_, y_;                 ///< of the last application
  int patterns_ = 0;                    ///< calls of initialize()
  int values_ = 0;                      ///< calls of compute() that succeeded
  std::string failure_;
};

} // namespace ranks
} // namespace ainvil
