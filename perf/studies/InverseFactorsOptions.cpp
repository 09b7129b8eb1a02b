// SPDX-License-Identifier: BSD-3-Clause
#include "studies/InverseFactorsOptions.hpp"

#include "program/CommandLineOptions.hpp"

#include <cmath>

namespace ainvil {
namespace perf {
namespace {

template <class T>
void addList(CLI::App& app, const char* option, std::vector<T>& values, const char* type,
             const char* meaning) {
  app.add_option(option, values, message(meaning, "; repeatable, default ", values[0]))
      ->allow_extra_args(false)
      ->type_name(type)
      ->type_size(1);
}

} // namespace

InverseFactorsOptions parseInverseFactorsOptions(const std::vector<std::string>& arguments) {
  InverseFactorsOptions options;
  CLI::App app("Compares AINV, SAINV and BAINV as preconditioners of CG on scaled SPD systems.",
               "ainvil-inverse-factors");
  addStudyOptions(app, options,
                  "Kokkos' default execution space, its host space, or the latter and then the "
                  "former",
                  {"default", "host", "both"});
  addList(app, "--drop", options.drops, "T", "drop tolerance");
  addList(app, "--parts", options.parts, "N", "parts of BAINV");
  addChoice(app, "--order", options.order, "elimination order; default nd",
            {"natural", "rcm", "nd"});
  addNumber(app, "--tol", options.tolerance, "T", "stop at ||b - A x|| <= T ||b||");
  addNumber(app, "--max-iters", options.max_iterations, "N", "most iterations");
  Studies studies(app, options);
  studies.add("compare", "no preconditioner, Jacobi, AINV, SAINV and BAINV");
  studies.add("parts", "BAINV against the number of its parts");
  studies.add("size", "BAINV, and AINV and SAINV with about as many entries");
  studies.add("formats",
              "CG without and with SAINV, products in CSR, ours and cuSPARSE's, and COO");
  parseStudy(app, options, arguments, {"poisson5:300", "laplace7:40", "jump:40", "shell:80"});
  requireAtLeast("--max-iters", options.max_iterations, 0);
  requireTolerance("--tol", options.tolerance);
  for (const int parts : options.parts)
    requireAtLeast("--parts", parts, 1);
  for (const double drop : options.drops)
    if (!(drop >= 0) || !std::isfinite(drop))
      throw InvalidArgument(message("--drop must be a finite number >= 0, but it is ", drop));
  return options;
}

AinvParameters ainvParameters(const InverseFactorsOptions& options, double drop) {
  AinvParameters parameters;
  parameters.drop = drop;
  parameters.drop_rule = DropRule::Absolute; // as in the thesis
  parameters.order = orderingNamed(options.order);
  return parameters;
}

SolverOptions solverOptions(const InverseFactorsOptions& options) {
  SolverOptions result;
  result.tolerance = options.tolerance;
  result.max_iterations = options.max_iterations;
  return result;
}

} // namespace perf
} // namespace ainvil
