// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// One run of a race: its set-up, a slice of its solve, and what ends them.
#include "Ainvil_Factory.hpp"
#include "race/Ainvil_Race.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

namespace ainvil {
namespace detail {
/// By a preconditioner of its own, or one that another run has set up.
template <class Scalar, class Device>
void Race<Scalar, Device>::setUp(Run& run) {
  const std::pair<int, std::string> key{run.entry.block_size, run.entry.precond};
  run.entry.began = now();
  run.setup = setups_[key].lock();
  if (run.setup == nullptr) {
    tell(&run);
    const double start = now();
    run.setup = std::make_shared<SetUp>();
    auto& m = run.setup->m;
    m = createPreconditioner<Scalar, Device>(run.entry.precond);
    const auto& a = system(run.entry.block_size).matrix;
    const double after_blocks = now();
    try {
      m->setProgress([this, &run](const char*, Offset, Offset) {
        tell(&run);
        if (isOver())
          throw Dropped{interrupted_ ? "" : "the budget ended during its set-up"};
        if (now() - run.entry.began > secondsOfLeader() + loading)
          throw Dropped{message("its set-up alone takes longer than ",
                                leader_->entry.text(traits_.block_size), " in all")};
      });
      m->initialize(exec_, a);
      compat::fence(exec_, "Ainvil::recommend");
      const double initialized = now();
      run.setup->initialize_seconds = initialized - after_blocks;
      m->compute(exec_, a);
      compat::fence(exec_, "Ainvil::recommend");
      run.setup->compute_seconds = now() - initialized;
      m->setProgress({});
    } catch (...) {
      setup_seconds_[key] = now() - start;
      run.entry.initialize_seconds = now() - start;
      run.setup = nullptr;
      throw;
    }
    setup_seconds_[key] = run.setup->seconds();
    setups_[key] = run.setup;
  }
  const Report& report = run.setup->m->report();
  run.entry.initialize_seconds = run.setup->initialize_seconds;
  run.entry.compute_seconds = run.setup->compute_seconds;
  run.entry.factor_entries = report.factor_entries;
  run.entry.factor_bytes = report.factor_bytes;
  run.entry.breakdowns = report.breakdowns;
  run.entry.notes = report.notes;
  run.entry.phases = report.phases;
  run.course = Course(run.setup->seconds());
  run.x = allocateZeros<Scalar, Device>(exec_, "Ainvil::x", b_.extent(0));
}

/// At every look of the solver of the slice.
template <class Scalar, class Device>
void Race<Scalar, Device>::watch(int iteration, double rel_residual) {
  Run& run = *running_;
  const double solving = run.seconds_before + now() - slice_start_;
  const double total = run.entry.setupSeconds() + solving;
  run.course.add(total, rel_residual);
  run.entry.course.emplace_back(total, rel_residual);
  run.entry.solve_seconds = solving;
  run.entry.iterations = iteration;
  run.entry.rel_residual = rel_residual;
  tell(&run);
  if (isOver())
    throw EndOfSlice();
  if (iteration >= options_.max_iterations)
    return; // the solver ends by itself
  if (best_ != nullptr) {
    const double best = best_->entry.totalSeconds();
    if (total > best + loading)
      throw Dropped{message("slower than ", best_->entry.text(traits_.block_size))};
  }
  if (now() > slice_end_ && run.isSampled())
    throw EndOfSlice();
}

template <class Scalar, class Device>
void Race<Scalar, Device>::advance(const RunPtr& pointer, double slice) {
  Run& run = *pointer;
  try {
    if (run.setup == nullptr) {
      const std::string why = whyNotSetUp(run);
      if (!why.empty()) {
        not_tried_.push_back(run.entry.text(traits_.block_size) + ": " + why);
        runs_.erase(std::find(runs_.begin(), runs_.end(), pointer));
        return;
      }
      setUp(run);
      tell(&run);
      if (isOver())
        return;
      if (best_ != nullptr && run.setup->seconds() > best_->entry.totalSeconds() + loading)
        return end(run, "dropped", "its set-up alone takes longer than the best in all");
    }
    slice_start_ = now();
    slice_end_ = slice_start_ + slice;
    running_ = &run;
    solveOn(run);
  } catch (const EndOfSlice&) {
    run.seconds_before = run.entry.solve_seconds;
  } catch (const Dropped& dropped) {
    end(run, interrupted_ && dropped.reason.empty() ? "interrupted" : "dropped",
        interrupted_ && dropped.reason.empty() ? "the race was interrupted" : dropped.reason);
  } catch (const BreakdownError& error) {
    end(run, "breakdown", error.what());
  } catch (const OutOfMemory& error) {
    forget(run);
    if (run.has_lacked_memory || !freeOthers(run))
      end(run, "out_of_memory", error.what());
    run.has_lacked_memory = true; // may be set up once more when its turn comes again
  } catch (const Error& error) {
    end(run, "refused", error.what());
  } catch (const std::bad_alloc&) {
    end(run, "out_of_memory", "there is not enough memory");
  }
  running_ = nullptr;
  if (run.hasEnded() && run.entry.converged() &&
      (best_ == nullptr || run.entry.totalSeconds() < best_->entry.totalSeconds())) {
    if (best_ != nullptr)
      best_->setup = nullptr;
    best_ = pointer;
  }
}

/// From its beginning, or from where it has paused.
template <class Scalar, class Device>
void Race<Scalar, Device>::solveOn(Run& run) {
  const auto& op = *system(run.entry.block_size).op;
  const auto* const m = run.setup->m.get();
  SolveResult result;
  if (run.solver == nullptr) {
    run.solver = takeSolver(run.entry);
    result = run.solver->solve(exec_, op, m, b_, run.x);
  } else {
    result = run.solver->resume(exec_, op, m, b_, run.x);
  }
  run.entry.solve_seconds = run.seconds_before + now() - slice_start_;
  run.entry.iterations = result.iterations;
  confirm(run, result);
}

/// The solver is through: has it converged, by the residual that decides?
template <class Scalar, class Device>
void Race<Scalar, Device>::confirm(Run& run, SolveResult result) {
  run.entry.rel_residual = result.true_rel_residual;
  double tolerance = options_.tolerance;
  while (result.status == SolveStatus::Converged && options_.residual) {
    const double before = options_.residual(toHost(run.x));
    run.entry.rel_residual = before;
    if (before <= options_.tolerance)
      break;
    const auto stagnated = [&] {
      end(run, "stagnated",
          message("the solver ended within its tolerance, but the residual of the system is ",
                  before, ", and rounding keeps it there"));
    };
    tolerance *= 0.5 * options_.tolerance / before;
    if (!(tolerance > 1e-30) || !std::isfinite(before))
      return stagnated();
    SolverOptions options;
    options.tolerance = tolerance;
    options.restart = run.entry.restart;
    options.max_iterations = std::max(0, options_.max_iterations - run.entry.iterations);
    options.progress = [this](int, double) {
      tell(running_);
      if (isOver())
        throw EndOfSlice();
    };
    const double start = now();
    result = createSolver<Scalar, Device>(run.entry.solver, options)
                 ->solve(exec_, *system(run.entry.block_size).op, run.setup->m.get(), b_, run.x);
    run.entry.solve_seconds += now() - start;
    run.entry.iterations += result.iterations;
    const double after = options_.residual(toHost(run.x));
    run.entry.rel_residual = after;
    if (after <= options_.tolerance)
      break;
    if (!(after <= 0.9 * before))
      return stagnated();
  }
  run.course.add(run.entry.totalSeconds(), run.entry.rel_residual);
  run.entry.course.emplace_back(run.entry.totalSeconds(), run.entry.rel_residual);
  end(run, toString(result.status),
      result.status == SolveStatus::Converged ? std::string() : result.message);
}

#define AINVIL_INSTANTIATE(SCALAR, DEVICE)                                                         \
  template void Race<SCALAR, DEVICE>::setUp(Run&);                                                 \
  template void Race<SCALAR, DEVICE>::watch(int, double);                                          \
  template void Race<SCALAR, DEVICE>::advance(const RunPtr&, double);
AINVIL_FOR_EACH_TYPE(AINVIL_INSTANTIATE)

} // namespace detail
} // namespace ainvil
