// SPDX-License-Identifier: BSD-3-Clause
/// Every method on the diagonal blocks of the ranks, against the library without Tpetra.
#include "precond/tpetra/OwnBlocks.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Factory.hpp"
#include "KokkosObservers.hpp"

#include <Teuchos_TimeMonitor.hpp>

#include <algorithm>

namespace ainvil {
namespace {

using namespace test;

/// M^-1 x by the library alone.
std::vector<double> expected(const std::string& specification, const HostBsr& a,
                             const std::vector<double>& x, Trans trans = Trans::No) {
  const auto m = createPreconditioner<double, Device>(specification);
  setUp(*m, a);
  const auto y = poisoned(x.size(), 1);
  m->apply(Exec(), toDevice(x, x.size(), 1), y, trans);
  return toHost(y);
}

struct Case {
  const char* specification;
  int block_size;
  bool spd;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.specification;
}

/// What an ILU by levels, a pattern power or a factor column does depends on nothing outside of the
/// rank's block, so that M^-1 of the matrix without couplings between ranks must be the same.
class EachMethod : public ::testing::TestWithParam<Case> {
protected:
  HostBsr matrix(std::uint64_t seed) const {
    return matrixToSpread(GetParam().spd, GetParam().block_size, seed);
  }
  /// The name for create(), which takes fsai for that over all ranks.
  std::string name() const {
    const std::string text = GetParam().specification;
    return text.compare(0, 4, "fsai") == 0 ? "local-" + text : text;
  }
};

TEST_P(EachMethod, IsThatOfTheRanksBlocks) {
  const HostBsr a = matrix(5);
  const size_t n = a.numPointRows();
  const std::vector<double> x = randomVector(n, 6);
  for (const Spread spread : {Spread::Parts, Spread::LastEmpty, Spread::Cyclic}) {
    const HostBsr own = ownBlocks(a, owners(a.numRows(), spread));
    for (const Teuchos::ETransp mode : {Teuchos::NO_TRANS, Teuchos::TRANS}) {
      const auto y = expected(GetParam().specification, own, x,
                              mode == Teuchos::TRANS ? Trans::Yes : Trans::No);
      ParameterList blocks;
      blocks.set("block: size", a.block_size);
      expectNear(applied(*made(name(), crsMatrix(a, spread), blocks), x, mode), y, 1e-11);
      expectNear(applied(*made(name(), blockMatrix(a, spread)), x, mode), y, 1e-11);
    }
  }
}

TEST_P(EachMethod, NewValuesEqualAFreshBuild) {
  expectNewValuesEqualAFreshBuild(name(), matrix(5), matrix(6), Spread::Parts);
}

INSTANTIATE_TEST_SUITE_P(
    Methods, EachMethod,
    ::testing::Values(
        Case{"none", 1, false}, Case{"jacobi", 3, false}, Case{"ilu", 1, false},
        Case{"ilu", 3, false}, Case{"ilu:level=1,solve=isai,power=2,relax=1", 3, false},
        Case{"ilu:solve=jacobi,sweeps=4", 2, false},
        Case{"ilu:match=product,reorder=rcm", 2, false},
        Case{"ilu:factorization=ilut,drop=0", 1, false},
        Case{"ilu:factorization=ilut,drop=0,search=parallel", 3, false}, Case{"ic", 2, true},
        Case{"ic:level=1,solve=isai", 1, true}, Case{"ic:factorization=ict,drop=0", 1, true},
        Case{"fsai:tau=0", 1, true}, Case{"fsai:tau=0,power=1,filter=0.1", 2, true},
        Case{"spai:power=2", 2, false}, Case{"ainv:drop=0.05", 1, true},
        Case{"ainv:symmetric=no,drop=0.01", 1, false}, Case{"ainv:blocks=yes,drop=0.05", 3, true}));

/// What the rank prints.
std::string described(const TpetraPreconditioner& m, Teuchos::EVerbosityLevel verbosity) {
  std::ostringstream text;
  Teuchos::FancyOStream out(Teuchos::rcpFromRef(text));
  m.describe(out, verbosity);
  return text.str();
}

TEST(Describe, TellsMoreTheMoreIsAskedFor) {
  const auto m =
      made("ilu:solve=isai", crsMatrix(matrixOn(randomPattern(71, 5, 31), 1, 31), Spread::Parts));
  applied(*m, randomVector(71, 1));
  EXPECT_EQ(described(*m, Teuchos::VERB_NONE), "");
  const bool first = world()->getRank() == 0;
  EXPECT_EQ(described(*m, Teuchos::VERB_DEFAULT), first ? m->description() + "\n" : "");
  const auto says = [&](Teuchos::EVerbosityLevel verbosity, const char* text) {
    return described(*m, verbosity).find(text) != std::string::npos;
  };
  EXPECT_EQ(says(Teuchos::VERB_MEDIUM, "Apply: {calls: 1, "), first);
  EXPECT_FALSE(says(Teuchos::VERB_MEDIUM, "Seconds of "));
  EXPECT_EQ(says(Teuchos::VERB_HIGH, "Seconds of extract: "), first);
}

TEST(TimeMonitor, HasTheCallsOfAMethod) {
  const auto calls = [](const char* phase) {
    return Teuchos::TimeMonitor::getNewCounter(message("Ainvil ainv: ", phase))->numCalls();
  };
  const int initialized = calls("initialize"), computed = calls("compute"),
            applications = calls("apply");
  const auto a = crsMatrix(matrixOn(randomPattern(71, 5, 31), 1, 31), Spread::Parts);
  const auto m = made("ainv:symmetric=no", a);
  m->compute();
  applied(*m, randomVector(71, 1));
  EXPECT_EQ(calls("initialize"), initialized + 1);
  EXPECT_EQ(calls("compute"), computed + 2);
  EXPECT_EQ(calls("apply"), applications + 1);
}

/// Only where it is asked for: before the clock starts, and before it stops.
TEST(TimerForApply, WaitsForTheWork) {
  const auto a = crsMatrix(matrixOn(randomPattern(71, 5, 31), 1, 31), Spread::Parts);
  ParameterList list;
  const auto m = made("jacobi", a);
  const auto waits = [&] {
    const auto x = vectorOn(m->getDomainMap(), randomVector(71, 1));
    TpetraVector y(m->getRangeMap());
    const InstanceRecorder seen;
    m->apply(*x, y);
    const auto& fences = seen.fences();
    return std::count_if(fences.begin(), fences.end(), [](const ToolEvent& fence) {
      return fence.label == "Ainvil::tpetra[timer for apply]";
    });
  };
  EXPECT_EQ(waits(), 0);
  list.set("timer for apply", true);
  m->setParameters(list);
  EXPECT_TRUE(m->isComputed()); // changes no preconditioner
  constexpr int first_that_tells_of_fences = 30500;
  EXPECT_EQ(waits(), KOKKOS_VERSION < first_that_tells_of_fences ? 0 : 2);
  EXPECT_GT(m->getApplyTime(), 0);
  list.set("timer for apply", "yes");
  EXPECT_THROW(m->setParameters(list), Teuchos::Exceptions::InvalidParameterType);
}

} // namespace
} // namespace ainvil
