// SPDX-License-Identifier: BSD-3-Clause
/// Block ILU on patterns that thresholds find.
#include "precond/ilu/IlutSupport.hpp"

#include "KokkosObservers.hpp"

#include <gtest/gtest.h>

namespace ainvil {
namespace {

using namespace test;

class IlutBlockSize : public ::testing::TestWithParam<int> {};

TEST_P(IlutBlockSize, WithoutDroppingIsTheExactInverse) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(randomPattern(40, 2, 8), bs, 14);
  for (const char* search : searches)
    expectNear(inverseBy(message("ilu:factorization=ilut,drop=0,max-fill=100", search), a),
               inverse(toDense(a), size_t(40) * bs), 1e-11, search);
}

TEST_P(IlutBlockSize, TransposeIdentity) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(randomPattern(31, 5, 6), bs, 13);
  for (const char* search : searches) {
    const std::string specification = message("ilu:factorization=ilut,drop=0.05", search);
    expectNear(inverseBy(specification, a, Trans::Yes),
               transposed(inverseBy(specification, a), size_t(31) * bs), 1e-13);
  }
}

/// (L U)_ij = A_ij for all (i, j) of the pattern, whatever has been dropped beside it.
TEST_P(IlutBlockSize, ProductOfFactorsIsAOnThePattern) {
  const int bs = GetParam();
  for (const Pattern& pattern : {randomPattern(43, 4, 5), arrowPattern(70)}) {
    const HostBsr a = matrixOn(pattern, bs, 12);
    for (const char* search : searches)
      for (const char* rule : {",drop=0.1", ",drop=0,max-fill=1.2", ",max-fill=0.6"}) {
        const auto m = ilutBy(message(rule, search), a);
        EXPECT_LT(denseResidual(m->factors(), a), 1e-14) << rule << search;
      }
  }
}

TEST_P(IlutBlockSize, FactorsHaveNoMoreEntriesThanAllowed) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(randomPattern(60, 4, 15), bs, 15);
  for (const char* search : searches)
    for (const double most : {0.01, 0.5, 1.0, 1.5, 3.0}) {
      const auto m = ilutBy(message(",drop=0,max-fill=", most, search), a);
      const double entries = double(entriesOf(m->factors()));
      EXPECT_LE(entries, std::max(60.0, most * double(a.numEntries()))) << most << search;
      if (most < 0.1)
        EXPECT_EQ(entries, 60) << search;
      else
        EXPECT_GT(entries, 0.8 * most * double(a.numEntries())) << most << search;
    }
}

INSTANTIATE_TEST_SUITE_P(Sizes, IlutBlockSize, ::testing::Values(1, 2, 3, 4, 5, 9));

/// A Kronecker product with the identity runs through the block kernels what the scalar ones do.
TEST(Ilut, BlocksOfMultiplesOfTheIdentityHaveTheScalarPattern) {
  const HostBsr scalar = matrixOn(randomPattern(50, 5, 9), 1, 15);
  for (const int bs : {3, 9}) {
    HostBsr block = matrixOn(randomPattern(50, 5, 9), bs, 16);
    for (Offset e = 0; e < block.numEntries(); ++e)
      for (int k = 0; k < bs * bs; ++k)
        block.values(e * bs * bs + k) = k % (bs + 1) == 0 ? scalar.values(e) : 0.0;
    for (const char* search : searches)
      for (const char* rule : {",drop=0.03", ",drop=0.01,max-fill=1.3"}) {
        const auto small = ilutBy(message(rule, search), scalar);
        const auto large = ilutBy(message(rule, search), block);
        EXPECT_EQ(patternOf(large->factors()), patternOf(small->factors())) << bs << rule << search;
      }
  }
}

/// Powers of 2 round nothing: a row of any size keeps its entries.
TEST(Ilut, ScalesOfRowsDoNotMatter) {
  for (const int bs : {1, 3}) {
    const HostBsr a = matrixOn(randomPattern(60, 5, 17), bs, 17);
    HostBsr scaled(a.graph, viewOf(toHost(a.values)), bs);
    const Offset bs2 = Offset(bs) * bs;
    for (Ordinal i = 0; i < 60; ++i)
      for (Offset e = a.graph.row_map(i) * bs2; e < a.graph.row_map(i + 1) * bs2; ++e)
        scaled.values(e) *= std::ldexp(1.0, i % 2 == 0 ? -600 : 300);
    for (const char* search : searches) {
      const std::string rule = message(",drop=0.02,pivot-tol=0", search);
      const auto expected = patternOf(ilutBy(rule, a)->factors());
      EXPECT_EQ(patternOf(ilutBy(rule, scaled)->factors()), expected) << bs << search;
      EXPECT_NE(expected, patternOf(ilutBy(message(",drop=0", search), a)->factors()));
    }
  }
}

/// Later values follow the pattern found first and cost no memory.
TEST(Ilut, KeepsThePatternForNewValues) {
  for (const int bs : {1, 3}) {
    const HostBsr first = matrixOn(randomPattern(50, 4, 19), bs, 19);
    const HostBsr second = matrixOn(randomPattern(50, 4, 19), bs, 20);
    for (const char* search : searches) {
      const std::string rule = message(",drop=0.05", search);
      const auto m = ilutBy(rule, first);
      const auto pattern = patternOf(m->factors());
      const DeviceBsr on_device(copyTo<Device>(first.graph), copyTo<Device>(second).values, bs);
      {
        const AllocationCounter counter;
        m->compute(on_device);
        EXPECT_EQ(counter.count(), 0) << counter.labels();
      }
      EXPECT_EQ(patternOf(m->factors()), pattern);
      EXPECT_NE(patternOf(ilutBy(rule, second)->factors()), pattern);
      // A fresh factorisation on that pattern.
      detail::IluOnPattern<double, Device> fresh{IluOnPatternOptions()};
      Report report;
      fresh.setPattern(Exec(), on_device,
                       {m->factors().lower().matrix.graph, m->factors().upper().matrix.graph},
                       detail::EntriesOfA::Some);
      fresh.findOrder(Exec(), on_device, report);
      fresh.compute(Exec(), on_device, report);
      EXPECT_EQ(toHost(fresh.lower().matrix.values), toHost(m->factors().lower().matrix.values));
      EXPECT_EQ(toHost(fresh.upper().matrix.values), toHost(m->factors().upper().matrix.values));
      // The first values again give the first preconditioner.
      m->compute(copyTo<Device>(first));
      EXPECT_EQ(denseInverse(*m), inverseBy(message("ilu:factorization=ilut", rule), first));
    }
  }
}

TEST(Ilut, FindsANewPatternAsOftenAsWanted) {
  const HostBsr first = matrixOn(randomPattern(50, 4, 19), 1, 19);
  const DeviceBsr on_device = copyTo<Device>(first);
  const DeviceBsr other(on_device.graph,
                        copyTo<Device>(matrixOn(randomPattern(50, 4, 19), 1, 20)).values, 1);
  const std::string rule = ",drop=0.05,solve=isai,power=2,repattern=";
  const auto of_first = patternOf(ilutBy(rule + "0", first)->factors());
  const auto of_other =
      patternOf(ilutBy(rule + "0", matrixOn(randomPattern(50, 4, 19), 1, 20))->factors());
  ASSERT_NE(of_first, of_other);
  for (const int n : {0, 1, 2, 3}) {
    const auto m = ilutBy(message(rule, n), first);
    for (int compute = 2; compute <= 7; ++compute) {
      // A new pattern in computes 1, n + 1, 2 n + 1, ...; the values change with every one.
      const bool is_new = n > 0 && (compute - 1) % n == 0;
      const auto before = patternOf(m->factors());
      const bool is_first = compute % 2 == 1;
      m->compute(is_first ? on_device : other);
      EXPECT_EQ(patternOf(m->factors()), is_new ? is_first ? of_first : of_other : before)
          << n << " " << compute;
    }
    // The strategies have followed.
    const auto fresh = makeIlut(message(rule, n));
    fresh->initialize(on_device);
    if (n == 1) {
      fresh->compute(on_device);
      EXPECT_EQ(denseInverse(*m), denseInverse(*fresh));
    }
  }
}

/// Block row 3 gets a singular pivot, whatever precedes it.
HostBsr singularInRow3(int bs) {
  HostBsr a = matrixOn(diagonalPattern(8), bs, 21);
  for (int k = 0; k < bs; ++k) // two equal rows, or a zero
    a.values(3 * bs * bs + k) = bs > 1 ? a.values(3 * bs * bs + bs + k) : 0.0;
  return a;
}

TEST(IlutBreakdown, FollowsThePolicy) {
  for (const char* search : searches)
    for (const int bs : {1, 3, 11}) {
      try {
        ilutBy(search, singularInRow3(bs));
        FAIL() << "no exception";
      } catch (const BreakdownError& error) {
        EXPECT_NE(std::string(error.what()).find("block row 4 (counted from 1)"), std::string::npos)
            << error.what();
      }
      for (const char* policy : {"shift", "replace"}) {
        const auto m = ilutBy(message(",breakdown=", policy, search), singularInRow3(bs));
        EXPECT_EQ(m->report().breakdowns, 1);
        EXPECT_EQ(m->report().first_breakdown, 3);
        // M is the inverse of the L U that was kept, changed pivot included.
        expectNear(denseInverse(*m), inverse(denseProduct(m->factors()), 8 * size_t(bs)), 1e-10);
      }
    }
}

TEST(IlutBreakdown, FindsANewPatternAfterOne) {
  const auto values = [](double d, double off) {
    return HostBsr(makeGraph({{0, 1}, {0, 1}}), viewOf<double>({d, off, off, d}), 1);
  };
  for (const char* search : searches) {
    const auto m = ilutBy(message(",drop=0.1", search), values(1, 1e-3));
    EXPECT_EQ(entriesOf(m->factors()), 2);
    const DeviceBsr graph = copyTo<Device>(values(1, 1e-3));
    const auto on_graph = [&](const HostBsr& a) {
      return DeviceBsr(graph.graph, copyTo<Device>(a).values, 1);
    };
    EXPECT_THROW(m->compute(on_graph(values(0, 1))), BreakdownError);
    EXPECT_TRUE(m->isInitialized());
    EXPECT_FALSE(m->isComputed());
    m->compute(on_graph(values(4, 1)));
    EXPECT_EQ(entriesOf(m->factors()), 4);
  }
}

TEST(IlutBreakdown, NonFiniteValuesAreRefused) {
  for (const char* search : searches)
    for (const double value :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
      HostBsr a = matrixOn(randomPattern(20, 3, 23), 2, 23);
      a.values(11) = value;
      EXPECT_THROW(ilutBy(search, a), InvalidArgument) << search;
    }
}

/// An elimination that leaves the range of numbers ends in an error, not in a pattern of its own.
TEST(IlutBreakdown, OverflowIsOne) {
  HostBsr a = matrixOn(fullPattern(6), 1, 83);
  for (size_t e = 0; e < 36; ++e)
    a.values(e) = e % 7 == 0 ? 1e-200 : 1e150;
  for (const char* search : searches)
    EXPECT_THROW(ilutBy(message(",drop=0,pivot-tol=0,breakdown=replace", search), a),
                 BreakdownError)
        << search;
}

TEST(Ilut, EmptyMatricesAndSingleRows) {
  for (const char* search : searches) {
    ilutBy(search, HostBsr(makeGraph({}), viewOf<double>({}), 1));
    const HostBsr one(makeGraph({{0}}), viewOf<double>({4}), 1);
    EXPECT_EQ(denseInverse(*ilutBy(search, one)), std::vector<double>{0.25});
    // Rows without entries have a zero pivot.
    const HostBsr without(makeGraph({{0}, {}}), viewOf<double>({4}), 1);
    EXPECT_THROW(ilutBy(search, without), BreakdownError);
  }
}

/// Rows of A exchanged, scaled and ordered before: with all of its fill it is ILU(k) of that.
TEST(Ilut, WorksOnWhatIsRearranged) {
  for (const int bs : {1, 2, 3}) {
    const HostBsr a = matrixOn(randomPattern(65, 4, 8), bs, 8);
    const Offset bs2 = Offset(bs) * bs;
    auto rows = rowsOf(a.graph);
    std::reverse(rows.begin(), rows.end());
    std::vector<double> values;
    for (Ordinal i = 64; i >= 0; --i)
      values.insert(values.end(), a.values.data() + a.graph.row_map(i) * bs2,
                    a.values.data() + a.graph.row_map(i + 1) * bs2);
    const HostBsr reversed(makeGraph(rows), viewOf(values), bs);
    for (const char* how :
         {"match=product", "match=product,reorder=nd", "scale=ruiz,reorder=rcm"}) {
      const HostBsr& b = std::string(how).find("match") == std::string::npos ? a : reversed;
      const auto expected = inverseBy(message("ilu:level=65,", how), b);
      double largest = 0;
      for (const double value : expected)
        largest = std::max(largest, std::abs(value));
      for (const char* search : {sequential, ",search=parallel,steps=9"})
        expectNear(
            inverseBy(message("ilu:factorization=ilut,drop=0,max-fill=100,", how, search), b),
            expected, 1e-13 * largest, how);
    }
  }
}

} // namespace
} // namespace ainvil
