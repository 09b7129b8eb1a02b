// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Solver.hpp"

#include "Ainvil_Error.hpp"

#include <cmath>

namespace ainvil {

void SolverOptions::validate() const {
  if (!(tolerance >= 0) || !std::isfinite(tolerance))
    throw InvalidArgument(
        message("the solver tolerance must be a finite number >= 0, but it is ", tolerance));
  if (!(absolute_tolerance >= 0) || !std::isfinite(absolute_tolerance))
    throw InvalidArgument(message("the absolute tolerance must be a finite number >= 0, but it is ",
                                  absolute_tolerance));
  if (!(time_limit >= 0) || !std::isfinite(time_limit))
    throw InvalidArgument(
        message("the time limit must be a finite number of seconds >= 0 (0: none), but it is ",
                time_limit));
  if (max_iterations < 0)
    throw InvalidArgument(message("max_iterations must be >= 0, but it is ", max_iterations));
  if (restart < 1)
    throw InvalidArgument(message("the restart length must be >= 1, but it is ", restart));
  if (basis == Storage::BFloat16)
    throw InvalidArgument("a basis in bfloat16 is too coarse to be orthogonal: take float");
  if (check_interval < 0)
    throw InvalidArgument(
        message("check_interval must be >= 0 (0: default), but it is ", check_interval));
}

const char* toString(SolveStatus status) {
  switch (status) {
  case SolveStatus::Converged:
    return "converged";
  case SolveStatus::MaxIterations:
    return "max_iterations";
  case SolveStatus::Breakdown:
    return "breakdown";
  case SolveStatus::Diverged:
    return "diverged";
  case SolveStatus::Stagnated:
    return "stagnated";
  case SolveStatus::TimeLimit:
    return "time_limit";
  case SolveStatus::Stopped:
    return "stopped";
  }
  return "unknown";
}

} // namespace ainvil
