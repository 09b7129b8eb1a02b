// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// What happens to single rows of G: those that are not wanted, that fail, that are filtered.

#include "precond/fsai/FsaiSupport.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

namespace ainvil {
namespace {

using namespace test;
using Method = FsaiMethod;

/// Rows at the edge of a part of a matrix: the block of their own, the others as ever.
TEST(FsaiRows, ThatAreNotWantedAreDiagonal) {
  const Ordinal n = 40;
  for (const int bs : {1, 3}) {
    const HostBsr a = spdMatrixOn(symmetricPattern(n, 4, 121), bs, 121);
    std::vector<char> wanted(n, 1);
    for (const Ordinal i : {0, 7, 8, 31, 39})
      wanted[i] = 0;
    FsaiParameters<Device> parameters = fsai(0, 2, 0);
    Method whole(parameters), diagonal(fsai(0, 0, 0));
    parameters.wanted = toDevice(wanted);
    Method part(parameters);
    for (Method* method : {&whole, &diagonal, &part})
      setUp(*method, a);
    const HostBsr found = factorOf(part);
    const auto row = [&](const HostBsr& g, Ordinal i) {
      const Offset begin = g.graph.row_map(i), end = g.graph.row_map(i + 1);
      return std::make_pair(
          std::vector<Ordinal>(g.graph.entries.data() + begin, g.graph.entries.data() + end),
          std::vector<double>(g.values.data() + begin * bs * bs, g.values.data() + end * bs * bs));
    };
    for (Ordinal i = 0; i < n; ++i) {
      const auto expected = row(factorOf(wanted[i] != 0 ? whole : diagonal), i);
      EXPECT_EQ(row(found, i).first, expected.first) << i;
      expectNear(row(found, i).second, expected.second, 1e-14);
    }
    wanted.pop_back();
    parameters.wanted = toDevice(wanted);
    Method refused(parameters);
    EXPECT_THROW(setUp(refused, a), InvalidArgument);
  }
}

/// The shift mends the rows that have failed, and those alone: the others are what they are without
/// it, and a mended row is that of the matrix with (1 + shift) times its diagonal.
TEST(FsaiRows, ThatHaveFailedAreShiftedAlone) {
  for (const int bs : {1, 2}) {
    const Pattern pattern = symmetricPattern(40, 3, 119);
    const HostBsr good = spdMatrixOn(pattern, bs, 119), a = spdMatrixOn(pattern, bs, 119),
                  inflated = spdMatrixOn(pattern, bs, 119);
    const double shift = 9; // makes 30 of the 3 that row 25 is left with
    for (Ordinal i = 0; i < 40; ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        if (a.graph.entries(e) == i)
          for (int r = 0; r < bs; ++r) {
            const Offset at = (e * bs + r) * bs + r;
            if (i == 25)
              a.values(at) = 0.25;
            inflated.values(at) = (1 + shift) * a.values(at);
          }
    FsaiParameters<Device> parameters = fsai(0, 1, 0);
    parameters.breakdown = BreakdownPolicy::Shift;
    parameters.shift = shift;
    Method shifted(parameters), of_good(fsai(0, 1, 0)), of_inflated(fsai(0, 1, 0));
    setUp(shifted, a);
    setUp(of_good, good);
    setUp(of_inflated, inflated);
    const HostBsr g = factorOf(shifted), expected_good = factorOf(of_good),
                  expected_inflated = factorOf(of_inflated);
    int mended = 0, untouched = 0;
    for (Ordinal i = 0; i < 40; ++i) {
      const Offset begin = g.graph.row_map(i) * bs * bs, end = g.graph.row_map(i + 1) * bs * bs;
      const auto row = [&](const HostBsr& factor) {
        return std::vector<double>(factor.values.data() + begin, factor.values.data() + end);
      };
      const bool meets_25 = patternOf(g.graph)[i].count(25) > 0;
      if (!meets_25) {
        expectNear(row(g), row(expected_good), 1e-14, message("row ", i));
        ++untouched;
      } else if (std::abs(row(g).back() / row(expected_inflated).back() - 1) < 1e-12) {
        expectNear(row(g), row(expected_inflated), 1e-14, message("row ", i));
        ++mended;
      }
    }
    EXPECT_EQ(mended, shifted.report().breakdowns);
    EXPECT_GE(mended, 1);
    EXPECT_GE(untouched, 30);
  }
}

/// Rows of G whose diagonal is below the filter keep it all the same, and nothing else here.
TEST(FsaiRows, KeepTheirDiagonalWhateverTheFilter) {
  for (const int bs : {1, 2}) {
    const HostBsr a = spdMatrixOn({{0, 1}, {0, 1}, {2}}, bs, 120);
    const double coupling[] = {1, 0.99, 0.99, 1, 1}; // g_11 : g_10 = 1 : -0.99
    for (Offset e = 0; e < 5; ++e)
      for (int k = 0; k < bs * bs; ++k)
        a.values(e * bs * bs + k) = k % (bs + 1) == 0 ? coupling[e] : 0;
    Method method(fsai(0, 1, 0.9));
    setUp(method, a);
    EXPECT_EQ(patternOf(factorOf(method).graph), diagonalPattern(3));
    expectUnitDiagonal(method, a, 1e-13);
  }
}

} // namespace
} // namespace ainvil
