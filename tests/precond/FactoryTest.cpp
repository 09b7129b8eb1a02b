// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Factory.hpp"

#include <gtest/gtest.h>

namespace ainvil {
namespace {

std::string describe(const std::string& specification) {
  return createPreconditioner<double, DefaultDevice>(specification)->description();
}

TEST(Factory, UnderstandsEveryKey) {
  EXPECT_EQ(describe("none"), "none");
  EXPECT_EQ(describe("jacobi:variant=point,breakdown=replace"), "jacobi: {variant: point}");
  EXPECT_EQ(describe("ilu"), "ilu: {level: 0, solve: exact, storage: double}");
  EXPECT_EQ(describe("ilu:level=2,solve=isai,power=3,side=columns,relax=auto,relax-threshold=1e-3,"
                     "relax-limit=5,storage=float,breakdown=shift,shift=0.5"),
            "ilu: {level: 2, solve: isai, power: 3, side: columns, relax: auto, storage: float}");
  EXPECT_EQ(describe("fsai"), "fsai: {tau: 0.01, power: 2, filter: 0.05, storage: double}");
  EXPECT_EQ(describe("fsai:adaptive=3"), "fsai: {tau: 0.01, power: 0, adaptive: 3, per-step: 4, "
                                         "tolerance: 0.01, filter: 0.05, storage: double}");
  EXPECT_EQ(describe("fsai:adaptive=5,per-step=2,tolerance=0,tau=0,power=1,max-row=9,filter=0,"
                     "storage=float,breakdown=shift,shift=0.5,chunk-mib=1"),
            "fsai: {tau: 0, power: 1, adaptive: 5, per-step: 2, tolerance: 0, max-row: 9, "
            "filter: 0, storage: float}");
  EXPECT_EQ(describe("ainv"), "ainv: {variant: sainv, drop: 0.1, order: natural, storage: double}");
  EXPECT_EQ(describe("ainv:variant=ainv,drop=0.5,drop-rule=relative,max-col=7,order=rcm,"
                     "symmetric=no,storage=float,breakdown=shift,shift=0.5"),
            "ainv: {variant: ainv, drop: 0.5 relative, max-col: 7, symmetric: no, order: rcm, "
            "storage: float}");
  EXPECT_EQ(describe("ainv:variant=bainv,parts=8,order=nd,drop=0"),
            "ainv: {variant: sainv, drop: 0, parts: 8, order: nd, storage: double}");
}

TEST(Factory, RefusesWithASentenceThatNamesTheCulprit) {
  const struct {
    const char* specification;
    const char* expected;
  } cases[] = {
      {"", "empty"},
      {"iluu", "unknown method 'iluu', known are none, jacobi, ilu, fsai, ainv"},
      {"ilu:", "nothing follows the colon"},
      {"ilu:level", "'level' is not of the form key=value"},
      {"ilu:=3", "not of the form key=value"},
      {"ilu:level=", "not of the form key=value"},
      {"ilu:level=1,", "last comma"},
      {"ilu:level=1,,solve=isai", "not of the form key=value"},
      {"ilu:level=1,level=2", "'level' is given twice"},
      {"ilu:colour=red", "unknown key 'colour', known are level, iterative, solve"},
      {"none:level=1", "'none' takes none"},
      {"ilu:level=-1", "'level' must be an integer of at least 0, but it is '-1'"},
      {"ilu:level=1.5", "must be an integer"},
      {"ilu:solve=isai,power=-2", "'power' must be an integer of at least 1"},
      {"ilu:solve=isai,power=0", "'power' must be an integer of at least 1"},
      {"ilu:solve=isai,power=99999999999999999999", "'power' must be an integer"},
      {"ilu:solve=magic", "'solve' must be one of exact, isai, jacobi, async, but it is 'magic'"},
      {"ilu:power=2", "key 'power' has no effect with the other parameters"},
      {"ilu:solve=isai,relax=1,relax-limit=4", "key 'relax-limit' has no effect"},
      {"ilu:sweeps=3", "key 'sweeps' has no effect"},
      {"ilu:solve=jacobi,order=along", "key 'order' has no effect"},
      {"ilu:solve=jacobi,sweeps=0,start=zero", "'sweeps' must be an integer of at least 1"},
      {"ilu:solve=async,damping=2", "damping factor must lie between 0 and 2"},
      {"ilu:iterative=-1", "'iterative' must be an integer of at least 0"},
      {"ilu:shift=0.1", "key 'shift' has no effect"},
      {"ilu:solve=isai,relax=maybe", "'relax' must be an integer"},
      {"ilu:solve=isai,relax=auto,relax-threshold=0", "must be a positive number"},
      {"ilu:solve=isai,relax=auto,relax-threshold=nan", "must be a positive number"},
      {"ilu:breakdown=ignore", "'breakdown' must be one of fail, shift, replace"},
      {"ilu:storage=half", "'storage' must be one of"},
      {"fsai:adaptive=-1", "'adaptive' must be an integer of at least 0"},
      {"fsai:adaptive=2,per-step=0", "'per-step' must be an integer of at least 1"},
      {"fsai:adaptive=2,tolerance=1", "the adaptive tolerance must lie in [0, 1)"},
      {"fsai:per-step=2", "key 'per-step' has no effect"},
      {"fsai:adaptive=0,tolerance=0.1", "key 'tolerance' has no effect"},
      {"ainv:variant=bainv", "variant=bainv needs parts="},
      {"ainv:drop=-0.1", "'drop' must be a number of at least 0"},
      {"ainv:parts=0", "'parts' must be an integer of at least 1"},
      {"ainv:order=amd", "'order' must be one of natural, rcm, nd"},
      {"ainv:tau=0.1", "unknown key 'tau'"},
      {"jacobi:variant=line", "'variant' must be one of block, point"},
  };
  for (const auto& c : cases)
    try {
      describe(c.specification);
      ADD_FAILURE() << "'" << c.specification << "' was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_NE(std::string(error.what()).find(c.expected), std::string::npos)
          << c.specification << " -> " << error.what();
    }
}

TEST(Factory, FloatVectorsHaveNoDoubleStorage) {
  EXPECT_THROW((createPreconditioner<float, DefaultDevice>("ilu:storage=double")), InvalidArgument);
  EXPECT_NO_THROW((createPreconditioner<float, DefaultDevice>("ilu:storage=float")));
}

TEST(Factory, HelpNamesWhatIsAccepted) {
  ASSERT_EQ(preconditionerHelp().size(), 5u);
  for (const MethodHelp& method : preconditionerHelp()) {
    EXPECT_NO_THROW(describe(method.name));
    EXPECT_FALSE(method.meaning.empty());
  }
}

} // namespace
} // namespace ainvil
