// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"
#include "Ainvil_Gmres.hpp"
#include "TestSupport.hpp"

#include <cmath>

namespace {

using namespace ainvil;

/// -u'' + 3 u' on n points, upwind differences: not symmetric.
struct Line {
  explicit Line(int n) : b(n), x(n, 0.0) {
    for (int i = 0; i < n; ++i) {
      for (const int j : {i - 1, i, i + 1})
        if (j >= 0 && j < n) {
          entries.push_back(j);
          values.push_back(j == i ? 2.5 : j < i ? -1.5 : -1.0);
        }
      row_map.push_back(static_cast<int>(entries.size()));
      b[i] = 1 + i % 3;
    }
  }

  /// ||b - A x|| / ||b||
  double residual() const {
    double r_squared = 0, b_squared = 0;
    for (size_t i = 0; i < b.size(); ++i) {
      double r = b[i];
      for (int k = row_map[i]; k < row_map[i + 1]; ++k)
        r -= values[k] * x[entries[k]];
      r_squared += r * r;
      b_squared += b[i] * b[i];
    }
    return std::sqrt(r_squared / b_squared);
  }

  std::vector<int> row_map = {0}, entries;
  std::vector<double> values, b, x;
};

TEST(SolverByName, SolvesWithVectorsOfTheHost) {
  for (const char* name : {"gmres", "fgmres", "bicgstab"}) {
    SCOPED_TRACE(name);
    Line line(200);
    const auto a = csr(200, line.row_map, line.entries, line.values);
    const auto m = createPreconditioner("ilu", a);
    SolverOptions options;
    options.tolerance = 1e-10;
    const SolveResult result = solve(name, a, m.get(), line.b, line.x, options);
    EXPECT_EQ(result.status, SolveStatus::Converged);
    EXPECT_LE(line.residual(), 1e-10);
  }
}

TEST(SolverByName, CgStartsFromTheGuess) {
  std::vector<int> row_map = {0, 1, 2}, entries = {0, 1};
  std::vector<double> values = {2, 5}, b = {4, 10}, x = {2, 2};
  const auto a = csr(2, row_map, entries, values);
  const SolveResult result = solve("cg", a, nullptr, b, x);
  EXPECT_EQ(result.status, SolveStatus::Converged);
  EXPECT_EQ(result.iterations, 0);
  EXPECT_EQ(x, (std::vector<double>{2, 2}));
}

TEST(SolverByName, RefusesUnknownNamesAndShapes) {
  std::vector<int> row_map = {0, 1, 2}, entries = {0, 1};
  std::vector<double> values = {2, 5}, b = {4, 10}, x = {0, 0}, longer(3, 1.0);
  const auto a = csr(2, row_map, entries, values);
  EXPECT_THROW((createSolver<double, DefaultDevice>("minres")), InvalidArgument);
  EXPECT_THROW(solve("CG", a, nullptr, b, x), InvalidArgument);
  EXPECT_THROW(solve("cg", a, nullptr, longer, x), InvalidArgument);
  EXPECT_THROW(solve("cg", a, nullptr, b, longer), InvalidArgument);
  SolverOptions options;
  options.restart = 0;
  EXPECT_THROW((createSolver<double, DefaultDevice>("gmres", options)), InvalidArgument);
}

TEST(SolverByName, FgmresTakesWhatVaries) {
  Line line(100);
  const auto a = csr(100, line.row_map, line.entries, line.values);
  const auto m = createPreconditioner("ilu:solve=async,sweeps=3", a);
  EXPECT_THROW(solve("gmres", a, m.get(), line.b, line.x), InvalidArgument);
  EXPECT_EQ(solve("fgmres", a, m.get(), line.b, line.x).status, SolveStatus::Converged);
}

} // namespace
