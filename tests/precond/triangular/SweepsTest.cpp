// SPDX-License-Identifier: BSD-3-Clause
#include "precond/PrecondSupport.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace ainvil {
namespace {

using namespace test;

IluSettings<Device> sweepIlu(const SweepParameters& sweep) {
  IluSettings<Device> parameters;
  parameters.solve = sweep;
  return parameters;
}

SweepParameters sweeps(int n, SweepMode mode = SweepMode::Jacobi) {
  SweepParameters parameters;
  parameters.mode = mode;
  parameters.sweeps = n;
  parameters.divergence_limit = 1e300;
  return parameters;
}

/// p(T) b for the sweeps on T = D (I + M): x <- (1 - omega) x + omega (D^-1 b - M x), as a matrix.
std::vector<double> denseSweeps(const TriangularFactor<double, Device>& factor,
                                const SweepParameters& parameters) {
  const size_t n = static_cast<size_t>(factor.matrix.numPointRows());
  const int bs = factor.matrix.block_size;
  auto t = toDense(copyTo<HostDevice>(factor.matrix));
  std::vector<double> d(n * n, 0.0), strict = t;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      if (i / bs == j / bs) {
        d[i * n + j] = factor.unit ? (i == j ? 1.0 : 0.0) : t[i * n + j];
        strict[i * n + j] = 0;
      }
  const auto d_inverse = inverse(d, n);
  const auto m = multiply(d_inverse, strict, n);
  auto x = parameters.start == SweepStart::Zero ? std::vector<double>(n * n, 0.0) : d_inverse;
  for (int k = 0; k < parameters.sweeps; ++k) {
    const auto m_x = multiply(m, x, n);
    for (size_t e = 0; e < n * n; ++e)
      x[e] = (1 - parameters.damping) * x[e] + parameters.damping * (d_inverse[e] - m_x[e]);
  }
  return x;
}

class SweepBlockSize : public ::testing::TestWithParam<int> {};

TEST_P(SweepBlockSize, FollowTheirFormula) {
  const int bs = GetParam();
  const size_t n = 31 * bs;
  const HostBsr a = matrixOn(randomPattern(31, 5, 71), bs, 71);
  for (const int count : {0, 1, 2, 3})
    for (const double damping : {1.0, 0.7})
      for (const SweepStart start : {SweepStart::Diagonal, SweepStart::Zero}) {
        if (count == 0 && start == SweepStart::Zero)
          continue;
        SweepParameters parameters = sweeps(count);
        parameters.damping = damping;
        parameters.start = start;
        Ilu<double, Device> ilu(sweepIlu(parameters));
        setUp(ilu, a);
        const auto expected = multiply(denseSweeps(ilu.factors().upper(), parameters),
                                       denseSweeps(ilu.factors().lower(), parameters), n);
        expectNear(denseInverse(ilu), expected, 1e-12);
        expectNear(denseInverse(ilu, Trans::Yes), transposed(expected, n), 1e-12);
      }
}

TEST_P(SweepBlockSize, AsManyAsLevelsAreExact) {
  const int bs = GetParam();
  const HostBsr a = matrixOn(randomPattern(60, 4, 72), bs, 72);
  Ilu<double, Device> exact(exactIlu());
  setUp(exact, a);
  const auto expected = denseInverse(exact);
  const int levels =
      levelSets(Exec(), exact.factors().lower().matrix.graph, Uplo::Lower).numLevels();
  const int upper =
      levelSets(Exec(), exact.factors().upper().matrix.graph, Uplo::Upper).numLevels();
  ASSERT_GT(levels, 5);
  const int enough = std::max(levels, upper) - 1;
  for (const SweepMode mode : {SweepMode::Jacobi, SweepMode::Async})
    for (const SweepOrder order : {SweepOrder::Along, SweepOrder::Against}) {
      SweepParameters parameters = sweeps(enough, mode);
      parameters.order = order;
      Ilu<double, Device> ilu(sweepIlu(parameters));
      setUp(ilu, a);
      expectNear(denseInverse(ilu), expected, 1e-13);
    }
  // One less is not.
  Ilu<double, Device> fewer(sweepIlu(sweeps(levels / 2)));
  setUp(fewer, a);
  const auto close = denseInverse(fewer);
  double difference = 0;
  for (size_t e = 0; e < close.size(); ++e)
    difference = std::max(difference, std::abs(close[e] - expected[e]));
  EXPECT_GT(difference, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Sizes, SweepBlockSize, ::testing::Values(1, 2, 3, 8, 11));

TEST(Sweeps, DiagonalFactorsNeedNone) {
  const HostBsr a = matrixOn(diagonalPattern(20), 3, 73);
  for (const SweepMode mode : {SweepMode::Jacobi, SweepMode::Async}) {
    Ilu<double, Device> ilu(sweepIlu(sweeps(0, mode)));
    setUp(ilu, a);
    expectNear(denseInverse(ilu), inverse(toDense(a), 60), 1e-13);
    EXPECT_EQ(ilu.report().notes, "lower_residual=0, upper_residual=0");
  }
}

/// A row that reaches all columns goes through the balanced kernels.
TEST(Sweeps, BalanceLongRows) {
  const Ordinal n = 1500;
  Pattern pattern = randomPattern(n, 2, 74);
  for (const Ordinal hub : {400, 1499})
    for (Ordinal j = 0; j < n; ++j)
      pattern[hub].insert(j);
  const HostBsr a = matrixOn(pattern, 1, 74);
  Ilu<double, Device> exact(exactIlu());
  setUp(exact, a);
  const auto x = toDevice(Random(9).vector(3 * n), n, 3);
  for (const Trans trans : {Trans::No, Trans::Yes}) {
    const auto expected = poisoned(n, 3);
    exact.apply(Exec(), x, expected, trans);
    for (const SweepMode mode : {SweepMode::Jacobi, SweepMode::Async}) {
      Ilu<double, Device> ilu(sweepIlu(sweeps(60, mode)));
      setUp(ilu, a);
      const auto y = poisoned(n, 3);
      ilu.apply(Exec(), x, y, trans);
      expectNear(toHost(y), toHost(expected), 1e-12);
    }
  }
}

/// A hub that depends on all rows before it, which do not depend on each other: long rows keep
/// their part of y as the others do.
TEST(Sweeps, DampLongRows) {
  const Ordinal n = 700;
  Pattern pattern = diagonalPattern(n);
  for (Ordinal j = 0; j < n; ++j) {
    pattern[n - 1].insert(j);
    pattern[0].insert(j);
  }
  const HostBsr a = matrixOn(pattern, 1, 79);
  Ilu<double, Device> exact(exactIlu());
  setUp(exact, a);
  const auto x = toDevice(Random(9).vector(n), n, 1);
  const auto expected = poisoned(n, 1);
  exact.apply(Exec(), x, expected, Trans::No);
  for (const SweepMode mode : {SweepMode::Jacobi, SweepMode::Async}) {
    SweepParameters parameters = sweeps(60, mode);
    parameters.damping = 0.8;
    Ilu<double, Device> ilu(sweepIlu(parameters));
    setUp(ilu, a);
    const auto y = poisoned(n, 1);
    ilu.apply(Exec(), x, y, Trans::No);
    expectNear(toHost(y), toHost(expected), 1e-12);
  }
}

/// The first sweep from zero multiplies by the diagonal alone, as the start from the diagonal does.
TEST(Sweeps, CountTheBytesOfTheirProducts) {
  const HostBsr a = matrixOn(randomPattern(50, 4, 78), 2, 78);
  const auto bytes = [&](int count, SweepStart start) {
    SweepParameters parameters = sweeps(count);
    parameters.start = start;
    Ilu<double, Device> ilu(sweepIlu(parameters));
    setUp(ilu, a);
    return ilu.report().factor_bytes;
  };
  const Offset none = bytes(0, SweepStart::Diagonal), three = bytes(3, SweepStart::Diagonal);
  EXPECT_EQ(bytes(1, SweepStart::Zero), none);
  EXPECT_EQ(bytes(4, SweepStart::Zero), three);
  EXPECT_GT(three, none);
  EXPECT_EQ(bytes(1, SweepStart::Diagonal) - none, (three - none) / 3);
}

/// They read the factor once each, with its diagonal blocks, as exact solves do.
TEST(Sweeps, CountTheEntriesOfTheFactors) {
  for (const int bs : {1, 3}) {
    const HostBsr a = matrixOn(randomPattern(40, 5, 75), bs, 75);
    for (const IluSettings<Device>& parameters : {sweepIlu(sweeps(3)), IluSettings<Device>()}) {
      Ilu<double, Device> ilu(parameters);
      setUp(ilu, a);
      for (const auto* solver : {&ilu.lowerSolver(), &ilu.upperSolver()}) {
        const Uplo uplo = solver == &ilu.lowerSolver() ? Uplo::Lower : Uplo::Upper;
        const auto of_a = triangle(HostDevice::execution_space(), a.graph, uplo, Diagonal::Keep);
        EXPECT_EQ(solver->entries(), of_a.numEntries() * bs * bs) << solver->description();
      }
    }
  }
}

TEST(Sweeps, ReportTheirResidualAndObjectToDivergence) {
  const Problem problem = makeProblem("chain:800");
  Ilu<double, Device> diverging(sweepIlu(SweepParameters()));
  setUp(diverging, problem.matrix);
  EXPECT_NE(diverging.objection().find("sweeps on the lower factor diverge"), std::string::npos)
      << diverging.objection();
  // Seven sweeps pass the end of every chain.
  Ilu<double, Device> enough(sweepIlu(sweeps(7)));
  setUp(enough, problem.matrix);
  EXPECT_EQ(enough.objection(), "");
  EXPECT_EQ(enough.report().notes, "lower_residual=0, upper_residual=0");

  // The verdict is that of the last values.
  const HostBsr& a = problem.matrix;
  const Kokkos::View<double*, HostDevice> values("Ainvil::values", a.values.extent(0));
  for (Offset e = 0; e < a.numEntries(); ++e)
    values(e) = a.values(e) == 1 ? 1 : -0.1;
  const DeviceBsr tame = copyTo<Device>(HostBsr(a.graph, values, 1));
  diverging.compute(tame);
  EXPECT_EQ(diverging.objection(), "");
}

/// 1e200 times itself overflows: what is left is infinite or, as in most rows, not a number.
TEST(Sweeps, ObjectToWhatIsNotANumber) {
  Pattern chain = diagonalPattern(50), opposite = diagonalPattern(50);
  for (Ordinal i = 1; i < 50; ++i) {
    chain[i].insert(i - 1);
    opposite[i - 1].insert(i);
  }
  for (const bool lower : {true, false}) {
    const HostBsr a = matrixOn(lower ? chain : opposite, 1, 75);
    for (Ordinal i = 0; i < 50; ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        a.values(e) = a.graph.entries(e) == i ? 1 : 1e200;
    IluSettings<Device> parameters = sweepIlu(SweepParameters());
    parameters.factorization.pivot_tolerance = 0; // 1 is nothing beside 1e200
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, a);
    EXPECT_NE(ilu.report().notes.find("nan"), std::string::npos) << ilu.report().notes;
    EXPECT_NE(ilu.objection().find(lower ? "lower factor diverge" : "upper factor diverge"),
              std::string::npos)
        << ilu.objection();
  }
}

/// A thread of a host takes consecutive rows. Along the dependences it has the new values at hand,
/// so that one sweep is exact but near the first row of every thread; against them every row takes
/// the old value of the row before, as in Jacobi.
TEST(Sweeps, GoAlongTheDependencesOrAgainstThem) {
  using Host = HostDevice;
  const Ordinal n = 100000;
  Pattern below = diagonalPattern(n), above = diagonalPattern(n);
  for (Ordinal i = 1; i < n; ++i) {
    below[i].insert(i - 1);
    above[i - 1].insert(i);
  }
  for (const bool lower : {true, false}) {
    const HostBsr a = matrixOn(lower ? below : above, 1, 76);
    for (Ordinal i = 0; i < n; ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        a.values(e) = a.graph.entries(e) == i ? 1 : -0.5;
    for (const SweepOrder order : {SweepOrder::Along, SweepOrder::Against}) {
      SweepParameters parameters = sweeps(1, SweepMode::Async);
      parameters.order = order;
      IluSettings<Host> ilu_parameters;
      ilu_parameters.solve = parameters;
      Ilu<double, Host> ilu(ilu_parameters);
      ilu.initialize(a);
      ilu.compute(a);
      const Vector<double, Host> b("b", n), x("x", n);
      Kokkos::deep_copy(b, 1.0);
      ilu.apply(Host::execution_space(), asColumn(Vector<const double, Host>(b)), asColumn(x));
      Ordinal exact = 0; // x_i = 1 + x_j / 2 with the row j before
      for (Ordinal i = 1; i < n; ++i)
        exact += std::abs(x(lower ? i : n - 1 - i) - (2 - std::ldexp(1.0, -i))) < 1e-6 ? 1 : 0;
      SCOPED_TRACE(message(lower ? "lower, " : "upper, ", ilu.description()));
      if (order == SweepOrder::Along)
        EXPECT_GT(exact, n / 2);
      else
        EXPECT_LT(exact, n / 100);
    }
  }
}

TEST(Sweeps, StorageRoundsTheFactors) {
  const HostBsr a = matrixOn(randomPattern(40, 4, 97), 3, 97);
  using Method = Ilu<double, Device>;
  forEachRounding<Method>(sweepIlu(sweeps(3)), a,
                          [](const Method& rounded, const Method& in_double, double error) {
                            expectRoundedFactors(rounded, in_double, 5 * error);
                          });
}

/// D^-1 S is of order 1 at any scale, D^-1 is not.
TEST(Sweeps, RefuseDiagonalsThatDoNotFitTheirStorage) {
  for (const double scale : {1e45, 1e-45}) {
    HostBsr a = matrixOn(randomPattern(20, 3, 96), 2, 96);
    for (size_t i = 0; i < a.values.extent(0); ++i)
      a.values(i) *= scale;
    IluSettings<Device> parameters = sweepIlu(sweeps(2));
    Ilu<double, Device> in_double(parameters);
    EXPECT_NO_THROW(setUp(in_double, a)) << scale;
    for (const Rounding& rounding : roundings) {
      parameters.storage = rounding.storage;
      Ilu<double, Device> rounded(parameters);
      EXPECT_THROW(setUp(rounded, a), InvalidArgument) << scale;
    }
  }
}

/// The squares of D^-1 r leave the range of numbers; the verdict is that of moderate scales.
TEST(Sweeps, JudgeAtAnyScale) {
  const HostBsr chain = makeProblem("chain:64").matrix;
  const HostBsr tame = matrixOn(randomPattern(20, 3, 97), 2, 97);
  for (const HostBsr& a : {chain, tame})
    for (const double scale : {1.0, 1e-200, 1e200}) {
      const HostBsr scaled(a.graph, viewOf(toHost(a.values)), a.block_size);
      for (size_t i = 0; i < scaled.values.extent(0); ++i)
        scaled.values(i) *= scale;
      SweepParameters parameters = sweeps(2);
      parameters.divergence_limit = 1;
      Ilu<double, Device> ilu(sweepIlu(parameters));
      setUp(ilu, scaled);
      EXPECT_EQ(ilu.objection().empty(), a.block_size == 2) << scale;
    }
}

TEST(Sweeps, AreFixedUnlessAsynchronous) {
  EXPECT_TRUE((Ilu<double, Device>(sweepIlu(sweeps(3))).isFixed()));
  EXPECT_FALSE((Ilu<double, Device>(sweepIlu(sweeps(3, SweepMode::Async))).isFixed()));
  EXPECT_TRUE((Ilu<double, Device>(exactIlu()).isFixed()));
}

TEST(Sweeps, RefuseParametersOutOfRange) {
  const auto refused = [](auto change) {
    SweepParameters parameters;
    change(parameters);
    EXPECT_THROW((Ilu<double, Device>(sweepIlu(parameters))), InvalidArgument);
  };
  refused([](SweepParameters& p) { p.sweeps = -1; });
  refused([](SweepParameters& p) {
    p.sweeps = 0;
    p.start = SweepStart::Zero;
  });
  refused([](SweepParameters& p) { p.damping = 0; });
  refused([](SweepParameters& p) { p.damping = 2; });
  refused([](SweepParameters& p) { p.damping = std::nan(""); });
  refused([](SweepParameters& p) { p.divergence_limit = 0; });
}

} // namespace
} // namespace ainvil
