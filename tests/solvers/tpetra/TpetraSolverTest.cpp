// SPDX-License-Identifier: BSD-3-Clause
/// The Krylov solvers over ranks, and the distributed block operator.
#include "solvers/tpetra/OverRanks.hpp"

#include "Ainvil_Factory.hpp"
#include "Ainvil_Gmres.hpp"
#include "gallery/Ainvil_Gallery.hpp"

namespace ainvil {
namespace {

using namespace test;

/// alpha A x + beta y on every rank.
std::vector<double> product(const TpetraOperator& a, const std::vector<double>& x,
                            const std::vector<double>& y, double alpha, double beta) {
  const auto from = vectorOn(a.getDomainMap(), x), to = vectorOn(a.getRangeMap(), y);
  a.apply(*from, *to, Teuchos::NO_TRANS, alpha, beta);
  return wholeVector(*to);
}

/// The products of a BlockOperator are those of its matrix, which Tpetra multiplies.
void expectProductsOf(const RCP<const TpetraRow>& a, int block_size) {
  const BlockOperator blocks(a, block_size);
  const size_t n = a->getRangeMap()->getGlobalNumElements();
  const auto x = randomVector(n, 5), y = randomVector(n, 6);
  for (const double alpha : {1.0, -2.5})
    for (const double beta : {0.0, 1.0, -0.5})
      expectNear(product(blocks, x, y, alpha, beta), product(*a, x, y, alpha, beta), 1e-13);
  const std::vector<double> bad(n, std::numeric_limits<double>::quiet_NaN());
  expectNear(product(blocks, x, bad, 1, 0), product(*a, x, y, 1, 0), 1e-13);
}

TEST(BlockOperator, MultipliesAsItsMatrix) {
  for (const Spread spread : spreads) {
    SCOPED_TRACE(static_cast<int>(spread));
    const HostBsr points = matrixOn(randomPattern(83, 6, 11), 1, 11);
    const HostBsr in_blocks = matrixOn(randomPattern(67, 5, 12), 3, 12);
    expectProductsOf(crsMatrix(points, spread), 0);
    expectProductsOf(crsMatrix(points, spread), 1);
    expectProductsOf(crsMatrix(in_blocks, spread), 1);
    expectProductsOf(crsMatrix(in_blocks, spread), 3);
    expectProductsOf(blockMatrix(in_blocks, spread), 0);
    expectProductsOf(blockMatrix(in_blocks, spread), 3);
    expectProductsOf(crsMatrix(matrixOn(longRowsPattern(536), 1, 13), spread), 0);
    expectProductsOf(crsMatrix(matrixOn(diagonalPattern(41), 2, 14), spread), 2); // no halo
  }
}

TEST(BlockOperator, TakesNewValues) {
  const Pattern pattern = randomPattern(67, 5, 21);
  for (const int block_size : {1, 3}) {
    const auto first = tpetra::distribute(matrixOn(pattern, 3, 22), rowMap(67, Spread::Cyclic));
    const auto second = crsMatrix(matrixOn(pattern, 3, 23), Spread::Cyclic);
    BlockOperator blocks(first, block_size);
    first->resumeFill();
    Kokkos::deep_copy(first->getLocalMatrixDevice().values, second->getLocalMatrixDevice().values);
    first->fillComplete();
    blocks.update();
    const auto x = randomVector(201, 7);
    EXPECT_EQ(product(blocks, x, x, 1, 0), product(BlockOperator(second, block_size), x, x, 1, 0));
  }
}

TEST(BlockOperator, RefusesWhatItCannotMultiply) {
  const auto points = crsMatrix(matrixOn(randomPattern(80, 6, 11), 1, 11), Spread::Parts);
  EXPECT_THROW(BlockOperator(points, 7), InvalidArgument);
  const auto open = rcp(new TpetraCrs(points->getRowMap(), 3));
  EXPECT_THROW(BlockOperator{open}, InvalidArgument);
  const BlockOperator blocks(points);
  TpetraVector x(points->getDomainMap()), y(points->getRangeMap());
  EXPECT_THROW(blocks.apply(x, y, Teuchos::TRANS), std::runtime_error);
  TpetraVectors two(points->getRangeMap(), 2);
  EXPECT_THROW(blocks.apply(x, two), std::runtime_error);
}

/// Result and solution, the same on all ranks.
struct Solved {
  SolveResult result;
  std::vector<double> x;
};

Solved solve(const std::string& method, const TpetraOperator& a, const TpetraOperator* m,
             const std::vector<double>& b, const SolverOptions& options = {}) {
  tpetra::Solver<> solver(method, options);
  TpetraVector x(a.getDomainMap());
  Solved solved;
  solved.result = solver.solve(a, m, *vectorOn(a.getRangeMap(), b), x);
  solved.x = wholeVector(x);
  return solved;
}

class SolverOverRanks : public ::testing::TestWithParam<const char*> {
protected:
  const std::string method_ = GetParam();
  const Problem problem_ = makeProblem(method_ == "cg" ? "laplace7:9" : "convdiff:13x11x7");
  const std::vector<double> b_ = randomVector(problem_.matrix.numPointRows(), 31);

  /// By the solver without ranks.
  Solved alone(const char* precond, const SolverOptions& options = {}) const {
    const DeviceBsr a = copyTo<Device>(problem_.matrix);
    const auto m = createPreconditioner<double, Device>(precond);
    m->initialize(a);
    m->compute(a);
    std::vector<double> x(b_.size(), 0.0);
    Solved solved;
    solved.result = ainvil::solve<double, Device>(method_, a, m.get(), b_, x, options);
    solved.x = x;
    return solved;
  }
};

TEST_P(SolverOverRanks, OneRankIsTheSolverWithoutRanks) {
  if (ranks() > 1)
    return;
  const auto a = crsMatrix(problem_.matrix, Spread::Parts);
  const BlockOperator blocks(a, problem_.matrix.block_size);
  for (const char* precond : {"none", "jacobi", "ilu"}) {
    ParameterList list;
    if (problem_.matrix.block_size > 1)
      list.set("block: size", problem_.matrix.block_size);
    const Solved theirs = alone(precond),
                 ours = solve(method_, blocks, made(precond, a, list).get(), b_);
    EXPECT_EQ(ours.result.status, SolveStatus::Converged);
    EXPECT_EQ(ours.result.iterations, theirs.result.iterations) << precond;
    EXPECT_EQ(ours.result.history, theirs.result.history) << precond;
    EXPECT_EQ(ours.x, theirs.x) << precond;
  }
}

/// Point Jacobi and no preconditioner do not see ranks: the same counts up to rounding.
TEST_P(SolverOverRanks, CountsOfOneProcess) {
  for (const Spread spread : spreads) {
    const auto a = crsMatrix(problem_.matrix, spread);
    const BlockOperator blocks(a);
    for (const char* precond : {"none", "jacobi"}) {
      SCOPED_TRACE(message(precond, ", spread ", static_cast<int>(spread)));
      const int theirs = alone(precond).result.iterations;
      const auto m = made(precond, a);
      for (const TpetraOperator* product : {static_cast<const TpetraOperator*>(&blocks),
                                            static_cast<const TpetraOperator*>(a.get())}) {
        const Solved ours =
            solve(method_, *product, precond == std::string("none") ? nullptr : m.get(), b_);
        EXPECT_EQ(ours.result.status, SolveStatus::Converged);
        EXPECT_LE(residualOf(problem_.matrix, b_, ours.x), 1e-8 * (1 + 1e-6));
        // The residual of BiCGStab jumps up and down, and rounding with it.
        const int allowed = method_ == "bicgstab" ? 2 + theirs / 10 : 1;
        EXPECT_LE(std::abs(ours.result.iterations - theirs), allowed)
            << ours.result.iterations << " and " << theirs;
      }
    }
  }
}

TEST_P(SolverOverRanks, TakesPreconditionersOfIfpack2) {
  const auto a = crsMatrix(problem_.matrix, Spread::Cyclic);
  for (const std::string name :
       {"RILUK", "ilu", method_ == "cg" ? "local-fsai" : "ainv:symmetric=no,drop=0.05"}) {
    const Solved ours = solve(method_, BlockOperator(a), made(name, a).get(), b_);
    EXPECT_EQ(ours.result.status, SolveStatus::Converged) << name;
    EXPECT_LE(residualOf(problem_.matrix, b_, ours.x), 1e-8 * (1 + 1e-6)) << name;
  }
}

TEST_P(SolverOverRanks, OperatorsOfTheUser) {
  const auto a = crsMatrix(problem_.matrix, Spread::Parts);
  SolverOptions options;
  options.restart = 7;
  const Wrapped m(made("jacobi", a));
  const Solved ours = solve(method_, Wrapped(a), &m, b_, options),
               theirs = solve(method_, *a, made("jacobi", a).get(), b_, options);
  EXPECT_EQ(ours.result.status, SolveStatus::Converged);
  EXPECT_NEAR(ours.result.iterations, theirs.result.iterations, method_ == "bicgstab" ? 4 : 1);
  EXPECT_LE(residualOf(problem_.matrix, b_, ours.x), 1e-8 * (1 + 1e-6));
}

TEST_P(SolverOverRanks, WhatOneRankThrowsEndsTheSolve) {
  expectThrowsEndTheSolve(problem_.matrix, b_, method_, {}, {1, 4});
}

TEST_P(SolverOverRanks, WhatDiffersBetweenRanksIsRefused) {
  const auto a = crsMatrix(problem_.matrix, Spread::Parts);
  const auto b = vectorOn(a->getRangeMap(), b_);
  TpetraVector x(a->getDomainMap());
  if (ranks() > 1) {
    SolverOptions options;
    options.max_iterations = isLastRank() ? 7 : 8;
    tpetra::Solver<> solver(method_, options);
    expectThrowOfLastRank("give all ranks the same", [&] { solver.solve(*a, nullptr, *b, x); });
    SolverOptions varying;
    varying.allow_varying = isLastRank();
    tpetra::Solver<> may_vary(method_, varying);
    expectThrowOfLastRank("may vary", [&] { may_vary.solve(*a, nullptr, *b, x); });
    const Wrapped m(a);
    tpetra::Solver<> other(method_);
    expectThrowOfLastRank("give all ranks the same",
                          [&] { other.solve(*a, isLastRank() ? &m : nullptr, *b, x); });
  }
  tpetra::Solver<> solver(method_);
  TpetraVector shorter(rowMap(5, Spread::Parts));
  EXPECT_THROW(solver.solve(*a, nullptr, shorter, x), InvalidArgument);
  EXPECT_THROW(solver.solve(*a, nullptr, *b, shorter), InvalidArgument);
  TpetraVectors two(a->getRangeMap(), 2);
  EXPECT_THROW(solver.solve(*a, nullptr, two, x), InvalidArgument);
  EXPECT_EQ(solver.solve(*a, nullptr, *b, x).status, SolveStatus::Converged);
}

TEST_P(SolverOverRanks, GoesOnFromTheGuessAndTakesOtherSystems) {
  tpetra::Solver<> solver(method_);
  const HostBsr other = spdMatrixOn(symmetricPattern(61, 4, 17), 1, 17);
  const auto c = randomVector(61, 3);
  for (const Spread spread : spreads) {
    const auto a = crsMatrix(problem_.matrix, spread);
    const auto x = vectorOn(a->getDomainMap(), randomVector(b_.size(), 8));
    const auto b = vectorOn(a->getRangeMap(), b_);
    EXPECT_GT(solver.solve(*a, nullptr, *b, *x).iterations, 0);
    EXPECT_EQ(solver.solve(*a, nullptr, *b, *x).iterations, 0);
    EXPECT_LE(residualOf(problem_.matrix, b_, wholeVector(*x)), 1e-8 * (1 + 1e-6));
    const auto small = crsMatrix(other, spread);
    TpetraVector y(small->getDomainMap());
    const auto m = made("ilu", small);
    EXPECT_EQ(solver.solve(*small, m.get(), *vectorOn(small->getRangeMap(), c), y).status,
              SolveStatus::Converged);
    EXPECT_LE(residualOf(other, c, wholeVector(y)), 1e-8 * (1 + 1e-6));
  }
}

TEST_P(SolverOverRanks, EndsAsWithoutRanks) {
  const auto a = crsMatrix(problem_.matrix, Spread::LastEmpty);
  SolverOptions options;
  options.max_iterations = 3;
  const Solved stopped = solve(method_, *a, nullptr, b_, options);
  EXPECT_EQ(stopped.result.status, SolveStatus::MaxIterations);
  EXPECT_EQ(stopped.result.iterations, 3);
  EXPECT_EQ(stopped.result.history.size(), 4u);
  EXPECT_NEAR(stopped.result.true_rel_residual, residualOf(problem_.matrix, b_, stopped.x), 1e-8);
  std::vector<double> bad = b_;
  bad.back() = std::numeric_limits<double>::quiet_NaN(); // of one rank
  EXPECT_EQ(solve(method_, *a, nullptr, bad).result.status, SolveStatus::Diverged);
  EXPECT_EQ(solve(method_, *a, nullptr, std::vector<double>(b_.size(), 0.0)).result.iterations, 0);
}

TEST_P(SolverOverRanks, ResidualsInTheNormOfTheUser) {
  std::vector<double> w = randomVector(b_.size(), 37);
  for (double& w_i : w)
    w_i = std::pow(30, w_i);
  SolverOptions options;
  options.tolerance = 1e-6;
  for (const Spread spread : spreads) {
    const auto a = crsMatrix(problem_.matrix, spread);
    const auto weights = vectorOn(a->getRangeMap(), w), b = vectorOn(a->getRangeMap(), b_);
    TpetraVector x(a->getDomainMap());
    tpetra::Solver<> solver(method_, options);
    solver.setWeights(weights);
    const SolveResult result = solver.solve(*a, nullptr, *b, x);
    EXPECT_EQ(result.status, SolveStatus::Converged) << result.message;
    const double residual = residualOf(problem_.matrix, b_, wholeVector(x), w);
    EXPECT_LE(residual, 1e-6 * (1 + 1e-6));
    EXPECT_NEAR(result.true_rel_residual, residual, 1e-3 * residual);
    // The host's copy is free for the user, and what is written there counts in the next solve.
    weights->getLocalViewHost(Tpetra::Access::ReadWrite);
    if (isLastRank() && weights->getLocalLength() > 0)
      weights->replaceLocalValue(0, -1.0);
    const bool is_bad = spread != Spread::LastEmpty || ranks() == 1;
    x.putScalar(0);
    if (is_bad)
      expectThrowOfLastRank("positive and finite", [&] { solver.solve(*a, nullptr, *b, x); });
    solver.setWeights(Teuchos::null);
    EXPECT_EQ(solver.solve(*a, nullptr, *b, x).status, SolveStatus::Converged);
    EXPECT_LE(residualOf(problem_.matrix, b_, wholeVector(x)), 1e-6 * (1 + 1e-6));
    solver.setWeights(rcp(new TpetraVectors(a->getRangeMap(), 2)));
    EXPECT_THROW(solver.solve(*a, nullptr, *b, x), InvalidArgument);
    if (ranks() > 1) {
      const auto good = vectorOn(a->getRangeMap(), w);
      solver.setWeights(isLastRank() ? Teuchos::null : good);
      expectThrowOfLastRank("give all ranks the same", [&] { solver.solve(*a, nullptr, *b, x); });
    }
  }
}

TEST_P(SolverOverRanks, KnowsPreconditionersThatVary) {
  const auto a = crsMatrix(problem_.matrix, Spread::Parts);
  const auto m = tpetra::create<TpetraRow>("ilu:solve=async", a);
  ParameterList list;
  list.set("Allow Varying", true);
  m->setParameters(list);
  m->initialize();
  m->compute();
  if (method_ == "gmres" || method_ == "cg")
    EXPECT_THROW(solve(method_, *a, m.get(), b_), InvalidArgument);
  else
    EXPECT_EQ(solve(method_, *a, m.get(), b_).result.status, SolveStatus::Converged);
}

INSTANTIATE_TEST_SUITE_P(Tpetra, SolverOverRanks,
                         ::testing::Values("gmres", "fgmres", "cg", "bicgstab"),
                         [](const auto& info) { return std::string(info.param); });

TEST(SolverOverRanks, RefusesOtherNames) {
  EXPECT_THROW(tpetra::Solver<>("minres"), InvalidArgument);
  SolverOptions options;
  options.restart = 0;
  EXPECT_THROW(tpetra::Solver<>("gmres", options), InvalidArgument);
}

/// Blocks of a CrsMatrix and of a BlockCrsMatrix.
TEST(SolverOfBlocks, CountsOfOneProcess) {
  const HostBsr a = makeProblem("cavity:12").matrix;
  const auto b = randomVector(a.numPointRows(), 9);
  SolverOptions options;
  options.tolerance = 1e-6;
  const DeviceBsr whole = copyTo<Device>(a);
  const auto m = createPreconditioner<double, Device>("jacobi");
  m->initialize(whole);
  m->compute(whole);
  std::vector<double> x(b.size(), 0.0);
  const int alone =
      ainvil::solve<double, Device>("gmres", whole, m.get(), b, x, options).iterations;
  for (const Spread spread : spreads) {
    ParameterList list;
    list.set("block: size", a.block_size);
    const auto points = crsMatrix(a, spread);
    const auto blocks = blockMatrix(a, spread);
    const Solved ours[] = {
        solve("gmres", BlockOperator(points, a.block_size), made("jacobi", points, list).get(), b,
              options),
        solve("gmres", BlockOperator(blocks), made("jacobi", blocks).get(), b, options)};
    for (const Solved& solved : ours) {
      EXPECT_LE(residualOf(a, b, solved.x), 1e-6 * (1 + 1e-6));
      EXPECT_LE(std::abs(solved.result.iterations - alone), 1 + alone / 50)
          << solved.result.iterations << " and " << alone;
    }
  }
}

} // namespace
} // namespace ainvil
