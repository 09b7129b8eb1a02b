// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ordering.hpp"

#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "backend/Ainvil_Profiling.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "graph/Ainvil_RowSearch.hpp"

#include <limits>

namespace ainvil {
namespace {

using detail::forLanes;
using detail::Range;

/// Row k of P A Q^T before sorting: the columns of row P.new_to_old(k) of A under their new
/// numbers.
template <class Device>
struct RenameColumns {
  Graph<Device> graph;
  Permutation<Device> rows, new_columns;
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> columns;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*) const {
    const Offset from = graph.row_map(rows.new_to_old(row));
    const Offset to = row_map(row);
    const Ordinal length = static_cast<Ordinal>(row_map(row + 1) - to);
    forLanes(member, length, [&](const Ordinal k) {
      columns(to + k) = new_columns.old_to_new(graph.entries(from + k));
    });
  }
};

/// Sorting tells where in the renamed row an entry was, which is where it is in the row of A.
template <class Device>
struct SourcesInOriginal {
  Graph<Device> graph;
  Permutation<Device> rows;
  Kokkos::View<const Offset*, Device> row_map, source_in_renamed;
  Kokkos::View<Offset*, Device> source;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal row, void*) const {
    const Offset begin = row_map(row);
    const Offset shift = graph.row_map(rows.new_to_old(row)) - begin;
    const Ordinal length = static_cast<Ordinal>(row_map(row + 1) - begin);
    forLanes(member, length,
             [&](const Ordinal k) { source(begin + k) = source_in_renamed(begin + k) + shift; });
  }
};

} // namespace

template <class Device>
Permutation<Device> makePermutation(const typename Device::execution_space& exec,
                                    const Kokkos::View<const Ordinal*, Device>& new_to_old) {
  using Exec = typename Device::execution_space;
  ScopedRegion region("Ainvil::makePermutation");
  const Offset n = static_cast<Offset>(new_to_old.extent(0));
  const auto old_to_new = allocate<Ordinal, Device>(exec, "Ainvil::old_to_new", n);
  Kokkos::deep_copy(exec, old_to_new, Ordinal(-1));
  Kokkos::parallel_for(
      "Ainvil::makePermutation[invert]", Range<Exec>(exec, 0, n), KOKKOS_LAMBDA(const Offset k) {
        const Ordinal row = new_to_old(k);
        // Two k may have the same row: the other one's row is missing then.
        if (row >= 0 && row < n)
          compat::volatileStore(&old_to_new(row), static_cast<Ordinal>(k));
      });
  Offset missing = std::numeric_limits<Offset>::max();
  Kokkos::parallel_reduce(
      "Ainvil::makePermutation[check]", Range<Exec>(exec, 0, n),
      KOKKOS_LAMBDA(const Offset row, Offset& first) {
        if (old_to_new(row) < 0 && row < first)
          first = row;
      },
      Kokkos::Min<Offset>(missing));
  if (missing < n)
    throw InvalidArgument(message("a permutation of ", n, " rows must hold each of 0 to ", n - 1,
                                  " once, but this one lacks ", missing));
  return {new_to_old, old_to_new};
}

template <class Device>
Permutation<Device> identityPermutation(const typename Device::execution_space& exec, Ordinal n) {
  const auto rows = allocate<Ordinal, Device>(exec, "Ainvil::new_to_old", n);
  Kokkos::parallel_for(
      "Ainvil::identityPermutation", Range<typename Device::execution_space>(exec, 0, n),
      KOKKOS_LAMBDA(const Offset k) { rows(k) = static_cast<Ordinal>(k); });
  return {rows, rows};
}

template <class Device>
PermutedGraph<Device> permuted(const typename Device::execution_space& exec,
                               const Permutation<Device>& perm, const Graph<Device>& graph) {
  const Ordinal n = perm.numRows();
  if (graph.num_rows != n || graph.num_cols != n)
    throw InvalidArgument(message("a symmetric permutation of ", n,
                                  " block rows does not fit a matrix of ", graph.num_rows,
                                  " block rows and ", graph.num_cols, " block columns"));
  return permuted(exec, perm, perm, graph);
}

template <class Device>
PermutedGraph<Device> permuted(const typename Device::execution_space& exec,
                               const Permutation<Device>& rows, const Permutation<Device>& columns,
                               const Graph<Device>& graph) {
  using Exec = typename Device::execution_space;
  const Ordinal n = rows.numRows();
  if (graph.num_rows != n || graph.num_cols != columns.numRows())
    throw InvalidArgument(message("permutations of ", n, " block rows and ", columns.numRows(),
                                  " block columns do not fit a matrix of ", graph.num_rows,
                                  " block rows and ", graph.num_cols, " block columns"));
  ScopedRegion region("Ainvil::permuted");
  validate(exec, graph);
  const auto old_row_map = graph.row_map;
  const auto new_to_old = rows.new_to_old;
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(n) + 1);
  Kokkos::parallel_for(
      "Ainvil::permuted[count]", Range<Exec>(exec, 0, n), KOKKOS_LAMBDA(const Offset row) {
        const Ordinal old = new_to_old(row);
        row_map(row) = old_row_map(old + 1) - old_row_map(old);
      });
  const Offset nnz = detail::countsToOffsets(exec, row_map);
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", nnz);
  const auto shape = detail::teamsForRowsOf(graph);
  detail::forEachRow(exec, "Ainvil::permuted[columns]", n, shape,
                     RenameColumns<Device>{graph, rows, columns, row_map, entries});
  const PermutedGraph<Device> sorted =
      sortRows(exec, Graph<Device>(n, graph.num_cols, row_map, entries));
  const auto source = allocate<Offset, Device>(exec, "Ainvil::source", nnz);
  detail::forEachRow(
      exec, "Ainvil::permuted[sources]", n, shape,
      SourcesInOriginal<Device>{graph, rows, sorted.graph.row_map, sorted.source, source});
  compat::fence(exec, "Ainvil::permuted");
  return {sorted.graph, source};
}

template <class Scalar, class Device>
BsrMatrix<Scalar, Device> permuted(const typename Device::execution_space& exec,
                                   const Permutation<Device>& perm,
                                   const BsrMatrix<Scalar, Device>& a) {
  const PermutedGraph<Device> result = permuted(exec, perm, a.graph);
  const auto values = allocate<Scalar, Device>(exec, "Ainvil::values", a.values.extent(0));
  gatherBlocks<Scalar, Device>(exec, Trans::No, result.source, a.block_size, a.values, values);
  compat::fence(exec, "Ainvil::permuted");
  return {result.graph, values, a.block_size};
}

template <class Scalar, class Device>
void permute(const typename Device::execution_space& exec, Trans trans,
             const Permutation<Device>& perm, int block_size,
             MultiVectorArg<const Scalar, Device> x, MultiVectorArg<Scalar, Device> y) {
  const Offset n = Offset(perm.numRows()) * block_size;
  if (Offset(x.extent(0)) != n || Offset(y.extent(0)) != n || x.extent(1) != y.extent(1))
    throw InvalidArgument(message("permuting ", perm.numRows(), " block rows of size ", block_size,
                                  " of a ", x.extent(0), " x ", x.extent(1),
                                  " multivector into one of ", y.extent(0), " x ", y.extent(1)));
  const auto source = trans == Trans::No ? perm.new_to_old : perm.old_to_new;
  const int num_columns = static_cast<int>(y.extent(1));
  Kokkos::parallel_for(
      "Ainvil::permute", Range<typename Device::execution_space>(exec, 0, n),
      KOKKOS_LAMBDA(const Offset i) {
        const Offset row = i / block_size;
        const Offset from = Offset(source(row)) * block_size + (i - row * block_size);
        for (int c = 0; c < num_columns; ++c)
          y(i, c) = x(from, c);
      });
}

#define AINVIL_INSTANTIATE_SCALAR(SCALAR, DEVICE)                                                  \
  template BsrMatrix<SCALAR, DEVICE> permuted<SCALAR, DEVICE>(                                     \
      const typename DEVICE::execution_space&, const Permutation<DEVICE>&,                         \
      const BsrMatrix<SCALAR, DEVICE>&);                                                           \
  template void permute<SCALAR, DEVICE>(                                                           \
      const typename DEVICE::execution_space&, Trans, const Permutation<DEVICE>&, int,             \
      MultiVectorArg<const SCALAR, DEVICE>, MultiVectorArg<SCALAR, DEVICE>);
#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template Permutation<DEVICE> makePermutation<DEVICE>(                                            \
      const typename DEVICE::execution_space&, const Kokkos::View<const Ordinal*, DEVICE>&);       \
  template Permutation<DEVICE> identityPermutation<DEVICE>(                                        \
      const typename DEVICE::execution_space&, Ordinal);                                           \
  template PermutedGraph<DEVICE> permuted<DEVICE>(                                                 \
      const typename DEVICE::execution_space&, const Permutation<DEVICE>&, const Graph<DEVICE>&);  \
  template PermutedGraph<DEVICE> permuted<DEVICE>(                                                 \
      const typename DEVICE::execution_space&, const Permutation<DEVICE>&,                         \
      const Permutation<DEVICE>&, const Graph<DEVICE>&);                                           \
  AINVIL_INSTANTIATE_SCALAR(double, DEVICE)                                                        \
  AINVIL_INSTANTIATE_SCALAR(float, DEVICE)
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
