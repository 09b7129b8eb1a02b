// SPDX-License-Identifier: BSD-3-Clause
#include "TestSupport.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "dense/Ainvil_BlockRowSums.hpp"
#include "dense/Ainvil_SmallBlockLanes.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Exec = Device::execution_space;
using Doubles = std::vector<double>;

constexpr int max_size = 17;

/// f(the size as a constant) for a few sizes, f(0) for the others, which are known at run time.
template <class F>
KOKKOS_INLINE_FUNCTION bool forSize(int n, const F& f) {
  return n == 1   ? f(std::integral_constant<int, 1>())
         : n == 3 ? f(std::integral_constant<int, 3>())
         : n == 8 ? f(std::integral_constant<int, 8>())
                  : f(std::integral_constant<int, 0>());
}

template <class Scalar>
struct InvertKernel {
  Kokkos::View<Scalar*, Device> blocks;
  Kokkos::View<int*, Device> pivots;
  Kokkos::View<Scalar*, Device> scales;
  Kokkos::View<int*, Device> regular;
  int n;

  KOKKOS_FUNCTION void operator()(const int i) const {
    regular(i) = forSize(n, [&](auto known) {
      return ainvil::detail::invertBlock<decltype(known)::value>(&blocks(i * n * n), &pivots(i * n),
                                                                 &scales(i * 2 * n), n);
    });
  }
};

struct LeastEntry {
  KOKKOS_FUNCTION double operator()(int) const { return 0; }
};

template <class Scalar>
struct InvertByLanesKernel {
  Kokkos::View<Scalar*, Device> blocks, inverses, others, scalars;
  Kokkos::View<int*, Device> ints, regular;
  int n;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal i, void*) const {
    const int num_scalars = ainvil::detail::invertByLanesScalars(n);
    const int num_ints = ainvil::detail::invertByLanesInts(n);
    const bool good = forSize(n, [&](auto known) {
      return ainvil::detail::invertBlockByLanes<decltype(known)::value>(
          member, &blocks(i * n * n), LeastEntry(), &inverses(i * n * n), &others(i * n * n),
          &scalars(i * num_scalars), &ints(i * num_ints), n);
    });
    Kokkos::single(Kokkos::PerThread(member), [&]() { regular(i) = good; });
  }
};

/// n x n blocks after invertBlock on the device, one a thread, or after invertBlockByLanes.
template <class Scalar>
struct Inverted {
  std::vector<Scalar> blocks;
  std::vector<int> regular;

  Inverted(const std::vector<Scalar>& in, int n, bool by_lanes) {
    const int count = static_cast<int>(in.size()) / (n * n);
    if (by_lanes) {
      const Kokkos::View<Scalar*, Device> inverses = poisoned<Scalar>(count * n * n);
      const Kokkos::View<int*, Device> flags = toDevice(std::vector<int>(count, -1));
      ainvil::detail::forEachRow(
          Exec(), "Ainvil::test", count, ainvil::detail::RowTeams::forWork<Exec>(n * n),
          InvertByLanesKernel<Scalar>{
              toDevice(in), inverses, poisoned<Scalar>(count * n * n),
              poisoned<Scalar>(count * ainvil::detail::invertByLanesScalars(n)),
              toDevice(std::vector<int>(count * ainvil::detail::invertByLanesInts(n), -1)), flags,
              n});
      blocks = toHost(inverses);
      regular = toHost(flags);
      return;
    }
    const Kokkos::View<Scalar*, Device> on_device = toDevice(in);
    const Kokkos::View<int*, Device> pivots = toDevice(std::vector<int>(count * n, -1));
    const Kokkos::View<int*, Device> flags = toDevice(std::vector<int>(count, -1));
    Kokkos::parallel_for(
        "Ainvil::test", Kokkos::RangePolicy<Exec>(Exec(), 0, count),
        InvertKernel<Scalar>{on_device, pivots, poisoned<Scalar>(count * 2 * n), flags, n});
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
  for (const bool by_lanes : {false, true}) {
    const Inverted<Scalar> inverted(in, n, by_lanes);
    for (size_t i = 0; i < inverted.regular.size(); ++i) {
      SCOPED_TRACE(message("size ", n, ", block ", i, by_lanes ? ", by lanes" : ""));
      EXPECT_EQ(inverted.regular[i], 1);
      expectNear(block(inverted.blocks, n, i), inverse(block(in, n, i), n), tolerance);
    }
  }
}

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

/// A dominant matrix whose rows were put in the given order.
Doubles shuffledDominant(const std::vector<int>& order, Random& random) {
  const int n = static_cast<int>(order.size());
  Doubles a = random.vector(n * n);
  for (int j = 0; j < n; ++j)
    a[order[j] * n + j] = 2.0 * n + j;
  return a;
}

std::vector<int> ascending(int n) {
  std::vector<int> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Rows moved down by one, cyclically, and rows in random order; zeros where the diagonal was not
/// meant to be.
TEST(InvertBlock, ExchangesRows) {
  for (int n = 2; n <= max_size; ++n) {
    Random random(n);
    std::vector<int> order = ascending(n);
    Doubles batch;
    for (int trial = 0; trial < 8; ++trial) {
      if (trial == 0)
        std::rotate(order.begin(), order.end() - 1, order.end());
      else
        random.shuffle(order);
      Doubles a = shuffledDominant(order, random);
      for (int k = 0; k < n; ++k)
        if (order[k] != k)
          a[k * (n + 1)] = 0;
      batch.insert(batch.end(), a.begin(), a.end());
    }
    checkInverses(batch, n, 1e-13);
  }
}

TEST(InvertBlock, IsExactForPermutations) {
  for (int n = 1; n <= max_size; ++n) {
    std::vector<int> order = ascending(n);
    Random(n).shuffle(order);
    Doubles a(n * n);
    for (int i = 0; i < n; ++i)
      a[i * n + order[i]] = 1;
    for (const bool by_lanes : {false, true}) {
      const Inverted<double> inverted(a, n, by_lanes);
      EXPECT_EQ(inverted.regular[0], 1);
      EXPECT_EQ(inverted.blocks, transposed(a, n));
    }
  }
}

template <class Scalar>
void checkSingular(const std::vector<Scalar>& batch, int n, const char* what) {
  for (const bool by_lanes : {false, true})
    for (const int regular : Inverted<Scalar>(batch, n, by_lanes).regular)
      EXPECT_EQ(regular, 0) << what << " of size " << n << (by_lanes ? ", by lanes" : "");
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

/// The identity around ((1, 1), (1, 1 + gap)), whose second pivot is the gap, in any units of its
/// rows and of its columns. Up to 10 n eps it is rounding.
TEST(InvertBlock, RefusesBlocksThatAreSingularToRounding) {
  constexpr double epsilon = std::numeric_limits<double>::epsilon();
  bool by_lanes = false;
  const auto regular = [&](int n, int at, double gap, int row_exponent, int column_exponent) {
    Doubles a = identity(n);
    a[at * n + at + 1] = a[(at + 1) * n + at] = 1;
    a[(at + 1) * n + at + 1] = 1 + gap;
    for (int k = 0; k < n; ++k) {
      a[at * n + k] = std::ldexp(a[at * n + k], row_exponent);
      a[k * n + at] = std::ldexp(a[k * n + at], column_exponent);
    }
    return Inverted<double>(a, n, by_lanes).regular[0];
  };
  for (int n = 2; n <= max_size; ++n)
    for (const int at : {0, n / 2 - 1, n - 2})
      for (const int exponent : {-200, 0, 200})
        for (const bool rows : {false, true}) {
          SCOPED_TRACE(message("size ", n, " at ", at, ", times 2^", exponent));
          const int r = rows ? exponent : 0, c = rows ? 0 : exponent;
          for (const bool lanes : {false, true}) {
            by_lanes = lanes;
            EXPECT_EQ(regular(n, at, epsilon, r, c), 0);
            EXPECT_EQ(regular(n, at, 9 * n * epsilon, r, c), 0);
            EXPECT_EQ(regular(n, at, 11 * n * epsilon, r, c), 1);
          }
        }
}

/// Whether a block is singular does not depend on the units of its equations and unknowns.
TEST(InvertBlock, TakesBadlyScaledBlocks) {
  for (int n = 1; n <= max_size; ++n)
    for (const bool scale_rows : {false, true})
      for (const bool scale_columns : {false, true}) {
        SCOPED_TRACE(
            message("size ", n, scale_rows ? ", rows" : "", scale_columns ? ", columns" : ""));
        Random random(n);
        std::vector<int> order = ascending(n);
        random.shuffle(order);
        const Doubles a = shuffledDominant(order, random);
        // Powers of two: exact. From 2^-200 to 2^200, in random order.
        std::vector<int> exponents(n);
        for (int k = 0; k < n; ++k)
          exponents[k] = n > 1 ? 400 * k / (n - 1) - 200 : 200;
        random.shuffle(exponents);
        const auto scaled = [&](const Doubles& b, bool rows, bool columns) {
          Doubles result = b;
          for (int i = 0; i < n; ++i)
            for (int j = 0; j < n; ++j)
              result[i * n + j] = std::ldexp(b[i * n + j], (rows ? exponents[i] : 0) +
                                                               (columns ? exponents[j] : 0));
          return result;
        };
        for (const bool by_lanes : {false, true}) {
          const Inverted<double> inverted(scaled(a, scale_rows, scale_columns), n, by_lanes);
          EXPECT_EQ(inverted.regular[0], 1);
          // (R A C)^-1 = C^-1 A^-1 R^-1
          if (inverted.regular[0] == 1)
            expectNear(scaled(inverted.blocks, scale_columns, scale_rows), inverse(a, n), 1e-10);
        }
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

/// The second pivot is twice the largest number.
TEST(InvertBlock, RefusesWhatOverflows) {
  const double huge = std::numeric_limits<double>::max();
  checkSingular(Doubles{huge, huge, -huge, huge}, 2, "overflow");
  // All pivots are fine, but an entry of the inverse is -1e350.
  checkSingular(Doubles{1e-100, 1e150, 0, 1e-100}, 2, "overflow of the inverse");
}

TEST(InvertBlock, RefusesWhatIsNotFinite) {
  checkNotFinite(std::numeric_limits<double>::quiet_NaN(), "NaN");
  checkNotFinite(std::numeric_limits<float>::quiet_NaN(), "float NaN");
  checkNotFinite(std::numeric_limits<double>::infinity(), "infinity");
  checkNotFinite(-std::numeric_limits<float>::infinity(), "minus infinity");
}

template <class Scalar>
struct InvertCholeskyKernel {
  Kokkos::View<Scalar*, Device> blocks;
  int n;

  KOKKOS_FUNCTION void operator()(const int i) const {
    ainvil::detail::invertCholeskyFactor(&blocks(i * n * n), n);
  }
};

/// A batch of n x n blocks after invertCholeskyFactor on the device, one a thread.
template <class Scalar>
std::vector<Scalar> invertedFactors(const std::vector<Scalar>& in, int n) {
  const Kokkos::View<Scalar*, Device> on_device = toDevice(in);
  Kokkos::parallel_for("Ainvil::test",
                       Kokkos::RangePolicy<Exec>(Exec(), 0, static_cast<int>(in.size()) / (n * n)),
                       InvertCholeskyKernel<Scalar>{on_device, n});
  return toHost(on_device);
}

/// The inverse factor X, lower with a positive diagonal, is the one with X A X^T = I. Nothing is
/// read above the diagonal of A.
template <class Scalar>
void checkInverseFactors(int n, double tolerance) {
  constexpr size_t count = 33;
  Random random(n);
  Doubles spd;
  std::vector<Scalar> lower_parts;
  for (size_t b = 0; b < count; ++b) {
    const Doubles root = random.vector(n * n);
    Doubles a = multiply(root, transposed(root, n), n);
    for (int k = 0; k < n; ++k)
      a[k * (n + 1)] += 1;
    spd.insert(spd.end(), a.begin(), a.end());
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        lower_parts.push_back(j <= i ? static_cast<Scalar>(a[i * n + j])
                                     : std::numeric_limits<Scalar>::quiet_NaN());
  }
  const std::vector<Scalar> factors = invertedFactors(lower_parts, n);
  for (size_t b = 0; b < count; ++b) {
    SCOPED_TRACE(message("size ", n, ", block ", b));
    const Doubles x = block(factors, n, b);
    for (int i = 0; i < n; ++i) {
      EXPECT_GT(x[i * n + i], 0);
      for (int j = i + 1; j < n; ++j)
        EXPECT_EQ(x[i * n + j], 0);
    }
    expectNear(multiply(multiply(x, block(spd, n, b), n), transposed(x, n), n), identity(n),
               tolerance);
  }
}

TEST(InvertCholeskyFactor, IsTheInverseOfTheFactor) {
  for (int n = 1; n <= max_size; ++n) {
    checkInverseFactors<double>(n, 1e-13);
    checkInverseFactors<float>(n, 1e-4);
  }
}

/// One bad pivot, early or late, spoils the whole block.
TEST(InvertCholeskyFactor, GivesTheIdentityWhereTheBlockIsNotDefinite) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (int n = 1; n <= max_size; ++n)
    for (int k = 0; k < n; ++k)
      for (const double bad : {0.0, -1.0, infinity, std::numeric_limits<double>::quiet_NaN()}) {
        Doubles a(n * n, 0.5);
        for (int i = 0; i < n; ++i)
          a[i * (n + 1)] = i == k ? bad : 2;
        EXPECT_EQ(invertedFactors(a, n), identity(n)) << "size " << n << ", pivot " << k;
      }
}

/// Small integers: every order of additions gives the same sums.
template <int BS, class Stored, class Scalar>
void expectRowSums() {
  Random random(BS);
  const auto integers = [&](size_t n) {
    std::vector<Scalar> values(n);
    for (Scalar& value : values)
      value = Scalar(random.below(17)) - 8;
    return values;
  };
  const size_t n = BS, blocks = 3;
  const auto x = integers(n), y = integers(blocks * n);
  std::vector<Stored> b;
  for (const Scalar value : integers(blocks * n * n))
    b.push_back(Stored(float(value)));
  ainvil::detail::BlockRowSums<BS, Scalar> sums;
  for (size_t r = 0; r < n; ++r)
    sums.start(int(r), x[r]);
  for (size_t k = 0; k < blocks; ++k)
    sums.subtract(&b[k * n * n], &y[k * n]);
  for (size_t r = 0; r < n; ++r) {
    Scalar expected = x[r];
    for (size_t k = 0; k < blocks; ++k)
      for (size_t c = 0; c < n; ++c)
        expected -= Scalar(b[(k * n + r) * n + c]) * y[k * n + c];
    EXPECT_EQ(sums[int(r)], expected) << BS << ", row " << r;
  }
}

TEST(BlockRowSums, AreThoseOfAllBlocks) {
  const auto of = [](auto size) {
    constexpr int bs = decltype(size)::value;
    expectRowSums<bs, double, double>();
    expectRowSums<bs, float, double>();
    expectRowSums<bs, float, float>();
    expectRowSums<bs, BFloat16, double>();
  };
  of(std::integral_constant<int, 2>());
  of(std::integral_constant<int, 3>());
  of(std::integral_constant<int, 4>());
  of(std::integral_constant<int, 5>());
  of(std::integral_constant<int, 7>());
  of(std::integral_constant<int, 8>());
}

} // namespace
