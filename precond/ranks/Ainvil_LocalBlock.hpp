// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The matrix of a rank, from the arrays of another library.

#include "Ainvil_BsrMatrix.hpp"
#include "ranks/Ainvil_ForeignColumns.hpp"

namespace ainvil {
namespace ranks {

/// A graph from arrays of another library on the host, copied. \throws OutOfMemory
Graph<HostDevice> copiedGraph(const HostDevice::execution_space& exec, Ordinal num_rows,
                              Ordinal num_cols, const int* row_map, const int* entries);

/// How another library stores the rows of a rank and of their entries those whose columns the rank
/// has too. On the host, where libraries have patterns of matrices on GPUs as well.
struct StoredPattern {
  Graph<HostDevice> graph; ///< of the blocks that are stored; the arrays are kept
  int block_size = 1;      ///< of the stored blocks
  Offset num_scalars = 0;  ///< in the array of values
  /// Blocks are in the order of the graph, but each by columns. Only if LocalBlock is to have the
  /// stored block size.
  bool by_columns = false;
  /// Where the scalars of the blocks, each by rows, are in the array of values; empty: in order.
  Kokkos::View<const Offset*, HostDevice> source;
};

/// What block-Jacobi over the ranks inverts. Values are copied, because the arrays of another
/// library may be gone while a preconditioner is still applied.
class LocalBlock {
public:
  using Matrix = BsrMatrix<double, Device>; ///< the local block
  using Exec = Device::execution_space;     ///< where it is converted

  /// Takes a pattern. Blocks get the given size; they are filled up with zeros. \throws
  /// InvalidArgument if the rows do not make such blocks; OutOfMemory.
  void initialize(const Exec& exec, const StoredPattern& stored, int block_size);

  /// The block with these values of the pattern last initialized, in the order in which they are
  /// stored, at `values`. It shares an array with the next one. Waits. Allocates only where the
  /// values are copied to a GPU for the first time. \throws OutOfMemory
  Matrix get(const Exec& exec, const double* values, Memory memory);

  int blockSize() const { return matrix_.block_size; } ///< of the result
  Offset padding() const { return padding_; }          ///< zeros that fill up blocks

private:
  Matrix matrix_;
  bool by_columns_ = false;
  Kokkos::View<const Offset*, Device> source_; ///< -1: zero; empty: in order
  DeviceColumns stored_values_;                ///< of the last call
  Offset padding_ = 0;
  Offset num_scalars_ = 0;
};

} // namespace ranks
} // namespace ainvil
