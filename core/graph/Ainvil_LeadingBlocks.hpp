// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The blocks with which the rows of a matrix begin, without an index for each value on hosts.

#include "Ainvil_BsrMatrix.hpp"

namespace ainvil {
namespace detail {

/// Part of a matrix: the entries in some of its columns, which have new numbers there, their
/// places; of the others the place is negative. If in each row these entries come first and form
/// whole blocks, by ascending places, then where a value stands follows from two row maps, and on
/// GPUs, where a thread takes a value, from the row of each block, 4 bytes. So it is with what a
/// rank has of its own unknowns, for column maps of Tpetra begin with these, and with points that
/// fill their blocks.
template <class Device>
class LeadingBlocks {
public:
  using execution_space = typename Device::execution_space; ///< of the kernels

  LeadingBlocks() = default;

  /// Of the entries of `graph` whose columns c have place(c) >= 0, in blocks of bs x bs entries,
  /// columns numbered by their places, of which there are as many as rows; or of all entries, if
  /// there is no array of places. They do not exist unless all are of that form. A pass over the
  /// columns, and two more over those of the first row of each block row; waits. \throws
  /// OutOfMemory
  LeadingBlocks(const execution_space& exec, const Graph<Device>& graph,
                const Kokkos::View<const Ordinal*, Device>& place, int bs);

  bool exist() const { return row_map_.data() != nullptr; } ///< else nothing else may be called
  const Graph<Device>& graph() const { return graph_; }     ///< of the blocks

  /// `to` <- values of the blocks, row-major, of those of the matrix, which has so many an entry:
  /// 1, or those of blocks that are its entries. Asynchronous.
  template <class Scalar>
  void gather(const execution_space& exec, int values_per_entry,
              const Kokkos::View<const Scalar*, Device>& from,
              const Kokkos::View<Scalar*, Device>& to) const;

private:
  Kokkos::View<const Offset*, Device> row_map_; ///< of the matrix
  Graph<Device> graph_;
  Kokkos::View<Ordinal*, Device> block_rows_; ///< of the blocks; on hosts none
  int block_size_ = 1;
};

} // namespace detail
} // namespace ainvil
