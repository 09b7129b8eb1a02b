// SPDX-License-Identifier: BSD-3-Clause
#include "precond/fsai/FsaiSupport.hpp"

#include "Ainvil_Factory.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace {

using namespace test;
using Method = FsaiMethod;

TEST(Fsai, IndefiniteMatricesMeetThePolicy) {
  HostBsr a = spdMatrixOn(symmetricPattern(40, 4, 112), 2, 112);
  // Block rows 7 and 23 get a negative diagonal, so every system that reaches them fails.
  for (const Ordinal i : {7, 23})
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      if (a.graph.entries(e) == i)
        a.values(4 * e) = -3;
  FsaiParameters<Device> parameters = fsai(0, 1, 0);
  Method failing(parameters);
  try {
    setUp(failing, a);
    FAIL() << "no exception";
  } catch (const BreakdownError& error) {
    EXPECT_NE(std::string(error.what()).find("the first in block row 8 (counted from 1)"),
              std::string::npos)
        << error.what();
  }
  Ordinal expected = 0;
  const Pattern lower = lowerPowerOf(patternOf(a.graph), 1);
  for (const auto& row : lower)
    expected += row.count(7) + row.count(23) > 0 ? 1 : 0;
  for (const BreakdownPolicy policy : {BreakdownPolicy::Shift, BreakdownPolicy::Replace}) {
    parameters.breakdown = policy;
    Method method(parameters);
    setUp(method, a);
    EXPECT_EQ(method.report().breakdowns, expected);
    EXPECT_EQ(method.report().first_breakdown, 7);
    for (const double value : toHost(method.factor().native().values))
      EXPECT_TRUE(std::isfinite(value));
  }
}

/// Rows 0 and 5 of A lack their diagonal, and row 0 all that is left of it.
TEST(Fsai, HasADiagonalWhereTheMatrixHasNone) {
  for (const int block_size : {1, 6}) {
    HostBsr a = matrixOn({{1}, {0, 1, 2}, {1, 2, 3, 5}, {2, 3}, {4}, {2}}, block_size, 115);
    for (Ordinal i = 0; i < a.numRows(); ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        for (int k = 0; k < block_size * block_size; ++k) {
          const bool pivot = a.graph.entries(e) == i && k % (block_size + 1) == 0;
          a.values(e * block_size * block_size + k) = pivot ? 4 : 0.1;
        }
    for (const char* specification :
         {"filter=0", "tau=0.01", "max-row=2", "adaptive=3,filter=0", "adaptive=2,max-row=2"}) {
      SCOPED_TRACE(message("block size ", block_size, ", ", specification));
      const auto method = createPreconditioner<double, Device>(
          message("fsai:", specification, ",breakdown=replace"));
      const auto matrix = copyTo<Device>(a);
      method->initialize(matrix);
      method->compute(matrix);
      EXPECT_GE(method->report().breakdowns, 2);
      EXPECT_EQ(method->report().first_breakdown, 0);
      const auto& factor = dynamic_cast<const Method&>(*method).factor().native();
      const auto row_map = toHost(factor.graph.row_map);
      const auto entries = toHost(factor.graph.entries);
      for (Ordinal i = 0; i < a.numRows(); ++i) {
        ASSERT_LT(row_map[i], row_map[i + 1]) << i;
        EXPECT_EQ(entries[row_map[i + 1] - 1], i);
      }
      for (const double value : toHost(factor.values))
        EXPECT_TRUE(std::isfinite(value));
    }
  }
}

TEST(Fsai, ShiftSavesWhatIsNearlyDefinite) {
  // [1 1; 1 1 - 1e-6]: not SPD, with twice the shift it is.
  HostBsr a = matrixOn({{0, 1}, {0, 1}}, 1, 113);
  const double values[] = {1, 1, 1, 1 - 1e-6};
  std::copy(values, values + 4, a.values.data());
  FsaiParameters<Device> parameters = fsai(0, 1, 0);
  parameters.breakdown = BreakdownPolicy::Shift;
  Method shifted(parameters);
  setUp(shifted, a);
  EXPECT_EQ(shifted.report().breakdowns, 1);
  const auto g = toDense(factorOf(shifted));
  EXPECT_NE(g[2], 0.0);
  parameters.breakdown = BreakdownPolicy::Replace;
  Method replaced(parameters);
  setUp(replaced, a);
  EXPECT_EQ(toDense(factorOf(replaced))[2], 0.0);
}

TEST(Fsai, RefusesUnsymmetricMatrices) {
  for (const double difference : {1e-3, 1e-6}) {
    const HostBsr a = spdMatrixOn(symmetricPattern(30, 4, 114), 1, 114);
    const Offset last = a.graph.row_map(6) - 1;
    ASSERT_GT(a.graph.entries(last), 5) << "row 5 has no entry above the diagonal";
    a.values(last) += difference;
    Method method(fsai(0, 1, 0));
    try {
      setUp(method, a);
      ADD_FAILURE() << "no exception";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what())
                    .find("2 blocks differ from their mirror image, the first "
                          "in block row 6 (counted from 1):"),
                std::string::npos)
          << error.what();
    }
  }
}

TEST(Fsai, RefusesParametersOutOfRange) {
  const auto refused = [](auto change) {
    FsaiParameters<Device> parameters;
    change(parameters);
    EXPECT_THROW((Method(parameters)), InvalidArgument);
  };
  using P = FsaiParameters<Device>;
  refused([](P& p) { p.tau = -0.1; });
  refused([](P& p) { p.tau = 1; });
  refused([](P& p) { p.tau = std::nan(""); });
  refused([](P& p) { p.power = -1; });
  refused([](P& p) { p.max_row = -1; });
  refused([](P& p) { p.filter = 1; });
  refused([](P& p) { p.filter = -1; });
  refused([](P& p) { p.shift = 0; });
  refused([](P& p) { p.chunk_bytes = 0; });
}

TEST(Fsai, RefusesToldRowsOfAnotherMatrix) {
  const HostBsr a = spdMatrixOn(symmetricPattern(20, 4, 116), 2, 116);
  for (const size_t rows : {19, 20, 21, 40}) {
    FsaiParameters<Device> parameters = fsai(0, 1, 0);
    parameters.wanted = Kokkos::View<char*, Device>("wanted", rows);
    Method method(parameters);
    if (rows == 20)
      EXPECT_NO_THROW(setUp(method, a));
    else
      EXPECT_THROW(setUp(method, a), InvalidArgument) << rows;
  }
}

} // namespace
} // namespace ainvil
