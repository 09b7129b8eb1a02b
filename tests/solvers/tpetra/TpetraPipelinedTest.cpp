// SPDX-License-Identifier: BSD-3-Clause
/// CG whose reduction travels during the products, over ranks.
#include "solvers/tpetra/MpiCalls.hpp"
#include "solvers/tpetra/OverRanks.hpp"

#include "gallery/Ainvil_Gallery.hpp"

namespace ainvil {
namespace {

using namespace test;

class PipelinedOverRanks : public ::testing::Test {
protected:
  const HostBsr matrix_ = makeProblem("jump:9").matrix;
  const std::vector<double> b_ = randomVector(matrix_.numPointRows(), 31);

  static SolverOptions optionsWith(Reductions reductions, double tolerance = 1e-8) {
    SolverOptions options;
    options.reductions = reductions;
    options.tolerance = tolerance;
    return options;
  }
  SolveResult solve(const TpetraOperator& a, const TpetraOperator* m, const SolverOptions& options,
                    TpetraVector& x) const {
    tpetra::Solver<> solver("cg", options);
    return solver.solve(a, m, *vectorOn(a.getRangeMap(), b_), x);
  }
};

TEST_F(PipelinedOverRanks, TakesTheIterationsOfCg) {
  for (const Spread spread : spreads) {
    const auto a = crsMatrix(matrix_, spread);
    for (const char* precond : {"none", "jacobi", "ic", "fsai"}) {
      SCOPED_TRACE(message(precond, ", spread ", static_cast<int>(spread)));
      const auto m = made(precond, a);
      TpetraVector x(a->getDomainMap()), y(a->getDomainMap());
      const SolveResult cg = solve(BlockOperator(a), m.get(), optionsWith(Reductions::Usual), x);
      const SolveResult ours =
          solve(BlockOperator(a), m.get(), optionsWith(Reductions::Pipelined), y);
      EXPECT_EQ(ours.status, SolveStatus::Converged) << ours.message;
      EXPECT_LE(residualOf(matrix_, b_, wholeVector(y)), 1e-8 * (1 + 1e-6));
      EXPECT_LE(std::abs(ours.iterations - cg.iterations), 2 + cg.iterations / 10)
          << ours.iterations << " and " << cg.iterations;
    }
  }
}

TEST_F(PipelinedOverRanks, OneReductionThatIsNotWaitedForAtOnce) {
  const auto a = crsMatrix(matrix_, Spread::LastEmpty);
  const auto m = made("jacobi", a);
  MpiCalls calls[2];
  for (const int k : {0, 1}) {
    SolverOptions options = optionsWith(Reductions::Pipelined, 0);
    options.max_iterations = 3 + 40 * k;
    TpetraVector x(a->getDomainMap());
    const MpiCalls before = mpiCalls();
    EXPECT_EQ(solve(*a, m.get(), options, x).iterations, options.max_iterations);
    calls[k].reductions = mpiCalls().reductions - before.reductions;
    calls[k].begun = mpiCalls().begun - before.begun;
  }
  EXPECT_EQ(calls[1].begun - calls[0].begun, ranks() > 1 ? 40 : 0);
  EXPECT_EQ(calls[1].reductions, calls[0].reductions);
}

/// By the first products, by one of many, and by one of those that are made anew.
TEST_F(PipelinedOverRanks, WhatOneRankThrowsEndsTheSolve) {
  expectThrowsEndTheSolve(matrix_, b_, "cg", optionsWith(Reductions::Pipelined), {1, 2, 6, 23});
}

TEST_F(PipelinedOverRanks, ColumnsAdvanceTogether) {
  const auto a = crsMatrix(matrix_, Spread::Cyclic);
  const auto m = made("jacobi", a);
  TpetraVectors b(a->getRangeMap(), 11), x(a->getDomainMap(), 11);
  for (size_t c = 0; c < 11; ++c)
    if (c != 4) // stays zero
      Tpetra::deep_copy(*b.getVectorNonConst(c),
                        *vectorOn(a->getRangeMap(), randomVector(b_.size(), 50 + c)));
  b.getVectorNonConst(6)->putScalar(1);
  tpetra::Solver<> solver("cg", optionsWith(Reductions::Pipelined));
  const auto results = solver.solve(*a, m.get(), b, x);
  for (size_t c = 0; c < 11; ++c) {
    EXPECT_EQ(results[c].status, SolveStatus::Converged);
    TpetraVector alone(a->getDomainMap());
    EXPECT_LE(std::abs(solver.solve(*a, m.get(), *b.getVector(c), alone).iterations -
                       results[c].iterations),
              2);
    if (c == 4)
      continue;
    EXPECT_LE(residualOf(matrix_, wholeVector(*b.getVector(c)), wholeVector(*x.getVector(c))),
              1e-8 * (1 + 1e-6));
  }
  EXPECT_EQ(results[4].iterations, 0);
}

} // namespace
} // namespace ainvil
