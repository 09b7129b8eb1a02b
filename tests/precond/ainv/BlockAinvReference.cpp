// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ainv/BlockAinvReference.hpp"

#include <algorithm>
#include <cmath>

namespace ainvil {
namespace test {
namespace {

using Doubles = std::vector<double>;

/// A dense matrix of n x n blocks of b x b.
struct Blocks {
  size_t n, b;
  Doubles values;

  double& operator()(size_t i, size_t j) { return values[i * n * b + j]; }
  double operator()(size_t i, size_t j) const { return values[i * n * b + j]; }

  Doubles block(size_t k, size_t j) const {
    Doubles result;
    for (size_t r = 0; r < b; ++r)
      for (size_t c = 0; c < b; ++c)
        result.push_back((*this)(k * b + r, j * b + c));
    return result;
  }
  void clearBlock(size_t k, size_t j) {
    for (size_t r = 0; r < b; ++r)
      for (size_t c = 0; c < b; ++c)
        (*this)(k * b + r, j * b + c) = 0;
  }
  /// Block column i, row-major with b columns.
  Doubles column(size_t i) const {
    Doubles result;
    for (size_t row = 0; row < n * b; ++row)
      for (size_t c = 0; c < b; ++c)
        result.push_back((*this)(row, i * b + c));
    return result;
  }
};

double normOf(const Doubles& block) {
  double sum = 0;
  for (const double value : block)
    sum += value * value;
  return std::sqrt(sum);
}

/// x^T y, both with b columns.
Doubles transposedProduct(const Doubles& x, const Doubles& y, size_t b) {
  Doubles result(b * b, 0.0);
  for (size_t row = 0; row < x.size() / b; ++row)
    for (size_t r = 0; r < b; ++r)
      for (size_t c = 0; c < b; ++c)
        result[r * b + c] += x[row * b + r] * y[row * b + c];
  return result;
}

void limit(Blocks& x, size_t i, size_t most) {
  std::vector<size_t> rows;
  for (size_t k = 0; k < i; ++k)
    if (normOf(x.block(k, i)) > 0)
      rows.push_back(k);
  if (most == 0 || rows.size() + 1 <= most)
    return;
  std::stable_sort(rows.begin(), rows.end(), [&](size_t k, size_t l) {
    return normOf(x.block(k, i)) > normOf(x.block(l, i));
  });
  for (size_t q = most - 1; q < rows.size(); ++q)
    x.clearBlock(rows[q], i);
}

class Conjugation {
public:
  Conjugation(const HostBsr& a, const AinvParameters& parameters)
      : parameters_(parameters), n_(size_t(a.numRows())),
        b_(size_t(a.block_size)), a_{n_, b_, toDense(a)}, at_{n_, b_,
                                                              transposed(a_.values, n_ * b_)} {}

  BlockAinvReference run() {
    Blocks z{n_, b_, Doubles(n_ * b_ * n_ * b_, 0.0)}, d = z;
    for (size_t k = 0; k < n_ * b_; ++k)
      z(k, k) = 1;
    Blocks w = z;
    for (size_t i = 0; i < n_; ++i) {
      limit(z, i, parameters_.max_column);
      limit(w, i, parameters_.max_column);
      if (parameters_.symmetric)
        w = z;
      const Doubles left = rowsFor(a_, w, i), right = rowsFor(at_, z, i);
      Doubles pivot = transposedProduct(left, z.column(i), b_);
      if (parameters_.symmetric) {
        const Doubles other = transposed(pivot, b_);
        for (size_t e = 0; e < b_ * b_; ++e)
          pivot[e] = (pivot[e] + other[e]) / 2;
      }
      for (size_t r = 0; r < b_; ++r)
        for (size_t c = 0; c < b_; ++c)
          d(i * b_ + r, i * b_ + c) = pivot[r * b_ + c];
      const Doubles inverted = inverse(pivot, b_);
      for (size_t j = i + 1; j < n_; ++j) {
        update(z, i, j, multiply(inverted, transposedProduct(left, z.column(j), b_), b_));
        if (!parameters_.symmetric)
          update(w, i, j,
                 multiply(transposed(inverted, b_), transposedProduct(right, w.column(j), b_), b_));
      }
    }
    if (parameters_.symmetric)
      w = z;
    return {z.values, w.values, d.values};
  }

private:
  /// (Y_i^T B)^T or (B_i^T)^T, with b columns.
  Doubles rowsFor(const Blocks& b, const Blocks& y, size_t i) const {
    if (!parameters_.stabilized)
      return Blocks{n_, b_, transposed(b.values, n_ * b_)}.column(i);
    Doubles result(n_ * b_ * b_, 0.0);
    for (size_t row = 0; row < n_ * b_; ++row)
      for (size_t k = 0; k < n_ * b_; ++k)
        for (size_t c = 0; c < b_; ++c)
          result[k * b_ + c] += b(row, k) * y(row, i * b_ + c);
    return result;
  }

  /// X_j -= X_i t, and dropping.
  void update(Blocks& x, size_t i, size_t j, const Doubles& t) const {
    if (normOf(t) == 0)
      return;
    for (size_t row = 0; row < n_ * b_; ++row)
      for (size_t c = 0; c < b_; ++c)
        for (size_t m = 0; m < b_; ++m)
          x(row, j * b_ + c) -= x(row, i * b_ + m) * t[m * b_ + c];
    for (size_t k = 0; k < j; ++k) {
      Doubles block = x.block(k, j);
      if (parameters_.drop_rule == DropRule::Relative ||
          (parameters_.drop_rule == DropRule::Auto && parameters_.symmetric))
        for (size_t e = 0; e < b_ * b_; ++e)
          block[e] *= root(k * b_ + e / b_) / root(j * b_ + e % b_);
      if (normOf(block) < parameters_.drop * std::sqrt(double(b_)))
        x.clearBlock(k, j);
    }
  }

  double root(size_t row) const {
    const double size = std::abs(a_(row, row));
    return size > 0 ? std::sqrt(size) : 1.0;
  }

  const AinvParameters& parameters_;
  const size_t n_, b_;
  const Blocks a_, at_;
};

} // namespace

BlockAinvReference blockAinvReference(const HostBsr& a, const AinvParameters& parameters) {
  return Conjugation(a, parameters).run();
}

} // namespace test
} // namespace ainvil
