// SPDX-License-Identifier: BSD-3-Clause
#include "gallery/Ainvil_CavityNewton.hpp"

#include "Ainvil_Factory.hpp"
#include "Ainvil_Gmres.hpp"
#include "KokkosObservers.hpp"
#include "TestSupport.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <map>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using Device = DefaultDevice;
using Doubles = std::vector<double>;
using Points = std::vector<GlobalPoint>;

struct Assembled {
  Doubles values, residual;
};

/// What assemble() makes of arrays full of NaN.
template <class AnyDevice>
Assembled assemble(const CavityNewton<AnyDevice>& cavity, const Doubles& state) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto values = viewOf<double, AnyDevice>(Doubles(9 * cavity.graph().numEntries(), nan));
  const auto residual = viewOf<double, AnyDevice>(Doubles(3 * cavity.graph().num_rows, nan));
  cavity.assemble({}, viewOf<double, AnyDevice>(state), values, residual);
  return {toHost(values), toHost(residual)};
}

/// dF/dx, point rows by point columns.
template <class AnyDevice>
Doubles denseJacobian(const CavityNewton<AnyDevice>& cavity, const Doubles& state) {
  return toDense(BsrMatrix<double, HostDevice>(copyTo<HostDevice>(cavity.graph()),
                                               viewOf(assemble(cavity, state).values), 3));
}

/// u, v, w of both signs, at least 1/4 away from 0.
Doubles randomState(size_t size, std::uint64_t seed) {
  Random random(seed);
  Doubles state(size);
  for (double& x : state)
    x = random.uniform(0.25, 1) * (random.below(2) == 0 ? 1 : -1);
  return state;
}

/// F as the differential equations have it, on plain arrays.
Doubles referenceResidual(int n, double reynolds, const Doubles& state) {
  const double h = 1.0 / (n - 1);
  Doubles f(state.size());
  for (int y = 0; y < n; ++y)
    for (int x = 0; x < n; ++x) {
      const auto at = [&](int k) {
        return [=, &state](int dx, int dy) { return state[3 * ((y + dy) * n + x + dx) + k]; };
      };
      const auto u = at(0);
      const auto v = at(1);
      const auto w = at(2);
      double* row = &f[3 * (y * n + x)];
      if (x > 0 && x < n - 1 && y > 0 && y < n - 1) {
        const auto laplacian = [h](const auto& a) {
          return (a(1, 0) - 2 * a(0, 0) + a(-1, 0)) / (h * h) +
                 (a(0, 1) - 2 * a(0, 0) + a(0, -1)) / (h * h);
        };
        const double upwind_x = u(0, 0) > 0 ? w(0, 0) - w(-1, 0) : w(1, 0) - w(0, 0);
        const double upwind_y = v(0, 0) > 0 ? w(0, 0) - w(0, -1) : w(0, 1) - w(0, 0);
        row[0] = h * h * (-laplacian(u) - (w(0, 1) - w(0, -1)) / (2 * h));
        row[1] = h * h * (-laplacian(v) + (w(1, 0) - w(-1, 0)) / (2 * h));
        row[2] =
            h * h * (-laplacian(w) + reynolds * (u(0, 0) * upwind_x / h + v(0, 0) * upwind_y / h));
        continue;
      }
      row[0] = u(0, 0) - (y == n - 1 && x > 0 && x < n - 1 ? 1 : 0);
      row[1] = v(0, 0);
      if (x == 0) // w = v_x - u_y, of which one vanishes on the wall
        row[2] = w(0, 0) - (v(1, 0) - v(0, 0)) / h;
      else if (x == n - 1)
        row[2] = w(0, 0) - (v(0, 0) - v(-1, 0)) / h;
      else if (y == 0)
        row[2] = w(0, 0) + (u(0, 1) - u(0, 0)) / h;
      else
        row[2] = w(0, 0) + (u(0, 0) - u(0, -1)) / h;
    }
  return f;
}

TEST(CavityNewton, FirstStepIsTheLinearCavity) {
  for (const int n : {3, 4, 5, 17}) {
    const Problem linear = makeProblem("cavity:" + std::to_string(n));
    const CavityNewton<Device> cavity(n);
    EXPECT_EQ(rowsOf(cavity.graph()), rowsOf(linear.matrix.graph)) << n;
    EXPECT_EQ(cavity.graph().num_cols, n * n) << n;
    Assembled first = assemble(cavity, Doubles(3 * n * n, 0.0));
    for (double& f : first.residual)
      f = -f;
    EXPECT_EQ(first.values, toHost(linear.matrix.values)) << n;
    EXPECT_EQ(first.residual, toHost(linear.rhs)) << n;
  }
}

TEST(CavityNewton, NeighboursAscendWithinTheSquare) {
  EXPECT_EQ(cavityNeighbours(4, 5), (Points{1, 4, 5, 6, 9}));
  EXPECT_EQ(cavityNeighbours(4, 0), (Points{0, 1, 4}));
  EXPECT_EQ(cavityNeighbours(4, 7), (Points{3, 6, 7, 11}));
  EXPECT_EQ(cavityNeighbours(4, 8), (Points{4, 8, 9, 12}));
  EXPECT_EQ(cavityNeighbours(4, 15), (Points{11, 14, 15}));
  const GlobalPoint last = 99999 * 100000LL + 99999; // beyond 32 bits
  EXPECT_EQ(cavityNeighbours(100000, last), (Points{last - 100000, last - 1, last}));
}

/// Either sign of u and v at every point inside, on the device and on the host.
TEST(CavityNewton, ResidualIsThatOfTheEquations) {
  for (const int n : {3, 4, 9, 40})
    for (const double reynolds : {1.0, 70.0}) {
      const Doubles state = randomState(3 * n * n, n);
      const Doubles expected = referenceResidual(n, reynolds, state);
      const std::string what = std::to_string(n) + " points";
      expectNear(assemble(CavityNewton<Device>(n, reynolds), state).residual, expected, 1e-13,
                 what);
      expectNear(assemble(CavityNewton<HostDevice>(n, reynolds), state).residual, expected, 1e-13,
                 what + " on the host");
    }
}

/// F is a quadratic polynomial where u and v keep their signs, so central differences are exact.
TEST(CavityNewton, JacobianIsTheDerivativeOfTheResidual) {
  constexpr double step = 0.125;
  for (const int n : {3, 4, 7})
    for (const double reynolds : {1.0, 70.0}) {
      const size_t size = 3 * n * n;
      const Doubles state = randomState(size, 10 + n);
      Doubles expected(size * size);
      for (size_t j = 0; j < size; ++j) {
        Doubles ahead = state, behind = state;
        ahead[j] += step;
        behind[j] -= step;
        const Doubles plus = referenceResidual(n, reynolds, ahead);
        const Doubles minus = referenceResidual(n, reynolds, behind);
        for (size_t i = 0; i < size; ++i)
          expected[i * size + j] = (plus[i] - minus[i]) / (2 * step);
      }
      const std::string what = std::to_string(n) + " points";
      expectNear(denseJacobian(CavityNewton<Device>(n, reynolds), state), expected, 1e-12, what);
      expectNear(denseJacobian(CavityNewton<HostDevice>(n, reynolds), state), expected, 1e-12,
                 what + " on the host");
    }
}

/// Where the upwind direction changes, dF/du and dF/dv are one-sided: those for u, v > 0.
TEST(CavityNewton, DerivativeAtRestIsThatTowardsPositiveVelocity) {
  constexpr int n = 3, centre = 3 * 4;
  constexpr double reynolds = 10, step = 0.5;
  Doubles state = randomState(3 * n * n, 3);
  state[centre] = state[centre + 1] = 0;
  const Doubles jacobian = denseJacobian(CavityNewton<Device>(n, reynolds), state);
  const Doubles before = referenceResidual(n, reynolds, state);
  for (int k = 0; k < 2; ++k) {
    Doubles ahead = state;
    ahead[centre + k] += step;
    const Doubles after = referenceResidual(n, reynolds, ahead);
    EXPECT_NEAR(jacobian[(centre + 2) * state.size() + centre + k],
                (after[centre + 2] - before[centre + 2]) / step, 1e-12);
  }
}

/// The rows of some points with columns and entries in random order, as on one of many processes.
struct OwnedRows {
  Points row_points, col_points;
  Rows rows; ///< local columns

  OwnedRows(int n, const Points& owned, std::uint64_t seed) : row_points(owned) {
    Random random(seed);
    std::map<GlobalPoint, Ordinal> local;
    for (const GlobalPoint p : owned)
      for (const GlobalPoint q : cavityNeighbours(n, p))
        local[q];
    for (const auto& entry : local)
      col_points.push_back(entry.first);
    random.shuffle(col_points);
    for (size_t c = 0; c < col_points.size(); ++c)
      local[col_points[c]] = static_cast<Ordinal>(c);
    for (const GlobalPoint p : owned) {
      rows.emplace_back();
      for (const GlobalPoint q : cavityNeighbours(n, p))
        rows.back().push_back(local[q]);
      random.shuffle(rows.back());
    }
  }

  CavityNewton<Device> cavity(int n, double reynolds = 1) const {
    return {n, copyTo<Device>(makeGraph(rows, static_cast<Ordinal>(col_points.size()))),
            viewOf<GlobalPoint, Device>(row_points), viewOf<GlobalPoint, Device>(col_points),
            reynolds};
  }
  /// The entries of a global state in local order.
  Doubles local(const Doubles& global) const {
    Doubles state;
    for (const GlobalPoint q : col_points)
      state.insert(state.end(), &global[3 * q], &global[3 * q] + 3);
    return state;
  }
};

TEST(CavityNewton, RowsOfAProcessAreRowsOfTheWhole) {
  constexpr int n = 13, processes = 3;
  constexpr size_t size = 3 * n * n;
  constexpr double reynolds = 20;
  const Doubles state = randomState(size, 7);
  const CavityNewton<Device> whole(n, reynolds);
  const Doubles residual = assemble(whole, state).residual;
  const Doubles jacobian = denseJacobian(whole, state);

  Random random(8);
  std::vector<Points> owned(processes);
  for (GlobalPoint p = 0; p < n * n; ++p)
    owned[random.below(processes)].push_back(p);
  for (Points& points : owned) {
    random.shuffle(points);
    OwnedRows mine(n, points, 9);
    // A row may hold more: the first one gets an entry in a column of no role.
    for (Ordinal c = 0; mine.rows[0].size() < 6; ++c)
      if (std::abs(mine.col_points[c] - points[0]) > n)
        mine.rows[0].push_back(c);
    const Assembled part = assemble(mine.cavity(n, reynolds), mine.local(state));
    size_t at = 0;
    for (size_t i = 0; i < points.size(); ++i) {
      for (size_t r = 0; r < 3; ++r)
        EXPECT_EQ(part.residual[3 * i + r], residual[3 * points[i] + r]);
      for (const Ordinal c : mine.rows[i])
        for (size_t k = 0; k < 9; ++k)
          EXPECT_EQ(part.values[at++],
                    jacobian[(3 * points[i] + k / 3) * size + 3 * mine.col_points[c] + k % 3]);
    }
  }
}

/// A point whose number needs more than 32 bits.
TEST(CavityNewton, PointsMayBeBeyond32Bits) {
  constexpr Ordinal n = 100000;
  const GlobalPoint p = GlobalPoint(n - 3) * n + n - 3;
  const OwnedRows mine(n, {p}, 1);
  EXPECT_EQ(assemble(mine.cavity(n), Doubles(15, 1.0)).residual, (Doubles{0, 0, 0}));
  Doubles linear; // u = v = w = the column of the point: only h u (w_P - w_W) is left
  for (const GlobalPoint q : mine.col_points)
    linear.insert(linear.end(), 3, double(q % n));
  EXPECT_DOUBLE_EQ(assemble(mine.cavity(n), linear).residual[2], (n - 3.0) / (n - 1.0));
}

TEST(CavityNewton, ProcessesMayOwnNothing) {
  const Assembled nothing = assemble(OwnedRows(5, {}, 1).cavity(5), {});
  EXPECT_TRUE(nothing.values.empty());
  EXPECT_TRUE(nothing.residual.empty());
}

TEST(CavityNewton, MissingBlocksAreAnError) {
  constexpr int n = 5;
  const struct {
    GlobalPoint point;
    Points needed; ///< of cavityNeighbours
  } cases[] = {
      {12, {7, 11, 12, 13, 17}}, // inside
      {2, {2, 7}},               // bottom
      {22, {17, 22}},            // top
      {10, {10, 11}},            // left
      {14, {13, 14}},            // right
      {0, {0, 1}},               // the corners belong to left and right
      {4, {3, 4}},
      {20, {20, 21}},
      {24, {23, 24}},
  };
  for (const auto& [point, needed] : cases)
    for (const GlobalPoint missing : cavityNeighbours(n, point)) {
      // The row of another point, complete, comes first.
      OwnedRows mine(n, {6, point}, 2);
      auto& row = mine.rows[1];
      row.erase(std::find_if(row.begin(), row.end(),
                             [&](Ordinal c) { return mine.col_points[c] == missing; }));
      const Doubles state(3 * mine.col_points.size(), 0.0);
      if (std::count(needed.begin(), needed.end(), missing) == 0) {
        EXPECT_NO_THROW(assemble(mine.cavity(n), state)) << point << " without " << missing;
        continue;
      }
      try {
        assemble(mine.cavity(n), state);
        ADD_FAILURE() << point << " was accepted without " << missing;
      } catch (const InvalidArgument& error) {
        const std::string text = error.what();
        const std::string begin =
            "the row of point " + std::to_string(point) + " of a cavity of 5 x 5";
        EXPECT_EQ(text.rfind(begin, 0), 0u) << text;
        EXPECT_NE(text.find("0 more"), std::string::npos) << text;
      }
    }
}

TEST(CavityNewton, PointsBeyondTheSquareAreAnError) {
  for (const GlobalPoint p : {-1, 25, 30}) {
    OwnedRows mine(5, {12}, 1);
    mine.row_points = {p};
    for (GlobalPoint& q : mine.col_points)
      q += p - 12;
    EXPECT_THROW(assemble(mine.cavity(5), Doubles(15, 0.0)), InvalidArgument) << p;
  }
}

TEST(CavityNewton, OutputsMayBeLeftOut) {
  constexpr int n = 6;
  const CavityNewton<Device> cavity(n);
  const Doubles state = randomState(3 * n * n, 4);
  const Assembled both = assemble(cavity, state);
  const auto values = poisoned(both.values.size()), residual = poisoned(both.residual.size());
  cavity.assemble({}, toDevice(state), values, {});
  cavity.assemble({}, toDevice(state), {}, residual);
  EXPECT_EQ(toHost(values), both.values);
  EXPECT_EQ(toHost(residual), both.residual);
}

TEST(CavityNewton, RefusesWrongSizes) {
  EXPECT_THROW(CavityNewton<Device>(2), InvalidArgument);
  EXPECT_THROW(CavityNewton<Device>(46341), InvalidArgument);
  const OwnedRows mine(5, {12, 13}, 1);
  EXPECT_THROW(mine.cavity(2), InvalidArgument);
  for (Points OwnedRows::*points : {&OwnedRows::row_points, &OwnedRows::col_points}) {
    OwnedRows wrong = mine;
    (wrong.*points).pop_back();
    EXPECT_THROW(CavityNewton<Device>(5, mine.cavity(5).graph(),
                                      viewOf<GlobalPoint, Device>(wrong.row_points),
                                      viewOf<GlobalPoint, Device>(wrong.col_points)),
                 InvalidArgument);
  }
  const CavityNewton<Device> cavity(4);
  const auto state = poisoned(48), values = poisoned(9 * 64), residual = poisoned(48);
  EXPECT_NO_THROW(cavity.assemble({}, state, values, residual));
  const auto other = poisoned(47);
  EXPECT_THROW(cavity.assemble({}, other, values, residual), InvalidArgument);
  EXPECT_THROW(cavity.assemble({}, state, other, residual), InvalidArgument);
  EXPECT_THROW(cavity.assemble({}, state, values, other), InvalidArgument);
}

TEST(CavityNewton, LaunchesOneKernelAndAllocatesNothing) {
  const CavityNewton<Device> cavity(5);
  const auto state = poisoned(75), values = poisoned(9 * 105), residual = poisoned(75);
  cavity.assemble({}, state, values, residual); // Kokkos may enlarge its buffers
  const KernelLabelRecorder recorder;
  cavity.assemble({}, state, values, residual);
  EXPECT_EQ(recorder.labels(), std::vector<std::string>{"Ainvil::CavityNewton"});
}

/// From rest, J d = F and x -= d, with one initialize for all steps. Returns ||F|| / ||F(0)||
/// before each step and after the last.
Doubles newton(int n, double reynolds, double tolerance) {
  const CavityNewton<Device> cavity(n, reynolds);
  const BsrMatrix<double, Device> jacobian(cavity.graph(),
                                           poisoned(9 * cavity.graph().numEntries()), 3);
  const auto m = createPreconditioner<double, Device>("ilu");
  m->initialize(jacobian);
  SolverOptions options;
  options.tolerance = 1e-12;
  Doubles state(3 * n * n, 0.0), norms;
  while (norms.size() < 15) {
    const auto f = poisoned(state.size());
    cavity.assemble({}, toDevice(state), jacobian.values, f);
    const Doubles residual = toHost(f);
    norms.push_back(
        std::sqrt(std::inner_product(residual.begin(), residual.end(), residual.begin(), 0.0)));
    if (!(norms.back() > tolerance * norms.front()))
      break;
    m->compute(jacobian);
    const auto d = toDevice(Doubles(state.size(), 0.0));
    const SolveResult result =
        gmres(MatrixOperator<double, Device>(jacobian), m.get(), f, d, options);
    EXPECT_EQ(result.status, SolveStatus::Converged) << result.message;
    const Doubles step = toHost(d);
    std::transform(state.begin(), state.end(), step.begin(), state.begin(), std::minus<>());
  }
  for (size_t k = norms.size(); k-- > 0;)
    norms[k] /= norms[0];
  return norms;
}

TEST(CavityNewton, ConvergesQuadratically) {
  const struct {
    double reynolds;
    size_t steps;
  } cases[] = {{1, 3}, {100, 5}};
  for (const auto& [reynolds, steps] : cases) {
    const Doubles norms = newton(20, reynolds, 1e-8);
    EXPECT_EQ(norms.size(), steps + 1) << "Reynolds number " << reynolds;
    EXPECT_LE(norms.back(), 1e-8) << "Reynolds number " << reynolds;
    for (size_t k = 0; k + 1 < norms.size(); ++k)
      if (norms[k] < 0.1) {
        EXPECT_LE(norms[k + 1], norms[k] * norms[k]) << "Reynolds number " << reynolds;
      }
  }
}

} // namespace
