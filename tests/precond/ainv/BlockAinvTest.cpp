// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// AINV by block columns.

#include "KokkosObservers.hpp"
#include "precond/ainv/AinvSupport.hpp"
#include "precond/ainv/BlockAinvReference.hpp"

#include "Ainvil_Cg.hpp"
#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"
#include "Ainvil_GraphAlgebra.hpp"
#include "Ainvil_Partition.hpp"
#include "ainv/Ainvil_BlockAinv.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace {

using namespace test;
using Method = AinvMethod;
using HostExec = HostDevice::execution_space;

AinvParameters blockAinv(double drop, Ordering order = Ordering::Natural, bool stabilized = true,
                         bool symmetric = true) {
  AinvParameters parameters = ainv(drop, order, stabilized, symmetric);
  parameters.blocks = true;
  return parameters;
}

/// A random matrix, SPD if symmetric.
HostBsr matrixFor(bool symmetric, Ordinal n, int bs, std::uint64_t seed) {
  return symmetric ? spdMatrixOn(symmetricPattern(n, 4, seed), bs, seed)
                   : matrixOn(randomPattern(n, 4, seed), bs, seed);
}

/// The matrix in its elimination order, without what BAINV leaves out.
HostBsr eliminatedBlocks(const HostBsr& a, const AinvParameters& parameters) {
  const HostExec exec;
  HostBsr within = a;
  if (parameters.parts > 1) {
    const auto part_of = partition(a.graph, parameters.parts).part_of;
    const auto graph = entriesWithinParts<HostDevice>(exec, a.graph, part_of);
    const auto values = allocate<double, HostDevice>(
        exec, "Ainvil::values", graph.graph.numEntries() * a.block_size * a.block_size);
    gatherBlocks<double, HostDevice>(exec, Trans::No, graph.source, a.block_size, a.values, values);
    within = HostBsr(graph.graph, values, a.block_size);
  }
  return permuted(exec, ordering(parameters.order, within.graph), within);
}

std::vector<double> denseOf(const detail::BlockColumns<double>& columns, size_t b) {
  const size_t n = columns.begins.size() - 1;
  std::vector<double> dense(n * b * n * b, 0.0);
  for (size_t j = 0; j < n; ++j)
    for (Offset e = columns.begins[j]; e < columns.begins[j + 1]; ++e)
      for (size_t v = 0; v < b * b; ++v)
        dense[(columns.rows[e] * b + v / b) * n * b + j * b + v % b] =
            columns.values[e * b * b + v];
  return dense;
}

/// Values to the tolerance, and of n x n ones zero blocks of b x b where there are zero blocks.
void expectSame(const std::vector<double>& found, const std::vector<double>& expected, size_t n,
                size_t b, double tolerance) {
  expectNear(found, expected, tolerance);
  const auto isZero = [&](const std::vector<double>& values, size_t i, size_t j) {
    for (size_t v = 0; v < b * b; ++v)
      if (values[(i + v / b) * n + j + v % b] != 0)
        return false;
    return true;
  };
  for (size_t i = 0; i < n; i += b)
    for (size_t j = 0; j < n; j += b)
      ASSERT_EQ(isZero(found, i, j), isZero(expected, i, j)) << "block at " << i << ", " << j;
}

void compareBlocks(const HostBsr& a, const AinvParameters& parameters, double tolerance = 1e-11) {
  SCOPED_TRACE(nameOf(parameters));
  const BlockAinvReference expected =
      blockAinvReference(eliminatedBlocks(a, parameters), parameters);
  Method method(parameters);
  setUp(method, a);
  ASSERT_NE(method.blockFactors(), nullptr);
  const auto& factors = method.blockFactors()->factors();
  const size_t b = size_t(a.block_size), n = size_t(a.numPointRows());
  expectSame(denseOf(factors.z(), b), expected.z, n, b, tolerance);
  expectSame(denseOf(factors.w(), b), expected.w, n, b, tolerance);
  std::vector<double> d(n * n, 0.0);
  for (size_t i = 0; i < n; ++i)
    for (size_t c = 0; c < b; ++c)
      d[i * n + i / b * b + c] = factors.pivots()[i * b + c];
  expectNear(d, expected.d, tolerance);
  EXPECT_EQ(method.report().breakdowns, 0);
  // M^-1 = Z D^-1 W^T in the numbering of A
  const auto m =
      multiply(multiply(expected.z, inverse(expected.d, n), n), transposed(expected.w, n), n);
  const auto new_to_old = toHost(method.order().new_to_old);
  std::vector<double> in_a(n * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      in_a[(new_to_old[i / b] * b + i % b) * n + new_to_old[j / b] * b + j % b] = m[i * n + j];
  expectNear(denseInverse(method), in_a, tolerance);
  expectNear(denseInverse(method, Trans::Yes), transposed(in_a, n), tolerance);
}

// --------------------------------------------------------------------------------- exact cases

/// Blocks of 9 have their size at run time only.
TEST(BlockAinv, WithoutDroppingIsTheInverse) {
  for (const int bs : {2, 3, 5, 9})
    for (const Ordinal n : {1, 2, 13})
      for (const Ordering order : orders)
        for (const bool stabilized : {true, false})
          for (const bool symmetric : {true, false}) {
            const HostBsr a = matrixFor(symmetric, n, bs, 271);
            const AinvParameters parameters = blockAinv(0, order, stabilized, symmetric);
            SCOPED_TRACE(nameOf(parameters));
            Method method(parameters);
            setUp(method, a);
            const auto exact = inverse(toDense(a), n * bs);
            expectNear(denseInverse(method), exact, 1e-11);
            expectNear(denseInverse(method, Trans::Yes), transposed(exact, n * bs), 1e-11);
          }
}

TEST(BlockAinv, WithoutDroppingTakesOneIteration) {
  for (const char* name : {"elasticity:6x3x3", "shell:5"})
    for (const char* order : {"natural", "nd"})
      EXPECT_EQ(costOfCg(makeProblem(name).matrix, message("ainv:blocks=yes,drop=0,order=", order))
                    .iterations,
                1)
          << name;
}

TEST(BlockAinv, DiagonalPatternIsBlockJacobi) {
  for (const bool symmetric : {true, false}) {
    const HostBsr a = symmetric ? spdMatrixOn(diagonalPattern(37), 4, 272)
                                : matrixOn(diagonalPattern(37), 4, 272);
    Method method(blockAinv(0.1, Ordering::Rcm, true, symmetric));
    setUp(method, a);
    const auto jacobi = createPreconditioner<double, Device>("jacobi");
    setUp(*jacobi, a);
    expectNear(denseInverse(method), denseInverse(*jacobi), 1e-14);
    EXPECT_EQ(method.report().factor_entries, (symmetric ? 1 : 2) * 37 * 16);
  }
}

// -------------------------------------------------------------------------- scalars, the formula

/// A matrix without blocks takes the scalar way, whatever is asked for.
TEST(BlockAinv, OfScalarMatricesIsAinv) {
  for (const bool symmetric : {true, false}) {
    const HostBsr a = matrixFor(symmetric, 90, 1, 273);
    Method blocks(blockAinv(0.02, Ordering::Rcm, true, symmetric));
    Method points(ainv(0.02, Ordering::Rcm, true, symmetric));
    setUp(blocks, a);
    setUp(points, a);
    EXPECT_EQ(blocks.blockFactors(), nullptr);
    EXPECT_EQ(denseInverse(blocks), denseInverse(points));
  }
}

/// The algorithm with blocks of 1: the entries of the scalar factors, D^-1 p in place of p / d.
TEST(BlockAinv, InBlocksOfOneHasTheScalarFactors) {
  for (const char* name : {"poisson5:24x21", "random", "random general"})
    for (const bool stabilized : {true, false})
      for (const DropRule rule : {DropRule::Absolute, DropRule::Relative})
        for (const int max_column : {0, 5}) {
          const bool symmetric = std::string(name) != "random general";
          const HostBsr a = matrixNamed(name);
          AinvParameters parameters = ainv(0.02, Ordering::Natural, stabilized, symmetric);
          parameters.drop_rule = rule;
          parameters.max_column = max_column;
          SCOPED_TRACE(message(name, ", ", nameOf(parameters)));
          const AinvReference expected = referenceOf(a, parameters);
          const PermutedGraph<HostDevice> graph = transpose(HostExec(), a.graph);
          const auto values =
              allocate<double, HostDevice>(HostExec(), "Ainvil::values", a.numEntries());
          gatherBlocks<double, HostDevice>(HostExec(), Trans::No, graph.source, 1, a.values,
                                           values);
          detail::InverseFactorsParameters internal;
          internal.stabilized = stabilized;
          internal.symmetric = symmetric;
          internal.drop_rule = rule;
          internal.drop = 0.02;
          internal.max_column = max_column;
          detail::BlockInverseFactors<double> factors(internal);
          factors.compute(a, symmetric ? a : HostBsr(graph.graph, values, 1));
          const auto columnsOf = [](const detail::BlockColumns<double>& columns) {
            std::vector<SparseColumn> result(columns.begins.size() - 1);
            for (size_t j = 0; j < result.size(); ++j)
              for (Offset e = columns.begins[j]; e < columns.begins[j + 1]; ++e)
                result[j].push_back({columns.rows[e], columns.values[e]});
            return result;
          };
          expectSameColumns(columnsOf(factors.z()), expected.z, 1e-12);
          if (!symmetric)
            expectSameColumns(columnsOf(factors.w()), expected.w, 1e-12);
          expectNear(factors.pivots(), expected.pivots, 1e-12);
        }
}

/// Multiples of the identity act as scalars, dropping included.
TEST(BlockAinv, OfAKroneckerProductIsThatOfTheScalars) {
  const int b = 3;
  for (const bool symmetric : {true, false})
    for (const DropRule rule : {DropRule::Absolute, DropRule::Relative}) {
      const Ordinal n = 40;
      const HostBsr a = matrixFor(symmetric, n, 1, 274);
      const HostBsr product(a.graph,
                            viewOf(std::vector<double>(size_t(a.numEntries()) * b * b, 0.0)), b);
      for (Offset e = 0; e < a.numEntries(); ++e)
        for (int r = 0; r < b; ++r)
          product.values((e * b + r) * b + r) = a.values(e);
      AinvParameters parameters = blockAinv(0.05, Ordering::Natural, true, symmetric);
      parameters.drop_rule = rule;
      Method blocks(parameters), points(parameters);
      setUp(blocks, product);
      setUp(points, a);
      const auto m = denseInverse(points);
      std::vector<double> expected(size_t(n) * b * n * b, 0.0);
      for (size_t i = 0; i < size_t(n) * b; ++i)
        for (size_t j = i % b; j < size_t(n) * b; j += b)
          expected[i * n * b + j] = m[i / b * n + j / b];
      expectSame(denseInverse(blocks), expected, size_t(n) * b, b, 1e-13);
      EXPECT_EQ(blocks.report().factor_entries, points.report().factor_entries * b * b);
    }
}

TEST(BlockAinv, EqualsTheReference) {
  for (const int bs : {2, 3, 5, 9})
    for (const bool symmetric : {true, false})
      for (const bool stabilized : {true, false})
        for (const double drop : {0.1, 0.01, 0.001}) {
          const HostBsr a = matrixFor(symmetric, bs > 4 ? 17 : 33, bs, 275);
          compareBlocks(a, blockAinv(drop, Ordering::Rcm, stabilized, symmetric));
        }
}

TEST(BlockAinv, OfProblemsEqualsTheReference) {
  const HostBsr elasticity = makeProblem("elasticity:4x3x3").matrix;
  const HostBsr shell = makeProblem("shell:4").matrix, cavity = makeProblem("cavity:7").matrix;
  for (const Ordering order : orders)
    for (const double drop : {0.1, 0.03}) {
      compareBlocks(elasticity, blockAinv(drop, order));
      compareBlocks(shell, blockAinv(drop, order), 1e-9);
      compareBlocks(cavity, blockAinv(drop, order, true, false), 1e-9);
    }
}

TEST(BlockAinv, WithEveryRuleEqualsTheReference) {
  for (const bool symmetric : {true, false}) {
    HostBsr a = matrixFor(symmetric, 33, 3, 276);
    for (Ordinal i = 0; i < a.numRows(); ++i) // of scales 1/16 to 16
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        for (int v = 0; v < 9; ++v)
          a.values(e * 9 + v) *= std::ldexp(1.0, (i + v / 3) % 9 - 4) *
                                 std::ldexp(1.0, (a.graph.entries(e) + v % 3) % 9 - 4);
    for (const DropRule rule : {DropRule::Absolute, DropRule::Relative})
      for (const int max_column : {0, 1, 3}) {
        AinvParameters parameters = blockAinv(0.02, Ordering::Natural, true, symmetric);
        parameters.drop_rule = rule;
        parameters.max_column = max_column;
        compareBlocks(a, parameters, 1e-10);
      }
    for (const int parts : {2, 5}) {
      AinvParameters parameters = blockAinv(0.02, Ordering::Rcm, true, symmetric);
      parameters.parts = parts;
      compareBlocks(a, parameters, 1e-10);
    }
  }
}

/// Columns and rows of many lengths.
TEST(BlockAinv, OfLongRowsIsTheInverse) {
  const HostBsr a = spdMatrixOn(longRowsPattern(536), 2, 277);
  Method method(blockAinv(0, Ordering::NestedDissection));
  setUp(method, a);
  const size_t n = size_t(a.numPointRows());
  const auto x = Random(277).vector(n), b = multiply(toDense(a), x, n);
  const auto y = poisoned(n);
  method.apply(Exec(), toDevice(b), y);
  expectNear(toHost(y), x, 1e-11);
}

// ----------------------------------------------------------------------------- computing, applying

TEST(BlockAinv, NewValuesEqualAFreshBuild) {
  for (const bool symmetric : {true, false})
    for (const int parts : {1, 4}) {
      const auto matrix = [&](std::uint64_t seed) {
        return symmetric ? spdMatrixOn(symmetricPattern(120, 5, 278), 3, seed)
                         : matrixOn(randomPattern(120, 5, 278), 3, seed);
      };
      AinvParameters parameters = blockAinv(0.01, Ordering::NestedDissection, true, symmetric);
      parameters.parts = parts;
      SCOPED_TRACE(nameOf(parameters));
      Method reused(parameters);
      setUp(reused, matrix(1));
      for (const std::uint64_t seed : {2, 3, 2}) {
        reused.compute(copyTo<Device>(matrix(seed)));
        Method fresh(parameters);
        setUp(fresh, matrix(seed));
        EXPECT_EQ(reused.blockFactors()->factors().z().values,
                  fresh.blockFactors()->factors().z().values);
        EXPECT_EQ(denseInverse(reused), denseInverse(fresh));
        EXPECT_EQ(reused.report().factor_entries, fresh.report().factor_entries);
      }
    }
}

TEST(BlockAinv, IsSymmetricIfTheMatrixIs) {
  const HostBsr a = spdMatrixOn(symmetricPattern(31, 5, 279), 3, 279);
  for (const Storage storage : {Storage::Native, Storage::Float, Storage::BFloat16})
    for (const bool stabilized : {true, false}) {
      AinvParameters parameters = blockAinv(0.05, Ordering::NestedDissection, stabilized);
      parameters.storage = storage;
      Method method(parameters);
      setUp(method, a);
      const auto m = denseInverse(method);
      expectNear(m, transposed(m, 93), 1e-15);
      expectNear(denseInverse(method, Trans::Yes), m, 0);
    }
}

TEST(BlockAinv, TransposeIdentityAndManyColumns) {
  const HostBsr a = matrixOn(randomPattern(31, 5, 280), 3, 280);
  const size_t n = 93;
  for (const Storage storage : {Storage::Native, Storage::Float, Storage::BFloat16}) {
    AinvParameters parameters = blockAinv(0.02, Ordering::Rcm, true, false);
    parameters.storage = storage;
    Method method(parameters);
    setUp(method, a);
    expectNear(denseInverse(method, Trans::Yes), transposed(denseInverse(method), n), 1e-14);
    const auto x = Random(280).vector(n * 7);
    for (const Trans trans : {Trans::No, Trans::Yes}) {
      const auto many = poisoned(n, 7);
      method.apply(Exec(), toDevice(x, n, 7), many, trans);
      std::vector<double> loop;
      for (size_t c = 0; c < 7; ++c) {
        const auto y = poisoned(n, 1);
        method.apply(Exec(), toDevice(std::vector<double>(&x[c * n], &x[c * n] + n), n, 1), y,
                     trans);
        const auto column = toHost(y);
        loop.insert(loop.end(), column.begin(), column.end());
      }
      expectNear(toHost(many), loop, 1e-15);
    }
  }
}

/// Of a block one index is stored, where the scalar factor has one of each entry.
TEST(BlockAinv, StoresBlocks) {
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 5, 281), 3, 281);
  const auto check = [](const Method& rounded, const Method& in_double, double error) {
    expectRoundedFactors(rounded, in_double, 2 * error);
  };
  forEachRounding<Method>(blockAinv(0.01), a, check);
  Method method(blockAinv(0.01));
  setUp(method, a);
  EXPECT_EQ(method.right().blockSize(), 3);
  EXPECT_EQ(method.left().blockSize(), 3);
  const Offset scalars = method.report().factor_entries, blocks = scalars / 9;
  EXPECT_EQ(scalars, method.blockFactors()->factors().result().entries);
  EXPECT_EQ(method.report().factor_bytes,
            2 * (scalars * Offset(sizeof(double)) + blocks * Offset(sizeof(Ordinal)) +
                 61 * Offset(sizeof(Offset))));
}

TEST(BlockAinv, InSinglePrecision) {
  const HostBsr a = spdMatrixOn(symmetricPattern(40, 5, 282), 3, 282);
  const auto single = copyTo<Device>(inPrecision<float>(a));
  Ainv<float, Device> method(blockAinv(0, Ordering::NestedDissection));
  method.initialize(single);
  method.compute(single);
  const auto x = Random(282).vector(120), b = multiply(toDense(a), x, 120);
  const auto y = poisoned<float>(120);
  method.apply(Exec(), toDevice(std::vector<float>(b.begin(), b.end())), y);
  expectNear(toHost(y), x, 1e-5);
}

TEST(BlockAinv, TellsItsProgress) {
  const HostBsr a = makeProblem("elasticity:12x5x5").matrix;
  Method method(blockAinv(0.1));
  std::vector<Offset> columns;
  method.setProgress([&](const char* phase, Offset done, Offset total) {
    EXPECT_STREQ(phase, "columns");
    EXPECT_EQ(total, a.numRows());
    columns.push_back(done);
  });
  setUp(method, a);
  ASSERT_GE(columns.size(), 4u);
  EXPECT_EQ(columns.back(), a.numRows());
  EXPECT_TRUE(std::is_sorted(columns.begin(), columns.end()));
}

/// No more iterations than with the entries one by one, and fewer than block Jacobi.
TEST(BlockAinv, TakesFewIterations) {
  for (const char* name : {"elasticity:12x4x4", "shell:12"}) {
    const HostBsr a = makeProblem(name).matrix;
    const int blocks = costOfCg(a, "ainv:blocks=yes").iterations;
    EXPECT_LE(blocks, costOfCg(a, "ainv").iterations) << name;
    EXPECT_LT(blocks, costOfCg(a, "jacobi").iterations) << name;
  }
}

TEST(BlockAinv, OfNoRows) {
  const HostBsr a(spdMatrixOn(diagonalPattern(0), 1, 283).graph, {}, 3);
  for (const bool symmetric : {true, false}) {
    Method method(blockAinv(0.1, Ordering::Natural, true, symmetric));
    setUp(method, a);
    EXPECT_EQ(method.report().factor_entries, 0);
  }
}

} // namespace
} // namespace ainvil
