// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// What happens where an array gets no memory: a clear error, and an object that may be used again.

#include "KokkosObservers.hpp"
#include "precond/FunctionTable.hpp"

#include "gallery/Ainvil_Gallery.hpp"

#include <new>

namespace {

using namespace ainvil;
using namespace ainvil::test;

/// Counts the arrays that are allocated while the object lives, and lets one of them fail.
class FailingAllocation {
public:
  /// The n-th one, n = 1, 2, ...; 0 for none.
  explicit FailingAllocation(int n = 0) {
    failing_ = n;
    count_ = 0;
    detail::allocation_hook = [](const std::string&, std::size_t) {
      if (++count_ == failing_)
        throw std::bad_alloc();
    };
  }
  ~FailingAllocation() { detail::allocation_hook = nullptr; }
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
  int count() const { return count_; }

private:
  static inline int failing_ = 0, count_ = 0;
};

/// Arrays of the library, not those of Kokkos itself.
int ownArrays(const std::vector<std::string>& labels) {
  return static_cast<int>(std::count_if(labels.begin(), labels.end(), [](const std::string& label) {
    return label.rfind("Ainvil::", 0) == 0;
  }));
}

/// Runs `verb` with that allocation failing. True if it did; the error then tells what was wanted.
template <class Verb>
bool fails(int allocation, const Verb& verb) {
  const FailingAllocation failing(allocation);
  try {
    verb();
  } catch (const OutOfMemory& error) {
    const std::string text = error.what();
    EXPECT_EQ(text.rfind("out of memory: ", 0), 0u) << text;
    EXPECT_TRUE(contains(text, " bytes for Ainvil::")) << text;
    return true;
  }
  return false;
}

class EveryMethodWithoutMemory : public testing::TestWithParam<std::string> {
protected:
  MethodPtr make() const { return createPreconditioner<double, Device>(GetParam()); }
};

/// Lets the first, second, ... allocation of a verb fail, each time in the same object, and calls
/// the verb again. The result is that of an object that never lacked memory.
TEST_P(EveryMethodWithoutMemory, StaysUsable) {
  const Pattern pattern = symmetricPattern(41, 5, 91);
  const DeviceBsr a = copyTo<Device>(shuffled(spdMatrixOn(pattern, 3, 91), 91));
  const DeviceBsr b = copyTo<Device>(shuffled(spdMatrixOn(pattern, 3, 92), 91));
  constexpr size_t n = 123, columns = 3;
  const auto x = toDevice(Random(93).vector(n * columns), n, columns);
  const auto y = poisoned(n, columns);
  const auto m = make();
  const auto fresh = make();
  int failures = 0;
  const auto repeated = [&](const char* name, const auto& verb, const auto& checkState) {
    SCOPED_TRACE(name);
    for (int allocation = 1; fails(allocation, verb); ++allocation) {
      checkState();
      ++failures;
      ASSERT_LT(allocation, 1000);
    }
  };
  const auto checkAgainst = [&](const DeviceBsr& values) {
    fresh->initialize(a);
    fresh->compute(a); // patterns that follow the values are kept for those of b
    fresh->compute(values);
    m->apply(Exec(), x, y);
    const std::vector<double> actual = toHost(y);
    fresh->apply(Exec(), x, y);
    if (isDeterministic(GetParam())) {
      EXPECT_EQ(actual, toHost(y));
    }
    EXPECT_EQ(m->report().factor_entries, fresh->report().factor_entries);
  };
  repeated(
      "initialize", [&] { m->initialize(a); },
      [&] {
        EXPECT_FALSE(m->isInitialized());
        EXPECT_THROW(m->compute(a), InvalidArgument);
      });
  EXPECT_TRUE(m->isInitialized());
  repeated(
      "compute", [&] { m->compute(a); },
      [&] {
        EXPECT_TRUE(m->isInitialized());
        EXPECT_FALSE(m->isComputed());
        EXPECT_THROW(m->apply(Exec(), x, y), InvalidArgument);
      });
  for (const Trans trans : {Trans::No, Trans::Yes})
    repeated(
        "apply", [&] { m->apply(Exec(), x, y, trans, 2.0, 0.0); },
        [&] { EXPECT_TRUE(m->isComputed()); });
  checkAgainst(a);
  repeated(
      "compute again", [&] { m->compute(b); }, [&] { EXPECT_FALSE(m->isComputed()); });
  checkAgainst(b);
  EXPECT_GT(failures, 0);
}

/// After an error a smaller matrix may still fit.
TEST_P(EveryMethodWithoutMemory, TakesASmallerMatrixThen) {
  const DeviceBsr large = copyTo<Device>(spdMatrixOn(symmetricPattern(41, 5, 94), 3, 94));
  const HostBsr small = spdMatrixOn(symmetricPattern(13, 3, 95), 2, 95);
  const auto m = make();
  const auto setUpLarge = [&] {
    m->initialize(large);
    m->compute(large);
  };
  int allocations = 0;
  {
    const FailingAllocation counter;
    setUpLarge();
    allocations = counter.count();
  }
  const std::vector<double> x = Random(96).vector(26);
  const std::vector<double> expected = applied(*built(GetParam(), small), x);
  for (const int failing : {1, allocations / 2, allocations}) {
    fails(failing, setUpLarge);
    setUp(*m, small);
    if (isDeterministic(GetParam())) {
      EXPECT_EQ(applied(*m, x), expected) << "allocation " << failing << " failed";
    }
  }
}

/// The tests above see all allocations.
TEST_P(EveryMethodWithoutMemory, AllArraysComeFromOnePlace) {
  const DeviceBsr a = copyTo<Device>(shuffled(spdMatrixOn(symmetricPattern(41, 5, 97), 3, 97), 97));
  const auto x = poisoned(123, 3), y = poisoned(123, 3);
  const auto m = make();
  const FailingAllocation counter;
  const InstanceRecorder seen;
  m->initialize(a);
  m->compute(a);
  m->apply(Exec(), x, y, Trans::Yes, 2.0, 0.5);
  EXPECT_LE(ownArrays(seen.allocations()), counter.count()) << listOf(seen.allocations());
  EXPECT_GT(counter.count(), 0);
}

INSTANTIATE_TEST_SUITE_P(Methods, EveryMethodWithoutMemory, testing::ValuesIn(allMethods()));

TEST(OutOfMemory, SolversStayUsable) {
  const DeviceBsr a = copyTo<Device>(spdMatrixOn(symmetricPattern(41, 5, 98), 3, 98));
  const MatrixOperator<double, Device> operator_a(a);
  const auto m = createPreconditioner<double, Device>("jacobi");
  m->initialize(a);
  m->compute(a);
  const auto b = toDevice(Random(99).vector(123));
  const std::vector<NamedSolver> fresh = solverTable({});
  size_t number = 0;
  for (const NamedSolver& method : solverTable({})) {
    SCOPED_TRACE(method.name);
    const auto zero = std::vector<double>(123);
    const auto x = toDevice(zero), expected_x = toDevice(zero);
    int allocation = 1;
    while (fails(allocation, [&] { method.solver->solve(operator_a, m.get(), b, x); }))
      ASSERT_LT(++allocation, 1000);
    EXPECT_GT(allocation, 5);
    fresh[number].solver->solve(operator_a, m.get(), b, expected_x);
    EXPECT_EQ(toHost(x), toHost(expected_x));
    ++number;
  }
}

TEST(OutOfMemory, FunctionsTellWhatTheyWanted) {
  for (const Function& function : functionTable()) {
    SCOPED_TRACE(function.name);
    int allocation = 1;
    while (fails(allocation, [&] { function.run(Exec()); }))
      ASSERT_LT(++allocation, 1000);
    const FailingAllocation counter;
    const InstanceRecorder seen;
    function.run(Exec());
    EXPECT_LE(ownArrays(seen.allocations()), counter.count()) << listOf(seen.allocations());
  }
}

TEST(OutOfMemory, SizesBeyondAnyMemoryAreRefused) {
  const auto tooLarge = [](std::size_t n) {
    try {
      allocate<double, Device>(Exec(), "Ainvil::test", n);
    } catch (const OutOfMemory& error) {
      return contains(error.what(), "Ainvil::test");
    }
    return false;
  };
  EXPECT_TRUE(tooLarge(static_cast<std::size_t>(-1))); // 8 n wraps to less than that
  EXPECT_TRUE(tooLarge(std::size_t(1) << 61));         // and to 0
  EXPECT_TRUE(tooLarge(std::size_t(1) << 60));
  EXPECT_THROW((allocateView<MultiVector<double, Device>>(Exec(), "Ainvil::test", size_t(1) << 32,
                                                          size_t(1) << 29)),
               OutOfMemory);
  EXPECT_EQ(detail::arrayBytes("", 3'000'000'000u, 8), 24'000'000'000u);
  EXPECT_THROW(detail::arrayBytes("", 3'000'000'000'000'000'000u, 8), OutOfMemory);
}

/// What Kokkos itself throws, whatever its version.
TEST(OutOfMemory, ThatOfKokkosIsRecognised) {
  try {
    allocate<double, Device>(Exec(), "Ainvil::test", std::size_t(1) << 50);
    FAIL() << "no memory is that large";
  } catch (const OutOfMemory& error) {
    EXPECT_TRUE(contains(error.what(), message((std::size_t(1) << 53), " bytes for Ainvil::test")))
        << error.what();
  }
}

/// Other errors pass.
TEST(OutOfMemory, IsNotWhatElseGoesWrong) {
  const auto throwing = [](const auto& error) {
    detail::reportingOutOfMemory("a test", [&] { throw error; });
  };
  EXPECT_THROW(throwing(std::runtime_error("illegal memory access")), std::runtime_error);
  EXPECT_THROW(throwing(BreakdownError("a pivot failed")), BreakdownError);
  EXPECT_THROW(throwing(std::bad_alloc()), OutOfMemory);
  try {
    throwing(std::runtime_error("illegal memory access"));
  } catch (const OutOfMemory&) {
    FAIL();
  } catch (const std::runtime_error&) {
  }
}

/// Takes the memory of a GPU down to less than `left` bytes.
std::vector<Kokkos::View<char*, Device>> fullMemory(std::size_t left) {
  std::vector<Kokkos::View<char*, Device>> taken;
  for (std::size_t size = std::size_t(1) << 40; size >= left / 2;)
    try {
      taken.push_back(allocate<char, Device>(Exec(), "Ainvil::test", size));
    } catch (const OutOfMemory&) {
      size /= 2;
    }
  return taken;
}

TEST(OutOfMemory, OnTheDeviceLeavesObjectsUsable) {
  if (!compat::IsGpu<Exec>::value)
    GTEST_SKIP() << "nothing but a GPU has memory that ends without harm to others";
  constexpr std::size_t left = std::size_t(64) << 20;
  const HostBsr host_a = makeProblem("laplace7:128").matrix; // factors of 100 MB and more
  const DeviceBsr a = copyTo<Device>(host_a);
  const MatrixOperator<double, Device> operator_a(a);
  const std::vector<double> host_b = Random(1).vector(a.numPointRows());
  const auto b = toDevice(host_b), x = toDevice(host_b);
  SolverOptions options;
  options.tolerance = 0.01; // which takes Jacobi few iterations on so large a problem
  for (const std::string specification :
       {"jacobi", "ilu:solve=isai", "ic:solve=isai", "fsai", "ainv"}) {
    SCOPED_TRACE(specification);
    const auto first = built(specification, host_a); // also makes CUDA load the kernels
    const std::vector<double> expected = applied(*first, host_b);
    const auto m = createPreconditioner<double, Device>(specification);
    const auto gmres = std::move(solverTable(options)[1].solver);
    {
      const auto taken = fullMemory(left);
      EXPECT_THROW(
          {
            m->initialize(a);
            m->compute(a);
          },
          OutOfMemory);
      EXPECT_FALSE(m->isComputed());
      EXPECT_THROW(gmres->solve(operator_a, first.get(), b, x), OutOfMemory);
      first->apply(Exec(), asColumn(b), asColumn(x)); // needs no memory
      EXPECT_EQ(toHost(x), expected);
    }
    m->initialize(a);
    m->compute(a);
    EXPECT_EQ(applied(*m, host_b), expected);
    Kokkos::deep_copy(x, 0.0);
    EXPECT_EQ(gmres->solve(operator_a, m.get(), b, x).status, SolveStatus::Converged);
  }
}

} // namespace
