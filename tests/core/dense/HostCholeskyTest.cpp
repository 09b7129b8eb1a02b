// SPDX-License-Identifier: BSD-3-Clause
#include "TestSupport.hpp"
#include "dense/Ainvil_CholeskyHost.hpp"
#include "dense/Ainvil_CholeskySimd.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;
using detail::packedRow;
using Doubles = std::vector<double>;

/// A symmetric positive definite matrix, packed, whose rows begin where `starts` says.
struct Profile {
  int n;
  std::vector<int> starts;
  Doubles a;
};

Profile randomProfile(Random& random, int n) {
  Profile p{n, std::vector<int>(n), Doubles(packedRow(n))};
  for (int i = 0; i < n; ++i) {
    p.starts[i] = static_cast<int>(random.uniform(0, 1) * random.uniform(0, 1) * i);
    p.starts[i] = i - p.starts[i]; // mostly short rows
    for (int j = p.starts[i]; j < i; ++j)
      p.a[packedRow(i) + j] = random.uniform(-1, 1);
    p.a[packedRow(i) + i] = 2.0 * n; // diagonally dominant
  }
  return p;
}

/// Row by row as in a textbook, 1 / L_ii on the diagonal; 0 or the row, from 1, of a bad pivot.
int referenceFactor(Doubles& a, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      double sum = a[packedRow(i) + j];
      for (int k = 0; k < j; ++k)
        sum -= a[packedRow(i) + k] * a[packedRow(j) + k];
      if (i == j && !(sum > 0))
        return i + 1;
      a[packedRow(i) + j] = i == j ? 1 / std::sqrt(sum) : sum * a[packedRow(j) + j];
    }
  return 0;
}

template <class Scalar>
class HostCholesky : public ::testing::Test {
protected:
  static constexpr double tolerance = sizeof(Scalar) == 8 ? 1e-13 : 1e-5;
};

using Scalars = ::testing::Types<double, float>;
TYPED_TEST_SUITE(HostCholesky, Scalars);

TYPED_TEST(HostCholesky, OfAProfileEqualsTheReference) {
  Random random(11);
  for (const int n : {1, 2, 3, 4, 5, 7, 8, 9, 31, 64, 127, 128, 129, 131, 260, 300}) {
    SCOPED_TRACE(n);
    Profile p = randomProfile(random, n);
    std::vector<TypeParam> packed(p.a.begin(), p.a.end());
    ASSERT_EQ(detail::HostCholesky<TypeParam>(n, packed.data(), p.starts.data()).factor(), 0);
    ASSERT_EQ(referenceFactor(p.a, n), 0);
    for (size_t e = 0; e < p.a.size(); ++e)
      ASSERT_NEAR(packed[e], p.a[e], this->tolerance) << e;
  }
}

TYPED_TEST(HostCholesky, OfAProfileNamesTheRowOfABadPivot) {
  Random random(12);
  for (const int n : {1, 6, 40, 200})
    for (const int bad : {0, n / 2, n - 1}) {
      Profile p = randomProfile(random, n);
      p.a[packedRow(bad) + bad] = -1;
      std::vector<TypeParam> packed(p.a.begin(), p.a.end());
      EXPECT_EQ(detail::HostCholesky<TypeParam>(n, packed.data(), p.starts.data()).factor(),
                bad + 1);
    }
}

/// Several matrices side by side, each with a profile and pivots of its own.
template <class Scalar>
struct SideBySide {
  using Cholesky = detail::SimdCholesky<Scalar>;
  using Pack = typename Cholesky::Pack;
  static constexpr int width = Cholesky::width;

  std::vector<Profile> matrices;
  std::vector<int> starts;
  struct alignas(Pack) Entry {
    Scalar of[width];
  };
  std::vector<Entry> packed;

  SideBySide(Random& random, int n) : starts(n), packed(packedRow(n)) {
    for (int i = 0; i < n; ++i)
      starts[i] = i;
    for (int m = 0; m < width; ++m) {
      matrices.push_back(randomProfile(random, n));
      for (int i = 0; i < n; ++i)
        starts[i] = std::min(starts[i], matrices[m].starts[i]);
    }
  }

  Scalar& at(size_t e, int m) { return packed[e].of[m]; }

  std::vector<int> factor() {
    const int n = matrices[0].n;
    for (int m = 0; m < width; ++m)
      for (size_t e = 0; e < matrices[m].a.size(); ++e)
        at(e, m) = static_cast<Scalar>(matrices[m].a[e]);
    int failed[width];
    Cholesky(n, reinterpret_cast<Pack*>(packed.data()), starts.data()).factor(failed);
    return std::vector<int>(failed, failed + width);
  }
};

TYPED_TEST(HostCholesky, SideBySideEqualsTheReference) {
  Random random(13);
  for (const int n : {4, 8, 12, 32, 60, 64, 132}) {
    SCOPED_TRACE(n);
    SideBySide<TypeParam> batch(random, n);
    EXPECT_EQ(batch.factor(), std::vector<int>(batch.width, 0));
    for (int m = 0; m < batch.width; ++m) {
      Doubles& l = batch.matrices[m].a;
      ASSERT_EQ(referenceFactor(l, n), 0);
      for (size_t e = 0; e < l.size(); ++e)
        ASSERT_NEAR(batch.at(e, m), l[e], this->tolerance) << m << " " << e;
    }
  }
}

TYPED_TEST(HostCholesky, SideBySideOneBadPivotLeavesTheOthersAlone) {
  Random random(14);
  const int n = 36;
  for (const int bad : {0, 1, 17, 35})
    for (int m = 0; m < SideBySide<TypeParam>::width; ++m) {
      SideBySide<TypeParam> batch(random, n);
      batch.matrices[m].a[packedRow(bad) + bad] =
          bad == 17 ? std::numeric_limits<double>::quiet_NaN() : -1;
      std::vector<int> expected(batch.width, 0);
      expected[m] = bad + 1;
      EXPECT_EQ(batch.factor(), expected);
      for (int other = 0; other < batch.width; ++other) {
        if (other == m)
          continue;
        Doubles& l = batch.matrices[other].a;
        ASSERT_EQ(referenceFactor(l, n), 0);
        for (size_t e = 0; e < l.size(); ++e)
          ASSERT_NEAR(batch.at(e, other), l[e], this->tolerance);
      }
    }
}

} // namespace
