// SPDX-License-Identifier: BSD-3-Clause
/// The rules every method obeys, checked on all of them.
#include "KokkosObservers.hpp"
#include "precond/PrecondSupport.hpp"

#include "Ainvil_Factory.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ainvil {
namespace {

using namespace test;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

class Rules : public ::testing::TestWithParam<const char*> {
protected:
  PreconditionerPtr<double, Device> make() const {
    return createPreconditioner<double, Device>(GetParam());
  }
  PreconditionerPtr<double, Device> make(const HostBsr& a) const {
    auto m = make();
    setUp(*m, a);
    return m;
  }

  // Matrices the method is for.
  static bool needsSpd() {
    const std::string method = GetParam();
    return method.rfind("fsai", 0) == 0 || method.rfind("ic", 0) == 0 ||
           (method.rfind("ainv", 0) == 0 && method.find("symmetric=no") == std::string::npos);
  }
  /// How many entries the factors have depends on the values.
  static bool patternFollowsValues() { return std::string(GetParam()).rfind("ainv", 0) == 0; }
  static Pattern patternOf(Ordinal n, double per_row, std::uint64_t seed) {
    return needsSpd() ? symmetricPattern(n, per_row, seed) : randomPattern(n, per_row, seed);
  }
  static HostBsr matrixOn(const Pattern& pattern, int block_size, std::uint64_t seed) {
    return needsSpd() ? spdMatrixOn(pattern, block_size, seed)
                      : test::matrixOn(pattern, block_size, seed);
  }
};

std::vector<double> randomVector(size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> x(n);
  for (double& value : x)
    value = random.uniform(-1, 1);
  return x;
}

TEST_P(Rules, AlphaBetaAndNaN) {
  const HostBsr a = matrixOn(patternOf(33, 4, 51), 3, 51);
  const auto m = make(a);
  const size_t n = 99;
  const auto x = toDevice(randomVector(n, 1), n, 1);
  const auto product = poisoned(n, 1);
  m->apply(Exec(), x, product);
  const auto mx = toHost(product);
  const auto y0 = randomVector(n, 2);
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    const auto plain = poisoned(n, 1);
    m->apply(Exec(), x, plain, trans);
    const auto op_mx = toHost(plain);
    for (const double alpha : {0.0, 1.0, -2.5})
      for (const double beta : {0.0, 1.0, 0.5}) {
        const auto y = toDevice(beta == 0.0 ? std::vector<double>(n, nan) : y0, n, 1);
        m->apply(Exec(), x, y, trans, alpha, beta);
        std::vector<double> expected(n);
        for (size_t i = 0; i < n; ++i)
          expected[i] = alpha * op_mx[i] + (beta == 0.0 ? 0.0 : beta * y0[i]);
        expectNear(toHost(y), expected, 1e-12);
      }
  }
}

TEST_P(Rules, ManyColumnsEqualALoop) {
  const HostBsr a = matrixOn(patternOf(31, 4, 52), 2, 52);
  const auto m = make(a);
  const size_t n = 62;
  for (const size_t columns : {1, 2, 3, 4, 5, 8, 9, 13})
    for (const Trans trans : {Trans::No, Trans::Yes}) {
      const auto all = randomVector(n * columns, columns);
      const auto y = poisoned(n, columns);
      m->apply(Exec(), toDevice(all, n, columns), y, trans);
      const auto together = toHost(y);
      for (size_t j = 0; j < columns; ++j) {
        const auto one = poisoned(n, 1);
        const std::vector<double> column(all.begin() + j * n, all.begin() + (j + 1) * n);
        m->apply(Exec(), toDevice(column, n, 1), one, trans);
        expectNear(std::vector<double>(together.begin() + j * n, together.begin() + (j + 1) * n),
                   toHost(one), 1e-13);
      }
    }
}

TEST_P(Rules, NewValuesEqualAFreshBuildAndAllocateNothing) {
  const Pattern pattern = patternOf(64, 5, 53);
  const DeviceBsr first = copyTo<Device>(matrixOn(pattern, 3, 53));
  const HostBsr host_second = matrixOn(pattern, 3, 54);
  const DeviceBsr second = copyTo<Device>(host_second);
  auto reused = make();
  reused->initialize(first);
  reused->compute(first);
  const auto x = toDevice(randomVector(192, 3), 192, 1);
  const auto y = poisoned(192, 1);
  reused->apply(Exec(), x, y);
  {
    const AllocationCounter counter;
    reused->compute(second);
    reused->apply(Exec(), x, y);
    reused->apply(Exec(), x, y, Trans::Yes, 2.0, 0.5);
    if (!patternFollowsValues()) {
      EXPECT_EQ(counter.count(), 0) << counter.labels();
    }
  }
  // With max-row the pattern is that of the values that initialize() sees.
  const bool pattern_by_values = std::string(GetParam()).find("max-row") != std::string::npos;
  const auto fresh = pattern_by_values ? make() : make(host_second);
  if (pattern_by_values) {
    fresh->initialize(first);
    fresh->compute(second);
  }
  EXPECT_EQ(denseInverse(*reused), denseInverse(*fresh));
}

/// New memory holds anything, also NaN, which no factor of 0 removes.
TEST_P(Rules, ReadsNoMemoryThatItHasNotWritten) {
  const HostBsr a = matrixOn(patternOf(64, 5, 58), 3, 58);
  const auto expected = make(a);
  const auto product = denseInverse(*expected), transposed = denseInverse(*expected, Trans::Yes);
  const PoisonedMemory poisoned;
  const auto m = make(a);
  expectNear(denseInverse(*m), product, 1e-13); // transposed products add in any order
  expectNear(denseInverse(*m, Trans::Yes), transposed, 1e-13);
  // How often AINV computes a column depends on the schedule of a GPU.
  if (std::string(GetParam()).compare(0, 4, "ainv") != 0) {
    EXPECT_EQ(m->report().notes, expected->report().notes);
  }
}

TEST_P(Rules, UnsortedRowsGiveTheSame) {
  const HostBsr a = matrixOn(patternOf(47, 6, 55), 2, 55);
  Kokkos::View<Ordinal*, HostDevice> entries("Ainvil::entries", a.numEntries());
  Kokkos::View<double*, HostDevice> values("Ainvil::values", a.numScalars());
  for (Ordinal i = 0; i < 47; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
      const Offset mirrored = a.graph.row_map(i) + a.graph.row_map(i + 1) - 1 - e;
      entries(mirrored) = a.graph.entries(e);
      for (int k = 0; k < 4; ++k)
        values(4 * mirrored + k) = a.values(4 * e + k);
    }
  const HostBsr reversed(Graph<HostDevice>(47, 47, a.graph.row_map, entries), values, 2);
  EXPECT_EQ(denseInverse(*make(reversed)), denseInverse(*make(a)));
}

TEST_P(Rules, EmptyAndTinyMatricesAndIsolatedRows) {
  const auto empty = make(matrixOn({}, 3, 56));
  EXPECT_EQ(empty->numPointRows(), 0);
  empty->apply(Exec(), poisoned(0, 1), poisoned(0, 1));

  const HostBsr one = matrixOn(diagonalPattern(1), 1, 57);
  const double inverse_of_one = std::string(GetParam()) == "none" ? 1.0 : 1.0 / one.values(0);
  const std::string method = GetParam();
  const double accuracy = method.find("bfloat16") != std::string::npos ? 4e-3
                          : method.find("float") != std::string::npos  ? 1e-7
                                                                       : 1e-15;
  EXPECT_NEAR(denseInverse(*make(one))[0], inverse_of_one, accuracy);

  // Row 4 couples to nothing: M^-1 leaves it alone with its own diagonal.
  Pattern pattern = patternOf(9, 3, 58);
  for (auto& row : pattern)
    row.erase(4);
  pattern[4] = {4};
  const auto dense = denseInverse(*make(matrixOn(pattern, 1, 58)));
  for (size_t j = 0; j < 9; ++j) {
    EXPECT_EQ(j == 4, dense[4 * 9 + j] != 0.0);
    EXPECT_EQ(j == 4, dense[j * 9 + 4] != 0.0);
  }
}

TEST_P(Rules, VerbsInTheWrongOrderOrOnTheWrongMatrixThrow) {
  const Pattern pattern = patternOf(12, 3, 59);
  const DeviceBsr a = copyTo<Device>(matrixOn(pattern, 2, 59));
  auto m = make();
  EXPECT_THROW(m->compute(a), InvalidArgument);
  m->initialize(a);
  EXPECT_TRUE(m->isInitialized());
  EXPECT_FALSE(m->isComputed());
  EXPECT_THROW(m->apply(Exec(), poisoned(24, 1), poisoned(24, 1)), InvalidArgument);
  EXPECT_THROW(m->compute(copyTo<Device>(matrixOn(pattern, 3, 59))), InvalidArgument);
  EXPECT_THROW(m->compute(copyTo<Device>(matrixOn(patternOf(13, 3, 59), 2, 59))), InvalidArgument);
  m->compute(a);
  EXPECT_TRUE(m->isComputed());
  EXPECT_THROW(m->apply(Exec(), poisoned(23, 1), poisoned(24, 1)), InvalidArgument);
  EXPECT_THROW(m->apply(Exec(), poisoned(24, 2), poisoned(24, 1)), InvalidArgument);

  // A new pattern, or one that is refused, leaves nothing to apply.
  m->initialize(a);
  EXPECT_TRUE(m->isInitialized());
  EXPECT_FALSE(m->isComputed());
  EXPECT_THROW(m->apply(Exec(), poisoned(24, 1), poisoned(24, 1)), InvalidArgument);
  m->compute(a);
  const DeviceBsr wide(Graph<Device>(12, 13, a.graph.row_map, a.graph.entries), a.values, 2);
  EXPECT_THROW(m->initialize(wide), InvalidArgument);
  EXPECT_FALSE(m->isInitialized());
  EXPECT_FALSE(m->isComputed());
  m->initialize(a);
  m->compute(a);

  for (const double bad : {nan, std::numeric_limits<double>::infinity()})
    for (Offset at = 0; at < a.numEntries() * 4; at += 5) {
      HostBsr broken = matrixOn(pattern, 2, 59);
      broken.values(at) = bad;
      EXPECT_THROW(m->compute(copyTo<Device>(broken)), InvalidArgument) << at;
      EXPECT_FALSE(m->isComputed());
    }
}

/// Equal counts do not make equal patterns.
TEST_P(Rules, ComputeRefusesAnotherPattern) {
  const HostBsr a = matrixOn({{0, 1}, {0, 1}, {2}}, 2, 62);
  const HostBsr other = matrixOn({{0}, {1, 2}, {1, 2}}, 2, 62);
  const HostBsr equal = matrixOn({{0, 1}, {0, 1}, {2}}, 2, 63);
  auto m = make();
  m->initialize(copyTo<Device>(a));
  EXPECT_THROW(m->compute(copyTo<Device>(other)), InvalidArgument);
  EXPECT_NO_THROW(m->compute(copyTo<Device>(equal)));
  EXPECT_EQ(denseInverse(*m), denseInverse(*make(equal)));
}

TEST_P(Rules, RefusesMalformedMatrices) {
  const HostBsr a = matrixOn(patternOf(12, 3, 60), 1, 60);
  const DeviceBsr wide(copyTo<Device>(Graph<HostDevice>(12, 13, a.graph.row_map, a.graph.entries)),
                       copyTo<Device>(a).values, 1);
  EXPECT_THROW(make()->initialize(wide), InvalidArgument);
  Kokkos::View<Ordinal*, HostDevice> entries("Ainvil::entries", a.numEntries());
  const auto withEntry = [&](Offset at, Ordinal column) {
    Kokkos::deep_copy(entries, a.graph.entries);
    entries(at) = column;
    return copyTo<Device>(
        HostBsr(Graph<HostDevice>(12, 12, a.graph.row_map, entries), a.values, 1));
  };
  EXPECT_THROW(make()->initialize(withEntry(3, 12)), InvalidArgument);
  EXPECT_THROW(make()->initialize(withEntry(3, -1)), InvalidArgument);
  // A column twice in the first row that has two.
  for (Ordinal i = 0; i < 12; ++i)
    if (a.graph.row_map(i + 1) - a.graph.row_map(i) > 1) {
      const Offset e = a.graph.row_map(i);
      EXPECT_THROW(make()->initialize(withEntry(e + 1, a.graph.entries(e))), InvalidArgument);
      break;
    }
}

TEST_P(Rules, LabelsBelongToTheLibrary) {
  const HostBsr a = matrixOn(patternOf(20, 4, 61), 2, 61);
  const DeviceBsr on_device = copyTo<Device>(a);
  const auto x = toDevice(randomVector(40, 4), 40, 1);
  const auto y = poisoned(40, 1);
  const KernelLabelRecorder recorder;
  auto m = make();
  m->initialize(on_device);
  m->compute(on_device);
  m->apply(Exec(), x, y);
  m->apply(Exec(), x, y, Trans::Yes, 2.0, 1.0);
  EXPECT_FALSE(recorder.kernels().empty());
  expectOwnLabels(recorder.labels());
}

TEST_P(Rules, DescribesItself) {
  const auto m = make();
  const std::string method = std::string(GetParam()).substr(0, std::string(GetParam()).find(':'));
  EXPECT_EQ(m->description().find(method), 0u) << m->description();
}

INSTANTIATE_TEST_SUITE_P(
    Methods, Rules,
    ::testing::Values(
        "none", "jacobi", "jacobi:variant=point", "ilu", "ilu:level=1", "ilu:storage=float",
        "ilu:solve=isai", "ilu:solve=isai,power=3", "ilu:level=1,solve=isai,power=2",
        "ilu:solve=isai,side=columns", "ilu:solve=isai,adaptive=2,eps=0", "ilu:solve=isai,relax=2",
        "ilu:solve=isai,relax=auto", "ilu:solve=isai,power=2,storage=float,relax=1",
        "ilu:solve=isai,power=2,storage=bfloat16", "ilu:storage=bfloat16", "ilu:iterative=3",
        "ilu:level=1,iterative=2,solve=jacobi", "ilu:solve=jacobi,sweeps=4,damping=0.8",
        "ilu:solve=jacobi,start=zero,storage=float",
        // So many that the result does not depend on the
        // schedule.
        "ilu:solve=async,sweeps=70", "ilu:factorization=ilut,drop=0,max-fill=100",
        "ilu:factorization=ilut,drop=0,max-fill=100,search=parallel,solve=isai",
        "ilu:factorization=ilut,drop=0,max-fill=100,iterative=3",
        "ilu:factorization=ilut,drop=0,max-fill=100,search=parallel,iterative=2,solve=jacobi",
        "ilu:factorization=ilut,drop=0,max-fill=100,solve=async,sweeps=70", "ilu:match=product",
        "ilu:match=product,reorder=rcm,level=1,solve=isai", "ilu:scale=ruiz,reorder=nd", "ic",
        "ic:level=1,breakdown=replace", "ic:storage=float,breakdown=fail", "ilu:level=1,modified=1",
        "ic:factorization=ict,drop=0,max-fill=100", "ic:modified=1", "ic:solve=isai,power=2",
        "ic:solve=isai,side=columns,relax=auto", "ic:solve=isai,storage=bfloat16,relax=1",
        "ic:solve=jacobi,sweeps=4,damping=0.8", "ic:solve=jacobi,start=zero,storage=bfloat16",
        "fsai", "fsai:power=3,filter=0", "fsai:storage=float,tau=0",
        "fsai:storage=bfloat16,filter=0.02", "ainv:storage=bfloat16,order=rcm",
        "fsai:max-row=3,filter=0.2", "ainv", "ainv:variant=ainv,order=rcm,drop=0.02", "spai",
        "spai:power=2,storage=float", "ainv:symmetric=no,storage=float,order=nd",
        "ainv:symmetric=no,variant=ainv,drop=0,max-col=9", "ainv:blocks=yes,order=nd",
        "ainv:blocks=yes,symmetric=no,storage=float", "none:poly=5", "jacobi:poly=4",
        "ilu:solve=isai,poly=6", "fsai:poly=5", "ilu:poly=1,storage=float"));

} // namespace
} // namespace ainvil
