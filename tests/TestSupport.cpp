// SPDX-License-Identifier: BSD-3-Clause
#include "TestSupport.hpp"

#include "SourceFolder.hpp"

#include <cstdlib>
#include <fstream>
#include <numeric>

namespace ainvil {
namespace test {

Graph<HostDevice> makeGraph(const Rows& rows, Ordinal num_cols) {
  std::vector<Offset> row_map{0};
  std::vector<Ordinal> entries;
  for (const auto& row : rows) {
    entries.insert(entries.end(), row.begin(), row.end());
    row_map.push_back(static_cast<Offset>(entries.size()));
  }
  return {static_cast<Ordinal>(rows.size()), num_cols, viewOf(row_map), viewOf(entries)};
}

Graph<HostDevice> makeGraph(const Rows& rows) {
  return makeGraph(rows, static_cast<Ordinal>(rows.size()));
}

Rows randomRows(Ordinal num_rows, Ordinal num_cols, const std::vector<Ordinal>& row_lengths,
                const RandomOptions& options) {
  Random random(options.seed);
  std::vector<Ordinal> columns(num_cols);
  std::iota(columns.begin(), columns.end(), 0);
  Rows rows(num_rows);
  for (Ordinal i = 0; i < num_rows; ++i) {
    const Ordinal length = std::min(num_cols, row_lengths[i % row_lengths.size()]);
    const bool with_diagonal = options.diagonal && i < num_cols && length > 0;
    if (with_diagonal)
      std::iter_swap(columns.begin(), std::find(columns.begin(), columns.end(), i));
    for (Ordinal k = with_diagonal ? 1 : 0; k < length; ++k)
      std::swap(columns[k], columns[k + random.below(num_cols - k)]);
    rows[i].assign(columns.begin(), columns.begin() + length);
    if (options.sorted)
      std::sort(rows[i].begin(), rows[i].end());
    else
      random.shuffle(rows[i]);
  }
  return rows;
}

Rows randomRows(Ordinal num_rows, Ordinal num_cols, double density, const RandomOptions& options) {
  Random random(options.seed + 1000);
  std::vector<Ordinal> lengths(std::max(num_rows, 1), options.diagonal ? 1 : 0);
  for (Ordinal& length : lengths)
    for (Ordinal j = options.diagonal ? 1 : 0; j < num_cols; ++j)
      length += random.uniform(0, 1) < density ? 1 : 0;
  return randomRows(num_rows, num_cols, lengths, options);
}

void makeDominant(const BsrMatrix<double, HostDevice>& a) {
  const int bs = a.block_size;
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (int r = 0; r < bs; ++r) {
      double* diagonal = nullptr;
      double sum = 1;
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        for (int c = 0; c < bs; ++c) {
          double* value = &a.values((e * bs + r) * bs + c);
          sum += std::abs(*value);
          if (a.graph.entries(e) == i && c == r)
            diagonal = value;
        }
      if (diagonal != nullptr)
        *diagonal += *diagonal < 0 ? -sum : sum;
    }
}

BsrMatrix<double, HostDevice> randomMatrix(const Rows& rows, Ordinal num_cols, int block_size,
                                           const RandomOptions& options) {
  const Graph<HostDevice> graph = makeGraph(rows, num_cols);
  Random random(options.seed + 2000);
  const BsrMatrix<double, HostDevice> a(
      graph, viewOf(random.vector(size_t(graph.numEntries()) * block_size * block_size)),
      block_size);
  if (options.dominant)
    makeDominant(a);
  return a;
}

BsrMatrix<double, HostDevice> bandMatrix(Ordinal n, int block_size, Ordinal below, Ordinal above,
                                         std::uint64_t seed) {
  Rows rows(n);
  for (Ordinal i = 0; i < n; ++i)
    for (Ordinal j = std::max(0, i - below); j <= std::min(n - 1, i + above); ++j)
      rows[i].push_back(j);
  RandomOptions options;
  options.dominant = true;
  options.seed = seed;
  return randomMatrix(rows, n, block_size, options);
}

std::vector<double> multiply(const std::vector<double>& a, const std::vector<double>& b,
                             size_t inner) {
  if (inner == 0)
    return {};
  const size_t rows = a.size() / inner, columns = b.size() / inner;
  std::vector<double> product(rows * columns);
  for (size_t i = 0; i < rows; ++i)
    for (size_t k = 0; k < inner; ++k)
      if (a[i * inner + k] != 0)
        for (size_t j = 0; j < columns; ++j)
          product[i * columns + j] += a[i * inner + k] * b[k * columns + j];
  return product;
}

std::vector<double> transposed(const std::vector<double>& a, size_t columns) {
  if (columns == 0)
    return {};
  const size_t rows = a.size() / columns;
  std::vector<double> t(a.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      t[j * rows + i] = a[i * columns + j];
  return t;
}

std::vector<double> solve(std::vector<double> a, std::vector<double> b, size_t n) {
  if (n == 0)
    return {};
  const size_t columns = b.size() / n;
  for (size_t k = 0; k < n; ++k) {
    size_t pivot = k;
    for (size_t i = k + 1; i < n; ++i)
      if (std::abs(a[i * n + k]) > std::abs(a[pivot * n + k]))
        pivot = i;
    std::swap_ranges(&a[k * n], &a[k * n] + n, &a[pivot * n]);
    std::swap_ranges(&b[k * columns], &b[k * columns] + columns, &b[pivot * columns]);
    for (size_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      if (factor == 0)
        continue;
      for (size_t j = k; j < n; ++j)
        a[i * n + j] -= factor * a[k * n + j];
      for (size_t j = 0; j < columns; ++j)
        b[i * columns + j] -= factor * b[k * columns + j];
    }
  }
  for (size_t k = n; k-- > 0;)
    for (size_t j = 0; j < columns; ++j) {
      double sum = b[k * columns + j];
      for (size_t i = k + 1; i < n; ++i)
        sum -= a[k * n + i] * b[i * columns + j];
      b[k * columns + j] = sum / a[k * n + k];
    }
  return b;
}

std::vector<double> identity(size_t n) {
  std::vector<double> eye(n * n);
  for (size_t i = 0; i < n; ++i)
    eye[i * n + i] = 1;
  return eye;
}

std::vector<double> inverse(const std::vector<double>& a, size_t n) {
  return solve(a, identity(n), n);
}

std::string matrixPath(const std::string& name) {
  std::vector<std::string> folders;
  if (const char* folder = std::getenv("AINVIL_MATRIX_DIR"))
    folders.push_back(folder);
  folders.push_back(sourceFolder() + "/../shared/matrices");
  for (const std::string& folder : folders)
    if (std::ifstream(folder + "/" + name).good())
      return folder + "/" + name;
  return {};
}

AINVIL_TEST_TEMPLATES(, double)
AINVIL_TEST_TEMPLATES(, float)
AINVIL_TEST_TEMPLATES(, Offset)
AINVIL_TEST_TEMPLATES(, Ordinal)
AINVIL_TEST_TEMPLATES_OF_DOUBLES()

} // namespace test
} // namespace ainvil
