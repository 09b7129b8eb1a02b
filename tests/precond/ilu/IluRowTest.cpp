// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// The kernel of GPUs, which runs on hosts, too, with one lane: the factors are those of Ilu.

#include "precond/ilu/IluSupport.hpp"

#include "ilu/Ainvil_BlockIluRow.hpp"
#include "ilu/Ainvil_Ilut.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace ainvil {
namespace {

using namespace test;

template <int BS>
void expectFactors(const HostBsr& host_a, const Factorization<double, Device>& factors,
                   const IluOnPatternOptions& parameters, int capacity) {
  using Row = detail::BlockIluRow<BS, double, Device>;
  const Exec exec;
  const DeviceBsr a = copyTo<Device>(host_a);
  const DeviceBsr& l = factors.lower().matrix;
  const DeviceBsr& u = factors.upper().matrix;
  const int bs = a.block_size;
  const auto l_values = poisoned(l.values.extent(0)), u_values = poisoned(u.values.extent(0));
  const auto inverses = poisoned(size_t(a.numRows()) * bs * bs);
  detail::PivotInverter<double, Device> pivots(exec, BreakdownPolicy::Fail, 0,
                                               std::numeric_limits<double>::epsilon(),
                                               poisoned(size_t(a.numPointRows())));
  pivots.change = detail::DiagonalChange<double>(parameters);
  pivots.start(exec, a);
  const OrderedRows<Device> order(exec, l.graph, Uplo::Lower, {20, 1.25});
  order.run(exec, "Ainvil::test",
            Row{{a.graph, l.graph, u.graph, a.values, l_values, u_values, inverses,
                 DeviceBsr(u.graph, u_values, bs), pivots, bs, false, parameters.modified},
                capacity},
            Row::scratchBytes(bs, capacity));
  EXPECT_EQ(pivots.count(exec), 0);
  expectNear(toHost(l_values), toHost(l.values), 1e-12);
  expectNear(toHost(u_values), toHost(u.values), 1e-12);
  expectNear(toHost(inverses), toHost(factors.lower().diagonal_inverse), 1e-12);
}

void expectFactors(const HostBsr& a, const Factorization<double, Device>& factors,
                   const IluOnPatternOptions& parameters, int capacity) {
  switch (a.block_size) {
  case 1:
    return expectFactors<1>(a, factors, parameters, capacity);
  case 3:
    return expectFactors<3>(a, factors, parameters, capacity);
  case 5:
    return expectFactors<5>(a, factors, parameters, capacity);
  default:
    return expectFactors<0>(a, factors, parameters, capacity);
  }
}

TEST(IluRow, GivesTheFactors) {
  for (const int bs : {1, 3, 5, 9})
    for (const double modified : {0.0, 0.7})
      for (const int level : {0, 1}) {
        const HostBsr a = matrixOn(randomPattern(61, 6, 61), bs, 62);
        IluSettings<Device> parameters = exactIlu(level);
        parameters.factorization.modified = modified;
        parameters.factorization.relative_threshold = 1 + modified;
        parameters.factorization.absolute_threshold = 2 * modified;
        Ilu<double, Device> ilu(parameters);
        setUp(ilu, a);
        for (const int capacity : {0, 5, 1000}) {
          SCOPED_TRACE(message(bs, " ", modified, " ", level, " ", capacity));
          expectFactors(a, ilu.factors(), parameters.factorization, capacity);
        }
      }
}

/// Patterns by threshold lack entries of A, which modified factors add to the diagonal.
TEST(IluRow, AddsWhatThresholdsDropOfA) {
  for (const int bs : {1, 3, 5, 9}) {
    const HostBsr a = matrixOn(randomPattern(61, 6, 63), bs, 64);
    IlutParameters parameters;
    parameters.drop = 0.2;
    parameters.modified = 0.7;
    Ilut<double, Device> ilut(parameters);
    setUpFactors(ilut, a);
    ASSERT_LT(ilut.lower().matrix.numEntries() + ilut.upper().matrix.numEntries(), a.numEntries());
    for (const int capacity : {0, 1000})
      expectFactors(a, ilut, parameters, capacity);
  }
}

} // namespace
} // namespace ainvil
