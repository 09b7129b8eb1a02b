// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// What the interface promises of every method, solver and function: all kernels run on the
/// instance that is given, and what is asynchronous allocates nothing and does not wait.

#include "KokkosObservers.hpp"
#include "precond/FunctionTable.hpp"

#include <algorithm>

namespace {

using namespace ainvil;
using namespace ainvil::test;

std::uint32_t numberOf(const Exec& exec) {
  return Kokkos::Tools::Experimental::device_id(exec);
}

/// `host_too`: orderings and partitions are found on the host.
void expectOn(const Exec& exec, const std::vector<ToolEvent>& events, bool host_too = false) {
  const std::uint32_t host = Kokkos::Tools::Experimental::device_id(HostDevice::execution_space());
  for (const ToolEvent& event : events) {
    // Old versions of Kokkos tell 0, which is no instance, where they fill new views.
    if (event.instance == 0 && event.label.rfind("Kokkos::View::initialization", 0) == 0)
      continue;
    EXPECT_TRUE(event.instance == numberOf(exec) || (host_too && event.instance == host))
        << "'" << event.label << "' on instance " << event.instance << ", not on "
        << numberOf(exec);
  }
}

void expectOwn(const std::vector<ToolEvent>& kernels) {
  std::vector<std::string> labels;
  for (const ToolEvent& kernel : kernels)
    labels.push_back(kernel.label);
  expectOwnLabels(labels);
}

TEST(Instance, OfTheTestsIsNotTheDefaultOneOnGpus) {
  if (!compat::IsGpu<Exec>::value || !compat::has_instances)
    GTEST_SKIP() << "Kokkos gives all instances of a host the same number, and has one before 4";
  EXPECT_NE(numberOf(compat::newInstance<Exec>()), numberOf(Exec()));
}

/// A method that gets a new key is tested with it; `auto` has kernels of others only.
TEST(Instance, AllMethodsHasEveryKeyOfEveryMethod) {
  const std::vector<std::string> methods = allMethods();
  for (const MethodHelp& method : preconditionerHelp()) {
    if (method.name == "auto")
      continue;
    const auto has = [&](const std::string& text) {
      return std::any_of(methods.begin(), methods.end(), [&](const std::string& specification) {
        return specification.rfind(method.name, 0) == 0 && contains(specification, text);
      });
    };
    EXPECT_TRUE(has("")) << method.name;
    for (const ParameterHelp& parameter : method.parameters)
      EXPECT_TRUE(has(parameter.key + "=")) << method.name << ", " << parameter.key;
  }
  for (const ParameterHelp& parameter : commonParameterHelp())
    EXPECT_TRUE(std::any_of(methods.begin(), methods.end(), [&](const std::string& specification) {
      return contains(specification, parameter.key + "=");
    })) << parameter.key;
}

class EveryMethod : public testing::TestWithParam<std::string> {};

TEST_P(EveryMethod, RunsOnTheGivenInstance) {
  const Pattern pattern = symmetricPattern(61, 5, 53);
  const DeviceBsr a = copyTo<Device>(spdMatrixOn(pattern, 3, 53));
  // The factors of ainv have as many entries as the values ask for.
  const int seed = contains(GetParam(), "ainv") ? 53 : 54;
  const DeviceBsr again = copyTo<Device>(spdMatrixOn(pattern, 3, seed));
  const auto x = toDevice(Random(1).vector(183 * 3), 183, 3), y = poisoned(183, 3);
  const Exec exec = compat::newInstance<Exec>();
  const auto m = createPreconditioner<double, Device>(GetParam());
  {
    const InstanceRecorder seen;
    m->initialize(exec, a);
    expectOn(exec, seen.kernels(), true);
    expectOwn(seen.kernels());
  }
  {
    const InstanceRecorder seen;
    m->compute(exec, a);
    EXPECT_FALSE(seen.kernels().empty());
    expectOn(exec, seen.kernels(), contains(GetParam(), "match=")); // from values, on the host
    expectOwn(seen.kernels());
  }
  const auto applyAll = [&] {
    m->apply(exec, x, y);
    m->apply(exec, x, y, Trans::Yes);
    m->apply(exec, x, y, Trans::No, 2.0, 0.5);
  };
  applyAll();
  if (contains(GetParam(), "ainv")) // the second one makes room for columns besides the first's
    m->compute(exec, again);
  exec.fence();
  {
    const InstanceRecorder seen;
    m->compute(exec, again);
    expectOn(exec, seen.kernels());
    expectOn(exec, seen.fences());
    EXPECT_TRUE(seen.allocations().empty()) << listOf(seen.allocations());
  }
  {
    const InstanceRecorder seen;
    applyAll();
    EXPECT_GE(seen.kernels().size(), 3u);
    expectOn(exec, seen.kernels());
    expectOwn(seen.kernels());
    EXPECT_TRUE(seen.fences().empty()) << listOf(seen.fences());
    EXPECT_TRUE(seen.allocations().empty()) << listOf(seen.allocations());
  }
  exec.fence();
}

INSTANTIATE_TEST_SUITE_P(Methods, EveryMethod, testing::ValuesIn(allMethods()));

TEST(Instance, SolversRunOnTheGivenOne) {
  const DeviceBsr a = copyTo<Device>(spdMatrixOn(symmetricPattern(61, 5, 57), 3, 57));
  const Exec exec = compat::newInstance<Exec>();
  const MatrixOperator<double, Device> operator_a(a, exec);
  const auto m = createPreconditioner<double, Device>("jacobi");
  m->initialize(exec, a);
  m->compute(exec, a);
  const auto b = toDevice(Random(2).vector(183));
  for (const NamedSolver& method : solverTable({}))
    for (Method* preconditioner : {static_cast<Method*>(nullptr), m.get()}) {
      SCOPED_TRACE(method.name);
      const auto x = toDevice(std::vector<double>(183)), other = toDevice(std::vector<double>(183));
      {
        const InstanceRecorder seen;
        method.solver->solve(exec, operator_a, preconditioner, b, x);
        expectOn(exec, seen.kernels());
      }
      const InstanceRecorder seen;
      const SolveResult result = method.solver->solve(exec, operator_a, preconditioner, b, other);
      EXPECT_EQ(result.status, SolveStatus::Converged);
      EXPECT_GE(int(seen.kernels().size()), 2 * result.iterations);
      expectOn(exec, seen.kernels());
      expectOn(exec, seen.fences());
      expectOwn(seen.kernels());
      EXPECT_TRUE(seen.allocations().empty()) << listOf(seen.allocations());
    }
}

TEST(Instance, FunctionsRunOnTheGivenOne) {
  const Exec exec = compat::newInstance<Exec>();
  for (const Function& function : functionTable()) {
    SCOPED_TRACE(function.name);
    function.run(exec); // the first team kernel of a process makes Kokkos allocate
    exec.fence();
    {
      const InstanceRecorder seen;
      function.run(exec);
      EXPECT_FALSE(seen.kernels().empty());
      expectOn(exec, seen.kernels());
      expectOwn(seen.kernels());
      if (function.end == End::Asynchronous) {
        EXPECT_TRUE(seen.fences().empty()) << listOf(seen.fences());
        EXPECT_TRUE(seen.allocations().empty()) << listOf(seen.allocations());
      }
    }
    exec.fence();
  }
}

TEST(Instance, HasNothingLeftToDoWhereAFunctionWaits) {
  const Exec exec = compat::newInstance<Exec>();
  {
    const InstanceRecorder seen;
    exec.fence();
    if (seen.fences().empty())
      GTEST_SKIP() << "this Kokkos does not tell of fences";
  }
  for (const Function& function : functionTable())
    if (function.end == End::Waits) {
      SCOPED_TRACE(function.name);
      const InstanceRecorder seen;
      function.run(exec);
      EXPECT_TRUE(seen.endsInAFence());
    }
}

} // namespace
