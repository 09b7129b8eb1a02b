// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The kernels of products that share a long row among warps.

#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "product/Ainvil_SpmvKernels.hpp"

namespace ainvil {
namespace detail {

/// A segment of a long row.
struct Segment {
  Ordinal owner, row, count; ///< position in the list of long rows, row, segments of the row
  Offset begin;              ///< first block
  int length;                ///< blocks

  template <class Device>
  KOKKOS_INLINE_FUNCTION static Segment at(const typename LongRows<Device>::Segments& segments,
                                           const Offset* row_map, Ordinal s) {
    constexpr Offset full = LongRows<Device>::segment_length;
    const Ordinal owner = segments.owner[s];
    const Ordinal row = segments.rows[owner];
    const Ordinal first = segments.first_segment[owner];
    const Offset begin = row_map[row] + (s - first) * full;
    const Offset rest = row_map[row + 1] - begin;
    return {owner, row, segments.first_segment[owner + 1] - first, begin,
            static_cast<int>(rest < full ? rest : full)};
  }
};

/// The product of SpmvKernel for the long rows, for up to most_columns right-hand sides: a warp
/// sums a segment of a row, its lanes the scalars of the segment; the warp that finishes a row last
/// adds its segments' sums in order. In place x is y, of which other warps write rows meanwhile:
/// each entry is read as it is then.
template <bool InPlace, class MatrixScalar, class Scalar, class Device>
struct LongRowKernel {
  typename LongRows<Device>::Segments segments;
  const Offset* row_map;
  const Ordinal* entries;
  const MatrixScalar* values;
  KernelColumns<const Scalar> x;
  Epilogue<Scalar, Device> epilogue;
  int bs;
  Offset first_column;
  int columns;

  KOKKOS_INLINE_FUNCTION double* partial(Ordinal s, int r, int j) const {
    return segments.partials + (Offset(s) * bs + r) * most_columns + j;
  }
  KOKKOS_INLINE_FUNCTION Scalar xAt(Offset row, Offset column) const {
    return InPlace ? compat::volatileLoad(&x(row, column)) : x(row, column);
  }
  KOKKOS_INLINE_FUNCTION void store(Offset row, Offset column, Scalar sum) const {
    if (InPlace)
      compat::volatileStore(&epilogue.y(row, column), epilogue.value(row, column, sum));
    else
      epilogue.store(row, column, sum);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal s, void*) const {
    const Segment segment = Segment::at<Device>(segments, row_map, s);
    for (int r = 0; r < bs; ++r)
      for (int j = 0; j < columns; ++j) {
        double sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(member, segment.length * bs),
            [&](const int item, double& partial_sum) {
              const int k = item / bs, c = item - k * bs;
              const Offset at = segment.begin + k;
              partial_sum += double(values[(at * bs + r) * bs + c]) *
                             double(xAt(Offset(entries[at]) * bs + c, first_column + j));
            },
            sum);
        Kokkos::single(Kokkos::PerThread(member),
                       [&]() { compat::volatileStore(partial(s, r, j), sum); });
      }
    int is_last = 0;
    Kokkos::single(
        Kokkos::PerThread(member),
        [&](int& last) {
          Kokkos::memory_fence();
          last = Kokkos::atomic_fetch_add(segments.arrived + segment.owner, 1) == segment.count - 1;
        },
        is_last);
    if (is_last == 0)
      return;
    Kokkos::memory_fence();
    const Ordinal first = segments.first_segment[segment.owner];
    for (int r = 0; r < bs; ++r)
      for (int j = 0; j < columns; ++j) {
        double sum = 0;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(member, segment.count),
            [&](const Ordinal k, double& row_sum) {
              row_sum += compat::volatileLoad(partial(first + k, r, j));
            },
            sum);
        Kokkos::single(Kokkos::PerThread(member), [&]() {
          store(Offset(segment.row) * bs + r, first_column + j, static_cast<Scalar>(sum));
        });
      }
    Kokkos::single(Kokkos::PerThread(member), [&]() { segments.arrived[segment.owner] = 0; });
  }
};

/// y(col_k * bs + c) += alpha sum over r of A_k(r, c) x(i * bs + r), one block row a thread.
template <class MatrixScalar, class Scalar, class Device>
struct TransposedSpmvKernel {
  const Offset* row_map;
  const Ordinal* entries;
  const MatrixScalar* values;
  Scalar alpha;
  KernelColumns<const Scalar> x;
  KernelColumns<Scalar> y;
  int bs;
  Offset longest; ///< rows with more blocks are worked on by segments
  typename LongRows<Device>::Segments segments;

  KOKKOS_INLINE_FUNCTION void addBlock(Offset row, Offset k) const {
    for (int c = 0; c < bs; ++c)
      for (Offset j = 0; j < x.numColumns(); ++j) {
        Scalar sum = 0;
        for (int r = 0; r < bs; ++r)
          sum += Scalar(values[(k * bs + r) * bs + c]) * x(row * bs + r, j);
        Kokkos::atomic_add(&y(Offset(entries[k]) * bs + c, j), alpha * sum);
      }
  }

  KOKKOS_FUNCTION void operator()(const Offset row) const {
    const Offset begin = row_map[row], end = row_map[row + 1];
    if (end - begin <= longest)
      for (Offset k = begin; k < end; ++k)
        addBlock(row, k);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal s, void*) const {
    const Segment segment = Segment::at<Device>(segments, row_map, s);
    forLanes(member, segment.length,
             [&](const int k) { addBlock(segment.row, segment.begin + k); });
  }
};

} // namespace detail
} // namespace ainvil
