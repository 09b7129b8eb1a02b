// SPDX-License-Identifier: BSD-3-Clause
#include "precond/spai/SpaiSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ainvil {
namespace {

using namespace test;

SpaiParameters<Device> adaptive(int steps, int per_step, double eps, int power = 0) {
  SpaiParameters<Device> parameters;
  parameters.adaptive = {steps, per_step, eps, power};
  return parameters;
}

/// E_i - M_i A, row after row, for M of the pattern.
std::vector<double> residualOf(const std::vector<double>& a, const Rows& pattern, int bs) {
  const size_t n = pattern.size() * bs;
  auto r = multiply(reference(a, pattern, bs), a, n);
  for (size_t e = 0; e < n * n; ++e)
    r[e] = (e % (n + 1) == 0 ? 1 : 0) - r[e];
  return r;
}

/// ||E_i - M_i A||_F
double rowNorm(const std::vector<double>& r, size_t i, int bs, size_t n) {
  double squares = 0;
  for (size_t e = i * bs * n; e < (i + 1) * bs * n; ++e)
    squares += r[e] * r[e];
  return std::sqrt(squares);
}

/// The pattern with every row's best new columns, found by looking at all.
Rows grown(const std::vector<double>& a, const Rows& pattern, int bs, int per_step, double eps) {
  const size_t n = pattern.size() * bs;
  const auto r = residualOf(a, pattern, bs);
  Rows next = pattern;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (rowNorm(r, i, bs, n) <= eps * std::sqrt(bs))
      continue;
    std::vector<std::pair<double, Ordinal>> gains;
    for (Ordinal k = 0; k < Ordinal(pattern.size()); ++k) {
      double gain = 0;
      for (int s = 0; s < bs; ++s)
        for (int point = 0; point < bs; ++point) {
          double product = 0, squares = 0;
          for (size_t c = 0; c < n; ++c) {
            const double entry = a[(size_t(k) * bs + s) * n + c];
            product += entry * r[(i * bs + point) * n + c];
            squares += entry * entry;
          }
          gain += product * product / squares;
        }
      if (std::find(pattern[i].begin(), pattern[i].end(), k) == pattern[i].end() && gain > 0)
        gains.push_back({-gain, k});
    }
    std::sort(gains.begin(), gains.end());
    for (size_t k = 0; k < std::min<size_t>(gains.size(), per_step); ++k)
      next[i].push_back(gains[k].second);
    std::sort(next[i].begin(), next[i].end());
  }
  return next;
}

TEST(SpaiAdaptive, TakesWhatGainsMost) {
  for (const int bs : {1, 3}) {
    const HostBsr a = matrixOn(randomPattern(60, 5, 221), bs, 221);
    Rows expected(60);
    for (Ordinal i = 0; i < 60; ++i)
      expected[i] = {i};
    for (const int steps : {1, 2, 3}) {
      expected = grown(toDense(a), expected, bs, 3, 0.3);
      SpaiMethod method(adaptive(steps, 3, 0.3));
      setUp(method, a);
      EXPECT_EQ(rowsOf(method.inverse().graph()), expected) << bs << ", " << steps << " steps";
      expectNear(denseInverse(method), reference(toDense(a), expected, bs), 1e-11);
    }
  }
}

/// Rows of A, and columns that lead to candidates, of up to 300 entries.
TEST(SpaiAdaptive, LongRows) {
  const HostBsr a = matrixOn(longRowsPattern(536), 1, 222);
  Rows expected(536);
  for (Ordinal i = 0; i < 536; ++i)
    expected[i] = {i};
  for (int step = 0; step < 2; ++step)
    expected = grown(toDense(a), expected, 1, 5, 0.1);
  SpaiMethod method(adaptive(2, 5, 0.1));
  setUp(method, a);
  EXPECT_EQ(rowsOf(method.inverse().graph()), expected);
}

TEST(SpaiAdaptive, RowsGrowUntilTheirResidualIsSmall) {
  for (const int bs : {1, 2}) {
    const HostBsr a = matrixOn(randomPattern(80, 4, 223), bs, 223);
    const double eps = 0.1;
    SpaiMethod method(adaptive(80, 1, eps));
    setUp(method, a);
    const Rows rows = rowsOf(method.inverse().graph());
    const auto r = residualOf(toDense(a), rows, bs);
    std::set<size_t> lengths;
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_LE(rowNorm(r, i, bs, 80 * bs), eps * std::sqrt(bs) * (1 + 1e-12)) << i;
      lengths.insert(rows[i].size());
    }
    EXPECT_GT(lengths.size(), 2u);
  }
}

TEST(SpaiAdaptive, ManyStepsGiveTheInverse) {
  const HostBsr a = matrixOn(randomPattern(20, 3, 224), 2, 224);
  SpaiMethod method(adaptive(30, 4, 0));
  setUp(method, a);
  expectNear(denseInverse(method), inverse(toDense(a), 40), 1e-11);
}

TEST(SpaiAdaptive, StartsFromAPowerOrAPatternOfTheUsers) {
  const HostBsr a = matrixOn(randomPattern(40, 3, 225), 1, 225);
  SpaiMethod by_power(adaptive(1, 2, 0.01, 1));
  setUp(by_power, a);
  EXPECT_EQ(rowsOf(by_power.inverse().graph()), grown(toDense(a), rowsOf(a.graph), 1, 2, 0.01));
  Rows user(40);
  for (Ordinal i = 0; i < 40; ++i)
    for (const Ordinal j : std::set<Ordinal>{i, (i + 7) % 40})
      user[i].push_back(j);
  SpaiParameters<Device> parameters = spaiOn(user);
  parameters.adaptive = adaptive(1, 2, 0.01).adaptive;
  SpaiMethod by_user(parameters);
  setUp(by_user, a);
  EXPECT_EQ(rowsOf(by_user.inverse().graph()), grown(toDense(a), user, 1, 2, 0.01));
}

/// The pattern is that of the values that initialize() saw.
TEST(SpaiAdaptive, NewValuesKeepThePattern) {
  const Pattern pattern = randomPattern(50, 4, 226);
  const HostBsr a = matrixOn(pattern, 1, 226), other = matrixOn(pattern, 1, 227);
  SpaiMethod method(adaptive(3, 2, 0.1));
  method.initialize(copyTo<Device>(a));
  method.compute(copyTo<Device>(other));
  Rows expected(50);
  for (Ordinal i = 0; i < 50; ++i)
    expected[i] = {i};
  for (int step = 0; step < 3; ++step)
    expected = grown(toDense(a), expected, 1, 2, 0.1);
  EXPECT_EQ(rowsOf(method.inverse().graph()), expected);
  expectNear(denseInverse(method), reference(toDense(other), expected, 1), 1e-11);
}

/// Rank deficient rows and rows of zeros grow no more, and meet the policy at compute().
TEST(SpaiAdaptive, DependentRowsMeetThePolicy) {
  const HostBsr a = matrixOn(randomPattern(30, 3, 228), 2, 228);
  for (Offset e = 4 * a.graph.row_map(11); e < 4 * a.graph.row_map(12); ++e)
    a.values(e) = 0;
  SpaiParameters<Device> parameters = adaptive(3, 2, 0.1);
  SpaiMethod failing(parameters);
  EXPECT_THROW(setUp(failing, a), BreakdownError);
  parameters.breakdown = BreakdownPolicy::Replace;
  SpaiMethod method(parameters);
  setUp(method, a);
  EXPECT_EQ(method.report().breakdowns, 1); // a row of zeros gains nobody anything
  EXPECT_EQ(method.report().first_breakdown, 11);
  EXPECT_EQ(rowsOf(method.inverse().graph())[11], std::vector<Ordinal>{11});
}

TEST(SpaiAdaptive, HasParametersOfItsOwn) {
  const auto describe = [](const char* specification) {
    return createPreconditioner<double, Device>(specification)->description();
  };
  EXPECT_EQ(describe("spai:power=2"), "spai: {power: 2, storage: double}");
  EXPECT_EQ(describe("spai:adaptive=2"),
            "spai: {power: 0, adaptive: 2, per-step: 4, eps: 0.2, storage: double}");
  EXPECT_THROW(describe("spai:eps=0.3"), InvalidArgument);
}

/// Pieces of a hundredth of the rows give the same as one launch, bit by bit.
TEST(Spai, TellsItsProgressAndComputesTheSame) {
  const HostBsr a = makeProblem("cavity:25").matrix;
  for (const char* method : {"spai", "spai:adaptive=2"}) {
    SCOPED_TRACE(method);
    const auto plain = createPreconditioner<double, Device>(method);
    const auto told = createPreconditioner<double, Device>(method);
    setUp(*plain, a);
    std::vector<Offset> rows;
    told->setProgress([&](const char* phase, Offset done, Offset total) {
      EXPECT_STREQ(phase, "rows");
      EXPECT_EQ(total, a.numRows());
      rows.push_back(done);
    });
    setUp(*told, a);
    const size_t n = size_t(a.numPointRows());
    const auto x = toDevice(Random(5).vector(n), n, 1);
    const auto y = poisoned(n, 1), z = poisoned(n, 1);
    plain->apply(Exec(), x, y);
    told->apply(Exec(), x, z);
    EXPECT_EQ(toHost(z), toHost(y));
    ASSERT_GE(rows.size(), 3u);
    EXPECT_EQ(rows.back(), a.numRows());
    EXPECT_LE(*std::max_element(rows.begin(), rows.end()), a.numRows());
    told->setProgress([](const char*, Offset, Offset) { throw std::runtime_error("enough"); });
    EXPECT_THROW(told->compute(copyTo<Device>(a)), std::runtime_error);
    told->setProgress({});
    told->compute(copyTo<Device>(a));
  }
}

} // namespace
} // namespace ainvil
