// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "precond/ilu/IluSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ainvil {
namespace {

using namespace test;

class IluBlockSize : public ::testing::TestWithParam<int> {};

TEST_P(IluBlockSize, FullPatternIsTheExactInverse) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(fullPattern(7), bs, 11);
  Ilu<double, Device> ilu(exactIlu());
  setUp(ilu, a);
  const size_t n = 7 * bs;
  expectNear(denseInverse(ilu), inverse(toDense(a), n), 1e-12);
}

/// (L U)_ij = A_ij for all (i, j) of the pattern.
void expectProductOnPattern(const Pattern& pattern, int bs) {
  const HostBsr a = matrixOn(pattern, bs, 12);
  Report report;
  BlockIlu<double, Device> factors{BlockIluParameters()};
  factors.initialize(Exec(), copyTo<Device>(a), report);
  factors.compute(Exec(), copyTo<Device>(a), report);
  const auto product = denseProduct(factors);
  const auto dense = toDense(a);
  const size_t n = pattern.size() * bs;
  for (size_t i = 0; i < pattern.size(); ++i)
    for (const Ordinal j : pattern[i])
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < bs; ++c) {
          const size_t at = (i * bs + r) * n + size_t(j) * bs + c;
          ASSERT_NEAR(product[at], dense[at], 1e-11) << "block " << i << ", " << j;
        }
}

TEST_P(IluBlockSize, ProductOfFactorsIsAOnThePattern) {
  expectProductOnPattern(randomPattern(43, 4, 5), GetParam());
}

TEST(Ilu, ProductOfFactorsIsAOnThePatternOfAnArrow) {
  const Ordinal n = 70;
  Pattern pattern = randomPattern(n, 2, 5);
  for (const Ordinal dense : {0, 3})
    for (Ordinal i = 0; i < n; ++i) {
      pattern[i].insert(dense);
      pattern[dense].insert(i);
    }
  for (const int bs : {1, 2, 9})
    expectProductOnPattern(pattern, bs);
}

TEST_P(IluBlockSize, TransposeIdentity) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(randomPattern(31, 5, 6), bs, 13);
  Ilu<double, Device> ilu(exactIlu());
  setUp(ilu, a);
  const size_t n = 31 * bs;
  expectNear(denseInverse(ilu, Trans::Yes), transposed(denseInverse(ilu), n), 1e-13);
}

INSTANTIATE_TEST_SUITE_P(Sizes, IluBlockSize, ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 11, 17));

TEST(Ilu, EnoughFillIsTheExactInverse) {
  const HostBsr a = matrixOn(randomPattern(40, 2, 8), 2, 14);
  Ilu<double, Device> ilu(exactIlu(40));
  setUp(ilu, a);
  expectNear(denseInverse(ilu), inverse(toDense(a), 80), 1e-11);
}

TEST(Ilu, MoreFillIsCloserToA) {
  const Problem problem = makeProblem("poisson5:20");
  const auto dense = toDense(problem.matrix);
  double before = std::numeric_limits<double>::infinity();
  for (const int level : {0, 1, 2, 4}) {
    Report report;
    BlockIluParameters parameters;
    parameters.level = level;
    BlockIlu<double, Device> factors(parameters);
    factors.initialize(Exec(), copyTo<Device>(problem.matrix), report);
    factors.compute(Exec(), copyTo<Device>(problem.matrix), report);
    const auto product = denseProduct(factors);
    double error = 0;
    for (size_t i = 0; i < product.size(); ++i)
      error += std::abs(product[i] - dense[i]);
    EXPECT_LT(error, 0.7 * before) << "level " << level;
    before = error;
  }
}

/// A Kronecker product with the identity runs through the block kernels what the scalar ones do.
TEST(Ilu, BlocksOfMultiplesOfTheIdentityEqualTheScalarFactors) {
  const Pattern pattern = randomPattern(50, 5, 9);
  const HostBsr scalar = matrixOn(pattern, 1, 15);
  for (const int bs : {3, 9}) {
    HostBsr block = matrixOn(pattern, bs, 16);
    for (Offset e = 0; e < block.numEntries(); ++e)
      for (int k = 0; k < bs * bs; ++k)
        block.values(e * bs * bs + k) = k % (bs + 1) == 0 ? scalar.values(e) : 0.0;
    Ilu<double, Device> small(exactIlu(1)), large(exactIlu(1));
    setUp(small, scalar);
    setUp(large, block);
    const auto expected = denseInverse(small);
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

/// Rows with more entries than a kernel lists at a time, and with more of them in L; of all of
/// these columns, of few, and of every third.
TEST(Ilu, MoreProductsThanAListTakes) {
  constexpr Ordinal n = 290;
  Pattern arrow(n), comb(n);
  for (Ordinal i = 0; i < n; ++i)
    for (Ordinal j = 0; j < n; ++j) {
      if (i == j || i == 0 || j == 0 || i == n - 1)
        arrow[i].insert(j);
      if (i == j || i < 3 || j % 3 == i % 3)
        comb[i].insert(j);
    }
  for (const auto& pattern : {fullPattern(150), arrow, comb})
    for (const int bs : {1, 2}) {
      SCOPED_TRACE(message(pattern.size(), " rows in blocks of ", bs));
      const HostBsr a = matrixOn(pattern, bs, 17);
      Report report;
      BlockIlu<double, Device> factors{BlockIluParameters()};
      factors.initialize(Exec(), copyTo<Device>(a), report);
      factors.compute(Exec(), copyTo<Device>(a), report);
      EXPECT_LT(denseResidual(factors, a), 1e-14);
    }
}

TEST(Ilu, LongRowsAndAChainOfManyLevels) {
  const HostBsr a = matrixOn(longRowsPattern(615), 1, 17);
  Ilu<double, Device> ilu(exactIlu());
  setUp(ilu, a);
  const auto m = denseInverse(ilu);
  const auto expected = inverse(denseProduct(ilu.factors()), 615);
  expectNear(m, expected, 1e-11);

  Pattern chain = diagonalPattern(3000);
  for (Ordinal i = 1; i < 3000; ++i)
    chain[i].insert(i - 1);
  const HostBsr bidiagonal = matrixOn(chain, 1, 18);
  Ilu<double, Device> exact(exactIlu());
  setUp(exact, bidiagonal);
  const std::vector<double> ones(3000, 1.0);
  const auto x = toDevice(ones);
  const auto b = toDevice(ones);
  const auto y = toDevice(std::vector<double>(3000, std::numeric_limits<double>::quiet_NaN()));
  spmv<double, double, Device>(Exec(), Trans::No, 1.0, copyTo<Device>(bidiagonal),
                               asColumn(Vector<const double, Device>(x)), 0.0, asColumn(b));
  exact.apply(Exec(), Vector<const double, Device>(b), y);
  expectNear(toHost(y), ones, 1e-12);
}

/// Large enough for several host threads to share each of two level sets; sweeps are exact after as
/// many as there are levels.
TEST(Ilu, TwoLargeLevelsEqualTwoSweeps) {
  const Ordinal half = 20000;
  Pattern pattern = diagonalPattern(2 * half);
  for (Ordinal i = 0; i < half; ++i)
    for (const Ordinal j : {half + i, half + (i + 7) % half}) {
      pattern[i].insert(j);
      pattern[j].insert(i);
    }
  const HostBsr a = matrixOn(pattern, 3, 20);
  Ilu<double, Device> exact(exactIlu());
  IluSettings<Device> parameters;
  SweepParameters sweeps;
  sweeps.sweeps = 2;
  parameters.solve = sweeps;
  Ilu<double, Device> swept(parameters);
  setUp(exact, a);
  setUp(swept, a);
  exact.diagnose(copyTo<Device>(a));
  EXPECT_EQ(exact.report().notes.rfind("lower_levels=2, upper_levels=2", 0), 0u);
  const auto b = toDevice(Random(21).vector(a.numPointRows()));
  const auto x = toDevice(std::vector<double>(size_t(a.numPointRows()), 0.0)),
             y = toDevice(toHost(x));
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    exact.apply(Exec(), asColumn(Vector<const double, Device>(b)), asColumn(x), trans);
    swept.apply(Exec(), asColumn(Vector<const double, Device>(b)), asColumn(y), trans);
    expectNear(toHost(x), toHost(y), 1e-13);
  }
}

TEST(Ilu, StorageRoundsTheFactors) {
  const HostBsr a = matrixOn(randomPattern(60, 5, 19), 3, 19);
  using Method = Ilu<double, Device>;
  forEachRounding<Method>(
      exactIlu(), a, [](const Method& rounded, const Method& in_double, double error) {
        expectRoundedFactors(rounded, in_double, 5 * error);
        EXPECT_LT(rounded.report().factor_bytes, 0.6 * in_double.report().factor_bytes);
      });
}

/// A dense first row: neither scratch nor time may grow with it for all rows.
TEST(Ilu, ArrowMatrix) {
  const Ordinal n = 2000;
  Pattern arrow = diagonalPattern(n);
  for (Ordinal j = 0; j < n; ++j) {
    arrow[0].insert(j);
    arrow[j].insert(0);
  }
  const HostBsr a = matrixOn(arrow, 2, 25);
  for (const auto& parameters : {exactIlu(), isaiIlu(1), isaiIlu(1, IsaiSide::Columns)}) {
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, a);
    EXPECT_EQ(ilu.report().breakdowns, 0);
    // Both triangles hold all of their inverses' entries, so all three agree.
    const auto x = toDevice(Random(1).vector(2 * n), 2 * n, 1);
    const auto y = poisoned(2 * n, 1), expected = poisoned(2 * n, 1);
    Ilu<double, Device> reference(exactIlu());
    setUp(reference, a);
    ilu.apply(Exec(), x, y);
    reference.apply(Exec(), x, expected);
    expectNear(toHost(y), toHost(expected), 1e-12);
  }
}

TEST(Ilu, FactorsThatDoNotFitTheirStorageAreRefused) {
  for (const double scale : {1e45, 1e-45})
    for (IluSettings<Device> parameters : {exactIlu(), isaiIlu(1)}) {
      HostBsr a = matrixOn(randomPattern(20, 3, 26), 1, 26);
      for (size_t i = 0; i < a.values.extent(0); ++i)
        a.values(i) *= scale;
      for (const Rounding& rounding : roundings) {
        parameters.storage = rounding.storage;
        Ilu<double, Device> ilu(parameters);
        EXPECT_THROW(setUp(ilu, a), InvalidArgument) << scale;
        EXPECT_FALSE(ilu.isComputed());
      }
      parameters.storage = Storage::Native;
      Ilu<double, Device> in_double(parameters);
      EXPECT_NO_THROW(setUp(in_double, a)) << scale;
    }
}

TEST(Ilu, SinglePrecisionThroughout) {
  const HostBsr a = matrixOn(randomPattern(33, 5, 20), 2, 20);
  Kokkos::View<float*, HostDevice> values("Ainvil::values", a.values.extent(0));
  for (size_t i = 0; i < a.values.extent(0); ++i)
    values(i) = static_cast<float>(a.values(i));
  const BsrMatrix<float, Device> single =
      copyTo<Device>(BsrMatrix<float, HostDevice>(a.graph, values, 2));
  Ilu<float, Device> ilu(exactIlu(2));
  ilu.initialize(single);
  ilu.compute(single);
  Ilu<double, Device> reference(exactIlu(2));
  setUp(reference, a);
  Kokkos::View<float*, Kokkos::LayoutLeft, Device> x("Ainvil::x", 66), y("Ainvil::y", 66);
  Kokkos::deep_copy(x, 1.0f);
  ilu.apply(Exec(), Vector<const float, Device>(x), y);
  const auto dense = denseInverse(reference);
  const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
  for (size_t i = 0; i < 66; ++i) {
    double sum = 0;
    for (size_t j = 0; j < 66; ++j)
      sum += dense[i * 66 + j];
    EXPECT_NEAR(host(i), sum, 1e-5);
  }
}

/// Of both factors, and of the last compute() alone.
TEST(Ilu, ReportsBothFactors) {
  const HostBsr a = matrixOn(randomPattern(40, 6, 87), 2, 87);
  for (const auto& parameters : {exactIlu(), isaiIlu(1)}) {
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, a);
    EXPECT_EQ(ilu.report().factor_bytes, ilu.lowerSolver().bytes() + ilu.upperSolver().bytes());
    EXPECT_EQ(ilu.report().factor_entries,
              ilu.lowerSolver().entries() + ilu.upperSolver().entries());
    EXPECT_NE(ilu.lowerSolver().bytes(), ilu.upperSolver().bytes());
  }
  IluSettings<Device> parameters;
  parameters.factorization.sweeps = 2;
  Ilu<double, Device> ilu(parameters);
  const DeviceBsr on_device = copyTo<Device>(a);
  setUp(ilu, a);
  ilu.diagnose(on_device);
  const std::string notes = ilu.report().notes;
  EXPECT_NE(notes, "");
  ilu.compute(on_device);
  ilu.diagnose(on_device);
  EXPECT_EQ(ilu.report().notes, notes);
}

/// What a specification says, the parameters of C++ say as well.
TEST(Ilu, ParametersAreThoseOfSpecifications) {
  const HostBsr a = matrixOn(randomPattern(50, 4, 9), 2, 9);
  IlutParameters threshold;
  threshold.drop = 0.1;
  IsaiParameters<Device> isai;
  isai.power = 2;
  SweepParameters sweeps;
  sweeps.sweeps = 3;
  const auto with = [&](const FactorizationMaker<double, Device>& factorization,
                        const TriangularSolverMaker<double, Device>& solve) {
    IluParameters<double, Device> parameters;
    parameters.factorization = factorization;
    parameters.solve = solve;
    parameters.storage = Storage::Float;
    return parameters;
  };
  for (const auto& [parameters, specification] :
       {std::make_pair(with(threshold, isai), "ilu:factorization=ilut,drop=0.1,solve=isai,power=2"),
        std::make_pair(with(BlockIluParameters(), sweeps), "ilu:solve=jacobi,sweeps=3"),
        std::make_pair(with(threshold, ExactParameters()), "ilu:factorization=ilut,drop=0.1")}) {
    Ilu<double, Device> ilu(parameters);
    const auto by_name =
        createPreconditioner<double, Device>(std::string(specification) + ",storage=float");
    setUp(ilu, a);
    setUp(*by_name, a);
    EXPECT_EQ(denseInverse(ilu), denseInverse(*by_name)) << specification;
    EXPECT_EQ(ilu.description(), by_name->description());
  }
}

TEST(Ilu, RefusesBadParameters) {
  IluParameters<double, Device> without;
  without.factorization = {};
  EXPECT_THROW((Ilu<double, Device>(without)), InvalidArgument);
  without = {};
  without.solve = {};
  EXPECT_THROW((Ilu<double, Device>(without)), InvalidArgument);
  EXPECT_THROW((Ilu<double, Device>(exactIlu(-1))), InvalidArgument);
  EXPECT_THROW((Ilu<double, Device>(isaiIlu(0))), InvalidArgument);
  EXPECT_THROW((Ilu<double, Device>(isaiIlu(1, IsaiSide::Rows, -2))), InvalidArgument);
  IluSettings<Device> negative = exactIlu();
  negative.factorization.pivot_tolerance = -1;
  EXPECT_THROW((Ilu<double, Device>(negative)), InvalidArgument);
  negative.factorization.pivot_tolerance = 0; // every pivot but 0 will do
  EXPECT_NO_THROW((Ilu<double, Device>(negative)));
  for (const double shift : {0.0, -1.0, std::nan("")}) {
    IluSettings<Device> parameters = exactIlu();
    parameters.factorization.shift = shift;
    EXPECT_THROW((Ilu<double, Device>(parameters)), InvalidArgument) << shift;
  }
}

/// A dense row and column, first or last, beside a diagonal of 2. Everything is written down, and
/// memory is that of the entries: with fill, or with a look at the dense row for each of the
/// others, there would be 5e9 of these.
TEST(Ilu, OfAnArrowTakesEachEntryOnce) {
  const Ordinal n = 100000;
  for (const bool first : {true, false}) {
    const Ordinal hub = first ? 0 : n - 1;
    Pattern rows(n);
    for (Ordinal i = 0; i < n; ++i) {
      rows[hub].insert(i);
      rows[i].insert(hub);
      rows[i].insert(i);
    }
    const HostBsr a = matrixOn(rows, 1, 1);
    for (Ordinal i = 0; i < n; ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
        const Ordinal j = a.graph.entries(e);
        a.values(e) = i != j ? 1 : i == hub ? n : 2;
      }
    Ilu<double, Device> ilu(exactIlu());
    const DeviceBsr on_device = copyTo<Device>(a);
    const MemoryPeak memory;
    ilu.initialize(on_device);
    ilu.compute(on_device);
    EXPECT_LT(memory.bytes(), std::uint64_t(400 * a.numEntries()));
    const HostBsr u = copyTo<HostDevice>(ilu.factors().upper().matrix);
    EXPECT_EQ(u.numEntries(), n - 1);
    for (Offset e = 0; e < u.numEntries(); ++e)
      ASSERT_EQ(u.values(e), first ? 1.0 / n : 0.5) << e;
    const HostBsr l = copyTo<HostDevice>(ilu.factors().lower().matrix);
    EXPECT_EQ(l.numEntries(), 2 * n - 1);
    EXPECT_EQ(l.values(0), first ? n : 2);
    const double last = l.values(l.numEntries() - 1);
    EXPECT_NEAR(last, first ? 2 - 1.0 / n : n - 0.5 * (n - 1), 1e-9);
  }
}

} // namespace
} // namespace ainvil
