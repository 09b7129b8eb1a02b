// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Recommend.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"
#include "KokkosObservers.hpp"
#include "Refusal.hpp"
#include "TestSupport.hpp"
#include "gallery/Ainvil_Gallery.hpp"

namespace {

using namespace ainvil;

using Device = DefaultDevice;
using Exec = Device::execution_space;
using Matrix = BsrMatrix<double, Device>;

Matrix problem(const std::string& name) {
  return copyTo<Device>(makeProblem(name).matrix);
}

/// The same pattern with all values times a factor.
Matrix scaled(const Matrix& a, double factor) {
  const auto host = copyTo<HostDevice>(a);
  for (size_t i = 0; i < host.values.extent(0); ++i)
    host.values(i) *= factor;
  return copyTo<Device>(host);
}

Auto<double, Device> makeAuto(RaceSolver solver) {
  AutoParameters parameters;
  parameters.solver = solver;
  return Auto<double, Device>(parameters);
}

std::vector<double> applied(const Preconditioner<double, Device>& m, Trans trans = Trans::No) {
  const auto x =
      test::toDevice(test::Random(7).vector(size_t(m.numPointRows())), m.numPointRows(), 1);
  const auto y = test::poisoned(m.numPointRows(), 1);
  m.apply(Exec(), x, y, trans);
  return test::toHost(y);
}

/// No solve in float reaches the default of 1e-8: the race is for what it can reach.
TEST(Auto, InFloatRacesForWhatFloatResolves) {
  const auto host = makeProblem("poisson5:20").matrix;
  const auto a = copyTo<Device>(test::inPrecision<float>(host));
  for (const RaceSolver solver : {RaceSolver::Cg, RaceSolver::Gmres}) {
    AutoParameters parameters;
    parameters.solver = solver;
    Auto<float, Device> m(parameters);
    m.initialize(a);
    m.compute(a);
    EXPECT_EQ(m.report().notes.find("none of which converged"), std::string::npos)
        << m.report().notes;
  }
}

/// What was chosen, set up anew; up to rounding, for GPUs add in any order.
void expectIsWhatItChose(const Auto<double, Device>& m, const Matrix& a) {
  const auto chosen = createPreconditioner(m.chosen(), a);
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    const auto y = applied(m, trans), expected = applied(*chosen, trans);
    double size = 0;
    for (const double value : expected)
      size = std::max(size, std::fabs(value));
    for (size_t i = 0; i < y.size(); ++i)
      ASSERT_NEAR(y[i], expected[i], 1e-12 * size) << m.chosen() << ", entry " << i;
  }
  EXPECT_EQ(m.report().factor_entries, chosen->report().factor_entries);
  auto phases = m.inner()->report().phases.phases();
  ASSERT_EQ(m.report().phases.phases().size(), phases.size() + 1);
  phases.push_back(m.report().phases.phases().back());
  EXPECT_EQ(m.report().phases.phases(), phases); // of its last compute
  EXPECT_EQ(phases.back().first, "race");
}

TEST(Auto, IsWhatItChose) {
  for (const char* name : {"poisson5:12", "cavity:8"}) {
    const Matrix a = problem(name);
    auto m = makeAuto(RaceSolver::Gmres);
    EXPECT_EQ(m.chosen(), "");
    m.initialize(a);
    m.compute(a);
    expectIsWhatItChose(m, a);
    EXPECT_NE(m.report().notes.find("chose " + m.chosen()), std::string::npos);
    EXPECT_NE(m.description().find("chosen: "), std::string::npos);
  }
}

TEST(Auto, ASecondComputeKeepsTheChoiceAndAllocatesNothing) {
  const Matrix a = problem("cavity:8"), b = scaled(a, 3);
  auto m = makeAuto(RaceSolver::Gmres);
  m.initialize(a);
  m.compute(a);
  const std::string chosen = m.chosen();
  m.compute(b);
  {
    const test::InstanceRecorder seen;
    m.compute(b);
    EXPECT_TRUE(seen.allocations().empty());
  }
  EXPECT_EQ(m.chosen(), chosen);
  expectIsWhatItChose(m, b);
  m.initialize(a);
  EXPECT_EQ(m.chosen(), ""); // another race
}

TEST(Auto, WhatItChoosesForASolverServesThatSolver) {
  const Matrix a = problem("poisson5:12");
  const std::vector<double> b(size_t(a.numPointRows()), 1.0);
  for (const char* solver : {"gmres", "fgmres", "cg", "bicgstab"}) {
    const auto m = createPreconditioner(std::string("auto:solver=") + solver, a);
    std::vector<double> x(b.size(), 0.0);
    const auto result = solve(solver, a, m.get(), b, x, SolverOptions());
    EXPECT_EQ(result.status, SolveStatus::Converged) << solver << ", " << m->description();
  }
}

/// Rows of very different sizes, which GMRES alone does not get along with; `ilu` is exact, and
/// breaks down where the first pivot is zero.
TEST(Auto, ABreakdownIsFollowedByAnotherRace) {
  const auto matrix = [](double first) {
    const Ordinal n = 60;
    test::Rows rows;
    std::vector<double> values;
    for (Ordinal i = 0; i < n; ++i) {
      rows.emplace_back();
      for (Ordinal j = std::max(0, i - 1); j <= std::min(n - 1, i + 1); ++j) {
        rows.back().push_back(j);
        values.push_back((i == j ? (i == 0 ? first : 2.5) : -1) * std::pow(10, i % 7));
      }
    }
    const Kokkos::View<double*, HostDevice> on_host("values", values.size());
    std::copy(values.begin(), values.end(), on_host.data());
    return copyTo<Device>(BsrMatrix<double, HostDevice>(test::makeGraph(rows), on_host, 1));
  };
  AutoParameters parameters;
  parameters.among = {"none", "ilu"};
  parameters.max_iterations = 20;
  Auto<double, Device> m(parameters);
  m.initialize(matrix(2.5));
  m.compute(matrix(2.5));
  EXPECT_EQ(m.chosen(), "ilu");
  EXPECT_EQ(m.report().notes.find("none of which converged"), std::string::npos);
  m.compute(matrix(0));
  EXPECT_EQ(m.chosen(), "none");
  EXPECT_NE(m.report().notes.find("none of which converged"), std::string::npos);
  expectIsWhatItChose(m, matrix(0));
  m.compute(matrix(2.5)); // what was chosen does not break down, and stays
  EXPECT_EQ(m.chosen(), "none");
}

TEST(Auto, OfGivenOnesTakesNoOther) {
  AutoParameters parameters;
  parameters.among = {"jacobi", "ilu:level=1"};
  Auto<double, Device> m(parameters);
  const Matrix a = problem("cavity:8");
  m.initialize(a);
  m.compute(a);
  EXPECT_NE(std::find(parameters.among.begin(), parameters.among.end(), m.chosen()),
            parameters.among.end())
      << m.chosen();
  expectIsWhatItChose(m, a);
  parameters.among = {"jacobi", "ilu:colour=red"};
  EXPECT_THROW((Auto<double, Device>(parameters)), InvalidArgument);
}

TEST(Auto, OfSomeDegreesIsWhatPolyAutoMakes) {
  const auto make = [](const std::string& specification) {
    auto m = createPreconditioner<double, Device>(specification);
    return std::unique_ptr<Auto<double, Device>>(dynamic_cast<Auto<double, Device>*>(m.release()));
  };
  for (const char* name : {"poisson5:12", "cavity:8"}) {
    const Matrix a = problem(name);
    const auto m = make("jacobi:poly=auto,poly-storage=float");
    ASSERT_NE(m, nullptr);
    m->initialize(a);
    m->compute(a);
    EXPECT_TRUE(m->chosen() == "jacobi" ||
                (m->chosen().rfind("jacobi:poly=", 0) == 0 &&
                 m->chosen().find(",poly-storage=float") != std::string::npos))
        << m->chosen();
    expectIsWhatItChose(*m, a);
  }
  // What breaks down alone breaks down with every degree.
  const auto singular = scaled(problem("poisson5:12"), 0);
  const auto m = make("jacobi:poly=auto");
  m->initialize(singular);
  EXPECT_THROW(m->compute(singular), BreakdownError);
}

TEST(Auto, SaysThatNothingConverged) {
  auto host = copyTo<HostDevice>(problem("poisson5:12"));
  AutoParameters parameters;
  parameters.max_iterations = 1;
  parameters.tolerance = 1e-300;
  for (size_t i = 0; i < host.values.extent(0); ++i)
    host.values(i) *= 1 + 0.3 * std::sin(double(i));
  const Matrix a = copyTo<Device>(host);
  Auto<double, Device> m(parameters);
  m.initialize(a);
  m.compute(a);
  EXPECT_NE(m.report().notes.find("none of which converged"), std::string::npos);
  expectIsWhatItChose(m, a);
}

/// Differences along a ring: A x = b has a solution for few b, and the race takes one of them.
TEST(Auto, RacesOnASystemWithASolution) {
  const Ordinal n = 50;
  test::Rows rows;
  std::vector<double> values;
  for (Ordinal i = 0; i < n; ++i) {
    rows.push_back({(i + n - 1) % n, i, (i + 1) % n});
    values.insert(values.end(), {-1, 2, -1});
  }
  const auto a =
      copyTo<Device>(BsrMatrix<double, HostDevice>(test::makeGraph(rows), test::viewOf(values), 1));
  AutoParameters parameters;
  parameters.among = {"none"};
  Auto<double, Device> m(parameters);
  m.initialize(a);
  m.compute(a);
  EXPECT_EQ(m.report().notes.find("none of which converged"), std::string::npos)
      << m.report().notes;
}

TEST(Auto, TakesMatricesWithoutRowsAndInFloat) {
  const auto none = copyTo<Device>(BsrMatrix<double, HostDevice>(
      test::makeGraph({}, 0), Kokkos::View<double*, HostDevice>("values", 0), 1));
  auto m = makeAuto(RaceSolver::BiCgStab);
  m.initialize(none);
  m.compute(none);
  EXPECT_EQ(m.chosen(), "none");
  const auto a = copyTo<Device>(test::inPrecision<float>(copyTo<HostDevice>(problem("cavity:6"))));
  const auto in_float = createPreconditioner<float, Device>("auto:tolerance=1e-4");
  in_float->initialize(a);
  in_float->compute(a);
  EXPECT_EQ(in_float->report().notes.find("none of which converged"), std::string::npos);
}

TEST(Auto, RefusesWhatItsTableDoes) {
  const auto refused = [](const std::string& keys) {
    return test::refusal([&] { createPreconditioner<double, Device>("auto:" + keys); });
  };
  EXPECT_NE(refused("solver=minres").find("gmres, fgmres, cg"), std::string::npos);
  EXPECT_NE(refused("restart=0"), "");
  EXPECT_NE(refused("solver=cg,restart=10").find("'restart' has no effect"), std::string::npos);
  EXPECT_NE(refused("tolerance=1"), "");
  EXPECT_NE(refused("budget=0"), "");
  EXPECT_NE(refused("seconds=0"), "");
  AutoParameters parameters;
  parameters.tolerance = std::nan("");
  EXPECT_NE(test::refusal([&] { Auto<double, Device>{parameters}; }), "");
}

/// A race for one solver is of that one only, in the blocks of A.
TEST(Recommend, OfOneSolverAndTheBlocksOfA) {
  const Matrix a = toPoints<double, Device>(Exec(), problem("cavity:8"));
  for (const char* solver : {"cg", "fgmres", "bicgstab"}) {
    RecommendOptions options;
    options.solver = solver;
    options.restart = 17;
    options.own_blocks = true;
    options.budget = 5;
    const auto found = recommend(a, std::vector<double>(size_t(a.numPointRows()), 1.0), options);
    ASSERT_FALSE(found.race.empty());
    for (const RaceEntry& entry : found.race) {
      EXPECT_EQ(entry.solver, solver);
      EXPECT_EQ(entry.restart, 17);
      EXPECT_EQ(entry.block_size, 1);
    }
  }
}

} // namespace
