// SPDX-License-Identifier: BSD-3-Clause
/// What the programs measure: samples of times, and bytes.
#include "program/Measure.hpp"
#include "program/MemoryMeter.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace ainvil {
namespace perf {
namespace {

TEST(Statistics, AreThoseOfTheSamples) {
  const Statistics of_four({4, 1, 2, 9});
  EXPECT_EQ(of_four.mean, 4);
  EXPECT_DOUBLE_EQ(of_four.deviation, std::sqrt((9 + 4 + 25) / 3.0));
  EXPECT_EQ(of_four.min, 1);
  EXPECT_EQ(of_four.max, 9);
  EXPECT_EQ(of_four.median, 3);
  EXPECT_EQ(Statistics({5, 1, 3}).median, 3);
  EXPECT_EQ(Statistics({7}).deviation, 0);
  EXPECT_TRUE(std::isnan(Statistics({1, std::nan("")}).max));
  EXPECT_TRUE(std::isnan(Statistics(std::vector<double>()).mean));
}

TEST(MemoryMeter, CountsOneSpaceSinceTheLastReset) {
  MemoryMeter meter(HostDevice::memory_space::name());
  using Bytes = Kokkos::View<char*, HostDevice>;
  const std::int64_t before = meter.current();
  constexpr std::int64_t slack = 1000; // a header a view
  {
    const Bytes large("large", 100000);
    EXPECT_NEAR(meter.current(), before + 100000, slack);
  }
  EXPECT_NEAR(meter.current(), before, slack);
  EXPECT_GE(meter.peak(), before + 100000);
  meter.resetPeak();
  EXPECT_EQ(meter.peak(), meter.current());
  const Bytes small("small", 10000);
  EXPECT_NEAR(meter.peak(), before + 10000, slack);
}

} // namespace
} // namespace perf
} // namespace ainvil
