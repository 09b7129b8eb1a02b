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

constexpr double infinity = std::numeric_limits<double>::infinity();
/// Looks at a residual before a run is judged by its rate.
constexpr std::size_t looks_to_judge = 12;

/// Thrown out of a solver, whose slice is over.
struct EndOfSlice {};
/// Likewise, and out of a set-up: the run is not worth another.
struct Dropped {
  std::string reason;
};

/// Three digits.
std::string secondsText(double seconds);

/// One race on one system. A run is a configuration with its iterate; it waits, is set up and
/// advanced by slices of time, and has ended once its entry has a status. A slice ends by an
/// exception from the progress of the solver. GMRES then goes on from the last whole cycle, which
/// is what it would have done; CG and BiCGStab, whose recurrences would be lost, start anew with a
/// longer slice. Runs of the same preconditioner share its set-up.
template <class Scalar, class Device>
class Race {
public:
  using Exec = typename Device::execution_space;

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
    std::shared_ptr<SetUp> setup; ///< null: waits for it
    Vector<Scalar, Device> x;     ///< of GMRES: where the next slice goes on
    Course course;                ///< seconds of set-up and solve
    int iterations_before = 0;    ///< those of earlier slices that count
    double seconds_before = 0;    ///< likewise
    int iterations = 0;           ///< of the slice
    bool hasEnded() const { return !entry.status.empty(); }
  };
  using RunPtr = std::shared_ptr<Run>;

  double now() const { return options_.clock() - start_; }
  double digits() const;
  bool isOver() const { return interrupted_ || now() >= options_.budget; }
  double secondsOfLeader() const;
  const Run* leader() const;
  bool isAffordable(double more = 0) const;
  double predicted(const Run& run) const;
  void tell(const Run* running);

  bool add(const Candidate& candidate);
  System& system(int block_size);
  KrylovSolver<Scalar, Device>& solver(const Configuration& configuration);
  void probe();
  double secondsOfProduct();
  void setUp(Run& run);
  double expectedSetUp(const Run& run) const;
  std::string whyNotSetUp(const Run& run) const;
  void advance(const RunPtr& run, double slice);
  void solveOn(Run& run);
  void confirm(Run& run, SolveResult result);
  void watch(int iteration, double rel_residual);
  void dropHopeless();
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
  std::map<std::tuple<std::string, int, double>, std::unique_ptr<KrylovSolver<Scalar, Device>>>
      solvers_;
  std::unique_ptr<KrylovSolver<Scalar, Device>> measure_; ///< measures residuals only
  std::vector<RunPtr> runs_;                              ///< all, in the order in which they came
  std::vector<RunPtr> ended_;                             ///< in the order in which they ended
  RunPtr best_;                                           ///< the fastest that converged, or null
  RunPtr deepened_;                                       ///< whose neighbours have been added last
  std::map<std::pair<int, std::string>, std::weak_ptr<SetUp>> setups_;
  std::map<std::pair<int, std::string>, double> setup_seconds_; ///< of all that were tried
  std::vector<std::string> not_tried_;
  bool interrupted_ = false;
  // Of the slice that is running.
  Run* running_ = nullptr;
  double slice_start_ = 0, slice_end_ = 0;
  double challenge_ = 0;  ///< seconds to the solution below which the slice does not end
  std::vector<double> x_; ///< of the best, or of the smallest residual
  double x_residual_ = 0;
  const Run* x_of_ = nullptr;
};

/// What was seen of a race in which nothing converged, and what is left to try.
std::vector<std::string> explain(const std::vector<RaceEntry>& race, const MatrixTraits& traits,
                                 const RecommendOptions& options, double seconds);

} // namespace detail
} // namespace ainvil
