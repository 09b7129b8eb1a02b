// SPDX-License-Identifier: BSD-3-Clause
/// The solvers over ranks under Stratimikos.
#include "Ainvil_Stratimikos.hpp"
#include "Ainvil_StratimikosSolver.hpp"
#include "Ainvil_TpetraDistribute.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <Stratimikos_DefaultLinearSolverBuilder.hpp>
#include <Teuchos_ParameterListExceptions.hpp>
#include <Thyra_LinearOpWithSolveFactoryHelpers.hpp>
#include <Thyra_TpetraThyraWrappers.hpp>
#include <Tpetra_Core.hpp>

#include <gtest/gtest.h>

namespace ainvil {
namespace {

using Teuchos::ParameterList;
using Teuchos::RCP;
using Teuchos::rcp;
using Crs = Tpetra::CrsMatrix<>;
using Vector = Tpetra::Vector<>;
using Vectors = Tpetra::MultiVector<>;

RCP<Crs> matrix(const std::string& problem) {
  const auto a = makeProblem(problem).matrix;
  const auto comm = Tpetra::getDefaultComm();
  std::vector<int> owners(a.numRows());
  for (size_t i = 0; i < owners.size(); ++i)
    owners[i] = static_cast<int>(i % comm->getSize());
  return tpetra::distribute(a, tpetra::makeRowMap(comm, owners));
}

RCP<const Thyra::LinearOpBase<double>> wrap(const RCP<const Crs>& a) {
  return Thyra::createConstLinearOp<double>(RCP<const Tpetra::Operator<>>(a));
}

RCP<Stratimikos::DefaultLinearSolverBuilder>
builder(const std::string& type, const std::string& precond, const ParameterList& settings = {}) {
  const auto made = rcp(new Stratimikos::DefaultLinearSolverBuilder);
  tpetra::enableStratimikos(*made);
  tpetra::enableStratimikosSolver(*made);
  const auto list = Teuchos::parameterList();
  list->set("Linear Solver Type", "Ainvil");
  ParameterList& ainvil = list->sublist("Linear Solver Types").sublist("Ainvil");
  ainvil.set("Solver Type", type);
  ainvil.sublist("Solver Settings") = settings;
  list->set("Preconditioner Type", precond == "None" ? "None" : "Ainvil");
  if (precond != "None")
    list->sublist("Preconditioner Types").sublist("Ainvil").set("Prec Type", precond);
  made->setParameterList(list);
  return made;
}

/// Solves from x = 0, and expects the residual to be that small.
Thyra::SolveStatus<double>
solve(const Thyra::LinearOpWithSolveBase<double>& solver, const Crs& a, double residual,
      const Teuchos::Ptr<const Thyra::SolveCriteria<double>>& criteria = Teuchos::null) {
  const auto b = rcp(new Vector(a.getRangeMap())), x = rcp(new Vector(a.getDomainMap()));
  b->putScalar(1);
  const auto status = Thyra::solve<double>(solver, Thyra::NOTRANS, *Thyra::createVector(b),
                                           Thyra::createVector(x).ptr(), criteria);
  Vector r(*b, Teuchos::Copy);
  a.apply(*x, r, Teuchos::NO_TRANS, -1, 1);
  EXPECT_LE(r.norm2(), residual * (1 + 1e-6) * b->norm2());
  return status;
}

TEST(StratimikosSolver, SolvesByName) {
  const auto a = matrix("laplace7:10");
  for (const char* type : {"GMRES", "FGMRES", "CG", "BiCGStab"})
    for (const char* precond : {"None", "fsai", "jacobi"}) {
      SCOPED_TRACE(std::string(type) + " " + precond);
      const auto strategy = builder(type, precond)->createLinearSolveStrategy("");
      const auto solver = Thyra::linearOpWithSolve(*strategy, wrap(a));
      const auto status = solve(*solver, *a, 1e-8);
      EXPECT_EQ(status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED) << status.message;
      EXPECT_GT(status.extraParameters->get<int>("Iteration Count"), 0);
      EXPECT_LE(status.achievedTol, 1e-8);
    }
}

TEST(StratimikosSolver, TakesSettingsAndCriteria) {
  const auto a = matrix("convdiff:9x8x7");
  ParameterList settings;
  settings.set("Maximum Iterations", 3);
  settings.set("Num Blocks", 20);
  const auto strategy = builder("GMRES", "ilu", settings)->createLinearSolveStrategy("");
  const auto solver = Thyra::linearOpWithSolve(*strategy, wrap(a));
  auto status = solve(*solver, *a, 1);
  EXPECT_EQ(status.solveStatus, Thyra::SOLVE_STATUS_UNCONVERGED);
  EXPECT_EQ(status.extraParameters->get<int>("Iteration Count"), 3);
  EXPECT_NE(status.message, "");
  const auto extra = Teuchos::parameterList();
  extra->set("Maximum Iterations", 300);
  const Thyra::SolveCriteria<double> criteria(
      Thyra::SolveMeasureType(Thyra::SOLVE_MEASURE_NORM_RESIDUAL, Thyra::SOLVE_MEASURE_NORM_RHS),
      1e-11, extra);
  status = solve(*solver, *a, 1e-11, Teuchos::constPtr(criteria));
  EXPECT_EQ(status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED) << status.message;
  // They were for one solve.
  EXPECT_EQ(solve(*solver, *a, 1).extraParameters->get<int>("Iteration Count"), 3);
}

TEST(StratimikosSolver, SolvesForSeveralRightHandSides) {
  const auto a = matrix("laplace7:10");
  for (const char* type : {"GMRES", "CG"}) {
    const auto strategy = builder(type, "jacobi")->createLinearSolveStrategy("");
    const auto solver = Thyra::linearOpWithSolve(*strategy, wrap(a));
    const auto b = rcp(new Vectors(a->getRangeMap(), 3)),
               x = rcp(new Vectors(a->getDomainMap(), 3));
    b->randomize();
    b->getVectorNonConst(1)->putScalar(0);
    const auto status = Thyra::solve<double>(*solver, Thyra::NOTRANS, *Thyra::createMultiVector(b),
                                             Thyra::createMultiVector(x).ptr());
    EXPECT_EQ(status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED) << status.message;
    Vectors r(*b, Teuchos::Copy);
    a->apply(*x, r, Teuchos::NO_TRANS, -1, 1);
    for (const size_t c : {0, 2})
      EXPECT_LE(r.getVector(c)->norm2(), 1e-8 * (1 + 1e-6) * b->getVector(c)->norm2());
    EXPECT_EQ(x->getVector(1)->norm2(), 0);
  }
}

TEST(StratimikosSolver, NewValuesInASolver) {
  const auto a = matrix("laplace7:8");
  const auto strategy = builder("CG", "ilu")->createLinearSolveStrategy("");
  const auto solver = strategy->createOp();
  for (const double factor : {1.0, 1e3}) {
    a->resumeFill();
    a->scale(factor);
    a->fillComplete();
    Thyra::initializeOp(*strategy, wrap(a), solver.ptr());
    EXPECT_EQ(solve(*solver, *a, 1e-8).solveStatus, Thyra::SOLVE_STATUS_CONVERGED);
  }
  strategy->uninitializeOp(solver.get());
  EXPECT_TRUE(solver->range().is_null());
}

TEST(StratimikosSolver, RefusesWhatItDoesNotKnow) {
  namespace Wrong = Teuchos::Exceptions;
  const auto tryIt = [&](const std::string& type, const ParameterList& settings) {
    builder(type, "None", settings)->createLinearSolveStrategy("");
  };
  EXPECT_THROW(tryIt("MINRES", {}), Wrong::InvalidParameterValue);
  ParameterList settings;
  settings.set("Tolerance", 1e-3);
  EXPECT_THROW(tryIt("GMRES", settings), Wrong::InvalidParameterName);
}

} // namespace
} // namespace ainvil
