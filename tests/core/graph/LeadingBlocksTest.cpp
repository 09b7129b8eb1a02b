// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Convert.hpp"
#include "TestSupport.hpp"
#include "graph/Ainvil_LeadingBlocks.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;
using Leading = detail::LeadingBlocks<Device>;
using Place = Kokkos::View<const Ordinal*, Device>;

const std::vector<Ordinal> row_lengths = {1, 31, 32, 33, 65, 300, 0};

Leading leadingOf(const Graph<HostDevice>& graph, const std::vector<Ordinal>& place, int bs) {
  return {Exec(), copyTo<Device>(graph), viewOf<Ordinal, Device>(place), bs};
}

bool exist(const Rows& rows, Ordinal num_cols, const std::vector<Ordinal>& place, int bs) {
  return leadingOf(makeGraph(rows, num_cols), place, bs).exist();
}

/// What gather() makes of the values 1, 2, ..., so many an entry.
std::vector<double> gathered(const Leading& leading, Offset num_entries, int values_per_entry,
                             int bs) {
  std::vector<double> values(num_entries * values_per_entry);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = double(i) + 1;
  const auto to =
      poisoned<double>(leading.graph().numEntries() * Offset(bs) * bs * values_per_entry);
  leading.gather<double>(Exec(), values_per_entry, toDevice(values), to);
  return toHost(to);
}

/// Where the value of a row's entry is, with the columns of other ranks behind its own.
struct Distributed {
  Rows rows;                  ///< points, columns as a rank numbers them
  std::vector<Ordinal> place; ///< of columns
  std::vector<double> values; ///< of own blocks, as gathered() numbers those of all
};

/// Point rows of own blocks, and behind them as many entries of others as the row has number % 3.
Distributed distributed(const Rows& blocks, int bs) {
  const Ordinal n = static_cast<Ordinal>(blocks.size()) * bs;
  Distributed result;
  // Own columns are the odd ones of this rank.
  for (Ordinal c = 0; c < 2 * n; ++c)
    result.place.push_back(c % 2 == 1 ? c / 2 : -1);
  std::vector<Offset> begin;
  Offset entries = 0;
  for (size_t i = 0; i < blocks.size(); ++i)
    for (int r = 0; r < bs; ++r) {
      std::vector<Ordinal> row;
      for (const Ordinal j : blocks[i])
        for (int c = 0; c < bs; ++c)
          row.push_back(2 * (j * bs + c) + 1);
      const Ordinal others = static_cast<Ordinal>(i + r) % 3;
      for (Ordinal k = 0; k < others; ++k)
        row.push_back(2 * k);
      begin.push_back(entries);
      entries += Offset(row.size());
      result.rows.push_back(row);
    }
  for (size_t i = 0; i < blocks.size(); ++i)
    for (size_t k = 0; k < blocks[i].size(); ++k)
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < bs; ++c)
          result.values.push_back(double(begin[i * bs + r] + Offset(k) * bs + c) + 1);
  return result;
}

TEST(LeadingBlocks, AreThoseOfTheMatrix) {
  for (const int bs : {1, 2, 3, 4, 5, 8, 17})
    for (const Ordinal n : {536, 615}) {
      SCOPED_TRACE(message(n, " rows, blocks of ", bs));
      const Rows blocks = randomRows(n, n, row_lengths);
      const Distributed points = distributed(blocks, bs);
      const Leading leading = leadingOf(makeGraph(points.rows, 2 * n * bs), points.place, bs);
      ASSERT_TRUE(leading.exist());
      EXPECT_EQ(leading.graph().num_cols, n);
      EXPECT_EQ(rowsOf(leading.graph()), blocks);
      Offset entries = 0;
      for (const auto& row : points.rows)
        entries += Offset(row.size());
      EXPECT_EQ(gathered(leading, entries, 1, bs), points.values);
    }
}

TEST(LeadingBlocks, OfABlockMatrixTakeItsBlocksAsTheyStand) {
  const Rows blocks = {{0, 2}, {}, {1, 2, 3}};
  const std::vector<Ordinal> place = {0, 1, 2, -1};
  const Leading leading = leadingOf(makeGraph(blocks, 4), place, 1);
  ASSERT_TRUE(leading.exist());
  EXPECT_EQ(rowsOf(leading.graph()), Rows({{0, 2}, {}, {1, 2}}));
  std::vector<double> expected;
  for (int i = 1; i <= 4 * 9; ++i)
    expected.push_back(i);
  EXPECT_EQ(gathered(leading, 5, 9, 1), expected);
}

TEST(LeadingBlocks, WithoutPlacesAreAllEntries) {
  for (const int bs : {1, 2, 3, 4}) {
    const auto a = copyTo<Device>(randomMatrix(31, 47, bs, 0.2));
    const auto points = toPoints(Exec(), a);
    const Leading leading(Exec(), points.graph, Place(), bs);
    ASSERT_TRUE(leading.exist());
    EXPECT_EQ(leading.graph().num_cols, 47);
    EXPECT_EQ(rowsOf(leading.graph()), rowsOf(a.graph));
    const auto to = poisoned<double>(a.values.extent(0));
    leading.gather<double>(Exec(), 1, points.values, to);
    EXPECT_EQ(toHost(to), toHost(a.values));
  }
}

TEST(LeadingBlocks, DoNotExistInAnyOtherForm) {
  const std::vector<Ordinal> place = {0, 1, 2, 3, -1, -1};
  EXPECT_TRUE(exist({{0, 1, 2, 3, 4}, {0, 1, 2, 3}, {2, 3}, {2, 3, 5}}, 6, place, 2));
  EXPECT_FALSE(exist({{2, 3, 0, 1}, {2, 3, 0, 1}, {2, 3}, {2, 3}}, 6, place, 2)); // not sorted
  EXPECT_FALSE(exist({{0, 1, 0, 1}, {0, 1, 0, 1}, {2, 3}, {2, 3}}, 6, place, 2)); // twice
  EXPECT_FALSE(exist({{1, 0}, {0, 1}, {2, 3}, {2, 3}}, 6, place, 2));             // within a block
  EXPECT_FALSE(exist({{0, 1}, {1, 0}, {2, 3}, {2, 3}}, 6, place, 2));    // in the second row
  EXPECT_FALSE(exist({{4, 0, 1}, {0, 1}, {2, 3}, {2, 3}}, 6, place, 2)); // others first
  EXPECT_FALSE(exist({{0, 1, 4, 2, 3}, {0, 1, 2, 3}, {2, 3}, {2, 3}}, 6, place, 2)); // between
  EXPECT_FALSE(exist({{0, 1}, {0, 1, 4, 2, 3}, {2, 3}, {2, 3}}, 6, place, 2));       // more behind
  EXPECT_FALSE(exist({{0}, {0, 1}, {2, 3}, {2, 3}}, 6, place, 2));            // one of a block
  EXPECT_FALSE(exist({{0, 1}, {0}, {2, 3}, {2, 3}}, 6, place, 2));            // the same, below
  EXPECT_FALSE(exist({{0, 1}, {2, 3}, {2, 3}, {2, 3}}, 6, place, 2));         // other blocks below
  EXPECT_FALSE(exist({{1, 2}, {1, 2}, {2, 3}, {2, 3}}, 6, place, 2));         // across blocks
  EXPECT_FALSE(exist({{0, 1}, {0, 1}, {2, 3}}, 6, {0, 1, 2, -1, -1, -1}, 2)); // half a row
  EXPECT_FALSE(exist({{0, 1}, {0, 1}, {4, 5}, {2, 3, 4, 5, 4, 5}}, 6, place, 2)); // none above
  const std::vector<Ordinal> crossed = {1, 0};
  EXPECT_FALSE(exist({{0, 1}, {1}}, 2, crossed, 1)); // not sorted by their places
  EXPECT_TRUE(exist({{1, 0}, {1}}, 2, crossed, 1));
}

/// Fewer of them than a thread of a host takes, and lanes for part of a block.
TEST(LeadingBlocks, OfLargeBlocks) {
  for (const int bs : {33, 100, 257}) {
    const Rows blocks = {{1}, {}, {0, 1, 2}};
    const Distributed points = distributed(blocks, bs);
    const Leading leading = leadingOf(makeGraph(points.rows, 6 * bs), points.place, bs);
    ASSERT_TRUE(leading.exist());
    EXPECT_EQ(rowsOf(leading.graph()), blocks);
    Offset entries = 0;
    for (const auto& row : points.rows)
      entries += Offset(row.size());
    EXPECT_EQ(gathered(leading, entries, 1, bs), points.values);
    Rows wrong = points.rows; // one point of the last row of a block
    std::swap(wrong[bs - 1][bs - 2], wrong[bs - 1][bs - 1]);
    EXPECT_FALSE(exist(wrong, 6 * bs, points.place, bs));
  }
}

TEST(LeadingBlocks, OfNoRows) {
  const Leading leading = leadingOf(makeGraph(Rows(), 0), {0}, 3);
  ASSERT_TRUE(leading.exist());
  EXPECT_EQ(leading.graph().num_rows, 0);
  EXPECT_EQ(gathered(leading, 0, 1, 3), std::vector<double>());
  EXPECT_FALSE(Leading().exist());
}

} // namespace
