// SPDX-License-Identifier: BSD-3-Clause
#include "SourceFolder.hpp"
#include "precond/OwnMethods.hpp"
#include "precond/tpetra/TpetraSupport.hpp"

#include "Ainvil_Factory.hpp"

#include <Teuchos_ParameterListExceptions.hpp>

#include <fstream>
#include <map>
#include <regex>

namespace ainvil {
namespace {

using namespace test;
using tpetra::chooseParameters;
using tpetra::validParameters;
namespace Wrong = Teuchos::Exceptions;

TEST(TpetraParameters, NamesBecomeKeys) {
  ParameterList list;
  list.set("trisolver: type", "ISAI");
  list.set("isai: pattern power", 3);
  list.set("isai: relaxation steps", "auto");
  list.set("fact: iluk level-of-fill", 1.0);
  list.set("storage: precision", "float");
  list.set("block: size", 4);
  const auto choice = chooseParameters("ilu", list);
  EXPECT_EQ(choice.specification, "ilu:solve=isai,power=3,relax=auto,level=1,storage=float");
  EXPECT_EQ(choice.block_size, 4);
}

TEST(TpetraParameters, NumbersOfAnyType) {
  for (const int type : {0, 1, 2, 3, 4, 5, 6}) {
    ParameterList list;
    const char* name = "fsai: levels";
    if (type == 0)
      list.set(name, 3);
    else if (type == 1)
      list.set(name, 3L);
    else if (type == 2)
      list.set(name, 3LL);
    else if (type == 3)
      list.set(name, size_t(3));
    else if (type == 4)
      list.set(name, 3.0f);
    else if (type == 5)
      list.set(name, 3.0);
    else
      list.set(name, "3");
    EXPECT_EQ(chooseParameters("fsai", list).specification, "fsai:power=3");
  }
  ParameterList list;
  list.set("fsai: threshold", 0.125f);
  EXPECT_EQ(chooseParameters("fsai", list).specification, "fsai:tau=0.125");
  // A default in the digits of float is the default; what differs by more is not.
  list = ParameterList();
  list.set("fsai: filter", 0.05f);
  EXPECT_EQ(chooseParameters("fsai:filter=0.1", list).specification, "fsai");
  list.set("fsai: filter", 0.05 * (1 + 1e-6));
  EXPECT_NE(chooseParameters("fsai", list).specification, "fsai");
}

TEST(TpetraParameters, SymmetryIsATruthValueOrAWord) {
  for (const bool symmetric : {true, false}) {
    ParameterList value, word;
    value.set("ainv: symmetric", symmetric);
    word.set("ainv: symmetric", symmetric ? "yes" : "no");
    const std::string expected = symmetric ? "ainv" : "ainv:symmetric=no";
    EXPECT_EQ(chooseParameters("ainv", value).specification, expected);
    EXPECT_EQ(chooseParameters("ainv", word).specification, expected);
  }
}

TEST(TpetraParameters, BlockSizesReachFrom0To1000) {
  for (const int size : {0, 1, 1000}) {
    ParameterList list;
    list.set("block: size", size);
    EXPECT_EQ(chooseParameters("ilu", list).block_size, size);
  }
  for (const int size : {-1, 1001}) {
    ParameterList list;
    list.set("block: size", size);
    EXPECT_THROW(chooseParameters("ilu", list), Wrong::InvalidParameterValue) << size;
  }
}

TEST(TpetraParameters, TheListWinsOverTheName) {
  ParameterList list;
  list.set("isai: pattern power", 2);
  EXPECT_EQ(chooseParameters("ILU:solve=isai,power=3", list).specification,
            "ilu:solve=isai,power=2");
  list.set("isai: pattern power", 1); // the default
  EXPECT_EQ(chooseParameters("ilu:solve=isai,power=3", list).specification, "ilu:solve=isai");
}

/// With an adaptive pattern the power has another default, 0, than the list of all defaults tells.
TEST(TpetraParameters, ADefaultThatDependsOnAnotherParameterMayBeGiven) {
  ParameterList list;
  list.set("fsai: adaptive steps", 5);
  EXPECT_EQ(chooseParameters("fsai", list).specification, "fsai:adaptive=5");
  EXPECT_EQ(chooseParameters("fsai:power=3", list).specification, "fsai:power=3,adaptive=5");
  list.set("fsai: levels", 2);
  for (const char* name : {"fsai", "fsai:power=3", "fsai:adaptive=4,power=2"})
    EXPECT_EQ(chooseParameters(name, list).specification, "fsai:adaptive=5,power=2") << name;
  ParameterList levels;
  levels.set("fsai: levels", 2);
  EXPECT_EQ(chooseParameters("fsai:adaptive=5,power=1", levels).specification,
            "fsai:adaptive=5,power=2");
  EXPECT_EQ(chooseParameters("fsai:power=1", levels).specification, "fsai");
}

/// What nobody has changed in the list of all defaults is not asked for.
TEST(TpetraParameters, UnchangedEntriesOfAllParametersAreNotGiven) {
  ParameterList list = *validParameters("fsai");
  EXPECT_EQ(chooseParameters("fsai:adaptive=5,power=2", list).specification,
            "fsai:adaptive=5,power=2");
  list.set("fsai: adaptive steps", 5);
  EXPECT_EQ(chooseParameters("fsai", list).specification, "fsai:adaptive=5");
  ParameterList own;
  own.set("fsai: adaptive steps", 5);
  own.validateParametersAndSetDefaults(*validParameters("fsai"));
  EXPECT_EQ(own.get<int>("fsai: levels"), 2);
  EXPECT_EQ(chooseParameters("fsai", own).specification, "fsai:adaptive=5");
  ParameterList read; // whoever reads with a fallback has set it
  read.get("fsai: levels", 4);
  EXPECT_EQ(chooseParameters("fsai", read).specification, "fsai:power=4");
}

/// The list of all defaults asks for nothing, and every key of the library has a name in it.
TEST(TpetraParameters, AllKeysHaveNamesAndDefaults) {
  for (const MethodHelp& method : preconditionerHelp()) {
    const auto valid = validParameters(method.name);
    EXPECT_EQ(valid->numParams(), int(method.parameters.size() + commonParameterHelp().size()) + 3)
        << method.name;
    EXPECT_EQ(chooseParameters(method.name, *valid).specification, method.name);
    for (auto at = valid->begin(); at != valid->end(); ++at)
      EXPECT_FALSE(valid->entry(at).docString().empty()) << valid->name(at);
  }
}

/// The type by which a parameter is told from its default is that of the default.
TEST(TpetraParameters, DefaultsAreThoseOfTheLibrary) {
  EXPECT_EQ(validParameters("ilu")->get<int>("sweep: iterations"), 5);
  EXPECT_EQ(validParameters("fsai")->get<double>("fsai: filter"), 0.05);
  EXPECT_EQ(validParameters("ainv")->get<std::string>("ainv: variant"), "sainv");
  EXPECT_THROW(validParameters("lu"), InvalidArgument);
}

/// The rows of docs/parameters.md, which begin with key, name, type and default: name to type and
/// default, by the heading above.
std::map<std::string, std::map<std::string, std::string>> documentedParameters() {
  std::map<std::string, std::map<std::string, std::string>> documented;
  std::ifstream file(ainvil::test::sourceFolder() + "/docs/parameters.md");
  const std::regex heading("## (.*)"), row(R"(\|[^|]*\| `([^`]+)` \| (\w+) \| `([^`]+)`.*)");
  std::string line, method;
  for (std::smatch match; std::getline(file, line);)
    if (std::regex_match(line, match, heading))
      method = match[1];
    else if (std::regex_match(line, match, row))
      documented[method][match[1]] = match[2].str() + " " + match[3].str();
  return documented;
}

/// As documentedParameters() has them.
std::map<std::string, std::string> knownParameters(const MethodHelp& method) {
  std::map<std::string, std::string> known;
  const auto valid = validParameters(method.name);
  for (auto at = valid->begin(); at != valid->end(); ++at) {
    const auto& entry = valid->entry(at);
    if (entry.isType<int>())
      known[valid->name(at)] = message("integer ", Teuchos::getValue<int>(entry));
    else if (entry.isType<double>())
      known[valid->name(at)] = message("number ", Teuchos::getValue<double>(entry));
    else if (entry.isType<bool>())
      known[valid->name(at)] = Teuchos::getValue<bool>(entry) ? "bool true" : "bool false";
    else
      known[valid->name(at)] = "word " + Teuchos::getValue<std::string>(entry);
  }
  return known;
}

TEST(TpetraParameters, AreDocumented) {
  auto documented = documentedParameters();
  auto everywhere = documented["Trilinos only"];
  ASSERT_EQ(everywhere.size(), 3u);
  everywhere.insert(documented["Every method"].begin(), documented["Every method"].end());
  ASSERT_EQ(everywhere.size(), 3u + commonParameterHelp().size());
  for (const MethodHelp& method : preconditionerHelp()) {
    auto expected = documented[method.name];
    expected.insert(everywhere.begin(), everywhere.end());
    for (auto& [name, text] : expected) { // 1e-3 is 0.001
      const size_t value = text.find(' ') + 1;
      if (text.compare(0, value, "number ") == 0)
        text = message("number ", std::stod(text.substr(value)));
    }
    EXPECT_EQ(knownParameters(method), expected) << method.name;
  }
}

template <class Exception, class T>
void expectRefused(const std::string& method, const std::string& name, const T& value,
                   const std::string& part) {
  ParameterList list;
  list.set(name, value);
  try {
    chooseParameters(method, list);
    ADD_FAILURE() << name << " was accepted";
  } catch (const Exception& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

TEST(TpetraParameters, WrongOnesAreRefused) {
  using Name = Wrong::InvalidParameterName;
  using Type = Wrong::InvalidParameterType;
  using Value = Wrong::InvalidParameterValue;
  expectRefused<Name>("ilu", "fact: iluk level of fill", 1, "\"fact: iluk level-of-fill\"");
  expectRefused<Name>("ilu", "fsai: levels", 1, "not known");
  expectRefused<Type>("ilu", "trisolver: type", 3, "must be a string");
  expectRefused<Type>("ilu", "fact: iluk level-of-fill", true, "must be an integer");
  expectRefused<Value>("ilu", "fact: iluk level-of-fill", -2, "\"fact: iluk level-of-fill\" must");
  expectRefused<Value>("ilu", "fact: iluk level-of-fill", 1.5, "must be an integer");
  expectRefused<Value>("ilu", "trisolver: type", "isia", "exact, isai, jacobi, async");
  expectRefused<Value>("ilu", "isai: pattern power", 2, "has no effect");
  expectRefused<Value>("fsai", "block: size", -1, "from 0 to 1000");
  EXPECT_THROW(chooseParameters("ilu:power", {}), Wrong::InvalidParameterValue);
}

/// A method, a factorisation and a triangular strategy of a user.
TEST(TpetraParameters, OfPreconditionersOfOnesOwn) {
  EXPECT_FALSE(tpetra::isMethod("scaling"));
  const own::Registered registered;
  EXPECT_TRUE(tpetra::isMethod("scaling"));
  EXPECT_EQ(validParameters("scaling")->get<double>("scaling: factor"), 1);
  EXPECT_EQ(validParameters("ilu")->get<int>("neumann: terms"), 3);
  EXPECT_EQ(validParameters("ilu")->get<std::string>("fact: type"), "iluk");
  expectRefused<Wrong::InvalidParameterValue>("scaling", "scaling: factor", -1.0,
                                              "\"scaling: factor\" must be a positive number");
  expectRefused<Wrong::InvalidParameterValue>("ilu", "neumann: terms", 2,
                                              "key \"neumann: terms\" has no effect");

  const auto a = crsMatrix(matrixOn(randomPattern(30, 4, 8), 1, 8), Spread::Parts);
  const auto x = randomVector(30, 2);
  ParameterList scaling;
  scaling.set("scaling: factor", 2.5);
  scaling.set("scaling: negative", true);
  const auto m = tpetra::create("scaling", a);
  m->setParameters(scaling);
  m->initialize();
  m->compute();
  std::vector<double> expected = x;
  for (double& value : expected)
    value *= -2.5;
  EXPECT_EQ(applied(*m, x), expected);

  ParameterList list;
  list.set("fact: type", "gauss-seidel");
  list.set("fact: omega", 0.9);
  list.set("trisolver: type", "neumann");
  list.set("neumann: terms", 4);
  const auto ilu = tpetra::create("ilu", a);
  ilu->setParameters(list);
  ilu->initialize();
  ilu->compute();
  EXPECT_EQ(applied(*ilu, x),
            applied(*made("ilu:factorization=gauss-seidel,omega=0.9,solve=neumann,terms=4", a), x));
}

TEST(TpetraParameters, ABadListChangesNothing) {
  const auto a = crsMatrix(matrixOn(randomPattern(30, 4, 7), 1, 7), Spread::Parts);
  const auto m = made("ilu", a);
  ParameterList list;
  list.set("trisolver: type", "isai");
  list.set("isai: pattern power", -1);
  EXPECT_THROW(m->setParameters(list), Wrong::InvalidParameterValue);
  EXPECT_TRUE(m->isComputed());
  list.set("isai: pattern power", 1);
  m->setParameters(list);
  EXPECT_FALSE(m->isInitialized() || m->isComputed());
  TpetraVector before(m->getDomainMap()), after(m->getRangeMap());
  EXPECT_THROW(m->apply(before, after), std::runtime_error);
  m->compute();
  const auto x = randomVector(30, 1);
  EXPECT_EQ(applied(*m, x), applied(*made("ilu:solve=isai", a), x));
  m->setParameters(ParameterList()); // nothing new
  EXPECT_TRUE(m->isComputed());
}

} // namespace
} // namespace ainvil
