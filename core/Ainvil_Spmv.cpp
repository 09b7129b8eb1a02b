// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Spmv.hpp"

#include "Ainvil_RowTeams.hpp"

#include <cstdint>

namespace ainvil {
namespace {

using detail::Range;

/// What becomes of a row sum s at position (row, column): y = alpha s + beta u + gamma v.
/// A factor 0 reads nothing, so NaN there does not spread.
template <class Scalar, class Device>
struct Epilogue {
  Scalar alpha, beta, gamma;
  MultiVectorArg<const Scalar, Device> u, v;
  MultiVectorArg<Scalar, Device> y;

  KOKKOS_INLINE_FUNCTION Scalar value(Offset row, Offset column, Scalar sum) const {
    Scalar result = alpha * sum;
    if (beta != Scalar(0))
      result += beta * u(row, column);
    if (gamma != Scalar(0))
      result += gamma * v(row, column);
    return result;
  }
  KOKKOS_INLINE_FUNCTION void store(Offset row, Offset column, Scalar sum) const {
    y(row, column) = value(row, column, sum);
  }
};

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

/// s(i, r) = sum over blocks k of row i, c < bs of A_k(r, c) x(col_k * bs + c), for Rows
/// consecutive r of a block row and Columns right-hand sides. On a GPU one thread takes one point
/// row: neighbouring threads read neighbouring rows of a block, so that a warp uses every sector it
/// fetches; no reduction, no lane idles on short rows. On a host one iteration takes the whole
/// block row. BS = 0: block size known at run time.
template <int BS, int Rows, int Columns, class MatrixScalar, class Scalar, class Device>
struct SpmvKernel {
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<const Ordinal*, Device> entries;
  Kokkos::View<const MatrixScalar*, Device> values;
  MultiVectorArg<const Scalar, Device> x;
  Epilogue<Scalar, Device> epilogue;
  int block_size;
  Offset first_column;
  Offset longest; ///< rows with more blocks are left to LongRowKernel
  bool aligned;   ///< values and x may be read in packets

  /// Values of 16 bits in blocks whose rows are as long as a power of two; longer ones gain
  /// nothing.
  static constexpr bool has_packets = sizeof(MatrixScalar) == 2 && Rows == 1 && Columns == 1 &&
                                      BS > 1 && (BS & (BS - 1)) == 0;

  KOKKOS_FUNCTION void operator()(const Offset item) const {
    const int bs = BS > 0 ? BS : block_size;
    const Offset point_row = item * Rows;
    const Offset row = point_row / bs;
    const int r = static_cast<int>(point_row - row * bs);
    Scalar sum[Rows][Columns] = {};
    const Offset begin = row_map(row), end = row_map(row + 1);
    if (end - begin > longest)
      return;
    for (Offset k = begin; k < end; ++k) {
      const Offset x_row = Offset(entries(k)) * bs;
      const MatrixScalar* block = &values(k * bs * bs + r * bs);
      if constexpr (has_packets)
        if (aligned) {
          const auto a_k = Packet<MatrixScalar, BS>::load(block);
          const auto x_k = Packet<Scalar, BS>::load(&x(x_row, first_column));
          for (int c = 0; c < BS; ++c)
            sum[0][0] += Scalar(a_k.values[c]) * x_k.values[c];
          continue;
        }
      for (int c = 0; c < bs; ++c)
        for (int j = 0; j < Columns; ++j) {
          const Scalar x_c = x(x_row + c, first_column + j);
          for (int q = 0; q < Rows; ++q)
            sum[q][j] += Scalar(block[q * bs + c]) * x_c;
        }
    }
    for (int q = 0; q < Rows; ++q)
      for (int j = 0; j < Columns; ++j)
        epilogue.store(point_row + q, first_column + j, sum[q][j]);
  }
};

/// The same sums of a scalar matrix on GPUs, a team a range of rows: its threads multiply the
/// entries of the range in the order in which they are stored, then each adds the products of one
/// row, in that order. All accesses to the matrix are contiguous and no thread loads a row much
/// longer than its own; where all rows are short, a thread a row does with less.
template <class MatrixScalar, class Scalar, class Device>
struct StreamedSpmvKernel {
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<const Ordinal*, Device> entries;
  Kokkos::View<const MatrixScalar*, Device> values;
  MultiVectorArg<const Scalar, Device> x;
  Epilogue<Scalar, Device> epilogue;
  Ordinal num_rows;
  Offset column;

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
      AINVIL_UNROLL
      for (int v = 0; v < per_thread; ++v) {
        const int k = rank + v * team_size;
        if (k < count) {
          a[v] = values(at + k);
          columns[v] = entries(at + k);
        }
      }
      AINVIL_UNROLL
      for (int v = 0; v < per_thread; ++v) {
        const int k = rank + v * team_size;
        if (k < count)
          products[k] = Scalar(a[v]) * x(columns[v], column);
      }
      member.team_barrier();
      const int from = row_begin > at ? static_cast<int>(row_begin - at) : 0;
      const int to = row_end < at + count ? static_cast<int>(row_end - at) : count;
      for (int k = from; k < to; ++k)
        sum += products[k];
      member.team_barrier();
    }
    if (row < last)
      epilogue.store(row, column, sum);
  }
};

/// A segment of a long row.
struct Segment {
  Ordinal owner, row, count; ///< position in the list of long rows, row, segments of the row
  Offset begin;              ///< first block
  int length;                ///< blocks

  template <class Device>
  KOKKOS_INLINE_FUNCTION static Segment at(const typename LongRows<Device>::Segments& segments,
                                           const Kokkos::View<const Offset*, Device>& row_map,
                                           Ordinal s) {
    constexpr Offset full = LongRows<Device>::segment_length;
    const Ordinal owner = segments.owner(s);
    const Ordinal row = segments.rows(owner);
    const Ordinal first = segments.first_segment(owner);
    const Offset begin = row_map(row) + (s - first) * full;
    const Offset rest = row_map(row + 1) - begin;
    return {owner, row, segments.first_segment(owner + 1) - first, begin,
            static_cast<int>(rest < full ? rest : full)};
  }
};

/// The product of SpmvKernel for the long rows: a warp sums a segment of a row, its lanes the
/// scalars of the segment; the warp that finishes a row last adds its segments' sums in order. In
/// place x is y, of which other warps write rows meanwhile: each entry is read as it is then.
template <bool InPlace, class MatrixScalar, class Scalar, class Device>
struct LongRowKernel {
  typename LongRows<Device>::Segments segments;
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<const Ordinal*, Device> entries;
  Kokkos::View<const MatrixScalar*, Device> values;
  MultiVectorArg<const Scalar, Device> x;
  Epilogue<Scalar, Device> epilogue;
  int bs;
  Offset first_column;
  int columns;

  static constexpr int tile = LongRows<Device>::column_tile;

  KOKKOS_INLINE_FUNCTION double* partial(Ordinal s, int r, int j) const {
    return &segments.partials((Offset(s) * bs + r) * tile + j);
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
              partial_sum += double(values((at * bs + r) * bs + c)) *
                             double(xAt(Offset(entries(at)) * bs + c, first_column + j));
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
          last = Kokkos::atomic_fetch_add(&segments.arrived(segment.owner), 1) == segment.count - 1;
        },
        is_last);
    if (is_last == 0)
      return;
    Kokkos::memory_fence();
    const Ordinal first = segments.first_segment(segment.owner);
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
    Kokkos::single(Kokkos::PerThread(member), [&]() { segments.arrived(segment.owner) = 0; });
  }
};

/// y(col_k * bs + c) += alpha sum over r of A_k(r, c) x(i * bs + r), one block row a thread.
template <class MatrixScalar, class Scalar, class Device>
struct TransposedSpmvKernel {
  Kokkos::View<const Offset*, Device> row_map;
  Kokkos::View<const Ordinal*, Device> entries;
  Kokkos::View<const MatrixScalar*, Device> values;
  Scalar alpha;
  MultiVectorArg<const Scalar, Device> x;
  MultiVectorArg<Scalar, Device> y;
  int bs;
  Offset longest; ///< rows with more blocks are worked on by segments
  typename LongRows<Device>::Segments segments;

  KOKKOS_INLINE_FUNCTION void addBlock(Offset row, Offset k) const {
    for (int c = 0; c < bs; ++c)
      for (Offset j = 0; j < Offset(x.extent(1)); ++j) {
        Scalar sum = 0;
        for (int r = 0; r < bs; ++r)
          sum += Scalar(values((k * bs + r) * bs + c)) * x(row * bs + r, j);
        Kokkos::atomic_add(&y(Offset(entries(k)) * bs + c, j), alpha * sum);
      }
  }

  KOKKOS_FUNCTION void operator()(const Offset row) const {
    const Offset begin = row_map(row), end = row_map(row + 1);
    if (end - begin <= longest)
      for (Offset k = begin; k < end; ++k)
        addBlock(row, k);
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal s, void*) const {
    const Segment segment = Segment::at<Device>(segments, row_map, s);
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, segment.length),
                         [&](const int k) { addBlock(segment.row, segment.begin + k); });
  }
};

/// y_i = alpha op(D_i) x_i + beta y_i, one point row a thread. BS = 0: block size known at run
/// time.
template <int BS, class MatrixScalar, class Scalar, class Device>
struct BlockDiagonalKernel {
  Trans trans;
  Scalar alpha, beta;
  Kokkos::View<const MatrixScalar*, Device> blocks;
  MultiVectorArg<const Scalar, Device> x;
  MultiVectorArg<Scalar, Device> y;
  int block_size;

  KOKKOS_FUNCTION void operator()(const Offset point_row) const {
    const int bs = BS > 0 ? BS : block_size;
    const Offset row = point_row / bs;
    const int r = static_cast<int>(point_row - row * bs);
    const Offset stride = trans == Trans::No ? 1 : bs;
    const Offset first = row * bs * bs + (trans == Trans::No ? r * bs : r);
    for (Offset j = 0; j < Offset(x.extent(1)); ++j) {
      Scalar sum = 0;
      for (int c = 0; c < bs; ++c)
        sum += Scalar(blocks(first + c * stride)) * x(row * bs + c, j);
      y(point_row, j) = alpha * sum + (beta != Scalar(0) ? beta * y(point_row, j) : Scalar(0));
    }
  }
};

void checkShapes(const char* what, Offset rows, Offset columns, size_t x_rows, size_t y_rows,
                 size_t x_columns, size_t y_columns) {
  if (Offset(x_rows) != columns || Offset(y_rows) != rows || x_columns != y_columns)
    throw InvalidArgument(message(what, " maps ", columns, " to ", rows, " unknowns, but x is ",
                                  x_rows, " x ", x_columns, " and y is ", y_rows, " x ",
                                  y_columns));
}

void checkSameShape(const char* name, size_t rows, size_t columns, size_t y_rows,
                    size_t y_columns) {
  if (rows != y_rows || columns != y_columns)
    throw InvalidArgument(
        message(name, " is ", rows, " x ", columns, ", but y is ", y_rows, " x ", y_columns));
}

template <int BS, int Columns, class MatrixScalar, class Scalar, class Device>
void launchSpmv(const typename Device::execution_space& exec,
                const BsrMatrix<MatrixScalar, Device>& a,
                const MultiVectorArg<const Scalar, Device>& x,
                const Epilogue<Scalar, Device>& epilogue, Offset first_column, Offset longest) {
  using Exec = typename Device::execution_space;
  constexpr int rows = BS > 0 && !compat::IsGpu<Exec>::value ? BS : 1;
  using Kernel = SpmvKernel<BS, rows, Columns, MatrixScalar, Scalar, Device>;
  bool aligned = false;
  if constexpr (Kernel::has_packets)
    aligned = Packet<MatrixScalar, BS>::isAligned(a.values.data()) &&
              Packet<Scalar, BS>::isAligned(x.data() + first_column * Offset(x.stride(1)));
  Kokkos::parallel_for("Ainvil::spmv", Range<Exec>(exec, 0, a.numPointRows() / rows),
                       Kernel{a.graph.row_map, a.graph.entries, a.values, x, epilogue, a.block_size,
                              first_column, longest, aligned});
}

/// True for rows that a thread each would take its time over on a GPU, none of them longer than a
/// thread can add up meanwhile.
template <class MatrixScalar, class Device>
bool isWorthStreaming(const BsrMatrix<MatrixScalar, Device>& a, const LongRows<Device>& long_rows) {
  const Ordinal longest = long_rows.longest();
  return a.block_size == 1 && longest > 0 && longest <= 1024 &&
         (longest > 24 || a.graph.meanRowLength() > 8);
}

template <class MatrixScalar, class Scalar, class Device>
void launchStreamedSpmv(const typename Device::execution_space& exec,
                        const BsrMatrix<MatrixScalar, Device>& a,
                        const MultiVectorArg<const Scalar, Device>& x,
                        const Epilogue<Scalar, Device>& epilogue, Offset column) {
  using Kernel = StreamedSpmvKernel<MatrixScalar, Scalar, Device>;
  const Ordinal teams = a.numRows() / Kernel::team_size + (a.numRows() % Kernel::team_size > 0);
  Kokkos::TeamPolicy<typename Device::execution_space> policy(exec, teams, Kernel::team_size);
  policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratchBytes() + 16));
  Kokkos::parallel_for(
      "Ainvil::spmv[streamed]", policy,
      Kernel{a.graph.row_map, a.graph.entries, a.values, x, epilogue, a.numRows(), column});
}

/// A warp a segment.
template <class Exec>
detail::RowTeams segmentTeams() {
  return detail::RowTeams::forWork<Exec>(1024);
}

/// The first columns of the product.
template <bool InPlace, class MatrixScalar, class Scalar, class Device>
void launchLongRows(const typename Device::execution_space& exec,
                    const BsrMatrix<MatrixScalar, Device>& a,
                    const MultiVectorArg<const Scalar, Device>& x,
                    const Epilogue<Scalar, Device>& epilogue, const LongRows<Device>& long_rows,
                    Offset columns) {
  using Kernel = LongRowKernel<InPlace, MatrixScalar, Scalar, Device>;
  if (long_rows.numSegments() > 0)
    for (Offset j = 0; j < columns; j += Kernel::tile)
      detail::forEachRow(exec, "Ainvil::spmv[long rows]", long_rows.numSegments(),
                         segmentTeams<typename Device::execution_space>(),
                         Kernel{long_rows.segments(), a.graph.row_map, a.graph.entries, a.values, x,
                                epilogue, a.block_size, j,
                                static_cast<int>(std::min<Offset>(Kernel::tile, columns - j))});
}

template <class MatrixScalar, class Scalar, class Device>
void product(const typename Device::execution_space& exec, const BsrMatrix<MatrixScalar, Device>& a,
             const MultiVectorArg<const Scalar, Device>& x,
             const Epilogue<Scalar, Device>& epilogue, const LongRows<Device>& long_rows) {
  checkShapes("a product", a.numPointRows(), a.numPointCols(), x.extent(0), epilogue.y.extent(0),
              x.extent(1), epilogue.y.extent(1));
  // Four columns at a time share one pass over the matrix; what remains goes one by one.
  constexpr int tile = 4;
  const Offset columns = x.extent(1);
  Offset j = 0;
  for (; j + tile <= columns; j += tile)
    launchSpmv<0, tile>(exec, a, x, epilogue, j, long_rows.limit());
  if constexpr (compat::IsGpu<typename Device::execution_space>::value)
    if (isWorthStreaming(a, long_rows)) {
      launchLongRows<false>(exec, a, x, epilogue, long_rows, j);
      for (; j < columns; ++j)
        launchStreamedSpmv(exec, a, x, epilogue, j);
      return;
    }
  for (; j < columns; ++j)
    detail::dispatchBlockSize(a.block_size, [&](auto bs) {
      launchSpmv<decltype(bs)::value, 1>(exec, a, x, epilogue, j, long_rows.limit());
    });
  launchLongRows<false>(exec, a, x, epilogue, long_rows, columns);
}

} // namespace

template <class MatrixScalar, class Scalar, class Device>
void spmv(const typename Device::execution_space& exec, Trans trans, Scalar alpha,
          const BsrMatrix<MatrixScalar, Device>& a, MultiVectorArg<const Scalar, Device> x,
          Scalar beta, MultiVectorArg<Scalar, Device> y, const LongRows<Device>& long_rows) {
  using Exec = typename Device::execution_space;
  if (trans == Trans::No) {
    product(exec, a, x, Epilogue<Scalar, Device>{alpha, beta, Scalar(0), y, y, y}, long_rows);
    return;
  }
  checkShapes("a transposed product", a.numPointCols(), a.numPointRows(), x.extent(0), y.extent(0),
              x.extent(1), y.extent(1));
  // x has another shape than y, so y stands in for it.
  axpby<Scalar, Device>(exec, Scalar(0), y, beta, y);
  const TransposedSpmvKernel<MatrixScalar, Scalar, Device> kernel{
      a.graph.row_map,   a.graph.entries,     a.values, alpha, x, y, a.block_size,
      long_rows.limit(), long_rows.segments()};
  Kokkos::parallel_for("Ainvil::spmv[transposed]", Range<Exec>(exec, 0, a.numRows()), kernel);
  detail::forEachRow(exec, "Ainvil::spmv[transposed long rows]", long_rows.numSegments(),
                     segmentTeams<Exec>(), kernel);
}

template <class MatrixScalar, class Scalar, class Device>
void spmvAdd(const typename Device::execution_space& exec, Scalar alpha,
             const BsrMatrix<MatrixScalar, Device>& a, MultiVectorArg<const Scalar, Device> x,
             Scalar beta, MultiVectorArg<const Scalar, Device> u, Scalar gamma,
             MultiVectorArg<const Scalar, Device> v, MultiVectorArg<Scalar, Device> y,
             const LongRows<Device>& long_rows) {
  if (beta != Scalar(0))
    checkSameShape("u", u.extent(0), u.extent(1), y.extent(0), y.extent(1));
  if (gamma != Scalar(0))
    checkSameShape("v", v.extent(0), v.extent(1), y.extent(0), y.extent(1));
  product(exec, a, x, Epilogue<Scalar, Device>{alpha, beta, gamma, u, v, y}, long_rows);
}

template <class MatrixScalar, class Scalar, class Device>
void spmvAddLongRows(const typename Device::execution_space& exec, Scalar alpha,
                     const BsrMatrix<MatrixScalar, Device>& a,
                     MultiVectorArg<const Scalar, Device> x, Scalar beta,
                     MultiVectorArg<const Scalar, Device> u, Scalar gamma,
                     MultiVectorArg<const Scalar, Device> v, MultiVectorArg<Scalar, Device> y,
                     const LongRows<Device>& long_rows) {
  launchLongRows<true>(exec, a, x, Epilogue<Scalar, Device>{alpha, beta, gamma, u, v, y}, long_rows,
                       x.extent(1));
}

template <class MatrixScalar, class Scalar, class Device>
void blockDiagonalProduct(const typename Device::execution_space& exec, Trans trans, Scalar alpha,
                          const Kokkos::View<MatrixScalar*, Device>& blocks, int block_size,
                          MultiVectorArg<const Scalar, Device> x, Scalar beta,
                          MultiVectorArg<Scalar, Device> y) {
  using Exec = typename Device::execution_space;
  if (block_size < 1 || blocks.extent(0) % (size_t(block_size) * block_size) != 0)
    throw InvalidArgument(message(blocks.extent(0), " values are no blocks of size ", block_size));
  const Offset n = blocks.extent(0) / block_size;
  checkShapes("a block diagonal", n, n, x.extent(0), y.extent(0), x.extent(1), y.extent(1));
  detail::dispatchBlockSize(block_size, [&](auto bs) {
    using Kernel = BlockDiagonalKernel<decltype(bs)::value, MatrixScalar, Scalar, Device>;
    Kokkos::parallel_for("Ainvil::blockDiagonalProduct", Range<Exec>(exec, 0, n),
                         Kernel{trans, alpha, beta, blocks, x, y, block_size});
  });
}

template <class Scalar, class Device>
void axpby(const typename Device::execution_space& exec, Scalar alpha,
           MultiVectorArg<const Scalar, Device> x, Scalar beta, MultiVectorArg<Scalar, Device> y) {
  using Exec = typename Device::execution_space;
  if (alpha != Scalar(0))
    checkSameShape("x", x.extent(0), x.extent(1), y.extent(0), y.extent(1));
  const Offset columns = y.extent(1);
  Kokkos::parallel_for(
      "Ainvil::axpby", Range<Exec>(exec, 0, y.extent(0)), KOKKOS_LAMBDA(const Offset i) {
        for (Offset j = 0; j < columns; ++j) {
          const Scalar a_x = alpha != Scalar(0) ? alpha * x(i, j) : Scalar(0);
          y(i, j) = a_x + (beta != Scalar(0) ? beta * y(i, j) : Scalar(0));
        }
      });
}

#define AINVIL_INSTANTIATE_TYPES(MATRIX, SCALAR, DEVICE)                                           \
  template void spmv<MATRIX, SCALAR, DEVICE>(                                                      \
      const typename DEVICE::execution_space&, Trans, SCALAR, const BsrMatrix<MATRIX, DEVICE>&,    \
      MultiVectorArg<const SCALAR, DEVICE>, SCALAR, MultiVectorArg<SCALAR, DEVICE>,                \
      const LongRows<DEVICE>&);                                                                    \
  template void spmvAdd<MATRIX, SCALAR, DEVICE>(                                                   \
      const typename DEVICE::execution_space&, SCALAR, const BsrMatrix<MATRIX, DEVICE>&,           \
      MultiVectorArg<const SCALAR, DEVICE>, SCALAR, MultiVectorArg<const SCALAR, DEVICE>, SCALAR,  \
      MultiVectorArg<const SCALAR, DEVICE>, MultiVectorArg<SCALAR, DEVICE>,                        \
      const LongRows<DEVICE>&);                                                                    \
  template void spmvAddLongRows<MATRIX, SCALAR, DEVICE>(                                           \
      const typename DEVICE::execution_space&, SCALAR, const BsrMatrix<MATRIX, DEVICE>&,           \
      MultiVectorArg<const SCALAR, DEVICE>, SCALAR, MultiVectorArg<const SCALAR, DEVICE>, SCALAR,  \
      MultiVectorArg<const SCALAR, DEVICE>, MultiVectorArg<SCALAR, DEVICE>,                        \
      const LongRows<DEVICE>&);                                                                    \
  template void blockDiagonalProduct<MATRIX, SCALAR, DEVICE>(                                      \
      const typename DEVICE::execution_space&, Trans, SCALAR,                                      \
      const Kokkos::View<MATRIX*, DEVICE>&, int, MultiVectorArg<const SCALAR, DEVICE>, SCALAR,     \
      MultiVectorArg<SCALAR, DEVICE>);
#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template void axpby<double, DEVICE>(const typename DEVICE::execution_space&, double,             \
                                      MultiVectorArg<const double, DEVICE>, double,                \
                                      MultiVectorArg<double, DEVICE>);                             \
  template void axpby<float, DEVICE>(const typename DEVICE::execution_space&, float,               \
                                     MultiVectorArg<const float, DEVICE>, float,                   \
                                     MultiVectorArg<float, DEVICE>);                               \
  AINVIL_INSTANTIATE_TYPES(double, double, DEVICE)                                                 \
  AINVIL_INSTANTIATE_TYPES(float, double, DEVICE)                                                  \
  AINVIL_INSTANTIATE_TYPES(BFloat16, double, DEVICE)                                               \
  AINVIL_INSTANTIATE_TYPES(float, float, DEVICE)                                                   \
  AINVIL_INSTANTIATE_TYPES(BFloat16, float, DEVICE)
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
