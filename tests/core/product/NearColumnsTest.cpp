// SPDX-License-Identifier: BSD-3-Clause
#include "ProductSupport.hpp"

#include <functional>
#include <set>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

/// Rows of 0 to 3 entries, on the diagonals first, first + 1 and first + width - 1 where the matrix
/// has them.
Graph<HostDevice> band(Ordinal n, Offset first, Offset width) {
  Rows rows(n);
  for (Offset i = 0; i < n; ++i)
    for (const Offset diagonal : std::set<Offset>{first, first + 1, first + width - 1})
      if (i % 5 != 3 && i + diagonal >= 0 && i + diagonal < n)
        rows[i].push_back(static_cast<Ordinal>(i + diagonal));
  return randomMatrix(rows, n, 1, {}).graph;
}

std::vector<Offset> columnsOf(const detail::NearColumns<Device>& near,
                              const Graph<HostDevice>& graph) {
  const auto distances = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), near.distances);
  std::vector<Offset> columns;
  for (Offset i = 0; i < graph.num_rows; ++i)
    for (Offset k = graph.row_map(i); k < graph.row_map(i + 1); ++k)
      columns.push_back(i + near.first + distances(k));
  return columns;
}

TEST(NearColumns, AreTheColumnsOfABand) {
  constexpr Ordinal n = 70000;
  for (const Offset width : {Offset(2), Offset(300), Offset(65535), Offset(65536)})
    for (const Offset first : {Offset(0), Offset(1), Offset(-1), 1 - width, -width / 2}) {
      SCOPED_TRACE(message(width, " diagonals from ", first));
      const auto graph = band(n, first, width);
      const auto near = detail::nearColumns(Exec(), copyTo<Device>(graph));
      ASSERT_TRUE(near.exist());
      EXPECT_EQ(
          columnsOf(near, graph),
          std::vector<Offset>(graph.entries.data(), graph.entries.data() + graph.numEntries()));
    }
}

TEST(NearColumns, ThereAreNoneOfMoreDiagonalsOrOfNothing) {
  const auto wide = copyTo<Device>(band(70000, -1, 65537));
  EXPECT_FALSE(detail::nearColumns(Exec(), wide).exist());
  const auto empty = copyTo<Device>(randomMatrix(Rows(7), 7, 1, {}).graph);
  EXPECT_FALSE(detail::nearColumns(Exec(), empty).exist());
  EXPECT_FALSE(detail::nearColumns(Exec(), Graph<Device>()).exist());
}

/// Products and steps with near columns are, bit for bit, those with the graph's.
template <class Stored>
void checkProducts() {
  const auto a = copyTo<Device>(
      inPrecision<Stored>(randomMatrix(4000, 4000, 1, std::vector<Ordinal>{1, 3, 0, 5, 19})));
  const detail::ProductPlan<Device> with_graph;
  detail::ProductPlan<Device> with_near;
  with_near.near = detail::nearColumns(Exec(), a.graph);
  ASSERT_TRUE(with_near.near.exist());
  Random random(5);
  const size_t n = a.numPointRows();
  for (const size_t columns : {1, 3, 8, 9}) {
    const auto x = toDevice(random.vector<double>(n * columns), n, columns, n + 5);
    const auto u = toDevice(random.vector<double>(n * columns), n, columns);
    const auto results = [&](const detail::ProductPlan<Device>& plan) {
      const auto y = poisoned<double>(n, columns), w = poisoned<double>(n, columns);
      const MultiVectorArg<const double, Device> u_in(u);
      detail::multiplyAdd<Stored, double, Device>(Exec(), plan, 0.5, a, x, 2.0, u_in, 0.0, u_in, y,
                                                  {1.5, 0.0, w});
      const auto z = poisoned<double>(n, columns);
      detail::multiply<Stored, double, Device>(Exec(), plan, Trans::No, -1.0, a, x, 0.0, z);
      auto all = toHost(y);
      for (const auto& more : {toHost(w), toHost(z)})
        all.insert(all.end(), more.begin(), more.end());
      return all;
    };
    EXPECT_EQ(results(with_near), results(with_graph)) << columns;
  }
}

TEST(NearColumns, GiveTheSameProducts) {
  checkProducts<double>();
  checkProducts<float>();
  checkProducts<BFloat16>();
}

/// Products of matrices that an operator itself decides to read with columns of 16 bits, or not,
/// one after the other.
void checkOperator(Storage storage, const std::vector<Graph<HostDevice>>& graphs,
                   const std::function<bool(const Graph<HostDevice>&)>& isRead) {
  SparseOperator<double, Device> op(storage);
  for (const Graph<HostDevice>& graph : graphs) {
    const Ordinal n = graph.num_rows;
    SCOPED_TRACE(message(n, " rows, ", graph.numEntries(), " entries"));
    ASSERT_GT(graph.numEntries(), 1 << 20);
    std::vector<double> values(graph.numEntries()), x(n), expected(n, 0.0);
    for (size_t k = 0; k < values.size(); ++k)
      values[k] = 1 + double(k % 7) / 4; // exact in bfloat16
    for (Ordinal i = 0; i < n; ++i)
      x[i] = i % 31;
    for (Ordinal i = 0; i < n; ++i)
      for (Offset k = graph.row_map(i); k < graph.row_map(i + 1); ++k)
        expected[i] += values[k] * x[graph.entries(k)];
    op.setGraph(Exec(), copyTo<Device>(graph), 1);
    op.update(Exec(), toDevice(values), false); // some rows are empty
    const Offset value_bytes = storage == Storage::BFloat16 ? 2 : 8;
    EXPECT_EQ(op.bytes(),
              graph.numEntries() * (value_bytes + (isRead(graph) ? 2 : 4)) + (n + 1) * 8);
    const auto y = poisoned<double>(n, 1);
    op.multiply(Exec(), Trans::No, 1.0, toDevice(x, n, 1), 0.0, y);
    EXPECT_EQ(toHost(y), expected);
  }
}

/// On GPUs short rows of bfloat16.
TEST(NearColumns, AreReadOfShortRowsOnGpus) {
  std::vector<Graph<HostDevice>> graphs;
  for (const Offset width : {Offset(40), Offset(65536), Offset(65537), Offset(1000)})
    graphs.push_back(band(500000, -width / 2, width));
  const Graph<HostDevice> too_wide = graphs[2];
  checkOperator(Storage::BFloat16, graphs, [&](const Graph<HostDevice>& graph) {
    return compat::IsGpu<Exec>::value && graph.entries.data() != too_wide.entries.data();
  });
}

/// On hosts longer rows, of double.
TEST(NearColumns, AreReadOfLongerRowsOnHosts) {
  const auto rowsOf = [](Ordinal n, Ordinal length, Ordinal distance) {
    Rows rows(n);
    for (Ordinal i = 0; i < n; ++i)
      for (Ordinal k = 0; k < length; ++k)
        if (i + k * distance < n)
          rows[i].push_back(i + k * distance);
    return randomMatrix(rows, n, 1, {}).graph;
  };
  const std::vector<Graph<HostDevice>> graphs{rowsOf(100000, 13, 7), rowsOf(200000, 15, 5000),
                                              rowsOf(200000, 7, 3)};
  checkOperator(Storage::Native, graphs, [&](const Graph<HostDevice>& graph) {
    return !compat::IsGpu<Exec>::value && graph.entries.data() == graphs[0].entries.data();
  });
}

} // namespace
