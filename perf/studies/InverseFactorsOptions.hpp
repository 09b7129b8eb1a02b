// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The command line of ainvil-inverse-factors, and what its studies have in common.

#include "studies/StudyOptions.hpp"

#include "Ainvil_Ainv.hpp"
#include "Ainvil_Solver.hpp"

namespace ainvil {
namespace perf {

struct InverseFactorsOptions : StudyOptions { ///< study: compare, parts, size or formats
  std::vector<double> drops = {0.1};
  std::vector<int> parts = {64};
  std::string order = "nd";
  double tolerance = 1e-5;
  int max_iterations = 10000;
};

/// Parses the arguments behind the name of the program. \throws InvalidArgument
InverseFactorsOptions parseInverseFactorsOptions(const std::vector<std::string>& arguments);

/// SAINV with that drop tolerance, in the order of the options.
AinvParameters ainvParameters(const InverseFactorsOptions& options, double drop);

/// Of CG.
SolverOptions solverOptions(const InverseFactorsOptions& options);

} // namespace perf
} // namespace ainvil
