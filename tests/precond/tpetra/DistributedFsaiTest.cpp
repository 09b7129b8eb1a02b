// SPDX-License-Identifier: BSD-3-Clause
/// FSAI over the ranks against FSAI of the whole matrix.
#include "precond/tpetra/TpetraSupport.hpp"

#include "Ainvil_Cg.hpp"
#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "solvers/tpetra/MpiCalls.hpp"

#include <utility>

namespace ainvil {
namespace {

using namespace test;

class DistributedFsai : public ::testing::TestWithParam<const char*> {};

std::vector<double> wholeFsai(const std::string& specification, const HostBsr& a,
                              const std::vector<double>& x) {
  const auto m = createPreconditioner<double, Device>(specification);
  setUp(*m, a);
  const auto y = poisoned(x.size(), 1);
  m->apply(Exec(), toDevice(x, x.size(), 1), y);
  return toHost(y);
}

TEST_P(DistributedFsai, EqualsThatOfTheWholeMatrix) {
  const HostBsr a = spdMatrixOn(symmetricPattern(83, 3, 91), 1, 91);
  const auto x = randomVector(83, 1);
  const auto y = wholeFsai(GetParam(), a, x);
  for (const Spread spread : {Spread::Parts, Spread::LastEmpty, Spread::Cyclic}) {
    const auto m = made(GetParam(), crsMatrix(a, spread));
    expectNear(applied(*m, x), y, 1e-12);
    expectNear(applied(*m, x, Teuchos::TRANS), y, 1e-12); // symmetric
  }
}

TEST_P(DistributedFsai, OwnRowsNeedNotAscend) {
  const HostBsr a = spdMatrixOn(symmetricPattern(83, 3, 91), 1, 91);
  const auto x = randomVector(83, 1);
  for (const Spread spread : {Spread::Parts, Spread::LastEmpty, Spread::Cyclic}) {
    const auto rows = rowMap(83, spread);
    std::vector<tpetra::Map::global_ordinal_type> backwards;
    for (int i = tpetra::compat::numLocalElements(*rows); i-- > 0;)
      backwards.push_back(rows->getGlobalElement(i));
    const auto m =
        made<TpetraCrs>(GetParam(), tpetra::distribute(a, tpetra::makeMap(backwards, *rows)));
    expectNear(applied(*m, x), wholeFsai(GetParam(), a, x), 1e-12);
  }
}

TEST_P(DistributedFsai, NewValuesEqualAFreshBuild) {
  const Pattern pattern = symmetricPattern(83, 3, 91);
  const auto a = tpetra::distribute(spdMatrixOn(pattern, 1, 91), rowMap(83, Spread::Parts));
  const auto m = made<TpetraCrs>(GetParam(), a);
  const HostBsr second = spdMatrixOn(pattern, 1, 92);
  const auto with_second = crsMatrix(second, Spread::Parts);
  a->resumeFill();
  Kokkos::deep_copy(a->getLocalMatrixDevice().values, with_second->getLocalMatrixDevice().values);
  a->fillComplete();
  m->compute();
  EXPECT_EQ(m->getNumInitialize(), 1);
  const auto x = randomVector(83, 1);
  // The pattern is that of the first values, so the expected M^-1 is too.
  const auto whole = createPreconditioner<double, Device>(GetParam());
  whole->initialize(copyTo<Device>(spdMatrixOn(pattern, 1, 91)));
  whole->compute(copyTo<Device>(second));
  const auto y = poisoned(x.size(), 1);
  whole->apply(Exec(), toDevice(x, x.size(), 1), y);
  expectNear(applied(*m, x), toHost(y), 1e-12);
}

/// Y = beta Y + alpha M^-1 X of several columns together, part of two multivectors.
TEST_P(DistributedFsai, AppliesToSeveralColumns) {
  const auto a = crsMatrix(spdMatrixOn(symmetricPattern(83, 3, 91), 1, 91), Spread::Cyclic);
  const auto m = made(GetParam(), a);
  TpetraVectors x(a->getDomainMap(), 5), y(a->getRangeMap(), 5), expected(a->getRangeMap(), 5);
  x.randomize();
  y.randomize();
  Tpetra::deep_copy(expected, y);
  for (size_t c = 1; c < 4; ++c)
    m->apply(*x.getVector(c), *expected.getVectorNonConst(c + 1), Teuchos::NO_TRANS, -2, 0.5);
  m->apply(*x.subView(Teuchos::Range1D(1, 3)), *y.subViewNonConst(Teuchos::Range1D(2, 4)),
           Teuchos::NO_TRANS, -2, 0.5);
  for (size_t c = 0; c < 5; ++c)
    expectNear(wholeVector(*y.getVector(c)), wholeVector(*expected.getVector(c)), 1e-13);
}

/// What ranks send back is added in one order.
TEST_P(DistributedFsai, GivesTheSameEveryTime) {
  const auto a = crsMatrix(spdMatrixOn(symmetricPattern(83, 3, 91), 1, 91), Spread::Cyclic);
  const auto m = made(GetParam(), a);
  const auto x = randomVector(83, 1);
  const std::vector<double> y = applied(*m, x);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(applied(*m, x), y);
}

INSTANTIATE_TEST_SUITE_P(Parameters, DistributedFsai,
                         ::testing::Values("fsai", "fsai:power=0", "fsai:tau=0,power=1,filter=0",
                                           "fsai:tau=0.02,power=4,filter=0.01",
                                           "fsai:power=3,max-row=5",
                                           "fsai:adaptive=3,per-step=2,power=1"));

/// Nor do they with polynomials in the matrix of all ranks.
TEST(DistributedFsaiSolve, IterationsDoNotDependOnTheRanks) {
  const Problem problem = makeProblem("laplace7:14x12x10");
  const HostBsr& a = problem.matrix;
  for (const char* name : {"fsai", "fsai:poly=5", "jacobi:poly=9"}) {
    SCOPED_TRACE(name);
    // By the library alone.
    const auto on_device = copyTo<Device>(a);
    const auto whole = createPreconditioner<double, Device>(name);
    setUp(*whole, a);
    const std::vector<double> ones(a.numRows(), 1.0);
    SolverOptions options;
    options.tolerance = 1e-8;
    Cg<double, Device> cg(options);
    const Vector<double, Device> x("x", a.numRows());
    const auto result =
        cg.solve(Exec(), MatrixOperator<double, Device>(on_device), whole.get(), toDevice(ones), x);
    ASSERT_EQ(result.status, SolveStatus::Converged);
    for (const Spread spread : {Spread::Parts, Spread::LastEmpty, Spread::Cyclic}) {
      const auto matrix = crsMatrix(a, spread);
      const auto run =
          solveByBelos("CG", matrix, made(name, matrix), vectorOn(matrix->getRowMap(), ones), 1e-8);
      EXPECT_TRUE(run.converged);
      EXPECT_LE(run.residual, 1.1e-8);
      EXPECT_NEAR(run.iterations, result.iterations, 1);
    }
  }
}

/// A chain of rows, parts of which the ranks have in turn. Unknowns go to the rank behind, and what
/// it has computed for them comes back; a polynomial has two products, whose unknowns go both ways.
TEST(DistributedFsaiUse, NeighboursAloneExchange) {
  const Problem problem = makeProblem(message("laplace7:", 8 * ranks(), "x1x1"));
  const auto a = crsMatrix(problem.matrix, Spread::Parts);
  const int rank = world()->getRank(), before_me = rank > 0, behind_me = rank < ranks() - 1;
  const std::pair<const char*, int> names[] = {
      {"fsai:tau=0,power=1,filter=0", 1}, {"fsai:tau=0,power=3,filter=0", 1}, {"jacobi:poly=3", 2}};
  for (const auto& [name, exchanges] : names) {
    SCOPED_TRACE(name);
    const auto m = made(name, a);
    for (const size_t columns : {1, 3}) {
      TpetraVectors x(a->getDomainMap(), columns), y(a->getRangeMap(), columns);
      x.putScalar(1);
      m->apply(x, y);
      const MpiCalls before = mpiCalls();
      m->apply(x, y);
      EXPECT_EQ(mpiCalls().sends - before.sends, exchanges * (before_me + behind_me));
      EXPECT_EQ(mpiCalls().blocking, before.blocking);
      EXPECT_EQ(mpiCalls().reductions, before.reductions);
    }
  }
}

/// The first compute() makes the plan of the exchange; another one on the same pattern has none of
/// its messages.
TEST(DistributedFsaiUse, ThePlanIsKept) {
  const auto a = crsMatrix(makeProblem("laplace7:8x6x5").matrix, Spread::Parts);
  for (const char* name : {"fsai:tau=0,power=1,filter=0", "fsai:power=2,filter=0.1"}) {
    const auto m = tpetra::create(name, a);
    m->initialize();
    const auto sendsOfCompute = [&] {
      const int before = mpiCalls().sends;
      m->compute();
      const int here = mpiCalls().sends - before;
      int everywhere = 0;
      Teuchos::reduceAll(*world(), Teuchos::REDUCE_SUM, here, Teuchos::outArg(everywhere));
      return everywhere;
    };
    const int first = sendsOfCompute(), second = sendsOfCompute();
    EXPECT_EQ(sendsOfCompute(), second) << name;
    if (ranks() > 1)
      EXPECT_LT(second, first) << name;
    else
      EXPECT_EQ(first, 0) << name;
  }
}

/// The entries are those of the whole G, on whichever rank.
TEST(DistributedFsaiUse, ReportsTheEntriesOfTheRanks) {
  const HostBsr a = spdMatrixOn(symmetricPattern(83, 3, 91), 1, 91);
  const auto whole = createPreconditioner<double, Device>("fsai");
  setUp(*whole, a);
  for (const Spread spread : {Spread::Parts, Spread::LastEmpty, Spread::Cyclic}) {
    const auto m = made("fsai", crsMatrix(a, spread));
    const auto& ours = dynamic_cast<const tpetra::DistributedFsai<TpetraRow>&>(*m);
    const auto here = ours.localReport().factor_entries;
    Offset everywhere = 0;
    Teuchos::reduceAll(*world(), Teuchos::REDUCE_SUM, here, Teuchos::outArg(everywhere));
    EXPECT_EQ(everywhere, whole->report().factor_entries);
  }
}

TEST(DistributedFsaiUse, WhatItCannotTakeIsRefused) {
  const HostBsr a = spdMatrixOn(symmetricPattern(24, 3, 5), 2, 5);
  EXPECT_THROW(tpetra::create("fsai", blockMatrix(a, Spread::Parts))->initialize(),
               std::runtime_error);
  const auto crs = crsMatrix(a, Spread::Parts);
  ParameterList list;
  list.set("storage: precision", "float");
  const auto m = tpetra::create("fsai", crs);
  m->setParameters(list);
  EXPECT_THROW(m->initialize(), std::runtime_error);
  ParameterList blocks;
  blocks.set("block: size", 2);
  const auto n = tpetra::create("fsai", crs);
  n->setParameters(blocks);
  EXPECT_THROW(n->initialize(), std::runtime_error);
  const auto unsymmetric = crsMatrix(matrixOn(randomPattern(24, 3, 5), 1, 5), Spread::Parts);
  const auto o = tpetra::create("fsai", unsymmetric);
  EXPECT_THROW(o->compute(), Error);
}

TEST(DistributedFsaiUse, NewEntriesAreNoticed) {
  const auto rows = rowMap(4 * ranks(), Spread::Parts);
  const auto grow = rcp(new ParameterList);
  grow->set("Optimize Storage", false);
  const auto a = rcp(new TpetraCrs(rows, 5));
  using Global = tpetra::Map::global_ordinal_type;
  const Global n = 4 * ranks();
  const auto insert = [&](Global row, Global column, double value) {
    if (rows->isNodeGlobalElement(row))
      a->insertGlobalValues(row, Teuchos::tuple(column), Teuchos::tuple(value));
  };
  for (Global i = 0; i < n; ++i) {
    insert(i, i, 4);
    insert(i, (i + 1) % n, -1);
    insert((i + 1) % n, i, -1);
  }
  a->fillComplete(grow);
  const auto m = made<TpetraCrs>("fsai", a);
  a->resumeFill();
  if (world()->getRank() == ranks() - 1) // entries between columns that it has
    for (const auto& [i, j] : {std::pair<int, int>{0, 2}, {2, 0}})
      a->insertLocalValues(
          i, Teuchos::tuple(a->getColMap()->getLocalElement(rows->getGlobalElement(j))),
          Teuchos::tuple(-0.5));
  a->fillComplete(grow);
  EXPECT_THROW(m->compute(), Error);
  m->initialize();
  m->compute();
  EXPECT_TRUE(m->isComputed());
}

} // namespace
} // namespace ainvil
