// SPDX-License-Identifier: BSD-3-Clause
/// Inside of Ifpack2's AdditiveSchwarz, and under Belos.
#include "precond/tpetra/TpetraSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "Ainvil_Gmres.hpp"
#include "Ainvil_TpetraFilteredRows.hpp"
#include "Ainvil_TpetraLocalBlock.hpp"
#include "KokkosObservers.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <Ifpack2_AdditiveSchwarz.hpp>
#include <Ifpack2_DropFilter.hpp>
#include <Teuchos_ParameterListExceptions.hpp>

namespace ainvil {
namespace {

using namespace test;
using Schwarz = Ifpack2::AdditiveSchwarz<TpetraRow>;

RCP<TpetraPreconditioner> overlapping(const std::string& name, const RCP<const TpetraCrs>& a,
                                      int overlap) {
  const auto schwarz = rcp(new Schwarz(a));
  ParameterList list;
  list.set("schwarz: overlap level", overlap);
  schwarz->setParameters(list);
  schwarz->setInnerPreconditioner(tpetra::create<TpetraRow>(name, Teuchos::null));
  schwarz->initialize();
  schwarz->compute();
  return schwarz;
}

TEST(AdditiveSchwarz, WithoutOverlapIsBlockJacobi) {
  const HostBsr a = matrixOn(randomPattern(71, 5, 31), 1, 31);
  const auto x = randomVector(71, 1);
  for (const Spread spread : {Spread::Parts, Spread::Cyclic}) {
    const auto crs = crsMatrix(a, spread);
    for (const char* name : {"ilu:solve=isai,power=2", "jacobi", "ainv:symmetric=no"})
      expectNear(applied(*overlapping(name, crs, 0), x), applied(*made(name, crs), x), 1e-12);
  }
}

TEST(AdditiveSchwarz, OverlapSavesIterations) {
  const Problem problem = makeProblem("laplace7:16");
  const auto a = crsMatrix(problem.matrix, Spread::Parts);
  const auto b = vectorOn(a->getRowMap(), std::vector<double>(a->getGlobalNumRows(), 1.0));
  int iterations[2];
  for (const int overlap : {0, 1}) {
    const auto run =
        solveByBelos("GMRES", a, overlapping("ilu:solve=isai,power=2", a, overlap), b, 1e-8);
    EXPECT_TRUE(run.converged);
    EXPECT_LE(run.residual, 1.1e-8);
    iterations[overlap] = run.iterations;
  }
  if (ranks() == 1)
    EXPECT_EQ(iterations[1], iterations[0]);
  else
    EXPECT_LT(iterations[1], iterations[0]);
}

TEST(AdditiveSchwarz, NewValues) {
  const Pattern pattern = randomPattern(71, 5, 31);
  const auto a = tpetra::distribute(matrixOn(pattern, 1, 31), rowMap(71, Spread::Parts));
  const auto m = overlapping("ilu", a, 1);
  const auto second = crsMatrix(matrixOn(pattern, 1, 32), Spread::Parts);
  a->resumeFill();
  Kokkos::deep_copy(a->getLocalMatrixDevice().values, second->getLocalMatrixDevice().values);
  a->fillComplete();
  m->initialize(); // for the overlapping rows, which Ifpack2 imports there
  m->compute();
  const auto x = randomVector(71, 1);
  EXPECT_EQ(applied(*m, x), applied(*overlapping("ilu", second, 1), x));
}

ParameterList schwarzList(const std::string& inner, int overlap) {
  ParameterList list;
  list.set("schwarz: overlap level", overlap);
  list.set("schwarz: inner preconditioner name", inner);
  return list;
}

TEST(SchwarzByName, IsThatWithTheInnerPreconditioner) {
  const auto a = crsMatrix(matrixOn(randomPattern(71, 5, 31), 1, 31), Spread::Parts);
  const auto x = randomVector(71, 1);
  ParameterList list = schwarzList("ilu", 1);
  ParameterList& inner = list.sublist("schwarz: inner preconditioner parameters");
  inner.set("trisolver: type", "isai");
  EXPECT_EQ(applied(*made("SCHWARZ", a, list), x),
            applied(*overlapping("ilu:solve=isai", a, 1), x));
  EXPECT_TRUE(inner.getEntryPtr("trisolver: type")->isUsed());
  const auto spd = crsMatrix(makeProblem("laplace7:5").matrix, Spread::Parts);
  const auto y = randomVector(125, 1);
  for (const char* name : {"local-fsai", "fsai"})
    EXPECT_EQ(applied(*made("schwarz", spd, schwarzList(name, 1)), y),
              applied(*overlapping("local-fsai", spd, 1), y));
}

TEST(SchwarzByName, OtherNamesAreThoseOfIfpack2) {
  const auto a = crsMatrix(matrixOn(randomPattern(71, 5, 31), 1, 31), Spread::Parts);
  const auto x = randomVector(71, 1);
  const auto m = made("SCHWARZ", a, schwarzList("ilu", 1));
  m->setParameters(schwarzList("RILUK", 1)); // in place of ilu
  m->initialize();
  m->compute();
  Schwarz theirs(a);
  theirs.setParameters(schwarzList("RILUK", 1));
  theirs.initialize();
  theirs.compute();
  EXPECT_EQ(applied(*m, x), applied(theirs, x));
  const auto wrong = tpetra::create("SCHWARZ", a);
  wrong->setParameters(schwarzList("no such method", 1));
  EXPECT_THROW(wrong->initialize(), std::exception);
}

/// Without a call of initialize(); that of Ifpack2 is called again for a preconditioner of
/// Ifpack2's.
TEST(SchwarzByName, NewValuesOfAllRanks) {
  const Pattern pattern = randomPattern(71, 5, 31);
  for (const char* name : {"ilu", "RILUK"})
    for (const int overlap : {1, 2}) {
      const auto a = tpetra::distribute(matrixOn(pattern, 1, 31), rowMap(71, Spread::Parts));
      const auto m = made<TpetraCrs>("SCHWARZ", a, schwarzList(name, overlap));
      for (const int seed : {32, 33}) {
        const auto other = crsMatrix(matrixOn(pattern, 1, seed), Spread::Parts);
        a->resumeFill();
        Kokkos::deep_copy(a->getLocalMatrixDevice().values, other->getLocalMatrixDevice().values);
        a->fillComplete();
        m->compute();
        const auto x = randomVector(71, 1);
        EXPECT_EQ(applied(*m, x), applied(*made("SCHWARZ", other, schwarzList(name, overlap)), x));
      }
      EXPECT_EQ(m->getNumInitialize(), name == std::string("ilu") || ranks() == 1 ? 1 : 3);
    }
}

TEST(SchwarzByName, AlphaAndBeta) {
  const auto a = crsMatrix(matrixOn(randomPattern(71, 5, 31), 1, 31), Spread::Parts);
  const auto m = made("SCHWARZ", a, schwarzList("jacobi", 1));
  const auto x = randomVector(71, 1), y = randomVector(71, 2);
  const auto expected = applied(*m, x);
  const auto from = vectorOn(m->getDomainMap(), x), to = vectorOn(m->getRangeMap(), y);
  m->apply(*from, *to, Teuchos::NO_TRANS, 3, -2);
  std::vector<double> sum(71);
  for (int i = 0; i < 71; ++i)
    sum[i] = 3 * expected[i] - 2 * y[i];
  expectNear(wholeVector(*to), sum, 1e-12);
  EXPECT_THROW(m->apply(*from, *to, Teuchos::TRANS), std::runtime_error);
}

TEST(SchwarzByName, RefusesWhatTheInnerPreconditionerRefuses) {
  const auto a = crsMatrix(matrixOn(randomPattern(71, 5, 31), 1, 31), Spread::Parts);
  const auto m = made("SCHWARZ", a, schwarzList("ilu", 0));
  const auto x = randomVector(71, 1);
  const auto before = applied(*m, x);
  ParameterList list = schwarzList("ilu", 0);
  list.sublist("schwarz: inner preconditioner parameters").set("fsai: levels", 1);
  EXPECT_THROW(m->setParameters(list), Teuchos::Exceptions::InvalidParameterName);
  EXPECT_EQ(applied(*m, x), before);
}

/// Whichever list comes first.
TEST(SchwarzByName, MayVaryOnlyIfAListSaysSo) {
  const auto a = crsMatrix(matrixOn(randomPattern(71, 5, 31), 1, 31), Spread::Parts);
  ParameterList varying;
  varying.set("Allow Varying", true);
  for (const bool first : {true, false}) {
    const auto m = tpetra::create("SCHWARZ", a);
    if (first)
      m->setParameters(varying);
    m->setParameters(schwarzList("ilu:solve=async", 1));
    if (!first) {
      EXPECT_THROW(m->initialize(), Teuchos::Exceptions::InvalidParameterValue);
      m->setParameters(varying);
    }
    EXPECT_NO_THROW(m->initialize());
  }
}

/// The matrix that AdditiveSchwarz makes for its inner preconditioner.
class FilteredRows : public ::testing::TestWithParam<std::tuple<Spread, int, int>> {
protected:
  using Local =
      tpetra::LocalBlock<double, int, tpetra::Map::global_ordinal_type, tpetra::Map::node_type>;
  using Filter = Ifpack2::LocalFilter<TpetraRow>;
  using Overlapping = Ifpack2::OverlappingRowMatrix<TpetraRow>;

  Spread spread() const { return std::get<0>(GetParam()); }
  int overlap() const { return ranks() == 1 ? 0 : std::get<1>(GetParam()); }
  int blockSize() const { return std::get<2>(GetParam()); }
  RCP<TpetraCrs> matrix(int entries) const {
    const HostBsr a = matrixOn(randomPattern(24, entries, 31), blockSize(), 31);
    return tpetra::distribute(a, rowMap(24, spread()));
  }

  RCP<const Filter> filter(const RCP<const TpetraCrs>& a) const {
    if (overlap() == 0)
      return rcp(new Filter(a));
    return rcp(new Filter(rcp(new Overlapping(a, overlap()))));
  }

  /// Bitwise that of the rows one by one, which a filter that lets all through leads to.
  void expectThatOfRows(const DeviceBsr& block, const RCP<const Filter>& filter) const {
    const Ifpack2::DropFilter<TpetraRow> foreign(filter, 0);
    EXPECT_EQ(tpetra::detail::filteredRows(foreign).upper, nullptr);
    Local by_rows(Exec(), foreign, blockSize());
    expectSameMatrix(copyTo<HostDevice>(block), copyTo<HostDevice>(by_rows.get(Exec(), foreign)));
  }

  static void expectSameMatrix(const HostBsr& a, const HostBsr& b) {
    const auto all = [](const auto& view) {
      return std::vector<double>(view.data(), view.data() + view.extent(0));
    };
    EXPECT_EQ(a.numRows(), b.numRows());
    EXPECT_EQ(a.block_size, b.block_size);
    EXPECT_EQ(all(a.graph.row_map), all(b.graph.row_map));
    EXPECT_EQ(all(a.graph.entries), all(b.graph.entries));
    EXPECT_EQ(all(a.values), all(b.values));
  }
};

TEST_P(FilteredRows, AreThoseOfTheRowsOneByOne) {
  const auto a = matrix(3);
  const auto first = filter(a);
  const auto rows = tpetra::detail::filteredRows(*first);
  ASSERT_EQ(rows.upper, a.getRawPtr());
  EXPECT_EQ(rows.lower != nullptr, overlap() > 0);
  Local local;
  {
    const KernelLabelRecorder seen;
    local = Local(Exec(), rows, blockSize());
    const auto allocations = seen.allocations();
    EXPECT_EQ(std::count(allocations.begin(), allocations.end(), "Ainvil::columns"), 0);
  }
  expectThatOfRows(local.get(Exec(), rows), first);
  // New values of the same graph, without an allocation.
  a->resumeFill();
  a->scale(-3);
  a->fillComplete();
  const auto second = filter(a);
  const auto new_rows = tpetra::detail::filteredRows(*second);
  const AllocationCounter allocations;
  const DeviceBsr block = local.get(Exec(), new_rows);
  EXPECT_EQ(allocations.count(), 0) << allocations.labels();
  expectThatOfRows(block, second);
}

TEST_P(FilteredRows, OfAnotherSizeAreRefused) {
  const auto filtered = filter(matrix(3)), of_other = filter(matrix(4));
  Local local(Exec(), tpetra::detail::filteredRows(*filtered), blockSize());
  if (tpetra::compat::numLocalElements(*filtered->getRowMap()) > 0) {
    EXPECT_THROW(local.get(Exec(), tpetra::detail::filteredRows(*of_other)), InvalidArgument);
  }
}

INSTANTIATE_TEST_SUITE_P(All, FilteredRows,
                         ::testing::Combine(::testing::Values(Spread::Parts, Spread::LastEmpty,
                                                              Spread::Cyclic),
                                            ::testing::Values(0, 1, 2), ::testing::Values(1, 3)));

TEST(AdditiveSchwarz, IndicesMayBeginAtOne) {
  const auto rows = rcp(new tpetra::Map(5 * ranks(), 1, world()));
  const auto a = rcp(new TpetraCrs(rows, 1));
  for (int i = 0; i < 5; ++i) {
    const auto index = rows->getGlobalElement(i);
    a->insertGlobalValues(index, Teuchos::tuple(index), Teuchos::tuple(double(index)));
  }
  a->fillComplete();
  const auto m = overlapping("ilu", a, 0);
  TpetraVector x(rows), y(rows);
  for (int i = 0; i < 5; ++i)
    x.replaceLocalValue(i, double(rows->getGlobalElement(i)));
  m->apply(x, y);
  EXPECT_EQ(y.normInf(), 1);
  EXPECT_EQ(y.norm1(), 5 * ranks());
}

/// Belos with the adapter and the library's own solver take the same path on one rank.
TEST(BelosSolve, IterationsOfTheLibraryOnOneRank) {
  const Problem problem = makeProblem("cavity:40");
  for (const char* name : {"ilu", "ilu:solve=isai,power=3", "jacobi"}) {
    const auto whole = createPreconditioner<double, Device>(name);
    setUp(*whole, problem.matrix);
    SolverOptions options;
    options.tolerance = 1e-5;
    options.max_iterations = 5000;
    Gmres<double, Device> gmres(options);
    const Vector<double, Device> b("b", problem.rhs.extent(0)), x("x", problem.rhs.extent(0));
    Kokkos::deep_copy(b, problem.rhs);
    const auto ours = gmres.solve(
        Exec(), MatrixOperator<double, Device>(copyTo<Device>(problem.matrix)), whole.get(), b, x);
    const auto a = crsMatrix(problem.matrix, Spread::Parts);
    ParameterList blocks;
    blocks.set("block: size", 3);
    const auto rhs =
        tpetra::distribute(Kokkos::View<const double*, HostDevice>(problem.rhs), a->getRowMap());
    const auto theirs = solveByBelos("GMRES", a, made(name, a, blocks), rhs, 1e-5);
    EXPECT_TRUE(theirs.converged);
    EXPECT_LE(theirs.residual, 1.1e-5);
    if (ranks() == 1)
      EXPECT_EQ(theirs.iterations, ours.iterations) << name;
    else
      EXPECT_GE(theirs.iterations, ours.iterations / 2) << name;
  }
}

} // namespace
} // namespace ainvil
