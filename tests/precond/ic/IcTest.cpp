// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ic/IcSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "Ainvil_Jacobi.hpp"
#include "KokkosObservers.hpp"
#include "Refusal.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "ilu/Ainvil_BlockIlu.hpp"

#include <gtest/gtest.h>

namespace ainvil {
namespace {

using namespace test;

class IcBlockSize : public ::testing::TestWithParam<int> {};

TEST_P(IcBlockSize, FullPatternIsTheExactInverse) {
  const int bs = GetParam();
  const HostBsr a = spdMatrixOn(fullPattern(7), bs, 11);
  IcMethod ic(exactIc());
  setUp(ic, a);
  expectNear(denseInverse(ic), inverse(toDense(a), 7 * bs), 1e-12);
}

/// S = U^T, and the inverses of the pivot blocks are the same: L = (I + S) D, U = (I + S)^T.
TEST_P(IcBlockSize, FactorIsThatOfIlu) {
  const int bs = GetParam();
  const HostBsr a = spdMatrixOn(symmetricPattern(43, 4, 5), bs, 12);
  for (const int level : {0, 1, 2, 3}) {
    SCOPED_TRACE(message("level ", level));
    IcMethod ic(exactIc(level));
    setUp(ic, a);
    Report report;
    BlockIluParameters parameters;
    parameters.level = level;
    BlockIlu<double, Device> ilu(parameters);
    ilu.initialize(Exec(), copyTo<Device>(a), report);
    ilu.compute(Exec(), copyTo<Device>(a), report);
    const size_t n = 43 * bs;
    expectNear(toDense(copyTo<HostDevice>(ic.factor().matrix)),
               transposed(toDense(copyTo<HostDevice>(ilu.upper().matrix)), n), 1e-13);
    expectNear(toHost(ic.pivotInverses()), toHost(ilu.lower().diagonal_inverse), 1e-13);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, IcBlockSize, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 11));

TEST(Ic, EqualsJacobiOnADiagonalPattern) {
  for (const int bs : {1, 3, 9}) {
    const HostBsr a = spdMatrixOn(diagonalPattern(17), bs, 13);
    Jacobi<double, Device> jacobi{JacobiParameters()};
    setUp(jacobi, a);
    for (const char* solve : {"exact", "isai", "jacobi"}) {
      const auto ic = createPreconditioner<double, Device>(message("ic:solve=", solve));
      setUp(*ic, a);
      expectNear(denseInverse(*ic), denseInverse(jacobi), 1e-14);
    }
  }
}

/// A Kronecker product with the identity runs through the block kernels what the scalar ones do.
TEST(Ic, BlocksOfMultiplesOfTheIdentityEqualTheScalarFactor) {
  const Pattern pattern = symmetricPattern(50, 5, 9);
  const HostBsr scalar = spdMatrixOn(pattern, 1, 15);
  IcMethod small(exactIc(1));
  setUp(small, scalar);
  const auto expected = denseInverse(small);
  for (const int bs : {3, 9}) {
    HostBsr block = spdMatrixOn(pattern, bs, 16);
    for (Offset e = 0; e < block.numEntries(); ++e)
      for (int k = 0; k < bs * bs; ++k)
        block.values(e * bs * bs + k) = k % (bs + 1) == 0 ? scalar.values(e) : 0.0;
    IcMethod large(exactIc(1));
    setUp(large, block);
    const auto actual = denseInverse(large);
    std::vector<double> component(50 * 50);
    for (int r = 0; r < bs; ++r) {
      for (size_t i = 0; i < 50; ++i)
        for (size_t j = 0; j < 50; ++j)
          component[i * 50 + j] = actual[(i * bs + r) * 50 * bs + j * bs + r];
      expectNear(component, expected, 1e-13);
    }
  }
}

/// (I + S) D (I + S)^T of a scalar matrix on its own pattern, row by row as the definition says.
struct Reference {
  std::vector<double> s, pivots;

  explicit Reference(const HostBsr& a) : s(toDense(a)), pivots(a.numRows()) {
    const size_t n = pivots.size();
    const Rows rows = rowsOf(a.graph);
    std::vector<double> w(n);
    for (size_t i = 0; i < n; ++i) {
      double pivot = s[i * n + i];
      for (const size_t j : rows[i]) {
        if (j >= i)
          continue;
        double sum = s[i * n + j];
        for (const size_t k : rows[i])
          if (k < j)
            sum -= w[k] * s[j * n + k];
        w[j] = sum;
        pivot -= sum * sum / pivots[j];
      }
      for (size_t j = 0; j < n; ++j)
        s[i * n + j] = j < i && s[i * n + j] != 0 ? w[j] / pivots[j] : 0.0;
      pivots[i] = pivot;
    }
  }
};

TEST(Ic, LongRowsEqualAPlainReference) {
  for (const Ordinal n : {536, 615}) {
    const HostBsr a = spdMatrixOn(longRowsPattern(n), 1, 17);
    const Reference expected(a);
    IcMethod ic(exactIc());
    const PoisonedMemory poisoned;
    setUp(ic, a);
    expectNear(toDense(copyTo<HostDevice>(ic.factor().matrix)), expected.s, 1e-13);
    auto inverses = toHost(ic.pivotInverses());
    for (size_t i = 0; i < inverses.size(); ++i)
      ASSERT_NEAR(inverses[i] * expected.pivots[i], 1.0, 1e-12) << "row " << i;
  }
}

/// Rows that meet one much longer row look for their entries there; others walk through it.
TEST(Ic, RowsThatMeetAMuchLongerRow) {
  constexpr Ordinal n = 290;
  Pattern pattern = diagonalPattern(n);
  for (Ordinal i = 0; i < n; ++i)
    for (const Ordinal j : {0, 3, 200, i > 0 ? i - 1 : 0}) {
      pattern[i].insert(j);
      pattern[j].insert(i);
    }
  for (Ordinal j = 0; j < 200; ++j) {
    pattern[200].insert(j);
    pattern[j].insert(200);
  }
  for (const int bs : {1, 2}) {
    const HostBsr a = spdMatrixOn(pattern, bs, 18);
    IcMethod ic(exactIc());
    setUp(ic, a);
    Report report;
    BlockIlu<double, Device> ilu{BlockIluParameters()};
    ilu.initialize(Exec(), copyTo<Device>(a), report);
    ilu.compute(Exec(), copyTo<Device>(a), report);
    expectNear(toDense(copyTo<HostDevice>(ic.factor().matrix)),
               transposed(toDense(copyTo<HostDevice>(ilu.upper().matrix)), n * bs), 1e-13);
  }
}

/// The long row is the first with entries, and what the next one meets there is its first.
TEST(Ic, RowsThatMeetTheVeryFirstEntry) {
  constexpr Ordinal n = 42;
  Pattern pattern = diagonalPattern(n);
  for (Ordinal j = 0; j < n - 2; ++j) {
    pattern[n - 2].insert(j);
    pattern[j].insert(n - 2);
  }
  for (const Ordinal j : {0, n - 2}) {
    pattern[n - 1].insert(j);
    pattern[j].insert(n - 1);
  }
  for (const int bs : {1, 2}) {
    const HostBsr a = spdMatrixOn(pattern, bs, 19);
    IcMethod ic(exactIc());
    setUp(ic, a);
    // There is no fill: the factor is the exact one.
    expectNear(denseInverse(ic), inverse(toDense(a), size_t(n) * bs), 1e-12);
  }
}

/// All that is symmetric: strategies, sides, steps, precisions.
const char* const specifications[] = {"ic",
                                      "ic:level=2",
                                      "ic:storage=float",
                                      "ic:storage=bfloat16",
                                      "ic:solve=isai",
                                      "ic:level=1,solve=isai,power=2",
                                      "ic:solve=isai,side=columns,power=2",
                                      "ic:solve=isai,relax=2",
                                      "ic:solve=isai,relax=auto,side=columns",
                                      "ic:solve=isai,power=2,storage=float,relax=1",
                                      "ic:solve=isai,storage=bfloat16",
                                      "ic:solve=jacobi,sweeps=3",
                                      "ic:solve=jacobi,sweeps=0",
                                      "ic:solve=jacobi,sweeps=4,damping=0.8,start=zero",
                                      "ic:solve=jacobi,sweeps=3,storage=bfloat16",
                                      "ic:factorization=ict,drop=0,max-fill=100",
                                      "ic:modified=0.9,storage=float",
                                      "ic:signs=keep,level=1",
                                      "ic:signs=absolute,solve=jacobi,sweeps=3",
                                      "ic:level=1,modified=1,solve=isai,power=2"};

class IcStrategy : public ::testing::TestWithParam<const char*> {};

TEST_P(IcStrategy, IsSymmetricPositiveDefinite) {
  for (const int bs : {1, 3}) {
    const HostBsr a = spdMatrixOn(symmetricPattern(61, 5, 21), bs, 22);
    const auto ic = createPreconditioner<double, Device>(GetParam());
    setUp(*ic, a);
    const size_t n = 61 * bs;
    const auto dense = denseInverse(*ic);
    expectNear(transposed(dense, n), dense, 1e-14);
    Random random(23);
    for (int probe = 0; probe < 5; ++probe) {
      const auto x = random.vector(n), y = random.vector(n);
      const auto mx = multiply(dense, x, n), my = multiply(dense, y, n);
      double mx_y = 0, x_my = 0, mx_x = 0, size = 0;
      for (size_t i = 0; i < n; ++i) {
        mx_y += mx[i] * y[i];
        x_my += x[i] * my[i];
        mx_x += mx[i] * x[i];
        size += std::abs(mx[i] * y[i]);
      }
      EXPECT_NEAR(mx_y, x_my, 1e-13 * size);
      EXPECT_GT(mx_x, 0);
    }
  }
}

TEST_P(IcStrategy, TransposedIsTheSame) {
  const HostBsr a = spdMatrixOn(symmetricPattern(61, 5, 24), 2, 25);
  const auto ic = createPreconditioner<double, Device>(GetParam());
  setUp(*ic, a);
  EXPECT_EQ(denseInverse(*ic, Trans::Yes), denseInverse(*ic));
}

INSTANTIATE_TEST_SUITE_P(Strategies, IcStrategy, ::testing::ValuesIn(specifications));
INSTANTIATE_TEST_SUITE_P(
    Thresholds, IcStrategy,
    ::testing::Values("ic:factorization=ict,drop=0.03",
                      "ic:factorization=ict,drop=0.03,search=parallel,solve=isai,power=2",
                      "ic:factorization=ict,max-fill=1,solve=isai,side=columns,relax=auto",
                      "ic:factorization=ict,drop=0.1,solve=jacobi,sweeps=4,damping=0.8,start=zero",
                      "ic:factorization=ict,drop=0.1,modified=0.9"));

/// M^-1 = W^T D^-1 W with the W of the strategy: for isai the rows that it holds.
TEST(Ic, IsaiIsAppliedByRowsAndByColumns) {
  for (const int bs : {1, 3}) {
    const HostBsr a = spdMatrixOn(symmetricPattern(40, 4, 26), bs, 27);
    IcParameters<double, Device> parameters = exactIc();
    IsaiParameters<Device> isai;
    isai.power = 2;
    parameters.solve = isai;
    IcMethod ic(parameters);
    setUp(ic, a);
    const size_t n = 40 * bs;
    const auto& solver =
        dynamic_cast<const IsaiTriangularSolver<double, double, Device>&>(ic.solver());
    auto w = toDense(copyTo<HostDevice>(solver.inverse()));
    for (size_t i = 0; i < n; ++i)
      w[i * n + i] += 1.0;
    expectNear(denseInverse(ic),
               multiply(transposed(w, n), multiply(densePivotInverses(ic), w, n), n), 1e-13);
  }
}

TEST(Ic, EnoughSweepsOrPowersAreExact) {
  const HostBsr a = spdMatrixOn(symmetricPattern(30, 3, 28), 2, 29);
  const auto exact = createPreconditioner<double, Device>("ic");
  setUp(*exact, a);
  for (const char* solve : {"jacobi,sweeps=30", "isai,power=30"}) {
    const auto ic = createPreconditioner<double, Device>(message("ic:solve=", solve));
    setUp(*ic, a);
    expectNear(denseInverse(*ic), denseInverse(*exact), 1e-13);
  }
}

int iterations(const Problem& problem, const std::string& specification) {
  return costOfCg(problem.matrix, specification).iterations;
}

TEST(Ic, CgTakesTheIterationsOfIlu) {
  for (const char* name : {"laplace7:10", "jump:10", "elasticity:8"}) {
    const Problem problem = makeProblem(name);
    const int exact = iterations(problem, "ic");
    EXPECT_NEAR(exact, iterations(problem, "ilu"), 1) << name;
    for (const char* specification :
         {"ic:solve=isai", "ic:solve=isai,power=2", "ic:solve=jacobi,sweeps=3",
          "ic:solve=isai,relax=1", "ic:storage=float", "ic:storage=bfloat16,solve=isai"})
      EXPECT_LE(iterations(problem, specification), 4 * exact) << name << ", " << specification;
    EXPECT_NEAR(iterations(problem, "ic:level=1"), iterations(problem, "ilu:level=1"), 1) << name;
  }
}

TEST(Ic, RoundedFactors) {
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 4, 31), 3, 32);
  forEachRounding<IcMethod>(
      exactIc(), a, [](const auto& rounded, const auto& in_double, double error) {
        expectRoundedFactors(rounded, in_double, 10 * error);
        EXPECT_EQ(toHost(rounded.pivotInverses()), toHost(in_double.pivotInverses()));
      });
}

TEST(Ic, HoldsHalfOfWhatIluHolds) {
  const Problem problem = makeProblem("laplace27:12");
  const auto memory = [&](const char* specification) {
    const auto a = copyTo<Device>(problem.matrix);
    const MemoryPeak peak;
    const auto m = createPreconditioner<double, Device>(specification);
    m->initialize(a);
    m->compute(a);
    return double(peak.bytes());
  };
  const auto entries = [&](const char* specification) {
    const auto m = createPreconditioner<double, Device>(specification);
    setUp(*m, problem.matrix);
    return double(m->report().factor_entries);
  };
  EXPECT_NEAR(entries("ic") / entries("ilu"), 0.5, 0.03);
  EXPECT_NEAR(entries("ic:solve=isai,power=2") / entries("ilu:solve=isai,power=2"), 0.5, 0.03);
  // An application reads it twice.
  const auto bytes = [&](const char* specification) {
    const auto m = createPreconditioner<double, Device>(specification);
    setUp(*m, problem.matrix);
    return double(m->report().factor_bytes);
  };
  EXPECT_NEAR(bytes("ic") / bytes("ilu"), 1, 0.05);
  EXPECT_NEAR(bytes("ic:solve=isai,power=2") / bytes("ilu:solve=isai,power=2"), 1, 0.05);
  if (Exec().concurrency() <= 2) { // no copy of the transposed factor
    EXPECT_LT(memory("ic"), 0.65 * memory("ilu"));
  }
}

TEST(Ic, NewValuesEqualAFreshBuildAndAllocateNothing) {
  const Pattern pattern = symmetricPattern(64, 5, 33);
  for (const char* specification : specifications) {
    SCOPED_TRACE(specification);
    const DeviceBsr first = copyTo<Device>(spdMatrixOn(pattern, 3, 33));
    const HostBsr host_second = spdMatrixOn(pattern, 3, 34);
    const DeviceBsr second = copyTo<Device>(host_second);
    const auto reused = createPreconditioner<double, Device>(specification);
    reused->initialize(first);
    reused->compute(first);
    {
      const AllocationCounter counter;
      reused->compute(second);
      EXPECT_EQ(counter.count(), 0) << counter.labels();
    }
    const auto fresh = createPreconditioner<double, Device>(specification);
    setUp(*fresh, host_second);
    EXPECT_EQ(denseInverse(*reused), denseInverse(*fresh));
  }
}

TEST(Ic, RefusesWhatIsNotSymmetric) {
  const HostBsr a = matrixOn(randomPattern(30, 4, 35), 2, 36);
  IcMethod ic(exactIc());
  const std::string text = refusal([&] { setUp(ic, a); });
  EXPECT_NE(text.find("ic needs a symmetric matrix"), std::string::npos) << text;
  EXPECT_NE(text.find("use ilu"), std::string::npos) << text;
}

TEST(Ic, RefusesAStrategyThatVaries) {
  const std::string text =
      refusal([] { createPreconditioner<double, Device>("ic:solve=async,sweeps=2"); });
  EXPECT_NE(text.find("varies from one application to the next"), std::string::npos) << text;
  EXPECT_NE(text.find("solve=jacobi"), std::string::npos) << text;
  IcParameters<double, Device> parameters;
  SweepParameters async;
  async.mode = SweepMode::Async;
  parameters.solve = async;
  EXPECT_NE(refusal([&] { IcMethod{parameters}; }).find("varies from one application to the next"),
            std::string::npos);
  parameters.solve = {};
  EXPECT_THROW(IcMethod{parameters}, InvalidArgument);
  IcParameters<double, Device> negative = exactIc(-1);
  EXPECT_THROW(IcMethod{negative}, InvalidArgument);
}

} // namespace
} // namespace ainvil
