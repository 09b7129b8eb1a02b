// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ranks/Reference.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"
#include "Ainvil_Solver.hpp"
#include "backend/Ainvil_KokkosCompat.hpp"
#include "gallery/Ainvil_Gallery.hpp"

namespace ainvil {
namespace reference {
namespace {

bool started = false;

void start() {
  if (!Kokkos::is_initialized()) {
    compat::initializeQuietly();
    started = true;
  }
}

BsrMatrix<double, HostDevice> matrixOf(const System& system) {
  start();
  return csr<HostDevice>(system.numBlockRows(), system.row_map, system.entries, system.values,
                         system.block_size);
}

} // namespace

System gallerySystem(const std::string& problem) {
  start();
  const Problem made = makeProblem(problem);
  const auto& graph = made.matrix.graph;
  System system;
  system.block_size = made.matrix.block_size;
  system.row_map.assign(graph.row_map.data(), graph.row_map.data() + graph.row_map.extent(0));
  system.entries.assign(graph.entries.data(), graph.entries.data() + graph.entries.extent(0));
  system.values.assign(made.matrix.values.data(),
                       made.matrix.values.data() + made.matrix.values.extent(0));
  system.rhs.assign(system.numRows(), 1);
  return system;
}

int iterationsOf(const System& system, const std::string& solver, const std::string& precond,
                 double tolerance) {
  const auto a = matrixOf(system);
  const auto m = createPreconditioner(precond, a);
  SolverOptions options;
  options.tolerance = tolerance;
  options.max_iterations = 5000;
  std::vector<double> x(system.numRows(), 0);
  const auto result = solve(solver, a, m.get(), system.rhs, x, options);
  return result.status == SolveStatus::Converged ? static_cast<int>(result.iterations) : -1;
}

std::vector<double> applied(const System& system, const std::string& precond,
                            const std::vector<double>& x, bool transposed) {
  const auto a = matrixOf(system);
  const auto m = createPreconditioner(precond, a);
  std::vector<double> y(x.size());
  m->apply(HostDevice::execution_space(),
           MultiVectorArg<const double, HostDevice>(x.data(), x.size(), 1),
           MultiVectorArg<double, HostDevice>(y.data(), y.size(), 1),
           transposed ? Trans::Yes : Trans::No);
  return y;
}

std::vector<std::pair<std::string, std::vector<std::string>>> methodsAndKeys() {
  std::vector<std::pair<std::string, std::vector<std::string>>> methods;
  for (const MethodHelp& method : preconditionerHelp()) {
    methods.emplace_back(method.name, std::vector<std::string>());
    for (const auto& parameters : {commonParameterHelp(), method.parameters})
      for (const ParameterHelp& parameter : parameters)
        methods.back().second.push_back(parameter.key);
  }
  return methods;
}

void stop() {
  if (started && Kokkos::is_initialized())
    Kokkos::finalize();
}

} // namespace reference
} // namespace ainvil
