// SPDX-License-Identifier: BSD-3-Clause
/// Rows exchanged, scaled and reordered before the factorisation.
#include "precond/ilu/IluSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "Ainvil_Gmres.hpp"
#include "KokkosObservers.hpp"
#include "io/Ainvil_MatrixMarket.hpp"

#include <gtest/gtest.h>

namespace ainvil {
namespace {

using namespace test;

PreconditionerPtr<double, Device> make(const std::string& specification) {
  return createPreconditioner<double, Device>(specification);
}
std::vector<double> inverseBy(const std::string& specification, const HostBsr& a,
                              Trans trans = Trans::No) {
  const auto m = make(specification);
  setUp(*m, a);
  return denseInverse(*m, trans);
}

std::vector<Ordinal> shuffledOrder(Ordinal n, std::uint64_t seed) {
  std::vector<Ordinal> order(n);
  std::iota(order.begin(), order.end(), 0);
  Random(seed).shuffle(order);
  return order;
}

/// Block row k is row order[k] of A.
HostBsr withRows(const HostBsr& a, const std::vector<Ordinal>& order) {
  const Rows old_rows = rowsOf(a.graph);
  const Offset bs2 = Offset(a.block_size) * a.block_size;
  Rows rows;
  std::vector<double> values;
  for (const Ordinal row : order) {
    rows.push_back(old_rows[row]);
    values.insert(values.end(), a.values.data() + a.graph.row_map(row) * bs2,
                  a.values.data() + a.graph.row_map(row + 1) * bs2);
  }
  return {makeGraph(rows), viewOf(values), a.block_size};
}

/// M of the matrix whose rows are so ordered, from M of the matrix: its columns are.
std::vector<double> withColumns(const std::vector<double>& m, const std::vector<Ordinal>& order,
                                int bs) {
  const size_t n = order.size() * bs;
  std::vector<double> result(n * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t k = 0; k < n; ++k)
      result[i * n + k] = m[i * n + size_t(order[k / bs]) * bs + k % bs];
  return result;
}

constexpr const char* rearranged[] = {"ilu:match=product",
                                      "ilu:scale=ruiz",
                                      "ilu:match=product,reorder=rcm",
                                      "ilu:match=product,reorder=nd,level=1,solve=isai,power=2",
                                      "ilu:scale=ruiz,reorder=nd",
                                      "ilu:reorder=rcm,solve=jacobi,sweeps=2",
                                      "ilu:reorder=colour",
                                      "ilu:match=product,reorder=block-colour,level=1"};

/// Scaling by powers of 2 rounds nothing, so that M is the same to the last bit.
TEST(IluRearrangement, OfADominantMatrixChangesNothing) {
  for (const int bs : {1, 2, 3, 5})
    for (const char* method : {"ilu", "ilu:level=1,solve=isai", "ilu:iterative=2"}) {
      const HostBsr a = matrixOn(randomPattern(65, 5, 7), bs, 7);
      const std::string specification = method;
      const char* first = specification == "ilu" ? ":" : ",";
      EXPECT_EQ(inverseBy(specification + first + "match=product", a), inverseBy(specification, a))
          << method << " " << bs;
      expectNear(inverseBy(specification + first + "scale=ruiz", a), inverseBy(specification, a),
                 1e-13, method);
    }
}

/// Any order of the rows gives the M of the dominant order.
TEST(IluRearrangement, UndoesPermutationsOfRows) {
  for (const int bs : {1, 2, 3, 5})
    for (const bool long_rows : {false, true}) {
      const Pattern pattern = long_rows ? longRowsPattern(536) : randomPattern(65, 5, 8);
      if (long_rows && bs > 1)
        continue;
      const HostBsr a = matrixOn(pattern, bs, 8);
      const auto order = shuffledOrder(a.numRows(), 9);
      const HostBsr shuffled = withRows(a, order);
      EXPECT_EQ(inverseBy("ilu:match=product,level=1", shuffled),
                withColumns(inverseBy("ilu:level=1", a), order, bs))
          << bs;
      // Orderings know the pattern that is left only.
      EXPECT_EQ(inverseBy("ilu:match=product,reorder=rcm", shuffled),
                withColumns(inverseBy("ilu:reorder=rcm", a), order, bs))
          << bs;
    }
}

/// D A E has the M of A between E^-1 and D^-1.
TEST(IluRearrangement, UndoesScalingsOfRowsAndColumns) {
  const HostBsr a = withRows(matrixOn(randomPattern(65, 5, 10), 1, 10), shuffledOrder(65, 11));
  Random random(12);
  const auto d = random.vector(65), e = random.vector(65);
  HostBsr scaled_a(a.graph, Kokkos::View<double*, HostDevice>("Ainvil::test", a.numEntries()), 1);
  for (Ordinal i = 0; i < 65; ++i)
    for (Offset k = a.graph.row_map(i); k < a.graph.row_map(i + 1); ++k)
      scaled_a.values(k) = a.values(k) * std::pow(10, 8 * (d[i] + e[a.graph.entries(k)]));
  for (const char* specification : {"ilu:match=product", "ilu:match=product,reorder=nd,level=1"}) {
    auto m = inverseBy(specification, scaled_a);
    for (size_t i = 0; i < 65; ++i)
      for (size_t j = 0; j < 65; ++j)
        m[i * 65 + j] *= std::pow(10, 8 * (e[i] + d[j]));
    expectNear(m, inverseBy(specification, a), 1e-11, specification);
  }
}

/// D A E with a number a block row and a block column.
HostBsr scaled(const HostBsr& a, const std::vector<double>& d, const std::vector<double>& e) {
  const int bs2 = a.block_size * a.block_size;
  HostBsr result(a.graph, Kokkos::View<double*, HostDevice>("Ainvil::test", a.values.extent(0)),
                 a.block_size);
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset at = a.graph.row_map(i) * bs2; at < a.graph.row_map(i + 1) * bs2; ++at)
      result.values(at) = d[i] * a.values(at) * e[a.graph.entries(at / bs2)];
  return result;
}

/// Ones on the diagonal and right of it, and less elsewhere: the largest product is that of the
/// diagonal alone, and the scalings that belong to it are unique but for one factor. Rounded to
/// powers of 2 they may differ by 2: the other entries, and the fill that comes from them, are so
/// small that they are dropped, or so large that they are kept, whichever it is. In blocks times a
/// matrix near I.
HostBsr tightMatrix(Ordinal n, int bs, std::uint64_t seed) {
  Pattern pattern = randomPattern(n, 3, seed);
  for (Ordinal i = 0; i + 1 < n; ++i)
    pattern[i].insert(i + 1);
  const HostBsr a = matrixOn(pattern, bs, seed);
  Random random(seed);
  for (Ordinal i = 0; i < n; ++i)
    for (Offset at = a.graph.row_map(i); at < a.graph.row_map(i + 1); ++at) {
      const Ordinal j = a.graph.entries(at);
      const double size = random.uniform(0.25, 0.5) * (j < i ? 1 : 0x1p-30);
      for (int k = 0; k < bs * bs; ++k)
        a.values(at * bs * bs + k) = (j == i || j == i + 1 ? 1 : size) * (k % (bs + 1) == 0 ? 1
                                                                          : k < bs          ? 0
                                                                                            : 0.25);
    }
  return a;
}

std::vector<double> powersOfTwo(size_t n, std::uint64_t seed) {
  Random random(seed);
  std::vector<double> powers(n);
  for (double& power : powers)
    power = std::ldexp(1.0, int(random.uniform(-20, 20)));
  return powers;
}

/// P D A E, P an order of the rows, has E^-1 M D^-1 P^T where A has M: through matching, scaling,
/// reordering, a pattern by thresholds, and approximate inverses with steps. (relax=auto chooses
/// how many in the scalings rounded to powers of 2, which may differ.)
TEST(IluRearrangement, OfTheWholePipelineUndoesPermutationsAndScalings) {
  for (const int bs : {1, 3})
    for (const char* specification :
         {"ilu:factorization=ilut,drop=1e-3,match=product,reorder=rcm,solve=isai,power=2,relax=2",
          "ilu:factorization=ilut,drop=1e-3,search=parallel,match=product,solve=jacobi,"
          "sweeps=3"}) {
      SCOPED_TRACE(message(specification, ", block size ", bs));
      // M is applied to eight columns at a time, and on GPUs one left alone is rounded otherwise.
      constexpr Ordinal rows = 66;
      const HostBsr a = tightMatrix(rows, bs, 23);
      const auto d = powersOfTwo(rows, 25), e = powersOfTwo(rows, 26);
      const auto order = shuffledOrder(rows, 27);
      const auto m = inverseBy(specification, withRows(scaled(a, d, e), order));
      auto expected = withColumns(inverseBy(specification, a), order, bs);
      const size_t n = a.numPointRows();
      for (size_t i = 0; i < n; ++i)
        for (size_t k = 0; k < n; ++k)
          expected[i * n + k] /= e[i / bs] * d[order[k / bs]];
      EXPECT_TRUE(m == expected);
    }
}

TEST(IluRearrangement, OfAFullPatternIsTheInverse) {
  for (const int bs : {1, 2, 3, 5})
    for (const char* specification : rearranged) {
      if (std::string(specification).find("sweeps") != std::string::npos)
        continue;
      const bool matches = std::string(specification).find("match") != std::string::npos;
      HostBsr a = matrixOn(fullPattern(17), bs, 13);
      if (matches)
        a = withRows(a, shuffledOrder(17, 14));
      const size_t n = a.numPointRows();
      for (const Trans trans : {Trans::No, Trans::Yes}) {
        const auto m = inverseBy(specification, a, trans);
        const auto dense = trans == Trans::No ? toDense(a) : transposed(toDense(a), n);
        expectNear(multiply(m, dense, n), identity(n), 1e-9, specification);
      }
    }
}

TEST(IluRearrangement, TransposedApplicationIsTheTransposed) {
  for (const int bs : {1, 3})
    for (const char* specification : rearranged) {
      const bool matches = std::string(specification).find("match") != std::string::npos;
      HostBsr a = matrixOn(randomPattern(65, 5, 15), bs, 15);
      if (matches)
        a = withRows(a, shuffledOrder(65, 16));
      expectNear(inverseBy(specification, a, Trans::Yes),
                 transposed(inverseBy(specification, a), size_t(a.numPointRows())), 1e-12,
                 specification);
    }
}

/// Later values follow the rows found first, be there better ones, and cost no memory.
TEST(IluRearrangement, KeepsTheMatchingForNewValues) {
  const auto order = shuffledOrder(40, 17), other = shuffledOrder(40, 18);
  const HostBsr first = withRows(matrixOn(fullPattern(40), 2, 19), order);
  const HostBsr second = withRows(matrixOn(fullPattern(40), 2, 20), other);
  for (const char* specification : {"ilu:match=product", "ilu:match=product,reorder=rcm"}) {
    const auto m = make(specification);
    setUp(*m, first);
    const DeviceBsr on_device(copyTo<Device>(first.graph), copyTo<Device>(second).values, 2);
    {
      const AllocationCounter counter;
      m->compute(on_device);
      EXPECT_EQ(counter.count(), 0) << counter.labels();
    }
    expectNear(multiply(denseInverse(*m), toDense(second), 80), identity(80), 1e-8);
    // The same matching found anew: of the first values, and then those of the second.
    m->compute(copyTo<Device>(first));
    EXPECT_EQ(denseInverse(*m), inverseBy(specification, first)) << specification;
  }
}

HostBsr twoByTwo(const std::vector<double>& values) {
  return {makeGraph({{0, 1}, {0, 1}}), viewOf(values), 1};
}

TEST(IluRearrangement, FindsANewMatchingAfterABreakdown) {
  const HostBsr swapped = twoByTwo({0, 2, 4, 0}), plain = twoByTwo({2, 0, 0, 4});
  const auto m = make("ilu:match=product");
  setUp(*m, swapped);
  EXPECT_EQ(denseInverse(*m), (std::vector<double>{0, 0.25, 0.5, 0}));
  const DeviceBsr on_device(copyTo<Device>(swapped.graph), copyTo<Device>(plain).values, 1);
  EXPECT_THROW(m->compute(on_device), BreakdownError);
  EXPECT_TRUE(m->isInitialized());
  EXPECT_FALSE(m->isComputed());
  m->compute(on_device);
  EXPECT_EQ(denseInverse(*m), (std::vector<double>{0.5, 0, 0, 0.25}));
}

std::string breakdownOf(const std::string& specification, const HostBsr& a) {
  try {
    inverseBy(specification, a);
  } catch (const BreakdownError& error) {
    return error.what();
  }
  return "";
}

TEST(IluRearrangement, TellsThatAMatrixIsStructurallySingular) {
  // Rows 2 and 3 have the same single column.
  const HostBsr a(makeGraph({{0, 1}, {2}, {2}}), viewOf<double>({1, 2, 3, 4}), 1);
  const std::string text = breakdownOf("ilu:match=product", a);
  EXPECT_NE(text.find("(block rows in the order of match: product); only 2 of 3 block rows can be "
                      "matched with a block column of their own, so the matrix is singular "
                      "whatever its nonzero values"),
            std::string::npos)
      << text;
  // With another policy it goes on: the rows that are matched have their pivots.
  const auto m = make("ilu:match=product,breakdown=replace");
  setUp(*m, a);
  EXPECT_EQ(m->report().breakdowns, 1);
}

TEST(IluRearrangement, NamesRowsAsTheMatrixHasThem) {
  const auto order = shuffledOrder(12, 21);
  HostBsr a = matrixOn(diagonalPattern(12), 2, 22);
  for (int k = 0; k < 4; ++k) // singular, and no other block can take its place
    a.values(4 * 7 + k) = 1;
  const auto m = make("ilu:match=product,breakdown=shift");
  setUp(*m, withRows(a, order));
  EXPECT_EQ(m->report().breakdowns, 1);
  EXPECT_EQ(m->report().first_breakdown, std::find(order.begin(), order.end(), 7) - order.begin());
}

TEST(IluRearrangement, DescribesItselfAndRefusesTwoScalings) {
  EXPECT_EQ(make("ilu:match=product,reorder=nd")->description(),
            "ilu: {level: 0, solve: exact, storage: double, match: product, reorder: nd}");
  EXPECT_EQ(make("ilu:scale=ruiz,reorder=rcm")->description(),
            "ilu: {level: 0, solve: exact, storage: double, scale: ruiz, reorder: rcm}");
  IluSettings<Device> both = exactIlu();
  both.rearrangement.match = RowMatching::Product;
  both.rearrangement.scale = MatrixScaling::Ruiz;
  EXPECT_THROW((Ilu<double, Device>(both)), InvalidArgument);
}

/// Products of the scalings stay numbers, and the pivots that count.
TEST(IluRearrangement, SurvivesValuesFarApart) {
  for (const char* specification : {"ilu:match=product", "ilu:scale=ruiz"}) {
    const auto m = inverseBy(specification, twoByTwo({1e160, 1, 1, 1e-150}));
    EXPECT_NEAR(m[0], 1e-160, 1e-169) << specification;
    EXPECT_NEAR(m[3], 1e150, 1e141) << specification;
    EXPECT_NE(breakdownOf(specification, twoByTwo({1e160, 1, 1, 1e-160})), "") << specification;
  }
}

/// The inverse of the largest numbers is none whose power of 2 is at hand: the scaling goes less
/// far.
TEST(IluRearrangement, ScalesTheLargestNumbers) {
  const double largest = 0x1.8p1023;
  for (const char* specification : {"ilu:match=product", "ilu:scale=ruiz"}) {
    const auto m = inverseBy(specification, twoByTwo({largest, 0, 0, 2}));
    EXPECT_NEAR(m[0] * largest, 1, 1e-14) << specification;
    EXPECT_NEAR(m[3], 0.5, 1e-14) << specification;
  }
}

struct PublicCase {
  const char *matrix, *specification;
  int most_iterations;
};

void PrintTo(const PublicCase& c, std::ostream* out) {
  *out << c.matrix << " with " << c.specification;
}

class IluOnPublicMatrix : public ::testing::TestWithParam<PublicCase> {};

TEST_P(IluOnPublicMatrix, Converges) {
  const auto [matrix, specification, most] = GetParam();
  const std::string path = matrixPath(std::string(matrix) + ".mtx.gz");
  if (path.empty())
    GTEST_SKIP() << matrix << " is neither in AINVIL_MATRIX_DIR nor beside the sources";
  const HostBsr host_a = readMatrixMarket(path);
  const DeviceBsr a = copyTo<Device>(host_a);
  const auto m = make(specification);
  setUp(*m, host_a);
  const size_t n = a.numPointRows();
  const MatrixOperator<double, Device> op(a);
  const auto ones = toDevice(std::vector<double>(n, 1));
  const auto b = poisoned(n), x = toDevice(std::vector<double>(n, 0));
  op.apply(Exec(), asColumn(ones), asColumn(b));
  SolverOptions options;
  options.tolerance = 1e-8;
  options.restart = 30;
  const SolveResult result = gmres(Exec(), op, m.get(), b, x, options);
  EXPECT_EQ(result.status, SolveStatus::Converged) << result.message;
  EXPECT_LE(result.iterations, most);
  // The residual recomputed on the host.
  const auto solution = toHost(x), rhs = toHost(b);
  double residual = 0, size = 0;
  for (Ordinal i = 0; i < host_a.numRows(); ++i) {
    double sum = rhs[i];
    for (Offset e = host_a.graph.row_map(i); e < host_a.graph.row_map(i + 1); ++e)
      sum -= host_a.values(e) * solution[host_a.graph.entries(e)];
    residual += sum * sum;
    size += rhs[i] * rhs[i];
  }
  EXPECT_LE(std::sqrt(residual / size), 2e-8);
}

INSTANTIATE_TEST_SUITE_P(
    ZeroDiagonals, IluOnPublicMatrix,
    ::testing::Values(
        PublicCase{"lns_131", "ilu:match=product", 10}, //
        PublicCase{"adder_dcop_05", "ilu:match=product", 24},
        PublicCase{"west0479", "ilu:match=product,level=2", 26},
        PublicCase{"west0479", "ilu:match=product,reorder=nd,level=4,breakdown=shift", 11},
        PublicCase{"bp_1200", "ilu:match=product,reorder=nd,level=4,breakdown=shift", 75},
        PublicCase{"qh882", "ilu:match=product,reorder=nd,level=4,breakdown=shift", 10},
        PublicCase{"rajat19", "ilu:match=product,reorder=nd,level=4,breakdown=shift", 7},
        PublicCase{"west0479",
                   "ilu:factorization=ilut,drop=1e-4,match=product,reorder=nd,breakdown=shift", 4},
        PublicCase{"bp_1200",
                   "ilu:factorization=ilut,drop=1e-4,match=product,reorder=nd,breakdown=shift,"
                   "search=parallel",
                   13},
        PublicCase{"qh882",
                   "ilu:factorization=ilut,drop=1e-4,match=product,reorder=nd,breakdown=shift,"
                   "search=parallel",
                   4},
        PublicCase{"rajat19",
                   "ilu:factorization=ilut,drop=1e-4,match=product,reorder=nd,breakdown=shift", 8},
        PublicCase{"cavity14",
                   "ilu:factorization=ilut,drop=1e-4,match=product,reorder=nd,breakdown=shift", 5},
        PublicCase{"bcsstk17",
                   "ilu:factorization=ilut,drop=1e-4,match=product,reorder=nd,breakdown=shift,"
                   "search=sequential",
                   18},
        PublicCase{"fidapex6",
                   "ilu:factorization=ilut,drop=1e-4,reorder=nd,breakdown=shift,pivot-tol=1e11,"
                   "search=sequential",
                   6},
        PublicCase{"fidapex6",
                   "ilu:factorization=ilut,drop=1e-4,reorder=nd,breakdown=shift,pivot-tol=1e11,"
                   "search=parallel",
                   11},
        PublicCase{"fidapex6", "ilu:reorder=nd,level=6,breakdown=shift,pivot-tol=1e11", 12},
        PublicCase{"cavity14", "ilu:reorder=nd,level=4,breakdown=shift,pivot-tol=1e11", 35}),
    [](const ::testing::TestParamInfo<PublicCase>& info) {
      return std::string(info.param.matrix) + "_" + std::to_string(info.index);
    });

} // namespace
} // namespace ainvil
