// SPDX-License-Identifier: BSD-3-Clause
#include "product/Ainvil_Spmv.hpp"

#include "backend/Ainvil_RowTeams.hpp"
#include "product/Ainvil_LongRowKernels.hpp"
#include "product/Ainvil_ProductPlan.hpp"

namespace ainvil {
namespace {

using detail::Epilogue;
using detail::KernelStep;
using detail::most_columns;
using detail::ProductKernel;
using detail::Range;
using detail::withinArguments;

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

/// Scalar matrices whose rows have more bytes than this on average are streamed on GPUs, and those
/// with a row of more than `longest_by_threads`, as long as none is longer than a team multiplies
/// at once. A thread a row suffers twice from longer rows. Its loads lie a row apart, so a warp
/// comes back to a sector only as many steps later as a sector has entries, if the L1 cache has
/// kept it so long: the 2048 threads of a multiprocessor read 12 bytes an entry, 192 KiB for rows
/// of 8 and values in double, and the cache has 256 KiB (H100, H200). And a warp takes as long as
/// its longest row: one of 24 entries makes it wait three times as long as those of 8 do. Measured
/// are matrices far from both numbers: rows of 20 to 240 entries take a half to a third of the time
/// if they are streamed (docs/results/ainv.md), short ones more (commit e338c10); in bfloat16, of 6
/// bytes an entry, rows of 14 three quarters of it by threads, rows of 60 three times as much
/// (docs/results/decisions.md).
constexpr double mean_bytes_by_threads = 96;
constexpr Ordinal longest_by_threads = 24; ///< see mean_bytes_by_threads

/// A matrix of blocks of 2 or 3 takes a thread a column on GPUs if it has more bytes than this:
/// what comes out of the L2 cache (50 MB on an H200) comes faster to a thread a point row. Measured
/// with 600 and 700 MB: a tenth less time; smaller ones lose (docs/results/products.md and
/// docs/results/targets.md).
constexpr Offset most_cached_bytes = Offset(1) << 27;

/// Blocks that may take a thread a column. Their rows have 16 or 24 bytes, less than the 32 of a
/// sector, the least that a cache delivers: threads a point row fetch each sector two or three
/// times. With values of lower precision that takes more time than it saves, with larger blocks
/// the sums in scratch memory do.
template <int BS, class MatrixScalar, class Device>
constexpr bool may_take_columns = compat::IsGpu<typename Device::execution_space>::value &&
                                  (BS == 2 || BS == 3) && sizeof(MatrixScalar) == 8;

/// Blocks whose point rows have two threads on GPUs where there are more right-hand sides than
/// half_of_columns: long rows of scalars gain most by it, larger blocks lose
/// (docs/results/decisions.md, "Several right-hand sides on GPUs").
template <int BS>
constexpr bool takes_groups = BS == 1 || BS == 2;
constexpr int half_of_columns = most_columns / 2;

/// Whether so many right-hand sides are streamed. Several are not: their time goes into x, which a
/// thread a row reads best. Measured where rows are about as long as each other
/// (docs/results/decisions.md); uneven rows were not.
template <class Device>
bool isStreamed(const detail::ProductPlan<Device>& plan, int count) {
  return compat::IsGpu<typename Device::execution_space>::value &&
         plan.kernel == ProductKernel::Streamed && count == 1;
}

/// Whether to read a matrix with columns of 16 bits where that fits: scalars, on GPUs with values
/// of as many, where a column of 32 is two thirds of an entry; on hosts with longer values, because
/// those of 16 bits are work to convert, and with rows whose entries take longer than what is
/// beside them (docs/results/decisions.md, "Columns of 16 bits"). It needs so many entries to be
/// worth the set-up: less takes a GPU no longer to read than a launch takes, and stays in the
/// caches of a host.
template <class Device>
bool wantsNearColumns(const Graph<Device>& graph, int block_size, std::size_t value_bytes) {
  constexpr bool on_gpu = compat::IsGpu<typename Device::execution_space>::value;
  constexpr Offset fewest_entries = Offset(1) << 20;
  constexpr double fewest_of_row = 12;
  return block_size == 1 && graph.numEntries() >= fewest_entries &&
         (on_gpu ? value_bytes == 2 : value_bytes > 2 && graph.meanRowLength() >= fewest_of_row);
}

/// Whether a kernel reads such columns; on hosts more right-hand sides share what is read.
template <int BS, int Columns, class MatrixScalar, class Device>
constexpr bool reads_near_columns = BS == 1 &&
                                    (compat::IsGpu<typename Device::execution_space>::value
                                         ? sizeof(MatrixScalar) == 2
                                         : sizeof(MatrixScalar) > 2 && Columns == 1);

/// For up to Columns right-hand sides, on GPUs up to twice as many.
template <int BS, int Columns, class MatrixScalar, class Scalar, class Device>
void launchPointRows(const typename Device::execution_space& exec,
                     const BsrMatrix<MatrixScalar, Device>& a,
                     const MultiVectorArg<const Scalar, Device>& x,
                     const Epilogue<Scalar, Device>& epilogue, const KernelStep<Scalar>& step,
                     Offset first_column, int count, const detail::ProductPlan<Device>& plan) {
  using Exec = typename Device::execution_space;
  const Offset longest = plan.long_rows.limit();
  const auto launch = [&](const auto& column) {
    using ColumnIndices = std::decay_t<decltype(column)>;
    if constexpr (BS > 0 && !compat::IsGpu<Exec>::value) {
      using Kernel =
          detail::RowRunSpmvKernel<BS, Columns, MatrixScalar, Scalar, Device, ColumnIndices>;
      // Threads take equal parts of the work; where rows are left out, equal numbers of rows.
      const Offset threads = exec.concurrency();
      const Offset parts = threads > 1 && plan.long_rows.numSegments() == 0 ? threads : 0;
      const Offset items =
          parts > 0 ? parts : (Offset(a.numRows()) + Kernel::run - 1) / Kernel::run;
      Kokkos::parallel_for(
          "Ainvil::spmv", Range<Exec>(exec, 0, items),
          withinArguments(Kernel{a.graph.row_map, column, a.values, x, epilogue, step, a.numRows(),
                                 first_column, longest, parts}));
    } else {
      using Kernel = detail::SpmvKernel<BS, Columns, MatrixScalar, Scalar, Device, ColumnIndices>;
      const Scalar* const first = x.data() + first_column * Offset(x.stride(1));
      const Offset point_rows = a.numPointRows();
      const bool has_groups = count > Columns;
      Kokkos::parallel_for(
          "Ainvil::spmv", Range<Exec>(exec, 0, Kernel::numItems(point_rows, has_groups)),
          withinArguments(Kernel{a.graph.row_map, column, a.values, x, epilogue, step, a.block_size,
                                 first_column, longest, Kernel::isAligned(a.values.data(), first),
                                 has_groups, point_rows}));
    }
  };
  if constexpr (reads_near_columns<BS, Columns, MatrixScalar, Device>)
    if (plan.near.exist()) {
      launch(detail::ShortColumns{plan.near.distances, plan.near.first});
      return;
    }
  launch(detail::GraphColumns{a.graph.entries});
}

/// A kernel of teams that take `team_rows` block rows each, and what it has behind its step.
template <class Kernel, class MatrixScalar, class Scalar, class Device, class... Rest>
void launchTeams(const char* label, const typename Device::execution_space& exec,
                 const BsrMatrix<MatrixScalar, Device>& a,
                 const MultiVectorArg<const Scalar, Device>& x,
                 const Epilogue<Scalar, Device>& epilogue, const KernelStep<Scalar>& step,
                 Ordinal team_rows, const Rest&... rest) {
  const Ordinal teams = a.numRows() / team_rows + (a.numRows() % team_rows > 0);
  Kokkos::TeamPolicy<typename Device::execution_space> policy(exec, teams, Kernel::team_size);
  policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratchBytes() + 16));
  Kokkos::parallel_for(label, policy,
                       withinArguments(Kernel{a.graph.row_map, a.graph.entries, a.values, x,
                                              epilogue, step, a.numRows(), rest...}));
}

/// `count` right-hand sides, at most most_columns, in one pass over the rows that are not long.
template <class MatrixScalar, class Scalar, class Device>
void launchRows(const typename Device::execution_space& exec,
                const detail::ProductPlan<Device>& plan, const BsrMatrix<MatrixScalar, Device>& a,
                const MultiVectorArg<const Scalar, Device>& x,
                const Epilogue<Scalar, Device>& epilogue, const KernelStep<Scalar>& step,
                Offset first_column, int count) {
  constexpr bool on_gpu = compat::IsGpu<typename Device::execution_space>::value;
  if constexpr (on_gpu)
    if (isStreamed(plan, count)) {
      using Kernel = detail::StreamedSpmvKernel<MatrixScalar, Scalar, Device>;
      launchTeams<Kernel>("Ainvil::spmv[streamed]", exec, a, x, epilogue, step, Kernel::team_size,
                          first_column);
      return;
    }
  detail::dispatchBlockSize(a.block_size, [&](auto bs) {
    constexpr int BS = decltype(bs)::value;
    const auto launch = [&](auto columns) {
      launchPointRows<BS, decltype(columns)::value>(exec, a, x, epilogue, step, first_column, count,
                                                    plan);
    };
    if constexpr (may_take_columns<BS, MatrixScalar, Device>)
      if (plan.kernel == ProductKernel::BlockColumns && count == 1) {
        using Kernel = detail::ColumnSpmvKernel<BS, MatrixScalar, Scalar, Device>;
        launchTeams<Kernel>("Ainvil::spmv[columns]", exec, a, x, epilogue, step, Kernel::team_rows,
                            first_column, plan.long_rows.limit());
        return;
      }
    constexpr int few = on_gpu ? half_of_columns : most_columns;
    constexpr int many = on_gpu && takes_groups<BS> ? half_of_columns : most_columns;
    if (count == 1)
      launch(std::integral_constant<int, 1>());
    else if (count <= few)
      launch(std::integral_constant<int, few>());
    else
      launch(std::integral_constant<int, many>());
  });
}

/// A warp a segment.
template <class Device>
detail::RowTeams segmentTeams() {
  return detail::RowTeams::forWork<typename Device::execution_space>(
      LongRows<Device>::segment_length);
}

/// For right-hand sides from `first_column` to before `end_column`.
template <bool InPlace, class MatrixScalar, class Scalar, class Device>
void launchLongRows(const typename Device::execution_space& exec, const LongRows<Device>& long_rows,
                    const BsrMatrix<MatrixScalar, Device>& a,
                    const MultiVectorArg<const Scalar, Device>& x,
                    const Epilogue<Scalar, Device>& epilogue, Offset first_column,
                    Offset end_column) {
  using Kernel = detail::LongRowKernel<InPlace, MatrixScalar, Scalar, Device>;
  if (long_rows.numSegments() == 0)
    return;
  const typename LongRows<Device>::Lease lease(long_rows, exec);
  for (Offset j = first_column; j < end_column; j += most_columns)
    detail::forEachRow(exec, "Ainvil::spmv[long rows]", long_rows.numSegments(),
                       segmentTeams<Device>(),
                       withinArguments<detail::most_body_bytes>(Kernel{
                           lease.segments(), a.graph.row_map.data(), a.graph.entries.data(),
                           a.values.data(), x, epilogue, a.block_size, j,
                           static_cast<int>(std::min<Offset>(most_columns, end_column - j))}));
}

template <class MatrixScalar, class Scalar, class Device>
void product(const typename Device::execution_space& exec, const detail::ProductPlan<Device>& plan,
             const BsrMatrix<MatrixScalar, Device>& a,
             const MultiVectorArg<const Scalar, Device>& x, const MultiVectorArg<Scalar, Device>& y,
             const Epilogue<Scalar, Device>& epilogue, const KernelStep<Scalar>& step = {}) {
  checkShapes("a product", a.numPointRows(), a.numPointCols(), x.extent(0), y.extent(0),
              x.extent(1), y.extent(1));
  const Offset columns = x.extent(1);
  Offset with_long_rows = 0; // right-hand sides whose long rows are left
  for (Offset j = 0; j < columns; j += most_columns) {
    const int count = static_cast<int>(std::min<Offset>(most_columns, columns - j));
    launchRows(exec, plan, a, x, epilogue, step, j, count);
    if (!isStreamed(plan, count))
      with_long_rows = j + count;
  }
  launchLongRows<false>(exec, plan.long_rows, a, x, epilogue, 0, with_long_rows);
}

/// The kernel that is fastest; `longest` is the longest row, or 0 if that is not known.
template <class Device>
ProductKernel chooseKernel(const Graph<Device>& graph, int block_size, std::size_t value_bytes,
                           Ordinal longest) {
  if constexpr (compat::IsGpu<typename Device::execution_space>::value) {
    constexpr Ordinal longest_streamed = detail::StreamedSpmvKernel<double, double, Device>::chunk;
    const double row_bytes = graph.meanRowLength() * double(value_bytes + sizeof(Ordinal));
    if (block_size == 1 && longest > 0 && longest <= longest_streamed &&
        (longest > longest_by_threads || row_bytes > mean_bytes_by_threads))
      return ProductKernel::Streamed;
    if ((block_size == 2 || block_size == 3) && value_bytes == 8 &&
        detail::productBytes(graph, block_size, value_bytes) > most_cached_bytes)
      return ProductKernel::BlockColumns;
  }
  return ProductKernel::PointRows;
}

} // namespace

template <class Device>
detail::ProductPlan<Device> detail::planProducts(const typename Device::execution_space& exec,
                                                 const Graph<Device>& graph, int block_size,
                                                 std::size_t value_bytes) {
  ProductPlan<Device> plan;
  plan.long_rows = LongRows<Device>(exec, graph, block_size);
  plan.kernel = chooseKernel(graph, block_size, value_bytes, plan.long_rows.longest());
  if (wantsNearColumns(graph, block_size, value_bytes) && plan.kernel == ProductKernel::PointRows)
    plan.near = nearColumns(exec, graph);
  return plan;
}

template <class MatrixScalar, class Scalar, class Device>
void detail::multiply(const typename Device::execution_space& exec, const ProductPlan<Device>& plan,
                      Trans trans, Scalar alpha, const BsrMatrix<MatrixScalar, Device>& a,
                      MultiVectorArg<const Scalar, Device> x, Scalar beta,
                      MultiVectorArg<Scalar, Device> y) {
  using Exec = typename Device::execution_space;
  if (trans == Trans::No) {
    product(exec, plan, a, x, y, Epilogue<Scalar, Device>{alpha, beta, Scalar(0), y, y, y});
    return;
  }
  checkShapes("a transposed product", a.numPointCols(), a.numPointRows(), x.extent(0), y.extent(0),
              x.extent(1), y.extent(1));
  // x has another shape than y, so y stands in for it.
  axpby<Scalar, Device>(exec, Scalar(0), y, beta, y);
  const auto& long_rows = plan.long_rows;
  const auto kernel =
      withinArguments<most_body_bytes>(TransposedSpmvKernel<MatrixScalar, Scalar, Device>{
          a.graph.row_map.data(), a.graph.entries.data(), a.values.data(), alpha, x, y,
          a.block_size, long_rows.limit(), long_rows.segments()});
  Kokkos::parallel_for("Ainvil::spmv[transposed]", Range<Exec>(exec, 0, a.numRows()), kernel);
  forEachRow(exec, "Ainvil::spmv[transposed long rows]", long_rows.numSegments(),
             segmentTeams<Device>(), kernel);
}

template <class MatrixScalar, class Scalar, class Device>
void detail::multiplyAdd(const typename Device::execution_space& exec,
                         const ProductPlan<Device>& plan, Scalar alpha,
                         const BsrMatrix<MatrixScalar, Device>& a,
                         MultiVectorArg<const Scalar, Device> x, Scalar beta,
                         MultiVectorArg<const Scalar, Device> u, Scalar gamma,
                         MultiVectorArg<const Scalar, Device> v, MultiVectorArg<Scalar, Device> y,
                         const Step<Scalar, Device>& step) {
  if (beta != Scalar(0))
    checkSameShape("u", u.extent(0), u.extent(1), y.extent(0), y.extent(1));
  if (gamma != Scalar(0))
    checkSameShape("v", v.extent(0), v.extent(1), y.extent(0), y.extent(1));
  if (step.w.data() != nullptr) {
    if (a.numRows() != a.graph.num_cols)
      throw InvalidArgument(message("a step along x beside a product needs a square matrix, but "
                                    "it has ",
                                    a.numRows(), " x ", a.graph.num_cols, " blocks"));
    checkSameShape("w", step.w.extent(0), step.w.extent(1), y.extent(0), y.extent(1));
  }
  product(exec, plan, a, x, y, Epilogue<Scalar, Device>{alpha, beta, gamma, u, v, y},
          KernelStep<Scalar>{step.delta, step.epsilon, step.w});
}

template <class MatrixScalar, class Scalar, class Device>
void detail::multiplyAddLongRows(const typename Device::execution_space& exec,
                                 const LongRows<Device>& long_rows, Scalar alpha,
                                 const BsrMatrix<MatrixScalar, Device>& a,
                                 MultiVectorArg<const Scalar, Device> x, Scalar beta,
                                 MultiVectorArg<const Scalar, Device> u, Scalar gamma,
                                 MultiVectorArg<const Scalar, Device> v,
                                 MultiVectorArg<Scalar, Device> y) {
  launchLongRows<true>(exec, long_rows, a, x, Epilogue<Scalar, Device>{alpha, beta, gamma, u, v, y},
                       0, x.extent(1));
}

template <class MatrixScalar, class Scalar, class Device>
void spmv(const typename Device::execution_space& exec, Trans trans, Scalar alpha,
          const BsrMatrix<MatrixScalar, Device>& a, MultiVectorArg<const Scalar, Device> x,
          Scalar beta, MultiVectorArg<Scalar, Device> y) {
  detail::ProductPlan<Device> plan;
  plan.kernel = chooseKernel(a.graph, a.block_size, sizeof(MatrixScalar), 0);
  detail::multiply(exec, plan, trans, alpha, a, x, beta, y);
}

template <class MatrixScalar, class Scalar, class Device>
void spmvAdd(const typename Device::execution_space& exec, Scalar alpha,
             const BsrMatrix<MatrixScalar, Device>& a, MultiVectorArg<const Scalar, Device> x,
             Scalar beta, MultiVectorArg<const Scalar, Device> u, Scalar gamma,
             MultiVectorArg<const Scalar, Device> v, MultiVectorArg<Scalar, Device> y) {
  detail::ProductPlan<Device> plan;
  plan.kernel = chooseKernel(a.graph, a.block_size, sizeof(MatrixScalar), 0);
  detail::multiplyAdd(exec, plan, alpha, a, x, beta, u, gamma, v, y, {});
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
                         Kernel{trans, alpha, beta, blocks, x, y, n, block_size});
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
  template void detail::multiply<MATRIX, SCALAR, DEVICE>(                                          \
      const typename DEVICE::execution_space&, const ProductPlan<DEVICE>&, Trans, SCALAR,          \
      const BsrMatrix<MATRIX, DEVICE>&, MultiVectorArg<const SCALAR, DEVICE>, SCALAR,              \
      MultiVectorArg<SCALAR, DEVICE>);                                                             \
  template void detail::multiplyAdd<MATRIX, SCALAR, DEVICE>(                                       \
      const typename DEVICE::execution_space&, const ProductPlan<DEVICE>&, SCALAR,                 \
      const BsrMatrix<MATRIX, DEVICE>&, MultiVectorArg<const SCALAR, DEVICE>, SCALAR,              \
      MultiVectorArg<const SCALAR, DEVICE>, SCALAR, MultiVectorArg<const SCALAR, DEVICE>,          \
      MultiVectorArg<SCALAR, DEVICE>, const Step<SCALAR, DEVICE>&);                                \
  template void detail::multiplyAddLongRows<MATRIX, SCALAR, DEVICE>(                               \
      const typename DEVICE::execution_space&, const LongRows<DEVICE>&, SCALAR,                    \
      const BsrMatrix<MATRIX, DEVICE>&, MultiVectorArg<const SCALAR, DEVICE>, SCALAR,              \
      MultiVectorArg<const SCALAR, DEVICE>, SCALAR, MultiVectorArg<const SCALAR, DEVICE>,          \
      MultiVectorArg<SCALAR, DEVICE>);                                                             \
  template void spmv<MATRIX, SCALAR, DEVICE>(                                                      \
      const typename DEVICE::execution_space&, Trans, SCALAR, const BsrMatrix<MATRIX, DEVICE>&,    \
      MultiVectorArg<const SCALAR, DEVICE>, SCALAR, MultiVectorArg<SCALAR, DEVICE>);               \
  template void spmvAdd<MATRIX, SCALAR, DEVICE>(                                                   \
      const typename DEVICE::execution_space&, SCALAR, const BsrMatrix<MATRIX, DEVICE>&,           \
      MultiVectorArg<const SCALAR, DEVICE>, SCALAR, MultiVectorArg<const SCALAR, DEVICE>, SCALAR,  \
      MultiVectorArg<const SCALAR, DEVICE>, MultiVectorArg<SCALAR, DEVICE>);                       \
  template void blockDiagonalProduct<MATRIX, SCALAR, DEVICE>(                                      \
      const typename DEVICE::execution_space&, Trans, SCALAR,                                      \
      const Kokkos::View<MATRIX*, DEVICE>&, int, MultiVectorArg<const SCALAR, DEVICE>, SCALAR,     \
      MultiVectorArg<SCALAR, DEVICE>);
#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template detail::ProductPlan<DEVICE> detail::planProducts(                                       \
      const typename DEVICE::execution_space&, const Graph<DEVICE>&, int, std::size_t);            \
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
