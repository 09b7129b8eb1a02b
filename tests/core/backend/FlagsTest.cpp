// SPDX-License-Identifier: BSD-3-Clause
#include "backend/Ainvil_Flags.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace {

using namespace ainvil;

/// Numbers that kernels wait for: setValue() leaves something that is there, and the number itself
/// unless that is the NaN which means that it is not.
template <class T>
void expectToBeThereOnceSet() {
  using Bits = typename compat::UnsetBits<T>::Type;
  using Limits = std::numeric_limits<T>;
  constexpr int bits = 8 * sizeof(T);
  const auto fromBits = [](Bits pattern) {
    T value;
    std::memcpy(&value, &pattern, sizeof(T));
    return value;
  };
  const T numbers[] = {0,
                       -T(0),
                       1,
                       Limits::denorm_min(),
                       Limits::lowest(),
                       Limits::infinity(),
                       -Limits::infinity(),
                       Limits::quiet_NaN(),
                       -Limits::quiet_NaN(),
                       fromBits(~Bits(0)),
                       fromBits(~Bits(0) >> 1), // CUDA's NaN of float
                       fromBits(~Bits(0) << 1), // one bit beside the mark
                       fromBits(~Bits(0) - (Bits(1) << (bits / 2)))};
  for (const T number : numbers) {
    Bits before, after;
    std::memcpy(&before, &number, sizeof(T));
    T place;
    compat::markUnset(&place);
    ASSERT_TRUE(compat::isUnset(place));
    EXPECT_TRUE(std::isnan(place)); // no number is taken for it
    compat::setValue(&place, number);
    EXPECT_FALSE(compat::isUnset(place)) << number;
    EXPECT_EQ(std::isnan(place), std::isnan(number));
    std::memcpy(&after, &place, sizeof(T));
    EXPECT_EQ(after, before == ~Bits(0) ? before >> 1 : before);
  }
}

TEST(Flags, NumbersAreThereOnceSet) {
  expectToBeThereOnceSet<double>();
  expectToBeThereOnceSet<float>();
}

} // namespace
