// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// What the methods that invert pivot blocks do with those that have no inverse, whichever the
/// method.

#include "precond/PrecondSupport.hpp"

#include "Ainvil_Factory.hpp"

#include <gtest/gtest.h>

namespace ainvil {
namespace {

using namespace test;

/// Specifications without the parameters of the breakdown policy.
const char* const methods[] = {"jacobi:variant=block", "ilu:level=0", "ilu:iterative=2",
                               "ilu:solve=isai"};

/// The policies of a method that go on.
std::vector<std::string> policiesOf(const std::string& method) {
  if (method.rfind("ilu", 0) == 0)
    return {"shift", "replace", "shift-all"};
  return {"shift", "replace"};
}

/// Rows of blocks of their own; in those of `singular` the first two rows of the block are equal,
/// or the block is 0.
HostBsr withSingularBlocks(const std::vector<Ordinal>& singular, int bs) {
  const HostBsr a = matrixOn(diagonalPattern(40), bs, 301);
  for (const Ordinal i : singular)
    for (int k = 0; k < bs; ++k)
      a.values(i * bs * bs + k) = bs > 1 ? a.values(i * bs * bs + bs + k) : 0.0;
  return a;
}

TEST(BreakdownPolicy, TellsTheFirstOfSeveralBreakdowns) {
  for (const char* method : methods)
    for (const int bs : {1, 3, 11})
      for (const std::vector<Ordinal>& rows :
           {std::vector<Ordinal>{7, 23, 38}, {23, 38}, {0, 39}, {39}}) {
        SCOPED_TRACE(message(method, ", block size ", bs, ", first of ", rows.size()));
        const HostBsr a = withSingularBlocks(rows, bs);
        const auto failing = createPreconditioner<double, Device>(method);
        try {
          setUp(*failing, a);
          ADD_FAILURE() << "no exception";
        } catch (const BreakdownError& error) {
          const std::string text = error.what();
          EXPECT_NE(text.find(message("in block row ", rows.front() + 1, " (counted from 1):")),
                    std::string::npos)
              << text;
        }
        for (const std::string& policy : policiesOf(method)) {
          const auto m =
              createPreconditioner<double, Device>(message(method, ",breakdown=", policy));
          setUp(*m, a);
          EXPECT_EQ(m->report().breakdowns, Ordinal(rows.size()));
          EXPECT_EQ(m->report().first_breakdown, rows.front());
        }
      }
}

/// What is told of one matrix is not told of the next.
TEST(BreakdownPolicy, ForgetsTheMatrixBefore) {
  for (const char* method : methods)
    for (const char* policy : {"fail", "shift", "replace"}) {
      SCOPED_TRACE(message(method, ", ", policy));
      const auto m = createPreconditioner<double, Device>(message(method, ",breakdown=", policy));
      const auto good = copyTo<Device>(withSingularBlocks({}, 3));
      const auto singular = copyTo<Device>(withSingularBlocks({7, 23}, 3));
      m->initialize(good);
      m->compute(good);
      const std::string notes = m->report().notes;
      const auto inverse = denseInverse(*m);
      if (policy == std::string("fail")) {
        EXPECT_THROW(m->compute(singular), BreakdownError);
        EXPECT_FALSE(m->isComputed());
      } else {
        m->compute(singular);
        EXPECT_EQ(m->report().breakdowns, 2);
      }
      m->compute(good);
      EXPECT_EQ(m->report().breakdowns, 0);
      EXPECT_EQ(m->report().first_breakdown, -1);
      EXPECT_EQ(m->report().notes, notes);
      EXPECT_EQ(m->objection(), "");
      EXPECT_EQ(denseInverse(*m), inverse);
    }
}

/// Sweeps diverge on the first matrix, whose factors grow by 50 a row, and not on the second.
TEST(BreakdownPolicy, ForgetsTheObjectionToTheMatrixBefore) {
  Pattern pattern(40);
  for (Ordinal i = 0; i < 40; ++i)
    pattern[i] = i > 0 ? std::set<Ordinal>{i - 1, i} : std::set<Ordinal>{i};
  const auto chain = [&](double coupling) {
    const HostBsr a = matrixOn(pattern, 1, 302);
    for (Ordinal i = 0; i < 40; ++i)
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        a.values(e) = a.graph.entries(e) == i ? 1 : coupling;
    return copyTo<Device>(a);
  };
  const auto m = createPreconditioner<double, Device>("ilu:solve=jacobi,sweeps=4");
  m->initialize(chain(50));
  m->compute(chain(50));
  EXPECT_NE(m->objection(), "");
  m->compute(chain(0.1));
  EXPECT_EQ(m->objection(), "");
}

/// M^-1 of s A is M^-1 / s: what replaces a singular block is of the size of that block. The scales
/// are powers of two, about 1e-5 and 1e5, so that nothing else is rounded in another way.
TEST(BreakdownPolicy, FollowsTheScaleOfTheMatrix) {
  for (const char* method : methods)
    for (const std::string& policy : policiesOf(method))
      for (const int bs : {2, 3, 11}) {
        const HostBsr a = withSingularBlocks({7, 23}, bs);
        const auto inverseAt = [&](double scale) {
          const HostBsr scaled(a.graph, viewOf(toHost(a.values)), bs);
          for (size_t i = 0; i < scaled.values.extent(0); ++i)
            scaled.values(i) *= scale;
          const auto m =
              createPreconditioner<double, Device>(message(method, ",breakdown=", policy));
          setUp(*m, scaled);
          EXPECT_EQ(m->report().breakdowns, 2);
          auto inverse = denseInverse(*m);
          for (double& value : inverse)
            value *= scale;
          return inverse;
        };
        const auto expected = inverseAt(1);
        for (const double scale : {0x1p-17, 0x1p17})
          expectNear(inverseAt(scale), expected, 1e-13,
                     message(method, ", ", policy, ", block size ", bs, ", scale ", scale));
      }
}

} // namespace
} // namespace ainvil
