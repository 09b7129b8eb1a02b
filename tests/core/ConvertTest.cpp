// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Convert.hpp"
#include "Ainvil_GraphAlgebra.hpp"
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"

#include <set>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

RandomOptions anyDiagonal(std::uint64_t seed) {
  RandomOptions options;
  options.diagonal = false;
  options.seed = seed;
  return options;
}

template <class Scalar>
void expectSame(const BsrMatrix<Scalar, Device>& a, const BsrMatrix<Scalar, HostDevice>& b) {
  EXPECT_EQ(a.block_size, b.block_size);
  EXPECT_EQ(a.numCols(), b.numCols());
  EXPECT_EQ(rowsOf(a.graph), rowsOf(b.graph));
  EXPECT_EQ(toHost(a.values), toHost(b.values));
}

/// Block columns that the point rows of each block row touch.
Rows serialBlockRows(const Rows& points, int bs) {
  Rows blocks(points.size() / bs);
  for (size_t i = 0; i < blocks.size(); ++i) {
    std::set<Ordinal> touched;
    for (int r = 0; r < bs; ++r)
      for (const Ordinal j : points[i * bs + r])
        touched.insert(j / bs);
    blocks[i].assign(touched.begin(), touched.end());
  }
  return blocks;
}

template <class Scalar>
void checkRoundTrip(int bs) {
  SCOPED_TRACE(message("block size ", bs));
  const std::vector<Ordinal> lengths = {1, 0, 5, 31, 2};
  const auto a = inPrecision<Scalar>(randomMatrix(29, 37, bs, lengths, anyDiagonal(bs)));
  const auto points = toPoints(Exec(), copyTo<Device>(a));
  EXPECT_EQ(points.block_size, 1);
  EXPECT_EQ(points.numRows(), a.numPointRows());
  EXPECT_EQ(points.numCols(), a.numPointCols());
  EXPECT_EQ(points.numEntries(), a.numScalars());
  EXPECT_NO_THROW(validate(Exec(), points.graph));
  EXPECT_TRUE(isSorted(Exec(), points.graph));
  EXPECT_EQ(toDense(points), toDense(a));
  expectSame(toBlocks(Exec(), points, bs), a);
}

TEST(Convert, BlocksToPointsAndBack) {
  for (const int bs : {1, 2, 3, 4, 5, 6, 7, 8, 11, 17}) {
    checkRoundTrip<double>(bs);
    checkRoundTrip<float>(bs);
  }
}

void checkToBlocks(const BsrMatrix<double, HostDevice>& a, int bs) {
  SCOPED_TRACE(message(a.numRows(), " x ", a.numCols(), ", block size ", bs));
  const auto blocks = toBlocks(Exec(), copyTo<Device>(a), bs);
  EXPECT_EQ(blocks.block_size, bs);
  EXPECT_EQ(blocks.numCols(), a.numCols() / bs);
  EXPECT_EQ(rowsOf(blocks.graph), serialBlockRows(rowsOf(a.graph), bs));
  EXPECT_EQ(toDense(blocks), toDense(a));
}

TEST(Convert, FillsPartialBlocksWithZeros) {
  for (const int bs : {2, 3, 4, 5, 6, 7, 8, 11, 17}) {
    checkToBlocks(randomMatrix(13 * bs, 19 * bs, 1, 0.05, anyDiagonal(bs)), bs);
    checkToBlocks(randomMatrix(bs, bs, 1, 0.5), bs);
  }
  const std::vector<Ordinal> long_rows = {1, 31, 32, 33, 65, 300, 0};
  checkToBlocks(randomMatrix(536, 536, 1, long_rows), 8);
  checkToBlocks(randomMatrix(615, 615, 1, long_rows), 5);
  checkToBlocks(randomMatrix(615, 615, 1, long_rows), 615);
}

TEST(Convert, ReblocksThroughPoints) {
  const auto a = randomMatrix(12, 18, 2, 0.2, anyDiagonal(1));
  const auto b = toBlocks(Exec(), copyTo<Device>(a), 3);
  EXPECT_EQ(b.block_size, 3);
  EXPECT_EQ(b.numRows(), 8);
  EXPECT_EQ(b.numCols(), 12);
  EXPECT_EQ(toDense(b), toDense(a));
}

TEST(Convert, LeavesASuitableMatrixAlone) {
  const auto a = copyTo<Device>(randomMatrix(12, 12, 2, 0.2));
  EXPECT_EQ(toBlocks(Exec(), a, 2).values.data(), a.values.data());
  const auto b = copyTo<Device>(randomMatrix(12, 12, 1, 0.2));
  EXPECT_EQ(toPoints(Exec(), b).values.data(), b.values.data());
}

TEST(Convert, EmptyMatrices) {
  checkToBlocks(randomMatrix(0, 0, 1, 0.5), 3);
  checkToBlocks(randomMatrix(Rows(12), 6, 1), 3);
  const auto points = toPoints(Exec(), copyTo<Device>(randomMatrix(0, 0, 3, 0.5)));
  EXPECT_EQ(points.numRows(), 0);
  EXPECT_EQ(points.numEntries(), 0);
  EXPECT_NO_THROW(validate(Exec(), points.graph));
  const auto no_entries = toPoints(Exec(), copyTo<Device>(randomMatrix(Rows(4), 2, 3)));
  EXPECT_EQ(rowsOf(no_entries.graph), Rows(12));
}

TEST(Convert, RefusesBlockSizesThatDoNotDivide) {
  const auto a = copyTo<Device>(randomMatrix(12, 18, 1, 0.2, anyDiagonal(1)));
  EXPECT_NO_THROW(toBlocks(Exec(), a, 6));
  EXPECT_THROW(toBlocks(Exec(), a, 4), InvalidArgument); // the columns
  EXPECT_THROW(toBlocks(Exec(), a, 9), InvalidArgument); // the rows
  EXPECT_THROW(toBlocks(Exec(), a, 5), InvalidArgument);
  EXPECT_THROW(toBlocks(Exec(), a, 0), InvalidArgument);
  EXPECT_THROW(toBlocks(Exec(), a, -2), InvalidArgument);
  const auto blocks = copyTo<Device>(randomMatrix(5, 5, 2, 0.5));
  EXPECT_THROW(toBlocks(Exec(), blocks, 3), InvalidArgument);
}

// ------------------------------------------------------------------------------------ Kokkos
// Kernels

template <class Scalar, class Size>
using TheirCrs = KokkosSparse::CrsMatrix<Scalar, Ordinal, Device, void, Size>;

/// A matrix of one of their types; `block_size` is an argument of those in blocks.
template <class Theirs, class Size, class Scalar, class... BlockSize>
Theirs kokkosMatrix(const BsrMatrix<Scalar, HostDevice>& a, BlockSize... block_size) {
  const auto offsets = toHost(a.graph.row_map);
  const typename Theirs::row_map_type::non_const_type row_map =
      viewOf<Size, Device>(std::vector<Size>(offsets.begin(), offsets.end()));
  const typename Theirs::index_type::non_const_type columns =
      viewOf<Ordinal, Device>(toHost(a.graph.entries));
  const typename Theirs::values_type values = viewOf<Scalar, Device>(toHost(a.values));
  return Theirs("Ainvil::test", a.numRows(), a.numCols(), a.numEntries(), values, row_map, columns,
                block_size...);
}

template <class Scalar, class Size>
void checkFromKokkos(Ordinal rows, Ordinal columns, double density) {
  SCOPED_TRACE(message(rows, " x ", columns, ", ", sizeof(Size), " bytes"));
  const auto a = inPrecision<Scalar>(randomMatrix(rows, columns, 1, density, anyDiagonal(9)));
  const auto crs = kokkosMatrix<TheirCrs<Scalar, Size>, Size>(a);
  const BsrMatrix<Scalar, Device> b = fromKokkos(Exec(), crs);
  expectSame(b, a);
  EXPECT_EQ(b.values.data(), crs.values.data());
  EXPECT_EQ(b.graph.entries.data(), crs.graph.entries.data());
  const void* own = b.graph.row_map.data();
  const void* theirs = crs.graph.row_map.data();
  EXPECT_EQ(own == theirs, sizeof(Size) == sizeof(Offset));
}

#if __has_include(<KokkosSparse_BsrMatrix.hpp>)
template <class Size>
void checkFromKokkosBlocks(Ordinal rows, int bs) {
  using Bsr = KokkosSparse::Experimental::BsrMatrix<double, Ordinal, Device, void, Size>;
  SCOPED_TRACE(message(rows, " rows of blocks of ", bs));
  const auto a = randomMatrix(rows, rows + 3, bs, 0.1, anyDiagonal(bs));
  const auto bsr = kokkosMatrix<Bsr, Size>(a, bs);
  const BsrMatrix<double, Device> b = fromKokkos(Exec(), bsr);
  expectSame(b, a);
  EXPECT_EQ(b.values.data(), bsr.values.data());
}

TEST(Convert, FromKokkosInBlocks) {
  for (const int bs : {1, 3, 8}) {
    checkFromKokkosBlocks<int>(37, bs);
    checkFromKokkosBlocks<Offset>(37, bs);
  }
}
#endif

TEST(Convert, FromKokkos) {
  for (const Ordinal n : {0, 1, 536}) {
    checkFromKokkos<double, int>(n, n + 3, 0.02);
    checkFromKokkos<double, size_t>(n, n + 3, 0.02);
    checkFromKokkos<double, Offset>(n, n + 3, 0.02);
    checkFromKokkos<float, int>(n, n + 3, 0.02);
  }
}

TEST(Convert, SharedRowMapsOutliveTheirMatrix) {
  const auto a = randomMatrix(40, 50, 1, 0.1, anyDiagonal(9));
  auto crs = kokkosMatrix<TheirCrs<double, size_t>, size_t>(a);
  const int users = crs.graph.row_map.use_count();
  {
    const auto b = fromKokkos(Exec(), crs);
    const auto copy = b;
    EXPECT_EQ(crs.graph.row_map.use_count(), users + 2);
  }
  EXPECT_EQ(crs.graph.row_map.use_count(), users);
  const auto b = fromKokkos(Exec(), crs);
  crs = {};
  const auto other = poisoned(40, 50); // memory that may have been freed
  expectSame(b, a);
}

TEST(Convert, FromKokkosWithConstValuesCopiesThem) {
  const auto a = randomMatrix(40, 50, 1, 0.1, anyDiagonal(9));
  const auto crs = kokkosMatrix<TheirCrs<const double, Offset>, Offset>(a);
  const BsrMatrix<double, Device> b = fromKokkos(Exec(), crs);
  expectSame(b, a);
  EXPECT_NE(b.values.data(), crs.values.data());
}

TEST(Convert, FromKokkosOfAnExecutionSpace) {
  const auto a = randomMatrix(40, 50, 1, 0.1, anyDiagonal(9));
  using Crs = KokkosSparse::CrsMatrix<double, Ordinal, Exec, void, size_t>;
  const BsrMatrix<double, Device> b = fromKokkos(Exec(), kokkosMatrix<Crs, size_t>(a));
  expectSame(b, a);
  expectSame(b, copyTo<HostDevice::memory_space>(b));
}

/// Kokkos Kernels lets a matrix without rows have a row map without offsets.
TEST(Convert, FromADefaultConstructedKokkosMatrix) {
  const auto check = [](const BsrMatrix<double, Device>& a) {
    EXPECT_EQ(a.numRows(), 0);
    EXPECT_EQ(a.numEntries(), 0);
    EXPECT_EQ(toHost(a.graph.row_map), std::vector<Offset>{0});
  };
  EXPECT_NO_THROW(
      check(fromKokkos(Exec(), KokkosSparse::CrsMatrix<double, Ordinal, Device, void, int>())));
  EXPECT_NO_THROW(
      check(fromKokkos(Exec(), KokkosSparse::CrsMatrix<double, Ordinal, Device, void, Offset>())));
}

TEST(Convert, ToBlocksSortsFirst) {
  const Graph<HostDevice> graph = makeGraph({{2, 3, 0, 1}, {0}, {3, 2}, {1}}, 4);
  const BsrMatrix<double, HostDevice> a(graph, viewOf(Random(3).vector(8)), 1);
  const auto blocks = toBlocks(Exec(), copyTo<Device>(a), 2);
  EXPECT_EQ(blocks.numEntries(), 4);
  EXPECT_EQ(toDense(blocks), toDense(a));
}

TEST(Convert, ToKokkosAndBack) {
  for (const Ordinal n : {0, 1, 536}) {
    const auto a = randomMatrix(n, n + 3, 1, 0.02, anyDiagonal(10));
    const auto on_device = copyTo<Device>(a);
    const auto crs = toKokkos(Exec(), on_device);
    EXPECT_EQ(crs.numRows(), a.numRows());
    EXPECT_EQ(crs.numCols(), a.numCols());
    EXPECT_EQ(static_cast<Offset>(crs.nnz()), a.numEntries());
    if (n > 0) {
      EXPECT_EQ(crs.values.data(), on_device.values.data());
    }
    expectSame(fromKokkos(Exec(), crs), a);
  }
  const auto blocks = copyTo<Device>(randomMatrix(5, 5, 2, 0.5));
  EXPECT_THROW(toKokkos(Exec(), blocks), InvalidArgument);
}

TEST(Convert, KernelsAndArraysCarryLabels) {
  const auto a = copyTo<Device>(randomMatrix(12, 12, 2, 0.2));
  const auto crs = kokkosMatrix<TheirCrs<double, int>, int>(randomMatrix(12, 12, 1, 0.2));
  const KernelLabelRecorder recorder;
  const auto points = toPoints(Exec(), a);
  toBlocks(Exec(), points, 3);
  fromKokkos(Exec(), crs);
  toKokkos(Exec(), points);
  EXPECT_GE(recorder.kernels().size(), 6u);
  expectOwnLabels(recorder.labels());
}

} // namespace
