// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Scaling.hpp"
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

/// Rows of 1 to 300 entries whose values span sixteen decades, more by rows and columns.
BsrMatrix<double, HostDevice> badlyScaled(Ordinal n, int block_size, std::uint64_t seed) {
  RandomOptions options;
  options.seed = seed;
  const auto a =
      randomMatrix(n, n, block_size, std::vector<Ordinal>{1, 31, 5, 33, 300, 2, 64, 65}, options);
  Random random(seed);
  const auto rows = random.vector(n), columns = random.vector(n);
  const int bs2 = block_size * block_size;
  for (Ordinal i = 0; i < n; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      for (int k = 0; k < bs2; ++k)
        a.values(e * bs2 + k) *= std::pow(10, 8 * (rows[i] + columns[a.graph.entries(e)]));
  return a;
}

/// The largest modulus of each row, or of each column.
std::vector<double> largest(const std::vector<double>& dense, size_t n, bool of_columns) {
  std::vector<double> found(n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      found[of_columns ? j : i] = std::max(found[of_columns ? j : i], std::fabs(dense[i * n + j]));
  return found;
}

TEST(Equilibration, MakesTheLargestEntriesOfRowsAndColumnsEqual) {
  for (const int block_size : {1, 2, 3, 5}) {
    const auto a = badlyScaled(615, block_size, 3);
    const size_t n = a.numPointRows();
    const auto on_device = copyTo<Device>(a);
    const auto scaling = ruizScaling(Exec(), on_device);
    const auto dense = toDense(scaled(Exec(), scaling, on_device));
    for (const bool of_columns : {false, true})
      for (const double size : largest(dense, n, of_columns))
        ASSERT_NEAR(size, 1, 0.05) << block_size;
    // It is R A C.
    const auto original = toDense(a), r = toHost(scaling.rows), c = toHost(scaling.columns);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        ASSERT_NEAR(dense[i * n + j], r[i] * original[i * n + j] * c[j], 1e-13);
  }
}

TEST(Equilibration, IsSymmetricWhereTheMatrixIs) {
  const auto a = badlyScaled(64, 1, 4);
  Rows full(64, std::vector<Ordinal>(64));
  for (auto& row : full)
    std::iota(row.begin(), row.end(), 0);
  auto dense = toDense(a);
  for (size_t i = 0; i < 64; ++i)
    for (size_t j = 0; j < i; ++j)
      dense[i * 64 + j] = -dense[j * 64 + i];
  const BsrMatrix<double, HostDevice> symmetric(makeGraph(full), viewOf(dense), 1);
  const auto scaling = ruizScaling(Exec(), copyTo<Device>(symmetric));
  EXPECT_EQ(toHost(scaling.rows), toHost(scaling.columns));
}

TEST(Equilibration, LeavesRowsAndColumnsOfZeros) {
  const BsrMatrix<double, HostDevice> a(makeGraph({{0, 1}, {1}, {}}), viewOf<double>({4, 0, 0}), 1);
  const auto scaling = ruizScaling(Exec(), copyTo<Device>(a));
  const auto r = toHost(scaling.rows), c = toHost(scaling.columns);
  EXPECT_NEAR(4 * r[0] * c[0], 1, 1e-2);
  for (const size_t i : {1, 2}) {
    EXPECT_EQ(r[i], 1);
    EXPECT_EQ(c[i], 1);
  }
  EXPECT_EQ(ruizScaling(Exec(), BsrMatrix<double, Device>()).rows.extent(0), 0u);
}

TEST(Equilibration, WorksInFloatAndOnTheHostDevice) {
  const auto a = badlyScaled(100, 2, 5);
  const auto expected = toHost(ruizScaling(Exec(), copyTo<Device>(a)).rows);
  EXPECT_EQ(toHost(ruizScaling(HostDevice::execution_space(), a).rows), expected);
  const auto in_float = toHost(ruizScaling(Exec(), copyTo<Device>(inPrecision<float>(a))).rows);
  for (size_t i = 0; i < expected.size(); ++i)
    EXPECT_NEAR(in_float[i], expected[i], 1e-3 * expected[i]);
}

TEST(Equilibration, RefusesWhatItCannotScale) {
  const BsrMatrix<double, HostDevice> wide(makeGraph({{0}, {2}}, 3), viewOf<double>({1, 2}), 1);
  EXPECT_THROW(ruizScaling(Exec(), copyTo<Device>(wide)), InvalidArgument);
  const BsrMatrix<double, HostDevice> nan(makeGraph({{0}}), viewOf<double>({std::nan("")}), 1);
  EXPECT_THROW(ruizScaling(Exec(), copyTo<Device>(nan)), InvalidArgument);
  const auto a = copyTo<Device>(badlyScaled(10, 1, 6));
  const Vector<double, Device> nine("Ainvil::test", 9), ten("Ainvil::test", 10);
  EXPECT_THROW(scaled(Exec(), RowColumnScaling<double, Device>{nine, ten}, a), InvalidArgument);
  EXPECT_THROW(scaled(Exec(), RowColumnScaling<double, Device>{ten, nine}, a), InvalidArgument);
}

} // namespace
