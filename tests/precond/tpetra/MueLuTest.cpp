// SPDX-License-Identifier: BSD-3-Clause
/// Ainvil's preconditioners as smoothers and coarse solvers of MueLu. Every rank runs the tests.
#include "precond/tpetra/TpetraSupport.hpp"

#include "Ainvil_TpetraMueLu.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <MueLu_CreateTpetraPreconditioner.hpp>
#include <Teuchos_TimeMonitor.hpp>
#include <Teuchos_XMLParameterListHelpers.hpp>

namespace ainvil {
namespace {

using namespace test;
using Multigrid = MueLu::TpetraOperator<double, TpetraVectors::local_ordinal_type,
                                        TpetraVectors::global_ordinal_type, tpetra::Map::node_type>;

/// In MueLu's own format; `smoother` goes to where "smoother: type" and "smoother: params" are.
ParameterList listOf(const std::string& smoother) {
  tpetra::registerMueLuSmoother();
  return *Teuchos::getParametersFromXmlString(
      "<ParameterList>"
      "<Parameter name=\"verbosity\" type=\"string\" value=\"none\"/>"
      "<Parameter name=\"coarse: max size\" type=\"int\" value=\"100\"/>" +
      smoother + "</ParameterList>");
}

std::string parameter(const char* name, const char* type, const char* value) {
  return message("<Parameter name=\"", name, "\" type=\"", type, "\" value=\"", value, "\"/>");
}

std::string sublist(const char* name, const std::string& content) {
  return message("<ParameterList name=\"", name, "\">", content, "</ParameterList>");
}

std::string ainvilSmoother(const char* method, const std::string& settings = "",
                           const std::string& others = "") {
  return parameter("smoother: type", "string", "AINVIL") +
         sublist("smoother: params", parameter("Prec Type", "string", method) +
                                         sublist("Prec Settings", settings) + others);
}

RCP<Multigrid> multigrid(const RCP<TpetraCrs>& a, ParameterList list) {
  return MueLu::CreateTpetraPreconditioner(RCP<TpetraOperator>(a), list);
}

RCP<TpetraCrs> laplace() {
  const HostBsr a = makeProblem("laplace7:12").matrix;
  return tpetra::distribute(a, rowMap(a.numRows(), Spread::Parts));
}

int calls(const char* timer) {
  const auto counter = Teuchos::TimeMonitor::lookupCounter(timer);
  return counter.is_null() ? 0 : counter->numCalls();
}

int iterationsOfCg(const RCP<const TpetraCrs>& a, const RCP<TpetraOperator>& m) {
  const auto x = rcp(new TpetraVectors(a->getDomainMap(), 1));
  const auto b = rcp(new TpetraVectors(a->getRangeMap(), 1));
  b->putScalar(1);
  const auto problem =
      rcp(new Belos::LinearProblem<double, TpetraVectors, TpetraOperator>(a, x, b));
  problem->setRightPrec(m);
  problem->setProblem();
  const auto solver = Belos::SolverFactory<double, TpetraVectors, TpetraOperator>().create(
      "CG", Teuchos::parameterList());
  solver->setProblem(problem);
  EXPECT_EQ(solver->solve(), Belos::Converged);
  TpetraVector r(a->getRangeMap());
  a->apply(*x, r);
  r.update(1, *b->getVector(0), -1);
  EXPECT_LE(r.norm2(), 1.1e-8 * b->getVector(0)->norm2());
  return solver->getNumIters();
}

/// Damped Jacobi is in both libraries.
TEST(MueLu, JacobiIsThatOfIfpack2) {
  const auto a = laplace();
  const auto x = randomVector(a->getGlobalNumRows(), 1);
  for (const char* sweeps : {"1", "3"}) {
    const auto theirs =
        multigrid(a, listOf(parameter("smoother: type", "string", "RELAXATION") +
                            sublist("smoother: params",
                                    parameter("relaxation: type", "string", "Jacobi") +
                                        parameter("relaxation: sweeps", "int", sweeps) +
                                        parameter("relaxation: damping factor", "double", "0.6"))));
    const auto ours =
        multigrid(a, listOf(ainvilSmoother("jacobi", "",
                                           parameter("Sweeps", "int", sweeps) +
                                               parameter("Damping Factor", "double", "0.6"))));
    expectNear(applied(*ours, x), applied(*theirs, x), 1e-12);
  }
}

TEST(MueLu, MultigridSavesIterations) {
  const auto a = laplace();
  const std::string isai = parameter("trisolver: type", "string", "isai");
  for (const auto& smoother : {ainvilSmoother("fsai"), ainvilSmoother("ic", isai)}) {
    const auto m = multigrid(a, listOf(smoother));
    EXPECT_LE(2 * iterationsOfCg(a, m), iterationsOfCg(a, made<TpetraCrs>("fsai", a))) << smoother;
  }
}

/// Names of Ifpack2 go the same way.
TEST(MueLu, SchwarzAroundIlu) {
  const auto a = laplace();
  const std::string schwarz = parameter("schwarz: overlap level", "int", "1") +
                              parameter("schwarz: inner preconditioner name", "string", "ic");
  EXPECT_LE(iterationsOfCg(a, multigrid(a, listOf(ainvilSmoother("SCHWARZ", schwarz)))), 20);
}

/// With one level the coarse solver is all there is.
TEST(MueLu, CoarseSolver) {
  const auto a = laplace();
  const auto m =
      multigrid(a, listOf(parameter("max levels", "int", "1") +
                          parameter("coarse: type", "string", "AINVIL") +
                          sublist("coarse: params", parameter("Prec Type", "string", "fsai"))));
  const auto x = randomVector(a->getGlobalNumRows(), 1);
  EXPECT_EQ(applied(*m, x), applied(*made<TpetraCrs>("fsai", a), x));
}

TEST(MueLu, NewValuesAreComputedOnly) {
  const auto a = laplace();
  const ParameterList list =
      listOf(ainvilSmoother("fsai") + parameter("reuse: type", "string", "RP"));
  const auto m = multigrid(a, list);
  const int initialized = calls("Ainvil fsai: initialize");
  const int computed = calls("Ainvil fsai: compute");
  EXPECT_GT(initialized, 0);
  a->resumeFill();
  a->scale(3);
  a->fillComplete();
  MueLu::ReuseTpetraPreconditioner(a, *m);
  EXPECT_EQ(calls("Ainvil fsai: initialize"), initialized);
  EXPECT_GT(calls("Ainvil fsai: compute"), computed);
  const auto x = randomVector(a->getGlobalNumRows(), 1);
  expectNear(applied(*m, x), applied(*multigrid(a, list), x), 1e-12);
}

TEST(MueLu, RefusesUnknownParameters) {
  const auto a = laplace();
  EXPECT_THROW(multigrid(a, listOf(ainvilSmoother("fsai", parameter("fsai: leves", "int", "1")))),
               Teuchos::Exceptions::InvalidParameterName);
  EXPECT_THROW(multigrid(a, listOf(ainvilSmoother("fsai", "", parameter("sweep", "int", "1")))),
               Teuchos::Exceptions::InvalidParameterName);
}

} // namespace
} // namespace ainvil
