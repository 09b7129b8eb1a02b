// SPDX-License-Identifier: BSD-3-Clause
/// A method, a factorisation and a triangular strategy from outside of the library.
#include "precond/OwnMethods.hpp"
#include "precond/PrecondSupport.hpp"

#include "Ainvil_Factory.hpp"
#include "Ainvil_Ic.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ainvil {
namespace {

using namespace test;

PreconditionerPtr<double, Device> create(const std::string& specification) {
  return createPreconditioner<double, Device>(specification);
}

std::string refusalOf(const std::string& specification) {
  try {
    create(specification);
  } catch (const InvalidArgument& error) {
    return error.what();
  }
  return "";
}

/// The first line of a method's help that has the key.
std::string helpOf(const std::string& method, const std::string& key) {
  for (const MethodHelp& help : preconditionerHelp())
    if (help.name == method)
      for (const ParameterHelp& parameter : help.parameters)
        if (parameter.key == key)
          return parameter.values() + " " + parameter.meaning();
  return "";
}

TEST(Registry, AMethodOfOnesOwn) {
  EXPECT_NE(refusalOf("scaling"), "");
  {
    const own::Registered registered;
    const auto m = create("scaling:factor=2.5,negative=yes");
    EXPECT_EQ(m->description(), "scaling: {factor: 2.5}");
    setUp(*m, matrixOn(diagonalPattern(2), 1, 1));
    EXPECT_EQ(denseInverse(*m), (std::vector<double>{-2.5, 0, 0, -2.5}));
    EXPECT_NO_THROW((createPreconditioner<float, Device>("scaling:factor=3")));
    EXPECT_NO_THROW((createPreconditioner<double, HostDevice>("scaling:factor=3")));
    EXPECT_EQ(refusalOf("scaling:factor=0"),
              "preconditioner 'scaling:factor=0': 'factor' must be a "
              "positive number, but it is '0'");
    EXPECT_EQ(refusalOf("scaling:factor=101"),
              "preconditioner 'scaling:factor=101': the factor must be 100 at most");
    EXPECT_EQ(refusalOf("scaling:power=1"),
              "preconditioner 'scaling:power=1': unknown key 'power', "
              "known are factor, negative, poly, poly-storage");
    EXPECT_EQ(create("scaling:factor=2.5,poly=4")->description(),
              "scaling: {factor: 2.5}, poly: 4");
    EXPECT_EQ(preconditionerHelp().back().name, "scaling");
    EXPECT_EQ(helpOf("scaling", "negative"), "no|yes with -1, too");
    EXPECT_NE(refusalOf("lu").find(", scaling"), std::string::npos);
  }
  EXPECT_EQ(refusalOf("scaling").find("preconditioner 'scaling': unknown method 'scaling', known"),
            0u);
}

TEST(Registry, AFactorizationOfOnesOwn) {
  const own::Registered registered;
  const HostBsr a = matrixOn(randomPattern(40, 4, 3), 1, 3);
  auto lower = toDense(a);
  for (size_t i = 0; i < 40; ++i) {
    lower[i * 40 + i] /= 1.5;
    for (size_t j = i + 1; j < 40; ++j)
      lower[i * 40 + j] = 0;
  }
  for (const std::string solve : {"exact", "isai,power=40", "jacobi,sweeps=40"}) {
    const auto m = create("ilu:factorization=gauss-seidel,omega=1.5,solve=" + solve);
    setUp(*m, a);
    expectNear(denseInverse(*m), inverse(lower, 40), 1e-12);
    EXPECT_EQ(m->description().find("ilu: {factorization: gauss-seidel, solve: "), 0u)
        << m->description();
  }
  EXPECT_EQ(helpOf("ilu", "factorization"), "iluk|ilut|gauss-seidel incomplete factorisation of A");
  EXPECT_EQ(helpOf("ilu", "omega"), "1 gauss-seidel: relaxation factor");
  EXPECT_EQ(helpOf("ilu", "level"), "0|n iluk: fill level k of ILU(k)");
  EXPECT_EQ(refusalOf("ilu:factorization=gauss-seidel,level=1"),
            "preconditioner 'ilu:factorization=gauss-seidel,level=1': key 'level' has no effect "
            "with the other parameters given");
}

/// The Neumann series is what Jacobi sweeps from zero compute, in every precision.
TEST(Registry, ATriangularStrategyOfOnesOwn) {
  const own::Registered registered;
  const HostBsr a = matrixOn(randomPattern(50, 5, 4), 3, 4);
  for (const std::string storage : {"double", "float", "bfloat16"}) {
    const auto m = create("ilu:level=1,solve=neumann,terms=4,storage=" + storage);
    const auto sweeps = create("ilu:level=1,solve=jacobi,sweeps=4,start=zero");
    setUp(*m, a);
    setUp(*sweeps, a);
    const double accuracy = storage == "double" ? 1e-13 : storage == "float" ? 1e-6 : 3e-2;
    for (const Trans trans : {Trans::No, Trans::Yes})
      expectNear(denseInverse(*m, trans), denseInverse(*sweeps, trans), accuracy);
    EXPECT_EQ(m->description(),
              "ilu: {level: 1, solve: neumann, terms: 4, storage: " + storage + "}");
  }
  EXPECT_EQ(helpOf("ilu", "solve"), "exact|isai|jacobi|async|neumann substitution, products with "
                                    "approximate inverses, or sweeps");
  EXPECT_EQ(helpOf("ilu", "terms"), "3|n neumann: terms of the Neumann series");
  EXPECT_EQ(helpOf("ilu", "power"), "1|n isai: pattern power p of |L|^p, |U|^p");
  EXPECT_EQ(helpOf("ilu", "sweeps"), "5|n jacobi, async: sweeps of one application");
  EXPECT_EQ(refusalOf("ilu:terms=2"),
            "preconditioner 'ilu:terms=2': key 'terms' has no effect with "
            "the other parameters given");
}

TEST(Registry, AllThreeTogetherAndAfterwards) {
  PreconditionerPtr<double, Device> m;
  {
    const own::Registered registered;
    m = create("ilu:factorization=gauss-seidel,solve=neumann,terms=60");
  }
  const HostBsr a = matrixOn(randomPattern(60, 4, 5), 1, 5);
  setUp(*m, a); // what has been created stays
  auto lower = toDense(a);
  for (size_t i = 0; i < 60; ++i)
    for (size_t j = i + 1; j < 60; ++j)
      lower[i * 60 + j] = 0;
  expectNear(denseInverse(*m), inverse(lower, 60), 1e-12);
  EXPECT_NE(refusalOf("ilu:solve=neumann"), "");
  EXPECT_NO_THROW(create("ilu"));
}

/// In C++ they need no name.
TEST(Registry, IluParametersTakeFactorizationsAndStrategiesOfOnesOwn) {
  const own::Registered registered;
  const HostBsr a = matrixOn(randomPattern(60, 4, 5), 1, 5);
  own::NeumannParameters terms;
  terms.terms = 4;
  IluParameters<double, Device> parameters;
  parameters.factorization = [] {
    return std::make_unique<own::GaussSeidel<double, Device>>(own::GaussSeidelParameters());
  };
  parameters.solve = [terms](Storage) {
    return std::make_unique<own::Neumann<double, double, Device>>(terms);
  };
  Ilu<double, Device> ilu(parameters);
  const auto by_name = create("ilu:factorization=gauss-seidel,solve=neumann,terms=4");
  setUp(ilu, a);
  setUp(*by_name, a);
  EXPECT_EQ(denseInverse(ilu), denseInverse(*by_name));
  EXPECT_EQ(ilu.description(), by_name->description());
}

TEST(Registry, IcParametersTakeStrategiesOfOnesOwn) {
  const own::Registered registered;
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 4, 6), 1, 6);
  IcParameters<double, Device> parameters;
  parameters.level = 1;
  parameters.solve = [](Storage) {
    return std::make_unique<own::Neumann<double, double, Device>>(own::NeumannParameters());
  };
  Ic<double, Device> ic(parameters);
  const auto by_name = create("ic:level=1,solve=neumann");
  setUp(ic, a);
  setUp(*by_name, a);
  // Transposed products add by atomics on GPUs.
  expectNear(denseInverse(ic), denseInverse(*by_name), 1e-14);
  EXPECT_EQ(ic.description(), by_name->description());
}

template <class Register>
void expectRefused(const Register& run, const std::string& sentence) {
  try {
    run();
    ADD_FAILURE() << "not refused: " << sentence;
  } catch (const InvalidArgument& error) {
    EXPECT_EQ(error.what(), sentence);
  }
}

TEST(Registry, RefusesNamesThatAreTakenOrUnknown) {
  using own::Scaling;
  const auto scaling = [](const std::string& name) {
    return [name] { registerMethod<Scaling>(name, "", own::scalingTable()); };
  };
  const size_t before = preconditionerHelp().size();
  expectRefused(scaling("ilu"), "there is a method 'ilu' already");
  for (const std::string name : {"", "Own", "own method", "own:1", "own=1", "own,1"})
    expectRefused(scaling(name), "the name '" + name +
                                     "' of a method must consist of lower-case "
                                     "letters, digits and hyphens");
  expectRefused(
      [] { registerFactorization<own::GaussSeidel>("iluk", "", own::gaussSeidelTable()); },
      "there is a factorisation 'iluk' already");
  expectRefused([] { registerTriangularSolver<own::Neumann>("isai", "", own::neumannTable()); },
                "there is a triangular strategy 'isai' already");
  expectRefused([] { unregisterMethod("scaling"); }, "there is no method 'scaling'");
  expectRefused([] { unregisterTriangularSolver("neumann"); },
                "there is no triangular strategy 'neumann'");
  EXPECT_EQ(preconditionerHelp().size(), before);
}

/// A key, or a name in a list of Trilinos, cannot mean one thing with isai and another with
/// neumann.
TEST(Registry, RefusesAKeyWithAnotherMeaning) {
  ParameterTable<own::NeumannParameters> power, name;
  power.integer("power", "neumann: terms", &own::NeumannParameters::terms, 1, "terms");
  name.integer("terms", "isai: pattern power", &own::NeumannParameters::terms, 1, "terms");
  for (const auto& table : {power, name})
    try {
      registerTriangularSolver<own::Neumann>("neumann", "", table);
      ADD_FAILURE() << "not refused";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find("but 'isai' has 'power', \"isai: pattern power\""),
                std::string::npos)
          << error.what();
    }
}

/// Nor can it have another default or be of another type: isai's power is an integer, 1 by default.
TEST(Registry, RefusesAKeyWithAnotherDefaultOrType) {
  ASSERT_NE(own::NeumannParameters().terms, 1);
  ParameterTable<own::NeumannParameters> other_default;
  other_default.integer("power", "isai: pattern power", &own::NeumannParameters::terms, 1, "terms");
  expectRefused(
      [&] { registerTriangularSolver<own::Neumann>("neumann", "", other_default); },
      "'neumann' has the parameter 'power', \"isai: pattern power\", default 3, but 'isai' has "
      "'power', \"isai: pattern power\", default 1: a key means the same in both, or give it "
      "another name");
  ParameterTable<own::GaussSeidelParameters> other_type;
  other_type.number("level", "fact: iluk level-of-fill", &own::GaussSeidelParameters::omega,
                    NumberRange::Positive, "omega");
  EXPECT_THROW(registerFactorization<own::GaussSeidel>("gauss-seidel", "", other_type),
               InvalidArgument);
}

TEST(Registry, TakesNamesOfLettersDigitsAndHyphens) {
  for (const std::string name : {"own", "own-1", "007", "x0y9", "az-"}) {
    EXPECT_NO_THROW(registerMethod<own::Scaling>(name, "", own::scalingTable())) << name;
    EXPECT_NO_THROW(unregisterMethod(name)) << name;
  }
}

/// What one of a factorisation and a strategy takes, the other would not see.
TEST(Registry, RefusesAKeyThatIsInUseBesideIt) {
  const auto refusalOfKey = [](const std::string& key, const std::string& name) {
    ParameterTable<own::GaussSeidelParameters> table;
    table.number(key, name, &own::GaussSeidelParameters::omega, NumberRange::Positive, "omega");
    try {
      registerFactorization<own::GaussSeidel>("gauss-seidel", "", table);
      unregisterFactorization("gauss-seidel");
      return std::string();
    } catch (const InvalidArgument& error) {
      return std::string(error.what());
    }
  };
  EXPECT_EQ(
      refusalOfKey("damping", "fact: damping"),
      "'gauss-seidel' has the parameter 'damping', \"fact: damping\", but 'damping', \"sweep: "
      "damping factor\", is in use beside it: give it another name");
  EXPECT_NE(refusalOfKey("storage", "fact: storage"), "");
  EXPECT_NE(refusalOfKey("omega", "trisolver: type"), "");
  EXPECT_EQ(refusalOfKey("omega", "fact: omega"), "");
}

/// What every method takes, none may take itself, nor a part of it.
TEST(Registry, RefusesAKeyOfEveryMethod) {
  ParameterTable<own::ScalingParameters> key, name;
  key.number("poly", "scaling: factor", &own::ScalingParameters::factor, NumberRange::Positive, "");
  name.number("factor", "poly: degree", &own::ScalingParameters::factor, NumberRange::Positive, "");
  expectRefused([&] { registerMethod<own::Scaling>("scaling", "", key); },
                "'scaling' has the parameter 'poly', \"scaling: factor\", but 'poly', \"poly: "
                "degree\", is in use beside it: give it another name");
  expectRefused([&] { registerMethod<own::Scaling>("scaling", "", name); },
                "'scaling' has the parameter 'factor', \"poly: degree\", but 'poly', \"poly: "
                "degree\", is in use beside it: give it another name");
  ParameterTable<own::GaussSeidelParameters> of_part;
  of_part.number("poly", "fact: poly", &own::GaussSeidelParameters::omega, NumberRange::Positive,
                 "");
  expectRefused([&] { registerFactorization<own::GaussSeidel>("gauss-seidel", "", of_part); },
                "'gauss-seidel' has the parameter 'poly', \"fact: poly\", but 'poly', \"poly: "
                "degree\", is in use beside it: give it another name");
}

template <class Scalar, class Device>
class OwnTable : public Preconditioner<Scalar, Device> {
public:
  static const ParameterTable<own::ScalingParameters>& parameterTable() {
    static const ParameterTable<own::ScalingParameters> table = own::scalingTable();
    return table;
  }
  explicit OwnTable(const own::ScalingParameters& p) : factor_(p.factor) {}
  std::string description() const override { return message("own-table: ", factor_); }

protected:
  using typename Preconditioner<Scalar, Device>::execution_space;
  using Matrix = BsrMatrix<Scalar, Device>;
  void doInitialize(const execution_space&, const Matrix&) override {}
  void doCompute(const execution_space&, const Matrix&) override {}
  void doApply(const execution_space&, MultiVectorArg<const Scalar, Device>,
               MultiVectorArg<Scalar, Device>, Trans) const override {}

private:
  double factor_;
};

TEST(Registry, AClassMayBringItsTable) {
  registerMethod<OwnTable>("own-table", "");
  EXPECT_EQ(create("own-table:factor=4")->description(), "own-table: 4");
  unregisterMethod("own-table");
}

TEST(Registry, OfSeveralThreadsOneRegistersAName) {
  std::atomic<int> registered{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      try {
        registerMethod<own::Scaling>("scaling", "", own::scalingTable());
        ++registered;
      } catch (const InvalidArgument&) {
      }
      preconditionerHelp();
      create("ilu:solve=isai");
    });
  for (std::thread& thread : threads)
    thread.join();
  EXPECT_EQ(registered, 1);
  unregisterMethod("scaling");
}

} // namespace
} // namespace ainvil
