// SPDX-License-Identifier: BSD-3-Clause
#include "property/RandomSystem.hpp"

namespace ainvil {
namespace test {
namespace {

template <class T>
T oneOf(Random& random, const std::vector<T>& choices) {
  return choices[random.below(static_cast<Ordinal>(choices.size()))];
}

/// 2^k of a size between 10^-decades and 10^decades: multiplying by it rounds nothing.
double powerOfTwo(Random& random, double decades) {
  return std::exp2(std::floor(random.uniform(-decades, decades) * std::log2(10.0)));
}

void addColumn(std::vector<Ordinal>& row, Ordinal column) {
  if (std::find(row.begin(), row.end(), column) == row.end())
    row.push_back(column);
}

Offset findBlock(const HostBsr& a, Ordinal i, Ordinal j) {
  for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
    if (a.graph.entries(e) == j)
      return e;
  return -1;
}

/// A_ji = A_ij^T on a symmetric pattern; the lower part decides.
void mirrorValues(const HostBsr& a) {
  const int bs = a.block_size;
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
      const Ordinal j = a.graph.entries(e);
      if (j > i)
        continue;
      const Offset mirror = findBlock(a, j, i);
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < (i == j ? r : bs); ++c)
          a.values((mirror * bs + c) * bs + r) = a.values((e * bs + r) * bs + c);
    }
}

void fillValues(const HostBsr& a, Values kind, Random& random) {
  for (size_t k = 0; k < a.values.extent(0); ++k)
    a.values(k) = random.uniform(-1, 1);
  const bool symmetric = kind == Values::Spd || kind == Values::Symmetric;
  if (symmetric)
    mirrorValues(a);
  const int bs = a.block_size;
  if (kind == Values::Spd)
    for (Ordinal i = 0; i < a.numRows(); ++i)
      if (const Offset e = findBlock(a, i, i); e >= 0)
        for (int r = 0; r < bs; ++r)
          a.values((e * bs + r) * bs + r) = std::abs(a.values((e * bs + r) * bs + r));
  if (kind == Values::Spd || kind == Values::Dominant)
    makeDominant(a);
}

/// Rows times d, columns times e.
void scaleRowsAndColumns(const HostBsr& a, const std::vector<double>& d,
                         const std::vector<double>& e) {
  const Offset bs = a.block_size;
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset k = a.graph.row_map(i); k < a.graph.row_map(i + 1); ++k)
      for (Offset r = 0; r < bs; ++r)
        for (Offset c = 0; c < bs; ++c)
          a.values((k * bs + r) * bs + c) *= d[i * bs + r] * e[a.graph.entries(k) * bs + c];
}

void applyScales(const HostBsr& a, Scales scales, Random& random) {
  const auto factors = [&](Offset n, double decades) {
    std::vector<double> d(n);
    for (double& value : d)
      value = powerOfTwo(random, decades);
    return d;
  };
  const Offset n = a.numPointRows();
  // Sometimes moderate, since extremes hide what else may be wrong.
  const double decades = random.below(2) == 0 ? 75 : 4;
  switch (scales) {
  case Scales::One:
    return;
  case Scales::Global:
    return scaleRowsAndColumns(a, std::vector<double>(n, powerOfTwo(random, 2 * decades)),
                               std::vector<double>(n, 1.0));
  case Scales::Diagonal: {
    const std::vector<double> d = factors(n, decades);
    return scaleRowsAndColumns(a, d, d);
  }
  case Scales::RowsColumns: {
    const std::vector<double> d = factors(n, decades);
    return scaleRowsAndColumns(a, d, factors(n, decades));
  }
  }
}

/// Flaws of the pattern.
void spoil(Rows& rows, Flaw flaw, Random& random) {
  const Ordinal n = static_cast<Ordinal>(rows.size());
  const auto drop = [&](Ordinal i, Ordinal j) {
    rows[i].erase(std::remove(rows[i].begin(), rows[i].end(), j), rows[i].end());
  };
  const Ordinal victim = random.below(n);
  if (flaw == Flaw::MissingDiagonals)
    for (Ordinal i = 0; i < n; ++i)
      if (i == victim || random.below(3) == 0)
        drop(i, i);
  if (flaw == Flaw::EmptyRow)
    rows[victim].clear();
  if (flaw == Flaw::EmptyColumn)
    for (Ordinal i = 0; i < n; ++i)
      drop(i, victim);
}

/// Flaws of the values.
void spoil(const HostBsr& a, Flaw flaw, Random& random) {
  if (a.values.extent(0) == 0)
    return;
  const int bs = a.block_size, bs2 = bs * bs;
  const Ordinal victim = random.below(a.numRows());
  const Offset begin = a.graph.row_map(victim) * bs2, end = a.graph.row_map(victim + 1) * bs2;
  double& any = a.values(random.below(static_cast<Ordinal>(a.values.extent(0))));
  if (flaw == Flaw::ZeroRow)
    for (Offset k = begin; k < end; ++k)
      a.values(k) = 0;
  if (flaw == Flaw::EqualRows && bs > 1)
    for (Offset e = a.graph.row_map(victim); e < a.graph.row_map(victim + 1); ++e)
      for (int c = 0; c < bs; ++c)
        a.values(e * bs2 + bs + c) = a.values(e * bs2 + c);
  if (flaw == Flaw::TinyPivot)
    if (const Offset e = findBlock(a, victim, victim); e >= 0)
      a.values(e * bs2) = 1e-300;
  if (flaw == Flaw::NotANumber)
    any = std::numeric_limits<double>::quiet_NaN();
  if (flaw == Flaw::Infinity)
    any = -std::numeric_limits<double>::infinity();
}

HostBsr allocateOn(const Rows& rows, int block_size) {
  const Graph<HostDevice> graph = makeGraph(rows);
  return {graph,
          Kokkos::View<double*, HostDevice>("Ainvil::test",
                                            graph.numEntries() * block_size * block_size),
          block_size};
}

} // namespace

int randomBlockSize(Random& random, bool larger) {
  if (larger && random.below(8) == 0)
    return oneOf<int>(random, {16, 17, 33});
  return random.below(3) == 0 ? 1 : 1 + random.below(8);
}

Ordinal randomSize(Random& random, int block_size, Ordinal max_points) {
  const Ordinal n = oneOf<Ordinal>(random, {0, 1, 2, 3, 7, 31, 32, 33, 64, 65, 150, 300});
  return std::min(n, max_points / block_size);
}

Rows randomPatternOf(Random& random, Ordinal num_rows, Ordinal num_cols, bool diagonal,
                     std::string& name) {
  RandomOptions options;
  options.seed = random.bits() % 1000000;
  options.diagonal = diagonal;
  Rows rows(num_rows);
  const auto withDiagonal = [&] {
    for (Ordinal i = 0; diagonal && i < std::min(num_rows, num_cols); ++i)
      addColumn(rows[i], i);
  };
  const Ordinal longest = std::max(num_rows, num_cols);
  Ordinal shape = random.below(7);
  if ((shape == 2 && longest > 150) || (shape == 3 && longest > 65))
    shape = 5; // n^4 operations for fill and powers would be many
  switch (shape) {
  case 0:
    name = "diagonal";
    withDiagonal();
    break;
  case 1:
    name = "sparse";
    rows = randomRows(num_rows, num_cols, std::min(1.0, 3.0 / std::max(1, num_cols)), options);
    break;
  case 2:
    name = "a third full";
    rows = randomRows(num_rows, num_cols, 0.3, options);
    break;
  case 3:
    name = "full";
    for (auto& row : rows)
      for (Ordinal j = 0; j < num_cols; ++j)
        row.push_back(j);
    break;
  case 4:
    name = "band";
    for (Ordinal i = 0; i < num_rows; ++i)
      for (Ordinal j = std::max(0, i - 3); j < std::min(num_cols, i + 3); ++j)
        rows[i].push_back(j);
    break;
  case 5:
    name = "long rows";
    rows = randomRows(num_rows, num_cols, {1, 2, 1, 3, num_cols, 2, 1, 4, 2, 31, 33}, options);
    break;
  default:
    name = "arrow";
    withDiagonal();
    for (Ordinal i = 0; i < num_rows; ++i)
      if (num_cols > 0)
        addColumn(rows[i], num_cols - 1);
    for (Ordinal j = 0; num_rows > 0 && j < num_cols; ++j)
      addColumn(rows[num_rows - 1], j);
  }
  for (auto& row : rows)
    std::sort(row.begin(), row.end());
  return rows;
}

RandomSystem randomSystem(std::uint64_t seed, const Wanted& wanted) {
  Random random(seed * 1000003);
  RandomSystem system;
  system.seed = seed;
  system.values = oneOf(random, wanted.values);
  system.scales = oneOf(random, wanted.scales);
  const bool symmetric = system.values == Values::Spd || system.values == Values::Symmetric;
  if (symmetric && system.scales == Scales::RowsColumns)
    system.scales = Scales::Diagonal;
  const int block_size = randomBlockSize(random, wanted.larger_blocks);
  const Ordinal n = randomSize(random, block_size, wanted.max_points);
  system.flaw = n > 0 ? oneOf(random, wanted.flaws) : Flaw::None;
  Rows rows = randomPatternOf(random, n, n, true, system.pattern);
  if (n > 0)
    spoil(rows, system.flaw, random);
  if (symmetric) {
    const Rows half = rows;
    for (Ordinal i = 0; i < n; ++i)
      for (const Ordinal j : half[i])
        addColumn(rows[j], i);
    for (auto& row : rows)
      std::sort(row.begin(), row.end());
  }
  system.matrix = allocateOn(rows, block_size);
  fillValues(system.matrix, system.values, random);
  applyScales(system.matrix, system.scales, random);
  spoil(system.matrix, system.flaw, random);
  return system;
}

std::string RandomSystem::describe() const {
  const char* of_values[] = {"dominant", "SPD", "symmetric", "nonsymmetric"};
  const char* of_scales[] = {"", ", scaled as a whole", ", D A D", ", D A E"};
  const char* of_flaw[] = {"",
                           ", diagonals missing",
                           ", a zero row",
                           ", an empty row",
                           ", an empty column",
                           ", equal rows",
                           ", a tiny pivot",
                           ", a NaN",
                           ", an infinity"};
  return message("seed ", seed, ": ", matrix.numRows(), " block rows of size ", matrix.block_size,
                 ", ", matrix.numEntries(), " blocks (", pattern, "), ",
                 of_values[static_cast<int>(values)], of_scales[static_cast<int>(scales)],
                 of_flaw[static_cast<int>(flaw)]);
}

HostBsr shuffled(const HostBsr& a, std::uint64_t seed) {
  Random random(seed);
  const Rows rows = rowsOf(a.graph);
  const Offset bs2 = Offset(a.block_size) * a.block_size;
  Rows mixed = rows;
  std::vector<double> values;
  for (Ordinal i = 0; i < a.numRows(); ++i) {
    std::vector<Offset> order(rows[i].size());
    std::iota(order.begin(), order.end(), a.graph.row_map(i));
    random.shuffle(order);
    for (size_t k = 0; k < order.size(); ++k) {
      mixed[i][k] = a.graph.entries(order[k]);
      for (Offset e = 0; e < bs2; ++e)
        values.push_back(a.values(order[k] * bs2 + e));
    }
  }
  return {makeGraph(mixed, a.numCols()), viewOf(values), a.block_size};
}

HostBsr times(const HostBsr& a, double factor) {
  std::vector<double> values = toHost(a.values);
  for (double& value : values)
    value *= factor;
  return {a.graph, viewOf(values), a.block_size};
}

HostBsr withOtherValues(const RandomSystem& system) {
  const HostBsr other(
      system.matrix.graph,
      Kokkos::View<double*, HostDevice>("Ainvil::test", system.matrix.values.extent(0)),
      system.matrix.block_size);
  Random random(system.seed + 77);
  fillValues(other, system.values, random);
  return other;
}

int numCases(int fallback) {
  const char* text = std::getenv("AINVIL_PROPERTY_CASES");
  return text != nullptr ? std::atoi(text) : fallback;
}

void expectWithin(const std::vector<double>& actual, const std::vector<double>& expected,
                  const std::vector<double>& bound, const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  size_t wrong = 0, first = 0;
  for (size_t i = actual.size(); i-- > 0;)
    if (!(std::abs(actual[i] - expected[i]) <= bound[i])) {
      ++wrong;
      first = i;
    }
  if (wrong > 0)
    ADD_FAILURE() << what << ": " << wrong << " of " << actual.size()
                  << " values are beyond their bounds, the first at " << first << ": "
                  << actual[first] << " instead of " << expected[first] << " +- " << bound[first];
}

double largest(const std::vector<double>& x) {
  double most = 0;
  for (const double value : x)
    most = std::max(most, std::abs(value));
  return most;
}

bool allFinite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double value) { return std::isfinite(value); });
}

std::vector<double> absolute(std::vector<double> x) {
  for (double& value : x)
    value = std::abs(value);
  return x;
}

} // namespace test
} // namespace ainvil
