// SPDX-License-Identifier: BSD-3-Clause
/// Every method on the diagonal blocks of the ranks, against the library without Tpetra.
#include "precond/tpetra/TpetraSupport.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"

#include <climits>
#include <limits>

namespace ainvil {
namespace {

using namespace test;

class BlockJacobi : public ::testing::Test {
protected:
  const HostBsr a_ = matrixOn(randomPattern(57, 5, 81), 2, 81);
  const RCP<const TpetraCrs> crs_ = crsMatrix(a_, Spread::Parts);
};

TEST_F(BlockJacobi, AlphaBetaAndNaN) {
  const auto m = made("ilu", crs_);
  const auto x = vectorOn(m->getDomainMap(), randomVector(114, 1));
  const auto y = vectorOn(m->getRangeMap(), randomVector(114, 2));
  const auto product = applied(*m, randomVector(114, 1));
  m->apply(*x, *y, Teuchos::NO_TRANS, 2.0, -0.5);
  std::vector<double> sum = randomVector(114, 2);
  for (size_t i = 0; i < sum.size(); ++i)
    sum[i] = 2 * product[i] - 0.5 * sum[i];
  expectNear(wholeVector(*y), sum, 1e-13);
  y->putScalar(std::numeric_limits<double>::quiet_NaN());
  m->apply(*x, *y, Teuchos::NO_TRANS, 1.0, 0.0);
  expectNear(wholeVector(*y), product, 1e-15);
}

TEST_F(BlockJacobi, ColumnsEqualALoopAndMayHaveGapsOrBeTheSame) {
  const auto m = made("ilu:solve=isai", crs_);
  const auto map = m->getDomainMap();
  TpetraVectors x(map, 5), y(map, 5);
  x.randomize();
  m->apply(x, y);
  for (size_t c = 0; c < 5; ++c) {
    TpetraVector column(map);
    m->apply(*x.getVector(c), column);
    EXPECT_EQ(wholeVector(column), wholeVector(*y.getVector(c)));
  }
  const std::vector<size_t> some = {3, 0, 4};
  const Teuchos::ArrayView<const size_t> columns(some.data(), some.size());
  TpetraVectors gaps(map, 5);
  gaps.putScalar(7);
  m->apply(*x.subView(columns), *gaps.subViewNonConst(columns));
  for (const size_t c : some)
    EXPECT_EQ(wholeVector(*gaps.getVector(c)), wholeVector(*y.getVector(c)));
  EXPECT_EQ(wholeVector(*gaps.getVector(1)), std::vector<double>(114, 7.0));
  m->apply(x, x);
  EXPECT_EQ(wholeVector(*x.getVector(2)), wholeVector(*y.getVector(2)));
}

/// A polynomial in A reads X again after it has written to Y, which may be X.
TEST_F(BlockJacobi, ResultsMayOverwriteWhatIsReadAgain) {
  const auto m = made("chebyshev:degree=3", crs_);
  TpetraVector x(m->getDomainMap()), y(m->getRangeMap());
  x.randomize();
  m->apply(x, y);
  m->apply(x, x);
  EXPECT_EQ(wholeVector(x), wholeVector(y));
}

TEST_F(BlockJacobi, TransposeIdentity) {
  const auto m = made("ilu:level=1,solve=isai", crs_);
  EXPECT_TRUE(m->hasTransposeApply());
  const auto x = randomVector(114, 3), y = randomVector(114, 4);
  const auto mx = applied(*m, x), my = applied(*m, y, Teuchos::TRANS);
  double left = 0, right = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    left += mx[i] * y[i];
    right += x[i] * my[i];
  }
  EXPECT_NEAR(left, right, 1e-12 * std::fabs(left));
}

TEST_F(BlockJacobi, CountsAndDescribes) {
  const auto m = tpetra::create<TpetraCrs>("ILU:solve=isai", crs_);
  EXPECT_FALSE(m->isInitialized());
  EXPECT_NE(m->description().find("Initialized: false"), std::string::npos) << m->description();
  m->compute(); // initializes
  EXPECT_TRUE(m->isInitialized() && m->isComputed());
  const auto x = vectorOn(m->getDomainMap(), randomVector(114, 1));
  TpetraVector y(m->getRangeMap());
  m->apply(*x, y);
  m->apply(*x, y);
  EXPECT_EQ(m->getNumInitialize(), 1);
  EXPECT_EQ(m->getNumCompute(), 1);
  EXPECT_EQ(m->getNumApply(), 2);
  EXPECT_GT(m->getInitializeTime(), 0);
  EXPECT_GT(m->getComputeTime(), 0);
  EXPECT_GT(m->getApplyTime(), 0);
  EXPECT_EQ(m->description(),
            message("\"ainvil::tpetra::Preconditioner\": {Initialized: true, Computed: true, "
                    "Method: \"ilu:solve=isai\", Varies: false, Global matrix dimensions: [114, "
                    "114], Ranks: ",
                    ranks(), "}"));
  EXPECT_EQ(m->getMatrix().getRawPtr(), crs_.getRawPtr());
}

TEST_F(BlockJacobi, DescribesItsBlocks) {
  const auto m = tpetra::create("ilu", crs_);
  EXPECT_EQ(m->description().find("Block size"), std::string::npos) << m->description();
  for (const int size : {1, 2, 3}) {
    ParameterList list;
    list.set("block: size", size);
    m->setParameters(list);
    EXPECT_NE(m->description().find(message(", Block size: ", size, ",")), std::string::npos)
        << m->description();
  }
}

/// Times are of all calls, phases of the last set-up.
TEST_F(BlockJacobi, TimesAddUpAndPhasesStartAnew) {
  const auto m = tpetra::create("ilu", crs_);
  const auto& ours = dynamic_cast<const tpetra::Preconditioner<TpetraRow>&>(*m);
  const auto names = [&] {
    std::vector<std::string> result;
    for (const auto& phase : ours.localReport().phases.phases())
      result.push_back(phase.first);
    return result;
  };
  EXPECT_TRUE(names().empty());
  m->initialize();
  const auto of_initialize = names();
  EXPECT_FALSE(of_initialize.empty());
  double initialize_seconds = 0, compute_seconds = 0, apply_seconds = 0;
  TpetraVector x(m->getDomainMap()), y(m->getRangeMap());
  for (int call = 0; call < 6; ++call) {
    m->initialize();
    EXPECT_EQ(names(), of_initialize);
    m->compute();
    EXPECT_GT(names().size(), of_initialize.size());
    m->apply(x, y);
    EXPECT_GT(m->getInitializeTime(), initialize_seconds);
    EXPECT_GT(m->getComputeTime(), compute_seconds);
    EXPECT_GT(m->getApplyTime(), apply_seconds);
    initialize_seconds = m->getInitializeTime();
    compute_seconds = m->getComputeTime();
    apply_seconds = m->getApplyTime();
  }
}

/// Whatever has begun anew, or failed, leaves nothing to apply.
TEST_F(BlockJacobi, NothingIsComputedAfterAnotherSetUpHasBegun) {
  for (const char* name : {"ilu", "fsai"}) {
    SCOPED_TRACE(name);
    const auto a = tpetra::distribute(spdMatrixOn(diagonalPattern(8 * ranks()), 1, 3),
                                      rowMap(8 * ranks(), Spread::Parts));
    const auto m = made<TpetraCrs>(name, a);
    TpetraVector x(m->getDomainMap()), y(m->getRangeMap());
    m->apply(x, y);
    m->initialize();
    EXPECT_TRUE(m->isInitialized());
    EXPECT_FALSE(m->isComputed());
    EXPECT_THROW(m->apply(x, y), std::runtime_error);
    m->compute();
    EXPECT_TRUE(m->isComputed());
    a->resumeFill();
    a->setAllToScalar(0);
    EXPECT_THROW(m->compute(), std::runtime_error); // it is not fill complete
    a->fillComplete();
    EXPECT_THROW(m->compute(), Error); // zero pivots
    EXPECT_TRUE(m->isInitialized());
    EXPECT_FALSE(m->isComputed());
    EXPECT_THROW(m->apply(x, y), std::runtime_error);
  }
}

TEST_F(BlockJacobi, TellsWhetherItVaries) {
  const auto varies = [&](const std::string& name) {
    const auto m = tpetra::create<TpetraCrs>(name, crs_);
    const bool fixed = dynamic_cast<const tpetra::Preconditioner<TpetraRow>&>(*m).isFixed();
    const char* word = fixed ? "Varies: false" : "Varies: true";
    EXPECT_NE(m->description().find(word), std::string::npos) << m->description();
    return !fixed;
  };
  EXPECT_TRUE(varies("ilu:solve=async"));
  EXPECT_FALSE(varies("ilu:solve=jacobi"));
  EXPECT_FALSE(varies("fsai"));
  const auto m = tpetra::create<TpetraRow>("ilu", Teuchos::null);
  ParameterList list;
  list.set("trisolver: type", "async");
  m->setParameters(list);
  EXPECT_FALSE(dynamic_cast<const tpetra::Preconditioner<TpetraRow>&>(*m).isFixed());
}

/// Belos does not ask: who takes asynchronous sweeps has to say that the solver is a flexible one.
TEST_F(BlockJacobi, MayVaryOnlyIfTheListSaysSo) {
  const auto m = tpetra::create<TpetraCrs>("ilu:solve=async", crs_);
  EXPECT_THROW(m->initialize(), Teuchos::Exceptions::InvalidParameterValue);
  EXPECT_THROW(m->compute(), Teuchos::Exceptions::InvalidParameterValue);
  EXPECT_FALSE(m->isInitialized());
  ParameterList list;
  list.set("Allow Varying", true);
  m->setParameters(list);
  EXPECT_NO_THROW(m->compute());
  list.set("Allow Varying", "yes");
  EXPECT_THROW(m->setParameters(list), Teuchos::Exceptions::InvalidParameterType);
}

TEST_F(BlockJacobi, AnotherMatrixHasToBeInitialized) {
  const auto m = made("ilu", crs_);
  const HostBsr b = matrixOn(randomPattern(40, 5, 82), 1, 82);
  const auto other = crsMatrix(b, Spread::Parts);
  auto& changeable = dynamic_cast<Ifpack2::Details::CanChangeMatrix<TpetraRow>&>(*m);
  changeable.setMatrix(crs_);
  EXPECT_TRUE(m->isComputed());
  changeable.setMatrix(other);
  EXPECT_FALSE(m->isInitialized() || m->isComputed());
  m->initialize();
  m->compute();
  const auto x = randomVector(40, 1);
  EXPECT_EQ(applied(*m, x), applied(*made("ilu", other), x));
  changeable.setMatrix(Teuchos::null);
  EXPECT_THROW(m->initialize(), std::runtime_error);
}

/// New values on the graph that is there: only they are missing.
TEST_F(BlockJacobi, AnotherMatrixOnTheSameGraphHasToBeComputed) {
  const auto m = made("ilu", crs_);
  const auto other = rcp(new TpetraCrs(crs_->getCrsGraph()));
  Kokkos::deep_copy(other->getLocalMatrixDevice().values, crs_->getLocalMatrixDevice().values);
  other->fillComplete();
  other->resumeFill();
  other->scale(4);
  other->fillComplete();
  dynamic_cast<Ifpack2::Details::CanChangeMatrix<TpetraRow>&>(*m).setMatrix(other);
  EXPECT_TRUE(m->isInitialized());
  EXPECT_FALSE(m->isComputed());
  TpetraVector before(m->getDomainMap()), after(m->getRangeMap());
  EXPECT_THROW(m->apply(before, after), std::runtime_error);
  m->compute();
  EXPECT_EQ(m->getNumInitialize(), 1);
  const auto x = randomVector(114, 1);
  expectNear(applied(*m, x), applied(*made<TpetraCrs>("ilu", other), x), 1e-15);
}

/// What has not been initialized is not by another matrix on the same graph.
TEST_F(BlockJacobi, AnotherMatrixBeforeTheFirstHasBeenInitialized) {
  const auto m = tpetra::create<TpetraRow>("ilu", crs_);
  const auto other = rcp(new TpetraCrs(crs_->getCrsGraph()));
  Kokkos::deep_copy(other->getLocalMatrixDevice().values, crs_->getLocalMatrixDevice().values);
  other->fillComplete();
  dynamic_cast<Ifpack2::Details::CanChangeMatrix<TpetraRow>&>(*m).setMatrix(other);
  EXPECT_FALSE(m->isInitialized());
  m->compute();
  EXPECT_EQ(m->getNumInitialize(), 1);
  const auto x = randomVector(114, 1);
  EXPECT_EQ(applied(*m, x), applied(*made("ilu", crs_), x));
}

/// Maps that were right for the matrix before are not for the next.
TEST_F(BlockJacobi, MapsAreThoseOfTheMatrixOfNow) {
  const auto m = made("ilu", crs_);
  const auto equal = rcp(new tpetra::Map(*m->getDomainMap()));
  TpetraVector x(equal), y(equal);
  x.putScalar(1);
  m->apply(x, y);
  const auto smaller = crsMatrix(matrixOn(randomPattern(40, 5, 82), 1, 82), Spread::Parts);
  dynamic_cast<Ifpack2::Details::CanChangeMatrix<TpetraRow>&>(*m).setMatrix(smaller);
  m->compute();
  EXPECT_THROW(m->apply(x, y), std::runtime_error);
  TpetraVector x40(m->getDomainMap()), y40(m->getRangeMap());
  EXPECT_THROW(m->apply(x40, y), std::runtime_error);
  EXPECT_NO_THROW(m->apply(x40, y40));
}

/// As many rows on every rank, but others.
TEST_F(BlockJacobi, MapsOfEqualLengthAreToldApart) {
  const Ordinal n = 6 * ranks();
  const HostBsr a = matrixOn(randomPattern(n, 3, 83), 1, 83);
  const auto parts = crsMatrix(a, Spread::Parts), cyclic = crsMatrix(a, Spread::Cyclic);
  const auto m = made("jacobi", parts);
  TpetraVector x(rcp(new tpetra::Map(*m->getDomainMap()))), y(x.getMap());
  m->apply(x, y);
  dynamic_cast<Ifpack2::Details::CanChangeMatrix<TpetraRow>&>(*m).setMatrix(cyclic);
  m->compute();
  if (ranks() > 1) {
    EXPECT_THROW(m->apply(x, y), std::runtime_error);
  }

  std::vector<tpetra::Map::global_ordinal_type> backwards;
  for (int i = 6; i-- > 0;)
    backwards.push_back(6 * world()->getRank() + i);
  const auto map = rcp(new tpetra::Map(n, Teuchos::arrayViewFromVector(backwards), 0, world()));
  const auto diagonal = rcp(new TpetraCrs(map, 1));
  for (const auto index : backwards)
    diagonal->insertGlobalValues(index, Teuchos::tuple(index), Teuchos::tuple(1.0 + double(index)));
  diagonal->fillComplete();
  const auto on_backwards = made<TpetraCrs>("jacobi", diagonal);
  TpetraVector forwards(rcp(new tpetra::Map(n, 6, 0, world()))), good(map);
  EXPECT_THROW(on_backwards->apply(forwards, good), std::runtime_error);
  EXPECT_THROW(on_backwards->apply(good, forwards), std::runtime_error);
}

TEST_F(BlockJacobi, BlockSizeIsThatOfTheBlocks) {
  const auto blocks = blockMatrix(a_, Spread::Parts);
  for (const int size : {1, 2, 3}) {
    const auto m = tpetra::create("ilu", blocks);
    ParameterList list;
    list.set("block: size", size);
    m->setParameters(list);
    if (size == 2)
      EXPECT_NO_THROW(m->initialize());
    else
      EXPECT_THROW(m->initialize(), InvalidArgument) << size;
  }
}

TEST_F(BlockJacobi, BreakdownOnOneRankIsToldToAll) {
  const HostBsr a = matrixOn(diagonalPattern(16), 1, 3);
  a.values(15) = 0; // the last rank's
  const auto m = tpetra::create("ilu", crsMatrix(a, Spread::Parts));
  m->initialize();
  try {
    m->compute();
    FAIL() << "a zero pivot was accepted";
  } catch (const Error& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("breakdown"), std::string::npos) << text;
    if (ranks() > 1) {
      EXPECT_NE(text.find(message("rank ", ranks() - 1, " of ", ranks())), std::string::npos)
          << text;
    }
  }
  EXPECT_FALSE(m->isComputed());
  ParameterList list;
  list.set("breakdown: policy", "replace");
  m->setParameters(list);
  m->compute();
  EXPECT_TRUE(m->isComputed());
}

TEST_F(BlockJacobi, WrongUseIsRefused) {
  const auto m = tpetra::create("ilu", crs_);
  TpetraVector x(m->getDomainMap()), y(m->getRangeMap());
  EXPECT_THROW(m->apply(x, y), std::runtime_error); // before compute
  m->compute();
  TpetraVectors two(m->getRangeMap(), 2);
  try {
    m->apply(x, two);
    ADD_FAILURE() << "two columns were accepted for one";
  } catch (const std::runtime_error& error) {
    EXPECT_NE(std::string(error.what()).find("ainvil ilu: X has 1 columns, but Y has 2."),
              std::string::npos)
        << error.what();
  }
  TpetraVector longer(rcp(new tpetra::Map(114 + 2 * ranks(), 0, world())));
  std::vector<tpetra::Map::global_ordinal_type> reversed;
  for (int i = tpetra::compat::numLocalElements(*x.getMap()); i-- > 0;)
    reversed.push_back(x.getMap()->getGlobalElement(i));
  TpetraVector renumbered(
      rcp(new tpetra::Map(114, Teuchos::arrayViewFromVector(reversed), 0, world())));
  for (const auto* other : {&longer, &renumbered}) {
    EXPECT_THROW(m->apply(*other, y), std::runtime_error);
    EXPECT_THROW(m->apply(x, const_cast<TpetraVector&>(*other)), std::runtime_error);
  }

  const auto open = rcp(new TpetraCrs(crs_->getRowMap(), 3));
  EXPECT_THROW(tpetra::create<TpetraCrs>("ilu", open)->initialize(), std::runtime_error);

  const HostBsr no_diagonal = matrixOn(Pattern{{0, 1}, {0}, {2}, {3}}, 1, 4);
  EXPECT_THROW(tpetra::create("jacobi", crsMatrix(no_diagonal, Spread::Parts))->initialize(),
               Error);

  ParameterList list;
  list.set("block: size", 5); // 114 rows
  m->setParameters(list);
  EXPECT_FALSE(m->isInitialized());
  EXPECT_THROW(m->initialize(), Error);
}

TEST_F(BlockJacobi, DifferentDomainAndRangeMapsAreRefused) {
  const auto rows = rowMap(8, Spread::Parts), reversed = [&] {
    std::vector<int> backwards = owners(8, Spread::Parts);
    std::reverse(backwards.begin(), backwards.end());
    return tpetra::makeRowMap(world(), backwards);
  }();
  const auto a = rcp(new TpetraCrs(rows, 1));
  for (int i = 0; i < tpetra::compat::numLocalElements(*rows); ++i) {
    const auto index = rows->getGlobalElement(i);
    const double one = 1;
    a->insertGlobalValues(index, 1, &one, &index);
  }
  a->fillComplete(reversed, rows);
  const auto m = tpetra::create<TpetraCrs>("ilu", a);
  if (ranks() == 1)
    EXPECT_NO_THROW(m->initialize()); // the same map twice
  else
    EXPECT_THROW(m->initialize(), std::runtime_error);
}

TEST_F(BlockJacobi, RowsInAnotherOrderThanUnknownsAreRefused) {
  using Global = tpetra::Map::global_ordinal_type;
  const auto unknowns = rowMap(4 * ranks(), Spread::Parts);
  std::vector<Global> backwards;
  for (int i = 4; i-- > 0;)
    backwards.push_back(unknowns->getGlobalElement(i));
  const auto rows =
      rcp(new tpetra::Map(4 * ranks(), Teuchos::arrayViewFromVector(backwards), 0, world()));
  const auto a = rcp(new TpetraCrs(rows, 1));
  for (const Global index : backwards)
    a->insertGlobalValues(index, Teuchos::tuple(index), Teuchos::tuple(1.0 + double(index)));
  a->fillComplete(unknowns, unknowns);
  EXPECT_THROW(tpetra::create("jacobi", a)->initialize(), std::runtime_error);
}

TEST(Create, KnowsIfpack2sNames) {
  const auto a = crsMatrix(spdMatrixOn(symmetricPattern(40, 4, 9), 1, 9), Spread::Parts);
  const auto x = randomVector(40, 1);
  const auto ours = made("none", a);
  const auto theirs = made("RELAXATION", a);
  EXPECT_EQ(applied(*ours, x), x);
  EXPECT_NE(theirs->description().find("Ifpack2"), std::string::npos) << theirs->description();
  EXPECT_THROW(tpetra::create("NO SUCH METHOD", a), std::exception);
}

} // namespace
} // namespace ainvil
