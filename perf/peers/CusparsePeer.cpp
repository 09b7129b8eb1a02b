// SPDX-License-Identifier: BSD-3-Clause
#include "peers/CusparsePeer.hpp"

#include "peers/CusparseObjects.hpp"
#include "program/Measure.hpp"

namespace ainvil {
namespace perf {
namespace {

using namespace cusparse;

using Matrix = BsrMatrix<double, Device>;
using DeviceVector = Vector<double, Device>;

constexpr double zero = 0;

/// The default instance and a matrix, with row offsets as cuSPARSE's older functions want them.
class Context {
public:
  explicit Context(const Matrix& a)
      : handle(cusparseCreate), general(cusparseCreateMatDescr), rows(a.numRows()),
        entries(static_cast<int>(a.numEntries())), block_size(a.block_size), values(a.values),
        columns(a.graph.entries) {
    check(cusparseSetStream(handle, exec.cuda_stream()), "SetStream");
    row_offsets = narrowed(exec, a.graph);
  }

  /// Makes room for so many bytes.
  void grow(Buffer& buffer, size_t bytes) const {
    if (bytes > buffer.extent(0))
      buffer = Buffer(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, "Ainvil::perf"), bytes);
  }

  Exec exec;
  Handle handle;
  Description general;
  int rows, entries, block_size;
  Kokkos::View<double*, Device> values;
  Kokkos::View<const int*, Device> row_offsets, columns;
};

/// The matrix of a context for the generic functions.
Sparse csrOf(const Context& c) {
  return Sparse(cusparseCreateCsr, c.rows, c.rows, c.entries,
                const_cast<int*>(c.row_offsets.data()), const_cast<int*>(c.columns.data()),
                c.values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO,
                CUDA_R_64F);
}
Sparse cooOf(const Context& c, const Kokkos::View<int*, Device>& row_indices) {
  return Sparse(cusparseCreateCoo, c.rows, c.rows, c.entries, row_indices.data(),
                const_cast<int*>(c.columns.data()), c.values.data(), CUSPARSE_INDEX_32I,
                CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
}

/// The same and two vectors.
struct Generic {
  Generic(const Context& c, const DeviceVector& x_in, const DeviceVector& y_in)
      : a(csrOf(c)), x(cusparseCreateDnVec, c.rows, x_in.data(), CUDA_R_64F),
        y(cusparseCreateDnVec, c.rows, y_in.data(), CUDA_R_64F) {}

  Sparse a;
  Dense x, y;
};

/// The row of each entry; empty unless the format is COO.
Kokkos::View<int*, Device> rowIndices(const Exec& exec, const Graph<Device>& graph,
                                      CusparseFormat format) {
  if (format != CusparseFormat::Coo)
    return {};
  const auto indices = allocate<int, Device>(exec, "Ainvil::perf", graph.numEntries());
  const auto row_map = graph.row_map;
  Kokkos::parallel_for(
      "Ainvil::perf[row indices]", Kokkos::RangePolicy<Exec>(exec, 0, graph.num_rows),
      KOKKOS_LAMBDA(const int row) {
        for (Offset k = row_map(row); k < row_map(row + 1); ++k)
          indices(k) = row;
      });
  return indices;
}

class ProductOperator final : public LinearOperator<double, Device> {
public:
  ProductOperator(const Matrix& a, CusparseFormat format)
      : context_(a), row_indices_(rowIndices(context_.exec, a.graph, format)),
        a_(format == CusparseFormat::Csr ? csrOf(context_) : cooOf(context_, row_indices_)) {
    const DeviceVector x =
        allocateZeros<double, Device>(context_.exec, "Ainvil::perf", numPointRows());
    const DeviceVector y =
        allocateZeros<double, Device>(context_.exec, "Ainvil::perf", numPointRows());
    const Dense dense_x = denseOf(x.data()), dense_y = denseOf(y.data());
    size_t bytes = 0;
    check(cusparseSpMV_bufferSize(context_.handle, no_transpose, &one, a_, dense_x, &zero, dense_y,
                                  CUDA_R_64F, algorithm, &bytes),
          "SpMV_bufferSize");
    context_.grow(buffer_, bytes);
    check(cusparseSpMV_preprocess(context_.handle, no_transpose, &one, a_, dense_x, &zero, dense_y,
                                  CUDA_R_64F, algorithm, buffer_.data()),
          "SpMV_preprocess");
    compat::fence(context_.exec, "Ainvil::perf[preprocess]");
  }

  Offset numPointRows() const override { return context_.rows; }
  Offset numPointCols() const override { return context_.rows; }

  void apply(const Exec& exec, MultiVectorArg<const double, Device> x,
             MultiVectorArg<double, Device> y, Trans trans, double alpha,
             double beta) const override {
    if (trans != Trans::No)
      throw InvalidArgument("this product of cuSPARSE has no transpose");
    check(cusparseSetStream(context_.handle, exec.cuda_stream()), "SetStream");
    for (size_t j = 0; j < x.extent(1); ++j)
      check(cusparseSpMV(
                context_.handle, no_transpose, &alpha, a_, denseOf(x.data() + j * x.stride(1)),
                &beta, denseOf(y.data() + j * y.stride(1)), CUDA_R_64F, algorithm, buffer_.data()),
            "SpMV");
  }

private:
  static constexpr auto algorithm = CUSPARSE_SPMV_ALG_DEFAULT;

  Dense denseOf(const double* values) const {
    return Dense(cusparseCreateDnVec, context_.rows, const_cast<double*>(values), CUDA_R_64F);
  }

  Context context_;
  Kokkos::View<int*, Device> row_indices_;
  Sparse a_;
  Buffer buffer_;
};

/// Times analyse(info), each time with a fresh object, and then work(info) with the last.
template <class Info, class Create, class Analyse, class Work>
PeerTimes timeAnalysed(const Context& c, int repetitions, const Create& create,
                       const Analyse& analyse, const Work& work) {
  const double setup_seconds = medianSeconds(c.exec, repetitions, [&] {
    const Info info(create);
    analyse(info);
    compat::fence(c.exec, "Ainvil::perf[analysis]"); // before the object goes
  });
  const Info info(create);
  analyse(info);
  const double seconds = medianSeconds(c.exec, repetitions, [&] { work(info); });
  return {setup_seconds, seconds};
}

/// The older functions have two policies: measure(policy) is called with both.
template <class Measure>
PeerTimes fasterPolicy(const Measure& measure) {
  const PeerTimes without = measure(CUSPARSE_SOLVE_POLICY_NO_LEVEL);
  const PeerTimes with = measure(CUSPARSE_SOLVE_POLICY_USE_LEVEL);
  return with.seconds < without.seconds ? with : without;
}

PeerTimes spmv(const Context& c, const DeviceVector& x, const DeviceVector& y, int repetitions) {
  const Generic g(c, x, y);
  constexpr auto algorithm = CUSPARSE_SPMV_ALG_DEFAULT;
  size_t bytes = 0;
  check(cusparseSpMV_bufferSize(c.handle, no_transpose, &one, g.a, g.x, &zero, g.y, CUDA_R_64F,
                                algorithm, &bytes),
        "SpMV_bufferSize");
  Buffer buffer;
  c.grow(buffer, bytes);
  const double setup_seconds = medianSeconds(c.exec, repetitions, [&] {
    check(cusparseSpMV_preprocess(c.handle, no_transpose, &one, g.a, g.x, &zero, g.y, CUDA_R_64F,
                                  algorithm, buffer.data()),
          "SpMV_preprocess");
  });
  const double seconds = medianSeconds(c.exec, repetitions, [&] {
    check(cusparseSpMV(c.handle, no_transpose, &one, g.a, g.x, &zero, g.y, CUDA_R_64F, algorithm,
                       buffer.data()),
          "SpMV");
  });
  return {setup_seconds, seconds};
}

PeerTimes bsrmv(const Context& c, const DeviceVector& x, const DeviceVector& y, int repetitions) {
  const double seconds = medianSeconds(c.exec, repetitions, [&] {
    check(cusparseDbsrmv(c.handle, row_major, no_transpose, c.rows, c.rows, c.entries, &one,
                         c.general, c.values.data(), c.row_offsets.data(), c.columns.data(),
                         c.block_size, x.data(), &zero, y.data()),
          "bsrmv");
  });
  return {0, seconds};
}

PeerTimes spsv(const Context& c, Uplo uplo, const DeviceVector& b, const DeviceVector& x,
               int repetitions) {
  const Generic g(c, b, x);
  auto fill = uplo == Uplo::Lower ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER;
  auto diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  check(cusparseSpMatSetAttribute(g.a, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof(fill)),
        "SpMatSetAttribute");
  check(cusparseSpMatSetAttribute(g.a, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof(diagonal)),
        "SpMatSetAttribute");
  constexpr auto algorithm = CUSPARSE_SPSV_ALG_DEFAULT;
  Buffer buffer;
  const auto analyse = [&](const SpsvInfo& info) {
    size_t bytes = 0;
    check(cusparseSpSV_bufferSize(c.handle, no_transpose, &one, g.a, g.x, g.y, CUDA_R_64F,
                                  algorithm, info, &bytes),
          "SpSV_bufferSize");
    c.grow(buffer, bytes);
    check(cusparseSpSV_analysis(c.handle, no_transpose, &one, g.a, g.x, g.y, CUDA_R_64F, algorithm,
                                info, buffer.data()),
          "SpSV_analysis");
  };
  const auto solve = [&](const SpsvInfo& info) {
    check(cusparseSpSV_solve(c.handle, no_transpose, &one, g.a, g.x, g.y, CUDA_R_64F, algorithm,
                             info),
          "SpSV_solve");
  };
  return timeAnalysed<SpsvInfo>(c, repetitions, cusparseSpSV_createDescr, analyse, solve);
}

PeerTimes bsrsv(const Context& c, Uplo uplo, const DeviceVector& b, const DeviceVector& x,
                int repetitions, cusparseSolvePolicy_t policy) {
  const Description triangular(cusparseCreateMatDescr);
  describeTriangle(triangular, uplo, CUSPARSE_DIAG_TYPE_NON_UNIT);
  double* const values = c.values.data();
  const int *offsets = c.row_offsets.data(), *columns = c.columns.data();
  Buffer buffer;
  const auto analyse = [&](const BsrsvInfo& info) {
    int bytes = 0;
    check(cusparseDbsrsv2_bufferSize(c.handle, row_major, no_transpose, c.rows, c.entries,
                                     triangular, values, offsets, columns, c.block_size, info,
                                     &bytes),
          "bsrsv2_bufferSize");
    c.grow(buffer, static_cast<size_t>(bytes));
    check(cusparseDbsrsv2_analysis(c.handle, row_major, no_transpose, c.rows, c.entries, triangular,
                                   values, offsets, columns, c.block_size, info, policy,
                                   buffer.data()),
          "bsrsv2_analysis");
  };
  const auto solve = [&](const BsrsvInfo& info) {
    check(cusparseDbsrsv2_solve(c.handle, row_major, no_transpose, c.rows, c.entries, &one,
                                triangular, values, offsets, columns, c.block_size, info, b.data(),
                                x.data(), policy, buffer.data()),
          "bsrsv2_solve");
  };
  return timeAnalysed<BsrsvInfo>(c, repetitions, cusparseCreateBsrsv2Info, analyse, solve);
}

PeerTimes csrilu(const Context& c, const Kokkos::View<double*, Device>& factors, int repetitions,
                 cusparseSolvePolicy_t policy) {
  double* const values = factors.data();
  const int *offsets = c.row_offsets.data(), *columns = c.columns.data();
  Buffer buffer;
  const auto analyse = [&](const CsriluInfo& info) {
    int bytes = 0;
    check(cusparseDcsrilu02_bufferSize(c.handle, c.rows, c.entries, c.general, values, offsets,
                                       columns, info, &bytes),
          "csrilu02_bufferSize");
    c.grow(buffer, static_cast<size_t>(bytes));
    check(cusparseDcsrilu02_analysis(c.handle, c.rows, c.entries, c.general, values, offsets,
                                     columns, info, policy, buffer.data()),
          "csrilu02_analysis");
  };
  const auto factor = [&](const CsriluInfo& info) {
    Kokkos::deep_copy(c.exec, factors, c.values);
    check(cusparseDcsrilu02(c.handle, c.rows, c.entries, c.general, values, offsets, columns, info,
                            policy, buffer.data()),
          "csrilu02");
  };
  return timeAnalysed<CsriluInfo>(c, repetitions, cusparseCreateCsrilu02Info, analyse, factor);
}

PeerTimes bsrilu(const Context& c, const Kokkos::View<double*, Device>& factors, int repetitions,
                 cusparseSolvePolicy_t policy) {
  double* const values = factors.data();
  const int *offsets = c.row_offsets.data(), *columns = c.columns.data();
  Buffer buffer;
  const auto analyse = [&](const BsriluInfo& info) {
    int bytes = 0;
    check(cusparseDbsrilu02_bufferSize(c.handle, row_major, c.rows, c.entries, c.general, values,
                                       offsets, columns, c.block_size, info, &bytes),
          "bsrilu02_bufferSize");
    c.grow(buffer, static_cast<size_t>(bytes));
    check(cusparseDbsrilu02_analysis(c.handle, row_major, c.rows, c.entries, c.general, values,
                                     offsets, columns, c.block_size, info, policy, buffer.data()),
          "bsrilu02_analysis");
  };
  const auto factor = [&](const BsriluInfo& info) {
    Kokkos::deep_copy(c.exec, factors, c.values);
    check(cusparseDbsrilu02(c.handle, row_major, c.rows, c.entries, c.general, values, offsets,
                            columns, c.block_size, info, policy, buffer.data()),
          "bsrilu02");
  };
  return timeAnalysed<BsriluInfo>(c, repetitions, cusparseCreateBsrilu02Info, analyse, factor);
}

} // namespace

PeerTimes cusparseProduct(const Matrix& a, const DeviceVector& x, const DeviceVector& y,
                          int repetitions) {
  const Context c(a);
  return a.block_size == 1 ? spmv(c, x, y, repetitions) : bsrmv(c, x, y, repetitions);
}

std::unique_ptr<LinearOperator<double, Device>> cusparseOperator(const Matrix& a,
                                                                 CusparseFormat format) {
  return std::make_unique<ProductOperator>(a, format);
}

PeerTimes cusparseSolve(const Matrix& t, Uplo uplo, const DeviceVector& b, const DeviceVector& x,
                        int repetitions) {
  const Context c(t);
  if (t.block_size == 1)
    return spsv(c, uplo, b, x, repetitions);
  return fasterPolicy(
      [&](cusparseSolvePolicy_t policy) { return bsrsv(c, uplo, b, x, repetitions, policy); });
}

PeerTimes cusparseIlu(const Matrix& a, const Kokkos::View<double*, Device>& factors,
                      int repetitions) {
  const Context c(a);
  Kokkos::deep_copy(c.exec, factors, c.values);
  return fasterPolicy([&](cusparseSolvePolicy_t policy) {
    return a.block_size == 1 ? csrilu(c, factors, repetitions, policy)
                             : bsrilu(c, factors, repetitions, policy);
  });
}

} // namespace perf
} // namespace ainvil
