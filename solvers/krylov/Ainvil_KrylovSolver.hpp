// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// How a solve begins, restarts and ends, whatever the method.

#include "Ainvil_Solver.hpp"
#include "backend/Ainvil_Reduction.hpp"
#include "krylov/Ainvil_ColumnSolves.hpp"
#include "krylov/Ainvil_ResidualMeter.hpp"
#include "krylov/Ainvil_RowWeights.hpp"

#include <atomic>
#include <memory>

namespace ainvil {

/// The interface of all Krylov solvers. A method runs iterations until its own residual, which
/// follows from a recurrence, meets the tolerance; that is believed only if the recomputed b - A x
/// agrees. Otherwise the method starts again from there, as long as that brings half of what the
/// recurrence announces.
///
/// An object keeps its workspace between solves of the same size and serves one solve at a time:
/// for an inner solve, in a preconditioner, or one of another thread take another object. It is
/// neither copied nor moved.
template <class Scalar, class Device>
class KrylovSolver {
  static_assert(detail::CompiledScalar<Scalar, Device>::value, "");

public:
  using execution_space = typename Device::execution_space;
  using Operator = LinearOperator<Scalar, Device>; ///< A, or M

  KrylovSolver(const KrylovSolver&) = delete;
  KrylovSolver& operator=(const KrylovSolver&) = delete;
  virtual ~KrylovSolver() = default;

  /// Solves A x = b. `m` is the preconditioner, an approximate inverse of A, or null for none. `x`
  /// holds the initial guess and receives the solution. Waits for the instance. If `m` has an
  /// objection, the status is Diverged, the objection the message, and x the initial guess.
  /// \throws InvalidArgument if shapes do not match, as checkPreconditioner does, or if the object
  /// is solving already; OutOfMemory. It may be used again after any exception.
  SolveResult solve(const execution_space& exec, const Operator& a, const Operator* m,
                    Vector<const Scalar, Device> b, Vector<Scalar, Device> x);

  /// The same on the default instance.
  SolveResult solve(const Operator& a, const Operator* m, Vector<const Scalar, Device> b,
                    Vector<Scalar, Device> x) {
    return solve(execution_space(), a, m, b, x);
  }

  /// Goes on with the last solve, of one right-hand side, which an exception out of `progress` has
  /// ended, from where it was and as if it had not ended: with the arguments of then, and x as it
  /// was left. It may be ended and resumed as often as you like; a time limit counts on meanwhile.
  /// \throws InvalidArgument if the last solve ended otherwise.
  SolveResult resume(const execution_space& exec, const Operator& a, const Operator* m,
                     Vector<const Scalar, Device> b, Vector<Scalar, Device> x);

  /// Solves A X = B for any number of columns, n x k each; a result a column. Eight at a time
  /// advance together: A and M are applied to all of them at once, so that a pass over the matrix
  /// serves eight, kernels and reductions of an iteration are as many as for one, and so are the
  /// host's looks. Each stops by itself; its iterations are those of a solve of its own where a
  /// product with many columns gives each what a product with one does, as Ainvil's do.
  /// `options.progress` is told of the column that is furthest from its tolerance. Workspace: that
  /// of one column for each of up to eight.
  std::vector<SolveResult> solve(const execution_space& exec, const Operator& a, const Operator* m,
                                 MultiVector<const Scalar, Device> b,
                                 MultiVector<Scalar, Device> x);

  /// The same on the default instance.
  std::vector<SolveResult> solve(const Operator& a, const Operator* m,
                                 MultiVector<const Scalar, Device> b,
                                 MultiVector<Scalar, Device> x) {
    return solve(execution_space(), a, m, b, x);
  }
  /// Does not compile: multivectors are column-major.
  template <class... Arguments>
  detail::EnableIfRowMajor<Arguments...> solve(const Arguments&...) {
    static_assert(detail::RequireColumnMajor<Arguments...>::value, "");
  }

  /// Tells before any work what solve() would. \throws InvalidArgument if the method relies on a
  /// fixed preconditioner, `m` varies, and allow_varying is not set.
  void checkPreconditioner(const Operator& m) const;

  /// From now on the vectors are spread over processes: each gives solve() its own rows, perhaps
  /// none, A and M as operators on these, and the same options, and all call solve() at the same
  /// time. A sum over all rows is then one reduction: of an iteration GMRES and FGMRES have one, CG
  /// two and BiCGStab three, or as SolverOptions::reductions says. What solve() throws before it
  /// iterates is thrown on all of them; what A, M or `progress` throw later must be thrown on all
  /// or on none. Null: one process has all rows, and nothing is asked of others.
  void setReduction(std::shared_ptr<const Reduction<Device>> reduction);

  /// From now on residuals are judged by ||W r||_2 with W = diag(weights) in place of ||r||_2. That
  /// goes for both tolerances, for what the relative one is relative to, for all residuals of the
  /// result, and for what `progress` and `stop` are told: `converged` means that of b - A x,
  /// recomputed from A, b and x as they were given, ||W (b - A x)|| is within the tolerance. So the
  /// equations of one physics count more than those of another, or each in its own unit; with
  /// w_i = 1 / (rtol |b_i| + atol_i) / sqrt(n), relative_to = One and a tolerance of 1 it is the
  /// weighted root mean square of integrators of ODEs (as SUNLinSolSetScalingVectors of SUNDIALS).
  ///
  /// One weight a row, positive and finite, the same for all columns; an empty view: the 2-norm
  /// again. The array is not copied: it must outlive the solves, and may have other values in the
  /// next. Over processes each gives those of its rows, all of them or none.
  ///
  /// Between two recomputed residuals the recurrences know this norm: CG takes it of its r, whose
  /// iterates do not depend on it, and reads a vector more an iteration. GMRES, FGMRES and BiCGStab
  /// run on W A x = W b preconditioned by M W^-1, which has the Krylov spaces of A M: their r is
  /// W (b - A x), and that is what GMRES and FGMRES minimise (weighted GMRES: Essai, Numer.
  /// Algorithms 18 (1998)). It costs two more kernels a product, each over three vectors, and the
  /// workspace of a preconditioner where there is none, of one vector more where there is.
  ///
  /// solve() checks them. \throws InvalidArgument there for a weight that is not positive and
  /// finite, or another number of them than A has rows; here if the object is solving.
  void setWeights(Vector<const Scalar, Device> weights);

protected:
  using VectorArg = MultiVectorArg<Scalar, Device>;            ///< of columns_ columns
  using ConstVectorArg = MultiVectorArg<const Scalar, Device>; ///< as many columns, read only
  using Columns = detail::ColumnSet;                           ///< some of these

  /// What a run works on.
  struct System {
    const execution_space& exec;    ///< all kernels run on it
    const Operator& a;              ///< A
    const Operator* m;              ///< M, or null for none
    VectorArg x;                    ///< the iterates
    const detail::Targets& targets; ///< of the residuals
    bool resumes = false;           ///< the run goes on behind its last look
  };

  /// Why a run ended before the tolerance was met.
  struct Stop {
    SolveStatus status = SolveStatus::Converged; ///< this one if nothing is the matter
    std::string reason;                          ///< to be followed by "after iteration ..."
    std::string advice = {};                     ///< what to do about it; may be empty
    bool unless_better = false; ///< no reason to give up where the run has reduced the residual
  };

  /// `name` is for messages; `why_fixed` tells what holds for a fixed preconditioner only, or is
  /// null for a method that takes any. \throws InvalidArgument if an option is out of range.
  KrylovSolver(SolverOptions options, const char* name, const char* why_fixed = nullptr);

  /// Allocates the workspace for systems of n unknowns and `capacity_` columns, for whatever
  /// `shape_` launches.
  virtual void allocate(const execution_space& exec, Offset n, bool preconditioned) = 0;
  /// The vectors that hold b - A x when a run starts, or W (b - A x).
  virtual VectorArg residual() = 0;
  /// Which of the two, where residuals have weights. Weighted: the run is on W A x = W b, with
  /// M W^-1 as its M.
  virtual detail::Residual residualKept() const { return detail::Residual::Weighted; }
  /// Improves x from residual() in these columns until the recurrence of each meets its tolerance,
  /// max_iterations are done, or the method has to start again; appends to the histories. At least
  /// one iteration, or a Stop. `results` and `stops` are those of all columns. An exception out of
  /// goesOn() may be followed by a run that resumes.
  virtual void run(const System& system, const Columns& columns, SolveResult* results,
                   Stop* stops) = 0;

  /// For every look of the host: tells of these columns. False if the solve is to end, by the time
  /// limit or `stop`.
  bool goesOn(const System& system, const Columns& columns, const SolveResult* results);

  /// y = A M x in these columns, and perhaps in some between them, or W A M x if the run is on
  /// W A x = W b. M x goes to z, which is left alone where there is no M.
  void multiply(const System& system, const Columns& columns, ConstVectorArg x, VectorArg z,
                VectorArg y) const;

  /// The Stop of a method that has met NaN or Inf in what A and M gave it.
  static Stop notFinite() {
    return {SolveStatus::Diverged, "A or the preconditioner gave NaN or Inf"};
  }

  /// Of the rows, or empty.
  const Vector<const Scalar, Device>& weights() const { return weights_; }

  /// Null if the process has all rows.
  const Reduction<Device>* reduction() const { return reduction_.get(); }

  SolverOptions options_;  ///< as the constructor got them, all in range
  Offset n_ = -1;          ///< unknowns of this process that the workspace is for
  Offset unknowns_ = 0;    ///< of all processes
  int columns_ = 1;        ///< right-hand sides that are solved for
  int capacity_ = 1;       ///< that the workspace has room for
  detail::SumTeams shape_; ///< of the kernels that take inner products

private:
  void solveAll(const execution_space& exec, const Operator& a, const Operator* m, ConstVectorArg b,
                VectorArg x, SolveResult* results);
  void reserve(const execution_space& exec, Offset n, Offset unknowns, bool preconditioned,
               int columns);
  template <class B, class X>
  void checkSystem(const Operator& a, const Operator* m, const B& b, const X& x) const;
  /// The run is on W A x = W b.
  bool weighsRows() const {
    return weights_.extent(0) > 0 && residualKept() == detail::Residual::Weighted;
  }
  /// What a run takes as M.
  const Operator* preconditionerOfRun(const Operator* m);
  typename detail::ResidualMeter<Scalar, Device>::Norms
  residuals(const System& system, const Columns& columns, ConstVectorArg b);
  void iterate(System system, ConstVectorArg b, SolveResult* results);
  Columns start(const System& system, ConstVectorArg b, SolveResult* results);

  const char* name_;
  const char* why_fixed_;
  bool preconditioned_ = false;
  Kokkos::Timer timer_;                        ///< since this solve began
  SolveStatus ended_ = SolveStatus::Converged; ///< by goesOn(), or this if it was not
  std::atomic<bool> solving_{false};
  // Of the columns that are solved for, or were until an exception out of `progress`.
  bool is_paused_ = false; ///< resume() may go on
  SolveResult single_;     ///< of a single right-hand side
  Columns going_;          ///< columns that are not over
  detail::Targets targets_;
  std::array<double, Columns::capacity> previous_ = {}; ///< true residuals when the run started
  std::shared_ptr<const Reduction<Device>> reduction_;
  detail::ResidualMeter<Scalar, Device> meter_;
  Vector<const Scalar, Device> weights_; ///< of the rows; empty: none
  detail::WeightedPreconditioner<Scalar, Device> weighted_m_;
};

} // namespace ainvil
