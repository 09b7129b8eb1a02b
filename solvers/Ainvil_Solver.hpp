// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the Krylov solvers share: options, status and result.

#include "Ainvil_LinearOperator.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ainvil {

/// Options of an iterative solver; each solver reads the ones that concern it.
struct SolverOptions {
  double tolerance = 1e-8;   ///< stop at ||b - A x|| / ||b|| <= tolerance, 2-norms; >= 0
  int max_iterations = 1000; ///< >= 0; 0 only measures the initial guess
  int restart = 30;          ///< GMRES: basis vectors of a cycle; >= 1
  /// Iterations between two looks of the host at the residual; >= 0. Results do not depend on it.
  /// 0: 1 on hosts; 10 on GPUs, where a look costs the time of several kernels and the few
  /// iterations run in vain after convergence cost less.
  int check_interval = 0;
  /// Called at every look of the host with the last finished iteration and its relative residual.
  std::function<void(int iteration, double rel_residual)> progress;

  /// \throws InvalidArgument naming the first option out of range.
  void validate() const;
};

enum class SolveStatus {
  Converged,     ///< the true residual meets the tolerance
  MaxIterations, ///< max_iterations were run
  Breakdown,     ///< the method cannot go on: singular or indefinite operator
  Diverged,      ///< NaN or Inf appeared
  Stagnated      ///< rounding keeps the true residual above the tolerance
};

const char* toString(SolveStatus status);

struct SolveResult {
  SolveStatus status = SolveStatus::Converged;
  int iterations = 0;
  double rel_residual = 0;      ///< as the recurrence of the method has it
  double true_rel_residual = 0; ///< recomputed from b - A x
  /// Relative residual by recurrence after each iteration; [0] is that of the initial guess.
  std::vector<double> history;
  std::string message; ///< one sentence for the reader of a log; empty if converged
};

namespace detail {

/// A parameter type that takes no part in template argument deduction, so that callers may pass
/// anything convertible to it.
template <class T>
struct NonDeduced {
  using type = T;
};

/// \throws InvalidArgument unless A is n x n, M is absent or n x n, and b and x have n entries.
void checkSystem(const char* solver, Offset a_rows, Offset a_cols, bool has_m, Offset m_rows,
                 Offset m_cols, Offset b_size, Offset x_size);

template <class Scalar, class Device>
void checkSystem(const char* solver, const LinearOperator<Scalar, Device>& a,
                 const LinearOperator<Scalar, Device>* m, size_t b_size, size_t x_size) {
  checkSystem(solver, a.numRows(), a.numCols(), m != nullptr, m ? m->numRows() : 0,
              m ? m->numCols() : 0, Offset(b_size), Offset(x_size));
}

/// Iterations between looks of the host, the default filled in.
template <class Device>
int checkInterval(const SolverOptions& options) {
  if (options.check_interval > 0)
    return options.check_interval;
  return compat::IsGpu<typename Device::execution_space>::value ? 10 : 1;
}

} // namespace detail
} // namespace ainvil
