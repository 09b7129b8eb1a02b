// SPDX-License-Identifier: BSD-3-Clause
/// Ainvil's preconditioners under Stratimikos. Every rank runs the tests.
#include "Ainvil_Stratimikos.hpp"

#include "Ainvil_TpetraCompat.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <Ifpack2_Preconditioner.hpp>
#include <Stratimikos_DefaultLinearSolverBuilder.hpp>
#include <Teuchos_ParameterListExceptions.hpp>
#include <Thyra_BelosLinearOpWithSolve.hpp>
#include <Thyra_TpetraThyraWrappers.hpp>
#include <Tpetra_Core.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace ainvil {
namespace {

using Teuchos::ParameterList;
using Teuchos::RCP;
using Teuchos::rcp;

using Crs = Tpetra::CrsMatrix<>;
using Blocks = Tpetra::BlockCrsMatrix<>;
using Map = Tpetra::Map<>;
using Global = Map::global_ordinal_type;
using Vector = Tpetra::Vector<>;
using Factory = Thyra::PreconditionerFactoryBase<double>;
using ThyraPreconditioner = Thyra::PreconditionerBase<double>;
using Wrapped = RCP<const Thyra::LinearOpBase<double>>;

Wrapped wrap(const RCP<const Tpetra::Operator<>>& a) {
  return Thyra::createConstLinearOp(a);
}

/// Which ranks get rows. Solves are with all: Belos on Thyra's Tpetra vectors meets NaN at random,
/// without preconditioner too, where a rank has none (Trilinos 13.2).
enum class Ranks { All, AllButLast };

/// The problem in consecutive parts.
RCP<Crs> matrix(const std::string& problem, Ranks ranks = Ranks::All) {
  const auto whole = makeProblem(problem).matrix;
  const auto comm = Tpetra::getDefaultComm();
  const int parts = std::max(comm->getSize() - (ranks == Ranks::AllButLast ? 1 : 0), 1);
  const auto begin = [&](int rank) { return whole.numRows() * std::min(rank, parts) / parts; };
  const int rank = comm->getRank();
  const auto rows = rcp(new Map(whole.numRows(), begin(rank + 1) - begin(rank), 0, comm));
  const auto a = rcp(new Crs(rows, 8));
  for (Global row = begin(rank); row < begin(rank + 1); ++row)
    for (Offset e = whole.graph.row_map(row); e < whole.graph.row_map(row + 1); ++e) {
      const Global column = whole.graph.entries(e);
      const double value = whole.values(e);
      a->insertGlobalValues(row, 1, &value, &column);
    }
  a->fillComplete();
  return a;
}

/// Other values in the same graph.
void scale(Crs& a, double factor) {
  a.resumeFill();
  a.scale(factor);
  a.fillComplete();
}

RCP<Stratimikos::DefaultLinearSolverBuilder> builder(const std::string& name,
                                                     const ParameterList& settings = {}) {
  const auto made = rcp(new Stratimikos::DefaultLinearSolverBuilder);
  tpetra::enableStratimikos(*made);
  const auto list = Teuchos::parameterList();
  list->set("Linear Solver Type", "Belos");
  ParameterList& belos = list->sublist("Linear Solver Types").sublist("Belos");
  belos.set("Solver Type", "Pseudo Block GMRES");
  ParameterList& gmres = belos.sublist("Solver Types").sublist("Pseudo Block GMRES");
  gmres.set("Convergence Tolerance", 1e-8);
  gmres.set("Maximum Iterations", 500);
  gmres.set("Num Blocks", 30);
  list->set("Preconditioner Type", "Ainvil");
  ParameterList& ainvil = list->sublist("Preconditioner Types").sublist("Ainvil");
  ainvil.set("Prec Type", name);
  ainvil.sublist("Prec Settings") = settings;
  made->setParameterList(list);
  return made;
}

RCP<Factory> factory(const std::string& name, const ParameterList& settings = {}) {
  return builder(name, settings)->createPreconditioningStrategy("Ainvil");
}

const Ifpack2::Preconditioner<>& inner(const ThyraPreconditioner& m) {
  const auto op =
      Thyra::TpetraOperatorVectorExtraction<>::getConstTpetraOperator(m.getUnspecifiedPrecOp());
  return dynamic_cast<const Ifpack2::Preconditioner<>&>(*op);
}

void expectCounts(const ThyraPreconditioner& m, int initialized, int computed) {
  EXPECT_EQ(inner(m).getNumInitialize(), initialized);
  EXPECT_EQ(inner(m).getNumCompute(), computed);
}

/// A solve from x = 0.
void expectSolves(const Thyra::LinearOpWithSolveBase<double>& solver, const Crs& a) {
  const auto b = rcp(new Vector(a.getRangeMap())), x = rcp(new Vector(a.getDomainMap()));
  b->putScalar(1);
  const auto status = Thyra::solve<double>(solver, Thyra::NOTRANS, *Thyra::createVector(b),
                                           Thyra::createVector(x).ptr());
  EXPECT_EQ(status.solveStatus, Thyra::SOLVE_STATUS_CONVERGED) << status.message;
  Vector r(*b, Teuchos::Copy);
  a.apply(*x, r, Teuchos::NO_TRANS, -1, 1);
  EXPECT_LE(r.norm2(), 1.1e-8 * b->norm2());
}

TEST(Stratimikos, SolvesByName) {
  const auto a = matrix("laplace7:10");
  for (const char* name :
       {"ilu", "ilu:solve=isai,power=2", "fsai", "local-fsai", "ainv", "jacobi", "RELAXATION"}) {
    SCOPED_TRACE(name);
    const auto strategy = builder(name)->createLinearSolveStrategy("");
    strategy->setVerbLevel(Teuchos::VERB_NONE);
    expectSolves(*Thyra::linearOpWithSolve(*strategy, wrap(a)), *a);
  }
}

TEST(Stratimikos, UsesSettings) {
  const auto source = Thyra::defaultLinearOpSource(wrap(matrix("laplace7:6")));
  ParameterList settings;
  settings.set("trisolver: type", "isai");
  const auto with = factory("ilu", settings), without = factory("ilu");
  EXPECT_TRUE(with->isCompatible(*source));
  const auto m = with->createPrec();
  with->initializePrec(source, m.get());
  EXPECT_NE(inner(*m).description().find("solve=isai"), std::string::npos);
  // Other parameters: another preconditioner.
  without->initializePrec(source, m.get());
  EXPECT_EQ(inner(*m).description().find("solve=isai"), std::string::npos);
  expectCounts(*m, 1, 1);
  // Parameters that are refused leave the one that was there.
  EXPECT_THROW(factory("fsai", settings)->initializePrec(source, m.get()),
               Teuchos::Exceptions::InvalidParameterName);
  without->initializePrec(source, m.get());
  expectCounts(*m, 1, 2);
}

TEST(Stratimikos, NewValuesInASolver) {
  const auto a = matrix("laplace7:8");
  const auto strategy = builder("ilu")->createLinearSolveStrategy("");
  strategy->setVerbLevel(Teuchos::VERB_NONE);
  const auto solver = strategy->createOp();
  Thyra::initializeOp(*strategy, wrap(a), solver.ptr());
  expectSolves(*solver, *a);
  scale(*a, 1e3);
  Thyra::initializeOp(*strategy, wrap(a), solver.ptr());
  expectSolves(*solver, *a);
  const auto m = dynamic_cast<Thyra::BelosLinearOpWithSolve<double>&>(*solver).extract_prec();
  expectCounts(*m, 1, 2);
}

/// M on the graph of an earlier matrix is the M of a new set-up.
void expectSameAsFresh(const Factory& strategy, const ThyraPreconditioner& m,
                       const RCP<const Tpetra::Operator<>>& a) {
  const auto fresh = strategy.createPrec();
  strategy.initializePrec(Thyra::defaultLinearOpSource(wrap(a)), fresh.get());
  Vector x(a->getDomainMap()), y(a->getRangeMap()), z(a->getRangeMap());
  x.randomize();
  inner(m).apply(x, y);
  inner(*fresh).apply(x, z);
  z.update(1, y, -1);
  EXPECT_LE(z.norm2(), 1e-13 * y.norm2());
}

TEST(Stratimikos, SameGraphIsNotInitializedAgain) {
  for (const char* name : {"ilu", "fsai"}) {
    SCOPED_TRACE(name);
    const auto a = matrix("laplace7:6", Ranks::AllButLast);
    const auto other = rcp(new Crs(a->getCrsGraph()));
    other->setAllToScalar(-1);
    for (int row = 0; row < tpetra::compat::numLocalElements(*a->getRowMap()); ++row) {
      const auto column = a->getColMap()->getLocalElement(a->getRowMap()->getGlobalElement(row));
      other->replaceLocalValues(row, Teuchos::tuple(column), Teuchos::tuple(12.0));
    }
    other->fillComplete();

    const auto strategy = factory(name);
    const auto m = strategy->createPrec();
    strategy->initializePrec(Thyra::defaultLinearOpSource(wrap(a)), m.get());
    expectCounts(*m, 1, 1);
    strategy->uninitializePrec(m.get());
    EXPECT_TRUE(m->getUnspecifiedPrecOp().is_null());
    strategy->initializePrec(Thyra::defaultLinearOpSource(wrap(other)), m.get());
    expectCounts(*m, 1, 2);
    expectSameAsFresh(*strategy, *m, other);
    const auto another = matrix("laplace7:6", Ranks::AllButLast);
    strategy->initializePrec(Thyra::defaultLinearOpSource(wrap(another)), m.get());
    expectCounts(*m, 2, 3);
  }
}

TEST(Stratimikos, GivesBackWhatItWasMadeFrom) {
  const auto strategy = factory("ilu");
  const auto m = strategy->createPrec();
  const auto source = Thyra::defaultLinearOpSource(wrap(matrix("laplace7:4")));
  strategy->initializePrec(source, m.get(), Thyra::SUPPORT_SOLVE_FORWARD_ONLY);
  RCP<const Thyra::LinearOpSourceBase<double>> given;
  Thyra::ESupportSolveUse use = Thyra::SUPPORT_SOLVE_UNSPECIFIED;
  strategy->uninitializePrec(m.get(), &given, &use);
  EXPECT_EQ(given.getRawPtr(), source.getRawPtr());
  EXPECT_EQ(use, Thyra::SUPPORT_SOLVE_FORWARD_ONLY);
  strategy->uninitializePrec(m.get(), &given, &use); // only once
  EXPECT_TRUE(given.is_null());
}

/// Symmetric and dominant.
RCP<Blocks> blocks(const Tpetra::CrsGraph<>& graph, int block_size, double diagonal) {
  const auto a = rcp(new Blocks(graph, block_size));
  a->setAllToScalar(-0.1);
  std::vector<double> block(block_size * block_size, -0.1);
  for (int i = 0; i < block_size; ++i)
    block[i * block_size + i] = diagonal;
  for (int row = 0; row < tpetra::compat::numLocalElements(*graph.getRowMap()); ++row) {
    const int column = graph.getColMap()->getLocalElement(graph.getRowMap()->getGlobalElement(row));
    a->replaceLocalValues(row, &column, block.data(), 1);
  }
  return a;
}

TEST(Stratimikos, SameGraphOfBlocks) {
  const auto graph = matrix("poisson5:9", Ranks::AllButLast)->getCrsGraph(),
             equal = matrix("poisson5:9", Ranks::AllButLast)->getCrsGraph();
  const auto strategy = factory("ilu");
  const auto m = strategy->createPrec();
  const auto initialize = [&](const RCP<const Tpetra::Operator<>>& a) {
    strategy->initializePrec(Thyra::defaultLinearOpSource(wrap(a)), m.get());
    expectSameAsFresh(*strategy, *m, a);
  };
  initialize(blocks(*graph, 2, 4));
  initialize(blocks(*graph, 2, 5));
  expectCounts(*m, 1, 2);
  initialize(blocks(*equal, 2, 5)); // another object
  expectCounts(*m, 2, 3);
  initialize(blocks(*equal, 3, 5));
  expectCounts(*m, 3, 4);
}

TEST(Stratimikos, GrownGraphIsInitializedAgain) {
  const auto rows = rcp(new Map(20, 0, Tpetra::getDefaultComm()));
  const auto a = rcp(new Crs(rows, 2));
  const auto keep_room = Teuchos::parameterList();
  keep_room->set("Optimize Storage", false);
  const auto strategy = factory("ilu");
  const auto m = strategy->createPrec();
  const auto initialize = [&] {
    a->fillComplete(keep_room);
    strategy->initializePrec(Thyra::defaultLinearOpSource(wrap(a)), m.get());
    expectSameAsFresh(*strategy, *m, a);
  };
  for (Global row = rows->getMinGlobalIndex(); row <= rows->getMaxGlobalIndex(); ++row)
    a->insertGlobalValues(row, Teuchos::tuple(row), Teuchos::tuple(4.0));
  initialize();
  a->resumeFill();
  if (rows->getComm()->getRank() == 0)
    a->insertLocalValues(0, Teuchos::tuple(1), Teuchos::tuple(1.0));
  initialize();
  expectCounts(*m, 2, 2);
}

/// Asynchronous sweeps are for flexible solvers only, which one has to have chosen.
TEST(Stratimikos, RefusesPreconditionersThatVaryUnlessTold) {
  const auto a = matrix("laplace7:6");
  ParameterList settings;
  settings.set("trisolver: type", "async");
  const auto strategy = factory("ilu", settings);
  const auto m = strategy->createPrec();
  try {
    strategy->initializePrec(Thyra::defaultLinearOpSource(wrap(a)), m.get());
    ADD_FAILURE() << "it was accepted";
  } catch (const Teuchos::Exceptions::InvalidParameterValue& error) {
    EXPECT_NE(std::string(error.what()).find("Flexible Gmres"), std::string::npos) << error.what();
  }
  const auto with_flexible = builder("ilu", settings);
  const auto list = with_flexible->getNonconstParameterList();
  list->sublist("Preconditioner Types").sublist("Ainvil").set("Allow Varying", true);
  ParameterList& belos = list->sublist("Linear Solver Types").sublist("Belos");
  belos.set("Solver Type", "Block GMRES");
  ParameterList& gmres = belos.sublist("Solver Types").sublist("Block GMRES");
  gmres.set("Flexible Gmres", true);
  gmres.set("Convergence Tolerance", 1e-8);
  const auto lows =
      Thyra::linearOpWithSolve(*with_flexible->createLinearSolveStrategy(""), wrap(a));
  expectSolves(*lows, *a);
}

TEST(Stratimikos, RefusesWhatItDoesNotKnow) {
  const auto source = Thyra::defaultLinearOpSource(wrap(matrix("laplace7:4")));
  const auto tryIt = [&](const std::string& name, const ParameterList& settings) {
    const auto strategy = factory(name, settings);
    strategy->initializePrec(source, strategy->createPrec().get());
  };
  EXPECT_ANY_THROW(tryIt("ILV", {}));
  ParameterList settings;
  settings.set("fsai: levels", 2);
  EXPECT_NO_THROW(tryIt("fsai", settings));
  EXPECT_THROW(tryIt("ilu", settings), Teuchos::Exceptions::InvalidParameterName);
  ParameterList list;
  list.set("Prec Typo", "ilu");
  EXPECT_THROW(factory("ilu")->setParameterList(Teuchos::rcpFromRef(list)),
               Teuchos::Exceptions::InvalidParameterName);
  const auto vector = rcp(new Vector(matrix("laplace7:4")->getRowMap()));
  EXPECT_FALSE(factory("ilu")->isCompatible(
      *Thyra::defaultLinearOpSource<double>(Thyra::createVector(vector))));
}

} // namespace
} // namespace ainvil
