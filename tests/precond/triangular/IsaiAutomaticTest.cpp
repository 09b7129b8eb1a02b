// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Relaxation steps that are found by probes, and what is done where none serve.

#include "precond/triangular/IsaiSupport.hpp"

#include "KokkosObservers.hpp"
#include "precond/ic/IcSupport.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace {

using namespace test;

IluSettings<Device> automaticIlu(IsaiFallback fallback, int power = 1) {
  IluSettings<Device> parameters = isaiIlu(power, IsaiSide::Rows, IsaiOptions::relax_auto);
  isaiOf(parameters).fallback = fallback;
  return parameters;
}

/// I - T Z, Z what the strategy applies.
std::vector<double> left(const Isai& solver, const std::vector<double>& t) {
  const size_t n = static_cast<size_t>(std::sqrt(t.size()));
  std::vector<double> identity(n * n, 0.0);
  for (size_t i = 0; i < n; ++i)
    identity[i * n + i] = 1.0;
  const auto z = poisoned(n, n);
  solver.apply(Exec(), toDevice(identity, n, n), z, Trans::No);
  auto product = multiply(t, transposed(toHost(z), n), n);
  for (size_t e = 0; e < n * n; ++e)
    product[e] = identity[e] - product[e];
  return product;
}

double frobeniusNorm(const std::vector<double>& a) {
  double squares = 0;
  for (const double value : a)
    squares += value * value;
  return std::sqrt(squares);
}

TEST(IsaiAutomatic, StepsReachTheThreshold) {
  const HostBsr a = matrixOn(randomPattern(300, 6, 41), 2, 41);
  int before = -1;
  for (const double threshold : {0.5, 1e-2, 1e-6, 1e-12}) {
    IluSettings<Device> parameters = automaticIlu(IsaiFallback::None);
    isaiOf(parameters).relax_threshold = threshold;
    isaiOf(parameters).relax_limit = 100;
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, a);
    const int steps = lowerOf(ilu).relaxationSteps();
    EXPECT_GE(steps, before);
    EXPECT_LT(steps, 100);
    before = steps;
    EXPECT_NE(ilu.report().notes.find("lower_relax=" + std::to_string(steps)), std::string::npos)
        << ilu.report().notes;
    // ||I - L Z|| and ||L (I - U Z) L^-1|| in the Frobenius norm are what random probes estimate.
    const size_t n = 600;
    const auto l = denseFactor(ilu.factors().lower());
    EXPECT_LT(frobeniusNorm(left(lowerOf(ilu), l)) / std::sqrt(n), 3 * threshold + 1e-14);
    const auto of_u = multiply(
        l, multiply(left(upperOf(ilu), denseFactor(ilu.factors().upper())), inverse(l, n), n), n);
    EXPECT_LT(frobeniusNorm(of_u) / std::sqrt(n), 3 * threshold + 1e-13);
  }
  EXPECT_GT(before, 0);
}

/// Couplings c of a chain leave E = I - T M with c^2 two places below the diagonal, so that k steps
/// leave ||E^(k + 1)||: many rows with c = 1/2, which vanish, few with c^4 = 3, which grow. In the
/// Frobenius norm, which the probes estimate, 26 without a step, 16 after one, 25 and 42 after two
/// and three.
TEST(IsaiAutomatic, StepsEndWhereTheResidualIsLeast) {
  const Ordinal n = 10024, tame = 10000;
  Pattern chains = diagonalPattern(n);
  for (Ordinal i = 1; i < n; ++i)
    if (i != tame)
      chains[i].insert(i - 1);
  const HostBsr a = matrixOn(chains, 1, 45);
  for (Ordinal i = 0; i < n; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      a.values(e) = a.graph.entries(e) == i ? 1 : i < tame ? 0.5 : std::pow(3, 0.25);
  const auto checkSteps = [&](int limit, double threshold, int expected) {
    IluSettings<Device> parameters = automaticIlu(IsaiFallback::None);
    isaiOf(parameters).relax_limit = limit;
    isaiOf(parameters).relax_threshold = threshold;
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, a);
    EXPECT_EQ(lowerOf(ilu).relaxationSteps(), expected) << ilu.report().notes;
    EXPECT_EQ(upperOf(ilu).relaxationSteps(), 0) << ilu.report().notes;
  };
  for (const int limit : {0, 1, 2, 5, 8})
    checkSteps(limit, 1e-3, std::min(limit, 1));
  // Relative to the 100 of random right-hand sides: no step where none is needed.
  checkSteps(8, 0.3, 0);
  checkSteps(8, 0.2, 1);
}

/// 1 on the diagonal and couplings to the next unknown, or to the one before.
HostBsr chainOf(const std::vector<double>& couplings, Uplo uplo) {
  const Ordinal n = static_cast<Ordinal>(couplings.size()) + 1;
  Pattern pattern = diagonalPattern(n);
  for (Ordinal i = 0; i + 1 < n; ++i)
    uplo == Uplo::Upper ? pattern[i].insert(i + 1) : pattern[i + 1].insert(i);
  const HostBsr a = matrixOn(pattern, 1, 67);
  for (Ordinal i = 0; i < n; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      a.values(e) = a.graph.entries(e) == i ? 1 : couplings[std::min(i, a.graph.entries(e))];
  return a;
}

/// Steps multiply the residual by S^2, the square of the couplings.
TEST(IsaiAutomatic, StepsObjectToDivergence) {
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
    const HostBsr growing = chainOf(std::vector<double>(60, 2.2), uplo);
    IluSettings<Device> parameters = automaticIlu(IsaiFallback::None);
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, growing);
    const std::string factor = uplo == Uplo::Lower ? "lower" : "upper";
    EXPECT_NE(ilu.objection().find("relaxation (relax=auto) on the " + factor + " factor diverges"),
              std::string::npos)
        << ilu.objection();
    EXPECT_NE(ilu.report().notes.find(factor + "_relax=0 (residual 4.7"), std::string::npos)
        << ilu.report().notes;
    // The verdict is that of the last values.
    ilu.compute(copyTo<Device>(chainOf(std::vector<double>(60, 0.9), uplo)));
    EXPECT_EQ(ilu.objection(), "");
    // As many steps as half of the chain are exact, whatever comes before.
    isaiOf(parameters).relax_limit = 40;
    Ilu<double, Device> enough(parameters);
    setUp(enough, growing);
    EXPECT_EQ(enough.objection(), "") << enough.report().notes;
  }
  // 30^2 decays: above 1 at the limit, and still falling.
  std::vector<double> decaying(199, 0.7);
  std::fill_n(decaying.begin() + 100, 3, 30.0);
  IluSettings<Device> parameters = automaticIlu(IsaiFallback::None);
  Ilu<double, Device> falling(parameters);
  setUp(falling, chainOf(decaying, Uplo::Upper));
  EXPECT_EQ(falling.objection(), "");
  EXPECT_NE(falling.report().notes.find("upper_relax=12 (residual "), std::string::npos)
      << falling.report().notes;
  EXPECT_EQ(falling.report().notes.find("upper_relax=12 (residual 0."), std::string::npos)
      << falling.report().notes;
}

/// Without a step nothing falls.
TEST(IsaiAutomatic, NoStepsAtAllObjectToWhatIsLarge) {
  for (const double coupling : {0.9, 2.2}) {
    IluSettings<Device> parameters = automaticIlu(IsaiFallback::None);
    isaiOf(parameters).relax_limit = 0;
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, chainOf(std::vector<double>(60, coupling), Uplo::Lower));
    EXPECT_EQ(ilu.objection().empty(), coupling < 1) << ilu.report().notes;
  }
}

/// Falling at the limit, but from 1e6 to 1e4 only: more than sweeps may leave, and so do these.
TEST(IsaiAutomatic, StepsObjectToLargeResidualsThatFall) {
  for (const double second : {1e-1, 1e-5}) {
    const HostBsr a = chainOf({1e3, 1e3, second, second}, Uplo::Upper);
    IluSettings<Device> parameters = automaticIlu(IsaiFallback::None);
    isaiOf(parameters).relax_limit = 1;
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, a);
    EXPECT_NE(ilu.report().notes.find("upper_relax=1"), std::string::npos) << ilu.report().notes;
    EXPECT_EQ(ilu.objection().empty(), second == 1e-5) << ilu.report().notes;
  }
}

bool has(const std::string& notes, const std::string& part) {
  return notes.find(part) != std::string::npos;
}

/// The columns of A in other units, by powers of 2: U changes, A M^-1 and the steps do not.
TEST(IsaiAutomatic, StepsDoNotDependOnTheUnitsOfColumns) {
  const HostBsr a = matrixOn(randomPattern(200, 6, 46), 2, 46);
  IluSettings<Device> parameters = automaticIlu(IsaiFallback::None);
  isaiOf(parameters).relax_threshold = 1e-4;
  Ilu<double, Device> plain(parameters), scaled(parameters);
  setUp(plain, a);
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      for (int k = 0; k < 4; ++k)
        a.values(4 * e + k) = std::ldexp(a.values(4 * e + k), 2 * (a.graph.entries(e) % 5));
  setUp(scaled, a);
  EXPECT_GT(upperOf(plain).relaxationSteps(), 0);
  EXPECT_EQ(scaled.report().notes, plain.report().notes);
}

/// Where no step serves, what is applied is the substitution, for that factor alone.
TEST(IsaiFallback, IsTheExactSolve) {
  const std::vector<double> growing(60, 2.2), decaying(60, 0.5);
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
    const HostBsr a = chainOf(growing, uplo), tame = chainOf(decaying, uplo);
    Ilu<double, Device> exact(exactIlu()), ilu(automaticIlu(IsaiFallback::Exact));
    setUp(exact, a);
    setUp(ilu, a);
    const Isai& of_chain = uplo == Uplo::Lower ? lowerOf(ilu) : upperOf(ilu);
    const Isai& other = uplo == Uplo::Lower ? upperOf(ilu) : lowerOf(ilu);
    EXPECT_TRUE(of_chain.isSubstituted());
    EXPECT_FALSE(other.isSubstituted());
    const std::string prefix = uplo == Uplo::Lower ? "lower" : "upper";
    EXPECT_TRUE(has(ilu.report().notes, prefix + "_solve=exact (relax=0 (residual 4.7"))
        << ilu.report().notes;
    EXPECT_EQ(ilu.objection(), "");
    EXPECT_EQ(denseInverse(ilu), denseInverse(exact));
    expectNear(denseInverse(ilu, Trans::Yes), denseInverse(exact, Trans::Yes), 1e-13);
    EXPECT_EQ(ilu.report().factor_entries, exact.report().factor_entries);
    EXPECT_EQ(ilu.report().factor_bytes, exact.report().factor_bytes);
    // The choice follows the values, without allocations once it has been made both ways.
    const DeviceBsr on_device = copyTo<Device>(a), tame_on_device = copyTo<Device>(tame);
    ilu.compute(tame_on_device);
    EXPECT_FALSE(of_chain.isSubstituted());
    Ilu<double, Device> fresh(automaticIlu(IsaiFallback::Exact));
    setUp(fresh, tame);
    EXPECT_EQ(ilu.report().notes, fresh.report().notes);
    EXPECT_EQ(denseInverse(ilu), denseInverse(fresh));
    const AllocationCounter counter;
    ilu.compute(on_device);
    EXPECT_EQ(counter.count(), 0) << counter.labels();
    EXPECT_TRUE(of_chain.isSubstituted());
  }
}

TEST(IsaiFallback, BeginsAtItsThreshold) {
  const HostBsr a = chainOf(std::vector<double>(400, 0.97), Uplo::Lower);
  for (const double threshold : {0.2, 0.8}) {
    IluSettings<Device> parameters = automaticIlu(IsaiFallback::Exact);
    isaiOf(parameters).fallback_threshold = threshold;
    Ilu<double, Device> ilu(parameters);
    setUp(ilu, a);
    EXPECT_EQ(lowerOf(ilu).isSubstituted(), threshold == 0.2) << ilu.report().notes;
  }
}

/// The entry (0, 2) of U^-1 is 1e400, those of U are finite.
TEST(IsaiFallback, TakesThePlaceOfInversesThatOverflow) {
  const HostBsr a = chainOf({1e200, 1e200}, Uplo::Upper);
  for (const IsaiFallback fallback : {IsaiFallback::None, IsaiFallback::Exact}) {
    IluSettings<Device> parameters = automaticIlu(fallback, 2);
    parameters.factorization.pivot_tolerance = 0;
    Ilu<double, Device> ilu(parameters);
    if (fallback == IsaiFallback::None) {
      EXPECT_THROW(setUp(ilu, a), BreakdownError);
      continue;
    }
    setUp(ilu, a);
    EXPECT_TRUE(
        has(ilu.report().notes, "upper_solve=exact (the approximate inverse is out of range)"))
        << ilu.report().notes;
    // U y = x by substitution.
    const auto x = toDevice(std::vector<double>{0.0, 0.0, 1e-300}, 3, 1), y = poisoned(3, 1);
    ilu.apply(Exec(), x, y);
    const auto solution = toHost(y);
    EXPECT_NEAR(solution[2] / 1e-300, 1, 1e-15);
    EXPECT_NEAR(solution[1] / -1e-100, 1, 1e-15);
    EXPECT_NEAR(solution[0] / 1e100, 1, 1e-15);
  }
}

TEST(IsaiFallback, EndsWithValuesThatNeedNone) {
  IluSettings<Device> parameters = automaticIlu(IsaiFallback::Exact, 2);
  parameters.factorization.pivot_tolerance = 0;
  Ilu<double, Device> ilu(parameters), fresh(parameters);
  const HostBsr tame = chainOf({0.5, 0.25}, Uplo::Upper);
  setUp(ilu, chainOf({1e200, 1e200}, Uplo::Upper));
  ASSERT_TRUE(upperOf(ilu).isSubstituted());
  ilu.compute(copyTo<Device>(tame));
  setUp(fresh, tame);
  EXPECT_FALSE(upperOf(ilu).isSubstituted());
  EXPECT_EQ(ilu.report().notes, fresh.report().notes);
}

/// The entry (0, 2) of U^-1 is 1e40, which float does not hold.
TEST(IsaiFallback, TakesThePlaceOfInversesBeyondTheStorage) {
  const HostBsr a = chainOf({1e20, 1e20}, Uplo::Upper);
  for (const IsaiFallback fallback : {IsaiFallback::None, IsaiFallback::Exact}) {
    IluSettings<Device> parameters = automaticIlu(fallback, 2);
    parameters.factorization.pivot_tolerance = 0;
    parameters.storage = Storage::Float;
    Ilu<double, Device> ilu(parameters);
    if (fallback == IsaiFallback::None) {
      EXPECT_THROW(setUp(ilu, a), InvalidArgument);
      continue;
    }
    setUp(ilu, a);
    EXPECT_TRUE(
        has(ilu.report().notes, "upper_solve=exact (the approximate inverse is out of range)"))
        << ilu.report().notes;
    IluSettings<Device> exact = exactIlu();
    exact.factorization.pivot_tolerance = 0;
    exact.storage = Storage::Float;
    Ilu<double, Device> expected(exact);
    setUp(expected, a);
    EXPECT_EQ(denseInverse(ilu), denseInverse(expected));
  }
}

/// The transposed factor is applied by the same substitution: <M x, y> = <x, M y>.
TEST(IsaiFallback, OfIcIsSymmetric) {
  const Ordinal n = 60;
  Pattern pattern = diagonalPattern(n);
  for (Ordinal i = 0; i + 1 < n; ++i) {
    pattern[i].insert(i + 1);
    pattern[i + 1].insert(i);
  }
  // L L^T with couplings of 2.2 on L.
  const HostBsr a = matrixOn(pattern, 1, 47);
  for (Ordinal i = 0; i < n; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      a.values(e) = a.graph.entries(e) != i ? 2.2 : i == 0 ? 1 : 1 + 2.2 * 2.2;
  IcParameters<double, Device> parameters;
  IsaiParameters<Device> isai;
  isai.relax = IsaiOptions::relax_auto;
  parameters.solve = isai;
  IcMethod automatic(parameters), exact(exactIc());
  setUp(automatic, a);
  setUp(exact, a);
  EXPECT_TRUE(has(automatic.report().notes, "lower_solve=exact")) << automatic.report().notes;
  expectNear(denseInverse(automatic), denseInverse(exact), 1e-13);
}

/// Products with long rows have a launch for these, those by which steps are found included.
TEST(IsaiAutomatic, ProbesKnowLongRows) {
  const Ordinal n = 300;
  Pattern pattern = diagonalPattern(n);
  for (Ordinal i = 1; i < n; ++i) {
    pattern[n - 1].insert(i);
    pattern[0].insert(i);
  }
  const DeviceBsr a = copyTo<Device>(matrixOn(pattern, 2, 53));
  IluSettings<Device> parameters = automaticIlu(IsaiFallback::None);
  isaiOf(parameters).relax_threshold = 1e-12;
  isaiOf(parameters).relax_limit = 1;
  Ilu<double, Device> ilu(parameters);
  ilu.initialize(a);
  const KernelLabelRecorder recorder;
  ilu.compute(a);
  const ProductCounts products(recorder.kernels());
  EXPECT_GT(products.all, 4);
  EXPECT_EQ(products.with_long_rows, products.all) << listOf(recorder.kernels());
}

TEST(IsaiFallback, StoresWhatExactSolvesStore) {
  const HostBsr a = chainOf(std::vector<double>(60, 2.2), Uplo::Lower);
  for (const Storage storage : {Storage::Float, Storage::BFloat16}) {
    IluSettings<Device> exact = exactIlu(), automatic = automaticIlu(IsaiFallback::Exact);
    exact.storage = automatic.storage = storage;
    Ilu<double, Device> expected(exact), ilu(automatic);
    setUp(expected, a);
    setUp(ilu, a);
    EXPECT_TRUE(has(ilu.report().notes, "lower_solve=exact")) << ilu.report().notes;
    EXPECT_EQ(denseInverse(ilu), denseInverse(expected));
  }
}

} // namespace
} // namespace ainvil
