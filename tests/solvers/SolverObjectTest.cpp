// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// What has a workspace is not copied, and a solver serves one solve at a time.
#include "Refusal.hpp"
#include "solvers/SolverSupport.hpp"

#include "Ainvil_Ainv.hpp"
#include "Ainvil_Fsai.hpp"
#include "Ainvil_Jacobi.hpp"
#include "ilu/Ainvil_BlockIlu.hpp"
#include "triangular/Ainvil_ExactTriangularSolver.hpp"

#include <optional>
#include <thread>
#include <type_traits>

namespace ainvil {
namespace test {
namespace {

template <class T>
constexpr bool is_single =
    !std::is_copy_constructible<T>::value && !std::is_move_constructible<T>::value &&
    !std::is_copy_assignable<T>::value && !std::is_move_assignable<T>::value;

static_assert(is_single<Cg<double, Device>>, "copies would share the workspace");
static_assert(is_single<Gmres<double, Device>>, "copies would share the workspace");
static_assert(is_single<BiCgStab<float, Device>>, "copies would share the workspace");
static_assert(is_single<MatrixOperator<double, Device>>, "copies would share the long rows' sums");
static_assert(is_single<Jacobi<double, Device>>, "copies would share the diagonal");
static_assert(is_single<Fsai<double, Device>>, "copies would share G");
static_assert(is_single<Ainv<double, Device>>, "copies would share Z");
static_assert(is_single<BlockIlu<double, Device>>, "copies would share L and U");
static_assert(is_single<ExactTriangularSolver<float, double, Device>>,
              "copies would share the factor");

using Operator = LinearOperator<double, Device>;

/// An inner solve as a preconditioner, by whichever solver.
class InnerSolve final : public Operator {
public:
  InnerSolve(const Operator& a, KrylovSolver<double, Device>& solver) : a_(a), solver_(solver) {}

  Offset numPointRows() const override { return a_.numPointRows(); }
  Offset numPointCols() const override { return a_.numPointCols(); }
  void apply(const Exec& exec, MultiVectorArg<const double, Device> x,
             MultiVectorArg<double, Device> y, Trans, double, double) const override {
    const Vector<double, Device> b("b", x.extent(0)), z("z", x.extent(0));
    Kokkos::deep_copy(exec, b, Kokkos::subview(x, Kokkos::ALL(), 0));
    solver_.solve(exec, a_, nullptr, b, z);
    Kokkos::deep_copy(exec, Kokkos::subview(y, Kokkos::ALL(), 0), z);
  }
  bool isFixed() const override { return false; }

private:
  const Operator& a_;
  KrylovSolver<double, Device>& solver_;
};

class SolverObject : public ::testing::TestWithParam<const char*> {
protected:
  std::unique_ptr<KrylovSolver<double, Device>> makeSolver() const {
    const std::string name = GetParam();
    if (name == "CG")
      return std::make_unique<Cg<double, Device>>(options_);
    if (name == "BiCGStab")
      return std::make_unique<BiCgStab<double, Device>>(options_);
    return std::make_unique<Gmres<double, Device>>(options_,
                                                   name == "GMRES" ? Flexible::No : Flexible::Yes);
  }
  void expectRefusal(const std::string& text) const {
    EXPECT_EQ(text.rfind(std::string(GetParam()) + ": solve() was called on an object", 0), 0u)
        << "'" << text << "'";
  }
  void expectSolves(KrylovSolver<double, Device>& solver) const {
    const Vector<double, Device> x("x", b_.extent(0));
    EXPECT_EQ(solver.solve(a_, nullptr, b_, x).status, SolveStatus::Converged);
  }

  SolverOptions options_ = [] {
    SolverOptions options;
    options.tolerance = 1e-6;
    options.allow_varying = true;
    return options;
  }();
  MatrixOperator<double, Device> a_ = toDevice<double>(convectionDiffusion(9, 7));
  Vector<double, Device> b_ = toDevice<double>(randomVector(63, 3));
  Vector<double, Device> x_ = Vector<double, Device>("x", 63);
};

TEST_P(SolverObject, IsNoPreconditionerOfItself) {
  const auto solver = makeSolver(), inner = makeSolver();
  const InnerSolve itself(a_, *solver), another(a_, *inner);
  expectRefusal(refusal([&] { solver->solve(a_, &itself, b_, x_); }));
  // The solver is free again, for a solve with another one inside too.
  expectSolves(*solver);
  EXPECT_EQ(solver->solve(a_, &another, b_, x_).status, SolveStatus::Converged);
}

TEST_P(SolverObject, RefusesAnotherThreadWhileItSolves) {
  KrylovSolver<double, Device>* solving = nullptr;
  std::string text;
  options_.progress = [&](int, double) {
    std::thread([&] { text = refusal([&] { solving->solve(a_, nullptr, b_, x_); }); }).join();
  };
  const auto solver = makeSolver();
  solving = solver.get();
  expectSolves(*solver);
  expectRefusal(text);
}

TEST_P(SolverObject, IsFreeAfterAnException) {
  const auto solver = makeSolver();
  const Vector<double, Device> wrong("x", 5);
  EXPECT_NE(refusal([&] { solver->solve(a_, nullptr, b_, wrong); }), "");
  expectSolves(*solver);
}

TEST_P(SolverObject, IsFreeAfterAWordOfTheUser) {
  bool stops = true;
  options_.check_interval = 1;
  options_.stop = [&](int, double) { return stops; };
  const auto solver = makeSolver();
  EXPECT_EQ(solver->solve(a_, nullptr, b_, x_).status, SolveStatus::Stopped);
  stops = false;
  expectSolves(*solver);
}

/// Steps and iterates are those of a solve without a pause.
TEST_P(SolverObject, GoesOnAfterEveryPause) {
  struct Pause {};
  options_.restart = 7;
  for (const int interval : {1, 4, 9}) {
    options_.check_interval = interval;
    options_.progress = {};
    const Vector<double, Device> expected_x("x", b_.extent(0)), x("x", b_.extent(0));
    const auto expected = makeSolver()->solve(a_, nullptr, b_, expected_x);
    int pauses = 0;
    options_.progress = [&](int, double) {
      ++pauses;
      throw Pause();
    };
    const auto solver = makeSolver();
    const auto until = [&](const auto& call) -> std::optional<SolveResult> {
      try {
        return call();
      } catch (const Pause&) {
        return std::nullopt;
      }
    };
    auto result = until([&] { return solver->solve(a_, nullptr, b_, x); });
    while (!result)
      result = until([&] { return solver->resume({}, a_, nullptr, b_, x); });
    EXPECT_GT(pauses, 2);
    EXPECT_EQ(result->status, SolveStatus::Converged);
    EXPECT_EQ(result->iterations, expected.iterations);
    EXPECT_EQ(result->history, expected.history);
    EXPECT_EQ(toHost<double>(x), toHost<double>(expected_x));
    EXPECT_NE(refusal([&] { solver->resume({}, a_, nullptr, b_, x); }), ""); // it is over
  }
}

TEST_P(SolverObject, ResumesNothingElse) {
  const auto solver = makeSolver();
  const Vector<double, Device> x("x", b_.extent(0));
  EXPECT_NE(refusal([&] { solver->resume({}, a_, nullptr, b_, x); }), "");
  options_.progress = [](int, double) { throw 1; };
  const auto paused = makeSolver();
  EXPECT_THROW(paused->solve(a_, nullptr, b_, x), int);
  const Vector<double, Device> wrong("x", 5);
  EXPECT_NE(refusal([&] { paused->resume({}, a_, nullptr, b_, wrong); }), "");
  EXPECT_THROW(paused->resume({}, a_, nullptr, b_, x), int);
  // Several right-hand sides, of which the last is alone in its group.
  const size_t n = b_.extent(0);
  const MultiVector<double, Device> many("b", n, 9), unknowns("x", n, 9);
  Kokkos::deep_copy(Kokkos::subview(many, Kokkos::ALL(), 8), b_);
  EXPECT_THROW(paused->solve(a_, nullptr, many, unknowns), int);
  EXPECT_NE(refusal([&] { paused->resume({}, a_, nullptr, b_, x); }), "");
}

INSTANTIATE_TEST_SUITE_P(Solvers, SolverObject,
                         ::testing::Values("CG", "GMRES", "FGMRES", "BiCGStab"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace test
} // namespace ainvil
