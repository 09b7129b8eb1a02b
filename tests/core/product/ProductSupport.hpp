// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// What the tests of products share: the factors and shapes they go through, and dense references.

#include "TestSupport.hpp"
#include "product/Ainvil_SparseOperator.hpp"

namespace ainvil {
namespace test {

using Doubles = std::vector<double>;

const double nan_value = std::numeric_limits<double>::quiet_NaN();
const std::vector<int> all_block_sizes = {1, 2, 3, 4, 5, 6, 7, 8, 11, 17};
const std::vector<size_t> all_columns = {1, 3, 4, 7, 9};

struct Factors {
  double alpha, beta;
};
const Factors all_factors[] = {{1, 0},  {1, 1}, {0, 0.5}, {-1, 1},   {0.5, -1},
                               {-1, 0}, {0, 0}, {0, 1},   {0.5, 0.5}};

/// Rounding of sums of a few thousand terms.
template <class Scalar>
constexpr double tolerance = std::is_same<Scalar, float>::value ? 2e-5 : 1e-13;

template <class Scalar>
std::vector<Scalar> filled(size_t n, double value) {
  return std::vector<Scalar>(n, static_cast<Scalar>(value));
}

/// alpha a + beta b; beta = 0 leaves b out.
template <class T, class U>
Doubles combined(double alpha, const std::vector<T>& a, double beta, const std::vector<U>& b) {
  Doubles sum(a.size());
  for (size_t i = 0; i < a.size(); ++i)
    sum[i] = alpha * a[i] + (beta != 0 ? beta * b[i] : 0);
  return sum;
}

/// A x for a column-major x.
template <class T>
Doubles denseProduct(const Doubles& a, const std::vector<T>& x, size_t inner, size_t columns) {
  const Doubles x_rows = transposed(Doubles(x.begin(), x.end()), inner);
  return transposed(multiply(a, x_rows, inner), columns);
}

/// True if what lies between the columns is still NaN.
template <class T>
bool gapsAreIntact(const MultiVector<T, DefaultDevice>& y) {
  const size_t rows = y.extent(0), stride = y.stride(1);
  if (y.extent(1) < 2)
    return true;
  const auto all = toHost(MultiVectorArg<const T, DefaultDevice>(y.data(), stride, y.extent(1)));
  for (size_t i = 0; i < all.size(); ++i)
    if (i % stride >= rows && !std::isnan(all[i]))
      return false;
  return true;
}

} // namespace test
} // namespace ainvil
