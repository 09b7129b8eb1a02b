// SPDX-License-Identifier: BSD-3-Clause
#include "krylov/Ainvil_KrylovSolver.hpp"

#include "Ainvil_Error.hpp"
#include "backend/Ainvil_Profiling.hpp"
#include "product/Ainvil_VectorKernels.hpp"

namespace ainvil {
namespace {

/// \throws InvalidArgument unless A is n x n, M is absent or n x n, and b and x have n entries.
template <class Operator>
void checkSystem(const char* solver, const Operator& a, const Operator* m, size_t b_size,
                 size_t x_size) {
  const Offset n = a.numRows();
  detail::requireSquare(solver, n, a.numCols());
  if (m != nullptr && (m->numRows() != n || m->numCols() != n))
    throw InvalidArgument(message(solver, " needs a preconditioner of the size ", n,
                                  " of A, but it is ", m->numRows(), " x ", m->numCols()));
  if (Offset(b_size) != n || Offset(x_size) != n)
    throw InvalidArgument(message(solver, " on ", n, " unknowns needs b and x of that size, ",
                                  "but they have ", b_size, " and ", x_size, " entries"));
}

/// Marks a solver as solving while it lives. \throws InvalidArgument if it is solving already.
class Solving {
public:
  Solving(std::atomic<bool>& flag, const char* solver) : flag_(flag) {
    if (flag_.exchange(true))
      throw InvalidArgument(message(solver,
                                    ": solve() was called on an object that is solving, but ",
                                    "it has one workspace: take another object for an inner ",
                                    "solve or for another thread"));
  }
  ~Solving() { flag_ = false; }
  Solving(const Solving&) = delete;
  Solving& operator=(const Solving&) = delete;

private:
  std::atomic<bool>& flag_;
};

bool finish(SolveResult& result, SolveStatus status, std::string text) {
  result.status = status;
  result.message = std::move(text);
  return true;
}

/// Judges the iterate whose true residual was just recomputed; `previous` is the true relative
/// residual at which the recurrence of `result` started. True if the solve is over.
bool isOver(const SolverOptions& options, double previous, SolveResult& result) {
  const double residual = result.true_rel_residual;
  if (residual <= options.tolerance)
    return finish(result, SolveStatus::Converged, "");
  if (!std::isfinite(residual))
    return finish(result, SolveStatus::Diverged, "the solution or its residual holds NaN or Inf");
  // A recurrence that starts from the true residual and yet reduces it by less than half of what it
  // announces works on rounding errors, and would again. Reductions by less than a hundredth are
  // too small to judge by.
  const double announced = previous - result.rel_residual;
  constexpr double noticeable = 0.01, credible = 0.5;
  if (announced > noticeable * previous && previous - residual < credible * announced)
    return finish(result, SolveStatus::Stagnated,
                  message("the recurrence is at the relative residual ", result.rel_residual,
                          ", but rounding keeps the true one at ", residual,
                          ": A or the preconditioner is close to singular or badly scaled; scale "
                          "or reorder A, take another preconditioner or a larger tolerance"));
  if (result.iterations >= options.max_iterations)
    return finish(result, SolveStatus::MaxIterations,
                  message("not converged after ", result.iterations, " iterations"));
  return false;
}

} // namespace

template <class Scalar, class Device>
KrylovSolver<Scalar, Device>::KrylovSolver(SolverOptions options, const char* name,
                                           const char* why_fixed)
    : options_(std::move(options)), name_(name), why_fixed_(why_fixed) {
  options_.validate();
}

template <class Scalar, class Device>
void KrylovSolver<Scalar, Device>::checkPreconditioner(const Operator& m) const {
  if (why_fixed_ != nullptr && !options_.allow_varying && !m.isFixed())
    throw InvalidArgument(message(name_, " needs a preconditioner that is the same linear map at ",
                                  "every application, because ", why_fixed_,
                                  "; take fgmres, or set allow_varying"));
}

template <class Scalar, class Device>
SolveResult KrylovSolver<Scalar, Device>::solve(const execution_space& exec, const Operator& a,
                                                const Operator* m, Vector<const Scalar, Device> b,
                                                Vector<Scalar, Device> x) {
  const Solving solving(solving_, name_);
  detail::requireKokkos<execution_space>();
  ScopedRegion region(message("Ainvil::solve[", name_, "]"));
  const Offset n = a.numRows(), unknowns = reduction_ != nullptr ? reduction_->total(n) : n;
  const auto prepare = [&] {
    checkSystem(name_, a, m, b.extent(0), x.extent(0));
    if (m != nullptr)
      checkPreconditioner(*m);
    detail::reportingOutOfMemory("solve()", [&] { reserve(exec, n, unknowns, m != nullptr); });
  };
  if (reduction_ != nullptr)
    reduction_->together(prepare);
  else
    prepare();
  return detail::reportingOutOfMemory("solve()", [&] { return iterate(exec, a, m, b, x); });
}

template <class Scalar, class Device>
void KrylovSolver<Scalar, Device>::setReduction(
    std::shared_ptr<const Reduction<Device>> reduction) {
  const Solving solving(solving_, name_);
  reduction_ = std::move(reduction);
  n_ = -1; // the workspace depends on whether there is one
}

/// With a workspace for b and x of these lengths.
template <class Scalar, class Device>
SolveResult KrylovSolver<Scalar, Device>::iterate(const execution_space& exec, const Operator& a,
                                                  const Operator* m, Vector<const Scalar, Device> b,
                                                  Vector<Scalar, Device> x) {
  const auto b_norm = meter_.norm(exec, asColumn(b));
  System system{exec, a, m, asColumn(x), b_norm.two};
  SolveResult result;
  if (start(system, asColumn(b), b_norm.is_zero, result))
    return result;

  double previous = result.true_rel_residual;
  while (!isOver(options_, previous, result)) {
    const Stop stop = run(system, result);
    previous = result.true_rel_residual;
    result.true_rel_residual =
        meter_.residual(exec, a, asColumn(b), system.x, residual()) / system.reference;
    constexpr double worth_a_run = 0.9; // a run that takes off less is not followed by another
    const bool better = result.true_rel_residual <= worth_a_run * previous;
    const bool goes_on = stop.status == SolveStatus::Converged || (stop.unless_better && better);
    if (goes_on || result.true_rel_residual <= options_.tolerance ||
        !std::isfinite(result.true_rel_residual))
      continue; // isOver() says how it ends, or that it goes on
    finish(result, stop.status,
           message(stop.reason, ", after iteration ", result.iterations,
                   stop.advice.empty() ? "" : ": ", stop.advice));
    return result;
  }
  return result;
}

template <class Scalar, class Device>
void KrylovSolver<Scalar, Device>::reserve(const execution_space& exec, Offset n, Offset unknowns,
                                           bool preconditioned) {
  if (n == n_ && unknowns == unknowns_ && preconditioned <= preconditioned_)
    return;
  n_ = -1; // until all allocations have succeeded
  unknowns_ = unknowns;
  shape_ = detail::SumTeams::forRows(exec, n);
  meter_ = detail::ResidualMeter<Scalar, Device>(exec, n, reduction());
  allocate(exec, n, preconditioned);
  n_ = n;
  preconditioned_ = preconditioned;
}

/// Measures the initial residual and chooses the norm that residuals are relative to, which comes
/// as
/// ||b||. True if that already settles the matter.
template <class Scalar, class Device>
bool KrylovSolver<Scalar, Device>::start(System& system, ConstVectorArg b, bool b_is_zero,
                                         SolveResult& result) {
  const auto settle = [&](SolveStatus status, double rel_residual, const char* text) {
    result.rel_residual = result.true_rel_residual = rel_residual;
    result.history.assign(1, rel_residual);
    return finish(result, status, text);
  };
  if (b_is_zero) {
    detail::fillVector<Scalar, Device>(system.exec, Scalar(0), system.x);
    return settle(SolveStatus::Converged, 0, "");
  }
  if (!std::isfinite(system.reference))
    return settle(SolveStatus::Diverged, system.reference,
                  "b holds NaN or Inf, or its norm overflows");
  // Squares underflow below 2.2e-308, those of entries below 1.5e-154: with this norm, 1e-9 of it
  // and less, which no sum in double notices.
  constexpr double smallest_norm = 1e-145;
  if (system.reference < smallest_norm)
    return settle(SolveStatus::Breakdown, 1, "the norm of b underflows: scale the system");
  const double r_norm = meter_.residual(system.exec, system.a, b, system.x, residual());
  if (!std::isfinite(r_norm))
    return settle(SolveStatus::Diverged, r_norm,
                  "the initial x or its residual b - A x holds NaN or Inf, or its norm overflows");
  if (options_.relative_to == ResidualScale::InitialResidual && r_norm > 0) {
    system.reference = r_norm;
    if (r_norm < smallest_norm)
      return settle(SolveStatus::Breakdown, 1, "the norm of b - A x underflows: scale the system");
  } else if (options_.relative_to == ResidualScale::One) {
    system.reference = 1;
  }
  settle(SolveStatus::Converged, r_norm / system.reference, "");
  if (result.rel_residual <= options_.tolerance)
    return true;
  std::string objection = system.m != nullptr ? system.m->objection() : "";
  if (reduction_ != nullptr && reduction_->total(objection.empty() ? 0 : 1) > 0 &&
      objection.empty())
    objection = "the preconditioner of another process objects";
  return !objection.empty() && finish(result, SolveStatus::Diverged, objection);
}

#define AINVIL_INSTANTIATE(DEVICE)                                                                 \
  template class KrylovSolver<double, DEVICE>;                                                     \
  template class KrylovSolver<float, DEVICE>;
AINVIL_FOR_EACH_DEVICE(AINVIL_INSTANTIATE)

} // namespace ainvil
