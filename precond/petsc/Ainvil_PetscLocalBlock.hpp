// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The matrix of a rank, from PETSc's arrays.

#include "ranks/Ainvil_LocalBlock.hpp"

#include <petscmat.h>

namespace ainvil {
namespace petsc {

/// How PETSc stores a sequential matrix.
enum class Storage { Points, Blocks, UpperBlocks };

/// A sequential matrix of PETSc and how it is stored.
struct LocalMat {
  Mat mat = nullptr;                 ///< not ours
  Storage storage = Storage::Points; ///< how
  int block_size = 1;                ///< of the storage
};

/// The diagonal block of a rank: the matrix itself where it is sequential. Takes seqaij, seqbaij,
/// seqsbaij, types derived from them, and their parallel types. \throws InvalidArgument for another
/// type; ForeignFailure
LocalMat localMat(Mat a);

/// The pattern of a matrix, copied, for a LocalBlock of the given block size. Blocks of PETSc are
/// stored by columns; of symmetric ones the lower triangle is added. Of a matrix on a GPU PETSc has
/// the pattern on the host, too. \throws ForeignFailure; OutOfMemory
ranks::StoredPattern storedPattern(const HostDevice::execution_space& exec, const LocalMat& local,
                                   int block_size);

/// The values of a sequential matrix of PETSc, given back at the end. Where the preconditioner is
/// on a GPU and the matrix as well, they are those there.
class ValuesOf {
public:
  /// \throws ForeignFailure
  explicit ValuesOf(const LocalMat& local);
  ~ValuesOf();
  ValuesOf(const ValuesOf&) = delete;
  ValuesOf& operator=(const ValuesOf&) = delete;

  /// The array, as PETSc has it.
  const double* data() const { return values_ != nullptr ? values_ : writable_; }
  ranks::Memory memory() const { return memory_; } ///< where it is

private:
  LocalMat local_;
  const double* values_ = nullptr;
  double* writable_ = nullptr;
  ranks::Memory memory_ = ranks::Memory::Host;
};

} // namespace petsc
} // namespace ainvil
