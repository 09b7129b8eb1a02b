// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The kernels of products with block matrices.

#include "backend/Ainvil_Prefetch.hpp"
#include "product/Ainvil_Epilogue.hpp"
#include "product/Ainvil_LongRows.hpp"

#include <cstdint>

namespace ainvil {
namespace detail {

/// A row of a block, or the part of x it meets, as few wide loads.
template <class T, int N>
struct alignas(N * sizeof(T) < 16 ? N * sizeof(T) : 16) Packet {
  T values[N];

  static bool isAligned(const T* data) {
    return reinterpret_cast<std::uintptr_t>(data) % alignof(Packet) == 0;
  }
  KOKKOS_INLINE_FUNCTION static Packet load(const T* data) {
    return *reinterpret_cast<const Packet*>(data);
  }
};

/// Columns as a kernel reads them: as the graph has them.
struct GraphColumns {
  KernelArray<const Ordinal> stored;
  KOKKOS_FORCEINLINE_FUNCTION Offset at(Offset, Offset k) const { return stored(k); }
};

/// NearColumns, of the rows that a kernel is in.
struct ShortColumns {
  KernelArray<const std::uint16_t> stored;
  Offset first;
  KOKKOS_FORCEINLINE_FUNCTION Offset at(Offset row, Offset k) const {
    return row + first + stored(k);
  }
};

/// s(i, r) = sum over blocks k of row i, c < bs of A_k(r, c) x(col_k * bs + c), for up to Columns
/// right-hand sides, one point row a thread: on a GPU neighbouring threads read neighbouring rows
/// of a block, so that a warp uses every sector it fetches; no reduction, no lane idles on short
/// rows. With two groups of right-hand sides two threads share a point row, and the L1 cache what
/// they read of the matrix. BS = 0: block size known at run time. `ColumnIndices` is GraphColumns
/// or ShortColumns.
template <int BS, int Columns, class MatrixScalar, class Scalar, class Device, class ColumnIndices>
struct SpmvKernel {
  KernelArray<const Offset> row_map;
  ColumnIndices column;
  KernelArray<const MatrixScalar> values;
  KernelColumns<const Scalar> x;
  Epilogue<Scalar, Device> epilogue;
  KernelStep<Scalar> step;
  int block_size;
  Offset first_column;
  Offset longest;        ///< rows with more blocks are left to LongRowKernel
  bool aligned;          ///< values and x may be read in packets
  bool has_groups;       ///< two, of Columns right-hand sides each
  Offset num_point_rows; ///< where it has groups

  static constexpr bool on_gpu = compat::IsGpu<typename Device::execution_space>::value;
  /// Rows whose threads of a group are neighbours. Those of the other group are the next ones.
  static constexpr int neighbours = 32;

  /// Values of 16 bits in blocks whose rows are as long as a power of two; longer ones gain
  /// nothing.
  static constexpr bool has_packets = sizeof(MatrixScalar) == 2 && Columns == 1 && BS > 1 &&
                                      (BS & (BS - 1)) == 0;
  static bool isAligned([[maybe_unused]] const MatrixScalar* values,
                        [[maybe_unused]] const Scalar* x) {
    if constexpr (has_packets)
      return Packet<MatrixScalar, BS>::isAligned(values) && Packet<Scalar, BS>::isAligned(x);
    return false;
  }
  static Offset numItems(Offset point_rows, bool has_groups) {
    return has_groups ? (point_rows + neighbours - 1) / neighbours * (2 * neighbours) : point_rows;
  }

  KOKKOS_FUNCTION void operator()(const Offset item) const {
    Offset point_row = item, first = first_column;
    if constexpr (Columns > 1)
      if (has_groups) {
        const int k = static_cast<int>(item % (2 * neighbours));
        point_row = item / (2 * neighbours) * neighbours + k % neighbours;
        first += k / neighbours * Columns;
        if (point_row >= num_point_rows)
          return;
      }
    multiplyRow(point_row, first);
    step.template takeRow<Columns>(x, point_row, first);
  }

  KOKKOS_INLINE_FUNCTION void multiplyRow(const Offset point_row, const Offset first) const {
    const int bs = BS > 0 ? BS : block_size;
    const int columns = columnsFrom<Columns>(x, first);
    // GPUs take the last right-hand side again instead of none, so that no jump keeps loads apart.
    const int taken = on_gpu ? Columns : columns;
    const Scalar* const x_first = x.data() + first * x.stride();
    Offset to[Columns] = {};
    unrolled<Columns>([&](int j) {
      if (Columns > 1)
        to[j] = (j < columns ? j : columns - 1) * x.stride();
    });
    const Offset row = point_row / bs;
    const int r = static_cast<int>(point_row - row * bs);
    Scalar sum[Columns] = {};
    const Offset begin = row_map(row), end = row_map(row + 1);
    if (end - begin > longest)
      return;
    for (Offset k = begin; k < end; ++k) {
      const Scalar* const x_k = x_first + column.at(row, k) * bs;
      const MatrixScalar* block = &values(k * bs * bs + r * bs);
      if constexpr (has_packets)
        if (aligned) {
          const auto a_k = Packet<MatrixScalar, BS>::load(block);
          const auto x_packet = Packet<Scalar, BS>::load(x_k);
          for (int c = 0; c < BS; ++c)
            sum[0] += Scalar(a_k.values[c]) * x_packet.values[c];
          continue;
        }
      for (int c = 0; c < bs; ++c) {
        unrolled<Columns>([&](int j) {
          if (j < taken)
            sum[j] += Scalar(block[c]) * x_k[c + to[j]];
        });
      }
    }
    unrolled<Columns>([&](int j) {
      if (j < columns)
        epilogue.store(point_row, first + j, sum[j]);
    });
  }
};

/// Where part `part` of `parts` begins if rows are shared so that all have about as many entries
/// and rows together: an entry costs about what a row does beside its entries. The end for `part` =
/// `parts`.
inline Offset firstRowOfPart(const Offset* row_map, Offset num_rows, Offset part, Offset parts) {
  const Offset work = row_map[num_rows] - row_map[0] + num_rows;
  const Offset before = work / parts * part + work % parts * part / parts;
  Offset low = 0, high = num_rows;
  while (low < high) {
    const Offset middle = low + (high - low) / 2;
    if (row_map[middle] - row_map[0] + middle < before)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// The same sums on hosts, many block rows at once: what the rows have in common stays in
/// registers, and a row in the cache for all right-hand sides.
template <int BS, int Columns, class MatrixScalar, class Scalar, class Device, class ColumnIndices>
struct RowRunSpmvKernel {
  KernelArray<const Offset> row_map;
  ColumnIndices column;
  KernelArray<const MatrixScalar> values;
  KernelColumns<const Scalar> x;
  Epilogue<Scalar, Device> epilogue;
  KernelStep<Scalar> step;
  Ordinal num_rows;
  Offset first_column;
  Offset longest; ///< rows with more blocks are left to LongRowKernel
  Offset parts;   ///< of equal work, which an item is one of; 0: an item is a run of rows

  static constexpr Offset run = 32;
  /// Sums of a row of scalars that are kept apart, so that an addition does not wait for the last
  /// one. With values of 16 bits that gains nothing: converting them takes longer than the sums.
  static constexpr int strands = BS == 1 && sizeof(MatrixScalar) > 2 ? 4 : 1;

  void operator()(const Offset item) const {
    const Offset first =
        parts > 0 ? firstRowOfPart(row_map.data(), num_rows, item, parts) : item * run;
    const Offset last = parts > 0 ? firstRowOfPart(row_map.data(), num_rows, item + 1, parts)
                        : first + run < num_rows ? first + run
                                                 : num_rows;
    // The step follows each run of rows, whose x and w are in the cache by then.
    const Offset at_once = step.exists() ? run : last - first;
    for (Offset begin = first; begin < last; begin += at_once) {
      const Offset end = begin + at_once < last ? begin + at_once : last;
      addRows(begin, end);
      if (step.exists())
        takeStep(begin, end);
    }
  }

private:
  void addRows(Offset first, Offset last) const {
    if (epilogue.beta == Scalar(0) && epilogue.gamma == Scalar(0)) {
      const Scalar alpha = epilogue.alpha;
      const Offset stride = epilogue.y.stride();
      Scalar* y = epilogue.y.data() + first_column * stride;
      rows(first, last,
           [=](Offset point_row, int j, Scalar sum) { y[point_row + j * stride] = alpha * sum; });
    } else {
      rows(first, last, [this](Offset point_row, int j, Scalar sum) {
        epilogue.store(point_row, first_column + j, sum);
      });
    }
  }

  void takeStep(Offset first, Offset last) const {
    const int columns = columnsFrom<Columns>(x, first_column);
    for (int j = 0; j < columns; ++j)
      step.takeRun(x, first * BS, last * BS, first_column + j);
  }

  /// A call for a run costs little; inlined, every launch would have it once for each way in which
  /// threads may share the runs.
  template <class Store>
  void rows(Offset first, Offset last, const Store& store) const {
    const Offset* ends = row_map.data() + 1;
    const ColumnIndices columns = column;
    const MatrixScalar* blocks = values.data();
    const Offset stride = x.stride();
    const Scalar* x_first = x.data() + first_column * stride;
    const int right_hand_sides = columnsFrom<Columns>(x, first_column);
    const Offset most = longest;
    Offset begin = first < last ? ends[first - 1] : 0;
    for (Offset row = first; row < last; ++row) {
      const Offset end = ends[row];
      if (end - begin <= most) {
        prefetchRow(columns.stored.data(), blocks, begin, end, BS * BS);
        for (int j = 0; j < right_hand_sides; ++j) {
          Scalar sum[BS] = {};
          addRow(columns, blocks, row, begin, end, x_first + j * stride, sum);
          for (int r = 0; r < BS; ++r)
            store(row * BS + r, j, sum[r]);
        }
      }
      begin = end;
    }
  }

  KOKKOS_INLINE_FUNCTION static void addRow(const ColumnIndices& columns,
                                            const MatrixScalar* blocks, Offset row, Offset begin,
                                            Offset end, const Scalar* x_j, Scalar* sum) {
    Offset k = begin;
    if constexpr (strands > 1) {
      Scalar apart[strands] = {};
      for (; k + strands <= end; k += strands)
        for (int s = 0; s < strands; ++s)
          apart[s] += Scalar(blocks[k + s]) * x_j[columns.at(row, k + s)];
      for (int s = 0; s < strands; ++s)
        sum[0] += apart[s];
    }
    for (; k < end; ++k) {
      const Scalar* x_k = x_j + columns.at(row, k) * BS;
      const MatrixScalar* block = blocks + k * (BS * BS);
      for (int c = 0; c < BS; ++c)
        for (int r = 0; r < BS; ++r)
          sum[r] += Scalar(block[r * BS + c]) * x_k[c];
    }
  }
};

/// The same sums of blocks on GPUs for one right-hand side, a thread a column of the blocks of a
/// row: neighbouring threads read neighbouring scalars, each of them one number of x a block. What
/// the threads of a row have is added in scratch memory, by a thread a point row.
template <int BS, class MatrixScalar, class Scalar, class Device>
struct ColumnSpmvKernel {
  KernelArray<const Offset> row_map;
  KernelArray<const Ordinal> entries;
  KernelArray<const MatrixScalar> values;
  KernelColumns<const Scalar> x;
  Epilogue<Scalar, Device> epilogue;
  KernelStep<Scalar> step;
  Ordinal num_rows;
  Offset column;  ///< of x and y
  Offset longest; ///< rows with more blocks are left to LongRowKernel

  static constexpr int team_rows = 32;
  static constexpr int team_size = team_rows * BS;
  static size_t scratchBytes() { return team_size * BS * sizeof(Scalar); }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    Scalar* sums =
        static_cast<Scalar*>(member.team_scratch(0).get_shmem(team_size * BS * sizeof(Scalar)));
    const int rank = member.team_rank();
    const int local_row = rank / BS, c = rank - local_row * BS;
    const Offset row = Offset(member.league_rank()) * team_rows + local_row;
    const Offset begin = row < num_rows ? row_map(row) : 0;
    const Offset end = row < num_rows ? row_map(row + 1) : 0;
    const bool mine = row < num_rows && end - begin <= longest;
    Scalar sum[BS] = {};
    if (mine)
      for (Offset k = begin; k < end; ++k) {
        const Scalar x_c = x(Offset(entries(k)) * BS + c, column);
        const MatrixScalar* block = &values(k * BS * BS + c);
        unrolled<BS>([&](int r) { sum[r] += Scalar(block[r * BS]) * x_c; });
      }
    unrolled<BS>([&](int r) { sums[(local_row * BS + r) * BS + c] = sum[r]; });
    member.team_barrier();
    if (mine) {
      Scalar total = 0;
      unrolled<BS>([&](int m) { total += sums[rank * BS + m]; });
      epilogue.store(row * BS + c, column, total);
    }
    if (row < num_rows)
      step.take(x, row * BS + c, column);
  }
};

/// The same sums of a scalar matrix on GPUs for one right-hand side, a team a range of rows: its
/// threads multiply the entries of the range in the order in which they are stored, then each adds
/// the products of one row, in that order. All accesses to the matrix are contiguous and no thread
/// loads a row much longer than its own; where all rows are short, a thread a row does with less.
template <class MatrixScalar, class Scalar, class Device>
struct StreamedSpmvKernel {
  KernelArray<const Offset> row_map;
  KernelArray<const Ordinal> entries;
  KernelArray<const MatrixScalar> values;
  KernelColumns<const Scalar> x;
  Epilogue<Scalar, Device> epilogue;
  KernelStep<Scalar> step;
  Ordinal num_rows;
  Offset column; ///< of x and y

  static constexpr int team_size = 128; ///< rows of a team, too
  static constexpr int per_thread = 8;  ///< products before they are added
  static constexpr int chunk = per_thread * team_size;

  static size_t scratchBytes() { return chunk * sizeof(Scalar); }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member) const {
    Scalar* products =
        static_cast<Scalar*>(member.team_scratch(0).get_shmem(chunk * sizeof(Scalar)));
    const int rank = member.team_rank();
    const Offset first = Offset(member.league_rank()) * team_size;
    const Offset last = first + team_size < num_rows ? first + team_size : num_rows;
    const Offset row = first + rank, end = row_map(last);
    const Offset row_begin = row < last ? row_map(row) : end;
    const Offset row_end = row < last ? row_map(row + 1) : end;
    Scalar sum = 0;
    for (Offset at = row_map(first); at < end; at += chunk) {
      const int count = static_cast<int>(end - at < chunk ? end - at : chunk);
      MatrixScalar a[per_thread];
      Ordinal columns[per_thread];
      unrolled<per_thread>([&](int v) {
        const int k = rank + v * team_size;
        if (k < count) {
          a[v] = values(at + k);
          columns[v] = entries(at + k);
        }
      });
      const int from = row_begin > at ? static_cast<int>(row_begin - at) : 0;
      const int to = row_end < at + count ? static_cast<int>(row_end - at) : count;
      unrolled<per_thread>([&](int v) {
        const int k = rank + v * team_size;
        if (k < count)
          products[k] = Scalar(a[v]) * x(columns[v], column);
      });
      member.team_barrier();
      for (int k = from; k < to; ++k)
        sum += products[k];
      member.team_barrier();
    }
    if (row < last) {
      epilogue.store(row, column, sum);
      step.take(x, row, column);
    }
  }
};

/// y_i = alpha op(D_i) x_i + beta y_i, one point row a thread on GPUs, a run of them on hosts. BS =
/// 0: block size known at run time.
template <int BS, class MatrixScalar, class Scalar, class Device>
struct BlockDiagonalKernel {
  Trans trans;
  Scalar alpha, beta;
  KernelArray<const MatrixScalar> blocks;
  KernelColumns<const Scalar> x;
  KernelColumns<Scalar> y;
  Offset num_rows;
  int block_size;

  static constexpr Offset run = compat::IsGpu<typename Device::execution_space>::value ? 1 : 256;

  KOKKOS_FUNCTION void operator()(const Offset item) const {
    const Offset first = item * run, last = first + run < num_rows ? first + run : num_rows;
    for (Offset j = 0; j < x.numColumns(); ++j) {
      const Scalar* x_j = x.data() + j * x.stride();
      Scalar* y_j = y.data() + j * y.stride();
      if (beta == Scalar(0))
        rows(first, last, x_j, [=](Offset i, Scalar product) { y_j[i] = product; });
      else
        rows(first, last, x_j,
             [=, b = beta](Offset i, Scalar product) { y_j[i] = product + b * y_j[i]; });
    }
  }

  template <class Store>
  KOKKOS_INLINE_FUNCTION void rows(Offset first, Offset last, const Scalar* x_j,
                                   const Store& store) const {
    const int bs = BS > 0 ? BS : block_size;
    const int down = trans == Trans::No ? bs : 1, right = trans == Trans::No ? 1 : bs;
    const MatrixScalar* d = blocks.data();
    const Scalar a = alpha;
    for (Offset i = first; i < last; ++i) {
      const Offset row = i / bs;
      const MatrixScalar* d_i = d + row * bs * bs + (i - row * bs) * down;
      const Scalar* x_i = x_j + row * bs;
      Scalar sum = 0;
      for (int c = 0; c < bs; ++c)
        sum += Scalar(d_i[c * right]) * x_i[c];
      store(i, a * sum);
    }
  }
};

} // namespace detail
} // namespace ainvil
