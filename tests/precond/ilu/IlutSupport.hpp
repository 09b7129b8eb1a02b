// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What tests of threshold ILU share.

#include "Ainvil_Factory.hpp"
#include "ilu/Ainvil_Ilut.hpp"
#include "precond/ilu/IluSupport.hpp"

#include <memory>
#include <string>
#include <utility>

namespace ainvil {
namespace test {

/// The ways to find a pattern, to be appended to a specification.
constexpr const char* sequential = ",search=sequential";
constexpr const char* parallel = ",search=parallel";
constexpr const char* searches[] = {sequential, parallel};

inline std::vector<double> inverseBy(const std::string& specification, const HostBsr& a,
                                     Trans trans = Trans::No) {
  const auto m = createPreconditioner<double, Device>(specification);
  setUp(*m, a);
  return denseInverse(*m, trans);
}

/// `rule` begins with a comma.
inline std::unique_ptr<Ilu<double, Device>> makeIlut(const std::string& rule) {
  auto made = createPreconditioner<double, Device>("ilu:factorization=ilut" + rule);
  return std::unique_ptr<Ilu<double, Device>>(&dynamic_cast<Ilu<double, Device>&>(*made.release()));
}
inline std::unique_ptr<Ilu<double, Device>> ilutBy(const std::string& rule, const HostBsr& a) {
  auto m = makeIlut(rule);
  setUp(*m, a);
  return m;
}

/// The columns of the rows of L and U.
inline std::pair<Rows, Rows> patternOf(const Factorization<double, Device>& factors) {
  return {rowsOf(copyTo<HostDevice>(factors.lower().matrix.graph)),
          rowsOf(copyTo<HostDevice>(factors.upper().matrix.graph))};
}
inline Offset entriesOf(const Factorization<double, Device>& factors) {
  return factors.lower().matrix.numEntries() + factors.upper().matrix.numEntries();
}

/// The first and the fourth row and column are full.
inline Pattern arrowPattern(Ordinal n) {
  Pattern pattern = randomPattern(n, 2, 5);
  for (const Ordinal dense : {0, 3})
    for (Ordinal i = 0; i < n; ++i) {
      pattern[i].insert(dense);
      pattern[dense].insert(i);
    }
  return pattern;
}

} // namespace test
} // namespace ainvil
