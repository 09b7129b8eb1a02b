// SPDX-License-Identifier: BSD-3-Clause
/// What MueLu takes for a smoother, as MueLu calls it.
#include "precond/tpetra/TpetraSupport.hpp"

#include "Ainvil_TpetraMueLu.hpp"

#include <Teuchos_ParameterListExceptions.hpp>
#include <Teuchos_TimeMonitor.hpp>

namespace ainvil {
namespace {

using namespace test;
using Problem = Belos::LinearProblem<double, TpetraVectors, TpetraOperator>;
using Solver = Belos::SolverManager<double, TpetraVectors, TpetraOperator>;

RCP<TpetraCrs> randomMatrix(std::uint64_t seed) {
  return tpetra::distribute(matrixOn(randomPattern(71, 5, 31), 1, seed), rowMap(71, Spread::Parts));
}

/// A solver as MueLu makes it in each set-up: from a list that stays where it is.
RCP<Solver> setUp(const RCP<ParameterList>& list, const RCP<const TpetraOperator>& a) {
  tpetra::registerMueLuSmoother();
  const auto solver =
      Belos::SolverFactory<double, TpetraVectors, TpetraOperator>().create("AINVIL", list);
  const auto problem = rcp(new Problem);
  problem->setOperator(a);
  solver->setProblem(problem);
  return solver;
}

RCP<ParameterList> listOf(const std::string& method, int sweeps, double damping) {
  const auto list = Teuchos::parameterList();
  list->set("Prec Type", method);
  list->set("Sweeps", sweeps);
  list->set("Damping Factor", damping);
  return list;
}

/// x after the steps of a solver that is set up; without a start from zero, and x is not read.
std::vector<double> smoothed(Solver& solver, const std::vector<double>& b,
                             const std::vector<double>& start = {}) {
  auto& problem = const_cast<Problem&>(solver.getProblem());
  const auto& a = *problem.getOperator();
  const auto rhs = vectorOn(a.getRangeMap(), b);
  const auto x =
      start.empty() ? rcp(new TpetraVector(a.getDomainMap())) : vectorOn(a.getDomainMap(), start);
  if (start.empty()) {
    x->putScalar(std::numeric_limits<double>::quiet_NaN());
    problem.setInitResVec(rhs);
  }
  problem.setProblem(x, rhs);
  solver.solve();
  return wholeVector(*x);
}

TEST(Smoother, StepsOfRichardson) {
  const RCP<const TpetraCrs> a = randomMatrix(31);
  const auto b = randomVector(71, 1), start = randomVector(71, 2);
  for (const char* method : {"ilu", "DIAGONAL"}) { // ours, and one of Ifpack2
    const auto m = made(method, a);
    for (const bool from_zero : {false, true}) {
      std::vector<double> x = from_zero ? std::vector<double>(71, 0.0) : start;
      for (int sweep = 1; sweep <= 3; ++sweep) {
        std::vector<double> r = applied(*a, x);
        for (size_t i = 0; i < r.size(); ++i)
          r[i] = b[i] - r[i];
        const auto step = applied(*m, r);
        for (size_t i = 0; i < x.size(); ++i)
          x[i] += 0.7 * step[i];
        const auto solver = setUp(listOf(method, sweep, 0.7), a);
        EXPECT_EQ(solver->getNumIters(), sweep);
        expectNear(smoothed(*solver, b, from_zero ? std::vector<double>() : start), x, 1e-12);
      }
    }
  }
}

/// A copy of the list gets a preconditioner of its own.
TEST(Smoother, IsKeptInTheListOfMueLu) {
  const auto a = randomMatrix(31), other = randomMatrix(32);
  const auto list = listOf("ilu", 1, 1.0);
  const auto b = randomVector(71, 1);
  const auto first = setUp(list, a);
  const auto second = setUp(Teuchos::parameterList(*list), other);
  EXPECT_EQ(smoothed(*first, b), applied(*made<TpetraCrs>("ilu", a), b));
  EXPECT_EQ(smoothed(*second, b), applied(*made<TpetraCrs>("ilu", other), b));
  const auto counter = Teuchos::TimeMonitor::getNewCounter("Ainvil ilu: initialize");
  const int initialized = counter->numCalls();
  EXPECT_EQ(smoothed(*setUp(list, a), b), smoothed(*first, b));
  EXPECT_EQ(counter->numCalls(), initialized);
}

TEST(Smoother, ResetTakesNewValues) {
  const auto a = randomMatrix(31);
  const auto b = randomVector(71, 1);
  const auto solver = setUp(listOf("ilu", 1, 1.0), a);
  a->resumeFill();
  a->scale(4);
  a->fillComplete();
  solver->reset(Belos::Problem);
  EXPECT_EQ(smoothed(*solver, b), applied(*made<TpetraCrs>("ilu", a), b));
}

TEST(Smoother, RefusesBadParameters) {
  const auto a = randomMatrix(31);
  EXPECT_THROW(setUp(listOf("ilu", 0, 1.0), a), Teuchos::Exceptions::InvalidParameterValue);
  const auto unknown = listOf("ilu", 1, 1.0);
  unknown->set("Damping", 1.0);
  EXPECT_THROW(setUp(unknown, a), Teuchos::Exceptions::InvalidParameterName);
  const auto varying = listOf("ilu:solve=async", 1, 1.0);
  EXPECT_THROW(setUp(varying, a), Teuchos::Exceptions::InvalidParameterValue);
  varying->set("Allow Varying", true);
  EXPECT_NO_THROW(setUp(varying, a));
}

} // namespace
} // namespace ainvil
