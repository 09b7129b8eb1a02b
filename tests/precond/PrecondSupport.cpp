// SPDX-License-Identifier: BSD-3-Clause
#include "precond/PrecondSupport.hpp"

#include "Ainvil_Cg.hpp"
#include "Ainvil_Factory.hpp"

namespace ainvil {
namespace test {

HostBsr matrixOn(const Pattern& pattern, int block_size, std::uint64_t seed) {
  const Ordinal n = static_cast<Ordinal>(pattern.size());
  const int bs2 = block_size * block_size;
  size_t nnz = 0;
  for (const auto& row : pattern)
    nnz += row.size();
  Kokkos::View<Offset*, HostDevice> row_map("Ainvil::row_map", n + 1);
  Kokkos::View<Ordinal*, HostDevice> entries("Ainvil::entries", nnz);
  Kokkos::View<double*, HostDevice> values("Ainvil::values", nnz * bs2);
  Random random(seed);
  Offset e = 0;
  for (Ordinal i = 0; i < n; ++i) {
    for (const Ordinal j : pattern[i]) {
      entries(e) = j;
      for (int k = 0; k < bs2; ++k)
        values(e * bs2 + k) = random.uniform(-1, 1);
      if (j == i)
        for (int r = 0; r < block_size; ++r)
          values(e * bs2 + r * (block_size + 1)) += 1.0 + 0.7 * block_size * pattern[i].size();
      ++e;
    }
    row_map(i + 1) = e;
  }
  return {Graph<HostDevice>(n, n, row_map, entries), values, block_size};
}

HostBsr spdMatrixOn(const Pattern& pattern, int block_size, std::uint64_t seed) {
  const HostBsr a = matrixOn(pattern, block_size, seed);
  const int bs = block_size;
  const auto find = [&](Ordinal i, Ordinal j) {
    Offset e = a.graph.row_map(i);
    while (a.graph.entries(e) != j)
      ++e;
    return e;
  };
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e) {
      const Ordinal j = a.graph.entries(e);
      if (j > i)
        continue;
      const Offset mirror = find(j, i);
      for (int r = 0; r < bs; ++r)
        for (int c = 0; c < (i == j ? r : bs); ++c)
          a.values((mirror * bs + c) * bs + r) = a.values((e * bs + r) * bs + c);
      for (int r = 0; i == j && r < bs; ++r)
        a.values((e * bs + r) * bs + r) += 0.5 * bs * double(pattern[i].size());
    }
  return a;
}

Pattern symmetricPattern(Ordinal n, double per_row, std::uint64_t seed) {
  Pattern pattern = randomPattern(n, per_row / 2, seed);
  const Pattern half = pattern;
  for (Ordinal i = 0; i < n; ++i)
    for (const Ordinal j : half[i])
      pattern[j].insert(i);
  return pattern;
}

Pattern randomPattern(Ordinal n, double per_row, std::uint64_t seed) {
  Random random(seed);
  Pattern pattern(n);
  for (Ordinal i = 0; i < n; ++i) {
    pattern[i].insert(i);
    for (Ordinal j = 0; j < n; ++j)
      if (random.uniform(0, 1) < per_row / n)
        pattern[i].insert(j);
  }
  return pattern;
}

Pattern fullPattern(Ordinal n) {
  Pattern pattern(n);
  for (auto& row : pattern)
    for (Ordinal j = 0; j < n; ++j)
      row.insert(j);
  return pattern;
}

Pattern diagonalPattern(Ordinal n) {
  Pattern pattern(n);
  for (Ordinal i = 0; i < n; ++i)
    pattern[i].insert(i);
  return pattern;
}

Pattern longRowsPattern(Ordinal n) {
  Pattern pattern = diagonalPattern(n);
  for (Ordinal i = 0; i + 7 < n; i += 3)
    pattern[i + 7].insert(i);
  const Ordinal lengths[] = {1, 31, 32, 33, 65, 300};
  Ordinal row = n - 6;
  for (const Ordinal length : lengths) {
    pattern[row] = {row};
    for (Ordinal k = 0; k + 1 < length; ++k)
      pattern[row].insert(row - 1 - k);
    ++row;
  }
  const Pattern lower = pattern;
  for (Ordinal i = 0; i < n; ++i)
    for (const Ordinal j : lower[i])
      pattern[j].insert(i);
  return pattern;
}

std::vector<double> denseInverse(const Preconditioner<double, Device>& m, Trans trans) {
  const size_t n = static_cast<size_t>(m.numPointRows());
  std::vector<double> identity(n * n, 0.0);
  for (size_t i = 0; i < n; ++i)
    identity[i * n + i] = 1.0;
  const auto x = toDevice(identity, n, n);
  const auto y = poisoned(n, n);
  m.apply(Exec(), x, y, trans);
  // Columns of y, stored one after the other, are the rows of the transposed matrix.
  const std::vector<double> columns = toHost(y);
  std::vector<double> dense(n * n);
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < n; ++j)
      dense[i * n + j] = columns[j * n + i];
  return dense;
}

IluSettings<Device> exactIlu(int level) {
  IluSettings<Device> parameters;
  parameters.factorization.level = level;
  return parameters;
}

IluSettings<Device> isaiIlu(int power, IsaiSide side, int relax) {
  IluSettings<Device> parameters;
  IsaiParameters<Device> isai;
  isai.power = power;
  isai.side = side;
  isai.relax = relax;
  parameters.solve = isai;
  return parameters;
}

CgCost costOfCg(const HostBsr& matrix, const std::string& specification) {
  const auto a = copyTo<Device>(matrix);
  const auto m = createPreconditioner<double, Device>(specification);
  m->initialize(a);
  m->compute(a);
  const size_t n = size_t(a.numPointRows());
  const auto b = toDevice(std::vector<double>(n, 1.0)), x = toDevice(std::vector<double>(n, 0.0));
  SolverOptions options;
  options.tolerance = 1e-8;
  const SolveResult result = cg(MatrixOperator<double, Device>(a), m.get(), b, x, options);
  EXPECT_EQ(result.status, SolveStatus::Converged) << specification;
  return {result.iterations, m->report().factor_entries};
}

void expectRoundedFactors(const Preconditioner<double, Device>& rounded,
                          const Preconditioner<double, Device>& in_double, double tolerance) {
  const auto expected = denseInverse(in_double), actual = denseInverse(rounded);
  expectNear(actual, expected, tolerance);
  EXPECT_NE(actual, expected);
  EXPECT_EQ(rounded.report().factor_entries, in_double.report().factor_entries);
  EXPECT_LT(rounded.report().factor_bytes, in_double.report().factor_bytes);
}

} // namespace test
} // namespace ainvil
