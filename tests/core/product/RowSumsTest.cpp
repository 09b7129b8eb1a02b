// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Sums over all rows of several columns in one kernel.
#include "TestSupport.hpp"
#include "product/Ainvil_RowSums.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;
using Doubles = std::vector<double>;

/// x . y and x . x of a column, the two sums of which lie together in the end.
struct DotsBody {
  detail::KernelColumn<const double> x, y;
  Kokkos::View<double*, Device> result;
  int column = 0;
  int left_out = -1; ///< this column has nothing to do

  KOKKOS_INLINE_FUNCTION bool begin(int c) {
    x.moveTo(c);
    y.moveTo(c);
    column = c;
    return c != left_out;
  }
  KOKKOS_INLINE_FUNCTION detail::Sums<2> row(Offset i) const {
    detail::Sums<2> products;
    products.value[0] = x[i] * y[i];
    products.value[1] = x[i] * x[i];
    return products;
  }
  KOKKOS_INLINE_FUNCTION void finish(const detail::Sums<2>& sums) const {
    result(2 * column) = sums.value[0];
    result(2 * column + 1) = sums.value[1];
  }
};

/// With more chunks than a team takes, the last one shorter, and with teams that have chunks of two
/// columns: a column has the bits that it has alone, and the others are left alone.
TEST(RowSums, OfAColumnAreWhatTheyAreAlone) {
  const Exec exec;
  constexpr size_t columns = 8;
  size_t n = 20 * 1024 + 7;
  if (compat::IsGpu<Exec>::value) { // until a team has chunks of two columns
    const auto shapeOf = [&] { return detail::SumTeams::forRows(exec, n); };
    while (shapeOf().chunks % shapeOf().shares(exec, columns).per_team == 0)
      n += 1024;
  }
  Random random(3);
  const Doubles x = random.vector<double>(n * columns), y = random.vector<double>(n * columns);
  const auto x_device = toDevice(x, n, columns, n), y_device = toDevice(y, n, columns, n);
  const auto shape = detail::SumTeams::forRows(exec, n);
  ASSERT_GE(shape.chunks, 20);
  const detail::PartialSums<Device> sums(exec, 2, shape, nullptr, columns);
  const auto sumsOf = [&](const std::vector<int>& numbers, int left_out = -1) {
    detail::ColumnSet set;
    for (const int c : numbers)
      set.add(c);
    const auto result = toDevice(Doubles(2 * columns, -1.0));
    detail::sumRows<2, Device>(exec, "dots", shape, sums, n,
                               DotsBody{x_device, y_device, result, 0, left_out}, nullptr, set);
    return toHost(result);
  };
  Doubles alone(2 * columns);
  for (int c = 0; c < int(columns); ++c) {
    const Doubles result = sumsOf({c});
    double dot = 0;
    for (size_t i = 0; i < n; ++i)
      dot += x[c * n + i] * y[c * n + i];
    EXPECT_NEAR(result[2 * c], dot, 1e-10);
    for (int k = 0; k < int(2 * columns); ++k)
      if (k / 2 == c)
        alone[k] = result[k];
      else
        EXPECT_EQ(result[k], -1.0) << "column " << c << " alone, sum " << k;
  }
  for (const std::vector<int>& numbers :
       {std::vector<int>{0, 1}, {1, 4, 6}, {0, 1, 2, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}}) {
    const Doubles result = sumsOf(numbers);
    for (int c = 0; c < int(columns); ++c) {
      const bool is_in = std::find(numbers.begin(), numbers.end(), c) != numbers.end();
      for (const int k : {2 * c, 2 * c + 1})
        EXPECT_EQ(result[k], is_in ? alone[k] : -1.0)
            << numbers.size() << " columns, sum " << k % 2 << " of column " << c;
    }
  }
  // Of eight columns, one that has ended shares teams with those beside it.
  const Doubles result = sumsOf({4, 5, 6}, 5), all_but_one = sumsOf({0, 1, 2, 3, 4, 5, 6, 7}, 5);
  for (int k = 0; k < int(2 * columns); ++k) {
    EXPECT_EQ(all_but_one[k], k / 2 == 5 ? -1.0 : alone[k]) << k;
    EXPECT_EQ(result[k], k / 2 == 4 || k / 2 == 6 ? alone[k] : -1.0) << k;
  }
}

} // namespace
