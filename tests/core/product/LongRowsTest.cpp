// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"
#include "product/Ainvil_SparseOperator.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;
using Doubles = std::vector<double>;

constexpr Ordinal columns_of_a = 6000;

/// 200 rows with 3 entries and, among them, one of every length that takes another way: just short
/// and just long, one full segment, one more, several.
BsrMatrix<double, HostDevice> skewed(int block_size) {
  Random random(3);
  Rows rows(200);
  for (auto& row : rows)
    row = {static_cast<Ordinal>(random.uniform(0, columns_of_a / 3)),
           static_cast<Ordinal>(random.uniform(columns_of_a / 3, 2 * columns_of_a / 3)),
           static_cast<Ordinal>(random.uniform(2 * columns_of_a / 3, columns_of_a))};
  Ordinal at = 5;
  for (const Ordinal length : {500, 511, 512, 513, 1024, 2048, 5999, 6000}) {
    rows[at].clear();
    for (Ordinal k = 0; k < length; ++k)
      rows[at].push_back(static_cast<Ordinal>(Offset(k) * columns_of_a / length));
    at += 27;
  }
  rows[100].clear();
  return randomMatrix(rows, columns_of_a, block_size);
}

LongRows<Device> longRowsOf(const BsrMatrix<double, HostDevice>& a) {
  return LongRows<Device>(Exec(), copyTo<Device>(a.graph), a.block_size);
}

TEST(LongRows, AreThoseAboveFourTimesTheMean) {
  const auto a = skewed(1);
  const LongRows<Device> rows = longRowsOf(a);
  EXPECT_EQ(rows.limit(), 4 * (a.numEntries() / a.numRows()));
  Ordinal expected = 0, segments = 0;
  for (Ordinal i = 0; i < a.numRows(); ++i) {
    const Offset length = a.graph.row_map(i + 1) - a.graph.row_map(i);
    if (length > rows.limit()) {
      ++expected;
      segments += static_cast<Ordinal>((length + 255) / 256);
    }
  }
  ASSERT_GE(expected, 6);
  EXPECT_EQ(rows.numRows(), expected);
  EXPECT_EQ(rows.numSegments(), segments);
}

TEST(LongRows, AreAbsentFromEvenAndFromEmptyMatrices) {
  EXPECT_EQ(longRowsOf(randomMatrix(50, 50, 2, 0.5)).numRows(), 0);
  EXPECT_EQ(longRowsOf(randomMatrix(0, 0, 2, 0.5)).numRows(), 0);
  EXPECT_EQ(LongRows<Device>().numSegments(), 0);
}

TEST(LongRows, ChangeNothingButTheOrderOfSums) {
  for (const int bs : {1, 3}) {
    const auto a = skewed(bs);
    const auto a_device = copyTo<Device>(a);
    const SparseOperator<double, Device> op(Exec(), a_device);
    for (const Trans trans : {Trans::No, Trans::Yes})
      for (const size_t columns : {1, 4, 7}) {
        const size_t inner = trans == Trans::No ? a.numPointCols() : a.numPointRows();
        const size_t outer = a.numPointCols() + a.numPointRows() - inner;
        Random random(5);
        const auto x = toDevice(random.vector(inner * columns), inner, columns);
        const Doubles y0 = random.vector(outer * columns);
        for (const double beta : {0.0, 0.5}) {
          const auto balanced = toDevice(y0, outer, columns), plain = toDevice(y0, outer, columns);
          op.multiply(Exec(), trans, -2.0, x, beta, balanced);
          spmv<double, double, Device>(Exec(), trans, -2.0, a_device, x, beta, plain);
          expectNear(toHost(balanced), toHost(plain), 1e-12);
        }
      }
  }
}

TEST(LongRows, ServeSpmvAddWithAnyAlias) {
  const auto a = skewed(2);
  const auto a_device = copyTo<Device>(a);
  const SparseOperator<double, Device> op(Exec(), a_device);
  const size_t n = a.numPointRows(), inner = a.numPointCols();
  Random random(6);
  const auto x = toDevice(random.vector(inner * 5), inner, 5);
  const auto u = toDevice(random.vector(n * 5), n, 5);
  const Doubles y0 = random.vector(n * 5);
  const auto balanced = toDevice(y0, n, 5), plain = toDevice(y0, n, 5);
  op.multiplyAdd(Exec(), Trans::No, -1.0, x, 0.5, u, 2.0, balanced, balanced);
  spmvAdd<double, double, Device>(Exec(), -1.0, a_device, x, 0.5, u, 2.0, plain, plain);
  expectNear(toHost(balanced), toHost(plain), 1e-12);
}

TEST(LongRows, AreAddedInAFixedOrder) {
  const auto a = skewed(1);
  const SparseOperator<double, Device> op(Exec(), copyTo<Device>(a));
  const auto x = toDevice(Random(7).vector(a.numPointCols()));
  Doubles first;
  for (int run = 0; run < 20; ++run) {
    const auto y = poisoned(a.numPointRows());
    op.multiply(Exec(), Trans::No, 1.0, asColumn(x), 0.0, asColumn(y));
    if (run == 0)
      first = toHost(y);
    EXPECT_EQ(toHost(y), first);
  }
}

/// Rows as long as the limit are not long: every row has its sum from one kernel, and from one
/// only.
TEST(LongRows, BeginBehindTheLimit) {
  for (const int bs : {1, 2, 3, 9})
    for (const Ordinal factor : {1, 2}) { // limits of 64 and of 4 times a mean of 32
      const Ordinal n = 100, limit = 64 * factor;
      Rows rows(n, std::vector<Ordinal>(factor == 1 ? 2 : 27));
      for (auto& row : rows)
        std::iota(row.begin(), row.end(), 0);
      for (const Ordinal i : {0, 31, 32, 50, 99}) {
        rows[i].resize(limit + (i == 50 ? 1 : i == 31 ? -1 : 0));
        std::iota(rows[i].begin(), rows[i].end(), 0);
      }
      const auto a = randomMatrix(rows, 200, bs);
      const SparseOperator<double, Device> op(Exec(), copyTo<Device>(a));
      const LongRows<Device>& long_rows = op.longRows();
      SCOPED_TRACE(message("block size ", bs, ", limit ", limit));
      ASSERT_EQ(long_rows.limit(), limit);
      EXPECT_EQ(long_rows.numRows(), 1);
      const Doubles dense = toDense(a);
      const size_t num_rows = a.numPointRows(), num_cols = a.numPointCols();
      for (const Trans trans : {Trans::No, Trans::Yes})
        for (const size_t columns : {1, 4}) {
          const size_t inner = trans == Trans::No ? num_cols : num_rows;
          const Doubles x = Random(9).vector(inner * columns);
          const auto y = poisoned(num_rows + num_cols - inner, columns);
          op.multiply(Exec(), trans, 1.0, toDevice(x, inner, columns), 0.0, y);
          const Doubles op_a = trans == Trans::No ? dense : transposed(dense, num_cols);
          expectNear(toHost(y), transposed(multiply(op_a, transposed(x, inner), inner), columns),
                     1e-13);
        }
    }
}

TEST(LongRows, AloneLeaveTheOtherRowsAsTheyAre) {
  const auto a = skewed(1);
  const SparseOperator<double, Device> op(Exec(), copyTo<Device>(a));
  const auto x = toDevice(Random(8).vector(a.numPointCols()));
  const auto all = poisoned(a.numPointRows());
  op.multiply(Exec(), Trans::No, 1.0, asColumn(x), 0.0, asColumn(all));
  const auto some = toDevice(Doubles(a.numPointRows(), 7.0));
  op.multiplyAddLongRows(Exec(), 1.0, asColumn(x), 0.0, asColumn(some), 0.0, asColumn(some),
                         asColumn(some));
  const Doubles result = toHost(some), expected = toHost(all);
  for (Ordinal i = 0; i < a.numRows(); ++i) {
    const bool is_long = a.graph.row_map(i + 1) - a.graph.row_map(i) > op.longRows().limit();
    EXPECT_EQ(result[i], is_long ? expected[i] : 7.0) << "row " << i;
  }
}

TEST(LongRows, ProductsAllocateNothing) {
  const auto a = skewed(3);
  const SparseOperator<double, Device> op(Exec(), copyTo<Device>(a));
  const auto x = poisoned(a.numPointCols(), 9), y = poisoned(a.numPointRows(), 9);
  const KernelLabelRecorder recorder;
  const auto products = [&] {
    op.multiply(Exec(), Trans::No, 1.0, x, 0.0, y);
    op.multiply(Exec(), Trans::Yes, 1.0, y, 0.0, x);
  };
  products(); // the first team kernel of a process makes Kokkos allocate
  const AllocationCounter counter;
  products();
  EXPECT_EQ(counter.count(), 0) << counter.labels();
  expectOwnLabels(recorder.kernels());
}

} // namespace
