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

Graph<HostDevice> makeGraph(const Rows& rows, Ordinal num_cols);
Graph<HostDevice> makeGraph(const Rows& rows);

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
Rows randomRows(Ordinal num_rows, Ordinal num_cols, const std::vector<Ordinal>& row_lengths,
                const RandomOptions& options = {});

/// Every entry is there with probability `density`.
Rows randomRows(Ordinal num_rows, Ordinal num_cols, double density,
                const RandomOptions& options = {});

/// Adds to every diagonal value what makes its point row strictly dominant.
void makeDominant(const BsrMatrix<double, HostDevice>& a);

/// Random values on the given pattern.
BsrMatrix<double, HostDevice> randomMatrix(const Rows& rows, Ordinal num_cols, int block_size,
                                           const RandomOptions& options = {});

/// `pattern` is a list of row lengths or a density, as for randomRows.
template <class Lengths>
BsrMatrix<double, HostDevice> randomMatrix(Ordinal num_rows, Ordinal num_cols, int block_size,
                                           const Lengths& pattern,
                                           const RandomOptions& options = {}) {
  return randomMatrix(randomRows(num_rows, num_cols, pattern, options), num_cols, block_size,
                      options);
}

/// A dominant matrix with `below` and `above` off-diagonals.
BsrMatrix<double, HostDevice> bandMatrix(Ordinal n, int block_size, Ordinal below, Ordinal above,
                                         std::uint64_t seed = 1);

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
std::vector<double> multiply(const std::vector<double>& a, const std::vector<double>& b,
                             size_t inner);

/// The transposed of a matrix of `columns` columns; also between row-major and column-major.
std::vector<double> transposed(const std::vector<double>& a, size_t columns);

/// a^-1 b for a of n x n and b of n x any, by Gaussian elimination with row pivoting.
std::vector<double> solve(std::vector<double> a, std::vector<double> b, size_t n);

std::vector<double> identity(size_t n);

std::vector<double> inverse(const std::vector<double>& a, size_t n);

// ---------------------------------------------------------------------------------- expectations

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

// ---------------------------------------------------------------------------------- public files

/// Path of a public test matrix such as "orsirr_1.mtx.gz", or empty if it is not there; see
/// matrices/README.md beside the project. Tests skip with a message then.
std::string matrixPath(const std::string& name);

// --------------------------------------------------------------------------------- compiled once

// What most files of tests call is compiled in TestSupport.cpp alone, which saves them a quarter of
// their compile time.
#define AINVIL_TEST_TEMPLATES(EXTERN, SCALAR)                                                      \
  EXTERN template Kokkos::View<SCALAR*, DefaultDevice> viewOf(const std::vector<SCALAR>&);         \
  EXTERN template Vector<SCALAR, DefaultDevice> toDevice(const std::vector<SCALAR>&);              \
  EXTERN template std::vector<SCALAR> toHost(const Kokkos::View<SCALAR*, DefaultDevice>&);         \
  EXTERN template std::vector<SCALAR> toHost(const Kokkos::View<const SCALAR*, DefaultDevice>&);
#define AINVIL_TEST_TEMPLATES_OF_DOUBLES(EXTERN)                                                   \
  EXTERN template MultiVector<double, DefaultDevice> toDevice(const std::vector<double>&, size_t,  \
                                                              size_t, size_t);                     \
  EXTERN template Vector<double, DefaultDevice> poisoned(size_t);                                  \
  EXTERN template MultiVector<double, DefaultDevice> poisoned(size_t, size_t, size_t);             \
  EXTERN template std::vector<double> toHost(const MultiVector<double, DefaultDevice>&);           \
  EXTERN template Rows rowsOf(const Graph<DefaultDevice>&);                                        \
  EXTERN template std::vector<double> toDense(const BsrMatrix<double, DefaultDevice>&);            \
  EXTERN template void expectNear(const std::vector<double>&, const std::vector<double>&, double,  \
                                  const std::string&);
AINVIL_TEST_TEMPLATES(extern, double)
AINVIL_TEST_TEMPLATES(extern, float)
AINVIL_TEST_TEMPLATES(extern, Offset)
AINVIL_TEST_TEMPLATES(extern, Ordinal)
AINVIL_TEST_TEMPLATES_OF_DOUBLES(extern)

} // namespace test
} // namespace ainvil
