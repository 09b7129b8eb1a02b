// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "precond/ainv/AinvSupport.hpp"

#include "Ainvil_Cg.hpp"
#include "Ainvil_Convert.hpp"
#include "Ainvil_Partition.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace ainvil {
namespace {

using namespace test;
using Method = AinvMethod;
using HostExec = HostDevice::execution_space;

// --------------------------------------------------------------------------------- exact cases

TEST(Ainv, WithoutDroppingIsTheInverse) {
  for (const Ordinal n : {1, 2, 33, 90})
    for (const Ordering order : orders)
      for (const bool stabilized : {true, false}) {
        const HostBsr spd = spdMatrixOn(symmetricPattern(n, 4, 211), 1, 211);
        const HostBsr general = matrixOn(randomPattern(n, 4, 212), 1, 212);
        for (const bool symmetric : {true, false})
          for (const HostBsr& a : {spd, general}) {
            if (symmetric && a.values.data() == general.values.data())
              continue;
            const AinvParameters parameters = ainv(0, order, stabilized, symmetric);
            SCOPED_TRACE(nameOf(parameters));
            Method method(parameters);
            setUp(method, a);
            const auto exact = inverse(toDense(a), n);
            expectNear(denseInverse(method), exact, 1e-12);
            expectNear(denseInverse(method, Trans::Yes), transposed(exact, n), 1e-12);
          }
      }
}

std::vector<double> denseOf(const std::vector<SparseColumn>& columns) {
  const size_t n = columns.size();
  std::vector<double> dense(n * n, 0.0);
  for (size_t j = 0; j < n; ++j)
    for (const auto& [i, value] : columns[j])
      dense[i * n + j] = value;
  return dense;
}

TEST(Ainv, WithoutDroppingDiagonalisesTheMatrix) {
  const HostBsr a = scaledByNorm(matrixNamed("poisson5:13x11"));
  const size_t n = size_t(a.numRows());
  for (const bool symmetric : {true, false})
    for (const bool stabilized : {true, false}) {
      const AinvParameters parameters = ainv(0, Ordering::NestedDissection, stabilized, symmetric);
      Method method(parameters);
      setUp(method, a);
      const auto z = denseOf(zOf(method));
      const auto w = denseOf(wOf(method));
      const auto product =
          multiply(multiply(transposed(w, n), toDense(eliminated(a, parameters)), n), z, n);
      const auto pivots = pivotsOf(method);
      for (size_t i = 0; i < n; ++i)
        for (size_t j = 0; j < n; ++j)
          ASSERT_NEAR(product[i * n + j], i == j ? pivots[i] : 0.0, 1e-13);
    }
}

SolveResult pcg(const HostBsr& a, const Method& method) {
  Random random(213);
  const auto b = toDevice(random.vector(a.numPointRows()));
  const auto x = toDevice(std::vector<double>(a.numPointRows(), 0.0));
  return cg(MatrixOperator<double, Device>(copyTo<Device>(a)), &method, b, x);
}

TEST(Ainv, WithoutDroppingTakesOneIteration) {
  for (const char* name : {"poisson5:17x13", "laplace7:6", "jump:5", "long rows"})
    for (const bool stabilized : {true, false}) {
      const HostBsr a = matrixNamed(name);
      Method method(ainv(0, Ordering::NestedDissection, stabilized));
      setUp(method, a);
      const SolveResult result = pcg(a, method);
      EXPECT_EQ(result.status, SolveStatus::Converged) << name;
      EXPECT_EQ(result.iterations, 1) << name;
    }
}

TEST(Ainv, DiagonalPatternIsJacobi) {
  const HostBsr a = spdMatrixOn(diagonalPattern(67), 1, 214);
  std::vector<double> expected(67 * 67, 0.0);
  for (size_t i = 0; i < 67; ++i)
    expected[i * 67 + i] = 1 / a.values(i);
  for (const bool symmetric : {true, false}) {
    Method method(ainv(0.1, Ordering::NestedDissection, true, symmetric));
    setUp(method, a);
    expectNear(denseInverse(method), expected, 1e-15);
    EXPECT_EQ(method.report().factor_entries, symmetric ? 67 : 134);
  }
}

/// A copy of the grid in every part, interleaved.
TEST(Bainv, OfBlockDiagonalMatricesIsAinv) {
  const HostBsr grid = scaledByNorm(matrixNamed("poisson5:12x9"));
  const Ordinal n = grid.numRows(), copies = 4;
  Pattern pattern(copies * n);
  for (Ordinal i = 0; i < n; ++i)
    for (Offset e = grid.graph.row_map(i); e < grid.graph.row_map(i + 1); ++e)
      for (Ordinal copy = 0; copy < copies; ++copy)
        pattern[copies * i + copy].insert(copies * grid.graph.entries(e) + copy);
  const HostBsr a = spdMatrixOn(pattern, 1, 215);
  for (const Ordering order : orders)
    for (const bool stabilized : {true, false})
      for (const double drop : {0.0, 0.05}) {
        AinvParameters parameters = ainv(drop, order, stabilized);
        Method whole(parameters);
        setUp(whole, a);
        parameters.parts = copies;
        Method in_parts(parameters);
        setUp(in_parts, a);
        EXPECT_EQ(in_parts.edgeCut(), 0);
        EXPECT_EQ(in_parts.largestPart(), n);
        EXPECT_EQ(zOf(in_parts), zOf(whole));
        EXPECT_EQ(denseInverse(in_parts), denseInverse(whole)) << nameOf(parameters);
      }
}

TEST(Bainv, OfARowAPartIsJacobi) {
  const HostBsr a = spdMatrixOn(symmetricPattern(40, 4, 216), 1, 216);
  const auto dense = toDense(a);
  AinvParameters parameters = ainv(0);
  parameters.parts = 40;
  Method method(parameters);
  setUp(method, a);
  std::vector<double> expected(1600, 0.0);
  for (size_t i = 0; i < 40; ++i)
    expected[i * 41] = 1 / dense[i * 41];
  expectNear(denseInverse(method), expected, 1e-15);
  EXPECT_EQ(method.largestPart(), 1);
}

/// Exact within the parts: the inverse of the matrix without its couplings.
TEST(Bainv, WithoutDroppingInvertsTheParts) {
  const HostBsr a = scaledByNorm(matrixNamed("poisson5:14x9"));
  for (const int parts : {2, 5, 30}) {
    AinvParameters parameters = ainv(0, Ordering::Natural);
    parameters.parts = parts;
    Method method(parameters);
    setUp(method, a);
    expectNear(denseInverse(method), inverse(toDense(eliminated(a, parameters)), a.numRows()),
               1e-12);
  }
}

// ---------------------------------------------------------------------------- matrices, refusals

std::string refusalOf(const HostBsr& a, const AinvParameters& parameters) {
  Method method(parameters);
  try {
    setUp(method, a);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  ADD_FAILURE() << "no exception from " << nameOf(parameters);
  return {};
}

TEST(Ainv, RefusesWhatCannotBe) {
  const HostBsr spd = spdMatrixOn(symmetricPattern(30, 4, 241), 1, 241);
  AinvParameters parameters = ainv(0.1);
  parameters.parts = 31;
  EXPECT_NE(refusalOf(spd, parameters).find("at most 30"), std::string::npos);
  const HostBsr general = matrixOn(randomPattern(30, 4, 241), 1, 241);
  for (const bool stabilized : {true, false})
    EXPECT_NE(refusalOf(general, ainv(0.1, Ordering::Natural, stabilized)).find("symmetric"),
              std::string::npos);
  const auto refused = [](auto change) {
    AinvParameters changed;
    change(changed);
    EXPECT_THROW((Method(changed)), InvalidArgument);
  };
  using P = AinvParameters;
  refused([](P& p) { p.drop = -0.1; });
  refused([](P& p) { p.drop = std::nan(""); });
  refused([](P& p) { p.drop = std::numeric_limits<double>::infinity(); });
  refused([](P& p) { p.max_column = -1; });
  refused([](P& p) { p.parts = 0; });
  refused([](P& p) { p.shift = 0; });
  refused([](P& p) { p.shift = std::nan(""); });
}

TEST(Ainv, OfDisconnectedGraphs) {
  Pattern pattern = symmetricPattern(50, 4, 242);
  pattern.resize(53); // and three isolated rows
  for (Ordinal i = 50; i < 53; ++i)
    pattern[i] = {i};
  for (Ordinal i = 0; i < 50; ++i)
    for (const Ordinal j : std::set<Ordinal>(pattern[i])) // without what crosses the middle
      if ((i < 25) != (j < 25))
        pattern[i].erase(j);
  const HostBsr a = spdMatrixOn(pattern, 1, 242);
  for (const Ordering order : orders)
    for (const int parts : {1, 2, 5, 50}) {
      AinvParameters parameters = ainv(0.02, order);
      parameters.parts = parts;
      compareWithReference(a, parameters);
    }
}

TEST(Ainv, OfTinyMatrices) {
  for (const Ordinal n : {0, 1, 2}) {
    const HostBsr a = spdMatrixOn(fullPattern(n), 1, 243);
    for (const bool symmetric : {true, false})
      for (const Ordering order : orders) {
        Method method(ainv(0, order, true, symmetric));
        setUp(method, a);
        expectNear(denseInverse(method), inverse(toDense(a), n), 1e-14);
      }
  }
}

TEST(Ainv, OfBlocksIsThatOfTheScalarMatrix) {
  for (const int bs : {2, 3})
    for (const bool symmetric : {true, false})
      for (const Ordering order : orders)
        for (const int parts : {1, 4}) {
          const HostBsr a = symmetric ? spdMatrixOn(symmetricPattern(41, 4, 244), bs, 244)
                                      : matrixOn(randomPattern(41, 4, 244), bs, 244);
          AinvParameters parameters = ainv(0.02, order, true, symmetric);
          parameters.parts = parts;
          Method blocks(parameters), points(parameters);
          setUp(blocks, a);
          setUp(points, toPoints(HostExec(), a));
          EXPECT_EQ(denseInverse(blocks), denseInverse(points)) << nameOf(parameters);
        }
}

/// Dense rows in columns of many lengths; nothing dropped, so the columns are as long.
TEST(Ainv, OfRowsOfManyLengths) {
  const HostBsr a = spdMatrixOn(longRowsPattern(615), 1, 245);
  for (const bool symmetric : {true, false})
    for (const double drop : {0.0, 1e-6}) {
      Method method(ainv(drop, Ordering::Natural, true, symmetric));
      setUp(method, a);
      const AinvReference expected =
          referenceOf(a, ainv(1e-300, Ordering::Natural, true, symmetric));
      if (drop == 0)
        expectReference(method, expected);
      size_t longest = 0;
      for (const SparseColumn& column : zOf(method))
        longest = std::max(longest, column.size());
      EXPECT_GE(longest, 100u);
    }
}

// ------------------------------------------------------------------------------------- computing

TEST(Ainv, NewValuesEqualAFreshBuild) {
  for (const bool symmetric : {true, false})
    for (const bool stabilized : {true, false})
      for (const int parts : {1, 6}) {
        const auto matrix = [&](std::uint64_t seed) {
          return symmetric ? spdMatrixOn(symmetricPattern(536, 5, 261), 1, seed)
                           : matrixOn(randomPattern(536, 5, 261), 1, seed);
        };
        AinvParameters parameters = ainv(0.01, Ordering::NestedDissection, stabilized, symmetric);
        parameters.parts = parts;
        SCOPED_TRACE(nameOf(parameters));
        Method reused(parameters);
        setUp(reused, matrix(1));
        for (const std::uint64_t seed : {2, 3, 2}) {
          const HostBsr a = matrix(seed);
          reused.compute(copyTo<Device>(a));
          Method fresh(parameters);
          setUp(fresh, a);
          EXPECT_EQ(zOf(reused), zOf(fresh));
          EXPECT_EQ(wOf(reused), wOf(fresh));
          EXPECT_EQ(pivotsOf(reused), pivotsOf(fresh));
          EXPECT_EQ(denseInverse(reused), denseInverse(fresh));
        }
      }
}

TEST(Ainv, TheSameValuesAgainChangeNothing) {
  const DeviceBsr a = copyTo<Device>(scaledByNorm(matrixNamed("poisson5:24x21")));
  Method method(ainv(0.05, Ordering::NestedDissection));
  method.initialize(a);
  method.compute(a);
  const auto before = zOf(method);
  method.compute(a);
  EXPECT_EQ(zOf(method), before);
  EXPECT_EQ(method.factors().columnsComputed(), a.numRows());
}

/// By default a scaling by a diagonal, of powers of two, changes no pattern if A is symmetric; if
/// not, dropping is absolute.
TEST(Ainv, DropsByTheRuleOfItsSymmetry) {
  const HostBsr a = matrixNamed("poisson5:24x21");
  const HostBsr wild(a.graph, viewOf(toHost(a.values)), 1);
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      wild.values(e) *= std::ldexp(1.0, i % 21 - 10 + a.graph.entries(e) % 21 - 10);
  const auto entriesOf = [](const HostBsr& matrix, bool symmetric, DropRule rule) {
    AinvParameters parameters;
    parameters.symmetric = symmetric;
    parameters.drop_rule = rule;
    Method method(parameters);
    setUp(method, matrix);
    return method.report().factor_entries;
  };
  EXPECT_EQ(entriesOf(wild, true, DropRule::Auto), entriesOf(a, true, DropRule::Absolute));
  EXPECT_NE(entriesOf(wild, true, DropRule::Absolute), entriesOf(a, true, DropRule::Absolute));
  EXPECT_EQ(entriesOf(wild, false, DropRule::Auto), entriesOf(wild, false, DropRule::Absolute));
  EXPECT_NE(entriesOf(wild, false, DropRule::Auto), entriesOf(wild, false, DropRule::Relative));
}

/// With steps of a hundredth of a chunk the factors are those of one launch, bit by bit; they end
/// complete.
TEST(Ainv, TellsItsProgressAndComputesTheSame) {
  const HostBsr a = scaledByNorm(matrixNamed("poisson5:60x57"));
  for (const bool symmetric : {true, false}) {
    const AinvParameters parameters = ainv(0.02, Ordering::Natural, true, symmetric);
    Method plain(parameters), told(parameters);
    setUp(plain, a);
    std::vector<Offset> columns;
    told.setProgress([&](const char* phase, Offset done, Offset total) {
      EXPECT_STREQ(phase, "columns");
      EXPECT_EQ(total, a.numRows());
      columns.push_back(done);
    });
    setUp(told, a);
    EXPECT_EQ(zOf(told), zOf(plain));
    EXPECT_EQ(wOf(told), wOf(plain));
    EXPECT_EQ(pivotsOf(told), pivotsOf(plain));
    ASSERT_GE(columns.size(), 10u);
    EXPECT_EQ(columns.back(), a.numRows());
    EXPECT_LE(*std::max_element(columns.begin(), columns.end()), a.numRows());
    EXPECT_GE(*std::min_element(columns.begin(), columns.end()), 1);
  }
}

TEST(Ainv, EndsWithWhatItsProgressThrows) {
  const DeviceBsr a = copyTo<Device>(scaledByNorm(matrixNamed("poisson5:24x21")));
  const AinvParameters parameters = ainv(0.05);
  Method method(parameters), fresh(parameters);
  fresh.initialize(a);
  fresh.compute(a);
  method.initialize(a);
  method.setProgress([](const char*, Offset, Offset) { throw std::runtime_error("enough"); });
  EXPECT_THROW(method.compute(a), std::runtime_error);
  EXPECT_FALSE(method.isComputed());
  method.setProgress({});
  method.compute(a);
  EXPECT_EQ(zOf(method), zOf(fresh));
}

TEST(Ainv, KernelsAndArraysCarryLabels) {
  const HostBsr spd = spdMatrixOn(symmetricPattern(90, 5, 262), 1, 262);
  const HostBsr general = matrixOn(randomPattern(90, 5, 262), 1, 262);
  const KernelLabelRecorder recorder;
  for (const bool symmetric : {true, false})
    for (const bool stabilized : {true, false}) {
      AinvParameters parameters = ainv(0.01, Ordering::NestedDissection, stabilized, symmetric);
      parameters.parts = 3;
      parameters.drop_rule = DropRule::Relative;
      Method method(parameters);
      setUp(method, symmetric ? spd : general);
      denseInverse(method, Trans::Yes);
    }
  EXPECT_GE(recorder.kernels().size(), 50u);
  expectOwnLabels(recorder.labels());
}

} // namespace
} // namespace ainvil
