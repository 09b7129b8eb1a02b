// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ainv.hpp"
#include "Ainvil_Chebyshev.hpp"
#include "Ainvil_Factory.hpp"
#include "Ainvil_Fsai.hpp"
#include "Ainvil_Ilu.hpp"
#include "Ainvil_Jacobi.hpp"
#include "Refusal.hpp"
#include "polynomial/Ainvil_Polynomial.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ainvil {
namespace {

using test::refusal;

std::string describe(const std::string& specification) {
  return createPreconditioner<double, DefaultDevice>(specification)->description();
}

TEST(Factory, UnderstandsEveryKey) {
  EXPECT_EQ(describe("none"), "none");
  EXPECT_EQ(describe("jacobi:variant=point,breakdown=replace,pivot-tol=0"),
            "jacobi: {variant: point}");
  EXPECT_EQ(describe("ilu"), "ilu: {level: 0, solve: exact, storage: double}");
  EXPECT_EQ(describe("ilu:factorization=iluk"), describe("ilu"));
  EXPECT_EQ(describe("ilu:factorization=ilut"),
            "ilu: {drop: 0.001, max-fill: 10, solve: exact, storage: double}");
  EXPECT_EQ(describe("ilu:factorization=ilut,drop=0,max-fill=2.5,repattern=3,iterative=2,"
                     "search=parallel,steps=3"),
            "ilu: {drop: 0, max-fill: 2.5, repattern: 3, search: parallel, steps: 3, iterative: 2, "
            "solve: exact, storage: double}");
  EXPECT_EQ(describe("ilu:level=2,solve=isai,power=3,side=columns,relax=auto,relax-threshold=1e-3,"
                     "relax-limit=5,storage=float,breakdown=shift,shift=0.5,pivot-tol=100"),
            "ilu: {level: 2, solve: isai, power: 3, side: columns, relax: auto, storage: float}");
  EXPECT_EQ(describe("ic"), "ic: {level: 0, solve: exact, storage: double}");
  EXPECT_EQ(describe("ic:level=2,solve=isai,power=3,side=columns,relax=auto,relax-threshold=1e-3,"
                     "relax-limit=5,storage=float,breakdown=shift,shift=0.5,pivot-tol=100"),
            "ic: {level: 2, solve: isai, power: 3, side: columns, relax: auto, storage: float}");
  EXPECT_EQ(describe("ic:factorization=ict,drop=0,search=parallel,steps=3"),
            "ic: {factorization: ict, drop: 0, max-fill: 10, search: parallel, steps: 3, solve: "
            "exact, storage: double}");
  EXPECT_EQ(describe("ic:solve=jacobi,sweeps=2,breakdown=replace"),
            "ic: {level: 0, solve: jacobi, sweeps: 2, storage: double}");
  EXPECT_EQ(describe("ic:modified=0.9"),
            "ic: {level: 0, modified: 0.9, solve: exact, storage: double}");
  EXPECT_EQ(describe("ic:signs=keep"),
            "ic: {level: 0, signs: keep, solve: exact, storage: double}");
  EXPECT_EQ(describe("fsai"), "fsai: {tau: 0.01, power: 2, filter: 0.05, storage: double}");
  EXPECT_EQ(describe("fsai:adaptive=3"), "fsai: {tau: 0.01, power: 0, adaptive: 3, per-step: 4, "
                                         "tolerance: 0.01, filter: 0.05, storage: double}");
  EXPECT_EQ(describe("fsai:adaptive=5,per-step=2,tolerance=0,tau=0,power=1,max-row=9,filter=0,"
                     "storage=float,breakdown=shift,shift=0.5,chunk-mib=1"),
            "fsai: {tau: 0, power: 1, adaptive: 5, per-step: 2, tolerance: 0, max-row: 9, "
            "filter: 0, storage: float}");
  EXPECT_EQ(describe("spai"), "spai: {power: 1, storage: double}");
  EXPECT_EQ(describe("spai:power=2,max-work=1e7"),
            "spai: {power: 2, max-work: 1e+07, storage: double}");
  EXPECT_EQ(describe("ainv"),
            "ainv: {variant: sainv, drop: 0.1 relative, order: natural, storage: double}");
  EXPECT_EQ(
      describe("ainv:variant=ainv,drop=0.5,drop-rule=relative,max-col=7,max-fill=30,order=rcm,"
               "symmetric=no,storage=float,breakdown=shift,shift=0.5"),
      "ainv: {variant: ainv, drop: 0.5 relative, max-col: 7, max-fill: 30, symmetric: no, "
      "order: rcm, storage: float}");
  EXPECT_EQ(describe("ainv:variant=bainv,parts=8,order=nd,drop=0"),
            "ainv: {variant: sainv, drop: 0 relative, parts: 8, order: nd, storage: double}");
  EXPECT_EQ(describe("ainv:blocks=yes,storage=float"),
            "ainv: {variant: sainv, drop: 0.1 relative, blocks: yes, order: natural, storage: "
            "float}");
}

/// Those of the help: what the library brings along, and nothing of other tests.
std::string knownMethods() {
  std::string known;
  for (const MethodHelp& method : preconditionerHelp())
    known += (known.empty() ? "" : ", ") + method.name;
  EXPECT_EQ(known, "none, jacobi, ilu, ic, fsai, spai, ainv, chebyshev, auto");
  return known;
}

TEST(Factory, RefusesWithTheExpectedSentence) {
  const std::string methods = knownMethods();
  const struct {
    const char* specification;
    std::string reason;
  } cases[] = {
      {"", "it is empty, known methods are " + methods},
      {"iluu", "unknown method 'iluu', known are " + methods},
      {"ilu:", "nothing follows the colon"},
      {"ilu:level", "'level' is not of the form key=value"},
      {"ilu:=3", "'=3' is not of the form key=value"},
      {"ilu:level=", "'level=' is not of the form key=value"},
      {"ilu:level=1,", "nothing follows the last comma"},
      {"ilu:level=1,,solve=isai", "'' is not of the form key=value"},
      {"ilu:level=1,level=2", "key 'level' is given twice"},
      {"ilu:colour=red",
       "unknown key 'colour', known are factorization, level, iterative, modified, abs-threshold, "
       "rel-threshold, drop, "
       "max-fill, repattern, search, steps, solve, "
       "power, side, adaptive, eps, relax, relax-threshold, relax-limit, fallback, "
       "fallback-threshold, sweeps, "
       "damping, "
       "start, order, divergence-limit, storage, match, scale, reorder, "
       "breakdown, shift, pivot-tol, poly, poly-storage"},
      {"none:level=1", "unknown key 'level', known are poly, poly-storage"},
      {"none:poly=-1", "'poly' must be an integer from 0 to 1000000 or auto, but it is '-1'"},
      {"ilu:poly=many", "'poly' must be an integer from 0 to 1000000 or auto, but it is 'many'"},
      {"ilu:level=-1,poly=3", "'level' must be an integer from 0 to 1000000, but it is '-1'"},
      {"jacobi:poly=2,poly=3", "key 'poly' is given twice"},
      {"ilu:level=-1", "'level' must be an integer from 0 to 1000000, but it is '-1'"},
      {"ilu:level=1.5", "'level' must be an integer from 0 to 1000000, but it is '1.5'"},
      {"ilu:solve=isai,power=-2", "'power' must be an integer from 1 to 1000000, but it is '-2'"},
      {"ilu:solve=isai,power=0", "'power' must be an integer from 1 to 1000000, but it is '0'"},
      {"ilu:solve=isai,power=99999999999999999999",
       "'power' must be an integer from 1 to 1000000, but it is '99999999999999999999'"},
      {"ilu:solve=magic", "'solve' must be one of exact, isai, jacobi, async, but it is 'magic'"},
      {"ilu:factorization=lu", "'factorization' must be one of iluk, ilut, but it is 'lu'"},
      {"ilu:factorization=ilut,level=1",
       "key 'level' has no effect with the other parameters given"},
      {"ilu:modified=2", "'modified' must be a number of at least 0 and below 2, but it is '2'"},
      {"ilu:factorization=ilut,modified=2",
       "'modified' must be a number of at least 0 and below 2, but it is '2'"},
      {"ilu:drop=0.1", "key 'drop' has no effect with the other parameters given"},
      {"ilu:level=1,max-fill=3", "key 'max-fill' has no effect with the other parameters given"},
      {"ilu:factorization=ilut,drop=-1", "'drop' must be a number of at least 0, but it is '-1'"},
      {"ilu:factorization=ilut,drop=nan", "'drop' must be a number of at least 0, but it is 'nan'"},
      {"ilu:factorization=ilut,max-fill=0", "'max-fill' must be a positive number, but it is '0'"},
      {"ilu:factorization=ilut,search=fast",
       "'search' must be one of auto, sequential, parallel, but it is 'fast'"},
      {"ilu:factorization=ilut,search=parallel,steps=0",
       "'steps' must be an integer from 1 to 1000000, but it is '0'"},
      {"ilu:factorization=ilut,search=sequential,steps=3",
       "key 'steps' has no effect with the other parameters given"},
      {"ilu:factorization=ilut,repattern=-1",
       "'repattern' must be an integer from 0 to 1000000, but it is '-1'"},
      {"ilu:power=2", "key 'power' has no effect with the other parameters given"},
      {"ilu:solve=isai,relax=1,relax-limit=4",
       "key 'relax-limit' has no effect with the other parameters given"},
      {"ilu:sweeps=3", "key 'sweeps' has no effect with the other parameters given"},
      {"ilu:solve=jacobi,order=along", "key 'order' has no effect with the other parameters given"},
      {"ilu:solve=jacobi,sweeps=0,start=zero",
       "'sweeps' must be an integer from 1 to 1000000, but it is '0'"},
      {"ilu:solve=async,damping=2", "'damping' must be a positive number below 2, but it is '2'"},
      {"ilu:iterative=-1", "'iterative' must be an integer from 0 to 1000000, but it is '-1'"},
      {"ilu:shift=0.1", "key 'shift' has no effect with the other parameters given"},
      {"ilu:solve=isai,eps=0.1", "key 'eps' has no effect with the other parameters given"},
      {"ilu:solve=isai,relax=1,fallback=none",
       "key 'fallback' has no effect with the other parameters given"},
      {"ilu:solve=isai,relax=auto,fallback=none,fallback-threshold=2",
       "key 'fallback-threshold' has no effect with the other parameters given"},
      {"ilu:solve=isai,relax=auto,fallback=jacobi",
       "'fallback' must be one of none, exact, but it is 'jacobi'"},
      {"ilu:solve=isai,relax=maybe",
       "'relax' must be an integer from 0 to 1000000 or auto, but it is 'maybe'"},
      {"ilu:solve=isai,relax=auto,relax-threshold=0",
       "'relax-threshold' must be a positive number, but it is '0'"},
      {"ilu:solve=isai,relax=auto,relax-threshold=nan",
       "'relax-threshold' must be a positive number, but it is 'nan'"},
      {"ilu:breakdown=ignore",
       "'breakdown' must be one of fail, shift, replace, shift-all, but it is 'ignore'"},
      {"ilu:match=yes", "'match' must be one of none, product, but it is 'yes'"},
      {"ilu:match=product,scale=ruiz", "key 'scale' has no effect with the other parameters given"},
      {"ilu:storage=half", "'storage' must be one of double, float, bfloat16, but it is 'half'"},
      {"ic:level=-1", "'level' must be an integer from 0 to 1000000, but it is '-1'"},
      {"ic:factorization=iluk", "'factorization' must be one of ick, ict, but it is 'iluk'"},
      {"ic:factorization=ict,level=1", "key 'level' has no effect with the other parameters given"},
      {"ic:drop=0.1", "key 'drop' has no effect with the other parameters given"},
      {"ic:factorization=ict,steps=3", "key 'steps' has no effect with the other parameters given"},
      {"ic:match=product",
       "unknown key 'match', known are factorization, level, drop, max-fill, repattern, search, "
       "steps, modified, abs-threshold, rel-threshold, signs, solve, power, side, adaptive, eps, "
       "relax, "
       "relax-threshold, "
       "relax-limit, fallback, fallback-threshold, sweeps, damping, start, "
       "divergence-limit, storage, breakdown, shift, pivot-tol, poly, poly-storage"},
      {"ic:solve=async", "ic is symmetric, but the strategy 'async' varies from one application to "
                         "the next: take solve=jacobi, solve=isai or solve=exact"},
      {"ic:solve=magic", "'solve' must be one of exact, isai, jacobi, but it is 'magic'"},
      {"ic:breakdown=fail,shift=0.1", "key 'shift' has no effect with the other parameters given"},
      {"ic:modified=2", "'modified' must be a number of at least 0 and below 2, but it is '2'"},
      {"ic:signs=both", "'signs' must be one of positive, keep, absolute, but it is 'both'"},
      {"ic:shift=0", "'shift' must be a positive number, but it is '0'"},
      {"ic:power=2", "key 'power' has no effect with the other parameters given"},
      {"fsai:adaptive=-1", "'adaptive' must be an integer from 0 to 1000000, but it is '-1'"},
      {"fsai:adaptive=2,per-step=0",
       "'per-step' must be an integer from 1 to 1000000, but it is '0'"},
      {"fsai:adaptive=2,tolerance=1",
       "'tolerance' must be a number of at least 0 and below 1, but it is '1'"},
      {"fsai:per-step=2", "key 'per-step' has no effect with the other parameters given"},
      {"fsai:adaptive=0,tolerance=0.1",
       "key 'tolerance' has no effect with the other parameters given"},
      {"ainv:variant=bainv", "variant=bainv needs parts=, the number of parts"},
      {"ainv:drop=-0.1", "'drop' must be a number of at least 0, but it is '-0.1'"},
      {"ainv:parts=0", "'parts' must be an integer from 1 to 1000000, but it is '0'"},
      {"ainv:order=amd", "'order' must be one of natural, rcm, nd, but it is 'amd'"},
      {"ainv:tau=0.1",
       "unknown key 'tau', known are variant, drop, drop-rule, max-col, max-fill, "
       "parts, order, symmetric, blocks, storage, breakdown, shift, pivot-tol, poly, "
       "poly-storage"},
      {"jacobi:variant=line", "'variant' must be one of block, point, but it is 'line'"},
      {"ilu:,", "'' is not of the form key=value"},
      {"ilu,level=1", "unknown method 'ilu,level=1', known are " + methods},
      {":", "nothing follows the colon"},
      {"ilu:level:1", "'level:1' is not of the form key=value"},
      {"ilu:level=1 ,power=2", "'level' must be an integer from 0 to 1000000, but it is '1 '"},
      {"ILU", "unknown method 'ILU', known are " + methods},
      {"ilu:level=0x1", "'level' must be an integer from 0 to 1000000, but it is '0x1'"},
      {"ilu:level= 1", "'level' must be an integer from 0 to 1000000, but it is ' 1'"},
      {"ilu:level=1000001", "'level' must be an integer from 0 to 1000000, but it is '1000001'"},
      {"ilu:level=2147483648",
       "'level' must be an integer from 0 to 1000000, but it is '2147483648'"},
      {"fsai:tau=-0.0001", "'tau' must be a number of at least 0 and below 1, but it is '-0.0001'"},
      {"fsai:tau=0.1e", "'tau' must be a number of at least 0 and below 1, but it is '0.1e'"},
      {"fsai:tau=0,1", "'1' is not of the form key=value"},
      {"fsai:tau=inf", "'tau' must be a number of at least 0 and below 1, but it is 'inf'"},
      {"fsai:tau=1e999", "'tau' must be a number of at least 0 and below 1, but it is '1e999'"},
      {"fsai:filter=nan", "'filter' must be a number of at least 0 and below 1, but it is 'nan'"},
      {"fsai:chunk-mib=0", "'chunk-mib' must be an integer from 1 to 1000000, but it is '0'"},
      {"fsai:power=-1", "'power' must be an integer from 0 to 1000000, but it is '-1'"},
      {"fsai:max-row=-1", "'max-row' must be an integer from 0 to 1000000, but it is '-1'"},
      {"fsai:solve=isai",
       "unknown key 'solve', known are tau, power, max-row, adaptive, per-step, "
       "tolerance, filter, storage, chunk-mib, breakdown, shift, poly, poly-storage"},
      {"fsai:breakdown=shift,shift=0", "'shift' must be a positive number, but it is '0'"},
      {"ainv:drop-rule=big",
       "'drop-rule' must be one of auto, absolute, relative, but it is 'big'"},
      {"ainv:symmetric=maybe", "'symmetric' must be one of yes, no, but it is 'maybe'"},
      {"ainv:blocks=3", "'blocks' must be one of yes, no, but it is '3'"},
      {"ainv:max-fill=-1", "'max-fill' must be a number of at least 0, but it is '-1'"},
      {"ainv:max-col=-1", "'max-col' must be an integer from 0 to 1000000, but it is '-1'"},
      {"ainv:variant=plain", "'variant' must be one of ainv, sainv, bainv, but it is 'plain'"},
      {"ilu:solve=isai,side=both", "'side' must be one of rows, columns, but it is 'both'"},
      {"ilu:solve=jacobi,start=one", "'start' must be one of diagonal, zero, but it is 'one'"},
      {"ilu:solve=jacobi,damping=0", "'damping' must be a positive number below 2, but it is '0'"},
      {"ilu:solve=jacobi,damping=-1",
       "'damping' must be a positive number below 2, but it is '-1'"},
      {"ilu:solve=async,order=random", "'order' must be one of along, against, but it is 'random'"},
      {"ilu:solve=jacobi,divergence-limit=0",
       "'divergence-limit' must be a positive number, but it is '0'"},
      {"ilu:solve=isai,relax=auto,relax-limit=-1",
       "'relax-limit' must be an integer from 0 to 1000000, but it is '-1'"},
      {"ilu:solve=isai,relax=-1",
       "'relax' must be an integer from 0 to 1000000 or auto, but it is '-1'"},
      {"jacobi:pivot-tol=-1", "'pivot-tol' must be a number of at least 0, but it is '-1'"},
      {"ilu:pivot-tol=inf", "'pivot-tol' must be a number of at least 0, but it is 'inf'"},
      {"jacobi:shift=1e-3", "key 'shift' has no effect with the other parameters given"},
      {"jacobi:breakdown=shift,shift=-1", "'shift' must be a positive number, but it is '-1'"},
      {"none:", "nothing follows the colon"},
      {"ilu:solve=isai,solve=exact", "key 'solve' is given twice"},
      {"fsai:adaptive=2,power=x", "'power' must be an integer from 0 to 1000000, but it is 'x'"},
      {"ainv:variant=bainv,parts=x", "'parts' must be an integer from 1 to 1000000, but it is 'x'"},
      {"ilu:storage=double,storage=double", "key 'storage' is given twice"},
  };
  for (const auto& c : cases)
    try {
      describe(c.specification);
      ADD_FAILURE() << "'" << c.specification << "' was accepted";
    } catch (const InvalidArgument& error) {
      EXPECT_EQ(error.what(), message("preconditioner '", c.specification, "': ", c.reason));
    }
}

TEST(Factory, RefusesNumbersWithANulInside) {
  EXPECT_THROW(describe(std::string("ilu:level=1\0000", 14)), InvalidArgument);
  EXPECT_THROW(describe(std::string("fsai:tau=0.1\0x", 14)), InvalidArgument);
}

TEST(Factory, FsaiParametersAreThoseOfFsaiOnly) {
  EXPECT_EQ((fsaiParameters<double, DefaultDevice>("fsai:power=3").power), 3);
  for (const char* specification : {"", "ilu", "fsai:", "fsai:level=1", "fsai:poly=3"})
    EXPECT_THROW((fsaiParameters<double, DefaultDevice>(specification)), InvalidArgument)
        << specification;
}

TEST(Factory, TakesASpaceForItsDeviceAndConstScalars) {
  using Exec = DefaultDevice::execution_space;
  PreconditionerPtr<double, DefaultDevice> m = createPreconditioner<const double, Exec>("ilu");
  m = createPreconditioner<double, DefaultDevice::memory_space>("jacobi");
  EXPECT_EQ(m->description(), describe("jacobi"));
}

TEST(Factory, EveryMethodTakesAPolynomial) {
  for (const MethodHelp& method : preconditionerHelp())
    EXPECT_EQ(describe(method.name + ":poly=7"), describe(method.name) + ", poly: 7");
  EXPECT_EQ(describe("ilu:poly=7,solve=isai"), describe("ilu:solve=isai") + ", poly: 7");
  EXPECT_EQ(describe("ilu:poly=0"), describe("ilu"));
  EXPECT_NO_THROW((createPreconditioner<float, HostDevice>("jacobi:poly=2")));
  EXPECT_EQ(describe("ilu:poly=7,poly-storage=float"),
            describe("ilu") + ", poly: 7, poly-storage: float");
  EXPECT_THROW(describe("ilu:poly-storage=float"), InvalidArgument); // of no effect
  EXPECT_THROW((createPreconditioner<float, HostDevice>("ilu:poly=2,poly-storage=double")),
               InvalidArgument);
  ASSERT_EQ(commonParameterHelp().size(), 2u);
  EXPECT_EQ(commonParameterHelp()[0].key, "poly");
  EXPECT_EQ(commonParameterHelp()[0].name, "poly: degree");
  EXPECT_EQ(commonParameterHelp()[1].name, "poly: storage precision");
}

TEST(Factory, TakesPolynomialsApart) {
  using Device = DefaultDevice;
  const auto of = [](const char* text) { return polynomialParameters<double, Device>(text); };
  EXPECT_EQ(of("ilu:poly=7,level=1").degree, 7);
  EXPECT_EQ(of("ilu:poly=7").storage, Storage::Native);
  EXPECT_EQ(of("ilu:storage=float,poly=7,poly-storage=bfloat16").storage, Storage::BFloat16);
  EXPECT_EQ(of("ilu:poly=auto").degree, PolynomialParameters::automatic);
  EXPECT_EQ(of("ilu:poly=0").degree, 0);
  EXPECT_EQ(of("ilu").degree, 0);
  EXPECT_EQ((polynomialParameters<float, Device>("ilu:poly=7,poly-storage=float").storage),
            Storage::Native);
  EXPECT_EQ(withoutPolynomial("ilu:storage=float,poly=7,level=1,poly-storage=float"),
            "ilu:storage=float,level=1");
  EXPECT_EQ(withoutPolynomial("ilu:poly=7"), "ilu");
  EXPECT_EQ(withoutPolynomial("none"), "none");
}

TEST(Factory, FloatVectorsHaveNoDoubleStorage) {
  EXPECT_THROW((createPreconditioner<float, DefaultDevice>("ilu:storage=double")), InvalidArgument);
  EXPECT_NO_THROW((createPreconditioner<float, DefaultDevice>("ilu:storage=float")));
  EXPECT_NO_THROW((createPreconditioner<float, DefaultDevice>("ilu:storage=bfloat16")));
}

TEST(Factory, HelpNamesWhatIsAccepted) {
  ASSERT_EQ(preconditionerHelp().size(), 9u);
  for (const MethodHelp& method : preconditionerHelp()) {
    EXPECT_NO_THROW(describe(method.name));
    EXPECT_FALSE(method.meaning.empty());
  }
}

/// What is set in C++ is refused in the words of the tables.
TEST(Factory, ConstructorsRefuseWhatTheTablesDo) {
  using Device = DefaultDevice;
  JacobiParameters jacobi;
  jacobi.shift = 0; // under another policy, which does not take it
  EXPECT_EQ(refusal([&] { Jacobi<double, Device>{jacobi}; }),
            "'shift' must be a positive number, but it is '0'");
  ChebyshevParameters chebyshev;
  chebyshev.ratio = 1;
  EXPECT_EQ(refusal([&] { Chebyshev<float, Device>{chebyshev}; }),
            "'ratio' must be a number above 1, but it is '1'");
  AinvParameters ainv;
  ainv.max_fill = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refusal([&] { Ainv<double, Device>{ainv}; }),
            "'max-fill' must be a number of at least 0, but it is 'nan'");
  ainv = {};
  ainv.storage = Storage::Float;
  EXPECT_EQ(refusal([&] { Ainv<double, Device>{ainv}; }), "");
  FsaiParameters<Device> fsai;
  fsai.adaptive.power = -1; // of adaptive patterns, which these are not
  EXPECT_EQ(refusal([&] { Fsai<double, Device>{fsai}; }),
            "'power' must be an integer from 0 to 1000000, but it is '-1'");
  fsai = {};
  fsai.chunk_bytes = 1; // a part of a MiB
  EXPECT_EQ(refusal([&] { Fsai<double, Device>{fsai}; }), "");
  fsai.chunk_bytes = 0;
  EXPECT_EQ(refusal([&] { Fsai<double, Device>{fsai}; }),
            "'chunk-mib' must be an integer from 1 to 1000000, but it is '0'");
  BlockIluParameters level;
  level.level = -1;
  IluParameters<double, Device> ilu;
  ilu.factorization = level;
  EXPECT_EQ(refusal([&] { Ilu<double, Device>{ilu}; }),
            "'level' must be an integer from 0 to 1000000, but it is '-1'");
  ilu.factorization = BlockIluParameters();
  IsaiParameters<Device> isai;
  isai.relax = -2; // -1 is relax=auto
  ilu.solve = isai;
  EXPECT_EQ(refusal([&] { Ilu<double, Device>{ilu}; }),
            "'relax' must be an integer from 0 to 1000000 or auto, but it is '-2'");
  SweepParameters sweeps;
  sweeps.sweeps = 0;
  sweeps.start = SweepStart::Zero;
  ilu.solve = sweeps;
  EXPECT_EQ(refusal([&] { Ilu<double, Device>{ilu}; }),
            "'sweeps' must be an integer from 1 to 1000000, but it is '0'");
}

} // namespace
} // namespace ainvil
