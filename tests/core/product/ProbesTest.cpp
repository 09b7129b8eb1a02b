// SPDX-License-Identifier: BSD-3-Clause
#include "TestSupport.hpp"
#include "product/Ainvil_Probes.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;

double normOf(const std::vector<double>& values, size_t rows, size_t columns) {
  return detail::norm<double, Device>(Exec(), toDevice(values, rows, columns, rows + 1));
}

/// Squares of the small ones are subnormal numbers with few digits or 0, those of the large ones
/// Inf.
TEST(Norm, OfNumbersOfAnySize) {
  for (const double size : {1e-310, 1e-250, 1e-160, 1e-157, 1e-140, 1.0, 1e140, 1e160, 1e300}) {
    const double digits = size < 1e-300 ? 1e-12 : 1e-15; // the numbers themselves are subnormal
    EXPECT_NEAR(normOf({3 * size, 0, -4 * size, 12 * size}, 2, 2) / size, 13, 13 * digits) << size;
    EXPECT_NEAR(normOf({0, -size}, 2, 1) / size, 1, digits) << size;
  }
  EXPECT_EQ(normOf({0, 0}, 2, 1), 0);
  EXPECT_EQ(normOf({}, 0, 2), 0);
}

TEST(Norm, TellsNumbersThatAreNotFinite) {
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(normOf({1, infinity}, 2, 1), infinity);
  EXPECT_EQ(normOf({-infinity, 1e-200}, 2, 1), infinity);
  EXPECT_TRUE(std::isnan(normOf({1, std::numeric_limits<double>::quiet_NaN()}, 2, 1)));
}

} // namespace
