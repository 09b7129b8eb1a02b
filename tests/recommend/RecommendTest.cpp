// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Recommend.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"
#include "Ainvil_Gmres.hpp"
#include "TestSupport.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>

namespace {

using namespace ainvil;

using Matrix = BsrMatrix<double, DefaultDevice>;

/// 1/1024 of a second passes whenever it is read, so that nothing depends on the machine; in powers
/// of two differences of two times are exact, and equal numbers of reads take equal times.
std::function<double()> tickingClock() {
  const auto reads = std::make_shared<int>(0);
  return [reads] { return ++*reads / 1024.0; };
}

RecommendOptions ticking(double budget = 1000) {
  RecommendOptions options;
  options.clock = tickingClock();
  options.budget = budget;
  return options;
}

/// A times ones, and the residual of an x, by dense products.
struct System {
  explicit System(const Matrix& matrix) : a(matrix), dense(test::toDense(matrix)) {
    const size_t n = size_t(a.numPointRows());
    b.assign(n, 0);
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j < n; ++j)
        b[i] += dense[i * n + j];
  }

  double residual(const std::vector<double>& x) const {
    double r_squared = 0, b_squared = 0;
    for (size_t i = 0; i < b.size(); ++i) {
      double r = b[i];
      for (size_t j = 0; j < b.size(); ++j)
        r -= dense[i * b.size() + j] * x[j];
      r_squared += r * r;
      b_squared += b[i] * b[i];
    }
    return std::sqrt(r_squared / b_squared);
  }

  Matrix a;
  std::vector<double> dense, b;
};

Matrix problem(const std::string& name) {
  return copyTo<DefaultDevice>(makeProblem(name).matrix);
}

/// The entries of each row, from the first to the last or the other way round.
Matrix fromDense(const std::vector<std::vector<double>>& rows, bool backwards = false) {
  test::Rows pattern(rows.size());
  std::vector<double> values;
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t k = 0; k < rows[i].size(); ++k) {
      const size_t j = backwards ? rows[i].size() - 1 - k : k;
      if (rows[i][j] == 0)
        continue;
      pattern[i].push_back(static_cast<Ordinal>(j));
      values.push_back(rows[i][j]);
    }
  const Kokkos::View<double*, HostDevice> on_host("values", values.size());
  std::copy(values.begin(), values.end(), on_host.data());
  return copyTo<DefaultDevice>(BsrMatrix<double, HostDevice>(
      test::makeGraph(pattern, static_cast<Ordinal>(rows[0].size())), on_host, 1));
}

/// The answer, run by its options, solves the system.
void expectReproducible(const System& system, const Recommendation& found) {
  ASSERT_TRUE(found.converged());
  EXPECT_LE(system.residual(found.x), 1.001e-8);
  Matrix a = system.a;
  if (found.block_size != a.block_size)
    a = toBlocks<double, DefaultDevice>({}, a, found.block_size);
  const auto m = createPreconditioner(found.specification, a);
  std::vector<double> x(system.b.size(), 0.0);
  const auto result = solve(found.solver, a, m.get(), system.b, x, found.options);
  EXPECT_EQ(result.status, SolveStatus::Converged);
  EXPECT_LE(system.residual(x), 1.001e-8);
}

bool triesCg(const Recommendation& found) {
  return std::any_of(found.race.begin(), found.race.end(),
                     [](const RaceEntry& entry) { return entry.solver == "cg"; });
}

TEST(Recommend, TakesCgForASpdMatrix) {
  const System system(problem("poisson5:16"));
  const auto found = recommend(system.a, system.b, ticking());
  expectReproducible(system, found);
  EXPECT_TRUE(triesCg(found));
  EXPECT_TRUE(found.explanation.empty());
}

TEST(Recommend, SolvesWhatIsNotSymmetricInBlocks) {
  const System system(problem("cavity:8"));
  expectReproducible(system, recommend(system.a, system.b, ticking()));
}

TEST(Recommend, FindsTheBlocksOfAScalarMatrix) {
  const System system(toPoints<double, DefaultDevice>({}, problem("cavity:8")));
  const auto found = recommend(system.a, system.b, ticking());
  expectReproducible(system, found);
  EXPECT_TRUE(std::any_of(found.race.begin(), found.race.end(),
                          [](const RaceEntry& entry) { return entry.block_size == 3; }));
}

TEST(Recommend, SolvesWithZerosOnTheDiagonal) {
  // A cyclic shift and a little more: no diagonal entry at all.
  std::vector<std::vector<double>> rows(60, std::vector<double>(60, 0.0));
  for (int i = 0; i < 60; ++i) {
    rows[i][(i + 1) % 60] = 2 + 0.01 * i;
    rows[i][(i + 7) % 60] = -0.7;
  }
  const System system(fromDense(rows));
  const auto found = recommend(system.a, system.b, ticking());
  expectReproducible(system, found);
}

TEST(Recommend, UnsortedRowsAreSorted) {
  const System sorted(problem("poisson5:9"));
  const size_t n = sorted.b.size();
  std::vector<std::vector<double>> rows(n);
  for (size_t i = 0; i < n; ++i)
    rows[i].assign(sorted.dense.begin() + i * n, sorted.dense.begin() + (i + 1) * n);
  const auto found = recommend(fromDense(rows, true), sorted.b, ticking());
  ASSERT_TRUE(found.converged());
  EXPECT_LE(sorted.residual(found.x), 1.001e-8);
  EXPECT_TRUE(triesCg(found));
}

TEST(Recommend, DecidesAlikeWithAnEqualClock) {
  const System system(problem("cavity:7"));
  const auto first = recommend(system.a, system.b, ticking());
  const auto second = recommend(system.a, system.b, ticking());
  ASSERT_EQ(first.race.size(), second.race.size());
  EXPECT_EQ(first.specification, second.specification);
  for (size_t i = 0; i < first.race.size(); ++i) {
    EXPECT_EQ(first.race[i].text(3), second.race[i].text(3));
    EXPECT_EQ(first.race[i].status, second.race[i].status);
    EXPECT_EQ(first.race[i].iterations, second.race[i].iterations);
  }
  EXPECT_EQ(first.seconds, second.seconds);
}

/// The choices are those of the record, and what converged is so by its own residual.
TEST(Recommend, TheRecordIsConsistent) {
  const System system(problem("poisson5:12"));
  std::vector<std::string> ended;
  RecommendOptions options = ticking();
  options.ended = [&](const RaceEntry& entry, const std::vector<double>& x) {
    ended.push_back(entry.text(1));
    EXPECT_FALSE(entry.status.empty());
    EXPECT_EQ(entry.converged(), entry.reason.empty()) << entry.text(1);
    if (!x.empty()) {
      EXPECT_NEAR(system.residual(x), entry.rel_residual, 1e-3 * entry.rel_residual + 1e-12)
          << entry.text(1);
    }
    if (entry.converged()) {
      EXPECT_LE(system.residual(x), 1.001e-8);
    }
  };
  const auto found = recommend(system.a, system.b, options);
  ASSERT_TRUE(found.converged());
  ASSERT_EQ(ended.size(), found.race.size());
  const RaceEntry& best = found.race[found.best];
  for (size_t i = 0; i < ended.size(); ++i) {
    const RaceEntry& entry = found.race[i];
    EXPECT_EQ(ended[i], entry.text(1));
    EXPECT_LE(entry.began, entry.ended);
    EXPECT_LE(entry.ended, found.seconds);
    if (entry.converged()) {
      EXPECT_LE(best.totalSeconds(), entry.totalSeconds());
      EXPECT_LE(found.race[found.for_many_rhs].solve_seconds, entry.solve_seconds);
    }
  }
  EXPECT_EQ(found.specification, best.precond);
  EXPECT_EQ(found.solver, best.solver);
}

TEST(Recommend, WithoutABudgetNothingIsTried) {
  const System system(problem("poisson5:6"));
  const auto found = recommend(system.a, system.b, ticking(0));
  EXPECT_FALSE(found.converged());
  EXPECT_TRUE(found.race.empty());
  EXPECT_TRUE(found.x.empty());
  EXPECT_FALSE(found.not_tried.empty());
  EXPECT_FALSE(found.explanation.empty());
  EXPECT_EQ(found.specification, "");
}

TEST(Recommend, ALittleBudgetGivesWhatThereIs) {
  const System system(problem("cavity:10"));
  const auto found = recommend(system.a, system.b, ticking(0.04));
  EXPECT_FALSE(found.race.empty());
  for (const RaceEntry& entry : found.race)
    EXPECT_FALSE(entry.status.empty());
  EXPECT_FALSE(found.not_tried.empty());
  EXPECT_LT(found.seconds, 0.5);
}

TEST(Recommend, ProgressMayEndIt) {
  const System system(problem("cavity:40")); // more iterations than GPUs take between two looks
  int calls = 0;
  RecommendOptions options = ticking();
  options.progress = [&](const RaceState& state) {
    EXPECT_GE(state.seconds, 0);
    return ++calls < 4;
  };
  const auto found = recommend(system.a, system.b, options);
  EXPECT_GE(std::count_if(found.race.begin(), found.race.end(),
                          [](const RaceEntry& entry) { return entry.status == "interrupted"; }),
            1);
  EXPECT_FALSE(found.converged());
  EXPECT_LT(calls, 20);
  EXPECT_FALSE(found.not_tried.empty());
}

TEST(Recommend, WhatProgressThrowsComesOut) {
  const System system(problem("poisson5:6"));
  RecommendOptions options = ticking();
  options.progress = [](const RaceState&) -> bool { throw std::runtime_error("enough"); };
  EXPECT_THROW(recommend(system.a, system.b, options), std::runtime_error);
}

/// The residual of another system decides, where the caller has one.
TEST(Recommend, GoesOnUntilTheCallersResidualIsSmall) {
  const System system(problem("poisson5:12"));
  RecommendOptions options = ticking();
  options.residual = [&](const std::vector<double>& x) { return 100 * system.residual(x); };
  const auto found = recommend(system.a, system.b, options);
  ASSERT_TRUE(found.converged());
  EXPECT_LE(system.residual(found.x), 1.001e-10);
  options.residual = [](const std::vector<double>&) { return 1.0; };
  const auto none = recommend(system.a, system.b, options);
  EXPECT_FALSE(none.converged());
  EXPECT_TRUE(std::any_of(none.race.begin(), none.race.end(),
                          [](const RaceEntry& entry) { return entry.status == "stagnated"; }));
}

/// Bytes of factors and of the vectors of GMRES, which keeps no more of them than it takes
/// iterations. No time passes, so that nobody is dropped for being slow.
TEST(Recommend, TheSmallestTakesTheFewestBytes) {
  const System system(problem("poisson5:16"));
  RecommendOptions options;
  options.clock = [] { return 0.0; };
  options.solver = "gmres";
  options.restart = 100;
  options.preconds = {"none", "ilu:level=2", "jacobi", "ilu"};
  const auto found = recommend(system.a, system.b, options);
  ASSERT_EQ(found.race.size(), 4u);
  const auto bytes = [&](const RaceEntry& entry, int vectors) {
    return double(entry.factor_bytes) + (vectors + 3) * 8.0 * double(system.b.size());
  };
  const RaceEntry& smallest = found.race[found.smallest];
  bool restart_decides_otherwise = false;
  for (const RaceEntry& entry : found.race) {
    ASSERT_TRUE(entry.converged()) << entry.text(1);
    EXPECT_LE(bytes(smallest, smallest.iterations), bytes(entry, entry.iterations))
        << entry.text(1);
    restart_decides_otherwise |= bytes(entry, 100) < bytes(smallest, 100);
  }
  EXPECT_TRUE(restart_decides_otherwise);
}

/// Time passes eight times as fast while the first one solves, which is then too slow for a
/// play-off in however many pieces the second one is set up: that is fewer with more threads, and
/// the clock is read at each.
TEST(Recommend, ForManyValuesComputeAndSolveCount) {
  if (compat::IsGpu<DefaultDevice::execution_space>::value)
    GTEST_SKIP() << "the clock is read at looks of the host, which are rarer";
  const System system(problem("poisson5:16"));
  RecommendOptions options;
  options.budget = 1000;
  double time = 0, tick = 1 / 1024.0;
  options.clock = [&] { return time += tick; };
  options.progress = [&](const RaceState& state) {
    const bool solves_with_none = state.running != nullptr && state.running->precond == "none" &&
                                  state.running->setupSeconds() > 0;
    tick = (solves_with_none ? 8 : 1) / 1024.0;
    return true;
  };
  options.solver = "gmres";
  options.tolerance = 0.2;
  options.preconds = {"none", "ilu:level=2"};
  const auto found = recommend(system.a, system.b, options);
  ASSERT_EQ(found.race.size(), 2u);
  const RaceEntry &none = found.race[0], &ilu = found.race[1];
  ASSERT_TRUE(none.converged() && ilu.converged());
  ASSERT_LE(none.compute_seconds, ilu.compute_seconds);
  ASSERT_GT(none.compute_seconds + none.solve_seconds, ilu.compute_seconds + ilu.solve_seconds);
  EXPECT_EQ(found.for_many_values, 1);
}

/// The set-up of the first one is made to take long: what grows from it would take twice as long.
TEST(Recommend, SetUpsAreExpectedToGrowFromThatOfAnother) {
  if (compat::IsGpu<DefaultDevice::execution_space>::value)
    GTEST_SKIP() << "ic:level=1 is for hosts";
  const System system(problem("poisson5:12"));
  RecommendOptions options;
  double time = 0;
  bool is_slow = false;
  options.clock = [&] { return time += is_slow ? 0.1 : 1e-5; };
  options.progress = [&](const RaceState& state) {
    is_slow = state.running != nullptr && state.running->precond == "ic" &&
              state.running->setupSeconds() == 0;
    return true;
  };
  const auto found = recommend(system.a, system.b, options);
  const auto ic = std::find_if(found.race.begin(), found.race.end(),
                               [](const RaceEntry& entry) { return entry.precond == "ic"; });
  ASSERT_NE(ic, found.race.end());
  const std::string sentence = "cg ic:level=1: its set-up would take about ";
  const auto line = std::find_if(
      found.not_tried.begin(), found.not_tried.end(),
      [&](const std::string& configuration) { return configuration.rfind(sentence, 0) == 0; });
  ASSERT_NE(line, found.not_tried.end());
  EXPECT_NEAR(std::stod(line->substr(sentence.size())), 2 * ic->setupSeconds(),
              0.01 * ic->setupSeconds());
}

/// Where the solver has to go on, its iterations are those of all its solves.
TEST(Recommend, IterationsAreThoseOfAllSolves) {
  const System system(problem("poisson5:16"));
  RecommendOptions options = ticking();
  options.solver = "cg";
  options.preconds = {"jacobi"};
  const auto once = recommend(system.a, system.b, options);
  options.clock = tickingClock();
  options.residual = [&](const std::vector<double>& x) { return 100 * system.residual(x); };
  const auto twice = recommend(system.a, system.b, options);
  ASSERT_TRUE(once.converged() && twice.converged());
  EXPECT_GT(twice.race[0].iterations, once.race[0].iterations);
}

TEST(Recommend, ASingularSystemIsExplained) {
  // Differences along a ring: singular; and b is not in the range.
  std::vector<std::vector<double>> rows(50, std::vector<double>(50, 0.0));
  for (int i = 0; i < 50; ++i) {
    rows[i][i] = 2;
    rows[i][(i + 1) % 50] = rows[i][(i + 49) % 50] = -1;
  }
  const Matrix a = fromDense(rows);
  const auto found = recommend(a, std::vector<double>(50, 1.0), ticking(60));
  EXPECT_FALSE(found.converged());
  EXPECT_FALSE(found.race.empty());
  for (const RaceEntry& entry : found.race)
    EXPECT_FALSE(entry.converged());
  ASSERT_GE(found.explanation.size(), 2u);
  EXPECT_NE(found.explanation.front().find("none of"), std::string::npos);
  EXPECT_NE(found.explanation.back().find("left to try"), std::string::npos);
}

TEST(Recommend, EmptyAndZeroSystems) {
  const auto empty = recommend(Matrix(), std::vector<double>(), ticking());
  EXPECT_TRUE(empty.converged());
  const System system(problem("poisson5:6"));
  const auto zero = recommend(system.a, std::vector<double>(36, 0.0), ticking());
  EXPECT_TRUE(zero.converged());
  EXPECT_EQ(zero.x, std::vector<double>(36, 0.0));
}

TEST(Recommend, NaNConvergesNowhere) {
  System system(problem("poisson5:6"));
  system.b[3] = std::nan("");
  EXPECT_FALSE(recommend(system.a, system.b, ticking(10)).converged());
}

TEST(Recommend, FloatTakesItsOwn) {
  const System system(problem("poisson5:12"));
  const auto host = test::inPrecision<float>(copyTo<HostDevice>(system.a));
  RecommendOptions options = ticking();
  options.tolerance = 1e-4;
  const auto found = recommend(copyTo<DefaultDevice>(host),
                               std::vector<float>(system.b.begin(), system.b.end()), options);
  ASSERT_TRUE(found.converged());
  EXPECT_LE(system.residual(found.x), 1.1e-4);
}

TEST(Recommend, OfGivenPreconditionersForTheUsualSolver) {
  for (const auto& [name, usual] :
       {std::pair("poisson5:12", "cg"), std::pair("cavity:8", "gmres")}) {
    const System system(problem(name));
    RecommendOptions options = ticking();
    options.preconds = {"jacobi", "ilu:level=1", "ilu"};
    const Recommendation found = recommend(system.a, system.b, options);
    EXPECT_TRUE(found.converged());
    EXPECT_EQ(found.race.size(), 3u);
    for (const RaceEntry& entry : found.race) {
      EXPECT_EQ(entry.solver, usual);
      EXPECT_EQ(std::count(options.preconds.begin(), options.preconds.end(), entry.precond), 1)
          << entry.precond;
      EXPECT_EQ(entry.block_size, system.a.block_size);
    }
    options = ticking();
    options.solver = "bicgstab";
    options.preconds = {"jacobi"};
    EXPECT_EQ(recommend(system.a, system.b, options).solver, "bicgstab");
    options.preconds = {"jacobi", "jakobi"};
    EXPECT_THROW(recommend(system.a, system.b, options), InvalidArgument);
  }
}

TEST(Recommend, RefusesBadInput) {
  const System system(problem("poisson5:6"));
  const auto refuse = [&](const std::function<void(RecommendOptions&)>& spoil) {
    RecommendOptions options = ticking();
    spoil(options);
    EXPECT_THROW(recommend(system.a, system.b, options), InvalidArgument);
  };
  refuse([](RecommendOptions& o) { o.tolerance = 0; });
  refuse([](RecommendOptions& o) { o.tolerance = 1; });
  refuse([](RecommendOptions& o) { o.tolerance = std::nan(""); });
  refuse([](RecommendOptions& o) { o.budget = -1; });
  refuse([](RecommendOptions& o) { o.budget = std::nan(""); });
  refuse([](RecommendOptions& o) { o.max_iterations = -1; });
  EXPECT_THROW(recommend(system.a, std::vector<double>(35, 1.0), ticking()), InvalidArgument);
  const Matrix wide = fromDense({{1, 1}});
  EXPECT_THROW(recommend(wide, std::vector<double>(1, 1.0), ticking()), InvalidArgument);
}

} // namespace
