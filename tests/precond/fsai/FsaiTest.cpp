// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "precond/fsai/FsaiSupport.hpp"

#include "Ainvil_Cg.hpp"
#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ainvil {
namespace {

using namespace test;
using Method = FsaiMethod;

class FsaiBlockSize : public ::testing::TestWithParam<int> {};

TEST_P(FsaiBlockSize, FullPatternIsTheInverseCholeskyFactor) {
  const int bs = GetParam();
  const size_t n = 9 * bs;
  const HostBsr a = spdMatrixOn(fullPattern(9), bs, 101);
  Method method(fsai(0, 1, 0));
  setUp(method, a);
  const auto g = toDense(factorOf(method));
  for (size_t i = 0; i < n; ++i)
    for (size_t j = i + 1; j < n; ++j)
      ASSERT_EQ(g[i * n + j], 0.0);
  expectNear(multiply(transposed(g, n), g, n), inverse(toDense(a), n), 1e-13);
  expectNear(denseInverse(method), inverse(toDense(a), n), 1e-13);
}

TEST_P(FsaiBlockSize, DiagonalPatternIsBlockJacobi) {
  const int bs = GetParam();
  const HostBsr a = spdMatrixOn(symmetricPattern(20, 4, 102), bs, 102);
  Method method(fsai(0, 0, 0.1));
  setUp(method, a);
  auto blocks = toDense(a);
  const size_t n = 20 * bs;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      if (i / bs != j / bs)
        blocks[i * n + j] = 0;
  expectNear(denseInverse(method), inverse(blocks, n), 1e-14);
}

TEST_P(FsaiBlockSize, RowsAreOrthogonalToTheirPatternAndScaled) {
  const int bs = GetParam();
  const HostBsr a = spdMatrixOn(symmetricPattern(40, 5, 103), bs, 103);
  const size_t n = 40 * bs;
  Method method(fsai(0, 2, 0));
  setUp(method, a);
  expectUnitDiagonal(method, a, 1e-13);
  // (G A)_ij = 0 for j != i in the pattern of row i.
  const HostBsr g = factorOf(method);
  const auto product = multiply(toDense(g), toDense(a), n);
  for (Ordinal i = 0; i < 40; ++i)
    for (Offset e = g.graph.row_map(i); e + 1 < g.graph.row_map(i + 1); ++e)
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < bs; ++c)
          ASSERT_NEAR(product[(size_t(i) * bs + r) * n + size_t(g.graph.entries(e)) * bs + c], 0,
                      1e-12);
}

TEST_P(FsaiBlockSize, FilterDropsSmallBlocksAndRestoresTheScale) {
  const int bs = GetParam();
  const HostBsr a = spdMatrixOn(symmetricPattern(40, 5, 104), bs, 104);
  Method plain(fsai(0, 2, 0)), filtered(fsai(0, 2, 0.05));
  setUp(plain, a);
  setUp(filtered, a);
  const HostBsr g = factorOf(plain), f = factorOf(filtered);
  Pattern expected(40);
  for (Ordinal i = 0; i < 40; ++i) {
    const Offset begin = g.graph.row_map(i), end = g.graph.row_map(i + 1);
    const auto squares = [&](Offset first, Offset last) {
      double sum = 0;
      for (Offset k = first * bs * bs; k < last * bs * bs; ++k)
        sum += g.values(k) * g.values(k);
      return sum;
    };
    for (Offset e = begin; e < end; ++e)
      if (e + 1 == end || std::sqrt(squares(e, e + 1)) >= 0.05 * std::sqrt(squares(begin, end)))
        expected[i].insert(g.graph.entries(e));
  }
  EXPECT_EQ(patternOf(f.graph), expected);
  EXPECT_LT(f.numEntries(), g.numEntries());
  EXPECT_EQ(filtered.patternEntries(), g.numEntries());
  expectUnitDiagonal(filtered, a, 1e-13);
  // G^T is the transpose of G, where there is one.
  const size_t n = 40 * bs;
  if (filtered.transposedFactor().numRows() > 0)
    expectNear(toDense(copyTo<HostDevice>(filtered.transposedFactor().native())),
               transposed(toDense(f), n), 0);
}

INSTANTIATE_TEST_SUITE_P(Sizes, FsaiBlockSize, ::testing::Values(1, 2, 3, 5, 8, 11));

/// A matrix in which row `length - 1` of the last rows reaches `length` columns.
TEST(Fsai, RowsOfManyLengths) {
  const std::vector<Ordinal> lengths = {1, 31, 32, 33, 64, 65, 200, 257, 512};
  const Ordinal n = 600;
  Pattern pattern = diagonalPattern(n);
  Ordinal row = n - static_cast<Ordinal>(lengths.size());
  for (const Ordinal length : lengths) {
    for (Ordinal k = 0; k + 1 < length; ++k)
      pattern[row].insert(k);
    for (const Ordinal j : std::set<Ordinal>(pattern[row]))
      pattern[j].insert(row);
    ++row;
  }
  for (Ordinal i = 0; i + 10 < n - 10; i += 2) {
    pattern[i].insert(i + 10);
    pattern[i + 10].insert(i);
  }
  const HostBsr a = spdMatrixOn(pattern, 1, 108);
  for (const Offset chunk : {Offset(1), Offset(1) << 20}) {
    FsaiParameters<Device> parameters = fsai(0, 1, 0);
    parameters.chunk_bytes = chunk;
    Method method(parameters);
    setUp(method, a);
    expectUnitDiagonal(method, a, 1e-12);
    const Graph<HostDevice> graph = factorOf(method).graph;
    for (const Ordinal length : lengths) {
      bool found = false;
      for (Ordinal i = n - 9; i < n; ++i)
        found = found || graph.row_map(i + 1) - graph.row_map(i) == length;
      EXPECT_TRUE(found) << length;
    }
  }
}

/// Systems beyond what fits fast memory anywhere, in as many chunks as there are such rows.
TEST(Fsai, ChunksOfAnySizeGiveTheSame) {
  const HostBsr a = spdMatrixOn(fullPattern(30), 11, 109);
  std::vector<double> expected;
  for (const Offset chunk : {Offset(1) << 30, Offset(1), Offset(1) << 20}) {
    FsaiParameters<Device> parameters = fsai(0, 1, 0.02);
    parameters.chunk_bytes = chunk;
    Method method(parameters);
    setUp(method, a);
    const auto values = toHost(method.factor().native().values);
    if (expected.empty())
      expected = values;
    EXPECT_EQ(values, expected);
  }
}

/// Rows from the 21st on fail without the shift and are mended by it, whatever chunk they are in.
TEST(Fsai, ChunksOfAnySizeMendTheSameRows) {
  const HostBsr a = spdMatrixOn(fullPattern(30), 11, 110);
  for (int r = 0; r < 11; ++r)
    a.values(((20 * 30 + 20) * 11 + r) * 11 + r) = 0.25;
  std::vector<double> expected;
  for (const Offset chunk : {Offset(1) << 30, Offset(1), Offset(1) << 20}) {
    FsaiParameters<Device> parameters = fsai(0, 1, 0);
    parameters.chunk_bytes = chunk;
    parameters.breakdown = BreakdownPolicy::Shift;
    parameters.shift = 1000;
    Method method(parameters);
    setUp(method, a);
    EXPECT_EQ(method.report().breakdowns, 10);
    EXPECT_EQ(method.report().first_breakdown, 20);
    const auto values = toHost(method.factor().native().values);
    EXPECT_NE(values[values.size() - 30 * 121], 0); // more than the diagonal is left
    if (expected.empty())
      expected = values;
    EXPECT_EQ(values, expected);
  }
}

/// The values of a factor, whichever its precision.
std::vector<double> valuesOf(const SparseOperator<double, Device>& factor) {
  return factor.visit([](const auto& a) {
    const auto values = toHost(a.values);
    return std::vector<double>(values.begin(), values.end());
  });
}

/// With new values other blocks survive the filter, fewer or more, as many in other places, or the
/// same: always as in a fresh build, and no memory is asked for where the graph stays.
TEST(Fsai, FilteredComputeFollowsTheValues) {
  for (const Storage storage : {Storage::Native, Storage::Float, Storage::BFloat16})
    for (const int bs : {1, 2}) {
      Pattern pattern = symmetricPattern(100, 3, 115);
      for (Ordinal i = 1; i < 99; ++i) // a long row of G, a long one of G^T
        for (const Ordinal full : {0, 99}) {
          pattern[full].insert(i);
          pattern[i].insert(full);
        }
      FsaiParameters<Device> parameters = fsai(0, 1, 0.004);
      parameters.storage = storage;
      Method method(parameters);
      HostBsr first = spdMatrixOn(pattern, bs, 116);
      const auto on_device = copyTo<Device>(first);
      method.initialize(Exec(), on_device);
      Rows before;
      int graphs = 0;
      for (const int seed : {116, 117, 118, 118, 116, 116}) {
        const HostBsr a = spdMatrixOn(pattern, bs, seed);
        Kokkos::deep_copy(on_device.values, a.values);
        const AllocationCounter counter;
        method.compute(Exec(), on_device);
        const int allocations = counter.count();
        const std::string labels = counter.labels();
        Method fresh(parameters);
        setUp(fresh, a);
        EXPECT_EQ(rowsOf(method.factor().graph()), rowsOf(fresh.factor().graph()));
        EXPECT_EQ(rowsOf(method.transposedFactor().graph()),
                  rowsOf(fresh.transposedFactor().graph()));
        EXPECT_EQ(valuesOf(method.factor()), valuesOf(fresh.factor()));
        EXPECT_EQ(valuesOf(method.transposedFactor()), valuesOf(fresh.transposedFactor()));
        const Rows rows = rowsOf(method.factor().graph());
        if (rows == before)
          EXPECT_EQ(allocations, 0) << labels;
        else
          ++graphs;
        EXPECT_EQ(method.numGraphs(), graphs);
        before = rows;
        EXPECT_GT(LongRows<Device>(Exec(), method.factor().graph(), bs).numRows(), 0);
        EXPECT_LT(method.factor().graph().numEntries(), method.patternEntries());
      }
      EXPECT_EQ(graphs, 4);
    }
}

/// G before the filter, G and G^T after it with a tenth to spare, and less than 20 numbers a row;
/// initialize() again does not hold two of them.
TEST(Fsai, HoldsTheUnfilteredFactorOnce) {
  const auto a = copyTo<Device>(makeProblem("laplace7:24").matrix);
  const MemoryPeak peak;
  Method method(fsai(0.01, 3, 0.05));
  std::uint64_t first = 0;
  for (int repeat = 0; repeat < 3; ++repeat) {
    method.initialize(Exec(), a);
    method.compute(Exec(), a);
    method.compute(Exec(), a);
    first = repeat == 0 ? peak.bytes() : first;
  }
  const std::uint64_t before = method.patternEntries(), after = method.factor().numScalars();
  EXPECT_GT(before, 4 * after);
  const std::uint64_t entry = sizeof(double) + sizeof(Ordinal);
  EXPECT_LE(peak.bytes(), entry * (before + 2.2 * after) + 20 * sizeof(double) * a.numRows());
  EXPECT_LE(peak.bytes(), first + first / 20);
}

TEST(Fsai, NeverMakesCgBreakDown) {
  Random random(110);
  const char* problems[] = {"laplace7:6", "jump:6", "elasticity:4x3x3", "shell:6x5"};
  for (int k = 0; k < 200; ++k) {
    const Problem problem = makeProblem(problems[k % 4]);
    FsaiParameters<Device> parameters = fsai(std::pow(10.0, random.uniform(-3, -0.3)), k % 5,
                                             std::pow(10.0, random.uniform(-3, -0.1)));
    parameters.max_row = k % 3 == 0 ? 1 + k % 20 : 0;
    parameters.storage = k % 7 == 0 ? Storage::Float : Storage::Native;
    Method method(parameters);
    setUp(method, problem.matrix);
    EXPECT_EQ(method.report().breakdowns, 0);
    const auto b = toDevice(random.vector(problem.matrix.numPointRows()));
    const auto x = toDevice(std::vector<double>(problem.matrix.numPointRows(), 0.0));
    const SolveResult result =
        cg(MatrixOperator<double, Device>(copyTo<Device>(problem.matrix)), &method, b, x);
    ASSERT_EQ(result.status, SolveStatus::Converged)
        << method.description() << " on " << problem.name << ": " << result.message;
  }
}

TEST(Fsai, StorageRoundsTheFactor) {
  const HostBsr a = spdMatrixOn(symmetricPattern(50, 5, 111), 3, 111);
  for (const double filter : {0.0, 0.05})
    forEachRounding<Method>(fsai(0, 2, filter), a,
                            [](const Method& rounded, const Method& in_double, double error) {
                              expectRoundedFactors(rounded, in_double, 2 * error);
                            });
}

TEST(Fsai, TellsTheNotesOfTheLastComputeAlone) {
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 4, 118), 2, 118);
  Method method(fsai(0, 1, 0.05));
  setUp(method, a);
  const std::string notes = method.report().notes;
  EXPECT_NE(notes.find("filtered="), std::string::npos) << notes;
  method.compute(copyTo<Device>(a));
  EXPECT_EQ(method.report().notes, notes);
}

/// G^T G x, and transposed, from the G that there is: with one thread of a host in one pass, x and
/// y parts of longer columns.
TEST(Fsai, AppliesTheFactorAndItsTranspose) {
  for (const Storage storage : {Storage::Native, Storage::Float, Storage::BFloat16})
    for (const int bs : {1, 2, 3, 5, 9})
      for (const double filter : {0.0, 0.02}) {
        FsaiParameters<Device> parameters = fsai(0, 2, filter);
        parameters.storage = storage;
        const HostBsr a = spdMatrixOn(symmetricPattern(65, 5, 118), bs, 118);
        Method method(parameters);
        setUp(method, a);
        const size_t n = 65 * size_t(bs);
        const auto g = method.factor().visit([&](const auto& matrix) {
          const auto values = toHost(matrix.values);
          return toDense(HostBsr(copyTo<HostDevice>(matrix.graph),
                                 viewOf(std::vector<double>(values.begin(), values.end())), bs));
        });
        const auto expected = multiply(transposed(g, n), g, n);
        for (const Trans trans : {Trans::No, Trans::Yes})
          expectNear(denseInverse(method, trans), expected, 1e-13 * bs, "G^T G");
        const bool one_thread = !compat::IsGpu<Exec>::value && Exec().concurrency() == 1;
        EXPECT_EQ(method.transposedFactor().numRows(), one_thread ? 0 : 65);
      }
}

/// Whoever applies G in another way gets the same one, without G^T.
TEST(Fsai, MakesGAlone) {
  for (const double filter : {0.0, 0.02}) {
    const HostBsr a = spdMatrixOn(symmetricPattern(65, 5, 118), 2, 118);
    FsaiParameters<Device> parameters = fsai(0, 2, filter);
    Method whole(parameters);
    setUp(whole, a);
    parameters.applied = false;
    Method alone(parameters);
    setUp(alone, a);
    EXPECT_EQ(rowsOf(alone.factor().graph()), rowsOf(whole.factor().graph()));
    EXPECT_EQ(valuesOf(alone.factor()), valuesOf(whole.factor()));
    EXPECT_EQ(alone.transposedFactor().numRows(), 0);
    const Vector<double, Device> x("x", 130), y("y", 130);
    EXPECT_THROW(alone.apply(Exec(), x, y), Error);
  }
}

/// apply() multiplies with both G and its transpose, which one thread of a host takes from G.
TEST(Fsai, CountsTheBytesOfBothFactors) {
  for (const int bs : {1, 3}) {
    const HostBsr a = spdMatrixOn(symmetricPattern(60, 4, 117), bs, 117);
    for (const Storage storage : {Storage::Native, Storage::Float}) {
      FsaiParameters<Device> parameters = fsai(0, 2, 0);
      parameters.storage = storage;
      Method method(parameters);
      setUp(method, a);
      const auto& report = method.report();
      const Offset value_bytes = storage == Storage::Native ? 8 : 4;
      const Offset index_bytes =
          report.factor_entries / (bs * bs) * Offset(sizeof(Ordinal)) + 61 * Offset(sizeof(Offset));
      const int factors = method.transposedFactor().numRows() > 0 ? 2 : 1;
      EXPECT_EQ(report.factor_bytes, factors * (report.factor_entries * value_bytes + index_bytes));
    }
  }
}

} // namespace
} // namespace ainvil
