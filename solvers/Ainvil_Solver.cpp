// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_ResidualMeter.hpp"

namespace ainvil {

void SolverOptions::validate() const {
  if (!(tolerance >= 0) || !std::isfinite(tolerance))
    throw InvalidArgument(
        message("the solver tolerance must be a finite number >= 0, but it is ", tolerance));
  if (max_iterations < 0)
    throw InvalidArgument(message("max_iterations must be >= 0, but it is ", max_iterations));
  if (restart < 1)
    throw InvalidArgument(message("the restart length must be >= 1, but it is ", restart));
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
  }
  return "unknown";
}

namespace detail {

void checkSystem(const char* solver, Offset a_rows, Offset a_cols, bool has_m, Offset m_rows,
                 Offset m_cols, Offset b_size, Offset x_size) {
  if (a_rows != a_cols)
    throw InvalidArgument(
        message(solver, " needs a square matrix, but A is ", a_rows, " x ", a_cols));
  if (has_m && (m_rows != a_rows || m_cols != a_rows))
    throw InvalidArgument(message(solver, " needs a preconditioner of the size ", a_rows,
                                  " of A, but it is ", m_rows, " x ", m_cols));
  if (b_size != a_rows || x_size != a_rows)
    throw InvalidArgument(message(solver, " on ", a_rows, " unknowns needs b and x of that size, ",
                                  "but they have ", b_size, " and ", x_size, " entries"));
}

bool isOver(const SolverOptions& options, double previous, SolveResult& result) {
  const double residual = result.true_rel_residual;
  const auto stop = [&](SolveStatus status, std::string text) {
    result.status = status;
    result.message = std::move(text);
    return true;
  };
  if (residual <= options.tolerance)
    return stop(SolveStatus::Converged, "");
  if (!std::isfinite(residual))
    return stop(SolveStatus::Diverged, "the recomputed residual holds NaN or Inf");
  // A recurrence that starts from the true residual and yet reduces it by less than half of what it
  // announces works on rounding errors, and would again.
  const double announced = previous - result.rel_residual;
  constexpr double noticeable = 0.01;
  if (announced > noticeable * previous && previous - residual < 0.5 * announced)
    return stop(SolveStatus::Stagnated,
                message("the recurrence is at the relative residual ", result.rel_residual,
                        ", but rounding keeps the true one at ", residual));
  if (result.iterations >= options.max_iterations)
    return stop(SolveStatus::MaxIterations,
                message("not converged after ", result.iterations, " iterations"));
  return false;
}

} // namespace detail
} // namespace ainvil
