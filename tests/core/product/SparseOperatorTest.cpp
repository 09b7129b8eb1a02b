// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"
#include "product/Ainvil_Combine.hpp"
#include "product/Ainvil_SparseOperator.hpp"

#include <thread>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;
using Doubles = std::vector<double>;
template <class Scalar>
using Operator = SparseOperator<Scalar, Device>;

constexpr Ordinal num_rows = 45, num_cols = 620;

/// Rows of 0 to 6 entries and, with `long_rows`, one of 600 and one of 100 among them.
BsrMatrix<double, HostDevice> matrix(int block_size, bool long_rows) {
  std::vector<Ordinal> lengths(num_rows);
  for (Ordinal i = 0; i < num_rows; ++i)
    lengths[i] = i % 7;
  if (long_rows) {
    lengths[17] = 600;
    lengths[30] = 100;
  }
  RandomOptions options;
  options.diagonal = false;
  return randomMatrix(num_rows, num_cols, block_size, lengths, options);
}

/// op(A) x for a column-major x by a loop over the entries, their values rounded to `Stored`.
template <class Stored, class Scalar>
Doubles plainProduct(const BsrMatrix<double, HostDevice>& a, Trans trans,
                     const std::vector<Scalar>& x, size_t columns) {
  const Offset bs = a.block_size;
  const size_t inner = trans == Trans::No ? a.numPointCols() : a.numPointRows();
  const size_t outer = trans == Trans::No ? a.numPointRows() : a.numPointCols();
  Doubles y(outer * columns, 0.0);
  for (Offset i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      for (Offset r = 0; r < bs; ++r)
        for (Offset c = 0; c < bs; ++c) {
          const double value =
              static_cast<double>(static_cast<Stored>(a.values((e * bs + r) * bs + c)));
          const size_t row = i * bs + r, column = a.graph.entries(e) * bs + c;
          const size_t to = trans == Trans::No ? row : column;
          const size_t from = trans == Trans::No ? column : row;
          for (size_t j = 0; j < columns; ++j)
            y[j * outer + to] += value * double(x[j * inner + from]);
        }
  return y;
}

/// alpha a + beta b + gamma c
Doubles combined(double alpha, const Doubles& a, double beta, const Doubles& b, double gamma = 0,
                 const Doubles& c = {}) {
  Doubles sum(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    sum[i] = alpha * a[i] + (beta != 0 ? beta * b[i] : 0) + (gamma != 0 ? gamma * c[i] : 0);
  return sum;
}

template <class Scalar>
std::vector<Scalar> inScalar(const Doubles& values) {
  return std::vector<Scalar>(values.begin(), values.end());
}
template <class Scalar>
Doubles inDouble(const std::vector<Scalar>& values) {
  return Doubles(values.begin(), values.end());
}

/// One column of y, to write to.
template <class Scalar>
MultiVectorArg<Scalar, Device> column(const MultiVector<Scalar, Device>& y, size_t j) {
  return Kokkos::subview(y, Kokkos::ALL, std::make_pair(j, j + 1));
}

template <class Scalar>
constexpr double tolerance = std::is_same<Scalar, float>::value ? 2e-5 : 1e-13;

/// All products of an operator with values of type Stored against the loop over the entries.
template <class Stored, class Scalar>
void checkProducts(int block_size, bool long_rows) {
  const auto a = matrix(block_size, long_rows);
  Operator<Scalar> op(storageOf<Stored, Scalar>());
  op.setGraph(Exec(), copyTo<Device>(a.graph), block_size);
  op.update(Exec(), copyTo<Device>(inPrecision<Scalar>(a)).values, false);
  ASSERT_EQ(op.longRows().numRows(), long_rows ? 2 : 0);
  Random random(21);
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    const size_t inner = trans == Trans::No ? a.numPointCols() : a.numPointRows();
    const size_t outer = trans == Trans::No ? a.numPointRows() : a.numPointCols();
    for (size_t columns = 1; columns <= 9; ++columns) {
      SCOPED_TRACE(message("block size ", block_size, long_rows ? ", long rows, " : ", ", columns,
                           " columns", trans == Trans::No ? "" : ", transposed"));
      const auto x = random.vector<Scalar>(inner * columns);
      const auto y0 = random.vector<Scalar>(outer * columns);
      const auto u = random.vector<Scalar>(outer * columns);
      const Doubles product = plainProduct<Stored>(a, trans, x, columns);
      const auto x_device = toDevice(x, inner, columns, inner + 2);
      const auto y = poisoned<Scalar>(outer, columns, outer + 3);
      op.multiply(Exec(), trans, Scalar(-2), x_device, Scalar(0), y);
      expectNear(toHost(y), combined(-2, product, 0, {}), tolerance<Scalar>);
      const auto z = toDevice(y0, outer, columns);
      op.multiply(Exec(), trans, Scalar(1), x_device, Scalar(0.5), z);
      expectNear(toHost(z), combined(1, product, 0.5, inDouble(y0)), tolerance<Scalar>);
      const auto w = toDevice(y0, outer, columns);
      op.multiplyAdd(Exec(), trans, Scalar(-1), x_device, Scalar(0.5), toDevice(u, outer, columns),
                     Scalar(2), w, w);
      expectNear(toHost(w), combined(-1, product, 0.5, inDouble(u), 2, inDouble(y0)),
                 tolerance<Scalar>);
      if (trans == Trans::Yes)
        continue;
      const auto one_by_one = poisoned<Scalar>(outer, columns);
      for (size_t j = 0; j < columns; ++j)
        op.multiply(Exec(), trans, Scalar(-2), column(x_device, j), Scalar(0),
                    column(one_by_one, j));
      if (compat::IsGpu<Exec>::value)
        expectNear(toHost(y), inDouble(toHost(one_by_one)), tolerance<Scalar>);
      else
        EXPECT_EQ(toHost(y), toHost(one_by_one));
    }
  }
}

TEST(SparseOperator, MatchesALoopOverTheEntriesInAllPrecisions) {
  for (int block_size = 1; block_size <= 5; ++block_size)
    for (const bool long_rows : {false, true}) {
      checkProducts<double, double>(block_size, long_rows);
      checkProducts<float, double>(block_size, long_rows);
      checkProducts<BFloat16, double>(block_size, long_rows);
    }
  for (const bool long_rows : {false, true}) {
    checkProducts<float, float>(3, long_rows);
    checkProducts<BFloat16, float>(1, long_rows);
  }
}

/// The transposed product with stored values knows of long rows, too.
TEST(SparseOperator, SharesLongRowsInEveryProduct) {
  for (const Storage storage : {Storage::Native, Storage::Float, Storage::BFloat16})
    for (const Trans trans : {Trans::No, Trans::Yes}) {
      const auto a = copyTo<Device>(matrix(2, true));
      Operator<double> op(storage);
      op.setGraph(Exec(), a.graph, 2);
      op.update(Exec(), a.values, false);
      const auto x = poisoned(trans == Trans::No ? a.numPointCols() : a.numPointRows(), 1);
      const auto y = poisoned(trans == Trans::No ? a.numPointRows() : a.numPointCols(), 1);
      const KernelLabelRecorder seen;
      op.multiply(Exec(), trans, 1.0, x, 0.0, y);
      const std::string label =
          trans == Trans::No ? "Ainvil::spmv[long rows]" : "Ainvil::spmv[transposed long rows]";
      const auto& kernels = seen.kernels();
      EXPECT_EQ(std::count(kernels.begin(), kernels.end(), label), 1) << nameOf<double>(storage);
    }
}

/// The same operator on two instances: each product is that of an operator alone.
TEST(SparseOperator, ServesTwoInstancesAtTheSameTime) {
  const auto a = copyTo<Device>(matrix(2, true));
  const Operator<double> op(Exec(), a);
  constexpr int products = 40;
  constexpr size_t columns = 3;
  const size_t inner = a.numPointCols(), outer = a.numPointRows();
  struct Side {
    Exec exec = compat::newInstance<Exec>();
    std::vector<MultiVector<double, Device>> x, y;
  };
  Side sides[2];
  std::vector<Doubles> expected[2];
  for (int side = 0; side < 2; ++side)
    for (int k = 0; k < products; ++k) {
      sides[side].x.push_back(
          toDevice(Random(1 + 2 * k + side).vector(inner * columns), inner, columns));
      sides[side].y.push_back(poisoned(outer, columns));
      const auto alone = poisoned(outer, columns);
      op.multiply(Exec(), Trans::No, 1.0, sides[side].x[k], 0.0, alone);
      expected[side].push_back(toHost(alone));
    }
  const auto run = [&](const Side& side, int k) {
    op.multiply(side.exec, Trans::No, 1.0, side.x[k], 0.0, side.y[k]);
  };
  // Kokkos before 4 does not take kernels from two threads at a time.
  if (KOKKOS_VERSION >= 40000) {
    std::thread other([&] {
      for (int k = 0; k < products; ++k)
        run(sides[1], k);
    });
    for (int k = 0; k < products; ++k)
      run(sides[0], k);
    other.join();
  } else {
    for (int k = 0; k < products; ++k)
      for (const Side& side : sides)
        run(side, k);
  }
  for (int side = 0; side < 2; ++side)
    for (int k = 0; k < products; ++k)
      EXPECT_EQ(toHost(sides[side].y[k]), expected[side][k]) << "side " << side << ", " << k;
}

/// Sums of long rows that are taken at the same time lie in different places.
TEST(SparseOperator, HasAWorkspaceForEveryLaunchAtTheSameTime) {
  if (compat::IsGpu<Exec>::value && !compat::has_instances)
    GTEST_SKIP() << "launches of one stream are not at the same time";
  const Operator<double> op(Exec(), copyTo<Device>(matrix(1, true)));
  using Lease = LongRows<Device>::Lease;
  const Exec exec, other = compat::newInstance<Exec>();
  const double *first = nullptr, *second = nullptr;
  {
    const Lease a(op.longRows(), exec), b(op.longRows(), other);
    first = a.segments().partials;
    second = b.segments().partials;
    ASSERT_NE(first, nullptr);
    EXPECT_NE(first, second);
    EXPECT_NE(a.segments().arrived, b.segments().arrived);
    EXPECT_EQ(a.segments().rows, b.segments().rows);
  }
  const AllocationCounter counter;
  const Operator<double> copy = op;
  const Lease a(copy.longRows(), exec), b(copy.longRows(), other);
  EXPECT_EQ(a.segments().partials, first);
  EXPECT_EQ(b.segments().partials, second);
  EXPECT_EQ(counter.count(), 0) << counter.labels();
}

TEST(SparseOperator, AllocatesNothingAndWaitsNowhereOnceAnInstanceIsKnown) {
  const Exec exec = compat::newInstance<Exec>();
  for (const Storage storage : {Storage::Native, Storage::Float, Storage::BFloat16}) {
    const auto a = copyTo<Device>(matrix(3, true));
    Operator<double> op(storage);
    op.setGraph(Exec(), a.graph, 3);
    op.update(Exec(), a.values, false);
    const auto x = poisoned(a.numPointCols(), 9), y = poisoned(a.numPointRows(), 9);
    const auto products = [&] {
      op.multiply(exec, Trans::No, 1.0, x, 0.0, y);
      op.multiplyAdd(exec, Trans::No, 1.0, x, 0.5, y, 0.5, y, y);
      op.multiply(exec, Trans::Yes, 1.0, y, 0.0, x);
    };
    products();
    exec.fence();
    {
      const InstanceRecorder seen;
      products();
      EXPECT_TRUE(seen.allocations().empty()) << listOf(seen.allocations());
      EXPECT_TRUE(seen.fences().empty()) << listOf(seen.fences());
    }
    exec.fence();
  }
}

TEST(SparseOperator, SharesNativeValuesAndRoundsTheOthers) {
  const auto a = copyTo<Device>(matrix(2, false));
  Operator<double> native(Storage::Native), rounded(Storage::BFloat16);
  native.setGraph(Exec(), a.graph, 2);
  native.update(Exec(), a.values);
  EXPECT_EQ(native.native().values.data(), a.values.data());
  EXPECT_EQ(native.bytes(), a.bytes());
  EXPECT_EQ(native.numScalars(), a.numScalars());
  rounded.setGraph(Exec(), a.graph, 2);
  rounded.update(Exec(), a.values, false);
  EXPECT_EQ(rounded.storage(), Storage::BFloat16);
  EXPECT_EQ(a.bytes() - rounded.bytes(), 6 * a.numScalars());
  const auto stored = toHost(rounded.matrixIn<BFloat16>().values);
  const auto values = toHost(a.values);
  for (size_t e = 0; e < values.size(); ++e)
    EXPECT_NEAR(double(stored[e]), values[e], std::abs(values[e]) / 256);
}

TEST(SparseOperator, RefusesValuesThatDoNotFit) {
  const Graph<Device> graph = copyTo<Device>(makeGraph({{0}, {0, 1}, {2}}, 3));
  for (const Storage storage : {Storage::Float, Storage::BFloat16}) {
    SCOPED_TRACE(nameOf<double>(storage));
    Operator<double> op(storage);
    op.setGraph(Exec(), graph, 1);
    const auto update = [&](const Doubles& values, bool full_rows) {
      op.update(Exec(), toDevice(values), full_rows);
    };
    EXPECT_NO_THROW(update({1, 1, 1, 1}, true));
    EXPECT_THROW(update({1, 1e300, 1, 1}, false), InvalidArgument);
    EXPECT_NO_THROW(update({1, 1e-300, 1, 1}, true));
    EXPECT_THROW(update({1, 1, 1, 1e-300}, true), InvalidArgument);
    EXPECT_NO_THROW(update({1, 1, 1, 1e-300}, false));
    EXPECT_THROW(update({1, 1, 1, 1, 1}, false), InvalidArgument);
  }
}

/// Factors whose number of entries changes keep their memory.
/// A vector of another shape is refused if it is read, and stays unread if its factor is 0.
TEST(Combine, RefusesOtherShapesOfWhatItReads) {
  const auto y = poisoned(5, 2), other = poisoned(4, 2), good = poisoned(5, 2);
  Kokkos::deep_copy(good, 1.0);
  for (const int bad : {0, 1, 2})
    for (const int read : {0, 1, 2}) {
      double factors[] = {0, 0, 0};
      factors[read] = 3;
      const auto vector = [&](int which) { return which == bad ? other : good; };
      const auto combine = [&] {
        detail::combine<double, Device>(Exec(), factors[0], vector(0), factors[1], vector(1),
                                        factors[2], vector(2), y);
      };
      if (read == bad) {
        EXPECT_THROW(combine(), InvalidArgument) << bad;
      } else {
        ASSERT_NO_THROW(combine()) << bad << " " << read;
        EXPECT_EQ(toHost(y), std::vector<double>(10, 3.0));
      }
    }
}

TEST(SparseOperator, KeepsTheArrayOfRoundedValues) {
  const auto a = copyTo<Device>(matrix(1, true)), fewer = copyTo<Device>(matrix(1, false));
  Operator<double> op(Storage::Float);
  op.setGraph(Exec(), a.graph, 1);
  op.update(Exec(), a.values, false);
  const float* const array = op.matrixIn<float>().values.data();
  op.clear();
  EXPECT_EQ(op.numScalars(), 0);
  EXPECT_EQ(op.longRows().numRows(), 0);
  const AllocationCounter counter;
  op.setGraph(Exec(), fewer.graph, 1);
  op.update(Exec(), fewer.values, false);
  EXPECT_EQ(op.matrixIn<float>().values.data(), array);
  EXPECT_EQ(op.numScalars(), fewer.numScalars());
  EXPECT_EQ(counter.count(), 0) << counter.labels();
}

} // namespace
