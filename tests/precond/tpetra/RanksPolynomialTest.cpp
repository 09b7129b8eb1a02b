// SPDX-License-Identifier: BSD-3-Clause
/// Polynomials in the matrix of all ranks, against that of the matrix on one.
#include "precond/tpetra/OwnBlocks.hpp"
#include "solvers/tpetra/MpiCalls.hpp"

#include "Ainvil_Factory.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "polynomial/Ainvil_ResidualPolynomial.hpp"

#include <Ifpack2_DiagonalFilter.hpp>

#include <algorithm>

namespace ainvil {
namespace {

using namespace test;

/// Block rows of all ranks in the order in which the ranks have them.
std::vector<Ordinal> orderOfRanks(Ordinal n, Spread spread) {
  const std::vector<int> owner = owners(n, spread);
  std::vector<Ordinal> order(n);
  for (Ordinal i = 0; i < n; ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](Ordinal i, Ordinal j) { return owner[i] < owner[j]; });
  return order;
}

/// Row and column i of the result are row and column order[i] of `a`.
HostBsr inOrder(const HostBsr& a, const std::vector<Ordinal>& order) {
  std::vector<Ordinal> place(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    place[order[i]] = static_cast<Ordinal>(i);
  Pattern pattern(order.size());
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      pattern[place[i]].insert(place[a.graph.entries(e)]);
  const HostBsr result = matrixOn(pattern, a.block_size, 1);
  const Offset bs2 = a.block_size * a.block_size;
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
      const Ordinal row = place[i];
      const Ordinal* const first = result.graph.entries.data() + result.graph.row_map(row);
      const Ordinal* const last = result.graph.entries.data() + result.graph.row_map(row + 1);
      const Offset to = result.graph.row_map(row) +
                        (std::lower_bound(first, last, place[a.graph.entries(e)]) - first);
      std::copy(a.values.data() + e * bs2, a.values.data() + (e + 1) * bs2,
                result.values.data() + to * bs2);
    }
  return result;
}

std::vector<double> inOrder(const std::vector<double>& x, const std::vector<Ordinal>& order,
                            int block_size, bool back = false) {
  std::vector<double> result(x.size());
  for (size_t i = 0; i < order.size(); ++i)
    for (int k = 0; k < block_size; ++k) {
      const size_t there = size_t(order[i]) * block_size + k, here = i * block_size + k;
      result[back ? there : here] = x[back ? here : there];
    }
  return result;
}

/// M^-1 p(A M^-1) on one process, with M^-1 of another matrix.
struct OnOneProcess {
  PreconditionerPtr<double, Device> m;
  ResidualPolynomial<double, Device> polynomial;

  OnOneProcess(const std::string& method, const PolynomialParameters& parameters, const HostBsr& a,
               const HostBsr& of_method)
      : m(createPreconditioner<double, Device>(method)), polynomial(parameters) {
    setUp(*m, of_method);
    const auto on_device = copyTo<Device>(a);
    polynomial.initialize(Exec(), on_device);
    polynomial.update(Exec(), on_device);
    PhaseTimes phases;
    polynomial.findRoots(Exec(), *m, phases);
  }

  std::vector<double> apply(const std::vector<double>& x, Trans trans) const {
    const auto y = poisoned(x.size(), 1);
    polynomial.apply(Exec(), *m, toDevice(x, x.size(), 1), y, trans);
    return toHost(y);
  }
};

struct Case {
  const char* method;
  PolynomialParameters polynomial;
  int block_size;
  bool spd;
  bool over_ranks = false; ///< M^-1 knows no ranks, but the order of the rows

  std::string name() const {
    const char* between = std::string(method).find(':') == std::string::npos ? ":" : ",";
    const char* storage = polynomial.storage == Storage::Float ? ",poly-storage=float" : "";
    return message(method, between, "poly=", polynomial.degree, storage);
  }
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name();
}

class RanksPolynomial : public ::testing::TestWithParam<Case> {
protected:
  HostBsr matrix(std::uint64_t seed) const {
    return matrixToSpread(GetParam().spd, GetParam().block_size, seed);
  }
  std::vector<Spread> spreads() const {
    if (GetParam().over_ranks)
      return {Spread::Parts, Spread::LastEmpty};
    return {Spread::Parts, Spread::LastEmpty, Spread::Cyclic};
  }
};

TEST_P(RanksPolynomial, IsThatOfTheWholeMatrix) {
  const Case& c = GetParam();
  const HostBsr a = matrix(5);
  const std::vector<double> x = randomVector(a.numPointRows(), 6);
  const double tolerance = c.polynomial.storage == Storage::Native ? 1e-10 : 1e-5;
  for (const Spread spread : spreads()) {
    const auto order = orderOfRanks(a.numRows(), spread);
    const HostBsr of_method = c.over_ranks ? a : ownBlocks(a, owners(a.numRows(), spread));
    const OnOneProcess whole(c.method, c.polynomial, inOrder(a, order), inOrder(of_method, order));
    ASSERT_GT(whole.polynomial.degree(), 1);
    ParameterList blocks;
    blocks.set("block: size", c.block_size);
    const auto points = made(c.name(), crsMatrix(a, spread), blocks);
    for (const Teuchos::ETransp mode : {Teuchos::NO_TRANS, Teuchos::TRANS}) {
      const auto y = inOrder(whole.apply(inOrder(x, order, c.block_size),
                                         mode == Teuchos::TRANS ? Trans::Yes : Trans::No),
                             order, c.block_size, true);
      expectNear(applied(*points, x, mode), y, tolerance);
      if (!c.over_ranks)
        expectNear(applied(*made(c.name(), blockMatrix(a, spread)), x, mode), y, tolerance);
    }
  }
}

TEST_P(RanksPolynomial, NewValuesEqualAFreshBuild) {
  expectNewValuesEqualAFreshBuild(GetParam().name(), matrix(5), matrix(6), Spread::Cyclic);
}

INSTANTIATE_TEST_SUITE_P(Methods, RanksPolynomial,
                         ::testing::Values(Case{"none", {3}, 2, false},
                                           Case{"jacobi", {4}, 3, false},
                                           Case{"ilu", {5}, 1, false},
                                           Case{"ilu:solve=isai", {4}, 2, false},
                                           Case{"jacobi", {5}, 1, true}, Case{"ic", {4}, 2, true},
                                           Case{"jacobi", {4, Storage::Float}, 3, false},
                                           Case{"fsai:tau=0", {5}, 1, true, true}));

/// Each right-hand side alone, with factors, and where Y is X.
void expectColumnsAndFactors(const TpetraPreconditioner& m, Teuchos::ETransp mode) {
  const auto map = m.getDomainMap();
  TpetraVectors x(map, 3), y(map, 3), expected(map, 3);
  x.randomize(-1, 1);
  y.randomize(-1, 1);
  for (size_t j = 0; j < 3; ++j)
    m.apply(*x.getVector(j), *expected.getVectorNonConst(j), mode);
  const auto expectLikeExpected = [&](const TpetraVectors& got) {
    TpetraVectors difference(got, Teuchos::Copy);
    difference.update(-1, expected, 1);
    std::vector<double> sizes(3);
    difference.norm2(Teuchos::ArrayView<double>(sizes));
    for (const double size : sizes)
      EXPECT_LT(size, 1e-12);
  };
  TpetraVectors z(map, 3);
  z.putScalar(std::numeric_limits<double>::quiet_NaN());
  m.apply(x, z, mode);
  expectLikeExpected(z);
  TpetraVectors same(x, Teuchos::Copy);
  m.apply(same, same, mode);
  expectLikeExpected(same);
  TpetraVectors sum(y, Teuchos::Copy);
  m.apply(x, sum, mode, 2, -0.5);
  expected.update(-0.5, y, 2);
  expectLikeExpected(sum);
}

TEST(RanksPolynomialUse, ColumnsAndFactors) {
  const HostBsr a = matrixOn(randomPattern(61, 5, 71), 2, 5);
  for (const Teuchos::ETransp mode : {Teuchos::NO_TRANS, Teuchos::TRANS}) {
    expectColumnsAndFactors(*made("ilu:poly=5", crsMatrix(a, Spread::Parts)), mode);
    expectColumnsAndFactors(*made("ilu:poly=5", blockMatrix(a, Spread::LastEmpty)), mode);
  }
  const HostBsr spd = spdMatrixOn(symmetricPattern(61, 4, 71), 1, 5);
  expectColumnsAndFactors(*made("fsai:poly=3", crsMatrix(spd, Spread::Cyclic)), Teuchos::NO_TRANS);
}

/// On the same graph values alone are new; on another one all is.
TEST(RanksPolynomialUse, OfAnotherMatrix) {
  const HostBsr a = matrixOn(randomPattern(61, 5, 71), 1, 5);
  const auto first = crsMatrix(a, Spread::Parts);
  const auto same_graph = rcp(new TpetraCrs(first->getCrsGraph()));
  Kokkos::deep_copy(same_graph->getLocalMatrixDevice().values,
                    crsMatrix(matrixOn(randomPattern(61, 5, 71), 1, 6), Spread::Parts)
                        ->getLocalMatrixDevice()
                        .values);
  same_graph->fillComplete(first->getDomainMap(), first->getRangeMap());
  const auto other = crsMatrix(matrixOn(randomPattern(47, 4, 72), 1, 7), Spread::Cyclic);
  const auto m = rcp(new tpetra::BlockJacobi<TpetraRow>(Teuchos::null, "ilu:poly=4"));
  int initialized = 0;
  for (const auto& matrix : {RCP<const TpetraRow>(first), RCP<const TpetraRow>(same_graph),
                             RCP<const TpetraRow>(other)}) {
    m->setMatrix(matrix);
    m->compute();
    initialized += matrix.getRawPtr() == same_graph.getRawPtr() ? 0 : 1;
    EXPECT_EQ(m->getNumInitialize(), initialized);
    const auto x = randomVector(matrix->getGlobalNumRows(), 7);
    EXPECT_EQ(applied(*m, x), applied(*made("ilu:poly=4", matrix), x));
  }
}

TEST(RanksPolynomialUse, ReportsWhatAnApplicationReads) {
  const HostBsr a = spdMatrixOn(symmetricPattern(61, 4, 71), 1, 5);
  const auto m = made("jacobi:poly=3", crsMatrix(a, Spread::Parts));
  const auto& own = dynamic_cast<const tpetra::Preconditioner<TpetraRow>&>(*m);
  const Report& report = own.localReport();
  const long long here = report.factor_entries;
  long long everywhere = 0;
  Teuchos::reduceAll(*world(), Teuchos::REDUCE_SUM, here, Teuchos::outArg(everywhere));
  EXPECT_EQ(everywhere, 3 * a.numRows() + 2 * a.numScalars());
  EXPECT_GT(report.factor_bytes, 8 * here);
  EXPECT_NE(report.notes.find("poly=3, leaves "), std::string::npos) << report.notes;
  const auto& phases = report.phases.phases();
  for (const char* name : {"extract", "gather", "arnoldi", "roots"})
    EXPECT_TRUE(std::any_of(phases.begin(), phases.end(), [&](const auto& phase) {
      return phase.first == name;
    })) << name;
}

/// With auto there is a race on each rank, for a method or a polynomial that sends no messages.
TEST(RanksPolynomialUse, AutoIsTheRanksOwn) {
  const auto a = crsMatrix(makeProblem("laplace7:6x6x6").matrix, Spread::Parts);
  const auto m = made("jacobi:poly=auto", a);
  TpetraVector x(a->getDomainMap()), y(a->getRangeMap());
  x.putScalar(1);
  const int before = mpiCalls().sends;
  m->apply(x, y);
  EXPECT_EQ(mpiCalls().sends, before);
  EXPECT_GT(y.norm2(), 0);
  const Report& report = dynamic_cast<const tpetra::Preconditioner<TpetraRow>&>(*m).localReport();
  EXPECT_NE(report.notes.find("chose "), std::string::npos) << report.notes;
  EXPECT_THROW(tpetra::create("fsai:poly=auto", a)->initialize(), std::runtime_error);
}

/// The products of other matrices than Tpetra's own are not known row by row on the device.
TEST(RanksPolynomialUse, OfOtherMatricesIsTheRanksOwn) {
  const auto a = crsMatrix(matrixOn(randomPattern(61, 5, 71), 1, 5), Spread::LastEmpty);
  const RCP<const TpetraRow> same = rcp(new Ifpack2::DiagonalFilter<TpetraRow>(a, 0, 1));
  const auto m = made("ilu:poly=4", same);
  const auto x = vectorOn(a->getDomainMap(), randomVector(61, 6));
  TpetraVector y(a->getRangeMap()), of_rank(a->getRangeMap());
  m->apply(*x, y);
  tpetra::LocalBlock<double, int, tpetra::Map::global_ordinal_type, tpetra::Map::node_type> block(
      Exec(), *a);
  const auto p = createPreconditioner<double, Device>("ilu:poly=4", block.get(Exec(), *a));
  p->apply(Exec(), x->getLocalViewDevice(Tpetra::Access::ReadOnly),
           of_rank.getLocalViewDevice(Tpetra::Access::OverwriteAll));
  of_rank.update(-1, y, 1);
  EXPECT_LT(of_rank.norm2(), 1e-12 * y.norm2());
}

/// What compute() did before does not count.
TEST(RanksPolynomialUse, AnotherDegreeAndNone) {
  const auto a = crsMatrix(matrixOn(randomPattern(61, 5, 71), 1, 5), Spread::Parts);
  const auto x = randomVector(61, 6);
  const auto m = made("ilu:poly=5", a);
  ParameterList list;
  for (const int degree : {3, 0}) {
    list.set("poly: degree", degree);
    m->setParameters(list);
    EXPECT_FALSE(m->isInitialized());
    m->compute();
    EXPECT_EQ(applied(*m, x), applied(*made(message("ilu:poly=", degree), a), x));
  }
}

/// Entries in columns of other ranks are the polynomial's affair alone.
TEST(RanksPolynomialUse, ValuesThatAreNotFiniteAreRefused) {
  const HostBsr a = spdMatrixOn(symmetricPattern(61, 4, 71), 1, 5);
  for (Offset e = a.graph.row_map(0); e < a.graph.row_map(1); ++e)
    if (a.graph.entries(e) > 31)
      a.values(e) = std::numeric_limits<double>::infinity();
  const auto m = tpetra::create("jacobi:poly=3", crsMatrix(a, Spread::Parts));
  m->initialize();
  EXPECT_THROW(m->compute(), Error);
  EXPECT_FALSE(m->isComputed());
}

/// When an application throws, and how many there have been.
struct Failure {
  int at = 0; ///< 1 the next one; 0: none
  int applications = 0;
};

/// M^-1 = I, until it fails.
class Failing final : public Preconditioner<double, Device> {
public:
  explicit Failing(Failure& failure) : failure_(failure) {}
  std::string description() const override { return "failing"; }

protected:
  void doInitialize(const Exec&, const Matrix&) override {}
  void doCompute(const Exec&, const Matrix&) override {}
  void doApply(const Exec& exec, MultiVectorArg<const double, Device> x,
               MultiVectorArg<double, Device> y, Trans) const override {
    ++failure_.applications;
    if (failure_.at > 0 && --failure_.at == 0)
      throw OutOfMemory("there is no more");
    axpby<double, Device>(exec, 1, x, 0, y);
  }

private:
  Failure& failure_;
};

class FailingJacobi final : public tpetra::BlockJacobi<TpetraRow> {
public:
  using BlockJacobi::BlockJacobi;
  mutable Failure failure;
  bool has_room = true;

protected:
  bool isLocal() const override { return false; } // createLocal() takes no polynomial
  void reserve(const execution_space&, size_t) const override {
    if (!has_room)
      throw OutOfMemory("there is no room");
  }
  PreconditionerPtr<double, Device> createLocal() const override {
    return std::make_unique<Failing>(failure);
  }
};

/// One rank fails in the midst of products that all have a part in, wherever: nobody waits for
/// ever.
TEST(RanksPolynomialUse, RanksEndTogether) {
  const auto a = crsMatrix(makeProblem("laplace7:6x6x6").matrix, Spread::Parts);
  FailingJacobi m(a, "none:poly=3");
  m.initialize();
  const bool is_last = world()->getRank() == ranks() - 1;
  m.compute();
  const int applications = m.failure.applications;
  EXPECT_GT(applications, 10);
  for (int k = 1; k <= applications; ++k) {
    m.failure.at = is_last ? k : 0;
    EXPECT_THROW(m.compute(), OutOfMemory) << k;
    EXPECT_FALSE(m.isComputed());
  }
  m.failure.at = 0;
  m.compute();
  const auto x = vectorOn(a->getDomainMap(), randomVector(216, 3));
  TpetraVector y(a->getRangeMap());
  for (int k = 1; k <= 3; ++k) {
    m.failure.at = is_last ? k : 0;
    if (is_last)
      EXPECT_THROW(m.apply(*x, y), OutOfMemory);
    else
      m.apply(*x, y);
  }
  m.apply(*x, y);
  EXPECT_GT(y.norm2(), 0);
}

/// Room for more columns is there on all ranks, or none goes on.
TEST(RanksPolynomialUse, RanksReserveTogether) {
  const auto a = crsMatrix(makeProblem("laplace7:6x6x6").matrix, Spread::Parts);
  FailingJacobi m(a, "none:poly=3");
  m.compute();
  TpetraVectors x(a->getDomainMap(), 3), y(a->getRangeMap(), 3);
  x.putScalar(1);
  m.has_room = world()->getRank() < ranks() - 1;
  EXPECT_THROW(m.apply(x, y), OutOfMemory);
  EXPECT_THROW(m.apply(*x.getVector(0), *y.getVectorNonConst(0)), OutOfMemory); // anew
  m.has_room = true;
  m.apply(*x.getVector(0), *y.getVectorNonConst(0));
  m.apply(x, y);
  EXPECT_GT(y.getVector(2)->norm2(), 0);
  m.has_room = world()->getRank() > 0;
  EXPECT_THROW(m.compute(), OutOfMemory);
}

} // namespace
} // namespace ainvil
