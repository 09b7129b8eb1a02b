// SPDX-License-Identifier: BSD-3-Clause
/// Products that take no sparse matrix: a block diagonal, and sums of vectors.
#include "core/product/ProductSupport.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

template <class MatrixScalar, class Scalar>
void checkBlockDiagonal(Ordinal n, int bs) {
  Random random(13);
  Rows diagonal(n);
  for (Ordinal i = 0; i < n; ++i)
    diagonal[i] = {i};
  const auto d = inPrecision<MatrixScalar>(randomMatrix(diagonal, n, bs));
  const Kokkos::View<MatrixScalar*, Device> blocks = copyTo<Device>(d).values;
  const size_t rows = size_t(n) * bs;
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    const Doubles op_d = trans == Trans::No ? toDense(d) : transposed(toDense(d), rows);
    for (const size_t columns : {1, 3, 4, 9}) {
      const auto x = random.vector<Scalar>(rows * columns), y0 = random.vector<Scalar>(x.size());
      const Doubles product = denseProduct(op_d, x, rows, columns);
      for (const Factors f : all_factors) {
        SCOPED_TRACE(message("block size ", bs, ", ", columns, " columns, alpha ", f.alpha,
                             ", beta ", f.beta, trans == Trans::No ? "" : ", transposed"));
        const auto start = f.beta == 0 ? filled<Scalar>(y0.size(), nan_value) : y0;
        const MultiVector<Scalar, Device> y = toDevice(start, rows, columns, rows + 3);
        blockDiagonalProduct<MatrixScalar, Scalar, Device>(Exec(), trans, Scalar(f.alpha), blocks,
                                                           bs, toDevice(x, rows, columns, rows + 1),
                                                           Scalar(f.beta), y);
        expectNear(toHost(y), combined(f.alpha, product, f.beta, y0), tolerance<Scalar>);
        EXPECT_TRUE(gapsAreIntact(y));
      }
    }
  }
}

TEST(BlockDiagonalProduct, MatchesTheDenseProduct) {
  for (const int bs : all_block_sizes)
    checkBlockDiagonal<double, double>(11, bs);
  checkBlockDiagonal<double, double>(0, 3);
  checkBlockDiagonal<double, double>(1, 3);
  checkBlockDiagonal<float, double>(31, 3);
  checkBlockDiagonal<float, float>(31, 3);
}

TEST(BlockDiagonalProduct, RefusesWrongShapes) {
  const Kokkos::View<double*, Device> blocks = toDevice(Doubles(5 * 9));
  const auto run = [&](size_t x_rows, size_t x_columns, size_t y_rows, size_t y_columns) {
    blockDiagonalProduct<double, double, Device>(Exec(), Trans::No, 1.0, blocks, 3,
                                                 poisoned(x_rows, x_columns), 0.0,
                                                 poisoned(y_rows, y_columns));
  };
  EXPECT_NO_THROW(run(15, 2, 15, 2));
  EXPECT_THROW(run(14, 2, 15, 2), InvalidArgument);
  EXPECT_THROW(run(15, 2, 16, 2), InvalidArgument);
  EXPECT_THROW(run(15, 2, 15, 1), InvalidArgument);
}

template <class Scalar>
void checkAxpby() {
  Random random(14);
  for (const size_t rows : {0, 1, 33, 615})
    for (const size_t columns : all_columns) {
      const auto x = random.vector<Scalar>(rows * columns), y0 = random.vector<Scalar>(x.size());
      for (const Factors f : all_factors) {
        SCOPED_TRACE(message(rows, " rows, alpha ", f.alpha, ", beta ", f.beta));
        const auto start = f.beta == 0 ? filled<Scalar>(y0.size(), nan_value) : y0;
        const MultiVector<Scalar, Device> y = toDevice(start, rows, columns, rows + 3);
        axpby<Scalar, Device>(Exec(), Scalar(f.alpha), toDevice(x, rows, columns, rows + 1),
                              Scalar(f.beta), y);
        expectNear(toHost(y), combined(f.alpha, x, f.beta, y0), 1e-2 * tolerance<Scalar>);
        EXPECT_TRUE(gapsAreIntact(y));
      }
    }
}

TEST(Axpby, MatchesTheReference) {
  checkAxpby<double>();
  checkAxpby<float>();
}

} // namespace
