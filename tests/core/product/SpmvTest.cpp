// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"

#include "Ainvil_LinearOperator.hpp"
#include "core/product/ProductSupport.hpp"
#include "product/Ainvil_Probes.hpp"
#include "product/Ainvil_SparseOperator.hpp"
#include "product/Ainvil_SpmvKernels.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

const std::vector<Ordinal> long_rows = {1, 31, 32, 33, 65, 300, 0};

/// y = alpha op(A) x + beta y against the dense product, for all factors and numbers of columns,
/// with and without the long rows known.
template <class MatrixScalar, class Scalar>
void checkSpmv(const BsrMatrix<double, HostDevice>& a_double, const std::string& what,
               const std::vector<size_t>& column_counts) {
  const auto a = inPrecision<MatrixScalar>(a_double);
  const auto a_device = copyTo<Device>(a);
  const SparseOperator<Scalar, Device> known(Exec(), a_device);
  const Doubles dense = toDense(a);
  Random random(7);
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    const bool plain = trans == Trans::No;
    const size_t inner = plain ? a.numPointCols() : a.numPointRows();
    const size_t outer = plain ? a.numPointRows() : a.numPointCols();
    const Doubles op_a = plain ? dense : transposed(dense, a.numPointCols());
    for (const size_t columns : column_counts) {
      const auto x = random.vector<Scalar>(inner * columns);
      const auto y0 = random.vector<Scalar>(outer * columns);
      const Doubles product = denseProduct(op_a, x, inner, columns);
      const auto x_device = toDevice(x, inner, columns, inner + 5);
      for (const Factors f : all_factors) {
        SCOPED_TRACE(message(what, plain ? "" : ", transposed", ", ", columns, " columns, alpha ",
                             f.alpha, ", beta ", f.beta));
        const auto start = f.beta == 0 ? filled<Scalar>(y0.size(), nan_value) : y0;
        for (const bool long_rows_are_known : {false, true}) {
          const MultiVector<Scalar, Device> y = toDevice(start, outer, columns, outer + 3);
          if (long_rows_are_known)
            known.multiply(Exec(), trans, Scalar(f.alpha), x_device, Scalar(f.beta), y);
          else
            spmv<MatrixScalar, Scalar, Device>(Exec(), trans, Scalar(f.alpha), a_device, x_device,
                                               Scalar(f.beta), y);
          expectNear(toHost(y), combined(f.alpha, product, f.beta, y0), tolerance<Scalar>);
          EXPECT_TRUE(gapsAreIntact(y));
        }
      }
    }
  }
}

RandomOptions withoutDiagonal(std::uint64_t seed) {
  RandomOptions options;
  options.diagonal = false;
  options.seed = seed;
  return options;
}

TEST(Spmv, MatchesTheDenseProductForAllBlockSizes) {
  for (const int bs : all_block_sizes) {
    const std::vector<Ordinal> lengths = {1, 3, 0, 5, 19};
    const auto a = randomMatrix(23, 19, bs, lengths, withoutDiagonal(bs));
    checkSpmv<double, double>(a, message("block size ", bs), all_columns);
  }
}

TEST(Spmv, MatchesTheDenseProductForLongRows) {
  for (const Ordinal n : {536, 615})
    checkSpmv<double, double>(randomMatrix(n, n, 1, long_rows), message(n, " rows"), {1, 7});
  checkSpmv<double, double>(randomMatrix(14, 310, 3, long_rows, withoutDiagonal(3)), "block size 3",
                            {1, 5});
}

/// A matrix that no cache holds, a long row in it, has kernels of its own on GPUs: against the
/// product with four columns, and against that of a thread a row.
TEST(Spmv, OfALargeMatrixIsThatOfItsColumns) {
  for (const int bs : {2, 3}) {
    SCOPED_TRACE(message("block size ", bs));
    const Ordinal n = (Ordinal(1) << 27) / (6 * bs * bs * 8) + 5;
    Rows rows(n);
    for (Ordinal i = 0; i < n; ++i) {
      for (Ordinal k = 0; k < (i == 1000 ? 700 : 6); ++k)
        rows[i].push_back((i + 97 * k) % n);
      std::sort(rows[i].begin(), rows[i].end());
    }
    const auto a = copyTo<Device>(randomMatrix(rows, n, bs));
    const SparseOperator<double, Device> known(Exec(), a);
    EXPECT_EQ(known.longRows().numRows(), 1);
    const size_t points = size_t(n) * bs;
    Random random(11);
    Doubles x = random.vector<double>(points), y0 = random.vector<double>(points);
    for (Doubles* v : {&x, &y0})
      for (int j = 1; j < 4; ++j)
        v->insert(v->end(), v->begin(), v->begin() + points);
    const auto x_device = toDevice(x, points, 4, points);
    const auto y = toDevice(y0, points, 4, points), one = toDevice(y0, points, 4, points);
    known.multiply(Exec(), Trans::No, 2.0, x_device, -0.5, y);
    const MultiVectorArg<const double, Device> x_0(x_device.data(), points, 1);
    const MultiVectorArg<double, Device> y_0(one.data(), points, 1);
    known.multiply(Exec(), Trans::No, 2.0, x_0, -0.5, y_0);
    const auto by_rows = toDevice(y0, points, 4, points);
    const MultiVectorArg<double, Device> by_rows_0(by_rows.data(), points, 1);
    detail::multiply<double, double, Device>(Exec(), {}, Trans::No, 2.0, a, x_0, -0.5, by_rows_0);
    axpby<double, Device>(Exec(), -1.0, y_0, 1.0, by_rows_0);
    axpby<double, Device>(Exec(), -1.0, MultiVectorArg<const double, Device>(y.data(), points, 1),
                          1.0, y_0);
    const double size = detail::norm<double, Device>(Exec(), y);
    for (const auto& other : {y_0, by_rows_0}) {
      const double difference = detail::norm<double, Device>(Exec(), other);
      EXPECT_LT(difference, 1e-14 * size);
    }
  }
}

/// Long rows at the ends of what a team takes, beside each other, and among empty ones; and rows of
/// every length up to 60 without any. A single row of 1024 entries, and of one more.
TEST(Spmv, MatchesTheDenseProductForRowsOfAllLengths) {
  Rows rows(700);
  for (Ordinal i = 0; i < 700; ++i) {
    const bool is_long = i == 0 || i == 127 || i == 128 || i == 400 || i == 401 || i == 699;
    const Ordinal length = is_long ? 300 + i % 7 : (i / 50 % 2 == 0 ? i % 61 : 0);
    for (Ordinal k = 0; k < length; ++k)
      rows[i].push_back((i + 2 * k) % 701);
    std::sort(rows[i].begin(), rows[i].end());
  }
  checkSpmv<double, double>(randomMatrix(rows, 701, 1), "with long rows", {1, 2, 5, 9});
  checkSpmv<float, double>(randomMatrix(rows, 701, 1), "float, with long rows", {1});
  for (auto& row : rows)
    row.resize(std::min<size_t>(row.size(), 60));
  checkSpmv<double, double>(randomMatrix(rows, 701, 1), "without", {1, 2});
  rows.resize(127);
  checkSpmv<double, double>(randomMatrix(rows, 701, 1), "less than a team", {1});
  rows[126].clear();
  for (Ordinal j = 0; j < 1025; ++j) {
    rows[126].push_back(j);
    if (j >= 1023)
      checkSpmv<double, double>(randomMatrix(rows, 1025, 1), message(j + 1, " entries"), {1, 6});
  }
}

TEST(Spmv, TakesAnyOrderOfColumns) {
  RandomOptions options;
  options.sorted = false;
  checkSpmv<double, double>(randomMatrix(40, 40, 2, 0.2, options), "unsorted rows", {1, 4});
}

TEST(Spmv, SumsFloatMatricesInThePrecisionOfTheVectors) {
  for (const int bs : {1, 3, 8, 11}) {
    const auto a = randomMatrix(40, 33, bs, 0.2, withoutDiagonal(bs));
    checkSpmv<float, double>(a, message("float matrix, block size ", bs), {1, 4, 7});
    checkSpmv<float, float>(a, message("all float, block size ", bs), {1, 4, 7});
  }
  checkSpmv<float, double>(randomMatrix(536, 536, 1, long_rows), "float matrix, long rows", {1, 4});
}

TEST(Spmv, EmptyAndTinyMatrices) {
  for (const int bs : {1, 3, 11}) {
    checkSpmv<double, double>(randomMatrix(0, 0, bs, 0.5), "0 x 0", {0, 1, 5});
    checkSpmv<double, double>(randomMatrix(1, 1, bs, 0.5), "1 x 1", {0, 1, 5});
    checkSpmv<double, double>(randomMatrix(Rows(4), 3, bs), "no entries", {1, 5});
  }
}

/// Zero columns on either side: what the product leaves to do is to scale y.
TEST(Spmv, ScalesTheResultWhereThereIsNothingToMultiply) {
  const auto a = copyTo<Device>(randomMatrix(Rows(4), 0, 2));
  const auto y = toDevice(filled<double>(8, 3));
  spmv<double, double, Device>(Exec(), Trans::No, 1.0, a, poisoned(0), 0.5, y);
  EXPECT_EQ(toHost(y), filled<double>(8, 1.5));
  spmv<double, double, Device>(Exec(), Trans::No, 1.0, a, poisoned(0), 0.0, y);
  EXPECT_EQ(toHost(y), filled<double>(8, 0));
  const auto b = copyTo<Device>(randomMatrix(Rows(), 4, 2));
  const auto z = poisoned(8);
  spmv<double, double, Device>(Exec(), Trans::Yes, 1.0, b, poisoned(0), 0.0, z);
  EXPECT_EQ(toHost(z), filled<double>(8, 0));
}

TEST(Spmv, OfAVectorEqualsThatOfOneColumn) {
  const auto a = copyTo<Device>(randomMatrix(31, 29, 3, 0.2, withoutDiagonal(4)));
  const Doubles x = Random(5).vector(93);
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    const size_t inner = trans == Trans::No ? 87 : 93;
    const Doubles input(x.begin(), x.begin() + inner);
    const auto y = poisoned(180 - inner);
    const auto z = poisoned(180 - inner, 1);
    spmv<double, double, Device>(Exec(), trans, 0.5, a, toDevice(input), 0.0, y);
    spmv<double, double, Device>(Exec(), trans, 0.5, a, toDevice(input, inner, 1), 0.0, z);
    expectNear(toHost(y), toHost(z), 1e-14); // atomics add in any order
  }
}

/// Bit by bit on hosts: what a solver does with a column does not depend on the others.
TEST(Spmv, OfManyColumnsIsThatOfEachOnHosts) {
  using Host = HostDevice;
  const Host::execution_space exec;
  constexpr size_t n = 70, columns = 6;
  const std::vector<Ordinal> lengths = {1, 3, 0, 5, 19, 41};
  for (const int bs : {1, 3, 4, 9}) {
    const auto a = randomMatrix(n, n, bs, lengths, withoutDiagonal(bs));
    const size_t rows = n * bs;
    const Doubles numbers = Random(8).vector(rows * columns);
    const Kokkos::View<double**, Kokkos::LayoutLeft, Host> x("x", rows, columns),
        y("y", rows, columns), z("z", rows, columns);
    std::copy(numbers.begin(), numbers.end(), x.data());
    for (const double beta : {0.0, 0.5}) {
      Kokkos::deep_copy(y, 1.0);
      Kokkos::deep_copy(z, 1.0);
      spmv<double, double, Host>(exec, Trans::No, 0.7, a, x, beta, y);
      for (size_t j = 0; j < columns; ++j) {
        const auto range = std::make_pair(j, j + 1);
        spmv<double, double, Host>(exec, Trans::No, 0.7, a, Kokkos::subview(x, Kokkos::ALL, range),
                                   beta, Kokkos::subview(z, Kokkos::ALL, range));
      }
      EXPECT_EQ(Doubles(y.data(), y.data() + y.size()), Doubles(z.data(), z.data() + z.size()))
          << "block size " << bs << ", beta " << beta;
    }
  }
}

TEST(Spmv, TransposeIsTheAdjoint) {
  for (const int bs : {1, 2, 5, 11}) {
    const auto a = copyTo<Device>(randomMatrix(61, 53, bs, 0.1, withoutDiagonal(bs)));
    Random random(9);
    const Doubles x = random.vector(53 * bs), y = random.vector(61 * bs);
    const auto a_x = poisoned(61 * bs), at_y = poisoned(53 * bs);
    spmv<double, double, Device>(Exec(), Trans::No, 1.0, a, toDevice(x), 0.0, a_x);
    spmv<double, double, Device>(Exec(), Trans::Yes, 1.0, a, toDevice(y), 0.0, at_y);
    const Doubles left = toHost(a_x), right = toHost(at_y);
    EXPECT_NEAR(std::inner_product(y.begin(), y.end(), left.begin(), 0.0),
                std::inner_product(x.begin(), x.end(), right.begin(), 0.0), 1e-11);
  }
}

/// One product in place with u, v or both being y; the others hold NaN where they must not be read.
TEST(SpmvAdd, MatchesTheDenseProduct) {
  enum class Role { Own, IsY, Unread };
  for (const int bs : all_block_sizes) {
    const auto a = randomMatrix(13, 17, bs, 0.3, withoutDiagonal(bs));
    const auto a_device = copyTo<Device>(a);
    const size_t rows = 13 * bs, inner = 17 * bs;
    Random random(11);
    for (const size_t columns : {1, 3, 4, 9}) {
      const Doubles x = random.vector(inner * columns), own_u = random.vector(rows * columns),
                    own_v = random.vector(rows * columns), y0 = random.vector(rows * columns);
      const Doubles product = denseProduct(toDense(a), x, inner, columns);
      const auto x_device = toDevice(x, inner, columns, inner + 2);
      for (const Role u_role : {Role::Own, Role::IsY, Role::Unread})
        for (const Role v_role : {Role::Own, Role::IsY, Role::Unread})
          for (const double alpha : {1.0, -1.0, 0.5}) {
            SCOPED_TRACE(message("block size ", bs, ", ", columns, " columns, u ", int(u_role),
                                 ", v ", int(v_role), ", alpha ", alpha));
            const bool reads_y = u_role == Role::IsY || v_role == Role::IsY;
            const Doubles unread = filled<double>(y0.size(), nan_value);
            const Doubles start = reads_y ? y0 : unread;
            const MultiVector<double, Device> y = toDevice(start, rows, columns, rows + 3);
            const auto argument = [&](Role role, const Doubles& own) {
              return role == Role::IsY
                         ? y
                         : toDevice(role == Role::Own ? own : unread, rows, columns, rows + 1);
            };
            const MultiVector<double, Device> u = argument(u_role, own_u);
            const MultiVector<double, Device> v = argument(v_role, own_v);
            const double beta = u_role == Role::Unread ? 0 : -0.5;
            const double gamma = v_role == Role::Unread ? 0 : 2;
            spmvAdd<double, double, Device>(Exec(), alpha, a_device, x_device, beta, u, gamma, v,
                                            y);
            const Doubles with_u = combined(alpha, product, beta, u_role == Role::IsY ? y0 : own_u);
            expectNear(toHost(y), combined(1, with_u, gamma, v_role == Role::IsY ? y0 : own_v),
                       1e-13);
            EXPECT_TRUE(gapsAreIntact(y));
          }
    }
  }
}

TEST(SpmvAdd, FloatMatrices) {
  const auto a = inPrecision<float>(randomMatrix(50, 50, 2, 0.1));
  Random random(12);
  const Doubles x = random.vector(500), u = random.vector(500), v = random.vector(500);
  const auto y = poisoned(100, 5);
  spmvAdd<float, double, Device>(Exec(), -1.0, copyTo<Device>(a), toDevice(x, 100, 5), 1.0,
                                 toDevice(u, 100, 5), -2.0, toDevice(v, 100, 5), y);
  const Doubles product = denseProduct(toDense(a), x, 100, 5);
  expectNear(toHost(y), combined(1, combined(-1, product, 1, u), -2, v), 1e-13);
}

TEST(Spmv, RefusesWrongShapes) {
  const auto a = copyTo<Device>(randomMatrix(7, 5, 2, 0.5, withoutDiagonal(1)));
  const auto run = [&](Trans trans, size_t x_rows, size_t x_columns, size_t y_rows,
                       size_t y_columns) {
    spmv<double, double, Device>(Exec(), trans, 1.0, a, poisoned(x_rows, x_columns), 0.0,
                                 poisoned(y_rows, y_columns));
  };
  EXPECT_NO_THROW(run(Trans::No, 10, 3, 14, 3));
  EXPECT_THROW(run(Trans::No, 14, 3, 10, 3), InvalidArgument);
  EXPECT_THROW(run(Trans::No, 9, 3, 14, 3), InvalidArgument);
  EXPECT_THROW(run(Trans::No, 10, 3, 15, 3), InvalidArgument);
  EXPECT_THROW(run(Trans::No, 10, 3, 14, 2), InvalidArgument);
  EXPECT_NO_THROW(run(Trans::Yes, 14, 3, 10, 3));
  EXPECT_THROW(run(Trans::Yes, 10, 3, 14, 3), InvalidArgument);
  EXPECT_THROW(run(Trans::Yes, 14, 3, 9, 3), InvalidArgument);
  EXPECT_THROW(run(Trans::Yes, 14, 1, 10, 2), InvalidArgument);
}

TEST(SpmvAdd, RefusesWrongShapes) {
  const auto a = copyTo<Device>(randomMatrix(7, 5, 2, 0.5, withoutDiagonal(1)));
  const auto x = poisoned(10, 3), y = poisoned(14, 3);
  const auto run = [&](double beta, size_t u_rows, size_t u_columns, double gamma, size_t v_rows,
                       size_t v_columns) {
    spmvAdd<double, double, Device>(Exec(), 1.0, a, x, beta, poisoned(u_rows, u_columns), gamma,
                                    poisoned(v_rows, v_columns), y);
  };
  EXPECT_NO_THROW(run(1, 14, 3, 1, 14, 3));
  EXPECT_THROW(run(1, 13, 3, 1, 14, 3), InvalidArgument);
  EXPECT_THROW(run(1, 14, 2, 1, 14, 3), InvalidArgument);
  EXPECT_THROW(run(1, 14, 3, 1, 10, 3), InvalidArgument);
  EXPECT_THROW(run(1, 14, 3, 1, 14, 4), InvalidArgument);
}

TEST(Spmv, AllocatesNothingAndLabelsItsKernels) {
  const auto a = copyTo<Device>(randomMatrix(20, 20, 3, 0.2));
  const Kokkos::View<double*, Device> blocks = toDevice(Doubles(180, 1.0));
  const auto x = toDevice(Doubles(60 * 7, 1.0), 60, 7), y = toDevice(Doubles(60 * 7), 60, 7);
  const auto x1 = toDevice(Doubles(60, 1.0)), y1 = toDevice(Doubles(60));
  const KernelLabelRecorder recorder;
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    spmv<double, double, Device>(Exec(), trans, 1.0, a, x, 0.5, y);
    spmv<double, double, Device>(Exec(), trans, 1.0, a, x1, 0.5, y1);
    blockDiagonalProduct<double, double, Device>(Exec(), trans, 1.0, blocks, 3, x, 0.5, y);
  }
  spmvAdd<double, double, Device>(Exec(), 1.0, a, x, 0.5, y, 0.0, y, y);
  axpby<double, Device>(Exec(), 1.0, x, 0.5, y);
  EXPECT_TRUE(recorder.allocations().empty()) << recorder.allocations().front();
  EXPECT_GE(recorder.kernels().size(), 8u);
  for (const std::string& label : recorder.kernels())
    EXPECT_EQ(label.rfind("Ainvil::", 0), 0u) << label;
}

/// Views with strides are taken where they hold columns, as parts of larger ones do.
TEST(Spmv, TakesStridedViewsOfColumns) {
  const auto a = copyTo<Device>(randomMatrix(33, 33, 1, 0.2));
  const size_t n = 33, columns = 2;
  Random random(3);
  const auto x = toDevice(random.vector(n * columns), n, columns);
  using Strided = Kokkos::View<double**, Kokkos::LayoutStride, Device>;
  const auto expected = poisoned(n, columns), y = poisoned(n, columns);
  const Strided strided_x = x, strided_y = y;
  spmv<double, double, Device>(Exec(), Trans::No, 1.0, a, x, 0.0, expected);
  spmv<double, double, Device>(Exec(), Trans::No, 1.0, a, strided_x, 0.0, strided_y);
  EXPECT_EQ(toHost(y), toHost(expected));
  MatrixOperator<double, Device>(a).apply(Exec(), strided_x, strided_y);
  expectNear(toHost(y), toHost(expected), 1e-14);
  axpby<double, Device>(Exec(), 2.0, strided_x, 0.0, strided_y);
  axpby<double, Device>(Exec(), 2.0, x, 0.0, expected);
  EXPECT_EQ(toHost(y), toHost(expected));
}

/// Consecutive, all rows, and entries and rows together within a row of what is due.
TEST(Spmv, SharesEntriesEvenly) {
  Random random(11);
  for (const int rows : {0, 1, 7, 536}) {
    std::vector<Offset> row_map = {0};
    Offset longest = 0;
    for (int i = 0; i < rows; ++i) { // the more entries, the later the row; some are empty
      const Offset length = random.uniform(0, 1) < 0.2 ? 0 : Offset(random.uniform(0, i / 4 + 1));
      row_map.push_back(row_map.back() + length);
      longest = std::max(longest, length);
    }
    const auto work = [&](Offset row) { return row_map[row] + row; };
    for (const Offset parts : {1, 2, 3, 16, 700}) {
      EXPECT_EQ(detail::firstRowOfPart(row_map.data(), rows, 0, parts), 0);
      EXPECT_EQ(detail::firstRowOfPart(row_map.data(), rows, parts, parts), rows);
      for (Offset part = 0; part < parts; ++part) {
        const Offset first = detail::firstRowOfPart(row_map.data(), rows, part, parts);
        const Offset end = detail::firstRowOfPart(row_map.data(), rows, part + 1, parts);
        ASSERT_LE(first, end);
        EXPECT_LE(work(end) - work(first), work(rows) / parts + longest + 2) << part;
      }
    }
  }
}

} // namespace
