// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The race itself: slices of time, predictions, and who is dropped.

#include "Ainvil_Preconditioner.hpp"
#include "Ainvil_Recommend.hpp"
#include "krylov/Ainvil_KrylovSolver.hpp"
#include "race/Ainvil_Candidates.hpp"
#include "race/Ainvil_Course.hpp"

#include <limits>
#include <map>
#include <memory>
#include <tuple>

namespace ainvil {
namespace detail {

/// The name, in RecommendOptions, of the solver that suits the matrix.
constexpr const char* usual_solver = "usual";
constexpr double infinity = std::numeric_limits<double>::infinity();
/// Iterations before a run is judged by its rate, and before one is that has gained a digit.
constexpr int steps_to_judge = 12, steps_of_a_digit = 6;
/// Who has taken at most so many times as long as the best may yet turn out to be it.
constexpr double close = 1.5;

/// Thrown out of a solver, whose slice is over.
struct EndOfSlice {};
/// Likewise, and out of a set-up: the run has no prospects.
struct Dropped {
  std::string reason;
};

/// Three digits.
std::string secondsText(double seconds);

/// One race on one system. A run is a configuration with its iterate and solver; it waits, is set
/// up and advanced by slices of time, and has ended once its entry has a status. A slice ends by an
/// exception from the progress of the solver, which the next one resumes. Runs of the same
/// preconditioner share its set-up.
///
/// Who gets the next slice: as long as nothing has converged, the leader and all others together
/// have about the same time; see nextChallenger() for the order of the others.
template <class Scalar, class Device>
class Race {
public:
  using Exec = typename Device::execution_space;
  /// Seconds that the first run of a kernel may take longer than the next ones: nobody is dropped
  /// for them. CUDA loads kernels when they are first launched.
  static constexpr double loading = compat::IsGpu<Exec>::value ? 0.01 : 0;

  Race(const Exec& exec, const BsrMatrix<Scalar, Device>& a, Vector<const Scalar, Device> b,
       RecommendOptions options);

  Recommendation run();

private:
  /// A in blocks of some size.
  struct System {
    BsrMatrix<Scalar, Device> matrix;
    std::unique_ptr<MatrixOperator<Scalar, Device>> op;
  };
  /// A preconditioner that has been set up.
  struct SetUp {
    PreconditionerPtr<Scalar, Device> m;
    double initialize_seconds = 0, compute_seconds = 0;
    double seconds() const { return initialize_seconds + compute_seconds; }
  };
  struct Run {
    RaceEntry entry;
    std::string parent; ///< see Candidate
    double growth = 1;
    bool is_neighbour = false; ///< of one that converged
    bool has_lacked_memory = false;
    std::shared_ptr<SetUp> setup;                         ///< null: waits for it
    std::unique_ptr<KrylovSolver<Scalar, Device>> solver; ///< null: has not begun
    Vector<Scalar, Device> x;  ///< its iterate; kept after the end where it may be the best
    Course course;             ///< seconds of set-up and solve
    double seconds_before = 0; ///< of the solve, in slices before this one
    bool hasEnded() const { return !entry.status.empty(); }
    /// May be judged by its rate.
    bool isSampled() const {
      return course.looks() >= 2 &&
             (entry.iterations >= steps_to_judge ||
              (entry.iterations >= steps_of_a_digit && course.digits() >= 1));
    }
  };
  using RunPtr = std::shared_ptr<Run>;

  double now() const { return options_.clock() - start_; }
  double digits() const;
  bool isOver() const { return interrupted_ || now() >= options_.budget; }
  void chooseLeader();
  double secondsOfLeader() const { return leader_ == nullptr ? infinity : predicted(*leader_); }
  double affordable() const;
  double predicted(const Run& run) const;
  double hoped(const Run& run) const;
  double partOf(const Run& run) const;
  void tell(const Run* running);

  std::vector<Candidate> first() const;
  std::vector<std::pair<std::string, int>> solversOf(const Candidate& candidate) const;
  bool add(const Candidate& candidate);
  System& system(int block_size);
  std::unique_ptr<KrylovSolver<Scalar, Device>> takeSolver(const Configuration& configuration);
  void giveSolver(Run& run);
  void probe();
  void setUp(Run& run);
  double expectedSetUp(const Run& run) const;
  std::string whyNotSetUp(const Run& run) const;
  RunPtr nextChallenger();
  double sliceOf(const Run& run) const;
  void advance(const RunPtr& run, double slice);
  void solveOn(Run& run);
  void confirm(Run& run, SolveResult result);
  void watch(int iteration, double rel_residual);
  void dropHopeless();
  std::string whyHopeless(const Run& run) const;
  void forget(Run& run);
  bool freeOthers(const Run& but);
  bool deepen();
  void playOff();
  void end(Run& run, const std::string& status, const std::string& reason);
  void keepSolution(const Run& run);
  std::vector<double> toHost(const Vector<Scalar, Device>& x) const;
  std::vector<RunPtr> alive() const;
  Recommendation result();

  Exec exec_;
  RecommendOptions options_;
  double start_;
  MatrixTraits traits_;
  Vector<const Scalar, Device> b_;
  std::map<int, System> systems_;
  /// That nobody uses, by name and restart length.
  std::multimap<std::pair<std::string, int>, std::unique_ptr<KrylovSolver<Scalar, Device>>>
      solvers_;
  std::unique_ptr<KrylovSolver<Scalar, Device>> measure_; ///< measures residuals only
  std::vector<RunPtr> runs_;                              ///< all, in the order in which they came
  std::vector<RunPtr> ended_;                             ///< in the order in which they ended
  RunPtr best_;                                           ///< the fastest that converged, or null
  RunPtr leader_;                                         ///< that one, or who may be it; or null
  RunPtr deepened_;                                       ///< whose neighbours have been added last
  std::map<std::pair<int, std::string>, std::weak_ptr<SetUp>> setups_;
  std::map<std::pair<int, std::string>, double> setup_seconds_; ///< of all that were tried
  std::vector<std::string> not_tried_;
  bool interrupted_ = false;
  // Of the slice that is running.
  Run* running_ = nullptr;
  double slice_start_ = 0, slice_end_ = 0;
  std::vector<double> x_; ///< of the smallest residual where nothing has converged
  const Run* x_of_ = nullptr;
};

/// What was seen of a race in which nothing converged, and what is left to try.
std::vector<std::string> explain(const std::vector<RaceEntry>& race, const MatrixTraits& traits,
                                 const RecommendOptions& options, double seconds);

} // namespace detail
} // namespace ainvil
