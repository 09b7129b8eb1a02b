// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// The diagonal changed before it is factored: by the thresholds of `ilu` and `ic`, and by
/// `breakdown=shift-all`.

#include "precond/PrecondSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "Refusal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

namespace ainvil {
namespace {

using namespace test;

/// A with change(d) in place of every entry d of the scalar diagonal.
HostBsr withDiagonal(const HostBsr& a, const std::function<double(double)>& change) {
  const HostBsr changed(a.graph, viewOf(toHost(a.values)), a.block_size);
  const int bs = a.block_size;
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      for (int r = 0; r < bs && a.graph.entries(e) == i; ++r) {
        double& d = changed.values((e * bs + r) * bs + r);
        d = change(d);
      }
  return changed;
}

std::vector<double> inverseBy(const std::string& specification, const HostBsr& a) {
  const auto m = createPreconditioner<double, Device>(specification);
  setUp(*m, a);
  return denseInverse(*m);
}

/// Scalar diagonal matrix.
HostBsr diagonalMatrix(const std::vector<double>& diagonal) {
  const HostBsr a = matrixOn(diagonalPattern(static_cast<Ordinal>(diagonal.size())), 1, 1);
  std::copy(diagonal.begin(), diagonal.end(), a.values.data());
  return a;
}

const char* const general[] = {"ilu:level=0", "ilu:level=1", "ilu:modified=0.5", "ilu:iterative=2",
                               "ilu:factorization=ilut,drop=0,max-fill=1.2"};
const char* const symmetric[] = {"ic:level=0", "ic:level=1",
                                 "ic:factorization=ict,drop=0,max-fill=1.2"};

/// The factors of A + 0.25 diag(A) + 3 sign(diag(A)): to the bit on hosts, patterns by threshold
/// included. GPUs may round the changed diagonal once less, and with it choose another entry where
/// two are about as large.
TEST(DiagonalThresholds, AreFactorsOfTheMatrixWithThatDiagonal) {
  const bool on_gpu = compat::IsGpu<Device::execution_space>::value;
  for (const int bs : {1, 3, 11}) {
    const auto expectEqual = [&](const char* method, const HostBsr& a) {
      if (on_gpu && std::string(method).find("factorization") != std::string::npos)
        return;
      const HostBsr changed =
          withDiagonal(a, [](double d) { return 1.25 * d + (d < 0 ? -3.0 : 3.0); });
      const auto expected = inverseBy(method, changed);
      const auto inverse = inverseBy(message(method, ",abs-threshold=3,rel-threshold=1.25"), a);
      double size = 0;
      for (const double value : expected)
        size = std::max(size, std::fabs(value));
      for (size_t i = 0; i < expected.size(); ++i)
        ASSERT_NEAR(inverse[i], expected[i], on_gpu ? 1e-12 * size : 0.0)
            << method << ", block size " << bs;
      EXPECT_NE(inverseBy(method, a), expected) << method << ", block size " << bs;
    };
    const HostBsr a = matrixOn(randomPattern(33, 4, 401), bs, 401);
    for (size_t e = 0; e < a.values.extent(0) / 2; ++e)
      a.values(e) = -a.values(e);
    for (const char* method : general)
      expectEqual(method, a);
    for (const char* method : symmetric)
      expectEqual(method, spdMatrixOn(symmetricPattern(33, 3, 402), bs, 402));
  }
}

TEST(DiagonalThresholds, TakeTheSignOfTheEntryAndPlusOfZeros) {
  const auto inverse =
      inverseBy("ilu:abs-threshold=0.5,rel-threshold=2", diagonalMatrix({0.75, -0.75, 0.0, -0.0}));
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(inverse[5 * i], (std::vector<double>{0.5, -0.5, 2, 2})[i]);
}

TEST(DiagonalThresholds, FillDiagonalsThatAreMissing) {
  for (const int bs : {1, 3}) {
    Pattern pattern = diagonalPattern(5);
    pattern[2] = {3};
    const auto m = createPreconditioner<double, Device>("ilu:abs-threshold=0.5");
    setUp(*m, matrixOn(pattern, bs, 403));
    EXPECT_EQ(m->report().breakdowns, 0);
    const auto inverse = denseInverse(*m);
    const size_t n = 5 * size_t(bs);
    for (size_t i = 2 * size_t(bs); i < 3 * size_t(bs); ++i)
      EXPECT_EQ(inverse[i * n + i], 2);
  }
}

/// A (x) I in blocks has the inverse M^-1 (x) I.
TEST(DiagonalThresholds, OfBlocksThatAreMultiplesOfIAreThoseOfScalars) {
  const Pattern pattern = randomPattern(21, 3, 404);
  const HostBsr scalar = matrixOn(pattern, 1, 404);
  for (const int bs : {2, 9}) {
    const HostBsr blocks = matrixOn(pattern, bs, 404);
    for (size_t e = 0; e < blocks.values.extent(0); ++e) {
      const size_t in_block = e % size_t(bs * bs);
      blocks.values(e) = in_block % size_t(bs + 1) == 0 ? scalar.values(e / size_t(bs * bs)) : 0;
    }
    const std::string method = "ilu:level=1,abs-threshold=1.5,rel-threshold=1.125";
    const auto small = inverseBy(method, scalar), large = inverseBy(method, blocks);
    std::vector<double> expected(large.size(), 0.0);
    const size_t n = 21 * size_t(bs);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = i % size_t(bs); j < n; j += size_t(bs))
        expected[i * n + j] = small[i / size_t(bs) * 21 + j / size_t(bs)];
    expectNear(large, expected, 1e-13);
  }
}

/// What they leave of rows of A is what sweeps have to solve.
TEST(DiagonalThresholds, CountInTheResidualOfSweeps) {
  const auto m =
      createPreconditioner<double, Device>("ilu:iterative=40,abs-threshold=3,rel-threshold=1.25");
  const DeviceBsr a = copyTo<Device>(matrixOn(randomPattern(33, 4, 405), 3, 405));
  m->initialize(a);
  m->compute(a);
  m->diagnose(a);
  const std::string notes = m->report().notes;
  const auto at = notes.find("ilu_residual=");
  ASSERT_NE(at, std::string::npos) << notes;
  EXPECT_LT(std::stod(notes.substr(at + 13)), 1e-14) << notes;
}

TEST(DiagonalThresholds, HostileValues) {
  for (const char* method : {"ilu:", "ilu:factorization=ilut,", "ic:"})
    for (const char* value : {"abs-threshold=-1", "abs-threshold=nan", "abs-threshold=inf",
                              "rel-threshold=0", "rel-threshold=-1", "rel-threshold=nan"}) {
      const std::string text =
          refusal([&] { createPreconditioner<double, Device>(std::string(method) + value); });
      EXPECT_NE(text.find("-threshold"), std::string::npos) << method << value << ": " << text;
    }
  // A pivot that overflows is a breakdown as any other.
  const HostBsr a = diagonalMatrix({1, 1e10, 1});
  const auto failing = createPreconditioner<double, Device>("ilu:rel-threshold=1e300");
  const std::string text = refusal([&] { setUp(*failing, a); });
  EXPECT_NE(text.find("block row 2 (counted from 1)"), std::string::npos) << text;
  for (const double value : inverseBy("ilu:rel-threshold=1e300,breakdown=replace", a))
    EXPECT_TRUE(std::isfinite(value));
}

/// Rows 3 and 6 of a matrix, whose other diagonal entries have either sign, get pivots of zero.
HostBsr withZeroPivots(int bs, double scale = 1) {
  Pattern pattern = randomPattern(12, 3, 406);
  pattern[3].insert(7);
  pattern[6].insert(9);
  const HostBsr a = matrixOn(pattern, bs, 406);
  for (Ordinal i = 0; i < 12; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      for (int k = 0; k < bs * bs; ++k) {
        double& value = a.values(e * bs * bs + k);
        const bool in_row = i == 3 || i == 6;
        value = in_row && a.graph.entries(e) <= i ? 0 : scale * (i % 2 == 0 ? value : -value);
      }
  return a;
}

/// The largest entry of a point row.
double rowSize(const HostBsr& a, Ordinal i, int r) {
  double size = 0;
  for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
    for (int c = 0; c < a.block_size; ++c)
      size = std::max(size, std::abs(a.values((e * a.block_size + r) * a.block_size + c)));
  return size;
}

/// The whole factor is that of the shifted matrix, zeros taken for the largest entry of their row.
TEST(ShiftAll, FactorsTheShiftedMatrix) {
  for (const char* method : {"ilu:level=0", "ilu:level=1", "ilu:modified=0.5", "ilu:iterative=2",
                             "ilu:factorization=ilut,drop=0"})
    for (const int bs : {1, 3, 11}) {
      SCOPED_TRACE(message(method, ", block size ", bs));
      const HostBsr a = withZeroPivots(bs);
      const auto m =
          createPreconditioner<double, Device>(message(method, ",breakdown=shift-all,shift=0.125"));
      setUp(*m, a);
      EXPECT_EQ(m->report().breakdowns, 2);
      EXPECT_EQ(m->report().first_breakdown, 3);
      EXPECT_NE(m->report().notes.find("shift=0.125, factorizations=2"), std::string::npos)
          << m->report().notes;
      HostBsr shifted = withDiagonal(a, [](double d) { return 1.125 * d; });
      for (const Ordinal i : {3, 6})
        for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
          for (int r = 0; r < bs && a.graph.entries(e) == i; ++r)
            shifted.values((e * bs + r) * bs + r) = 0.125 * rowSize(a, i, r);
      expectNear(denseInverse(*m), inverseBy(method, shifted), 1e-12);
    }
}

/// [1 1; 1 s]: the second pivot of A + alpha diag(A) is s (1 + alpha) - 1 / (1 + alpha).
TEST(ShiftAll, IsForgottenByTheNextMatrix) {
  const HostBsr a = matrixOn(fullPattern(2), 1, 1);
  const auto fill = [&](double second) {
    const double values[] = {1, 1, 1, second};
    std::copy_n(values, 4, a.values.data());
    return copyTo<Device>(a);
  };
  const auto m = createPreconditioner<double, Device>("ilu:breakdown=shift-all,shift=0.125");
  m->initialize(fill(1));
  m->compute(fill(1));
  EXPECT_NE(m->report().notes.find("shift=0.125, factorizations=2"), std::string::npos);
  EXPECT_NEAR(denseInverse(*m)[3], 1 / (1.125 - 1 / 1.125), 1e-14);
  // A good matrix has neither shift nor notes of one.
  m->compute(fill(3));
  EXPECT_EQ(m->report().breakdowns, 0);
  EXPECT_EQ(m->report().notes.find("shift="), std::string::npos) << m->report().notes;
  expectNear(denseInverse(*m), inverse({1, 1, 1, 3}, 2), 1e-15);
}

/// A pivot tolerance that only a matrix with a dominant diagonal meets.
TEST(ShiftAll, IsDoubledAndOfTheScaleOfTheMatrix) {
  const std::string method =
      "ilu:breakdown=shift-all,shift=0.125,pivot-tol=2e15"; // pivots of 0.44 of their row
  for (const int bs : {1, 3})
    for (const double scale : {1.0, 0x1p-100, 0x1p100}) {
      const auto m = createPreconditioner<double, Device>(method);
      setUp(*m, withZeroPivots(bs, scale));
      EXPECT_NE(m->report().notes.find("shift=0.5, factorizations=4"), std::string::npos)
          << m->report().notes;
    }
  // 1e-3 times 2^63 of the diagonal do not exceed so many times its row.
  const auto hopeless =
      createPreconditioner<double, Device>("ilu:breakdown=shift-all,pivot-tol=1e40");
  const std::string text = refusal([&] { setUp(*hopeless, withZeroPivots(1)); });
  EXPECT_NE(text.find("scale the matrix"), std::string::npos) << text;
}

/// Other methods have no whole factor to shift.
TEST(ShiftAll, IsOfIluOnly) {
  for (const char* method : {"jacobi", "chebyshev", "fsai", "ainv", "ic"})
    EXPECT_NE(refusal([&] {
                createPreconditioner<double, Device>(message(method, ":breakdown=shift-all"));
              }).find("shift-all"),
              std::string::npos)
        << method;
}

} // namespace
} // namespace ainvil
