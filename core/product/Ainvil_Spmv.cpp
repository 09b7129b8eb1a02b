// SPDX-License-Identifier: BSD-3-Clause
#include "product/Ainvil_Spmv.hpp"

#include "backend/Ainvil_RowTeams.hpp"
#include "product/Ainvil_SpmvKernels.hpp"

namespace ainvil {
namespace {

using detail::Epilogue;
using detail::Range;

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
  if constexpr (BS > 0 && !compat::IsGpu<Exec>::value) {
    using Kernel = detail::RowRunSpmvKernel<BS, Columns, MatrixScalar, Scalar, Device>;
    const Offset items = (Offset(a.numRows()) + Kernel::run - 1) / Kernel::run;
    Kokkos::parallel_for("Ainvil::spmv", Range<Exec>(exec, 0, items),
                         Kernel{a.graph.row_map, a.graph.entries, a.values, x, epilogue,
                                a.numRows(), first_column, longest});
  } else {
    using Kernel = detail::SpmvKernel<BS, Columns, MatrixScalar, Scalar, Device>;
    bool aligned = false;
    if constexpr (Kernel::has_packets)
      aligned =
          detail::Packet<MatrixScalar, BS>::isAligned(a.values.data()) &&
          detail::Packet<Scalar, BS>::isAligned(x.data() + first_column * Offset(x.stride(1)));
    Kokkos::parallel_for("Ainvil::spmv", Range<Exec>(exec, 0, a.numPointRows()),
                         Kernel{a.graph.row_map, a.graph.entries, a.values, x, epilogue,
                                a.block_size, first_column, longest, aligned});
  }
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
  using Kernel = detail::StreamedSpmvKernel<MatrixScalar, Scalar, Device>;
  const Ordinal teams = a.numRows() / Kernel::team_size + (a.numRows() % Kernel::team_size > 0);
  Kokkos::TeamPolicy<typename Device::execution_space> policy(exec, teams, Kernel::team_size);
  policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratchBytes() + 16));
  Kokkos::parallel_for(
      "Ainvil::spmv[streamed]", policy,
      Kernel{a.graph.row_map, a.graph.entries, a.values, x, epilogue, a.numRows(), column});
}

/// Where rows of blocks are read in more sectors than they have: not in whole ones, and values of
/// lower precision leave too little to gain.
template <int BS, class MatrixScalar, class Device>
constexpr bool hasColumnSpmv = compat::IsGpu<typename Device::execution_space>::value &&
                               (BS == 2 || BS == 3) && sizeof(MatrixScalar) == 8;

/// What comes out of a cache comes faster to a thread a point row.
template <class MatrixScalar, class Device>
bool isBeyondCaches(const BsrMatrix<MatrixScalar, Device>& a) {
  constexpr Offset most = Offset(1) << 27;
  return a.bytes() > most;
}

template <int BS, class MatrixScalar, class Scalar, class Device>
void launchColumnSpmv(const typename Device::execution_space& exec,
                      const BsrMatrix<MatrixScalar, Device>& a,
                      const MultiVectorArg<const Scalar, Device>& x,
                      const Epilogue<Scalar, Device>& epilogue, Offset column, Offset longest) {
  using Kernel = detail::ColumnSpmvKernel<BS, MatrixScalar, Scalar, Device>;
  const Ordinal teams = a.numRows() / Kernel::team_rows + (a.numRows() % Kernel::team_rows > 0);
  Kokkos::TeamPolicy<typename Device::execution_space> policy(exec, teams, Kernel::team_size);
  policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratchBytes() + 16));
  Kokkos::parallel_for("Ainvil::spmv[columns]", policy,
                       Kernel{a.graph.row_map, a.graph.entries, a.values, x, epilogue, a.numRows(),
                              column, longest});
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
  using Kernel = detail::LongRowKernel<InPlace, MatrixScalar, Scalar, Device>;
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
  constexpr bool on_gpu = compat::IsGpu<typename Device::execution_space>::value;
  const Offset columns = x.extent(1);
  Offset j = 0;
  for (; j + tile <= columns; j += tile)
    if constexpr (on_gpu)
      launchSpmv<0, tile>(exec, a, x, epilogue, j, long_rows.limit());
    else
      detail::dispatchBlockSize(a.block_size, [&](auto bs) {
        launchSpmv<decltype(bs)::value, tile>(exec, a, x, epilogue, j, long_rows.limit());
      });
  if constexpr (on_gpu)
    if (isWorthStreaming(a, long_rows)) {
      launchLongRows<false>(exec, a, x, epilogue, long_rows, j);
      for (; j < columns; ++j)
        launchStreamedSpmv(exec, a, x, epilogue, j);
      return;
    }
  for (; j < columns; ++j)
    detail::dispatchBlockSize(a.block_size, [&](auto bs) {
      constexpr int BS = decltype(bs)::value;
      if constexpr (hasColumnSpmv<BS, MatrixScalar, Device>)
        if (isBeyondCaches(a)) {
          launchColumnSpmv<BS>(exec, a, x, epilogue, j, long_rows.limit());
          return;
        }
      launchSpmv<BS, 1>(exec, a, x, epilogue, j, long_rows.limit());
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
  const detail::TransposedSpmvKernel<MatrixScalar, Scalar, Device> kernel{
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
    using Kernel = detail::BlockDiagonalKernel<decltype(bs)::value, MatrixScalar, Scalar, Device>;
    const Offset items = (n + Kernel::run - 1) / Kernel::run;
    Kokkos::parallel_for("Ainvil::blockDiagonalProduct", Range<Exec>(exec, 0, items),
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
