// SPDX-License-Identifier: BSD-3-Clause
#include "krylov/Ainvil_KrylovSolver.hpp"

#include "Ainvil_Error.hpp"
#include "backend/Ainvil_Profiling.hpp"
#include "product/Ainvil_VectorKernels.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace ainvil {
namespace {

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
bool isOver(const SolverOptions& options, double tolerance, double epsilon, double previous,
            SolveResult& result) {
  const double residual = result.true_rel_residual;
  if (residual <= tolerance)
    return finish(result, SolveStatus::Converged, "");
  if (!std::isfinite(residual))
    return finish(result, SolveStatus::Diverged, "the solution or its residual holds NaN or Inf");
  // A recurrence that starts from the true residual and yet reduces it by less than half of what it
  // announces works on rounding errors, and would again. Reductions by less than a hundredth are
  // too small to judge by.
  const double announced = previous - result.rel_residual;
  constexpr double noticeable = 0.01, credible = 0.5;
  if (announced > noticeable * previous && previous - residual < credible * announced) {
    const bool below_rounding = tolerance < 1000 * epsilon;
    const bool is_double = epsilon < std::numeric_limits<float>::epsilon();
    return finish(
        result, SolveStatus::Stagnated,
        message("the recurrence is at the relative residual ", result.rel_residual,
                ", but rounding keeps the true one at ", residual,
                below_rounding
                    ? message(": the tolerance is close to the precision of the vectors; "
                              "take ",
                              is_double ? "" : "vectors of double or ", "a larger tolerance")
                    : ": A or the preconditioner is close to singular or badly scaled; "
                      "scale or reorder A, take another preconditioner or a larger "
                      "tolerance"));
  }
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

/// \throws InvalidArgument unless A is n x n, M is absent or n x n, and b and x have n rows and as
/// many columns as one another.
template <class Scalar, class Device>
template <class B, class X>
void KrylovSolver<Scalar, Device>::checkSystem(const Operator& a, const Operator* m, const B& b,
                                               const X& x) const {
  const Offset n = a.numPointRows();
  detail::requireSquare(name_, n, a.numPointCols());
  if (m != nullptr && (m->numPointRows() != n || m->numPointCols() != n))
    throw InvalidArgument(message(name_, " needs a preconditioner of the size ", n,
                                  " of A, but it is ", m->numPointRows(), " x ",
                                  m->numPointCols()));
  if (Offset(b.extent(0)) != n || Offset(x.extent(0)) != n)
    throw InvalidArgument(message(name_, " on ", n, " unknowns needs b and x of that size, ",
                                  "but they have ", b.extent(0), " and ", x.extent(0), " entries"));
  if (b.extent(1) != x.extent(1))
    throw InvalidArgument(message(name_, " needs as many columns of x as of b, but they have ",
                                  x.extent(1), " and ", b.extent(1)));
}

template <class Scalar, class Device>
SolveResult KrylovSolver<Scalar, Device>::solve(const execution_space& exec, const Operator& a,
                                                const Operator* m, Vector<const Scalar, Device> b,
                                                Vector<Scalar, Device> x) {
  const Solving solving(solving_, name_);
  solveAll(exec, a, m, asColumn(b), asColumn(x), &single_);
  return std::move(single_);
}

template <class Scalar, class Device>
SolveResult KrylovSolver<Scalar, Device>::resume(const execution_space& exec, const Operator& a,
                                                 const Operator* m, Vector<const Scalar, Device> b,
                                                 Vector<Scalar, Device> x) {
  const Solving solving(solving_, name_);
  ScopedRegion region(message("Ainvil::solve[", name_, "]"));
  checkSystem(a, m, asColumn(b), asColumn(x));
  if (!is_paused_ || a.numPointRows() != n_ || (m != nullptr && !preconditioned_))
    throw InvalidArgument(message(name_, ": resume() goes on with a solve of the same system that ",
                                  "an exception out of progress has ended, but there is none"));
  is_paused_ = false;
  detail::reportingOutOfMemory("solve()", [&] {
    iterate({exec, a, preconditionerOfRun(m), asColumn(x), targets_, true}, asColumn(b), &single_);
  });
  return std::move(single_);
}

template <class Scalar, class Device>
std::vector<SolveResult> KrylovSolver<Scalar, Device>::solve(const execution_space& exec,
                                                             const Operator& a, const Operator* m,
                                                             MultiVector<const Scalar, Device> b,
                                                             MultiVector<Scalar, Device> x) {
  const Solving solving(solving_, name_);
  auto results = detail::reportingOutOfMemory(
      "solve()", [&] { return std::vector<SolveResult>(b.extent(1)); });
  solveAll(exec, a, m, b, x, results.data());
  return results;
}

template <class Scalar, class Device>
void KrylovSolver<Scalar, Device>::solveAll(const execution_space& exec, const Operator& a,
                                            const Operator* m, ConstVectorArg b, VectorArg x,
                                            SolveResult* results) {
  is_paused_ = false;
  detail::requireKokkos<execution_space>();
  ScopedRegion region(message("Ainvil::solve[", name_, "]"));
  const Offset n = a.numPointRows(), unknowns = reduction_ != nullptr ? reduction_->total(n) : n;
  timer_.reset();
  ended_ = SolveStatus::Converged;
  const Offset columns = b.extent(1), together = Columns::capacity;
  std::fill_n(results, columns, SolveResult());
  const auto prepare = [&] {
    checkSystem(a, m, b, x);
    if (m != nullptr)
      checkPreconditioner(*m);
    detail::checkWeights<Scalar, Device>(exec, weights_, n);
    detail::reportingOutOfMemory("solve()", [&] {
      reserve(exec, n, unknowns, m != nullptr, static_cast<int>(std::min(columns, together)));
    });
  };
  if (reduction_ != nullptr)
    reduction_->together(prepare);
  else
    prepare();
  detail::reportingOutOfMemory("solve()", [&] {
    for (Offset first = 0; first < columns; first += together) {
      const auto range = std::make_pair(first, std::min(first + together, columns));
      columns_ = static_cast<int>(range.second - first);
      iterate({exec, a, preconditionerOfRun(m), Kokkos::subview(x, Kokkos::ALL(), range), targets_},
              Kokkos::subview(b, Kokkos::ALL(), range), results + first);
    }
  });
}

template <class Scalar, class Device>
void KrylovSolver<Scalar, Device>::setReduction(
    std::shared_ptr<const Reduction<Device>> reduction) {
  const Solving solving(solving_, name_);
  reduction_ = std::move(reduction);
  n_ = -1; // the workspace depends on whether there is one
  is_paused_ = false;
}

template <class Scalar, class Device>
void KrylovSolver<Scalar, Device>::setWeights(Vector<const Scalar, Device> weights) {
  const Solving solving(solving_, name_);
  weights_ = std::move(weights);
  is_paused_ = false;
}

template <class Scalar, class Device>
const LinearOperator<Scalar, Device>*
KrylovSolver<Scalar, Device>::preconditionerOfRun(const Operator* m) {
  if (!weighsRows())
    return m;
  weighted_m_.set(m, weights_);
  return &weighted_m_;
}

/// residual() and its norms.
template <class Scalar, class Device>
typename detail::ResidualMeter<Scalar, Device>::Norms
KrylovSolver<Scalar, Device>::residuals(const System& system, const Columns& columns,
                                        ConstVectorArg b) {
  return meter_.residuals(system.exec, system.a, columns, b, system.x, residual(), weights_,
                          residualKept());
}

/// With a workspace for b and x of these lengths, and columns_ columns.
template <class Scalar, class Device>
void KrylovSolver<Scalar, Device>::iterate(System system, ConstVectorArg b, SolveResult* results) {
  const auto& [reference, tolerance] = system.targets;
  if (!system.resumes) {
    going_ = {};
    for (const int c : start(system, b, results)) {
      previous_[c] = results[c].true_rel_residual;
      if (!isOver(options_, tolerance[c], std::numeric_limits<Scalar>::epsilon(), previous_[c],
                  results[c]))
        going_.add(c);
    }
  }
  const auto end = [&](SolveResult& result) {
    finish(result, ended_,
           message(ended_ == SolveStatus::TimeLimit ? "the time limit was over" : "stopped",
                   " after ", result.iterations, " iterations"));
  };
  if (ended_ != SolveStatus::Converged) { // with the columns before these
    for (const int c : going_)
      end(results[c]);
    return;
  }
  while (!going_.empty()) {
    std::array<Stop, Columns::capacity> stops;
    run(system, going_, results, stops.data());
    system.resumes = false;
    const auto norms = residuals(system, going_, b);
    Columns going;
    for (const int c : going_) {
      SolveResult& result = results[c];
      const Stop& stop = stops[c];
      previous_[c] = result.true_rel_residual;
      result.true_rel_residual = norms[c].two / reference[c];
      constexpr double worth_a_run = 0.9; // a run that takes off less is not followed by another
      const bool better = result.true_rel_residual <= worth_a_run * previous_[c];
      const bool goes_on = stop.status == SolveStatus::Converged || (stop.unless_better && better);
      if (goes_on || result.true_rel_residual <= tolerance[c] ||
          !std::isfinite(result.true_rel_residual)) {
        if (isOver(options_, tolerance[c], std::numeric_limits<Scalar>::epsilon(), previous_[c],
                   result))
          continue;
        if (ended_ == SolveStatus::Converged)
          going.add(c);
        else
          end(result);
      } else {
        finish(result, stop.status,
               message(stop.reason, ", after iteration ", result.iterations,
                       stop.advice.empty() ? "" : ": ", stop.advice));
      }
    }
    going_ = going;
  }
}

template <class Scalar, class Device>
bool KrylovSolver<Scalar, Device>::goesOn(const System& system, const Columns& columns,
                                          const SolveResult* results) {
  const SolveResult& result = results[detail::furthestColumn(system.targets, columns, results)];
  if (options_.progress) {
    is_paused_ = results == &single_; // if it throws
    options_.progress(result.iterations, result.rel_residual);
    is_paused_ = false;
  }
  if (!options_.stop && options_.time_limit == 0)
    return true;
  // Both in one number, so that processes agree by one reduction.
  constexpr Offset late = Offset(1) << 32;
  Offset votes = options_.stop && options_.stop(result.iterations, result.rel_residual) ? 1 : 0;
  if (options_.time_limit > 0 && timer_.seconds() >= options_.time_limit)
    votes += late;
  if (reduction_ != nullptr)
    votes = reduction_->total(votes);
  if (votes > 0)
    ended_ = votes % late > 0 ? SolveStatus::Stopped : SolveStatus::TimeLimit;
  return votes == 0;
}

template <class Scalar, class Device>
void KrylovSolver<Scalar, Device>::multiply(const System& system, const Columns& columns,
                                            ConstVectorArg x, VectorArg z, VectorArg y) const {
  const auto apply = [&](const Operator& op, ConstVectorArg from, VectorArg to) {
    detail::applyToColumns<Scalar, Device>(system.exec, op, columns, from, to,
                                           detail::cheap_columns);
  };
  if (system.m != nullptr)
    apply(*system.m, x, z);
  apply(system.a, system.m != nullptr ? ConstVectorArg(z) : x, y);
  if (weighsRows())
    detail::weighRows<Scalar, Device>(system.exec, columns, weights_, y);
}

template <class Scalar, class Device>
void KrylovSolver<Scalar, Device>::reserve(const execution_space& exec, Offset n, Offset unknowns,
                                           bool preconditioned, int columns) {
  if (weighsRows()) {
    if (preconditioned)
      weighted_m_.reserve(exec, n, columns);
    preconditioned = true; // by M W^-1
  }
  if (n == n_ && unknowns == unknowns_ && preconditioned <= preconditioned_ && columns <= capacity_)
    return;
  n_ = -1; // until all allocations have succeeded
  unknowns_ = unknowns;
  capacity_ = std::max(columns, 1);
  shape_ = detail::SumTeams::forRows(exec, n);
  meter_ = detail::ResidualMeter<Scalar, Device>(exec, n, reduction(), capacity_);
  allocate(exec, n, preconditioned);
  n_ = n;
  preconditioned_ = preconditioned;
}

/// Measures the initial residuals and chooses the norms that residuals are relative to. Returns the
/// columns for which that does not settle the matter already.
template <class Scalar, class Device>
typename KrylovSolver<Scalar, Device>::Columns
KrylovSolver<Scalar, Device>::start(const System& system, ConstVectorArg b, SolveResult* results) {
  auto& [reference, tolerance] = targets_;
  const auto settle = [&](int c, SolveStatus status, double rel_residual, const char* text) {
    results[c].rel_residual = results[c].true_rel_residual = rel_residual;
    results[c].history.assign(1, rel_residual);
    finish(results[c], status, text);
  };
  // Squares underflow below 2.2e-308, those of entries below 1.5e-154: with this norm, 1e-9 of it
  // and less, which no sum in double notices.
  constexpr double smallest_norm = 1e-145;
  const Columns all = Columns::first(columns_);
  const auto b_norms = meter_.norms(system.exec, all, b, weights_);
  Columns zero, given;
  for (const int c : all) {
    const double b_norm = b_norms[c].two;
    if (b_norms[c].is_zero) {
      settle(c, SolveStatus::Converged, 0, "");
      zero.add(c);
    } else if (!std::isfinite(b_norm)) {
      settle(c, SolveStatus::Diverged, b_norm, "b holds NaN or Inf, or its norm overflows");
    } else if (b_norm < smallest_norm) {
      settle(c, SolveStatus::Breakdown, 1, "the norm of b underflows: scale the system");
    } else {
      given.add(c);
    }
  }
  if (!zero.empty())
    detail::fillColumns<Scalar, Device>(system.exec, zero, Scalar(0), system.x);
  if (given.empty())
    return {};

  const auto r_norms = residuals(system, given, b);
  Columns left;
  for (const int c : given) {
    const double r_norm = r_norms[c].two;
    if (!std::isfinite(r_norm)) {
      settle(c, SolveStatus::Diverged, r_norm,
             "the initial x or its residual b - A x holds NaN or Inf, or its norm overflows");
      continue;
    }
    const bool of_initial = options_.relative_to == ResidualScale::InitialResidual && r_norm > 0;
    if (of_initial && r_norm < smallest_norm) {
      settle(c, SolveStatus::Breakdown, 1, "the norm of b - A x underflows: scale the system");
      continue;
    }
    reference[c] = of_initial                                   ? r_norm
                   : options_.relative_to == ResidualScale::One ? 1
                                                                : b_norms[c].two;
    tolerance[c] = std::max(options_.tolerance, options_.absolute_tolerance / reference[c]);
    settle(c, SolveStatus::Converged, r_norm / reference[c], "");
    if (!(results[c].rel_residual <= tolerance[c]))
      left.add(c);
  }
  if (left.empty())
    return left;
  std::string objection = system.m != nullptr ? system.m->objection() : "";
  if (reduction_ != nullptr && reduction_->total(objection.empty() ? 0 : 1) > 0 &&
      objection.empty())
    objection = "the preconditioner of another process objects";
  if (objection.empty())
    return left;
  for (const int c : left)
    finish(results[c], SolveStatus::Diverged, objection);
  return {};
}

AINVIL_INSTANTIATE_CLASS(KrylovSolver)

} // namespace ainvil
