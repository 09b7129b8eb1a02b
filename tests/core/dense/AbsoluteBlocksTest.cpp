// SPDX-License-Identifier: BSD-3-Clause
#include "TestSupport.hpp"
#include "dense/Ainvil_AbsoluteBlocks.hpp"

#include <cmath>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;
using Doubles = std::vector<double>;

constexpr int num_blocks = 75;

/// Q diag(lambda) Q^T with the reflection Q = I - 2 u u^T.
Doubles blockOf(const Doubles& lambda, const Doubles& u) {
  const size_t n = lambda.size();
  Doubles block(n * n, 0.0);
  const auto q = [&](size_t i, size_t j) { return (i == j ? 1 : 0) - 2 * u[i] * u[j]; };
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j <= i; ++j) {
      for (size_t m = 0; m < n; ++m)
        block[i * n + j] += q(i, m) * lambda[m] * q(j, m);
      block[j * n + i] = block[i * n + j];
    }
  return block;
}

class AbsoluteBlocks : public ::testing::TestWithParam<int> {};

/// Eigenvalues of either sign and of sizes from 1e-6 to 1, double and zero ones among them.
TEST_P(AbsoluteBlocks, HaveTheAbsoluteEigenvalues) {
  const size_t n = size_t(GetParam());
  Random random(5);
  Doubles blocks, expected;
  for (int b = 0; b < num_blocks; ++b) {
    Doubles lambda(n), u(n);
    double size = 0;
    for (size_t i = 0; i < n; ++i) {
      lambda[i] = std::pow(10, random.uniform(-6, 0)) * (random.uniform(-1, 1) < 0 ? -1 : 1);
      u[i] = random.uniform(-1, 1);
      size += u[i] * u[i];
    }
    if (n > 1 && b % 5 == 0)
      lambda[0] = -lambda[1];
    if (n > 2 && b % 5 == 1)
      lambda[0] = 0;
    for (double& value : u)
      value /= std::sqrt(size);
    const Doubles block = blockOf(lambda, u);
    for (double& value : lambda)
      value = std::abs(value);
    const Doubles absolute = n == 1 ? Doubles{std::abs(block[0])} : blockOf(lambda, u);
    blocks.insert(blocks.end(), block.begin(), block.end());
    expected.insert(expected.end(), absolute.begin(), absolute.end());
  }
  const auto on_device = toDevice(blocks);
  detail::takeAbsoluteBlocks<double, Device>(Exec(), int(n), on_device);
  const Doubles actual = toHost(on_device);
  if (n == 1) {
    EXPECT_EQ(actual, expected);
  }
  expectNear(actual, expected, 1e-14);
  const auto single = toDevice(std::vector<float>(blocks.begin(), blocks.end()));
  detail::takeAbsoluteBlocks<float, Device>(Exec(), int(n), single);
  expectNear(toHost(single), expected, 4e-7 * double(n));
}

/// Numbers near the ends of their range.
TEST_P(AbsoluteBlocks, OfAnyScale) {
  const size_t n = size_t(GetParam());
  const Doubles u(n, 1 / std::sqrt(double(n)));
  Doubles lambda(n);
  for (size_t i = 0; i < n; ++i)
    lambda[i] = i % 2 == 0 ? -1.5 : 1;
  const Doubles block = blockOf(lambda, u);
  for (double& value : lambda)
    value = std::abs(value);
  const Doubles expected = blockOf(lambda, u);
  for (const double scale : {1e-290, 1e290}) {
    Doubles scaled = block;
    for (double& value : scaled)
      value *= scale;
    const auto on_device = toDevice(scaled);
    detail::takeAbsoluteBlocks<double, Device>(Exec(), int(n), on_device);
    Doubles actual = toHost(on_device);
    for (double& value : actual)
      value /= scale;
    expectNear(actual, expected, 1e-14);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, AbsoluteBlocks, ::testing::Values(1, 2, 3, 4, 7, 12));

} // namespace
