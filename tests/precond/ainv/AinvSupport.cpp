// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ainv/AinvSupport.hpp"

#include "Ainvil_Convert.hpp"
#include "Ainvil_Partition.hpp"
#include "Ainvil_Scaling.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "gallery/Ainvil_Gallery.hpp"
#include "io/Ainvil_MatrixMarket.hpp"

#include <cmath>

namespace ainvil {
namespace test {

using HostExec = HostDevice::execution_space;

HostBsr scaledByNorm(const HostBsr& a) {
  const HostExec exec;
  return scaled(exec, scalingFactors(exec, a, ScalingRule::ColumnNorm), a);
}

/// A problem of the gallery, a public matrix, or random patterns; empty if a file is not there.
HostBsr matrixNamed(const std::string& name) {
  if (name == "random")
    return spdMatrixOn(symmetricPattern(536, 4, 201), 1, 201);
  if (name == "random general")
    return matrixOn(randomPattern(536, 4, 202), 1, 202);
  if (name == "long rows")
    return spdMatrixOn(longRowsPattern(615), 1, 203);
  if (name.find(':') != std::string::npos)
    return toPoints(HostExec(), makeProblem(name).matrix);
  const std::string path = matrixPath(name + ".mtx.gz");
  return path.empty() ? HostBsr() : readMatrixMarket(path);
}

AinvParameters ainv(double drop, Ordering order, bool stabilized, bool symmetric) {
  AinvParameters parameters;
  parameters.drop = drop;
  parameters.order = order;
  parameters.stabilized = stabilized;
  parameters.symmetric = symmetric;
  return parameters;
}

std::string nameOf(const AinvParameters& parameters) {
  return AinvMethod(parameters).description();
}

HostBsr eliminated(const HostBsr& a, const AinvParameters& parameters) {
  const HostExec exec;
  HostBsr points = toPoints(exec, a);
  if (parameters.parts > 1) {
    const auto part_of = partition(points.graph, parameters.parts).part_of;
    const auto within = entriesWithinParts<HostDevice>(exec, points.graph, part_of);
    const auto values =
        allocate<double, HostDevice>(exec, "Ainvil::values", within.graph.numEntries());
    gatherBlocks<double, HostDevice>(exec, Trans::No, within.source, 1, points.values, values);
    points = HostBsr(within.graph, values, 1);
  }
  return permuted(exec, ordering(parameters.order, points.graph), points);
}

AinvReference referenceOf(const HostBsr& a, const AinvParameters& parameters) {
  AinvReferenceOptions options;
  options.stabilized = parameters.stabilized;
  options.symmetric = parameters.symmetric;
  options.drop = parameters.drop;
  options.relative = parameters.drop_rule == DropRule::Relative ||
                     (parameters.drop_rule == DropRule::Auto && parameters.symmetric);
  options.max_column = parameters.max_column;
  options.breakdown = parameters.breakdown;
  options.shift = parameters.shift;
  return ainvReference(eliminated(a, parameters), options);
}

/// The same entries, of the same values to `tolerance` of the largest in the column.
void expectSameColumns(const std::vector<SparseColumn>& found,
                       const std::vector<SparseColumn>& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  size_t other_patterns = 0, first = 0;
  double worst = 0;
  for (size_t j = found.size(); j-- > 0;) {
    double largest = 0, difference = 0;
    bool same = found[j].size() == expected[j].size();
    for (size_t e = 0; same && e < found[j].size(); ++e) {
      same = found[j][e].first == expected[j][e].first;
      largest = std::max(largest, std::abs(expected[j][e].second));
      difference = std::max(difference, std::abs(found[j][e].second - expected[j][e].second));
    }
    if (!same) {
      ++other_patterns;
      first = j;
    } else if (!(difference / largest <= worst)) {
      worst = difference / largest;
    }
  }
  EXPECT_EQ(other_patterns, 0u) << "columns of another pattern, the first is " << first;
  EXPECT_LE(worst, tolerance);
}

void expectReference(const AinvMethod& method, const AinvReference& expected, double tolerance) {
  expectSameColumns(zOf(method), expected.z, tolerance);
  if (!expected.w.empty())
    expectSameColumns(wOf(method), expected.w, tolerance);
  const auto pivots = pivotsOf(method);
  ASSERT_EQ(pivots.size(), expected.pivots.size());
  for (size_t j = 0; j < pivots.size(); ++j)
    ASSERT_NEAR(pivots[j], expected.pivots[j], 1e3 * tolerance * std::abs(expected.pivots[j])) << j;
  EXPECT_EQ(method.report().breakdowns, expected.breakdowns);
  EXPECT_EQ(method.report().factor_entries, numEntries(expected.z) + numEntries(expected.w));
}

void compareWithReference(const HostBsr& a, const AinvParameters& parameters, double tolerance) {
  SCOPED_TRACE(nameOf(parameters));
  const AinvReference expected = referenceOf(a, parameters);
  AinvMethod method(parameters);
  setUp(method, a);
  expectReference(method, expected, tolerance);
}

} // namespace test
} // namespace ainvil
