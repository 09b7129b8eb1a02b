// SPDX-License-Identifier: BSD-3-Clause
/// The parallel search for a pattern, against the sequential one.
#include "precond/ilu/IlutSupport.hpp"

#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

namespace ainvil {
namespace {

using namespace test;

/// ||A - L U||_F / ||A||_F, entries beside the pattern included.
double wholeResidual(const Factorization<double, Device>& factors, const HostBsr& a) {
  const auto product = denseProduct(factors);
  const auto dense = toDense(a);
  double squares = 0, size = 0;
  for (size_t e = 0; e < dense.size(); ++e) {
    squares += (dense[e] - product[e]) * (dense[e] - product[e]);
    size += dense[e] * dense[e];
  }
  return std::sqrt(squares / size);
}

class IlutStepsOnGallery : public ::testing::TestWithParam<const char*> {};

/// Five steps leave at most 1.1 times what the sequential search leaves, with no more entries.
TEST_P(IlutStepsOnGallery, LeaveAsLittleAsTheSequentialSearch) {
  const HostBsr a = makeProblem(GetParam()).matrix;
  for (const double drop : {0.05, 0.01}) {
    const auto expected = ilutBy(message(",drop=", drop, sequential), a);
    const Offset entries = entriesOf(expected->factors());
    const double fill = (double(entries) + 0.5) / double(a.numEntries());
    const auto m = ilutBy(message(",drop=0,max-fill=", fill, parallel), a);
    EXPECT_LE(entriesOf(m->factors()), entries);
    const double ratio = wholeResidual(m->factors(), a) / wholeResidual(expected->factors(), a);
    EXPECT_LE(ratio, 1.1) << drop;
    RecordProperty(message("ratio ", drop), message(ratio));
  }
}

INSTANTIATE_TEST_SUITE_P(Problems, IlutStepsOnGallery,
                         ::testing::Values("poisson5:24", "laplace7:8", "laplace27:7", "jump:8",
                                           "convdiff:8", "cavity:14", "euler:150", "shell:8",
                                           "elasticity:5x4x3", "circuit:600", "network:24"));

/// A step adds what two steps through earlier rows reach: from the pattern of A that is level 1.
TEST(IlutSteps, OneWithoutDroppingHasThePatternOfLevelOne) {
  for (const int bs : {1, 3})
    for (const Pattern& pattern : {randomPattern(60, 3, 33), arrowPattern(70)}) {
      const HostBsr a = matrixOn(pattern, bs, 33);
      const auto m = ilutBy(message(",drop=0,max-fill=100,steps=1", parallel), a);
      Ilu<double, Device> level(exactIlu(1));
      setUp(level, a);
      EXPECT_EQ(patternOf(m->factors()), patternOf(level.factors()));
      expectNear(denseInverse(*m), denseInverse(level), 1e-13);
    }
}

/// Rows of 1, 31, 32, 33, 65 and 300 entries, and all fill of theirs.
TEST(IlutSteps, WithoutDroppingFindAllFillOfLongRows) {
  const HostBsr a = matrixOn(longRowsPattern(536), 1, 34);
  const auto expected = ilutBy(message(",drop=0,max-fill=1000", sequential), a);
  const auto m = ilutBy(message(",drop=0,max-fill=1000,steps=9", parallel), a);
  EXPECT_EQ(patternOf(m->factors()), patternOf(expected->factors()));
}

/// Where many entries have the same size, the bound holds all the same.
TEST(IlutSteps, EqualSizesKeepToTheBound) {
  const HostBsr a = makeProblem("poisson5:30").matrix;
  for (const double most : {0.9, 1.0, 1.3, 2.0}) {
    const auto m = ilutBy(message(",drop=0,max-fill=", most, parallel), a);
    EXPECT_LE(double(entriesOf(m->factors())), most * double(a.numEntries())) << most;
  }
}

/// What is dropped may have been a neighbour of what is added: diagonal matrices and triangles are
/// factored as they are.
TEST(IlutSteps, OfTrianglesChangeNothing) {
  Pattern lower = diagonalPattern(40), upper = diagonalPattern(40);
  const Pattern random = randomPattern(40, 4, 35);
  for (Ordinal i = 0; i < 40; ++i)
    for (const Ordinal j : random[i])
      (j < i ? lower : upper)[i].insert(j);
  for (const Pattern& pattern : {lower, upper, diagonalPattern(40)}) {
    const HostBsr a = matrixOn(pattern, 2, 35);
    const auto m = ilutBy(message(",drop=0", parallel), a);
    EXPECT_EQ(entriesOf(m->factors()), a.numEntries());
    expectNear(denseInverse(*m), inverse(toDense(a), 80), 1e-12);
  }
}

/// U_01 = 1e160 / 1e-160 is no number, and is left out.
TEST(IlutSteps, LeaveOutWhatOverflows) {
  const HostBsr a(makeGraph({{0, 1}, {1, 2}, {0, 2}}),
                  viewOf<double>({1e-160, 1e160, 2, 1, 1e-170, 4}), 1);
  const auto m = ilutBy(message(",drop=1e-3,pivot-tol=0", parallel), a);
  const Rows lower = {{0}, {1}, {2}}, upper = {{}, {2}, {}};
  EXPECT_EQ(patternOf(m->factors()), std::make_pair(lower, upper));
}

} // namespace
} // namespace ainvil
