// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// What is said of factors whose entries or whose inverse have grown.

#include "precond/ilu/IluSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "Ainvil_Gmres.hpp"
#include "KokkosObservers.hpp"
#include "ilu/Ainvil_FactorGrowth.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ainvil {
namespace {

using namespace test;

/// [1 e^T; e T], T upper bidiagonal with 1 + pivot on its diagonal and 2 beside it: without fill
/// the pivots of rows 2, 3, ... are `pivot`, and U has 1 / pivot beside its diagonal. In blocks
/// times I.
HostBsr arrow(Ordinal n, double pivot, int bs, double scale = 1) {
  Pattern pattern = diagonalPattern(n);
  for (Ordinal i = 1; i < n; ++i) {
    pattern[0].insert(i);
    pattern[i].insert(0);
    if (i + 1 < n)
      pattern[i].insert(i + 1);
  }
  const HostBsr a = matrixOn(pattern, bs, 1);
  for (Ordinal i = 0; i < n; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
      const Ordinal j = a.graph.entries(e);
      const double value = i == 0 || j == 0 ? 1 : i == j ? 1 + pivot : 2;
      for (int k = 0; k < bs * bs; ++k)
        a.values(e * bs * bs + k) = k % (bs + 1) == 0 ? scale * value : 0;
    }
  return a;
}

std::string objectionTo(const std::string& specification, const HostBsr& a) {
  const auto m = createPreconditioner<double, Device>(specification);
  setUp(*m, a);
  return m->objection();
}

/// Pivots of 2^-20 are far from rounding, but 14 of them in a row multiply to 1e-84.
TEST(FactorGrowth, ObjectsToFactorsThatAreNoApproximation) {
  for (const int bs : {1, 3})
    for (const double scale : {1.0, 0x1p-300, 0x1p300}) {
      SCOPED_TRACE(message("block size ", bs, ", scale ", scale));
      const DeviceBsr a = copyTo<Device>(arrow(16, 0x1p-20, bs, scale));
      const auto m = createPreconditioner<double, Device>("ilu");
      m->initialize(a);
      m->compute(a);
      EXPECT_EQ(m->report().breakdowns, 0);
      EXPECT_NE(m->objection().find("are no approximation of the matrix"), std::string::npos);
      EXPECT_NE(m->report().notes.find("amplification="), std::string::npos) << m->report().notes;
      const auto b = toDevice(std::vector<double>(size_t(a.numPointRows()), 1.0));
      const auto x = toDevice(std::vector<double>(size_t(a.numPointRows()), 0.0));
      const SolveResult result = gmres(MatrixOperator<double, Device>(a), m.get(), b, x);
      EXPECT_EQ(result.status, SolveStatus::Diverged);
      EXPECT_EQ(result.message, m->objection());
      // The next matrix is another one.
      const DeviceBsr good = copyTo<Device>(arrow(16, 1, bs, scale));
      m->compute(good);
      EXPECT_EQ(m->objection(), "");
      EXPECT_EQ(m->report().notes.find("amplification="), std::string::npos);
    }
}

/// The products that judge factors have a launch for long rows, and what it needs is found once.
TEST(FactorGrowth, IsFoundByProductsThatKnowLongRows) {
  const DeviceBsr a = copyTo<Device>(arrow(100, 0x1p-20, 3));
  const auto m = createPreconditioner<double, Device>("ilu");
  m->initialize(a);
  {
    const KernelLabelRecorder recorder;
    m->compute(a);
    const ProductCounts products(recorder.kernels());
    EXPECT_EQ(products.all, 2);
    EXPECT_EQ(products.with_long_rows, 2) << listOf(recorder.kernels());
  }
  const AllocationCounter counter;
  m->compute(a);
  EXPECT_NE(m->report().notes.find("amplification="), std::string::npos) << m->report().notes;
  EXPECT_EQ(counter.count(), 0) << counter.labels();
}

/// Remedies that are set already are left out.
TEST(FactorGrowth, WhatIsSetIsNotAdvised) {
  const HostBsr a = arrow(16, 0x1p-20, 1);
  EXPECT_NE(objectionTo("ilu", a).find("reorder=nd"), std::string::npos);
  const std::string reordered = objectionTo("ilu:reorder=block-colour", a);
  EXPECT_NE(reordered.find("match=product"), std::string::npos) << reordered;
  EXPECT_EQ(reordered.find("reorder=nd"), std::string::npos) << reordered;
}

/// What the message proposes serves.
TEST(FactorGrowth, RemediesLeaveNothingToObjectTo) {
  const HostBsr a = arrow(16, 0x1p-20, 1);
  for (const char* remedy : {"ilu:rel-threshold=2", "ilu:level=2", "ilu:abs-threshold=2",
                             "ilu:factorization=ilut,drop=1e-6"})
    EXPECT_EQ(objectionTo(remedy, a), "") << remedy;
}

/// Units of equations and unknowns that differ by 2^100 and 2^160 make entries of U large, and
/// ||(L U)^-1 e|| max |A| as well.
TEST(FactorGrowth, UnitsAreNoReason) {
  const HostBsr a = matrixOn(randomPattern(40, 3, 501), 1, 501);
  for (Ordinal i = 0; i < 40; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      a.values(e) *= std::ldexp(1.0, (i % 3 - 1) * 50 + (a.graph.entries(e) % 5 - 2) * 40);
  const auto m = createPreconditioner<double, Device>("ilu:pivot-tol=0");
  setUp(*m, a);
  EXPECT_EQ(m->objection(), "");
  EXPECT_NE(m->report().notes.find("amplification="), std::string::npos); // it was judged
}

/// Entries of U are 2^20 from row 2 on, those of L no larger than those of A.
TEST(FactorGrowth, IsNotedWithItsRowWhereItIsLarge) {
  for (const int bs : {1, 3}) {
    const DeviceBsr a = copyTo<Device>(arrow(16, 0x1p-20, bs));
    Ilu<double, Device> ilu(exactIlu());
    ilu.initialize(a);
    ilu.compute(a);
    const std::string notes = ilu.report().notes;
    EXPECT_NE(notes.find(message("upper_growth=", 0x1p20, " (block row 2)")), std::string::npos)
        << notes;
    EXPECT_EQ(notes.find("lower_growth="), std::string::npos) << notes;
  }
}

/// [2^-20 1; 1 1] = [2^-20 0; 1 1 - 2^20] [1 2^20; 0 1], below others that do not grow. In blocks
/// times I. A later compute allocates nothing for what it says.
TEST(FactorGrowth, OfBothFactorsIsNotedWithoutMemory) {
  for (const int bs : {1, 3})
    for (const Ordinal above : {0, 40}) {
      Pattern pattern = diagonalPattern(above + 2);
      pattern[above].insert(above + 1);
      pattern[above + 1].insert(above);
      const HostBsr host = matrixOn(pattern, bs, 1);
      for (Offset e = 0; e < host.numEntries(); ++e)
        for (int k = 0; k < bs * bs; ++k)
          host.values(e * bs * bs + k) = k % (bs + 1) > 0 ? 0 : e == above ? 0x1p-20 : 1;
      const DeviceBsr a = copyTo<Device>(host);
      const auto m = createPreconditioner<double, Device>("ilu");
      m->initialize(a);
      m->compute(a);
      const auto holds = [&](const std::string& text) {
        EXPECT_NE(m->report().notes.find(text), std::string::npos) << m->report().notes;
      };
      for (int time = 0; time < 2; ++time) {
        const AllocationCounter counter;
        m->compute(a);
        EXPECT_EQ(counter.count(), 0) << counter.labels();
        holds(message("lower_growth=", 0x1p20 - 1, " (block row ", above + 2, ")"));
        holds(message("upper_growth=", 0x1p20, " (block row ", above + 1, ")"));
        // A^-1 e = (0, 1) there, and e above.
        holds("condition=1");
      }
    }
}

/// The signs of L^-1 and U^-1 alternate while they grow beyond all numbers: sums of such are none.
TEST(FactorGrowth, ObjectsToProductsThatAreNoNumbers) {
  const auto m = createPreconditioner<double, Device>("ilu");
  setUp(*m, arrow(80, 0x1p-20, 1));
  EXPECT_NE(m->objection().find("are no approximation of the matrix"), std::string::npos);
  EXPECT_NE(m->objection().find("grows without bound"), std::string::npos) << m->objection();
  const std::string notes = m->report().notes, key = "amplification=";
  const size_t at = notes.find(key);
  ASSERT_NE(at, std::string::npos) << notes;
  EXPECT_TRUE(std::isnan(std::stod(notes.substr(at + key.size())))) << notes;
}

/// A chain whose unknowns are numbered at random, and which is factored from one of its ends.
TEST(FactorGrowth, NamesRowsAsTheMatrixHasThem) {
  const Ordinal n = 40;
  std::vector<Ordinal> number(n);
  std::iota(number.begin(), number.end(), 0);
  Random(3).shuffle(number);
  Pattern pattern = diagonalPattern(n);
  for (Ordinal k = 0; k + 1 < n; ++k) {
    pattern[number[k]].insert(number[k + 1]);
    pattern[number[k + 1]].insert(number[k]);
  }
  for (const Ordinal place : {5, 17, 30}) {
    const Ordinal small = number[place];
    const HostBsr a = matrixOn(pattern, 1, 1);
    for (Ordinal i = 0; i < n; ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
        const Ordinal j = a.graph.entries(e);
        a.values(e) = i == j ? (i == small ? 0x1p-20 : 1) : i == small ? 1 : j == small ? 0 : 0.25;
      }
    const auto m = createPreconditioner<double, Device>("ilu:reorder=rcm");
    const DeviceBsr on_device = copyTo<Device>(a);
    m->initialize(on_device);
    m->compute(on_device);
    EXPECT_NE(
        m->report().notes.find(message("upper_growth=", 0x1p20, " (block row ", small + 1, ")")),
        std::string::npos)
        << m->report().notes;
  }
}

/// Of each factor and of A apart, NaN and infinity as infinity.
TEST(FactorGrowth, FindsTheLargestModuliInOnePass) {
  const auto found = [](const std::vector<double>& l, const std::vector<double>& u) {
    for (const size_t rows : {0, 65}) {
      std::vector<double> sizes(rows, 1);
      std::fill_n(sizes.begin(), rows / 65, 11);
      const detail::LargestModuli moduli =
          detail::largestModuli<double, Device>(Exec(), toDevice(l), toDevice(u), toDevice(sizes));
      EXPECT_EQ(moduli.of_a, rows > 0 ? 11 : 0);
      if (rows > 0)
        return std::make_pair(moduli.of_lower, moduli.of_upper);
    }
    return std::make_pair(-1.0, -1.0);
  };
  using Pair = std::pair<double, double>;
  EXPECT_EQ(found({}, {}), Pair(0, 0));
  EXPECT_EQ(found({-3}, {}), Pair(3, 0));
  EXPECT_EQ(found({}, {2, -4}), Pair(0, 4));
  for (const size_t n : {536, 615}) {
    std::vector<double> l = Random(5).vector(n), u = Random(6).vector(n + 1);
    l[n - 1] = -7;
    u[0] = -9;
    EXPECT_EQ(found(l, u), Pair(7, 9));
    for (const double bad : {std::nan(""), HUGE_VAL, -HUGE_VAL}) {
      std::vector<double> l_bad = l, u_bad = u;
      l_bad[n / 2] = u_bad[n] = bad;
      EXPECT_EQ(found(l_bad, u), Pair(HUGE_VAL, 9));
      EXPECT_EQ(found(l, u_bad), Pair(7, HUGE_VAL));
    }
  }
}

} // namespace
} // namespace ainvil
