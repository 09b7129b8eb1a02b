// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// CG whose reduction travels during the products, against CG.
#include "KokkosObservers.hpp"
#include "solvers/EqualProcesses.hpp"

namespace ainvil {
namespace test {
namespace {

/// Processes whose sums are there at end() and not before: meanwhile there are NaNs in their place.
class LateProcesses final : public Reduction<Device> {
public:
  explicit LateProcesses(int processes) : processes_(processes) {}

  void sum(const Exec& exec, const ProcessSums<Device>& sums) const override {
    EXPECT_FALSE(under_way) << "a reduction during another one";
    ++at_once;
    processes_.sum(exec, sums);
  }
  void begin(const Exec& exec, const ProcessSums<Device>& sums) const override {
    sum(exec, sums);
    --at_once;
    ++begun;
    arrived_ = ProcessSums<Device>("arrived", sums.extent(0));
    Kokkos::deep_copy(exec, arrived_, sums);
    Kokkos::deep_copy(exec, sums, std::numeric_limits<double>::quiet_NaN());
    exec.fence();
    under_way = true;
  }
  void end(const Exec& exec, const ProcessSums<Device>& sums) const override {
    EXPECT_TRUE(under_way);
    Kokkos::deep_copy(exec, sums, arrived_);
    exec.fence();
    under_way = false;
  }
  Offset total(Offset mine) const override {
    EXPECT_FALSE(under_way) << "a reduction during another one";
    return processes_.total(mine);
  }
  void together(const std::function<void()>& work) const override { work(); }

  mutable int at_once = 0, begun = 0;
  mutable bool under_way = false;

private:
  EqualProcesses processes_;
  mutable ProcessSums<Device> arrived_;
};

/// Counts its applications, and those during a reduction.
class Watched final : public LinearOperator<double, Device> {
public:
  Watched(const HostCsr& a, const LateProcesses& processes)
      : a_(toDevice<double>(a)), processes_(processes) {}

  Offset numPointRows() const override { return a_.numPointRows(); }
  Offset numPointCols() const override { return a_.numPointCols(); }
  void apply(const Exec& exec, MultiVectorArg<const double, Device> x,
             MultiVectorArg<double, Device> y, Trans trans, double alpha,
             double beta) const override {
    ++applied;
    meanwhile += processes_.under_way;
    if (applied == fails_at)
      throw std::runtime_error("the operator gives up");
    a_.apply(exec, x, y, trans, alpha, beta);
  }

  mutable int applied = 0, meanwhile = 0;
  int fails_at = 0; ///< this application; 0: none

private:
  MatrixOperator<double, Device> a_;
  const LateProcesses& processes_;
};

SolverOptions pipelined(double tolerance, int max_iterations = 2000, int check_interval = 0) {
  SolverOptions o = options(tolerance, max_iterations, 30, check_interval);
  o.reductions = Reductions::Pipelined;
  return o;
}

/// S A S with S = diag(factor^u), u random in (-1, 1).
HostCsr scaledLaplacian(int nx, int ny, double factor) {
  HostCsr a = convectionDiffusion(nx, ny);
  const Doubles u = randomVector(a.size(), 5);
  for (int i = 0; i < a.size(); ++i)
    for (Offset e = a.row_map[i]; e < a.row_map[i + 1]; ++e)
      a.values[e] *= std::pow(factor, u[i] + u[a.columns[e]]);
  return a;
}

TEST(PipelinedCg, TakesTheIterationsOfCg) {
  for (const double factor : {1.0, 3.0}) {
    const HostCsr a = scaledLaplacian(29, 17, factor), m = inverseDiagonal(a);
    const Doubles b = randomVector(a.size(), 3);
    for (const bool preconditioned : {false, true})
      for (const double tolerance : {1e-4, 1e-8, 1e-10}) {
        SCOPED_TRACE(message("S^", factor, preconditioned ? ", M, " : ", ", tolerance));
        const HostCsr* const given = preconditioned ? &m : nullptr;
        const Solved cg = solveWith<Cg>(options(tolerance, 2000), a, b, given);
        const Solved ours = solveWith<Cg>(pipelined(tolerance), a, b, given);
        EXPECT_EQ(ours.result.status, SolveStatus::Converged) << ours.result.message;
        EXPECT_LE(relativeResidual(a, b, ours.x), tolerance * (1 + 1e-6));
        EXPECT_LE(std::abs(ours.result.iterations - cg.result.iterations),
                  2 + cg.result.iterations / 20)
            << ours.result.iterations << " and " << cg.result.iterations;
      }
  }
}

/// What recurrences of products would come to without the products every few iterations: several
/// times the iterations of CG, or a breakdown.
TEST(PipelinedCg, RecurrencesDoNotDrift) {
  const HostCsr a = scaledLaplacian(29, 17, 30);
  const Doubles b = randomVector(a.size(), 3);
  const Solved cg = solveWith<Cg>(options(1e-9, 20000), a, b);
  const Solved ours = solveWith<Cg>(pipelined(1e-9, 20000), a, b);
  EXPECT_EQ(ours.result.status, SolveStatus::Converged) << ours.result.message;
  EXPECT_LE(relativeResidual(a, b, ours.x), 1e-9 * (1 + 1e-6));
  EXPECT_LE(ours.result.iterations, 1.2 * cg.result.iterations) << cg.result.iterations;
}

TEST(PipelinedCg, TakesFloat) {
  const HostCsr a = convectionDiffusion(29, 17), m = inverseDiagonal(a);
  const Doubles b = randomVector(a.size(), 3);
  const Solved cg = solveWith<Cg, float>(options(1e-4, 500), a, b, &m);
  const Solved ours = solveWith<Cg, float>(pipelined(1e-4), a, b, &m);
  EXPECT_EQ(ours.result.status, SolveStatus::Converged) << ours.result.message;
  EXPECT_LE(std::abs(ours.result.iterations - cg.result.iterations), 2);
  EXPECT_LE(relativeResidual(a, b, ours.x), 2e-4);
}

/// All of it travels during the products, and no other sum is taken between the first and the last
/// residual.
TEST(PipelinedCg, OneReductionDuringTheProducts) {
  const HostCsr a = convectionDiffusion(29, 17), m = inverseDiagonal(a);
  const Doubles b = randomVector(a.size(), 3);
  for (const bool preconditioned : {false, true}) {
    int begun[2], meanwhile[2];
    for (const int k : {0, 1}) {
      const auto late = std::make_shared<LateProcesses>(3);
      const Watched a_watched(a, *late), m_watched(m, *late);
      Cg<double, Device> solver(pipelined(0, 4 + 10 * k, 1));
      solver.setReduction(late);
      const auto x = toDevice<double>(Doubles(b.size(), 0.0));
      const SolveResult result =
          solver.solve(a_watched, preconditioned ? &m_watched : nullptr, toDevice<double>(b), x);
      EXPECT_EQ(result.iterations, 4 + 10 * k);
      EXPECT_EQ(late->at_once, 3); // ||b||, the first residual and the last
      begun[k] = late->begun;
      meanwhile[k] = a_watched.meanwhile;
      EXPECT_EQ(m_watched.meanwhile, preconditioned ? meanwhile[k] : 0);
    }
    EXPECT_EQ(begun[1] - begun[0], 10);
    EXPECT_EQ(meanwhile[1] - meanwhile[0], 10);
  }
}

/// Sums are 4 times as large, which rounds nothing.
TEST(PipelinedCg, ProcessesWithEqualRowsGiveEqualSolutions) {
  const HostCsr a = scaledLaplacian(29, 17, 3), m = inverseDiagonal(a);
  const auto solve = [&](const std::shared_ptr<const Reduction<Device>>& reduction) {
    Cg<double, Device> solver(pipelined(1e-9));
    solver.setReduction(reduction);
    const auto a_device = toDevice<double>(a), m_device = toDevice<double>(m);
    const auto b = toDevice<double>(randomVector(a.size(), 3));
    const auto x = toDevice<double>(Doubles(a.size(), 0.0));
    const SolveResult result = solver.solve(a_device, &m_device, b, x);
    EXPECT_EQ(result.status, SolveStatus::Converged);
    EXPECT_GT(result.iterations, 45); // two replacements
    return std::make_pair(result.history, toHost<double>(x));
  };
  const auto alone = solve(nullptr);
  EXPECT_EQ(solve(std::make_shared<LateProcesses>(4)), alone);
  EXPECT_EQ(solve(std::make_shared<EqualProcesses>(4)), alone); // which knows only sum()
}

TEST(PipelinedCg, AnOperatorThatThrowsLeavesNoReductionUnderWay) {
  const HostCsr a = convectionDiffusion(29, 17);
  const auto late = std::make_shared<LateProcesses>(2);
  Cg<double, Device> solver(pipelined(1e-8));
  solver.setReduction(late);
  const auto b = toDevice<double>(randomVector(a.size(), 3));
  const auto x = toDevice<double>(Doubles(a.size(), 0.0));
  Watched bad(a, *late);
  bad.fails_at = 7;
  EXPECT_THROW(solver.solve(bad, nullptr, b, x), std::runtime_error);
  EXPECT_EQ(bad.meanwhile, 5); // the first two were a residual and A z
  EXPECT_FALSE(late->under_way);
  EXPECT_EQ(solver.solve(toDevice<double>(a), nullptr, b, x).status, SolveStatus::Converged);
}

TEST(PipelinedCg, ColumnsAdvanceTogether) {
  const HostCsr a = scaledLaplacian(29, 17, 3), m = inverseDiagonal(a);
  const auto a_device = toDevice<double>(a), m_device = toDevice<double>(m);
  const size_t n = a.size(), count = 11;
  const MultiVector<double, Device> b("b", n, count), x("x", n, count);
  const auto column = [](const MultiVector<double, Device>& of, size_t c) {
    return Vector<double, Device>(Kokkos::subview(of, Kokkos::ALL(), c));
  };
  std::vector<Doubles> given;
  for (size_t c = 0; c < count; ++c) { // of different lengths, one of zeros
    given.push_back(randomVector(a.size(), static_cast<unsigned>(c)));
    if (c % 3 == 1)
      given[c] = a.times(Doubles(n, double(c) - 4));
    Kokkos::deep_copy(column(b, c), toDevice<double>(given[c]));
  }
  for (const int interval : {1, 7}) {
    Kokkos::deep_copy(x, 0.0);
    const auto results =
        Cg<double, Device>(pipelined(1e-9, 400, interval)).solve(a_device, &m_device, b, x);
    for (size_t c = 0; c < count; ++c) {
      const Solved alone = solveWith<Cg>(pipelined(1e-9, 400, interval), a, given[c], &m);
      EXPECT_EQ(results[c].status, SolveStatus::Converged);
      EXPECT_EQ(results[c].history, alone.result.history) << "column " << c;
      EXPECT_EQ(toHost<double>(column(x, c)), alone.x) << "column " << c;
    }
    EXPECT_EQ(results[4].iterations, 0);
  }
}

/// However seldom the host looks, and from where an exception ended the solve.
TEST(PipelinedCg, ResultsDoNotDependOnLooksAndPauses) {
  const HostCsr a = scaledLaplacian(29, 17, 3);
  const Doubles b = randomVector(a.size(), 3);
  const Solved every = solveWith<Cg>(pipelined(1e-9, 400, 1), a, b);
  EXPECT_EQ(solveWith<Cg>(pipelined(1e-9, 400, 9), a, b).result.history, every.result.history);
  SolverOptions o = pipelined(1e-9, 400, 3);
  o.progress = [](int, double) { throw 1; };
  Cg<double, Device> solver(o);
  const auto a_device = toDevice<double>(a);
  const auto b_device = toDevice<double>(b), x = toDevice<double>(Doubles(b.size(), 0.0));
  SolveResult result;
  for (bool first = true, over = false; !over; first = false)
    try {
      result = first ? solver.solve(a_device, nullptr, b_device, x)
                     : solver.resume(Exec(), a_device, nullptr, b_device, x);
      over = true;
    } catch (int) {
    }
  EXPECT_EQ(result.history, every.result.history);
  EXPECT_EQ(toHost<double>(x), every.x);
}

TEST(PipelinedCg, TellsWhatIsNotDefinite) {
  const HostCsr a = diagonalOf({2, -3, 1}), eye = diagonalOf({1, 1, 1});
  const Doubles b = {1, 2, 3};
  const Solved matrix = solveWith<Cg>(pipelined(1e-8), a, b);
  EXPECT_EQ(matrix.result.status, SolveStatus::Breakdown);
  EXPECT_NE(matrix.result.message.find("the matrix is not positive definite"), std::string::npos);
  const Solved precond = solveWith<Cg>(pipelined(1e-8), eye, b, &a);
  EXPECT_EQ(precond.result.status, SolveStatus::Breakdown);
  EXPECT_NE(precond.result.message.find("the preconditioner is not"), std::string::npos);
}

/// One kernel of its own an iteration, and the next solve allocates nothing.
TEST(PipelinedCg, LaunchesOneKernelAnIteration) {
  const HostCsr a = convectionDiffusion(29, 17);
  const auto a_device = toDevice<double>(a);
  const auto b = toDevice<double>(randomVector(a.size(), 3));
  const auto x = toDevice<double>(Doubles(a.size(), 0.0));
  size_t kernels[2];
  for (const int k : {0, 1}) {
    Cg<double, Device> solver(pipelined(0, 5 + 10 * k, 1));
    solver.solve(a_device, nullptr, b, x);
    Kokkos::deep_copy(x, 0.0);
    const KernelLabelRecorder recorder;
    EXPECT_EQ(solver.solve(a_device, nullptr, b, x).iterations, 5 + 10 * k);
    kernels[k] = recorder.kernels().size();
    EXPECT_EQ(recorder.allocations(), std::vector<std::string>());
    expectOwnLabels(recorder.labels());
  }
  EXPECT_EQ(kernels[1] - kernels[0], size_t(2 * 10)); // with that of A
}

} // namespace
} // namespace test
} // namespace ainvil
