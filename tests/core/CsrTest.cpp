// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Convert.hpp"
#include "TestSupport.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;

const std::vector<int> small_row_map = {0, 2, 5, 7};
const std::vector<int> small_entries = {0, 1, 0, 1, 2, 1, 2};
const std::vector<double> small_values = {4, -1, -1, 4, -2, -1, 4};

template <class Device, class RowMap, class Entries>
void checkSmall(const RowMap& row_map, const Entries& entries) {
  std::vector<double> values = small_values;
  const auto a = csr<Device>(3, row_map, entries, values);
  EXPECT_EQ(a.numRows(), 3);
  EXPECT_EQ(a.numCols(), 3);
  EXPECT_EQ(a.block_size, 1);
  EXPECT_EQ(rowsOf(a.graph), (Rows{{0, 1}, {0, 1, 2}, {1, 2}}));
  EXPECT_EQ(toHost(a.values), small_values);
}

template <class To, class From>
std::vector<To> as(const std::vector<From>& from) {
  return {from.begin(), from.end()};
}

TEST(Csr, TakesIntegersOfAnyWidth) {
  checkSmall<HostDevice>(small_row_map, small_entries);
  checkSmall<DefaultDevice>(small_row_map, small_entries);
  checkSmall<HostDevice>(as<Offset>(small_row_map), as<long long>(small_entries));
  checkSmall<DefaultDevice>(as<std::size_t>(small_row_map), as<unsigned>(small_entries));
  checkSmall<HostDevice>(as<short>(small_row_map), as<std::int8_t>(small_entries));
}

TEST(Csr, SharesOnHostsWhatFits) {
  std::vector<double> values = small_values;
  const std::vector<Offset> row_map = as<Offset>(small_row_map);
  const auto a = csr<HostDevice>(3, row_map, small_entries, values);
  EXPECT_EQ(a.graph.row_map.data(), row_map.data());
  EXPECT_EQ(a.graph.entries.data(), small_entries.data());
  EXPECT_EQ(a.values.data(), values.data());
  values[0] = 7;
  EXPECT_EQ(a.values(0), 7);
}

TEST(Csr, CopiesConstValues) {
  const auto a = csr<HostDevice>(3, small_row_map, small_entries, small_values);
  EXPECT_NE(a.values.data(), small_values.data());
  EXPECT_EQ(toHost(a.values), small_values);
}

TEST(Csr, TakesBlocks) {
  const std::vector<int> row_map = {0, 1, 3}, entries = {0, 0, 1};
  std::vector<float> values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const auto a = csr(2, row_map, entries, values, 2);
  EXPECT_EQ(a.block_size, 2);
  EXPECT_EQ(a.numPointRows(), 4);
  EXPECT_EQ(toHost(a.values), values);
}

TEST(Csr, RefusesArraysThatDoNotFit) {
  std::vector<double> values = small_values;
  const std::vector<double> fewer(6, 1.0);
  EXPECT_THROW(csr(4, small_row_map, small_entries, values), InvalidArgument);
  EXPECT_THROW(csr(3, small_row_map, small_entries, fewer), InvalidArgument);
  EXPECT_THROW(csr(3, small_row_map, std::vector<int>{0, 1, 0, 1, 3, 1, 2}, values),
               InvalidArgument);
  EXPECT_THROW(csr(3, std::vector<int>{0, 2, 1, 7}, small_entries, values), InvalidArgument);
}

/// The message of what csr() throws for the second array.
template <class Index>
std::string refusalOf(Index index) {
  std::vector<double> values = {1};
  try {
    csr(1, std::vector<int>{0, 1}, std::vector<Index>{index}, values);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "none";
}

TEST(Csr, RefusesIndicesBeyondInt) {
  // Cut to 32 bits both would be 0, a valid column.
  EXPECT_EQ(refusalOf<std::int64_t>(std::int64_t(1) << 32),
            "entries[0] = 4294967296 is out of range");
  EXPECT_EQ(refusalOf<std::int64_t>(-(std::int64_t(1) << 32)),
            "entries[0] = -4294967296 is out of range");
  EXPECT_EQ(refusalOf<std::uint32_t>(0xffffffffu), "entries[0] = 4294967295 is out of range");
}

} // namespace
