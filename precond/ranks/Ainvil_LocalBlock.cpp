// SPDX-License-Identifier: BSD-3-Clause
#include "ranks/Ainvil_LocalBlock.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_GraphAlgebra.hpp"
#include "dense/Ainvil_BlockArrays.hpp"

#include <algorithm>

namespace ainvil {
namespace ranks {

Graph<HostDevice> copiedGraph(const HostDevice::execution_space& exec, Ordinal num_rows,
                              Ordinal num_cols, const int* row_map, const int* entries) {
  const auto offsets = allocate<Offset, HostDevice>(exec, "Ainvil::row_map", size_t(num_rows) + 1);
  offsets(0) = 0; // no array has to be there for no rows
  for (Ordinal i = 0; i < num_rows; ++i)
    offsets(i + 1) = row_map[i + 1];
  const auto columns = allocate<Ordinal, HostDevice>(exec, "Ainvil::entries", offsets(num_rows));
  std::copy_n(entries, offsets(num_rows), columns.data());
  return Graph<HostDevice>(num_rows, num_cols, offsets, columns);
}

void LocalBlock::initialize(const Exec& exec, const StoredPattern& stored, int block_size) {
  const int stored_size = stored.block_size;
  LocalBlock next;
  next.num_scalars_ = stored.num_scalars;
  next.by_columns_ = stored.by_columns;
  next.source_ = copyArray<Device>(stored.source, "Ainvil::source");
  Graph<Device> graph = copyTo<Device>(stored.graph);
  const Offset scalars = graph.numEntries() * stored_size * stored_size;
  const auto take = [&](const PermutedGraph<Device>& from) {
    graph = from.graph;
    next.source_ = next.source_.extent(0) > 0 ? composed<Device>(exec, from.source, next.source_)
                                              : from.source;
  };
  if (stored_size > 1 && block_size != stored_size)
    take(toPoints<Device>(exec, graph, stored_size));
  if (block_size > 1 && block_size != stored_size)
    take(toBlocks<Device>(exec, graph, block_size));
  const Offset num_values = graph.numEntries() * block_size * block_size;
  next.padding_ = num_values - scalars;
  next.matrix_ =
      Matrix(graph, allocate<double, Device>(exec, "Ainvil::values", num_values), block_size);
  *this = next;
}

LocalBlock::Matrix LocalBlock::get(const Exec& exec, const double* values, Memory memory) {
  const auto column = stored_values_.toRead(exec, {values, num_scalars_, memory}, num_scalars_, 1);
  const Kokkos::View<const double*, Device> from(column.data(), num_scalars_);
  if (source_.extent(0) > 0)
    gatherBlocks<double, Device>(exec, Trans::No, source_, 1, from, matrix_.values);
  else if (by_columns_)
    transposeBlocks<double, Device>(exec, matrix_.block_size, from, matrix_.values);
  else
    Kokkos::deep_copy(exec, matrix_.values, from);
  compat::fence(exec, "Ainvil::LocalBlock"); // the other library gets its array back
  return matrix_;
}

} // namespace ranks
} // namespace ainvil
