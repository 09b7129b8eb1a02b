// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// What holds for every method: the rules of apply(), determinism, new values, order of columns,
/// scaling, storage, blocks.

#include "Ainvil_Ordering.hpp"
#include "property/MethodSupport.hpp"

namespace {

using namespace ainvil;
using namespace ainvil::test;

/// Matrices that every method can handle.
Wanted safe() {
  Wanted wanted;
  wanted.values = {Values::Dominant, Values::Spd};
  wanted.max_points = 150;
  return wanted;
}

/// property(system, specification) for all methods that are the same map at every application.
template <class Property>
void forMethods(int fallback, const Property& property) {
  forSystems(fallback, safe(), [&](const RandomSystem& system) {
    for (const std::string& specification : methodsFor(system)) {
      SCOPED_TRACE(specification);
      if (isDeterministic(specification))
        property(system, specification);
    }
  });
}

/// Rounding of an application relative to its result: a product or two of up to n terms, and for
/// blocks the inverses of their diagonals.
double roundingOf(const RandomSystem& system) {
  return roundingBound(10.0 * double(system.size() + system.matrix.block_size + 1));
}

void expectClose(const std::vector<double>& actual, const std::vector<double>& expected,
                 double tolerance, const std::string& what) {
  expectWithin(actual, expected, std::vector<double>(actual.size(), tolerance * largest(expected)),
               what);
}

/// y = alpha op(M^-1) x + beta y; beta = 0 forgets a NaN in y, alpha = 0 does not hide one in x.
TEST(MethodProperty, AlphaAndBeta) {
  forMethods(10, [](const RandomSystem& system, const std::string& specification) {
    const size_t n = system.size();
    Random random(system.seed + 1);
    const auto m = built(specification, system.matrix);
    const std::vector<double> x = random.vector(n), y = random.vector(n);
    const std::vector<double> mx = applied(*m, x);
    for (const double alpha : {1.0, 0.0, -0.75})
      for (const double beta : {0.0, 1.0, 0.3}) {
        const auto out = beta == 0 ? poisoned(n) : toDevice(y);
        m->apply(Exec(), toDevice(x), out, Trans::No, alpha, beta);
        std::vector<double> expected(n), bound(n);
        for (size_t i = 0; i < n; ++i) {
          expected[i] = alpha * mx[i] + (beta == 0 ? 0.0 : beta * y[i]);
          bound[i] = roundingBound(3) * (std::abs(alpha * mx[i]) + std::abs(beta * y[i]));
        }
        expectWithin(toHost(out), expected, bound, message("alpha ", alpha, ", beta ", beta));
      }
  });
}

TEST(MethodProperty, ManyRightHandSidesEqualALoopOverColumns) {
  forMethods(10, [](const RandomSystem& system, const std::string& specification) {
    const size_t n = system.size();
    Random random(system.seed + 2);
    const size_t columns = 1 + random.below(9);
    const std::vector<double> x = random.vector(n * columns);
    const auto m = built(specification, system.matrix);
    for (const Trans trans : {Trans::No, Trans::Yes}) {
      std::vector<double> expected;
      for (size_t j = 0; j < columns; ++j) {
        const auto column = applied(*m, {x.begin() + j * n, x.begin() + (j + 1) * n}, trans);
        expected.insert(expected.end(), column.begin(), column.end());
      }
      expectClose(applied(*m, x, trans, columns), expected, roundingOf(system),
                  trans == Trans::No ? "M^-1" : "M^-T");
    }
  });
}

/// <M^-1 x, y> = <x, M^-T y>
TEST(MethodProperty, TransposeIdentity) {
  forMethods(10, [](const RandomSystem& system, const std::string& specification) {
    const size_t n = system.size();
    Random random(system.seed + 3);
    const std::vector<double> x = random.vector(n), y = random.vector(n);
    const auto m = built(specification, system.matrix);
    const std::vector<double> mx = applied(*m, x), my = applied(*m, y, Trans::Yes);
    double left = 0, right = 0;
    for (size_t i = 0; i < n; ++i) {
      left += mx[i] * y[i];
      right += x[i] * my[i];
    }
    const double size = double(n) * (largest(mx) * largest(y) + largest(x) * largest(my));
    EXPECT_LE(std::abs(left - right), roundingOf(system) * size);
  });
}

TEST(MethodProperty, TwoBuildsAreTheSameBitByBit) {
  forMethods(10, [](const RandomSystem& system, const std::string& specification) {
    const auto x = Random(system.seed + 4).vector(system.size());
    const auto one = built(specification, system.matrix);
    const auto two = built(specification, system.matrix);
    const auto expected = applied(*one, x);
    EXPECT_EQ(applied(*one, x), expected) << "the same object";
    EXPECT_EQ(applied(*two, x), expected) << "another object";
    EXPECT_EQ(one->report().factor_entries, two->report().factor_entries);
  });
}

TEST(MethodProperty, NewValuesEqualAFreshBuild) {
  forMethods(10, [](const RandomSystem& system, const std::string& specification) {
    const auto x = Random(system.seed + 5).vector(system.size());
    const HostBsr other = withOtherValues(system);
    const auto m = built(specification, system.matrix);
    m->compute(copyTo<Device>(other));
    const auto fresh = built(specification, system.matrix, other);
    EXPECT_EQ(applied(*m, x), applied(*fresh, x));
    EXPECT_EQ(m->report().factor_entries, fresh->report().factor_entries);
  });
}

TEST(MethodProperty, TheOrderOfColumnsDoesNotMatter) {
  forMethods(10, [](const RandomSystem& system, const std::string& specification) {
    const auto x = Random(system.seed + 6).vector(system.size());
    EXPECT_EQ(applied(*built(specification, shuffled(system.matrix, system.seed)), x),
              applied(*built(specification, system.matrix), x));
  });
}

/// The preconditioner of c A is M / c: bit by bit for a power of 4, whose root is a power of 2.
TEST(MethodProperty, ScalesWithTheMatrix) {
  forMethods(10, [](const RandomSystem& system, const std::string& specification) {
    if (specification == "none")
      return;
    Random random(system.seed + 7);
    const auto x = random.vector(system.size());
    const double c = std::exp2(2 * (random.below(900) - 450)); // 1e-270 to 1e270
    const auto m = built(specification, system.matrix);
    const auto scaled = built(specification, times(system.matrix, c));
    std::vector<double> expected = applied(*m, x);
    for (double& value : expected)
      value /= c;
    EXPECT_EQ(applied(*scaled, x), expected) << "c = " << c;
    EXPECT_EQ(scaled->objection().empty(), m->objection().empty()) << scaled->objection();
  });
}

/// Rounded factors are those in double rounded once: n terms, each with an error of eps. Of
/// bfloat16 that is no bound; what is asked for is what has been seen.
TEST(MethodProperty, RoundedStorageIsCloseToDouble) {
  forMethods(10, [](const RandomSystem& system, const std::string& specification) {
    if (specification == "none" || specification.rfind("jacobi", 0) == 0) // stored as they are
      return;
    const auto x = Random(system.seed + 8).vector(system.size());
    const auto expected = applied(*built(specification, system.matrix), x);
    const auto check = [&](const char* storage, double tolerance) {
      expectClose(applied(*built(with(specification, storage), system.matrix), x), expected,
                  tolerance, storage);
    };
    check("storage=float",
          roundingBound(10.0 * double(system.size() + 1), std::numeric_limits<float>::epsilon()));
    check("storage=bfloat16", 0.1);
  });
}

/// The preconditioner of A (x) I_b is M (x) I_b, so blocks of any size do what scalars do.
TEST(MethodProperty, BlocksOfMultiplesOfTheIdentityActAsScalars) {
  Wanted wanted = safe();
  wanted.max_points = 150;
  forSystems(10, wanted, [](const RandomSystem& system) {
    if (system.matrix.block_size != 1)
      return;
    Random random(system.seed + 9);
    const size_t n = system.size();
    const int b = 2 + random.below(16);
    const HostBsr blocks = kronecker(system.matrix, b);
    for (const std::string& specification : methodsFor(system)) {
      // Parts and nested dissection see other graphs, point rows here and there; polynomials take
      // a random vector of another length.
      if (!isDeterministic(specification) || contains(specification, "parts") ||
          contains(specification, "order=") || contains(specification, "max-col") ||
          contains(specification, "relax=auto") || contains(specification, "poly") ||
          takesTooLong(specification, n * b))
        continue;
      SCOPED_TRACE(message(specification, ", blocks of ", b));
      const std::vector<double> x = random.vector(n * b); // column-major n x b, one a component
      std::vector<double> interleaved(n * b), expected(n * b);
      for (size_t i = 0; i < n; ++i)
        for (int c = 0; c < b; ++c)
          interleaved[i * b + c] = x[c * n + i];
      const auto scalars = applied(*built(specification, system.matrix), x, Trans::No, b);
      for (size_t i = 0; i < n; ++i)
        for (int c = 0; c < b; ++c)
          expected[i * b + c] = scalars[c * n + i];
      expectClose(applied(*built(specification, blocks), interleaved), expected, roundingOf(system),
                  "A (x) I_b");
    }
  });
}

/// Methods that are exact where nothing is dropped.
TEST(MethodProperty, FullPatternIsTheExactInverse) {
  Wanted wanted = safe();
  wanted.max_points = 130;
  // A sweep in place, whatever the schedule, makes the rows of one more level exact.
  const std::vector<std::string> general = {"ilu",
                                            "ilu:level=2",
                                            "ilu:solve=isai",
                                            "ilu:solve=isai,side=columns,power=2",
                                            "ilu:solve=isai,relax=1",
                                            "ilu:solve=isai,relax=auto",
                                            "ilu:solve=jacobi,sweeps=130",
                                            "ilu:solve=async,sweeps=130",
                                            "ilu:iterative=130",
                                            "spai",
                                            "spai:adaptive=130,per-step=9,eps=0",
                                            "ainv:symmetric=no,drop=0",
                                            "ainv:variant=ainv,symmetric=no,drop=0",
                                            "ainv:symmetric=no,drop=0,order=nd",
                                            "ainv:symmetric=no,blocks=yes,drop=0"};
  const std::vector<std::string> spd = {
      "fsai:tau=0,power=1,filter=0", "fsai:tau=0,adaptive=130,per-step=9,tolerance=0,filter=0",
      "ainv:drop=0", "ainv:variant=ainv,drop=0,order=rcm", "ainv:blocks=yes,drop=0,order=nd"};
  forSystems(40, wanted, [&](const RandomSystem& system) {
    const size_t n = system.size();
    if (system.pattern != "full")
      return;
    const std::vector<double> a = toDense(system.matrix);
    const std::vector<double> x = Random(system.seed + 10).vector(n);
    double norm = 0; // ||A||, by rows
    for (const double sum : multiply(absolute(a), std::vector<double>(n, 1.0), n))
      norm = std::max(norm, sum);
    const auto check = [&](const std::string& specification) {
      SCOPED_TRACE(specification);
      const std::vector<double> y = applied(*built(specification, system.matrix), x);
      const double size = norm * largest(y);
      expectWithin(multiply(a, y, n), x,
                   std::vector<double>(n, roundingBound(10.0 * double(n)) * size), "A M^-1 x");
    };
    for (const std::string& specification : general)
      if (!takesTooLong(specification, n))
        check(specification);
    if (system.values == Values::Spd)
      for (const std::string& specification : spd)
        check(specification);
  });
}

TEST(MethodProperty, DiagonalPatternIsJacobi) {
  forSystems(60, safe(), [](const RandomSystem& system) {
    if (system.pattern != "diagonal")
      return;
    const auto x = Random(system.seed + 11).vector(system.size());
    const auto jacobi = applied(*built("jacobi", system.matrix), x);
    for (const std::string& specification : methodsFor(system)) {
      // Blocks are more than AINV keeps of them, and damped sweeps from zero are not done yet.
      const bool of_points =
          (contains(specification, "ainv") && !contains(specification, "blocks=yes")) ||
          contains(specification, "point");
      if (specification == "none" || contains(specification, "damping") ||
          (of_points && system.matrix.block_size > 1))
        continue;
      SCOPED_TRACE(specification);
      expectClose(applied(*built(specification, system.matrix), x), jacobi, roundingOf(system),
                  "M^-1 x");
    }
  });
}

/// Jacobi knows no order of rows; AINV with an order is AINV of the reordered matrix.
TEST(MethodProperty, Permutations) {
  forSystems(20, safe(), [](const RandomSystem& system) {
    const HostBsr& a = system.matrix;
    const int bs = a.block_size;
    const size_t n = system.size();
    Random random(system.seed + 12);
    std::vector<Ordinal> order(a.numRows());
    std::iota(order.begin(), order.end(), 0);
    random.shuffle(order);
    const auto check = [&](const Permutation<Device>& perm, const std::string& of_original,
                           const std::string& of_permuted, double tolerance) {
      SCOPED_TRACE(of_original);
      const std::vector<double> x = random.vector(n);
      const auto px = poisoned(n, 1), y = poisoned(n, 1);
      permute<double, Device>(Exec(), Trans::No, perm, bs, toDevice(x, n, 1), px);
      const DeviceBsr permuted_a = permuted(Exec(), perm, copyTo<Device>(a));
      const auto m = built(of_permuted, copyTo<HostDevice>(permuted_a));
      const auto py = toDevice(applied(*m, toHost(px)), n, 1);
      permute<double, Device>(Exec(), Trans::Yes, perm, bs, py, y);
      expectClose(toHost(y), applied(*built(of_original, a), x), tolerance, "P^T M_P^-1 P x");
    };
    const auto random_order = makePermutation<Device>(Exec(), viewOf<Ordinal, Device>(order));
    check(random_order, "jacobi", "jacobi", 0);
    check(random_order, "jacobi:variant=point", "jacobi:variant=point", 0);
    const auto nd = copyTo<Device>(nestedDissection(a.graph));
    const auto rcm = copyTo<Device>(reverseCuthillMcKee(a.graph));
    check(rcm, "ainv:symmetric=no,blocks=yes,order=rcm,drop=0.01",
          "ainv:symmetric=no,blocks=yes,drop=0.01", roundingOf(system));
    if (bs > 1)
      return;
    check(nd, "ainv:symmetric=no,order=nd,drop=0.01", "ainv:symmetric=no,drop=0.01",
          roundingOf(system));
    check(rcm, "ainv:symmetric=no,order=rcm,drop=0.01", "ainv:symmetric=no,drop=0.01",
          roundingOf(system));
  });
}

} // namespace
