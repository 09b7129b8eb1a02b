// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// What strategies do whose transposed application is asked for as often as the other.

#include "precond/ic/IcSupport.hpp"

#include "KokkosObservers.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

namespace ainvil {
namespace {

using namespace test;

using Solver = TriangularSolverPtr<double, Device>;
using Factor = TriangularFactor<double, Device>;

using Maker = TriangularSolverMaker<double, Device>;

std::vector<Maker> allStrategies() {
  IsaiParameters<Device> powers, relaxed;
  powers.power = 2;
  relaxed.side = IsaiSide::Columns;
  relaxed.relax = 2;
  SweepParameters even, damped;
  even.sweeps = 4;
  damped.sweeps = 3;
  damped.damping = 0.7;
  damped.start = SweepStart::Zero;
  return {ExactParameters(), powers, relaxed, even, damped};
}

/// Initialised and computed.
Solver made(const Maker& maker, Storage storage, const Factor& factor, bool keep) {
  Solver solver = maker(storage);
  Report report;
  if (keep)
    solver->keepTransposed();
  solver->initialize(Exec(), factor, "", report);
  solver->compute(Exec(), factor, "", report);
  return solver;
}

std::vector<double> applied(const TriangularSolver<double, Device>& solver, Trans trans,
                            const std::vector<double>& x, size_t columns) {
  const size_t n = x.size() / columns;
  const auto y = poisoned(n, columns);
  solver.apply(Exec(), toDevice(x, n, columns), y, trans);
  return toHost(y);
}

/// Both factors of a matrix: L with its diagonal, U without.
struct Factors {
  BlockIlu<double, Device> ilu{BlockIluParameters()};

  explicit Factors(const HostBsr& a) {
    Report report;
    ilu.initialize(Exec(), copyTo<Device>(a), report);
    ilu.compute(Exec(), copyTo<Device>(a), report);
  }
};

TEST(KeepTransposed, GivesWhatIsGivenWithoutACopy) {
  for (const int bs : {1, 3, 9}) {
    const Factors factors(matrixOn(randomPattern(61, 5, 51), bs, 51));
    const size_t columns = 3, n = 61 * bs;
    const auto x = Random(52).vector(n * columns);
    for (const Factor& factor : {factors.ilu.lower(), factors.ilu.upper()})
      for (const auto& strategy : allStrategies())
        for (const Storage storage : {Storage::Native, Storage::Float, Storage::BFloat16}) {
          SCOPED_TRACE(message("block size ", bs, ", ", strategy(storage)->description(),
                               ", storage ", int(storage), factor.unit ? ", unit" : ""));
          const Solver plain = made(strategy, storage, factor, false);
          const Solver kept = made(strategy, storage, factor, true);
          EXPECT_EQ(applied(*kept, Trans::No, x, columns), applied(*plain, Trans::No, x, columns));
          const auto expected = applied(*plain, Trans::Yes, x, columns);
          const auto transposed = applied(*kept, Trans::Yes, x, columns);
          expectNear(transposed, expected, 1e-13);
          // The same in every run; but exact solves keep copies of unit factors only, and on GPUs
          // those without add up in any order.
          const bool is_exact = strategy(storage)->description() == "exact";
          if (!is_exact || factor.unit) {
            EXPECT_EQ(transposed, applied(*kept, Trans::Yes, x, columns));
          }
          EXPECT_EQ(kept->entries(), plain->entries());
        }
  }
}

/// n rows in two levels, which eight threads share: in the second half each row
/// has `per_row` blocks in the first.
HostBsr twoLevels(Ordinal n, Ordinal per_row, int bs) {
  Pattern pattern = diagonalPattern(n);
  for (Ordinal i = n / 2; i < n; ++i)
    for (Ordinal k = 0; k < per_row; ++k)
      pattern[i].insert((i * 7 + k * 31) % (n / 2));
  for (Ordinal i = n / 2; i < n; ++i)
    for (const Ordinal j : pattern[i])
      if (j < n / 2)
        pattern[j].insert(i);
  return spdMatrixOn(pattern, bs, 53);
}

/// y = T^-T D^-1 T^-1 x is what its parts give one after the other, by one thread in the order of
/// the rows and by levels.
TEST(KeepTransposed, SymmetricApplicationIsThatOfItsParts) {
  for (const int bs : {1, 3, 9})
    for (const HostBsr& a :
         {spdMatrixOn(symmetricPattern(61, 5, 54), bs, 54), makeProblem("poisson5:9").matrix,
          twoLevels(bs == 1 ? 60000 : 6000, 4, bs)}) {
      if (a.block_size != bs)
        continue;
      IcMethod ic(exactIc());
      setUp(ic, a);
      const Factor& factor = ic.factor();
      const auto& d_inverse = ic.pivotInverses();
      const size_t columns = 2, n = a.numPointRows();
      const auto x = Random(55).vector(n * columns);
      for (const auto& strategy : allStrategies()) {
        SCOPED_TRACE(message("block size ", bs, ", ", strategy(Storage::Native)->description(),
                             ", rows ", n));
        const Solver solver = made(strategy, Storage::Native, factor, true);
        const Solver plain = made(strategy, Storage::Native, factor, false);
        const auto first = applied(*plain, Trans::No, x, columns);
        const auto scaled = poisoned(n, columns);
        blockDiagonalProduct<double, double, Device>(Exec(), Trans::No, 1.0, d_inverse, bs,
                                                     toDevice(first, n, columns), 0.0, scaled);
        const auto expected = applied(*plain, Trans::Yes, toHost(scaled), columns);
        const auto work = poisoned(n, columns), y = poisoned(n, columns);
        solver->applySymmetric(Exec(), d_inverse, bs, toDevice(x, n, columns), work, y);
        expectNear(toHost(y), expected, 1e-12);
      }
    }
}

/// Rows that eight threads share.
TEST(KeepTransposed, OfRowsInLevels) {
  const HostBsr a = twoLevels(60000, 4, 1);
  const Factors factors(a);
  const size_t n = a.numPointRows();
  const auto x = Random(60).vector(n);
  for (const Factor& factor : {factors.ilu.lower(), factors.ilu.upper()}) {
    const Solver plain = made(ExactParameters(), Storage::Native, factor, false);
    const Solver kept = made(ExactParameters(), Storage::Native, factor, true);
    expectNear(applied(*kept, Trans::Yes, x, 1), applied(*plain, Trans::Yes, x, 1), 1e-12);
  }
}

TEST(KeepTransposed, NewValuesAllocateNothing) {
  const Pattern pattern = randomPattern(64, 5, 56);
  const auto x = Random(58).vector(192);
  for (const auto& strategy : allStrategies())
    for (const Storage storage : {Storage::Native, Storage::BFloat16}) {
      Factors factors(matrixOn(pattern, 3, 56));
      const Solver reused = made(strategy, storage, factors.ilu.upper(), true);
      const auto before = applied(*reused, Trans::Yes, x, 1);
      Report report;
      factors.ilu.compute(Exec(), copyTo<Device>(matrixOn(pattern, 3, 57)), report);
      {
        const AllocationCounter counter;
        reused->compute(Exec(), factors.ilu.upper(), "", report);
        EXPECT_EQ(counter.count(), 0) << counter.labels();
      }
      const auto after = applied(*reused, Trans::Yes, x, 1);
      EXPECT_NE(after, before);
      const Solver fresh = made(strategy, storage, factors.ilu.upper(), true);
      EXPECT_EQ(after, applied(*fresh, Trans::Yes, x, 1));
    }
}

/// Products with a kept copy, and long rows among those of A^T.
TEST(KeepTransposed, ProductsGoThroughTheCopy) {
  for (const int bs : {1, 2}) {
    const HostBsr a = matrixOn(longRowsPattern(536), bs, 59);
    SparseOperator<double, Device> plain(Exec(), copyTo<Device>(a)), kept = plain;
    EXPECT_FALSE(kept.keepsTransposed());
    kept.keepTransposed(Exec());
    kept.updateTransposed(Exec());
    ASSERT_TRUE(kept.keepsTransposed());
    const size_t n = 536 * bs;
    const auto x = toDevice(Random(60).vector(n), n, 1);
    const auto y = poisoned(n, 1), expected = poisoned(n, 1);
    kept.multiply(Exec(), Trans::Yes, 2.0, x, 0.0, y);
    plain.multiply(Exec(), Trans::Yes, 2.0, x, 0.0, expected);
    expectNear(toHost(y), toHost(expected), 1e-13);
    kept.clear();
    EXPECT_FALSE(kept.keepsTransposed());
  }
}

} // namespace
} // namespace ainvil
