// SPDX-License-Identifier: BSD-3-Clause
/// FSAI over the ranks against FSAI of the whole matrix.
#include "precond/tpetra/TpetraSupport.hpp"

#include "Ainvil_Cg.hpp"
#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"

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

INSTANTIATE_TEST_SUITE_P(Parameters, DistributedFsai,
                         ::testing::Values("fsai", "fsai:power=0", "fsai:tau=0,power=1,filter=0",
                                           "fsai:tau=0.02,power=4,filter=0.01",
                                           "fsai:power=3,max-row=5",
                                           "fsai:adaptive=3,per-step=2,power=1"));

TEST(DistributedFsaiSolve, IterationsDoNotDependOnTheRanks) {
  const Problem problem = makeProblem("laplace7:14x12x10");
  const HostBsr& a = problem.matrix;
  // By the library alone.
  const auto on_device = copyTo<Device>(a);
  const auto whole = createPreconditioner<double, Device>("fsai");
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
        solveByBelos("CG", matrix, made("fsai", matrix), vectorOn(matrix->getRowMap(), ones), 1e-8);
    EXPECT_TRUE(run.converged);
    EXPECT_LE(run.residual, 1.1e-8);
    EXPECT_NEAR(run.iterations, result.iterations, 1);
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
  ParameterList polynomial;
  polynomial.set("poly: degree", 3);
  const auto p = tpetra::create("fsai", crs);
  p->setParameters(polynomial);
  EXPECT_THROW(p->initialize(), std::runtime_error);
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
