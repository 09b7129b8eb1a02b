// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests share: random matrices, dense references, and copies between host and device.
/// References are plain serial code on the host, so that they have nothing in common with the
/// kernels they judge.

#include "SourceFolder.hpp"

#include "Ainvil_BsrMatrix.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <numeric>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace ainvil {
namespace test {

// ---------------------------------------------------------------------------------------- random

/// splitmix64 (Steele, Lea and Flood 2014): the same numbers on every machine and standard library.
class Random {
public:
  explicit Random(std::uint64_t seed = 1) : state_(seed) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  double uniform(double low, double high) {
    return low + (high - low) * (double(bits() >> 11) * 0x1p-53);
  }
  /// In [0, n), n > 0.
  Ordinal below(Ordinal n) { return static_cast<Ordinal>(bits() % std::uint64_t(n)); }

  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i)
      std::swap(items[i - 1], items[bits() % i]);
  }
  /// n values in [-1, 1).
  template <class T = double>
  std::vector<T> vector(size_t n) {
    std::vector<T> values(n);
    for (T& value : values)
      value = static_cast<T>(uniform(-1, 1));
    return values;
  }

private:
  std::uint64_t state_;
};

// ------------------------------------------------------------------------------- host and device

template <class T, class Device = HostDevice>
Kokkos::View<T*, Device> viewOf(const std::vector<T>& values) {
  Kokkos::View<T*, Device> view("Ainvil::test", values.size());
  const Kokkos::View<const T*, HostDevice, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(
      values.data(), values.size());
  Kokkos::deep_copy(view, host);
  return view;
}

template <class T>
Vector<T, DefaultDevice> toDevice(const std::vector<T>& values) {
  return viewOf<T, DefaultDevice>(values);
}

/// A multivector that is a part of a taller one when stride > rows; what lies between the columns
/// is NaN. `values` is column-major without gaps.
template <class T>
MultiVector<T, DefaultDevice> toDevice(const std::vector<T>& values, size_t rows, size_t columns,
                                       size_t stride = 0) {
  stride = std::max(stride, rows);
  const MultiVector<T, DefaultDevice> whole("Ainvil::test", stride, columns);
  const auto host = Kokkos::create_mirror_view(whole);
  for (size_t j = 0; j < columns; ++j)
    for (size_t i = 0; i < stride; ++i)
      host(i, j) = i < rows ? values[j * rows + i] : std::numeric_limits<T>::quiet_NaN();
  Kokkos::deep_copy(whole, host);
  return Kokkos::subview(whole, std::make_pair(size_t(0), rows), Kokkos::ALL);
}

/// Outputs start as NaN, so that what a kernel forgets to write is seen.
template <class T = double>
Vector<T, DefaultDevice> poisoned(size_t n) {
  return toDevice(std::vector<T>(n, std::numeric_limits<T>::quiet_NaN()));
}
template <class T = double>
MultiVector<T, DefaultDevice> poisoned(size_t rows, size_t columns, size_t stride = 0) {
  return toDevice(std::vector<T>(rows * columns, std::numeric_limits<T>::quiet_NaN()), rows,
                  columns, stride);
}

/// The values of a vector, or of a multivector column by column without the gaps between columns.
template <class View>
std::vector<typename View::non_const_value_type> toHost(const View& view) {
  using T = typename View::non_const_value_type;
  Kokkos::fence();
  const size_t rows = view.extent(0);
  const size_t columns = View::rank == 2 ? view.extent(1) : 1;
  if (rows * columns == 0)
    return {};
  // Kokkos refuses to copy a part of an array between memories, hence in one piece, gaps included.
  const size_t stride = columns > 1 ? size_t(view.stride(View::rank - 1)) : rows;
  const size_t span = stride * (columns - 1) + rows;
  std::vector<T> raw(span);
  const Kokkos::View<const T*, typename View::device_type, Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      source(view.data(), span);
  Kokkos::deep_copy(
      Kokkos::View<T*, HostDevice, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(raw.data(), span),
      source);
  std::vector<T> values;
  for (size_t j = 0; j < columns; ++j)
    values.insert(values.end(), raw.begin() + j * stride, raw.begin() + j * stride + rows);
  return values;
}

// ------------------------------------------------------------------------------ graphs, matrices

using Rows = std::vector<std::vector<Ordinal>>; ///< the columns of every row

inline Graph<HostDevice> makeGraph(const Rows& rows, Ordinal num_cols) {
  std::vector<Offset> row_map{0};
  std::vector<Ordinal> entries;
  for (const auto& row : rows) {
    entries.insert(entries.end(), row.begin(), row.end());
    row_map.push_back(static_cast<Offset>(entries.size()));
  }
  return {static_cast<Ordinal>(rows.size()), num_cols, viewOf(row_map), viewOf(entries)};
}
inline Graph<HostDevice> makeGraph(const Rows& rows) {
  return makeGraph(rows, static_cast<Ordinal>(rows.size()));
}

template <class Device>
Rows rowsOf(const Graph<Device>& graph) {
  const auto row_map = toHost(graph.row_map);
  const auto entries = toHost(graph.entries);
  Rows rows(graph.num_rows);
  for (Ordinal i = 0; i < graph.num_rows; ++i)
    rows[i].assign(entries.begin() + row_map[i], entries.begin() + row_map[i + 1]);
  return rows;
}

struct RandomOptions {
  bool diagonal = true;  ///< rows that have entries hold their diagonal (block) where there is one
  bool dominant = false; ///< strictly diagonally dominant by point rows; needs `diagonal`
  bool sorted = true;    ///< else the columns of a row are shuffled
  std::uint64_t seed = 1;
};

/// Row i has row_lengths[i % size] entries, at most num_cols, in distinct random columns.
inline Rows randomRows(Ordinal num_rows, Ordinal num_cols, const std::vector<Ordinal>& row_lengths,
                       const RandomOptions& options = {}) {
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

/// Every entry is there with probability `density`.
inline Rows randomRows(Ordinal num_rows, Ordinal num_cols, double density,
                       const RandomOptions& options = {}) {
  Random random(options.seed + 1000);
  std::vector<Ordinal> lengths(std::max(num_rows, 1), options.diagonal ? 1 : 0);
  for (Ordinal& length : lengths)
    for (Ordinal j = options.diagonal ? 1 : 0; j < num_cols; ++j)
      length += random.uniform(0, 1) < density ? 1 : 0;
  return randomRows(num_rows, num_cols, lengths, options);
}

/// Adds to every diagonal value what makes its point row strictly dominant.
inline void makeDominant(const BsrMatrix<double, HostDevice>& a) {
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

/// Random values on the given pattern.
inline BsrMatrix<double, HostDevice> randomMatrix(const Rows& rows, Ordinal num_cols,
                                                  int block_size,
                                                  const RandomOptions& options = {}) {
  const Graph<HostDevice> graph = makeGraph(rows, num_cols);
  Random random(options.seed + 2000);
  const BsrMatrix<double, HostDevice> a(
      graph, viewOf(random.vector(size_t(graph.numEntries()) * block_size * block_size)),
      block_size);
  if (options.dominant)
    makeDominant(a);
  return a;
}

/// `pattern` is a list of row lengths or a density, as for randomRows.
template <class Lengths>
BsrMatrix<double, HostDevice> randomMatrix(Ordinal num_rows, Ordinal num_cols, int block_size,
                                           const Lengths& pattern,
                                           const RandomOptions& options = {}) {
  return randomMatrix(randomRows(num_rows, num_cols, pattern, options), num_cols, block_size,
                      options);
}

/// A dominant matrix with `below` and `above` off-diagonals.
inline BsrMatrix<double, HostDevice> bandMatrix(Ordinal n, int block_size, Ordinal below,
                                                Ordinal above, std::uint64_t seed = 1) {
  Rows rows(n);
  for (Ordinal i = 0; i < n; ++i)
    for (Ordinal j = std::max(0, i - below); j <= std::min(n - 1, i + above); ++j)
      rows[i].push_back(j);
  RandomOptions options;
  options.dominant = true;
  options.seed = seed;
  return randomMatrix(rows, n, block_size, options);
}

/// The same matrix in another precision.
template <class To, class From, class Device>
BsrMatrix<To, HostDevice> inPrecision(const BsrMatrix<From, Device>& a) {
  const auto values = toHost(a.values);
  return {copyTo<HostDevice>(a.graph), viewOf(std::vector<To>(values.begin(), values.end())),
          a.block_size};
}

// ---------------------------------------------------------------------------------- dense matrices
// Row-major std::vector<double>.

/// numPointRows x numPointCols.
template <class Scalar, class Device>
std::vector<double> toDense(const BsrMatrix<Scalar, Device>& a) {
  const auto values = toHost(a.values);
  const Rows rows = rowsOf(a.graph);
  const size_t bs = a.block_size, num_cols = a.numPointCols();
  std::vector<double> dense(a.numPointRows() * num_cols);
  size_t at = 0;
  for (size_t i = 0; i < rows.size(); ++i)
    for (const size_t j : rows[i])
      for (size_t r = 0; r < bs; ++r)
        for (size_t c = 0; c < bs; ++c)
          dense[(i * bs + r) * num_cols + j * bs + c] += double(values[at++]);
  return dense;
}

/// a b, where a has `inner` columns and b as many rows; a vector is a matrix of one column.
inline std::vector<double> multiply(const std::vector<double>& a, const std::vector<double>& b,
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

/// The transposed of a matrix of `columns` columns; also between row-major and column-major.
inline std::vector<double> transposed(const std::vector<double>& a, size_t columns) {
  if (columns == 0)
    return {};
  const size_t rows = a.size() / columns;
  std::vector<double> t(a.size());
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < columns; ++j)
      t[j * rows + i] = a[i * columns + j];
  return t;
}

/// a^-1 b for a of n x n and b of n x any, by Gaussian elimination with row pivoting.
inline std::vector<double> solve(std::vector<double> a, std::vector<double> b, size_t n) {
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

inline std::vector<double> identity(size_t n) {
  std::vector<double> eye(n * n);
  for (size_t i = 0; i < n; ++i)
    eye[i * n + i] = 1;
  return eye;
}

inline std::vector<double> inverse(const std::vector<double>& a, size_t n) {
  return solve(a, identity(n), n);
}

// -------------------------------------------------------------------------------------
// expectations

/// |actual - expected| <= tolerance * (largest |expected|, or 1 where all are 0), NaN never.
template <class T, class U>
void expectNear(const std::vector<T>& actual, const std::vector<U>& expected, double tolerance,
                const std::string& what = "") {
  ASSERT_EQ(actual.size(), expected.size()) << what;
  double scale = 0;
  for (const U value : expected)
    scale = std::max(scale, std::abs(double(value)));
  scale = scale > 0 ? scale : 1;
  size_t wrong = 0, first = 0;
  for (size_t i = actual.size(); i-- > 0;)
    if (!(std::abs(double(actual[i]) - double(expected[i])) <= tolerance * scale)) {
      ++wrong;
      first = i;
    }
  if (wrong > 0)
    ADD_FAILURE() << what << (what.empty() ? "" : ": ") << wrong << " of " << actual.size()
                  << " values differ by more than " << tolerance << " x " << scale
                  << ", the first at " << first << ": " << actual[first] << " instead of "
                  << expected[first];
}

// ------------------------------------------------------------------------------------- public
// files

/// Path of a public test matrix such as "orsirr_1.mtx.gz", or empty if it is not there; see
/// matrices/README.md beside the project. Tests skip with a message then.
inline std::string matrixPath(const std::string& name) {
  std::vector<std::string> folders;
  if (const char* folder = std::getenv("AINVIL_MATRIX_DIR"))
    folders.push_back(folder);
  folders.push_back(sourceFolder() + "/../shared/matrices");
  for (const std::string& folder : folders)
    if (std::ifstream(folder + "/" + name).good())
      return folder + "/" + name;
  return {};
}

} // namespace test
} // namespace ainvil
