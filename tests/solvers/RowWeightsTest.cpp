// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Solves whose residuals are judged by ||W r||: see KrylovSolver::setWeights().
#include "Refusal.hpp"
#include "solvers/EqualProcesses.hpp"

namespace ainvil {
namespace test {
namespace {

Doubles times(const Doubles& w, Doubles x) {
  for (size_t i = 0; i < x.size(); ++i)
    x[i] *= w[i];
  return x;
}

/// W A
HostCsr times(const Doubles& w, HostCsr a) {
  for (int i = 0; i < a.size(); ++i)
    for (Offset e = a.row_map[i]; e < a.row_map[i + 1]; ++e)
      a.values[e] *= w[i];
  return a;
}

class RowWeights : public ::testing::TestWithParam<const char*> {
protected:
  const std::string name_ = GetParam();
  const HostCsr a_ =
      name_ == "cg" ? convectionDiffusion(29, 17) : convectionDiffusion(29, 17, 0.4, 0.2);
  const Doubles b_ = randomVector(a_.size(), 3);
  const HostCsr m_ = inverseDiagonal(a_);
  /// Over four orders of magnitude from one row to the next.
  const Doubles w_ = powers(100);

  Doubles powers(double base) const {
    Doubles w = randomVector(a_.size(), 7);
    for (double& w_i : w)
      w_i = std::pow(base, w_i);
    return w;
  }

  struct Run {
    const HostCsr& a;
    const HostCsr* m;
    const Doubles& b;
    const Doubles* weights;
    std::shared_ptr<const Reduction<Device>> sums = nullptr;
  };
  Solved solve(const SolverOptions& options, const Run& run) const {
    const auto solver = createSolver<double, Device>(name_, options);
    solver->setReduction(run.sums);
    if (run.weights != nullptr)
      solver->setWeights(toDevice<double>(*run.weights));
    const auto m = toDevice<double>(run.m != nullptr ? *run.m : run.a);
    const auto x = toDevice<double>(Doubles(run.b.size(), 0.0));
    Solved solved;
    solved.result = solver->solve(Exec(), toDevice<double>(run.a), run.m != nullptr ? &m : nullptr,
                                  toDevice<double>(run.b), x);
    solved.x = toHost<double>(x);
    return solved;
  }
  Doubles residual(const Doubles& x) const { return minus(b_, a_.times(x)); }
  /// ||W (b - A x)||
  double weighted(const Doubles& x) const { return norm(times(w_, residual(x))); }
};

TEST_P(RowWeights, ConvergedMeansTheRecomputedResidualInThisNorm) {
  for (const HostCsr* m : {&m_, static_cast<const HostCsr*>(nullptr)})
    for (const int interval : {1, 7}) {
      const Solved solved = solve(options(1e-6, 900, 25, interval), {a_, m, b_, &w_});
      ASSERT_EQ(solved.result.status, SolveStatus::Converged) << solved.result.message;
      const double rel_residual = weighted(solved.x) / norm(times(w_, b_));
      EXPECT_LE(rel_residual, 1e-6 * (1 + 1e-6));
      EXPECT_NEAR(solved.result.true_rel_residual, rel_residual, 1e-5 * rel_residual);
      EXPECT_NEAR(solved.result.rel_residual, rel_residual, 1e-2 * rel_residual);
      EXPECT_EQ(solved.result.history.size(), size_t(solved.result.iterations) + 1);
      EXPECT_EQ(solved.result.history[0], 1);
    }
}

TEST_P(RowWeights, AllTolerancesAreInThisNorm) {
  SolverOptions o = options(0, 900, 25);
  o.absolute_tolerance = 1e-3;
  const Solved absolute = solve(o, {a_, &m_, b_, &w_});
  EXPECT_EQ(absolute.result.status, SolveStatus::Converged);
  EXPECT_LE(weighted(absolute.x), 1e-3 * (1 + 1e-8));
  EXPECT_GT(weighted(absolute.x), 1e-6);
  o.absolute_tolerance = 0;
  o.tolerance = 1e-3;
  o.relative_to = ResidualScale::One;
  const Solved one = solve(o, {a_, &m_, b_, &w_});
  EXPECT_EQ(one.result.iterations, absolute.result.iterations);
  EXPECT_NEAR(one.result.history[0], norm(times(w_, b_)), 1e-10 * norm(times(w_, b_)));
}

/// With weights they run on W A with the preconditioner M W^-1, as if that had been given.
TEST_P(RowWeights, RunOnTheWeightedSystemOrMeasureOnly) {
  // BiCGStab doubles rounding errors at every step.
  const SolverOptions o = options(1e-6, name_ == "bicgstab" ? 6 : 40, 25);
  for (const HostCsr* m : {&m_, static_cast<const HostCsr*>(nullptr)}) {
    const Solved ours = solve(o, {a_, m, b_, &w_});
    if (name_ == "cg") { // the iterates of the same step, whatever is measured
      const Solved plain = solve(options(0, ours.result.iterations), {a_, m, b_, nullptr});
      EXPECT_EQ(ours.x, plain.x);
      continue;
    }
    const HostCsr of_weighted = [&] {
      HostCsr scaled = m != nullptr ? m_ : diagonalOf(Doubles(w_.size(), 1.0));
      for (size_t e = 0; e < scaled.values.size(); ++e)
        scaled.values[e] /= w_[scaled.columns[e]];
      return scaled;
    }();
    const Solved theirs = solve(o, {times(w_, a_), &of_weighted, times(w_, b_), nullptr});
    EXPECT_EQ(ours.result.status, theirs.result.status);
    ASSERT_EQ(ours.result.history.size(), theirs.result.history.size());
    for (size_t i = 0; i < ours.result.history.size(); ++i)
      EXPECT_NEAR(ours.result.history[i], theirs.result.history[i], 1e-8 * theirs.result.history[i])
          << i;
  }
}

/// A power of two for all rows changes no number but the residual norms.
TEST_P(RowWeights, EqualOnesDoNotMatterToRelativeResiduals) {
  const SolverOptions o = options(1e-9, 400, 25);
  const Doubles fours(b_.size(), 4.0);
  const Solved ours = solve(o, {a_, &m_, b_, &fours}), plain = solve(o, {a_, &m_, b_, nullptr});
  EXPECT_EQ(ours.result.status, SolveStatus::Converged);
  EXPECT_EQ(ours.result.iterations, plain.result.iterations);
  EXPECT_NEAR(norm(minus(ours.x, plain.x)), 0, 1e-9 * norm(plain.x));
}

TEST_P(RowWeights, FewerReductionsGiveTheSameNumbers) {
  SolverOptions o = options(1e-6, 400, 25);
  const Solved usual = solve(o, {a_, &m_, b_, &w_});
  for (const Reductions reductions : {Reductions::Fewest, Reductions::Pipelined}) {
    o.reductions = reductions;
    const Solved fewest = solve(o, {a_, &m_, b_, &w_});
    EXPECT_EQ(fewest.result.iterations, usual.result.iterations);
    EXPECT_LE(weighted(fewest.x), 1e-6 * norm(times(w_, b_)) * (1 + 1e-6));
  }
}

TEST_P(RowWeights, GoOnFromWhereAnExceptionEndedTheSolve) {
  SolverOptions o = options(1e-6, 400, 11, 3);
  const Solved whole = solve(o, {a_, &m_, b_, &w_});
  int looks = 0;
  o.progress = [&](int, double) {
    if (++looks % 2 == 0)
      throw std::runtime_error("pause");
  };
  const auto solver = createSolver<double, Device>(name_, o);
  solver->setWeights(toDevice<double>(w_));
  const auto a = toDevice<double>(a_), m = toDevice<double>(m_);
  const auto b = toDevice<double>(b_), x = toDevice<double>(Doubles(b_.size(), 0.0));
  SolveResult result;
  for (bool first = true, over = false; !over; first = false)
    try {
      result = first ? solver->solve(a, &m, b, x) : solver->resume(Exec(), a, &m, b, x);
      over = true;
    } catch (const std::runtime_error&) {
    }
  EXPECT_EQ(result.history, whole.result.history);
  EXPECT_EQ(toHost<double>(x), whole.x);
  solver->setWeights({}); // another norm is another solve
  EXPECT_THROW(solver->resume(Exec(), a, &m, b, x), InvalidArgument);
}

/// Eleven columns, eight at a time: each as by itself.
TEST_P(RowWeights, AreThoseOfAllColumns) {
  const SolverOptions o = options(1e-6, 400, 25);
  const size_t n = b_.size();
  const MultiVector<double, Device> b("b", n, 11), x("x", n, 11);
  const auto column = [](const MultiVector<double, Device>& of, size_t c) {
    return Vector<double, Device>(Kokkos::subview(of, Kokkos::ALL(), c));
  };
  for (size_t c = 0; c < 11; ++c) // of different lengths, one of zeros
    Kokkos::deep_copy(column(b, c), toDevice<double>(times(Doubles(n, c == 4 ? 0.0 : 1.0 + c),
                                                           randomVector(a_.size(), unsigned(c)))));
  const auto solver = createSolver<double, Device>(name_, o);
  solver->setWeights(toDevice<double>(w_));
  const auto a = toDevice<double>(a_), m = toDevice<double>(m_);
  const auto results = solver->solve(a, &m, b, x);
  for (size_t c = 0; c < 11; ++c) {
    const auto alone = toDevice<double>(Doubles(n, 0.0));
    const SolveResult one = solver->solve(a, &m, column(b, c), alone);
    EXPECT_EQ(results[c].status, SolveStatus::Converged);
    EXPECT_EQ(results[c].iterations, one.iterations) << "column " << c;
    const Doubles b_c = toHost<double>(column(b, c)), x_c = toHost<double>(column(x, c));
    EXPECT_LE(norm(times(w_, minus(b_c, a_.times(x_c)))), 1e-6 * norm(times(w_, b_c)) * (1 + 1e-6));
  }
}

TEST_P(RowWeights, OverProcessesTakeNoMoreReductions) {
  const SolverOptions o = options(1e-6, 400, 25);
  const auto plain_sums = std::make_shared<EqualProcesses>(2);
  const auto sums = std::make_shared<EqualProcesses>(2);
  const int iterations = solve(o, {a_, &m_, b_, &w_}).result.iterations;
  const Solved ours = solve(o, {a_, &m_, b_, &w_, sums});
  EXPECT_EQ(ours.result.status, SolveStatus::Converged);
  EXPECT_NEAR(ours.result.iterations, iterations, 1);
  EXPECT_LE(weighted(ours.x), 1e-6 * norm(times(w_, b_)) * (1 + 1e-6));
  const SolverOptions same = options(0, ours.result.iterations, 25);
  sums->reductions = 0;
  solve(same, {a_, &m_, b_, &w_, sums});
  solve(same, {a_, &m_, b_, nullptr, plain_sums});
  EXPECT_EQ(sums->reductions, plain_sums->reductions);
}

/// The next solve takes the values that the array has then, and allocates nothing.
TEST_P(RowWeights, MayChangeBetweenSolves) {
  const SolverOptions o = options(1e-6, 400, 25);
  const auto solver = createSolver<double, Device>(name_, o);
  const auto weights = toDevice<double>(Doubles(b_.size(), 1.0));
  solver->setWeights(weights);
  const auto a = toDevice<double>(a_), m = toDevice<double>(m_);
  const auto b = toDevice<double>(b_), x = toDevice<double>(Doubles(b_.size(), 0.0));
  EXPECT_EQ(solver->solve(a, &m, b, x).status, SolveStatus::Converged);
  Kokkos::deep_copy(weights, toDevice<double>(w_));
  Kokkos::deep_copy(x, 0.0);
  SolveResult result;
  {
    const ToolsRecorder recorder;
    result = solver->solve(a, &m, b, x);
    EXPECT_EQ(ToolsRecorder::allocations, 0);
    for (const std::string& label : ToolsRecorder::labels)
      EXPECT_EQ(label.find("Ainvil::"), 0u) << label;
  }
  EXPECT_EQ(result.history, solve(o, {a_, &m_, b_, &w_}).result.history);
  EXPECT_EQ(toHost<double>(x), solve(o, {a_, &m_, b_, &w_}).x);
  solver->setWeights({});
  Kokkos::deep_copy(x, 0.0);
  solver->solve(a, &m, b, x);
  EXPECT_EQ(toHost<double>(x), solve(o, {a_, &m_, b_, nullptr}).x);
}

TEST_P(RowWeights, InFloat) {
  const auto solver = createSolver<float, Device>(name_, options(1e-4, 400, 25));
  const Doubles w = powers(8);
  solver->setWeights(toDevice<float>(w));
  const auto m = toDevice<float>(m_);
  const auto x = toDevice<float>(Doubles(b_.size(), 0.0));
  EXPECT_EQ(solver->solve(toDevice<float>(a_), &m, toDevice<float>(b_), x).status,
            SolveStatus::Converged);
  EXPECT_LE(norm(times(w, residual(toHost<float>(x)))), 1e-4 * norm(times(w, b_)) * (1 + 1e-2));
}

TEST_P(RowWeights, RefusesWhatIsNoNorm) {
  const auto refused = [&](const Doubles& weights) {
    return refusal([&] { solve(options(1e-6, 10), {a_, &m_, b_, &weights}); });
  };
  EXPECT_NE(refused(Doubles(5, 1.0)).find("a weight a row"), std::string::npos);
  for (const double bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity()}) {
    Doubles weights = w_;
    weights[2] = weights[77] = bad;
    EXPECT_NE(refused(weights).find("row 3 (counted from 1)"), std::string::npos) << bad;
  }
}

/// A zero right-hand side has x = 0, whatever it counts; a tiny one is none.
TEST_P(RowWeights, ZeroIsZeroWhateverItCounts) {
  const HostCsr a = diagonalOf({1, 1}), m = diagonalOf({1, 1});
  const Doubles zero{0, 0}, tiny{1e-200, 0}, weights{1e-200, 1};
  EXPECT_EQ(solve(options(1e-8, 10), {a, &m, zero, &weights}).result.iterations, 0);
  EXPECT_EQ(solve(options(1e-8, 10), {a, &m, tiny, &weights}).result.status,
            SolveStatus::Breakdown);
}

INSTANTIATE_TEST_SUITE_P(Solvers, RowWeights,
                         ::testing::Values("gmres", "fgmres", "cg", "bicgstab"),
                         [](const auto& info) { return std::string(info.param); });

} // namespace
} // namespace test
} // namespace ainvil
