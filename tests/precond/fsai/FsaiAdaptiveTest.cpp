// SPDX-License-Identifier: BSD-3-Clause
#include "KokkosObservers.hpp"
#include "precond/PrecondSupport.hpp"

#include "Ainvil_Cg.hpp"
#include "Ainvil_Fsai.hpp"
#include "gallery/Ainvil_Gallery.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace ainvil {
namespace {

using namespace test;
using Method = Fsai<double, Device>;

/// No threshold, no filter.
FsaiParameters<Device> adaptive(int steps, int per_step, double tolerance = 0) {
  FsaiParameters<Device> parameters;
  parameters.tau = 0;
  parameters.filter = 0;
  parameters.adaptive.steps = steps;
  parameters.adaptive.per_step = per_step;
  parameters.adaptive.tolerance = tolerance;
  return parameters;
}

Pattern patternOf(const Graph<Device>& graph) {
  const Rows rows = rowsOf(graph);
  Pattern pattern;
  for (const auto& row : rows)
    pattern.emplace_back(row.begin(), row.end());
  return pattern;
}

Pattern patternFor(const FsaiParameters<Device>& parameters, const HostBsr& a) {
  Method method(parameters);
  setUp(method, a);
  return patternOf(method.factor().graph());
}

/// log psi_i of every row, from the diagonal blocks of G.
std::vector<double> logPsi(const FsaiParameters<Device>& parameters, const HostBsr& a) {
  Method method(parameters);
  setUp(method, a);
  const HostBsr g = copyTo<HostDevice>(method.factor().native());
  const int bs = a.block_size;
  std::vector<double> result(a.numRows());
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (int r = 0; r < bs; ++r)
      result[i] -= 2 * std::log(g.values(((g.graph.row_map(i + 1) - 1) * bs + r) * bs + r)) / bs;
  return result;
}

double logDeterminant(std::vector<double> a, size_t n) {
  double sum = 0;
  for (size_t k = 0; k < n; ++k) {
    sum += std::log(a[k * n + k]);
    for (size_t i = k + 1; i < n; ++i)
      for (size_t j = n; j-- > k;)
        a[i * n + j] -= a[i * n + k] / a[k * n + k] * a[k * n + j];
  }
  return sum;
}

/// Adaptive growth by the definition: with Q = P without i,
///   Psi = A_ii + X A_Qi,  X = -A_iQ A_QQ^-1,  R_k = A_ik + X A_Qk,
///   gain_k = tr(Psi^-1 R_k A_kk^-1 R_k^T).
class Reference {
public:
  explicit Reference(const HostBsr& a)
      : dense_(toDense(a)), neighbours_(patternOf(copyTo<Device>(a.graph))), bs_(a.block_size) {}

  Pattern grow(const FsaiAdaptive& growth, int max_row = 0, Pattern start = {}) const {
    const Ordinal n = static_cast<Ordinal>(neighbours_.size());
    Pattern pattern = start.empty() ? diagonalPattern(n) : start;
    for (Ordinal i = 0; i < n; ++i)
      growRow(i, growth, max_row, pattern[i]);
    return pattern;
  }

private:
  using Block = std::vector<double>;
  using Columns = std::vector<Ordinal>;

  /// A[rows, columns] in block rows and columns.
  Block part(const Columns& rows, const Columns& columns) const {
    const size_t n = neighbours_.size() * bs_;
    Block result;
    for (const size_t i : rows)
      for (size_t r = 0; r < bs_; ++r)
        for (const size_t j : columns)
          for (size_t c = 0; c < bs_; ++c)
            result.push_back(dense_[(i * bs_ + r) * n + j * bs_ + c]);
    return result;
  }

  Block plus(Block a, const Block& b) const {
    for (size_t k = 0; k < b.size(); ++k) // the product with an empty matrix is empty
      a[k] += b[k];
    return a;
  }

  void growRow(Ordinal i, const FsaiAdaptive& growth, int max_row, std::set<Ordinal>& row) const {
    double before = std::numeric_limits<double>::infinity();
    for (int step = 0; step < growth.steps; ++step) {
      Columns q(row.begin(), std::prev(row.end()));
      const size_t m = q.size() * bs_;
      Block x = transposed(solve(part(q, q), part(q, {i}), m), bs_);
      for (double& value : x)
        value = -value;
      const Block psi = plus(part({i}, {i}), multiply(x, part(q, {i}), m));
      const double log_psi = logDeterminant(psi, bs_) / double(bs_);
      if (growth.tolerance > 0 && log_psi > before + std::log1p(-growth.tolerance))
        return;
      before = log_psi;

      std::vector<std::pair<float, Ordinal>> gains;
      std::set<Ordinal> candidates;
      for (const Ordinal j : row)
        for (const Ordinal k : neighbours_[j])
          if (k < i && row.count(k) == 0)
            candidates.insert(k);
      for (const Ordinal k : candidates) {
        const Block r = plus(part({i}, {k}), multiply(x, part(q, {k}), m));
        const Block product =
            multiply(multiply(solve(psi, r, bs_), inverse(part({k}, {k}), bs_), bs_),
                     transposed(r, bs_), bs_);
        double trace = 0;
        for (size_t d = 0; d < bs_; ++d)
          trace += product[d * bs_ + d];
        gains.emplace_back(static_cast<float>(trace), k);
      }
      std::sort(gains.rbegin(), gains.rend());
      for (size_t c = 0; c < gains.size() && c < size_t(growth.per_step); ++c)
        if (gains[c].first > 0 && (max_row == 0 || row.size() < size_t(max_row)))
          row.insert(gains[c].second);
    }
  }

  std::vector<double> dense_;
  Pattern neighbours_;
  size_t bs_;
};

class FsaiAdaptiveBlockSize : public ::testing::TestWithParam<int> {};

TEST_P(FsaiAdaptiveBlockSize, FollowsTheDefinition) {
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 6, 201), GetParam(), 201);
  const Reference reference(a);
  for (const int per_step : {1, 2, 5})
    for (const int steps : {1, 2, 4})
      for (const double tolerance : {0.0, 0.005, 0.03}) {
        const auto parameters = adaptive(steps, per_step, tolerance);
        EXPECT_EQ(patternFor(parameters, a), reference.grow(parameters.adaptive))
            << per_step << " a step, " << steps << " steps, tolerance " << tolerance;
      }
}

TEST_P(FsaiAdaptiveBlockSize, DoesNotDependOnTheScalingOfTheMatrix) {
  const int bs = GetParam();
  const HostBsr a = spdMatrixOn(symmetricPattern(50, 5, 202), bs, 202);
  const HostBsr scaled = copyTo<HostDevice>(inPrecision<double>(a));
  Random random(203);
  std::vector<double> d(a.numPointRows());
  for (double& value : d)
    value = std::pow(10.0, random.uniform(-3, 3));
  for (Ordinal i = 0; i < 50; ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < bs; ++c)
          scaled.values((e * bs + r) * bs + c) *= d[i * bs + r] * d[a.graph.entries(e) * bs + c];
  for (const double tolerance : {0.0, 0.01})
    EXPECT_EQ(patternFor(adaptive(3, 2, tolerance), scaled),
              patternFor(adaptive(3, 2, tolerance), a));
}

TEST_P(FsaiAdaptiveBlockSize, EveryStepLowersPsi) {
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 6, 204), GetParam(), 204);
  FsaiParameters<Device> diagonal = adaptive(0, 1);
  diagonal.power = 0;
  std::vector<double> before = logPsi(diagonal, a);
  for (int steps = 1; steps < 8; ++steps) {
    const auto after = logPsi(adaptive(steps, 2), a);
    double gained = 0;
    for (size_t i = 0; i < after.size(); ++i) {
      EXPECT_LE(after[i], before[i] + 1e-14);
      gained += before[i] - after[i];
    }
    EXPECT_GT(gained, 0);
    before = after;
  }
}

TEST_P(FsaiAdaptiveBlockSize, EndsAtTheFullTriangle) {
  // A path, on which every row reaches all before it.
  Pattern path = diagonalPattern(12);
  for (Ordinal i = 1; i < 12; ++i) {
    path[i].insert(i - 1);
    path[i - 1].insert(i);
  }
  const HostBsr a = spdMatrixOn(path, GetParam(), 205);
  Method method(adaptive(20, 3));
  setUp(method, a);
  EXPECT_EQ(method.patternEntries(), 12 * 13 / 2);
  expectNear(denseInverse(method), inverse(toDense(a), 12 * GetParam()), 1e-13);
}

TEST_P(FsaiAdaptiveBlockSize, RowsRespectTheirLimits) {
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 8, 206), GetParam(), 206);
  const Reference reference(a);
  for (const int max_row : {1, 2, 4, 7}) {
    FsaiParameters<Device> parameters = adaptive(4, 3);
    parameters.max_row = max_row;
    const Pattern pattern = patternFor(parameters, a);
    EXPECT_EQ(pattern, reference.grow(parameters.adaptive, max_row));
    size_t longest = 0;
    for (const auto& row : pattern)
      longest = std::max(longest, row.size());
    EXPECT_EQ(longest, size_t(max_row));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, FsaiAdaptiveBlockSize, ::testing::Values(1, 3, 9));

TEST(FsaiAdaptive, StartsFromAPowerOrFromTheUsersPattern) {
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 5, 207), 1, 207);
  FsaiParameters<Device> parameters = adaptive(0, 1);
  parameters.power = 1;
  const Pattern lower = patternFor(parameters, a);
  parameters = adaptive(2, 2);
  const Pattern expected = Reference(a).grow(parameters.adaptive, 0, lower);
  parameters.adaptive.power = 1;
  EXPECT_EQ(patternFor(parameters, a), expected);
  Rows rows;
  for (const auto& row : lower)
    rows.emplace_back(row.begin(), row.end());
  parameters.adaptive.power = 0;
  parameters.pattern = copyTo<Device>(makeGraph(rows));
  EXPECT_EQ(patternFor(parameters, a), expected);
}

/// Candidates are neighbours in the sparsified matrix.
TEST(FsaiAdaptive, ThresholdRestrictsTheCandidates) {
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 6, 208), 1, 208);
  FsaiParameters<Device> parameters = adaptive(20, 60);
  parameters.tau = 0.05;
  const Pattern grown = patternFor(parameters, a);
  parameters.adaptive.steps = 0;
  parameters.power = 20;
  const Pattern reachable = patternFor(parameters, a);
  EXPECT_EQ(grown, reachable);
}

/// Those of a pattern of the user, too: it is only where the growth starts.
TEST(FsaiAdaptive, ThresholdRestrictsTheCandidatesOfAUsersPattern) {
  const HostBsr a = spdMatrixOn(symmetricPattern(60, 6, 208), 1, 208);
  FsaiParameters<Device> parameters = adaptive(2, 2);
  const Pattern unrestricted = patternFor(parameters, a);
  parameters.tau = 0.05;
  const Pattern expected = patternFor(parameters, a);
  EXPECT_NE(expected, unrestricted);
  Rows diagonal(60);
  for (Ordinal i = 0; i < 60; ++i)
    diagonal[i] = {i};
  parameters.pattern = copyTo<Device>(makeGraph(diagonal));
  EXPECT_EQ(patternFor(parameters, a), expected);
}

TEST(FsaiAdaptive, LongRowsSeeAllTheirCandidates) {
  const HostBsr a = spdMatrixOn(longRowsPattern(615), 1, 209);
  for (const auto& parameters : {adaptive(1, 3), adaptive(3, 40)})
    EXPECT_EQ(patternFor(parameters, a), Reference(a).grow(parameters.adaptive));
}

TEST(FsaiAdaptive, DiagonalMatricesStayDiagonal) {
  for (const int bs : {1, 3}) {
    const HostBsr a = spdMatrixOn(diagonalPattern(20), bs, 210);
    EXPECT_EQ(patternFor(adaptive(5, 2), a), diagonalPattern(20));
  }
  // Entries that are zero gain nothing.
  const HostBsr a = spdMatrixOn(fullPattern(20), 1, 211);
  for (Ordinal i = 0; i < 20; ++i)
    for (Ordinal j = 0; j < 20; ++j)
      if (i != j)
        a.values(20 * i + j) = 0;
  EXPECT_EQ(patternFor(adaptive(5, 2), a), diagonalPattern(20));
  EXPECT_EQ(patternFor(adaptive(5, 2), spdMatrixOn({}, 2, 212)), Pattern());
}

TEST(FsaiAdaptive, RowsThatAreNotDefiniteStopAndAreCounted) {
  HostBsr a = spdMatrixOn(symmetricPattern(40, 4, 213), 2, 213);
  for (Offset e = a.graph.row_map(7); e < a.graph.row_map(8); ++e)
    if (a.graph.entries(e) == 7)
      a.values(4 * e) = -3;
  FsaiParameters<Device> parameters = adaptive(3, 2);
  Method failing(parameters);
  EXPECT_THROW(setUp(failing, a), BreakdownError);
  parameters.breakdown = BreakdownPolicy::Replace;
  Method method(parameters);
  setUp(method, a);
  const Pattern pattern = patternOf(method.factor().graph());
  EXPECT_EQ(pattern[7], std::set<Ordinal>{7});
  Offset expected = 0;
  for (const auto& row : pattern)
    expected += static_cast<Offset>(row.count(7));
  EXPECT_EQ(method.report().breakdowns, expected);
  EXPECT_EQ(method.report().first_breakdown, 7);
}

int iterations(const FsaiParameters<Device>& parameters, const Problem& problem, Offset& entries) {
  Method method(parameters);
  setUp(method, problem.matrix);
  entries = method.factor().graph().numEntries();
  Random random(214);
  const auto b = toDevice(random.vector(problem.matrix.numPointRows()));
  const auto x = toDevice(std::vector<double>(problem.matrix.numPointRows(), 0.0));
  const SolveResult result =
      cg(MatrixOperator<double, Device>(copyTo<Device>(problem.matrix)), &method, b, x);
  EXPECT_EQ(result.status, SolveStatus::Converged);
  return result.iterations;
}

TEST(FsaiAdaptive, BeatsTheStaticPatternOfMoreEntries) {
  const Problem problem = makeProblem("jump:12");
  FsaiParameters<Device> square = adaptive(0, 1);
  square.power = 2;
  Offset of_square = 0, of_adaptive = 0;
  const int with_square = iterations(square, problem, of_square);
  const int with_adaptive = iterations(adaptive(10, 4, 0.01), problem, of_adaptive);
  EXPECT_LT(of_adaptive, of_square);
  EXPECT_LT(1.5 * with_adaptive, with_square);
}

TEST(FsaiAdaptive, GoesWithFilterAndSinglePrecision) {
  const HostBsr a = spdMatrixOn(symmetricPattern(50, 5, 215), 3, 215);
  FsaiParameters<Device> parameters = adaptive(4, 2);
  Method plain(parameters);
  setUp(plain, a);
  parameters.filter = 0.05;
  parameters.storage = Storage::Float;
  Method filtered(parameters);
  setUp(filtered, a);
  EXPECT_EQ(filtered.patternEntries(), plain.patternEntries());
  EXPECT_LT(filtered.report().factor_entries, plain.report().factor_entries);

  const auto in_float = copyTo<Device>(inPrecision<float>(a));
  parameters.storage = Storage::Native;
  parameters.filter = 0;
  Fsai<float, Device> single(parameters);
  single.initialize(in_float);
  single.compute(in_float);
  EXPECT_EQ(single.patternEntries(), plain.patternEntries());
}

TEST(FsaiAdaptive, LabelsBelongToTheLibrary) {
  const DeviceBsr a = copyTo<Device>(spdMatrixOn(symmetricPattern(30, 4, 216), 2, 216));
  const KernelLabelRecorder recorder;
  Method method(adaptive(3, 2, 0.01));
  method.initialize(a);
  EXPECT_FALSE(recorder.kernels().empty());
  expectOwnLabels(recorder.labels());
}

TEST(FsaiAdaptive, RefusesParametersOutOfRange) {
  const auto refused = [](auto change) {
    FsaiParameters<Device> parameters = adaptive(2, 2);
    change(parameters.adaptive);
    EXPECT_THROW((Method(parameters)), InvalidArgument);
  };
  refused([](FsaiAdaptive& p) { p.steps = -1; });
  refused([](FsaiAdaptive& p) { p.per_step = 0; });
  refused([](FsaiAdaptive& p) { p.tolerance = -0.1; });
  refused([](FsaiAdaptive& p) { p.tolerance = 1; });
  refused([](FsaiAdaptive& p) { p.tolerance = std::nan(""); });
  refused([](FsaiAdaptive& p) { p.power = -1; });
}

} // namespace
} // namespace ainvil
