// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Recommend.hpp"

#include "Ainvil_Factory.hpp"
#include "race/Ainvil_Race.hpp"

#include <cmath>

namespace ainvil {
namespace {

void check(const RecommendOptions& options) {
  if (!(options.tolerance > 0) || !(options.tolerance < 1))
    throw InvalidArgument(
        message("recommend() needs a tolerance > 0 and < 1, but it is ", options.tolerance));
  if (options.max_iterations < 0)
    throw InvalidArgument(
        message("recommend() needs max_iterations >= 0, but it is ", options.max_iterations));
  if (!(options.budget >= 0))
    throw InvalidArgument(
        message("recommend() needs a budget of seconds >= 0, but it is ", options.budget));
  if (!(options.times_of_best > 0) || !(options.seconds_besides >= 0))
    throw InvalidArgument(
        message("recommend() needs times_of_best > 0 and seconds_besides >= 0, but they are ",
                options.times_of_best, " and ", options.seconds_besides));
}

/// Everything solves a system without unknowns.
Recommendation ofNoRows(const RecommendOptions& options) {
  RaceEntry entry;
  const bool has_name = !options.solver.empty() && options.solver != detail::usual_solver;
  entry.solver = has_name ? options.solver : "gmres";
  entry.precond = "none";
  entry.status = toString(SolveStatus::Converged);
  entry.rel_residual = 0;
  Recommendation result;
  result.race = {entry};
  result.best = result.smallest = result.for_many_rhs = result.for_many_values = 0;
  result.specification = entry.precond;
  result.solver = entry.solver;
  result.options.tolerance = options.tolerance;
  result.options.max_iterations = options.max_iterations;
  return result;
}

} // namespace

std::string Configuration::text(int own_block_size) const {
  const bool restarts = solver == "gmres" || solver == "fgmres";
  return solver + (restarts ? message("(", restart, ")") : std::string()) + " " + precond +
         (block_size != own_block_size ? message(" in blocks of ", block_size) : std::string());
}

template <class Scalar, class Device>
Recommendation recommend(const typename Device::execution_space& exec,
                         const BsrMatrix<Scalar, Device>& a, detail::RhsArg<Scalar, Device> b,
                         RecommendOptions options) {
  check(options);
  if (!options.preconds.empty() && options.solver.empty())
    options.solver = detail::usual_solver;
  SolverOptions of_solver;
  of_solver.restart = options.restart;
  if (!options.solver.empty() && options.solver != detail::usual_solver)
    createSolver<Scalar, Device>(options.solver, of_solver); // refuses an unknown one
  for (const std::string& precond : options.preconds)
    createPreconditioner<Scalar, Device>(precond); // likewise
  detail::requireKokkos<typename Device::execution_space>();
  detail::requireSquare("recommend()", a.numPointRows(), a.numPointCols());
  if (Offset(b.extent(0)) != a.numPointRows())
    throw InvalidArgument(message("recommend() needs a b of ", a.numPointRows(),
                                  " entries, as A has rows, but it has ", b.extent(0)));
  if (a.numRows() == 0)
    return ofNoRows(options);
  const ScopedRegion region("Ainvil::recommend");
  return detail::Race<Scalar, Device>(exec, a, b, std::move(options)).run();
}

template <class Scalar, class Device>
Recommendation recommend(const BsrMatrix<Scalar, Device>& a, const std::vector<Scalar>& b,
                         RecommendOptions options) {
  const typename Device::execution_space exec;
  const auto on_device = allocate<Scalar, Device>(exec, "Ainvil::b", b.size());
  Kokkos::deep_copy(exec, on_device,
                    Kokkos::View<const Scalar*, Kokkos::HostSpace>(b.data(), b.size()));
  return recommend<Scalar, Device>(exec, a, on_device, std::move(options));
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template Recommendation recommend(const DEVICE::execution_space&,                                \
                                    const BsrMatrix<SCALAR, DEVICE>&,                              \
                                    detail::RhsArg<SCALAR, DEVICE>, RecommendOptions);             \
  template Recommendation recommend(const BsrMatrix<SCALAR, DEVICE>&, const std::vector<SCALAR>&,  \
                                    RecommendOptions);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace ainvil
