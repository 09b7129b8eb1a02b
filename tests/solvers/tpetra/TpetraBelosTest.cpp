// SPDX-License-Identifier: BSD-3-Clause
/// The solvers over ranks as Belos' factory gives them.
#include "precond/tpetra/TpetraSupport.hpp"
#include "solvers/tpetra/MpiCalls.hpp"

#include "Ainvil_TpetraBelos.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <Teuchos_ParameterListExceptions.hpp>

namespace ainvil {
namespace {

using namespace test;
namespace Wrong = Teuchos::Exceptions;
using Factory = Belos::SolverFactory<double, TpetraVectors, TpetraOperator>;
using LinearProblem = Belos::LinearProblem<double, TpetraVectors, TpetraOperator>;
using Manager = Belos::SolverManager<double, TpetraVectors, TpetraOperator>;

RCP<Manager> create(const std::string& name, const RCP<ParameterList>& list = Teuchos::null) {
  tpetra::registerBelosSolvers();
  tpetra::registerBelosSolvers(); // once more does no harm
  return Factory().create(name, list);
}

RCP<ParameterList> listOf(double tolerance) {
  const auto list = Teuchos::parameterList();
  list->set("Convergence Tolerance", tolerance);
  return list;
}

/// ||B - A X|| / ||B|| of the worst column.
double residualOf(const TpetraOperator& a, const TpetraVectors& x, const TpetraVectors& b) {
  TpetraVectors r(b, Teuchos::Copy);
  TpetraVectors product(b.getMap(), b.getNumVectors());
  a.apply(x, product);
  r.update(-1, product, 1);
  double worst = 0;
  for (size_t j = 0; j < b.getNumVectors(); ++j)
    worst = std::max(worst, r.getVector(j)->norm2() / b.getVector(j)->norm2());
  return worst;
}

class UnderBelos : public ::testing::TestWithParam<const char*> {
protected:
  const bool spd_ = GetParam() == std::string("AINVIL CG");
  const RCP<const TpetraCrs> a_ =
      crsMatrix(makeProblem(spd_ ? "laplace7:8" : "convdiff:9x8x7").matrix, Spread::LastEmpty);
  const RCP<TpetraVectors> b_ = rcp(new TpetraVectors(a_->getRangeMap(), 2));
  const RCP<TpetraVectors> x_ = rcp(new TpetraVectors(a_->getDomainMap(), 2));

  void SetUp() override {
    b_->getVectorNonConst(0)->putScalar(1);
    b_->getVectorNonConst(1)->update(
        1, *vectorOn(a_->getRangeMap(), randomVector(a_->getGlobalNumRows(), 2)), 0);
  }
  RCP<LinearProblem> problem() const {
    const auto made = rcp(new LinearProblem(a_, x_, b_));
    made->setProblem();
    return made;
  }
};

TEST_P(UnderBelos, SolvesAllColumns) {
  for (const char* precond : {"none", "jacobi", "RILUK"}) {
    for (const bool from_the_left : {false, true}) {
      const auto solver = create(GetParam(), listOf(1e-7));
      const auto of = problem();
      const auto m = made(precond, a_);
      if (from_the_left)
        of->setLeftPrec(m);
      else
        of->setRightPrec(m);
      x_->putScalar(0);
      solver->setProblem(of);
      EXPECT_EQ(solver->solve(), Belos::Converged);
      EXPECT_LE(residualOf(*a_, *x_, *b_), 1e-7 * (1 + 1e-6));
      EXPECT_NEAR(solver->achievedTol(), residualOf(*a_, *x_, *b_), 1e-10);
      EXPECT_GT(solver->getNumIters(), 4);
      EXPECT_FALSE(solver->isLOADetected());
      EXPECT_EQ(&solver->getProblem(), of.get());
    }
  }
}

TEST_P(UnderBelos, StopsWhereItIsTold) {
  const auto list = listOf(1e-12);
  list->set("Maximum Iterations", 3);
  const auto solver = create(GetParam(), list);
  solver->setProblem(problem());
  EXPECT_EQ(solver->solve(), Belos::Unconverged);
  EXPECT_EQ(solver->getNumIters(), 2 * 3);
  EXPECT_GT(solver->achievedTol(), 1e-12);
  list->set("Maximum Iterations", 1000);
  list->set("Convergence Tolerance", 1e-6);
  solver->setParameters(list);
  x_->putScalar(0);
  EXPECT_EQ(solver->solve(), Belos::Converged);
  EXPECT_EQ(solver->getCurrentParameters()->get<double>("Convergence Tolerance"), 1e-6);
  // A solution that is there is the guess.
  list->set("Implicit Residual Scaling", "Norm of RHS");
  solver->setParameters(list);
  solver->reset(Belos::Problem);
  EXPECT_EQ(solver->solve(), Belos::Converged);
  EXPECT_EQ(solver->getNumIters(), 0);
  // Relative to the residual that is there, there is as much to do again.
  list->set("Implicit Residual Scaling", "Norm of Initial Residual");
  solver->setParameters(list);
  EXPECT_EQ(solver->solve(), Belos::Converged);
  EXPECT_GT(solver->getNumIters(), 0);
  EXPECT_LE(residualOf(*a_, *x_, *b_), 1e-11);
}

TEST_P(UnderBelos, ClonesAreSolversOfTheirOwn) {
  const auto solver = create(GetParam(), listOf(1e-3));
  const auto copy = solver->clone();
  EXPECT_EQ(copy->getCurrentParameters()->get<double>("Convergence Tolerance"), 1e-3);
  EXPECT_THROW(copy->getProblem(), std::runtime_error);
  EXPECT_THROW(copy->solve(), std::runtime_error);
  copy->setProblem(problem());
  EXPECT_EQ(copy->solve(), Belos::Converged);
}

TEST_P(UnderBelos, TakesListsOfBelosAndRefusesOthers) {
  const auto list = listOf(1e-6);
  list->set("Num Blocks", 10);
  list->set("Maximum Restarts", 30);
  list->set("Block Size", 1);
  list->set("Flexible Gmres", false);
  list->set("Orthogonalization", "ICGS");
  list->set("Verbosity", 0);
  list->set("Output Frequency", 1);
  list->set("Implicit Residual Scaling", "Norm of Preconditioned Initial Residual");
  list->set("Explicit Residual Scaling", "Norm of Initial Residual");
  const auto solver = create(GetParam(), list);
  solver->setProblem(problem());
  EXPECT_EQ(solver->solve(), Belos::Converged);
  const auto refuses = [&](const char* name, auto value) {
    const auto bad = Teuchos::parameterList();
    bad->set(name, value);
    return bad;
  };
  EXPECT_THROW(solver->setParameters(refuses("Convergence Tolerence", 1e-3)),
               Wrong::InvalidParameterName);
  EXPECT_THROW(solver->setParameters(refuses("Convergence Tolerance", -1.0)),
               Wrong::InvalidParameterValue);
  EXPECT_THROW(solver->setParameters(refuses("Convergence Tolerance", 1)),
               Wrong::InvalidParameterType);
  EXPECT_THROW(solver->setParameters(refuses("Num Blocks", 0)), Wrong::InvalidParameterValue);
  EXPECT_THROW(solver->setParameters(refuses("Implicit Residual Scaling", std::string("b"))),
               Wrong::InvalidParameterValue);
  EXPECT_EQ(solver->getCurrentParameters()->get<int>("Num Blocks"), 10);
}

TEST_P(UnderBelos, EndsByOtherLimits) {
  // The looser of the two tolerances.
  const auto list = listOf(1e-12);
  list->set("Absolute Tolerance", 1e-3);
  const auto solver = create(GetParam(), list);
  solver->setProblem(problem());
  EXPECT_EQ(solver->solve(), Belos::Converged);
  TpetraVectors r(*b_, Teuchos::Copy), product(b_->getMap(), 2);
  a_->apply(*x_, product);
  r.update(-1, product, 1);
  for (const size_t j : {0, 1}) {
    EXPECT_LE(r.getVector(j)->norm2(), 1e-3 * (1 + 1e-6));
    EXPECT_GT(r.getVector(j)->norm2(), 1e-8);
  }
  // Of each column no more than until the host looks: an iteration, or ten on GPUs.
  list->set("Absolute Tolerance", 0.0);
  list->set("Time Limit", 1e-12);
  solver->setParameters(list);
  x_->putScalar(0);
  EXPECT_EQ(solver->solve(), Belos::Unconverged);
  using Exec = TpetraVectors::execution_space;
  EXPECT_LE(solver->getNumIters(), 2 * (ainvil::compat::IsGpu<Exec>::value ? 10 : 1));
  list->set("Time Limit", 3600.0);
  list->set("Convergence Tolerance", 1e-6);
  solver->setParameters(list);
  EXPECT_EQ(solver->solve(), Belos::Converged);
  for (const char* name : {"Absolute Tolerance", "Time Limit"}) {
    EXPECT_EQ(solver->getValidParameters()->get<double>(name), 0);
    list->set(name, -1.0);
    EXPECT_THROW(solver->setParameters(list), Wrong::InvalidParameterValue);
    list->set(name, 0.0);
  }
}

/// The first is within the absolute tolerance at once and far from the relative one, which the
/// other does not reach.
TEST_P(UnderBelos, OneColumnThatFailsDecides) {
  b_->getVectorNonConst(0)->scale(1e-9);
  const auto list = listOf(1e-12);
  list->set("Absolute Tolerance", 1e-6);
  list->set("Maximum Iterations", 4);
  const auto solver = create(GetParam(), list);
  solver->setProblem(problem());
  EXPECT_EQ(solver->solve(), Belos::Unconverged);
  EXPECT_EQ(solver->getNumIters(), 4);
  EXPECT_EQ(solver->achievedTol(), 1); // of the first
  EXPECT_LT(residualOf(*a_, *x_->getVector(1), *b_->getVector(1)), 1);
  const auto* ours =
      dynamic_cast<tpetra::BelosSolver<double, tpetra::Map::local_ordinal_type,
                                       tpetra::Map::global_ordinal_type, tpetra::Map::node_type>*>(
          solver.get());
  ASSERT_NE(ours, nullptr);
  EXPECT_EQ(ours->result().status, SolveStatus::MaxIterations);
}

/// Of all right-hand sides as many reductions as of one.
TEST_P(UnderBelos, ColumnsAdvanceTogether) {
  int reductions[2];
  for (const size_t count : {1, 2}) {
    const auto list = listOf(0);
    list->set("Maximum Iterations", 5);
    const auto solver = create(GetParam(), list);
    const auto of = rcp(new LinearProblem(a_, rcp(new TpetraVectors(a_->getDomainMap(), count)),
                                          b_->subView(Teuchos::Range1D(0, count - 1))));
    of->setProblem();
    solver->setProblem(of);
    const int before = mpiCalls().reductions;
    EXPECT_EQ(solver->solve(), Belos::Unconverged);
    reductions[count - 1] = mpiCalls().reductions - before;
    EXPECT_EQ(solver->getNumIters(), 5 * int(count));
  }
  EXPECT_EQ(reductions[0], reductions[1]);
  EXPECT_EQ(reductions[0] > 5, ranks() > 1);
}

/// Of CG: begun in every iteration, and waited for later.
TEST_P(UnderBelos, ReductionsThatTravelDuringProducts) {
  const auto list = listOf(1e-7);
  list->set("Pipelined", true);
  const auto solver = create(GetParam(), list);
  solver->setProblem(problem());
  const int before = mpiCalls().begun;
  EXPECT_EQ(solver->solve(), Belos::Converged);
  EXPECT_LE(residualOf(*a_, *x_, *b_), 1e-7 * (1 + 1e-6));
  if (spd_ && ranks() > 1)
    EXPECT_GE(mpiCalls().begun - before, solver->getNumIters() / 2);
  else
    EXPECT_EQ(mpiCalls().begun, before);
}

TEST_P(UnderBelos, ResidualsInTheNormOfTheUser) {
  const auto w = rcp(new TpetraVectors(a_->getRangeMap(), 1));
  std::vector<double> weights = randomVector(a_->getGlobalNumRows(), 5);
  for (double& w_i : weights)
    w_i = std::pow(30, w_i);
  w->update(1, *vectorOn(a_->getRangeMap(), weights), 0);
  const auto list = listOf(1e-6);
  list->set("Residual Weights", RCP<const TpetraVectors>(w));
  const auto solver = create(GetParam(), list);
  solver->setProblem(problem());
  EXPECT_EQ(solver->solve(), Belos::Converged);
  TpetraVectors r(*b_, Teuchos::Copy), product(b_->getMap(), 2), of_b(b_->getMap(), 2);
  a_->apply(*x_, product);
  r.update(-1, product, 1);
  product.elementWiseMultiply(1, *w->getVector(0), r, 0);
  of_b.elementWiseMultiply(1, *w->getVector(0), *b_, 0);
  double worst = 0;
  for (const size_t j : {0, 1})
    worst = std::max(worst, product.getVector(j)->norm2() / of_b.getVector(j)->norm2());
  EXPECT_LE(worst, 1e-6 * (1 + 1e-6));
  EXPECT_NEAR(solver->achievedTol(), worst, 1e-3 * worst);
  list->set("Residual Weights", 1.0);
  EXPECT_THROW(solver->setParameters(list), Wrong::InvalidParameterType);
}

/// Values that change between two solves, with products in Ainvil's format.
TEST_P(UnderBelos, NewValues) {
  const auto a = rcp(new TpetraCrs(*a_, Teuchos::Copy));
  const auto list = listOf(1e-8);
  list->set("Matrix Block Size", 1);
  const auto solver = create(GetParam(), list);
  const auto of = rcp(new LinearProblem(a, x_, b_));
  of->setProblem();
  solver->setProblem(of);
  for (const double factor : {1.0, 7.0}) {
    a->resumeFill();
    a->scale(factor);
    a->fillComplete();
    x_->putScalar(0);
    EXPECT_EQ(solver->solve(), Belos::Converged);
    EXPECT_LE(residualOf(*a, *x_, *b_), 1e-8 * (1 + 1e-6));
  }
}

INSTANTIATE_TEST_SUITE_P(Names, UnderBelos,
                         ::testing::Values("AINVIL GMRES", "AINVIL FGMRES", "AINVIL CG",
                                           "AINVIL BICGSTAB"),
                         [](const auto& info) { return std::string(info.param).substr(7); });

TEST(BelosFactory, KnowsTheNames) {
  create("Ainvil Gmres");
  for (const char* name :
       {"AINVIL GMRES", "ainvil fgmres", "Ainvil CG", "AINVIL BICGSTAB", "GMRES"})
    EXPECT_TRUE(Factory().isSupported(name)) << name;
  EXPECT_FALSE(Factory().isSupported("AINVIL MINRES"));
}

TEST(BelosFactory, RestartsAreLimited) {
  const auto a = crsMatrix(makeProblem("convdiff:9x8x7").matrix, Spread::Parts);
  const auto b = vectorOn(a->getRangeMap(), randomVector(a->getGlobalNumRows(), 2));
  const auto x = rcp(new TpetraVectors(a->getDomainMap(), 1));
  const auto list = listOf(1e-12);
  list->set("Num Blocks", 3);
  list->set("Maximum Restarts", 1);
  const auto solver = create("AINVIL GMRES", list);
  const auto of = rcp(new LinearProblem(a, x, b));
  of->setProblem();
  solver->setProblem(of);
  EXPECT_EQ(solver->solve(), Belos::Unconverged);
  EXPECT_EQ(solver->getNumIters(), 6);
}

} // namespace
} // namespace ainvil
