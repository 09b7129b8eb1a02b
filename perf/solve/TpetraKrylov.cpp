// SPDX-License-Identifier: BSD-3-Clause
#include "solve/TpetraKrylov.hpp"

#include "program/Interruption.hpp"
#include "solve/RanksTogether.hpp"
#include "solve/SolveOutcome.hpp"

#include "Ainvil_TpetraBelos.hpp"
#include "Ainvil_TpetraCollective.hpp"

#include <BelosSolverFactory.hpp>
#include <BelosTpetraAdapter.hpp>
#include <Teuchos_oblackholestream.hpp>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>

namespace ainvil {
namespace perf {
namespace {

using Teuchos::ParameterList;
using MultiVector = Tpetra::MultiVector<>;

} // namespace

bool takesVarying(const CommandLine& command) {
  std::string belos = command.belos;
  std::transform(belos.begin(), belos.end(), belos.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  if (belos.empty())
    return command.solver == "fgmres" || command.solver == "bicgstab";
  const std::string own = "AINVIL ";
  if (belos.compare(0, own.size(), own) == 0)
    return belos != own + "GMRES" && belos != own + "CG";
  return belos == "FLEXIBLE GMRES" || belos == "BICGSTAB";
}

void requireBelosSolver(const std::string& name) {
  tpetra::registerBelosSolvers();
  const Belos::SolverFactory<double, MultiVector, TpetraOperator> factory;
  if (name.empty() || factory.isSupported(name))
    return;
  throw InvalidArgument(message("--belos: Belos has no solver '", name,
                                "', but BLOCK GMRES, PSEUDOBLOCK GMRES, TPETRA GMRES, TPETRA GMRES "
                                "SINGLE REDUCE, TPETRA CG SINGLE REDUCE and others"));
}

namespace {

/// A power of 2, which rounds nothing: divided by it, numbers up to `largest` have squares that
/// neither over- nor underflow.
double scaleOf(double largest) {
  return std::ldexp(1.0, std::max(std::ilogb(largest), -1000));
}

/// The solver of the command line for a system of n unknowns; `tolerance` is relative to b.
Teuchos::RCP<Belos::SolverManager<double, MultiVector, TpetraOperator>>
makeBelosSolver(const CommandLine& command, Tpetra::global_size_t n, double tolerance,
                int max_iterations) {
  const auto list = Teuchos::rcp(new ParameterList);
  list->set("Convergence Tolerance", tolerance);
  list->set("Maximum Iterations", max_iterations);
  // Belos prints what it throws, and it would get between the lines of --json -.
  list->set("Output Stream",
            Teuchos::RCP<std::ostream>(
                Teuchos::rcp(new Teuchos::basic_oblackholestream<char, std::char_traits<char>>)));
  std::string name = command.solver == "cg" ? "CG" : "BICGSTAB";
  if (command.hasRestart()) {
    name = command.solver == "gmres" ? "GMRES" : "FLEXIBLE GMRES";
    // Belos allocates the whole basis, also where it has no use for it.
    const auto longest = std::min<Tpetra::global_size_t>(n, max_iterations);
    list->set("Num Blocks",
              static_cast<int>(std::min<Tpetra::global_size_t>(command.restart, longest)));
    list->set("Maximum Restarts", max_iterations);
    // The initial residual is b. Solvers on Tpetra itself know no other scaling than by it.
    const std::string scaling = command.belos.empty() ? "Norm of RHS" : "Norm of Initial Residual";
    list->set("Implicit Residual Scaling", scaling);
    list->set("Explicit Residual Scaling", scaling);
  }
  if (!command.belos.empty())
    name = command.belos;
  return Belos::SolverFactory<double, MultiVector, TpetraOperator>().create(name, list);
}

/// A, with which a solver ends on all ranks once one of them has caught a signal.
class InterruptibleOperator final : public TpetraOperator {
public:
  explicit InterruptibleOperator(const Teuchos::RCP<const TpetraOperator>& a) : a_(a) {}

  Teuchos::RCP<const tpetra::Map> getDomainMap() const override { return a_->getDomainMap(); }
  Teuchos::RCP<const tpetra::Map> getRangeMap() const override { return a_->getRangeMap(); }
  bool hasTransposeApply() const override { return a_->hasTransposeApply(); }
  void apply(const MultiVector& x, MultiVector& y, Teuchos::ETransp mode, double alpha,
             double beta) const override {
    constexpr int products_between = 64; // so that asking the others costs nothing beside them
    if (++products_ % products_between == 0)
      throwIfInterrupted(caughtSignal(*x.getMap()->getComm()));
    a_->apply(x, y, mode, alpha, beta);
  }

private:
  Teuchos::RCP<const TpetraOperator> a_;
  mutable long long products_ = 0;
};

/// By Belos: solves A d = r from d = 0 to ||r - A d|| <= tolerance ||r||. What Belos throws on all
/// ranks, for an indefinite matrix or a NaN, is part of the result.
KrylovResult correct(const CommandLine& command, const Teuchos::RCP<const TpetraOperator>& a,
                     const TpetraPreconditioner& m, const Teuchos::RCP<const TpetraVector>& r,
                     const Teuchos::RCP<TpetraVector>& d, double tolerance, int max_iterations,
                     double& seconds) {
  using Problem = Belos::LinearProblem<double, MultiVector, TpetraOperator>;
  d->putScalar(0);
  const auto problem = Teuchos::rcp(new Problem(Teuchos::rcp(new InterruptibleOperator(a)), d, r));
  problem->setRightPrec(m.rcp());
  problem->setProblem();
  const auto solver = makeBelosSolver(command, r->getGlobalLength(), tolerance, max_iterations);
  solver->setProblem(problem);
  KrylovResult result;
  bool content = false;
  seconds += timedOverRanks(*r->getMap()->getComm(), [&] {
    try {
      // A loss of accuracy: the residual of the recurrence met the tolerance, the true one did not.
      content = solver->solve() == Belos::Converged || solver->isLOADetected();
    } catch (const Belos::StatusTestError& error) {
      result.status = SolveStatus::Diverged;
      result.message = tpetra::reasonOf(error);
    } catch (const Belos::BelosError& error) {
      result.status = SolveStatus::Breakdown;
      result.message = tpetra::reasonOf(error);
    }
  });
  result.iterations = solver->getNumIters();
  if (content || result.status != SolveStatus::Converged)
    return result;
  result.status =
      result.iterations < max_iterations ? SolveStatus::Breakdown : SolveStatus::MaxIterations;
  return result;
}

/// By Belos: where it is content and the residual is not, from the x that there is. `before` is
/// that of the x given.
KrylovResult solveByBelos(const CommandLine& command, const Teuchos::RCP<const TpetraOperator>& a,
                          const TpetraPreconditioner& m, const Teuchos::RCP<const TpetraVector>& b,
                          const Teuchos::RCP<TpetraVector>& x, double tolerance, double before,
                          const std::function<double()>& residual, double& seconds) {
  const auto r = Teuchos::rcp(new TpetraVector(b->getMap()));
  const auto d = Teuchos::rcp(new TpetraVector(x->getMap()));
  KrylovResult result;
  double of_part = std::isfinite(before) ? tolerance / before : tolerance;
  for (;;) {
    a->apply(*x, *r);
    r->update(1, *b, -1);
    const double largest = r->normInf();
    const int left = command.max_iterations - result.iterations;
    if (!std::isfinite(largest)) {
      result.status = SolveStatus::Diverged;
      result.message = "b - A x holds NaN or Inf";
    } else if (largest > 0 && left == 0) {
      result.status = SolveStatus::MaxIterations;
    } else if (largest > 0) {
      const double scale = scaleOf(largest);
      r->scale(1 / scale);
      const KrylovResult part = correct(command, a, m, r, d, of_part, left, seconds);
      x->update(scale, *d, 1);
      result.status = part.status;
      result.message = part.message;
      result.iterations += part.iterations;
    }
    const std::string after = message(" after ", result.iterations, " iterations");
    if (result.status == SolveStatus::MaxIterations)
      result.message = "not converged" + after;
    else if (result.status == SolveStatus::Breakdown && result.message.empty())
      result.message = "the solver of Belos gave up" + after;
    const double now = residual();
    if (!std::isfinite(now)) {
      result.status = SolveStatus::Diverged;
      result.message = "the solution or its residual holds NaN or Inf";
    }
    if (result.status != SolveStatus::Converged || !(now > tolerance) || !(now <= 0.9 * before))
      return result;
    before = now;
    of_part = 0.5 * tolerance / now;
  }
}

} // namespace

TpetraKrylov::TpetraKrylov(const CommandLine& command, const Teuchos::RCP<const TpetraRow>& a,
                           int block_size)
    : command_(command), a_(a) {
  if (!command.by_belos)
    product_ = Teuchos::rcp(new tpetra::BlockOperator<TpetraRow>(a, block_size));
}

void TpetraKrylov::update() {
  if (!product_.is_null())
    product_->update();
}

KrylovResults TpetraKrylov::solve(const TpetraPreconditioner& m,
                                  const Teuchos::RCP<const Vectors>& b,
                                  const Teuchos::RCP<Vectors>& x,
                                  const std::vector<double>& tolerances, const Residual& residual) {
  KrylovResults results;
  results.columns.resize(tolerances.size());
  std::vector<double> before(tolerances.size());
  bool is_solved = true; // without a solver, whatever it makes of tolerances of 1 and more
  for (size_t c = 0; c < tolerances.size(); ++c) {
    if (b->getVector(c)->normInf() == 0) // as the solvers have it
      x->getVectorNonConst(c)->putScalar(0);
    before[c] = residual(static_cast<int>(c));
    is_solved = is_solved && before[c] <= tolerances[c];
  }
  if (is_solved)
    return results;
  if (!command_.by_belos) {
    solveByAinvil(m, *b, *x, tolerances, residual, results);
    return results;
  }
  for (size_t c = 0; c < tolerances.size(); ++c)
    if (!(before[c] <= tolerances[c]))
      results.columns[c] = solveByBelos(
          command_, a_, m, b->getVector(c), x->getVectorNonConst(c), tolerances[c], before[c],
          [&] { return residual(static_cast<int>(c)); }, results.seconds);
  return results;
}

/// As ainvil-solve does.
void TpetraKrylov::solveByAinvil(const TpetraPreconditioner& m, const Vectors& b, Vectors& x,
                                 const std::vector<double>& tolerances, const Residual& residual,
                                 KrylovResults& results) {
  Vectors scaled(b, Teuchos::Copy);
  std::vector<double> scales;
  for (size_t c = 0; c < tolerances.size(); ++c) {
    const double largest = b.getVector(c)->normInf();
    scales.push_back(std::isfinite(largest) && largest > 0 ? scaleOf(largest) : 1);
    scaled.getVectorNonConst(c)->scale(1 / scales[c]);
    x.getVectorNonConst(c)->scale(1 / scales[c]);
  }
  SolverOptions options = solverOptions(command_);
  options.tolerance = *std::min_element(tolerances.begin(), tolerances.end());
  // Thrown on the rank that has caught a signal; the solver ends on all.
  options.progress = [](int, double) { throwIfInterrupted(); };
  std::vector<SolveResult> parts;
  tpetra::Solver<> together(command_.solver, options);
  results.seconds += timedOverRanks(
      *b.getMap()->getComm(), [&] { parts = together.solve(*product_, &m.get(), scaled, x); });
  for (size_t c = 0; c < tolerances.size(); ++c)
    x.getVectorNonConst(c)->scale(scales[c]);

  for (size_t c = 0; c < tolerances.size(); ++c) {
    KrylovResult& result = results.columns[c];
    const auto x_column = x.getVectorNonConst(c);
    SolverOptions of_column = options;
    SolveResult part = std::move(parts[c]);
    double before = std::numeric_limits<double>::infinity();
    for (;;) {
      result.status = part.status;
      result.message = part.message;
      result.iterations += part.iterations;
      const double now = residual(static_cast<int>(c));
      const int left = command_.max_iterations - result.iterations;
      if (part.status != SolveStatus::Converged || now <= tolerances[c] || !std::isfinite(now) ||
          left == 0 || !(now <= 0.9 * before))
        break;
      before = now;
      of_column.tolerance =
          smallerTolerance(of_column.tolerance, part.true_rel_residual, tolerances[c], now);
      of_column.max_iterations = left;
      x_column->scale(1 / scales[c]);
      tpetra::Solver<> solver(command_.solver, of_column);
      results.seconds += timedOverRanks(*b.getMap()->getComm(), [&] {
        part = solver.solve(*product_, &m.get(), *scaled.getVector(c), *x_column);
      });
      x_column->scale(scales[c]);
    }
  }
}

} // namespace perf
} // namespace ainvil
