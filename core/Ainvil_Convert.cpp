// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Convert.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "backend/Ainvil_Profiling.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "graph/Ainvil_CollectRows.hpp"
#include "graph/Ainvil_LeadingBlocks.hpp"

namespace ainvil {
namespace {

using detail::list_end;
using detail::Range;

/// Sorted lists of block row I: the block columns touched by each of its point rows.
template <class Device>
struct BlockLists {
  Graph<Device> points;
  int bs;

  KOKKOS_FUNCTION Ordinal count(Ordinal) const { return bs; }
  KOKKOS_FUNCTION Ordinal length(Ordinal row, Ordinal k) const {
    const Offset point_row = Offset(row) * bs + k;
    return static_cast<Ordinal>(points.row_map(point_row + 1) - points.row_map(point_row));
  }
  KOKKOS_FUNCTION Offset begin(Ordinal row, Ordinal k) const {
    return points.row_map(Offset(row) * bs + k);
  }
  KOKKOS_FUNCTION Ordinal at(Offset position) const { return points.entries(position) / bs; }
};

template <class Device>
void requireWholeBlocks(const Graph<Device>& points, int block_size) {
  detail::requireBlockSize(block_size);
  if (points.num_rows % block_size != 0 || points.num_cols % block_size != 0)
    throw InvalidArgument(message("block size ", block_size, " does not divide the matrix of ",
                                  points.num_rows, " rows and ", points.num_cols, " columns"));
}

/// source(block(e) bs^2 + r bs + c) = e for each entry e, where it stands in its block. The points
/// of a row are sorted, as are the blocks of its block row, and each point lies in one of these
/// blocks: one walk along both.
template <class Device>
struct WriteSources {
  Graph<Device> points, blocks;
  Kokkos::View<const Offset*, Device> points_source; ///< of the entries; none: their numbers
  int bs;
  Kokkos::View<Offset*, Device> source;

  KOKKOS_FUNCTION void operator()(const Offset point_row) const {
    const Offset bs2 = Offset(bs) * bs;
    const Offset row = point_row / bs;
    const Offset r = point_row - row * bs;
    Offset block = blocks.row_map(row) - 1;
    Offset first = 0, end = 0; // point columns of the block
    for (Offset e = points.row_map(point_row); e < points.row_map(point_row + 1); ++e) {
      const Offset column = points.entries(e);
      while (column >= end) {
        first = Offset(blocks.entries(++block)) * bs;
        end = first + bs;
      }
      source(block * bs2 + r * bs + column - first) =
          points_source.data() == nullptr ? e : points_source(e);
    }
  }
};

/// toBlocks() of a valid graph.
template <class Device>
PermutedGraph<Device> blocksOf(const typename Device::execution_space& exec,
                               const Graph<Device>& points, bool sorted, int bs) {
  const PermutedGraph<Device> in_order =
      sorted ? PermutedGraph<Device>{points, {}} : sortRows(exec, points);
  const Graph<Device> from = in_order.graph;
  const Graph<Device> blocks = detail::unionOfSortedLists<Device>(
      exec, "Ainvil::toBlocks", from.num_rows / bs, from.num_cols / bs,
      BlockLists<Device>{from, bs}, bs * from.meanRowLength());
  const auto source =
      allocate<Offset, Device>(exec, "Ainvil::source", blocks.numEntries() * Offset(bs) * bs);
  Kokkos::deep_copy(exec, source, Offset(-1));
  Kokkos::parallel_for("Ainvil::toBlocks",
                       Range<typename Device::execution_space>(exec, 0, from.num_rows),
                       WriteSources<Device>{from, blocks, in_order.source, bs, source});
  compat::fence(exec, "Ainvil::toBlocks");
  return {blocks, source};
}

} // namespace

template <class Device>
PermutedGraph<Device> toBlocks(const typename Device::execution_space& exec,
                               const Graph<Device>& points, int block_size) {
  requireWholeBlocks(points, block_size);
  ScopedRegion region("Ainvil::toBlocks");
  const bool sorted = validate(exec, points);
  return blocksOf(exec, points, sorted, block_size);
}

template <class Scalar, class Device>
BsrMatrix<Scalar, Device> toBlocks(const typename Device::execution_space& exec,
                                   const BsrMatrix<Scalar, Device>& a, int block_size) {
  if (block_size == a.block_size)
    return a;
  if (a.block_size != 1)
    return toBlocks(exec, toPoints(exec, a), block_size);
  requireWholeBlocks(a.graph, block_size);
  ScopedRegion region("Ainvil::toBlocks");
  const bool sorted = validate(exec, a.graph);
  detail::LeadingBlocks<Device> whole;
  if (sorted)
    whole = {exec, a.graph, {}, block_size};
  const PermutedGraph<Device> blocks = whole.exist() ? PermutedGraph<Device>{whole.graph(), {}}
                                                     : blocksOf(exec, a.graph, sorted, block_size);
  const auto values = allocate<Scalar, Device>(
      exec, "Ainvil::values", blocks.graph.numEntries() * Offset(block_size) * block_size);
  if (whole.exist())
    whole.template gather<Scalar>(exec, 1, a.values, values);
  else
    gatherBlocks<Scalar, Device>(exec, Trans::No, blocks.source, 1, a.values, values);
  compat::fence(exec, "Ainvil::toBlocks");
  return {blocks.graph, values, block_size};
}

template <class Device>
PermutedGraph<Device> toPoints(const typename Device::execution_space& exec,
                               const Graph<Device>& blocks, int bs) {
  using Exec = typename Device::execution_space;
  detail::requireBlockSize(bs);
  const Offset rows = Offset(blocks.num_rows) * bs, cols = Offset(blocks.num_cols) * bs;
  if (rows >= list_end || cols >= list_end)
    throw InvalidArgument(
        message("a matrix of ", rows, " x ", cols, " points is too large for scalar storage"));
  ScopedRegion region("Ainvil::toPoints");
  validate(exec, blocks);
  const Ordinal num_rows = static_cast<Ordinal>(rows);
  const Offset num_scalars = blocks.numEntries() * bs * bs;
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(num_rows) + 1);
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", num_scalars);
  const auto source = allocate<Offset, Device>(exec, "Ainvil::source", num_scalars);
  Kokkos::parallel_for(
      "Ainvil::toPoints", Range<Exec>(exec, 0, Offset(num_rows) + 1),
      KOKKOS_LAMBDA(const Offset point_row) {
        if (point_row == num_rows) {
          row_map(point_row) = num_scalars;
          return;
        }
        const Offset row = point_row / bs;
        const Offset r = point_row - row * bs;
        const Offset begin = blocks.row_map(row), length = blocks.row_map(row + 1) - begin;
        const Offset out = begin * bs * bs + r * length * bs;
        row_map(point_row) = out;
        for (Offset k = 0; k < length; ++k)
          for (int c = 0; c < bs; ++c) {
            entries(out + k * bs + c) = blocks.entries(begin + k) * bs + c;
            source(out + k * bs + c) = ((begin + k) * bs + r) * bs + c;
          }
      });
  compat::fence(exec, "Ainvil::toPoints");
  return {Graph<Device>(num_rows, static_cast<Ordinal>(cols), row_map, entries), source};
}

template <class Scalar, class Device>
BsrMatrix<Scalar, Device> toPoints(const typename Device::execution_space& exec,
                                   const BsrMatrix<Scalar, Device>& a) {
  if (a.block_size == 1)
    return a;
  const PermutedGraph<Device> points = toPoints(exec, a.graph, a.block_size);
  const auto values = allocate<Scalar, Device>(exec, "Ainvil::values", a.numScalars());
  gatherBlocks<Scalar, Device>(exec, Trans::No, points.source, 1, a.values, values);
  compat::fence(exec, "Ainvil::toPoints");
  return {points.graph, values, 1};
}

template <class Size, class Device>
void detail::convertOffsets(const typename Device::execution_space& exec,
                            const Kokkos::View<const Size*, Device>& from,
                            const Kokkos::View<Offset*, Device>& to) {
  Kokkos::parallel_for(
      "Ainvil::toOffsets", detail::Range<typename Device::execution_space>(exec, 0, from.extent(0)),
      KOKKOS_LAMBDA(const Offset i) { to(i) = static_cast<Offset>(from(i)); });
}

#define AINVIL_INSTANTIATE_SCALAR(SCALAR, DEVICE)                                                  \
  template BsrMatrix<SCALAR, DEVICE> toBlocks<SCALAR, DEVICE>(                                     \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&, int);             \
  template BsrMatrix<SCALAR, DEVICE> toPoints<SCALAR, DEVICE>(                                     \
      const typename DEVICE::execution_space&, const BsrMatrix<SCALAR, DEVICE>&);
#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template PermutedGraph<DEVICE> toBlocks<DEVICE>(const typename DEVICE::execution_space&,         \
                                                  const Graph<DEVICE>&, int);                      \
  template PermutedGraph<DEVICE> toPoints<DEVICE>(const typename DEVICE::execution_space&,         \
                                                  const Graph<DEVICE>&, int);                      \
  template void detail::convertOffsets<int, DEVICE>(const typename DEVICE::execution_space&,       \
                                                    const Kokkos::View<const int*, DEVICE>&,       \
                                                    const Kokkos::View<Offset*, DEVICE>&);         \
  template void detail::convertOffsets<unsigned int, DEVICE>(                                      \
      const typename DEVICE::execution_space&, const Kokkos::View<const unsigned int*, DEVICE>&,   \
      const Kokkos::View<Offset*, DEVICE>&);                                                       \
  AINVIL_INSTANTIATE_SCALAR(double, DEVICE)                                                        \
  AINVIL_INSTANTIATE_SCALAR(float, DEVICE)
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
