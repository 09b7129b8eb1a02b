// SPDX-License-Identifier: BSD-3-Clause
/// What goes wrong on one rank only: all ranks are told, none waits for another.
#include "precond/tpetra/TpetraSupport.hpp"

#include "backend/Ainvil_Allocation.hpp"

#include <Teuchos_ParameterListExceptions.hpp>

#include <new>

namespace ainvil {
namespace {

using namespace test;
namespace Wrong = Teuchos::Exceptions;

bool isLastRank() {
  return world()->getRank() == ranks() - 1;
}

/// The exception that the last rank has thrown, on every rank.
template <class Exception, class Work>
void expectThrowOfLastRank(const std::string& part, const Work& work) {
  try {
    work();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Exception& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(part), std::string::npos) << text;
    if (ranks() > 1) {
      EXPECT_NE(text.find(message("rank ", ranks() - 1, " of ", ranks())), std::string::npos)
          << text;
    }
  }
}

class OnLastRank : public ::testing::Test {
protected:
  const HostBsr a_ = spdMatrixOn(symmetricPattern(61, 4, 17), 1, 17);
  const RCP<const TpetraCrs> crs_ = crsMatrix(a_, Spread::Parts);
};

TEST_F(OnLastRank, WrongParametersAreToldToAll) {
  const auto m = made("ilu", crs_);
  ParameterList value, name, type;
  if (isLastRank()) {
    value.set("fact: iluk level-of-fill", -1);
    name.set("fact: level", 1);
    type.set("fact: iluk level-of-fill", true);
  }
  expectThrowOfLastRank<Wrong::InvalidParameterValue>("level-of-fill",
                                                      [&] { m->setParameters(value); });
  expectThrowOfLastRank<Wrong::InvalidParameterName>("fact: level",
                                                     [&] { m->setParameters(name); });
  expectThrowOfLastRank<Wrong::InvalidParameterType>("must be an integer",
                                                     [&] { m->setParameters(type); });
  EXPECT_TRUE(m->isComputed());
}

TEST_F(OnLastRank, OtherParametersAreRefused) {
  if (ranks() == 1)
    return;
  for (const char* method : {"ilu", "fsai"}) {
    const auto m = made(method, crs_);
    ParameterList list;
    if (isLastRank())
      list.set("breakdown: policy", "replace");
    expectThrowOfLastRank<InvalidArgument>("give all ranks the same",
                                           [&] { m->setParameters(list); });
    EXPECT_TRUE(m->isComputed());
    expectThrowOfLastRank<InvalidArgument>("give all ranks the same", [&] {
      tpetra::create(isLastRank() ? message(method, ":storage=float") : method, crs_);
    });
  }
  const auto m = made("ilu", crs_);
  ParameterList blocks;
  if (isLastRank())
    blocks.set("block: size", 1);
  expectThrowOfLastRank<InvalidArgument>("in blocks of size 1", [&] { m->setParameters(blocks); });
  EXPECT_TRUE(m->isComputed());
  // Without a matrix ranks do not know of each other before initialize().
  const auto late = tpetra::create<TpetraRow>("ilu", Teuchos::null);
  ParameterList list;
  list.set("fact: iluk level-of-fill", isLastRank() ? 1 : 0);
  late->setParameters(list);
  dynamic_cast<Ifpack2::Details::CanChangeMatrix<TpetraRow>&>(*late).setMatrix(crs_);
  expectThrowOfLastRank<InvalidArgument>("give all ranks the same", [&] { late->initialize(); });
}

/// Else those that may vary would wait for the others, which refuse what varies.
TEST_F(OnLastRank, VaryingIsForAllOrForNone) {
  if (ranks() == 1)
    return;
  ParameterList list;
  list.set("Allow Varying", isLastRank());
  for (const char* method : {"ilu:solve=async", "ilu"}) {
    const auto m = tpetra::create(method, crs_);
    expectThrowOfLastRank<InvalidArgument>("\"Allow Varying\"", [&] { m->setParameters(list); });
    const auto late = tpetra::create<TpetraRow>(method, Teuchos::null);
    late->setParameters(list);
    dynamic_cast<Ifpack2::Details::CanChangeMatrix<TpetraRow>&>(*late).setMatrix(crs_);
    expectThrowOfLastRank<InvalidArgument>("\"Allow Varying\"", [&] { late->initialize(); });
  }
  const auto schwarz = tpetra::create("SCHWARZ", crs_);
  expectThrowOfLastRank<InvalidArgument>("\"Allow Varying\"",
                                         [&] { schwarz->setParameters(list); });
  list.set("schwarz: inner preconditioner name", "ilu:solve=async");
  expectThrowOfLastRank<InvalidArgument>("\"Allow Varying\"",
                                         [&] { schwarz->setParameters(list); });
}

/// Whether ours or Ifpack2's, and before anything of ours has changed.
TEST_F(OnLastRank, WrongParametersOfSchwarzAreToldToAll) {
  ParameterList good;
  good.set("schwarz: overlap level", 1);
  good.set("schwarz: inner preconditioner name", "ilu");
  const auto m = made("SCHWARZ", crs_, good);
  const auto x = randomVector(61, 5), before = applied(*m, x);
  const auto withInner = [&](const auto& set) {
    ParameterList list(good);
    if (isLastRank())
      set(list.sublist("schwarz: inner preconditioner parameters"));
    return list;
  };
  const ParameterList value = withInner(
                          [](ParameterList&inner) { inner.set("fact: iluk level-of-fill", -1); }),
                      name = withInner([](ParameterList&inner) { inner.set("fact: level", 1); });
  ParameterList varying(good), theirs(good);
  if (isLastRank()) {
    varying.set("Allow Varying", "yes");
    theirs.set("schwarz: overlap level", "two");
  }
  expectThrowOfLastRank<Wrong::InvalidParameterValue>("level-of-fill",
                                                      [&] { m->setParameters(value); });
  expectThrowOfLastRank<Wrong::InvalidParameterName>("fact: level",
                                                     [&] { m->setParameters(name); });
  expectThrowOfLastRank<Wrong::InvalidParameterType>("must be a bool",
                                                     [&] { m->setParameters(varying); });
  EXPECT_EQ(applied(*m, x), before);
  expectThrowOfLastRank<Wrong::InvalidParameterType>("schwarz: overlap level",
                                                     [&] { m->setParameters(theirs); });
  m->setParameters(good);
  m->initialize();
  m->compute();
  EXPECT_EQ(applied(*m, x), before);
}

TEST_F(OnLastRank, OtherParametersOfSchwarzAreRefused) {
  if (ranks() == 1)
    return;
  const auto listOf = [](const char* name, int overlap, const char* solve) {
    ParameterList list;
    list.set("schwarz: overlap level", overlap);
    list.set("schwarz: inner preconditioner name", name);
    if (solve != nullptr)
      list.sublist("schwarz: inner preconditioner parameters").set("trisolver: type", solve);
    return list;
  };
  const bool last = isLastRank();
  for (const ParameterList& list :
       {listOf(last ? "jacobi" : "ilu", 1, nullptr), listOf(last ? "RILUK" : "ilu", 1, nullptr),
        listOf("ilu", 1, last ? "isai" : "exact")})
    for (const bool with_matrix : {true, false}) {
      const auto m = with_matrix ? tpetra::create("SCHWARZ", crs_)
                                 : tpetra::create<TpetraCrs>("SCHWARZ", Teuchos::null);
      const auto set = [&] { m->setParameters(list); };
      if (!with_matrix) {
        set();
        dynamic_cast<Ifpack2::Details::CanChangeMatrix<TpetraRow>&>(*m).setMatrix(crs_);
      }
      expectThrowOfLastRank<InvalidArgument>("give all ranks the same",
                                             [&] { with_matrix ? set() : m->initialize(); });
    }
  const auto m = tpetra::create("SCHWARZ", crs_);
  m->setParameters(listOf("ilu", last ? 2 : 1, nullptr));
  expectThrowOfLastRank<InvalidArgument>("overlap 2", [&] { m->initialize(); });
}

/// X or Y whose map differs on the last rank alone, with as many indices.
TEST_F(OnLastRank, AnotherMapIsToldToAll) {
  std::vector<tpetra::Map::global_ordinal_type> indices;
  const auto& rows = *crs_->getRowMap();
  for (int i = 0; i < tpetra::compat::numLocalElements(rows); ++i)
    indices.push_back(rows.getGlobalElement(i));
  if (isLastRank())
    std::reverse(indices.begin(), indices.end());
  const auto map =
      rcp(new tpetra::Map(61, Teuchos::arrayViewFromVector(indices), 0, rows.getComm()));
  TpetraVector other(map), x(crs_->getRowMap()), y(crs_->getRowMap());
  for (const char* method : {"ilu", "jacobi", "fsai"}) {
    const auto m = made(method, crs_);
    for (int again = 0; again < 2; ++again) {
      expectThrowOfLastRank<std::runtime_error>("the map of X", [&] { m->apply(other, y); });
      expectThrowOfLastRank<std::runtime_error>("the map of Y", [&] { m->apply(x, other); });
      m->apply(x, y);
    }
    EXPECT_EQ(m->getNumApply(), 2);
  }
}

/// A map that is the same, but not the same object, is looked at once.
TEST_F(OnLastRank, EqualMapsAreTaken) {
  const auto map = rcp(new tpetra::Map(*rowMap(61, Spread::Parts)));
  TpetraVector x(map), y(map);
  x.putScalar(1);
  const auto m = made("ilu", crs_);
  m->apply(x, y);
  m->apply(x, y);
  EXPECT_EQ(wholeVector(y), applied(*m, std::vector<double>(61, 1.0)));
}

/// Counts the arrays that the library allocates on this rank while the object lives, and lets the
/// n-th of them fail.
class FailingArray {
public:
  explicit FailingArray(int n) {
    failing_ = n;
    count_ = 0;
    detail::allocation_hook = [](const std::string&, std::size_t) {
      if (++count_ == failing_)
        throw std::bad_alloc();
    };
  }
  ~FailingArray() { detail::allocation_hook = nullptr; }
  FailingArray(const FailingArray&) = delete;
  FailingArray& operator=(const FailingArray&) = delete;

private:
  static inline int failing_ = 0, count_ = 0;
};

/// Whatever array the last rank gets no memory for, in whatever phase of the set-up: all ranks
/// learn of it, and the next set-up succeeds.
TEST_F(OnLastRank, NoMemoryIsToldToAll) {
  const auto x = randomVector(61, 5);
  for (const char* method : {"ilu:solve=isai", "fsai", "local-fsai", "ainv", "jacobi"}) {
    SCOPED_TRACE(method);
    const auto expected = applied(*made(method, crs_), x);
    int failures = 0;
    for (int n = 1;; ++n) {
      const auto m = tpetra::create(method, crs_);
      bool failed = false;
      std::string text;
      {
        const FailingArray failing(isLastRank() ? n : 0);
        try {
          m->initialize();
          m->compute();
        } catch (const OutOfMemory& error) {
          failed = true;
          text = error.what();
        }
      }
      if (!failed)
        break;
      ++failures;
      EXPECT_NE(text.find("Ainvil::"), std::string::npos) << text;
      EXPECT_FALSE(m->isComputed());
      m->compute();
      expectNear(applied(*m, x), expected, 1e-12);
    }
    EXPECT_GT(failures, 3);
  }
}

} // namespace
} // namespace ainvil
