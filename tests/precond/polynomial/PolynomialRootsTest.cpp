// SPDX-License-Identifier: BSD-3-Clause
#include "polynomial/Ainvil_PolynomialRoots.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ainvil {
namespace {

using namespace detail;
using Complex = std::complex<double>;

Hessenberg matrixOf(int columns, const std::vector<std::vector<double>>& rows) {
  Hessenberg h(columns);
  for (int i = 0; i <= columns; ++i)
    for (int j = 0; j < columns; ++j)
      h(i, j) = rows[size_t(i)][size_t(j)];
  return h;
}

double valueAt(double t, const Roots& roots) {
  Complex product = 1;
  for (const Complex& root : roots) {
    product *= 1.0 - t / root;
    if (root.imag() != 0)
      product *= 1.0 - t / std::conj(root);
  }
  return product.real();
}

/// One step: r = v - C v / theta, smallest for theta = ||C v||^2 / (v . C v).
TEST(PolynomialRoots, OfOneStep) {
  const Hessenberg h = matrixOf(1, {{3}, {4}});
  const Roots roots = harmonicRitzValues(h, false);
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_NEAR(roots[0].real(), 25.0 / 3, 1e-14);
  EXPECT_EQ(roots[0].imag(), 0);
  const std::vector<double> residuals = gmresResiduals(h);
  ASSERT_EQ(residuals.size(), 2u);
  EXPECT_EQ(residuals[0], 1);
  EXPECT_NEAR(residuals[1], 4.0 / 5, 1e-15);
}

/// Where the Krylov space ends, H is all of C on it, and its eigenvalues are the roots.
TEST(PolynomialRoots, AreEigenvaluesAtTheEnd) {
  const Hessenberg h = matrixOf(3, {{2, 1, 5}, {1, 2, 7}, {0, 0, 4}, {0, 0, 0}});
  Roots roots = harmonicRitzValues(h, true);
  ASSERT_EQ(roots.size(), 3u);
  std::sort(roots.begin(), roots.end(), [](auto a, auto b) { return a.real() < b.real(); });
  EXPECT_NEAR(roots[0].real(), 1, 1e-13);
  EXPECT_NEAR(roots[1].real(), 3, 1e-13);
  EXPECT_NEAR(roots[2].real(), 4, 1e-13);
  EXPECT_EQ(gmresResiduals(h.leading(2)).back(), 0); // which is an invariant space, too
}

/// A rotation makes no progress in its first step, and is solved by the second.
TEST(PolynomialRoots, OfARotation) {
  const Hessenberg h = matrixOf(2, {{0, -1}, {1, 0}, {0, 0}});
  EXPECT_TRUE(harmonicRitzValues(h.leading(1), false).empty());
  const Roots roots = harmonicRitzValues(h, false);
  ASSERT_EQ(roots.size(), 1u);
  EXPECT_NEAR(roots[0].real(), 0, 1e-15);
  EXPECT_NEAR(roots[0].imag(), 1, 1e-15);
  EXPECT_EQ(degreeOf(roots), 2);
  EXPECT_EQ(gmresResiduals(h)[1], 1);
  EXPECT_EQ(gmresResiduals(h)[2], 0);
}

TEST(PolynomialRoots, SingularAndNotFiniteMatricesHaveNone) {
  EXPECT_TRUE(harmonicRitzValues(matrixOf(1, {{0}, {0}}), false).empty());
  EXPECT_TRUE(harmonicRitzValues(matrixOf(2, {{1, 1}, {1, 1}, {0, 0}}), false).empty());
  EXPECT_TRUE(harmonicRitzValues(matrixOf(1, {{NAN}, {1}}), false).empty());
  EXPECT_TRUE(harmonicRitzValues(matrixOf(1, {{1}, {INFINITY}}), false).empty());
  EXPECT_TRUE(harmonicRitzValues(Hessenberg(0), false).empty());
}

TEST(PolynomialRoots, ProductOfTheOtherFactors) {
  const Roots roots = {2.0, 1000.0, Complex(0, 3)};
  // Of 2: (1 - 2 / 1000) |1 - 2 / 3i|^2 = 0.998 (1 + 4 / 9).
  EXPECT_NEAR(productOfOthers(roots, 0), std::log10(0.998 * (1 + 4.0 / 9)), 1e-14);
  // Of 3i: |1 - 3i / 2| |1 - 3i / 1000| times that of -3i, 2.
  EXPECT_NEAR(productOfOthers(roots, 2), std::log10(std::hypot(1, 1.5) * std::hypot(1, 0.003) * 2),
              1e-14);
}

/// Nine roots near 1 multiply what is left of an eigenvalue at 1e6 by 1e54.
TEST(PolynomialRoots, CopiesOfAnOutlier) {
  Roots roots;
  for (int k = 0; k < 9; ++k)
    roots.push_back(1 + 0.1 * k);
  roots.push_back(1e6);
  Roots without = roots;
  without.pop_back();
  addCopies(without, 14);
  EXPECT_EQ(without.size(), 9u);
  const double product = productOfOthers(roots, 9);
  EXPECT_GT(product, 50);
  addCopies(roots, 14);
  EXPECT_EQ(int(std::count(roots.begin(), roots.end(), Complex(1e6))),
            1 + int(std::ceil((product - 4) / 14)));
  EXPECT_EQ(int(std::count(roots.begin(), roots.end(), Complex(1))), 1);
}

TEST(PolynomialRoots, OrderOfLeja) {
  // After 10: 1 is 9 away; 6 has 4 * 5 = 20, 2 has 8, 9 has 8, i has |10 - i| |1 - i| and more.
  const Roots ordered = inLejaOrder({1.0, 2.0, 6.0, 9.0, 10.0});
  EXPECT_EQ(ordered[0], Complex(10));
  EXPECT_EQ(ordered[1], Complex(1));
  EXPECT_EQ(ordered[2], Complex(6));
  // A pair counts with both: after 5i and -5i, 0.1 is farther than 4i.
  const Roots pairs = inLejaOrder({Complex(0, 4), 0.1, Complex(0, 5)});
  EXPECT_EQ(pairs[0], Complex(0, 5));
  EXPECT_EQ(pairs[1], Complex(0.1));
  // After 10 + i, 9 + 2.8i is 2.1 away and 8 is 2.2; with 10 - i the products are 8.1 and 5.
  EXPECT_EQ(inLejaOrder({8.0, Complex(9, 2.8), Complex(10, 1)}),
            (Roots{Complex(10, 1), Complex(9, 2.8), 8.0}));
  // A copy is not infinitely near, and products of any size are no obstacle.
  const Roots copies = inLejaOrder({4.0, 4.0, 1.0, 2.0});
  EXPECT_EQ(copies, (Roots{4.0, 1.0, 2.0, 4.0}));
  const Roots wide = inLejaOrder({1e-200, 1e200, 2e200, 3e200, 1.0});
  EXPECT_EQ(wide[0], Complex(3e200));
  EXPECT_EQ(wide.size(), 5u);
}

TEST(PolynomialRoots, OddProductsMayStayBelowOne) {
  EXPECT_TRUE(isBelowOne({3.0, 1.0, 2.0}));
  EXPECT_TRUE(isBelowOne({7.0}));
  EXPECT_FALSE(isBelowOne({1.0, 2.0})); // grows beyond 2
  EXPECT_FALSE(isBelowOne({0.1, 0.2, 2.0}));
  EXPECT_GT(valueAt(1, {0.1, 0.2, 2.0}), 1);
  EXPECT_FALSE(isBelowOne({1.0, -2.0, 3.0}));
  EXPECT_FALSE(isBelowOne({Complex(1, 1)}));
  EXPECT_FALSE(isBelowOne({}));
}

} // namespace
} // namespace ainvil
