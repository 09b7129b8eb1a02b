// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Many right-hand sides at a time against a loop over them.
#include "Refusal.hpp"
#include "solvers/EqualProcesses.hpp"

namespace ainvil {
namespace test {
namespace {

using Columns = std::vector<Doubles>;

/// Whose columns are `gap` numbers further apart than they are long.
MultiVector<double, Device> columnsToDevice(const Columns& columns, int gap = 0) {
  const size_t n = columns[0].size();
  const MultiVector<double, Device> all("columns", n + gap, columns.size());
  const auto result = Kokkos::subview(all, std::make_pair(size_t(0), n), Kokkos::ALL());
  for (size_t c = 0; c < columns.size(); ++c)
    Kokkos::deep_copy(Vector<double, Device>(Kokkos::subview(result, Kokkos::ALL(), c)),
                      toDevice<double>(columns[c]));
  return result;
}

Doubles columnOf(const MultiVector<double, Device>& x, size_t c) {
  return toHost<double>(Vector<double, Device>(Kokkos::subview(x, Kokkos::ALL(), c)));
}

class ManyColumns : public ::testing::TestWithParam<const char*> {
protected:
  const bool symmetric_ = GetParam() == std::string("cg");
  const HostCsr a_ =
      symmetric_ ? convectionDiffusion(29, 17) : convectionDiffusion(29, 17, 0.4, 0.2);
  const HostCsr m_ = inverseDiagonal(a_);
  const int n_ = a_.size();

  /// Right-hand sides that take different numbers of iterations: smooth ones, random ones, one that
  /// is solved at once, and zeros.
  Columns rightHandSides(int count) const {
    Columns b;
    for (int c = 0; c < count; ++c) {
      Doubles column = randomVector(n_, 10 + c);
      if (c % 5 == 1)
        column = a_.times(Doubles(n_, 1.0 + c));
      if (c % 5 == 2)
        column.assign(n_, 0.0);
      if (c % 5 == 4)
        for (int i = 20; i < n_; ++i)
          column[i] = 0;
      b.push_back(column);
    }
    return b;
  }

  struct Many {
    std::vector<SolveResult> results;
    Columns x;
  };

  static std::unique_ptr<KrylovSolver<double, Device>>
  solverFor(const SolverOptions& options, const std::shared_ptr<const Reduction<Device>>& sums) {
    auto solver = createSolver<double, Device>(GetParam(), options);
    solver->setReduction(sums);
    return solver;
  }

  Many together(const SolverOptions& options, const Columns& b, const Columns& x0,
                bool preconditioned = true,
                const std::shared_ptr<const Reduction<Device>>& sums = nullptr) const {
    const auto a = toDevice<double>(a_), m = toDevice<double>(m_);
    const auto x = columnsToDevice(x0, 5);
    Many many;
    many.results = solverFor(options, sums)
                       ->solve(Exec(), a, preconditioned ? &m : nullptr, columnsToDevice(b, 3), x);
    for (size_t c = 0; c < b.size(); ++c)
      many.x.push_back(columnOf(x, c));
    return many;
  }

  Many oneByOne(const SolverOptions& options, const Columns& b, const Columns& x0,
                bool preconditioned = true) const {
    const auto a = toDevice<double>(a_), m = toDevice<double>(m_);
    const auto solver = solverFor(options, nullptr);
    Many many;
    for (size_t c = 0; c < b.size(); ++c) {
      const auto x = toDevice<double>(x0[c]);
      many.results.push_back(
          solver->solve(Exec(), a, preconditioned ? &m : nullptr, toDevice<double>(b[c]), x));
      many.x.push_back(toHost<double>(x));
    }
    return many;
  }

  static void expectSame(const Many& many, const Many& each) {
    ASSERT_EQ(many.results.size(), each.results.size());
    for (size_t c = 0; c < each.results.size(); ++c) {
      SCOPED_TRACE(message("column ", c));
      EXPECT_STREQ(toString(many.results[c].status), toString(each.results[c].status));
      EXPECT_EQ(many.results[c].iterations, each.results[c].iterations);
      EXPECT_EQ(many.results[c].message, each.results[c].message);
      if (std::isfinite(each.results[c].rel_residual))
        expectSameHistory(many.results[c].history, each.results[c].history, 1e-9);
      const double size = norm(each.x[c]);
      if (std::isfinite(size)) {
        EXPECT_LE(norm(minus(many.x[c], each.x[c])), 1e-9 * size);
      }
    }
  }

  static SolverOptions optionsWith(int check_interval, int max_iterations = 400) {
    return options(1e-8, max_iterations, 12, check_interval);
  }
};

TEST_P(ManyColumns, TakeTheIterationsOfEach) {
  for (const int count : {1, 2, 8, 11})
    for (const bool preconditioned : {false, true})
      for (const int interval : {1, 7}) {
        SCOPED_TRACE(message(count, " columns, a look every ", interval));
        const Columns b = rightHandSides(count), x0(count, Doubles(n_, 0.0));
        const SolverOptions o = optionsWith(interval);
        const Many many = together(o, b, x0, preconditioned);
        expectSame(many, oneByOne(o, b, x0, preconditioned));
        for (int c = 0; c < count; ++c)
          if (norm(b[c]) > 0) {
            EXPECT_LE(relativeResidual(a_, b[c], many.x[c]), 1e-8 * (1 + 1e-6));
          }
      }
}

TEST_P(ManyColumns, StopEachAtItsLimitFromItsOwnGuess) {
  const Columns b = rightHandSides(8);
  Columns x0;
  for (int c = 0; c < 8; ++c)
    x0.push_back(randomVector(n_, 40 + c));
  for (const int most : {0, 1, 17}) {
    const SolverOptions o = optionsWith(5, most);
    expectSame(together(o, b, x0), oneByOne(o, b, x0));
  }
}

/// A column that cannot be solved does not keep the others from it.
TEST_P(ManyColumns, FailEachForItself) {
  Columns b = rightHandSides(6), x0(6, Doubles(n_, 0.0));
  b[0][7] = std::numeric_limits<double>::quiet_NaN();
  b[1].assign(n_, 1e-200);
  x0[3][2] = std::numeric_limits<double>::infinity();
  const SolverOptions o = optionsWith(1);
  const Many many = together(o, b, x0);
  expectSame(many, oneByOne(o, b, x0));
  EXPECT_EQ(many.results[0].status, SolveStatus::Diverged);
  EXPECT_EQ(many.results[1].status, SolveStatus::Breakdown);
  EXPECT_EQ(many.results[2].status, SolveStatus::Converged);
  EXPECT_EQ(many.results[3].status, SolveStatus::Diverged);
  EXPECT_EQ(many.results[4].status, SolveStatus::Converged);
  EXPECT_EQ(many.results[5].status, SolveStatus::Converged);
}

/// Of some columns A is singular, of others not: A = diag(A_0, 0), and two b outside its range.
TEST_P(ManyColumns, BreakDownEachForItself) {
  HostCsr a = convectionDiffusion(13, 5);
  a.add(0, 0.0);
  a.endRow();
  const int n = a.size();
  Columns b;
  for (int c = 0; c < 4; ++c) {
    b.push_back(randomVector(n, 70 + c));
    b[c][n - 1] = c % 2 == 0 ? 0 : 1;
  }
  const auto a_device = toDevice<double>(a);
  const SolverOptions o = optionsWith(1);
  const auto solver = solverFor(o, nullptr);
  const auto x = columnsToDevice(Columns(4, Doubles(n, 0.0)));
  const auto many = solver->solve(a_device, nullptr, columnsToDevice(b), x);
  for (int c = 0; c < 4; ++c) {
    const auto x_c = toDevice<double>(Doubles(n, 0.0));
    const SolveResult one = solver->solve(a_device, nullptr, toDevice<double>(b[c]), x_c);
    EXPECT_EQ(many[c].status == SolveStatus::Converged, c % 2 == 0) << toString(many[c].status);
    EXPECT_STREQ(toString(many[c].status), toString(one.status));
    EXPECT_EQ(many[c].iterations, one.iterations);
  }
}

/// Eight columns have the products, kernels and reductions of the one that takes most iterations.
TEST_P(ManyColumns, ShareProductsKernelsAndReductions) {
  const int count = 8;
  SolverOptions o = optionsWith(1, 12);
  o.tolerance = 0;
  const auto measure = [&](int columns) {
    const Sequence<> a(a_), m(m_);
    const auto sums = std::make_shared<EqualProcesses>(2);
    const auto solver = solverFor(o, sums);
    Columns b;
    for (int c = 0; c < columns; ++c)
      b.push_back(randomVector(n_, 20 + c));
    const auto b_device = columnsToDevice(b);
    const auto x = columnsToDevice(Columns(columns, Doubles(n_, 0.0)));
    solver->solve(Exec(), a, &m, b_device, x); // takes the workspace
    Kokkos::deep_copy(x, 0.0);
    a.count = m.count = 0;
    sums->reductions = 0;
    const ToolsRecorder recorder;
    const auto results = solver->solve(Exec(), a, &m, b_device, x);
    EXPECT_EQ(results[0].iterations, 12);
    EXPECT_EQ(ToolsRecorder::allocations, 0);
    return std::vector<size_t>{a.count, m.count, size_t(sums->reductions),
                               ToolsRecorder::labels.size()};
  };
  EXPECT_EQ(measure(count), measure(1));
}

/// Sums are 4 times as large, which rounds nothing.
TEST_P(ManyColumns, SpreadOverProcesses) {
  const Columns b = rightHandSides(8), x0(8, Doubles(n_, 0.0));
  const SolverOptions o = optionsWith(1);
  expectSame(together(o, b, x0, true, std::make_shared<EqualProcesses>(4)), oneByOne(o, b, x0));
}

TEST_P(ManyColumns, WorkspaceServesFewerAndMore) {
  const auto a = toDevice<double>(a_);
  const SolverOptions o = optionsWith(3);
  const auto solver = solverFor(o, nullptr);
  for (const int count : {2, 8, 1, 3}) {
    const Columns b = rightHandSides(count), x0(count, Doubles(n_, 0.0));
    const auto x = columnsToDevice(x0);
    Many many;
    many.results = solver->solve(a, nullptr, columnsToDevice(b), x);
    for (int c = 0; c < count; ++c)
      many.x.push_back(columnOf(x, c));
    expectSame(many, oneByOne(o, b, x0, false));
  }
}

TEST_P(ManyColumns, ProgressTellsOfTheOneFurthestBehind) {
  SolverOptions o = optionsWith(1);
  double last = -1;
  int most = 0;
  o.progress = [&](int iteration, double rel_residual) {
    last = rel_residual;
    most = std::max(most, iteration);
  };
  const Columns b = rightHandSides(5), x0(5, Doubles(n_, 0.0));
  const Many many = together(o, b, x0);
  int iterations = 0;
  for (const SolveResult& result : many.results)
    iterations = std::max(iterations, result.iterations);
  EXPECT_EQ(most, iterations);
  EXPECT_LE(last, o.tolerance);
}

TEST_P(ManyColumns, NoneAndUnlikeOnes) {
  const auto a = toDevice<double>(a_);
  const auto solver = solverFor(optionsWith(1), nullptr);
  const MultiVector<double, Device> none("none", n_, 0), two("two", n_, 2), three("three", n_, 3);
  EXPECT_TRUE(solver->solve(a, nullptr, none, none).empty());
  EXPECT_NE(refusal([&] { solver->solve(a, nullptr, two, three); }).find("3 and 2"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Solvers, ManyColumns,
                         ::testing::Values("gmres", "fgmres", "cg", "bicgstab"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace test
} // namespace ainvil
