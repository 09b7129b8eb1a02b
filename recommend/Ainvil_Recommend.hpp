// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Which solver and which preconditioner for this matrix: a race that answers it, and the
/// preconditioner that is its answer.

#include "Ainvil_BsrMatrix.hpp"
#include "Ainvil_Preconditioner.hpp"
#include "Ainvil_Solver.hpp"
#include "backend/Ainvil_Profiling.hpp"

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace ainvil {

/// A solver with a preconditioner.
struct Configuration {
  std::string solver;  ///< for createSolver()
  int restart = 30;    ///< of gmres and fgmres
  std::string precond; ///< for createPreconditioner()
  int block_size = 1;  ///< A is regrouped in blocks of this size where it is not that of A

  /// "gmres(30) ilu:level=1", and " in blocks of 3" where `own_block_size` is another.
  std::string text(int own_block_size) const;
};

/// How a configuration fared.
struct RaceEntry : Configuration {
  /// That of the solver (toString(SolveStatus)); "breakdown", "out_of_memory", "refused" or
  /// "failed" where an exception has ended it; "dropped" where the race has, or "interrupted".
  std::string status;
  std::string reason;                                      ///< one sentence; empty if converged
  bool converged() const { return status == "converged"; } ///< by the true residual

  double initialize_seconds = 0; ///< what the pattern costs, once
  double compute_seconds = 0;    ///< what new values cost
  /// From the initial guess to the last iterate. Of several solves the fastest.
  double solve_seconds = 0;
  double setupSeconds() const { return initialize_seconds + compute_seconds; } ///< of both phases
  double totalSeconds() const { return setupSeconds() + solve_seconds; } ///< time to the solution
  double began = 0;          ///< seconds after the start of the race
  double ended = 0;          ///< seconds after the start of the race
  int iterations = 0;        ///< of that solve
  double rel_residual = 1;   ///< ||b - A x|| / ||b||, recomputed where the solver has ended
  Offset factor_entries = 0; ///< as in Report
  Offset factor_bytes = 0;   ///< as in Report
  Offset breakdowns = 0;     ///< as in Report
  std::string notes;         ///< as in Report
  PhaseTimes phases;         ///< of the set-up
  /// Seconds of its set-up and solve so far, and the relative residual by recurrence, at every look
  /// of the host.
  std::vector<std::pair<double, double>> course;
};

/// What a race is told while it runs.
struct RaceState {
  double seconds;           ///< since its beginning
  const RaceEntry* leader;  ///< converged, or with the best prospects; null if none has run yet
  double leader_seconds;    ///< to its solution, measured or as predicted; infinite if unknown
  const RaceEntry* running; ///< null between two
};

/// Options of recommend().
struct RecommendOptions {
  double tolerance = 1e-8;   ///< of ||b - A x|| / ||b||; > 0
  int max_iterations = 5000; ///< of a solve; >= 0
  /// A race of preconditioners for this solver, with `restart`; "usual": for cg where A looks SPD,
  /// else for gmres; empty: of solvers as well.
  std::string solver;
  /// Only these preconditioners race, for createPreconditioner(), each in the blocks of A; with an
  /// empty `solver` for the usual one. Empty: those that suit the matrix, and their neighbours.
  std::vector<std::string> preconds;
  int restart = 30;        ///< of that solver; >= 1
  bool own_blocks = false; ///< A is not regrouped in blocks of another size
  /// Seconds after which the race ends, whatever it has found; >= 0. A set-up that has begun is
  /// waited for.
  double budget = 60;
  double times_of_best = 3;   ///< once something has converged, it ends after so many times that
  double seconds_besides = 1; ///< time and so many seconds; > 0 and >= 0
  /// Called at every look of the host at a residual, and around set-ups: false ends the race, which
  /// then returns what it has. What it throws comes out of recommend().
  std::function<bool(const RaceState&)> progress;
  /// Called when a configuration is through, with its last iterate.
  std::function<void(const RaceEntry&, const std::vector<double>& x)> ended;
  /// The relative residual that decides where it is not that of A, say because A is a scaled
  /// matrix: of the iterate of a solver that is content. Above the tolerance it goes on with a
  /// smaller one.
  std::function<double(const std::vector<double>& x)> residual;
  /// Seconds from any beginning; empty: those of the machine.
  std::function<double()> clock;
};

/// What recommend() found. Positions in `race` are -1 where no entry converged.
struct Recommendation {
  std::vector<RaceEntry> race; ///< in the order in which they ended
  int best = -1;               ///< smallest totalSeconds()
  int smallest = -1;           ///< fewest bytes of factors and basis: where memory is short
  int for_many_rhs = -1;       ///< smallest solve_seconds: where many right-hand sides follow
  int for_many_values = -1;    ///< smallest compute_seconds + solve_seconds: where values change
  bool converged() const { return best >= 0; } ///< whether any entry has

  /// Of the best, or of the entry that came closest; empty if nothing has run.
  std::string specification;
  std::string solver;    ///< of the same entry, for createSolver()
  SolverOptions options; ///< for createSolver()
  int block_size = 1;    ///< for toBlocks(), where it is not that of A
  std::vector<double> x; ///< the solution, or the iterate of the smallest residual

  std::vector<std::string> traits;    ///< what the race saw of the matrix, a line each
  std::vector<std::string> not_tried; ///< configurations, with the reason
  /// Where nothing converged: what was seen and what is left to try, a line each.
  std::vector<std::string> explanation;
  double seconds = 0; ///< of the whole race
};

/// Races configurations of solver, restart, preconditioner, ordering, matching, storage and block
/// size on A x = b, b in the memory of the device, from x = 0, and tells which one is the fastest.
///
/// It looks at the matrix first, then gives each of a list of configurations, the promising ones
/// first, a few iterations to see how fast the residual falls. The leader is the one with the
/// smallest predicted time to the solution, by the digits that it gained lately. It runs on; all
/// others together get as much time as it has had, and half a second. Who pauses loses nothing.
/// When one has converged, neighbours of it follow, with more fill, longer restarts, or factors in
/// float, and who is predicted to be slower is dropped. It ends when nothing is left that could be
/// faster, when three times the time of the best and a second are spent, or after the budget. With
/// `solver` set, the list is the same and all of it for that solver.
///
/// Entries are `converged` by the recomputed residual only. Cost: the races'; memory for several
/// preconditioners at a time. With the clock of the machine the answer may vary where
/// configurations are about as fast. \throws InvalidArgument if A is not square, b has another
/// length, or an option is out of range; OutOfMemory if there is none for the vectors.
template <class Scalar, class Device>
Recommendation recommend(const typename Device::execution_space& exec,
                         const BsrMatrix<Scalar, Device>& a, detail::RhsArg<Scalar, Device> b,
                         RecommendOptions options = {});

/// The same on the default instance, for a b on the host.
template <class Scalar, class Device>
Recommendation recommend(const BsrMatrix<Scalar, Device>& a, const std::vector<Scalar>& b,
                         RecommendOptions options = {});

/// The Krylov solver that a preconditioner is for; Usual: Cg where A looks SPD, else Gmres.
enum class RaceSolver { Gmres, Fgmres, Cg, BiCgStab, Usual };

/// Parameters of Auto.
struct AutoParameters {
  RaceSolver solver = RaceSolver::Gmres; ///< that the preconditioner is for
  int restart = 30;                      ///< of Gmres and Fgmres, >= 1
  /// Only these are raced, for createPreconditioner(); empty: all that suits the matrix.
  std::vector<std::string> among;
  /// Relative residual of the solve raced for; > 0, < 1. In float at least 1000 eps, 1.2e-4: less
  /// is rounding there.
  double tolerance = 1e-8;
  int max_iterations = 5000; ///< of a solve, >= 1
  double budget = 10;        ///< the race may take so many times the time of the best solve; > 0
  double seconds = 60;       ///< it ends after so many at any rate, converged or not; > 0

  static const ParameterTable<AutoParameters>& table(); ///< the keys that name them
};

/// Chooses a method for the matrix and is that method: what `createPreconditioner("auto")` makes.
/// The first compute() after an initialize() runs recommend() for one solver and the block size of
/// A on A x = A z, z of random entries +-1. Every later compute() is one of the method found,
/// so that a sequence of matrices of one pattern pays for the race once; where that breaks down
/// there is another race. The report notes the choice; where nothing converged it is what came
/// closest, and the report says so.
///
/// Cost of the first compute(): `budget` times the set-up and solve of the best, and the best's
/// set-up once more; the memory of several preconditioners. Times of the machine decide: where
/// methods are about as fast, the choice may vary from run to run.
template <class Scalar, class Device>
class Auto final : public Preconditioner<Scalar, Device> {
public:
  using Base = Preconditioner<Scalar, Device>;
  using typename Base::execution_space;
  using typename Base::Matrix;
  using Parameters = AutoParameters; ///< what it is made with

  /// The keys that name them.
  static const ParameterTable<Parameters>& parameterTable() { return Parameters::table(); }

  /// \throws InvalidArgument for parameters out of range, and as createPreconditioner().
  explicit Auto(const AutoParameters& parameters);

  std::string description() const override;
  /// For createPreconditioner(); empty before the first compute().
  const std::string& chosen() const { return chosen_; }
  const Base* inner() const { return inner_.get(); } ///< what was chosen, null before
  bool isFixed() const override { return inner_ == nullptr || inner_->isFixed(); } ///< as chosen

protected:
  void doInitialize(const execution_space& exec, const Matrix& a) override;
  void doCompute(const execution_space& exec, const Matrix& a) override;
  void doDiagnose(const execution_space& exec, const Matrix& a) override;
  void doApply(const execution_space& exec, MultiVectorArg<const Scalar, Device> x,
               MultiVectorArg<Scalar, Device> y, Trans trans) const override;

private:
  using Base::report_;

  void choose(const execution_space& exec, const Matrix& a);
  void takeReport();

  AutoParameters parameters_;
  PreconditionerPtr<Scalar, Device> inner_; ///< what was chosen; null before
  std::string chosen_, note_;
  double race_seconds_ = 0;
};

} // namespace ainvil
