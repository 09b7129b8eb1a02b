// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The matrix of a rank, from PETSc's arrays.

#include "Ainvil_BsrMatrix.hpp"

#include <petscmat.h>

namespace ainvil {
namespace petsc {

/// The rows that a rank has of a PETSc matrix, and of their entries those whose columns it has too:
/// what block-Jacobi over the ranks inverts. Pattern and values are copied, because PETSc's arrays
/// may be gone while a preconditioner is still applied (KSPSetReusePreconditioner). Blocks of PETSc
/// are stored by columns, ours by rows; of symmetric ones the lower triangle is added.
class LocalBlock {
public:
  using Matrix = BsrMatrix<double, HostDevice>; ///< the local block
  using Exec = HostDevice::execution_space;     ///< where it is converted

  /// Takes the pattern of seqaij, seqbaij, seqsbaij, of types derived from them, or of the diagonal
  /// block of their parallel types. Blocks have the given size, or that of the matrix if it is 0;
  /// they are filled up with zeros. \throws InvalidArgument for another type, or if the rows do not
  /// make such blocks; PetscFailure; OutOfMemory.
  void initialize(const Exec& exec, Mat a, int block_size);

  /// The block with the values that the matrix has now, which must have the pattern last
  /// initialized. It shares an array with the next one; of the host. No allocation. \throws
  /// PetscFailure
  Matrix get(const Exec& exec, Mat a);

  int blockSize() const { return matrix_.block_size; } ///< of the result
  Offset padding() const { return padding_; }          ///< zeros that fill up blocks

private:
  enum class Values {
    Copied,     ///< in the order of PETSc
    Transposed, ///< block by block
    Gathered    ///< one by one, from source_
  };

  Matrix matrix_;
  Values values_ = Values::Copied;
  Kokkos::View<const Offset*, HostDevice> source_; ///< -1: zero
  Offset padding_ = 0;
  Offset num_stored_ = 0; ///< scalars in the array of PETSc
};

} // namespace petsc
} // namespace ainvil
