// SPDX-License-Identifier: BSD-3-Clause
#include "TestSupport.hpp"
#include "dense/Ainvil_SmallBlock.hpp"

#include <cmath>
#include <limits>

namespace {

using namespace ainvil::test;
using Device = ainvil::DefaultDevice;
using Exec = Device::execution_space;

template <class Scalar>
struct PowersKernel {
  Kokkos::View<Scalar*, Device> values;

  KOKKOS_FUNCTION void operator()(const int i) const {
    values(i) = ainvil::detail::inversePowerOfTwo(values(i));
  }
};

/// Of powers of two, numbers just below them, and what has no such factor.
template <class Scalar>
void checkInversePowersOfTwo() {
  using Limits = std::numeric_limits<Scalar>;
  const Scalar below_two = 2 - Limits::epsilon(), smallest = Limits::min();
  const Scalar top = std::ldexp(Scalar(1), Limits::max_exponent - 1);
  const std::vector<Scalar> in{1,        -1,  below_two,     2, -3,          Scalar(0.375), top / 2,
                               smallest, top, Limits::max(), 0, smallest / 2};
  const Scalar huge = top; // the largest power of two
  const std::vector<Scalar> expected{1,       1,       1,        Scalar(0.5), Scalar(0.5), 4,
                                     2 / top, top / 2, smallest, smallest,    huge,        huge};
  const Kokkos::View<Scalar*, Device> values = toDevice(in);
  Kokkos::parallel_for("Ainvil::test",
                       Kokkos::RangePolicy<Exec>(Exec(), 0, static_cast<int>(in.size())),
                       PowersKernel<Scalar>{values});
  EXPECT_EQ(toHost(values), expected);
}

TEST(InversePowerOfTwo, IsThatOfTheExponent) {
  checkInversePowersOfTwo<double>();
  checkInversePowersOfTwo<float>();
}

/// To the bit, and of numbers that have no inverse or none that is a number.
template <class Scalar>
void checkInvertScalar() {
  using Limits = std::numeric_limits<Scalar>;
  auto numbers = Random(7).vector<Scalar>(1000);
  for (const Scalar special : {Scalar(0), Limits::min(), Limits::denorm_min(), Limits::max(),
                               Limits::infinity(), Limits::quiet_NaN(), 8 * Limits::min()})
    numbers.insert(numbers.end(), {special, -special});
  for (const Scalar number : numbers) {
    Scalar block = number, inverse = number, scales[2];
    int pivot;
    const bool regular = ainvil::detail::invertBlock(&block, &pivot, scales, 1);
    EXPECT_EQ(ainvil::detail::invertScalar(inverse), regular) << number;
    if (regular)
      EXPECT_EQ(inverse, block) << number;
  }
}

TEST(InvertScalar, IsThatOfABlockOfOne) {
  checkInvertScalar<double>();
  checkInvertScalar<float>();
}

} // namespace
