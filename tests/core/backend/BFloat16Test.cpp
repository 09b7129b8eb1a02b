// SPDX-License-Identifier: BSD-3-Clause
#include "TestSupport.hpp"
#include "backend/Ainvil_BFloat16.hpp"
#include "dense/Ainvil_BlockArrays.hpp"

#include <cstring>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;

const float infinity = std::numeric_limits<float>::infinity();

/// The number whose upper half is given.
float fromBits(std::uint32_t upper, std::uint32_t lower = 0) {
  const std::uint32_t bits = upper << 16 | lower;
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

bool isSame(float a, float b) {
  return (std::isnan(a) && std::isnan(b)) || (a == b && std::signbit(a) == std::signbit(b));
}

TEST(BFloat16, HoldsWhatIsItsOwn) {
  for (std::uint32_t upper = 0; upper < 1 << 16; ++upper) {
    const float value = fromBits(upper);
    EXPECT_TRUE(isSame(BFloat16(value), value)) << value;
    EXPECT_TRUE(isSame(BFloat16(double(value)), value)) << value;
  }
  EXPECT_EQ(sizeof(BFloat16), 2u);
}

TEST(BFloat16, RoundsToTheNearestAndTiesToEven) {
  // Up to the last before infinity; the next one may be infinite.
  for (std::uint32_t upper = 0; upper < 0x7f80; ++upper)
    for (const float sign : {1.f, -1.f}) {
      const float below = sign * fromBits(upper), above = sign * fromBits(upper + 1);
      EXPECT_EQ(BFloat16(sign * fromBits(upper, 0x7fff)), below);
      EXPECT_EQ(BFloat16(sign * fromBits(upper, 0x8000)), upper % 2 == 0 ? below : above);
      EXPECT_EQ(BFloat16(sign * fromBits(upper, 0x8001)), above);
    }
  EXPECT_EQ(BFloat16(3.4e38), infinity);
  EXPECT_EQ(BFloat16(-1e300), -infinity);
  EXPECT_EQ(BFloat16(1e-300), 0);
}

/// Also those whose upper half alone would be an infinity.
TEST(BFloat16, KeepsNotANumber) {
  for (const std::uint32_t upper : {0x7f80u, 0xff80u, 0x7fc0u, 0x7fffu, 0xffffu})
    EXPECT_TRUE(std::isnan(BFloat16(fromBits(upper, 1)))) << upper;
}

TEST(BFloat16, IsTheSameOnTheDevice) {
  std::vector<double> values = Random(7).vector(5000);
  for (size_t k = 0; k < values.size(); ++k)
    values[k] = std::ldexp(values[k], int(k % 240) - 120);
  const size_t n = values.size();
  const Kokkos::View<BFloat16*, Device> rounded("Ainvil::rounded", n);
  convert<double, BFloat16, Device>({}, toDevice(values), rounded);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), rounded);
  for (size_t k = 0; k < n; ++k) {
    EXPECT_EQ(host(k), BFloat16(values[k]));
    EXPECT_NEAR(host(k), values[k], std::max(std::fabs(values[k]) / 256, 1e-40));
  }
}

} // namespace
