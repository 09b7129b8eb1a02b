// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Products that move another vector along x in the same pass.
#include "KokkosObservers.hpp"
#include "core/product/ProductSupport.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using detail::ProductKernel;
using Device = DefaultDevice;
using Exec = Device::execution_space;

/// One product with a step: y = 0.5 A x + beta u and w = 2 x + epsilon w.
template <class Stored, class Scalar>
struct Case {
  BsrMatrix<Stored, Device> a;
  detail::ProductPlan<Device> plan;
  size_t columns;
  Scalar beta, epsilon;

  /// y is, bit for bit, what the same kernels give without a step; w, which holds NaN where it must
  /// not be read, is what its formula says.
  void check() const {
    const size_t n = a.numPointRows();
    Random random(31);
    const auto x = random.vector<Scalar>(n * columns), u = random.vector<Scalar>(n * columns);
    const auto w0 = random.vector<Scalar>(n * columns);
    const auto x_device = toDevice(x, n, columns, n + 5), u_device = toDevice(u, n, columns);
    const auto y = poisoned<Scalar>(n, columns, n + 3), without = poisoned<Scalar>(n, columns);
    const auto start = epsilon == Scalar(0) ? filled<Scalar>(w0.size(), nan_value) : w0;
    const MultiVector<Scalar, Device> w = toDevice(start, n, columns, n + 1);
    const auto product = [&](const MultiVector<Scalar, Device>& result,
                             const detail::Step<Scalar, Device>& step) {
      detail::multiplyAdd<Stored, Scalar, Device>(Exec(), plan, Scalar(0.5), a, x_device, beta,
                                                  u_device, Scalar(0), u_device, result, step);
    };
    product(without, {});
    product(y, {Scalar(2), epsilon, w});
    EXPECT_EQ(toHost(y), toHost(without));
    expectNear(toHost(w), combined(2, x, epsilon, w0), tolerance<Scalar>);
    EXPECT_TRUE(gapsAreIntact(y));
    EXPECT_TRUE(gapsAreIntact(w));
  }
};

/// By each of the kernels, which are the same on hosts, with all numbers of columns and factors.
template <class Stored, class Scalar>
void checkSteps(const BsrMatrix<double, HostDevice>& a, const std::vector<ProductKernel>& kernels) {
  const auto a_device = copyTo<Device>(inPrecision<Stored>(a));
  const LongRows<Device> long_rows(Exec(), a_device.graph, a.block_size);
  for (const ProductKernel kernel : kernels)
    for (const size_t columns : {1, 2, 7, 8, 9, 17})
      for (const double beta : {0.0, -0.5})
        for (const double epsilon : {0.0, 1.0, -0.5}) {
          SCOPED_TRACE(message("blocks of ", a.block_size, ", ", long_rows.numRows(),
                               " long rows, kernel ", int(kernel), ", ", columns, " columns, ",
                               beta, ", ", epsilon));
          detail::ProductPlan<Device> plan;
          plan.kernel = kernel;
          plan.long_rows = long_rows;
          Case<Stored, Scalar>{a_device, plan, columns, Scalar(beta), Scalar(epsilon)}.check();
        }
}

const std::vector<Ordinal> long_rows = {1, 31, 32, 33, 65, 300, 0};

TEST(ProductStep, IsTakenByEveryKernel) {
  const std::vector<ProductKernel> points = {ProductKernel::PointRows};
  const std::vector<ProductKernel> with_columns = {ProductKernel::PointRows,
                                                   ProductKernel::BlockColumns};
  const std::vector<ProductKernel> streamed = {ProductKernel::PointRows, ProductKernel::Streamed};
  for (const int bs : all_block_sizes) {
    const bool may_take_columns = bs == 2 || bs == 3;
    const auto a = randomMatrix(41, 41, bs, std::vector<Ordinal>{1, 3, 0, 5, 19});
    checkSteps<double, double>(a, may_take_columns ? with_columns : points);
  }
  checkSteps<double, double>(randomMatrix(615, 615, 1, long_rows), streamed);
  checkSteps<BFloat16, double>(randomMatrix(615, 615, 1, long_rows), streamed);
  checkSteps<float, float>(randomMatrix(615, 615, 1, long_rows), streamed);
  checkSteps<double, double>(randomMatrix(310, 310, 3, long_rows), with_columns);
  checkSteps<BFloat16, float>(randomMatrix(310, 310, 2, long_rows), points);
}

/// Both ways of a transposed product: through the rows of A and of a copy of A^T.
TEST(ProductStep, OfATransposedProduct) {
  const size_t n = 123, columns = 3;
  const auto a = randomMatrix(41, 41, 3, std::vector<Ordinal>{1, 3, 0, 5, 19});
  const SparseOperator<double, Device> plain(Exec(), copyTo<Device>(a));
  SparseOperator<double, Device> keeping = plain;
  keeping.keepTransposed(Exec());
  keeping.updateTransposed(Exec());
  Random random(32);
  const Doubles x = random.vector(n * columns), u = random.vector(n * columns),
                w0 = random.vector(n * columns);
  const Doubles product = denseProduct(transposed(toDense(a), n), x, n, columns);
  for (const bool keeps : {false, true}) {
    const auto y = poisoned(n, columns), w = toDevice(w0, n, columns);
    const auto u_device = toDevice(u, n, columns);
    const KernelLabelRecorder seen;
    (keeps ? keeping : plain)
        .multiplyAdd(Exec(), Trans::Yes, -1.0, toDevice(x, n, columns), 1.0, u_device, 0.0,
                     u_device, y, {0.5, 2.0, w});
    expectNear(toHost(y), combined(-1, product, 1, u), 1e-13);
    expectNear(toHost(w), combined(0.5, x, 2, w0), 1e-15);
    if (keeps) {
      EXPECT_EQ(std::count(seen.kernels().begin(), seen.kernels().end(), "Ainvil::spmv"), 1);
    }
  }
}

TEST(ProductStep, RefusesOtherShapes) {
  const auto run = [&](Ordinal rows, size_t w_rows, size_t w_columns) {
    RandomOptions options;
    options.diagonal = false;
    const SparseOperator<double, Device> a(Exec(),
                                           copyTo<Device>(randomMatrix(rows, 5, 2, 0.5, options)));
    const auto x = poisoned(10, 3), y = poisoned(2 * rows, 3);
    a.multiplyAdd(Exec(), Trans::No, 1.0, x, 0.0, y, 0.0, y, y,
                  {1.0, 0.0, poisoned(w_rows, w_columns)});
  };
  EXPECT_NO_THROW(run(5, 10, 3));
  EXPECT_THROW(run(5, 9, 3), InvalidArgument);
  EXPECT_THROW(run(5, 10, 2), InvalidArgument);
  EXPECT_THROW(run(7, 10, 3), InvalidArgument);
  EXPECT_THROW(run(7, 14, 3), InvalidArgument);
}

} // namespace
