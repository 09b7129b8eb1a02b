// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_SmallBlock.hpp"
#include "TestSupport.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;
using Doubles = std::vector<double>;

constexpr int max_size = 17;

template <class Scalar>
struct InvertKernel {
  Kokkos::View<Scalar*, Device> blocks;
  Kokkos::View<int*, Device> pivots;
  Kokkos::View<int*, Device> regular;
  int n;

  KOKKOS_FUNCTION void operator()(const int i) const {
    regular(i) = ainvil::detail::invertBlock(&blocks(i * n * n), &pivots(i * n), n);
  }
};

/// A batch of n x n blocks after invertBlock on the device, one a thread.
template <class Scalar>
struct Inverted {
  std::vector<Scalar> blocks;
  std::vector<int> regular;

  Inverted(const std::vector<Scalar>& in, int n) {
    const int count = static_cast<int>(in.size()) / (n * n);
    // Copied, since a view may share the memory of the vector it was made from.
    const Kokkos::View<Scalar*, Device> on_device = toDevice(in);
    const Kokkos::View<int*, Device> pivots = toDevice(std::vector<int>(count * n, -1));
    const Kokkos::View<int*, Device> flags = toDevice(std::vector<int>(count, -1));
    Kokkos::parallel_for("Ainvil::test", Kokkos::RangePolicy<Exec>(Exec(), 0, count),
                         InvertKernel<Scalar>{on_device, pivots, flags, n});
    blocks = toHost(on_device);
    regular = toHost(flags);
  }
};

template <class Scalar>
Doubles block(const std::vector<Scalar>& blocks, int n, size_t index) {
  const auto begin = blocks.begin() + index * n * n;
  return Doubles(begin, begin + n * n);
}

template <class Scalar>
void checkInverses(const std::vector<Scalar>& in, int n, double tolerance) {
  const Inverted<Scalar> inverted(in, n);
  for (size_t i = 0; i < inverted.regular.size(); ++i) {
    SCOPED_TRACE(message("size ", n, ", block ", i));
    EXPECT_EQ(inverted.regular[i], 1);
    expectNear(block(inverted.blocks, n, i), inverse(block(in, n, i), n), tolerance);
  }
}

/// Random blocks are moderately conditioned, which the tolerances allow for.
TEST(InvertBlock, MatchesTheDenseInverse) {
  for (int n = 1; n <= max_size; ++n) {
    checkInverses(Random(n).vector<double>(33 * n * n), n, 1e-10);
    auto dominant = Random(n).vector<float>(33 * n * n);
    for (size_t i = 0; i < dominant.size(); i += n * n)
      for (int k = 0; k < n; ++k)
        dominant[i + k * (n + 1)] += static_cast<float>(n + 1);
    checkInverses(dominant, n, 1e-5);
  }
}

/// Zeros on the whole diagonal: a dominant matrix with its rows moved down by one, cyclically, and
/// one with its rows in random order.
TEST(InvertBlock, ExchangesRows) {
  for (int n = 2; n <= max_size; ++n) {
    Random random(n);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    Doubles batch;
    for (int trial = 0; trial < 8; ++trial) {
      if (trial == 0)
        std::rotate(order.begin(), order.end() - 1, order.end());
      else
        random.shuffle(order);
      Doubles a(n * n);
      for (int i = 0; i < n; ++i)
        for (int j = 0; j < n; ++j)
          if (i == order[j])
            a[i * n + j] = 2.0 * n + j;
          else if (i != j)
            a[i * n + j] = random.uniform(-1, 1);
      batch.insert(batch.end(), a.begin(), a.end());
    }
    checkInverses(batch, n, 1e-13);
  }
}

TEST(InvertBlock, IsExactForPermutations) {
  for (int n = 1; n <= max_size; ++n) {
    Random random(n);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    random.shuffle(order);
    Doubles a(n * n);
    for (int i = 0; i < n; ++i)
      a[i * n + order[i]] = 1;
    const Inverted<double> inverted(a, n);
    EXPECT_EQ(inverted.regular[0], 1);
    EXPECT_EQ(inverted.blocks, transposed(a, n));
  }
}

template <class Scalar>
void checkSingular(const std::vector<Scalar>& batch, int n, const char* what) {
  for (const int regular : Inverted<Scalar>(batch, n).regular)
    EXPECT_EQ(regular, 0) << what << " of size " << n;
}

TEST(InvertBlock, RefusesSingularBlocks) {
  for (int n = 1; n <= max_size; ++n) {
    checkSingular(Doubles(n * n, 0.0), n, "zeros");
    if (n > 1)
      checkSingular(Doubles(n * n, 1.0), n, "ones");
    Doubles zero_rows, zero_columns;
    for (int k = 0; k < n; ++k) {
      Doubles a = Random(k).vector(n * n);
      for (int j = 0; j < n; ++j)
        a[k * n + j] = 0;
      zero_rows.insert(zero_rows.end(), a.begin(), a.end());
      a = transposed(a, n);
      zero_columns.insert(zero_columns.end(), a.begin(), a.end());
    }
    checkSingular(zero_rows, n, "a zero row");
    checkSingular(zero_columns, n, "a zero column");
  }
}

/// A value that is not finite anywhere in the block is noticed.
template <class Scalar>
void checkNotFinite(Scalar bad, const char* what) {
  for (int n = 1; n <= max_size; ++n) {
    std::vector<Scalar> batch;
    for (int k = 0; k < n * n; ++k) {
      auto a = Random(k).vector<Scalar>(n * n);
      a[k] = bad;
      batch.insert(batch.end(), a.begin(), a.end());
    }
    checkSingular(batch, n, what);
  }
}

TEST(InvertBlock, RefusesWhatIsNotFinite) {
  checkNotFinite(std::numeric_limits<double>::quiet_NaN(), "NaN");
  checkNotFinite(std::numeric_limits<float>::quiet_NaN(), "float NaN");
  checkNotFinite(std::numeric_limits<double>::infinity(), "infinity");
  checkNotFinite(-std::numeric_limits<float>::infinity(), "minus infinity");
}

} // namespace
