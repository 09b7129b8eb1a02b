// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// A block column of an inverse factor while it is computed on the host.

#include "Ainvil_BsrMatrix.hpp"

#include <algorithm>
#include <functional>
#include <vector>

namespace ainvil {
namespace detail {

/// c += a b for row-major blocks, a transposed if so; BS = 0 for a size known at run time only.
template <int BS, class Scalar>
inline void addProduct(Trans trans, Scalar* c, const Scalar* a, const Scalar* b, int size) {
  const int bs = BS > 0 ? BS : size;
  const int row_step = trans == Trans::No ? bs : 1, step = trans == Trans::No ? 1 : bs;
  for (int r = 0; r < bs; ++r)
    for (int m = 0; m < bs; ++m) {
      const Scalar factor = a[r * row_step + m * step];
      for (int s = 0; s < bs; ++s)
        c[r * bs + s] += factor * b[m * bs + s];
    }
}

/// A block column of n block rows, of which few are there.
template <class Scalar>
class BlockColumn {
public:
  BlockColumn(Ordinal n, int bs)
      : bs2_(Offset(bs) * bs), values_(size_t(n) * bs2_), is_there_(size_t(n), 0) {}

  /// No row is there.
  void clear() {
    for (const Ordinal row : rows_)
      is_there_[row] = 0;
    rows_.clear();
  }
  /// A zero block in a row that is not there.
  void add(Ordinal row) {
    is_there_[row] = 1;
    rows_.push_back(row);
    std::fill_n(block(row), bs2_, Scalar(0));
  }
  bool holds(Ordinal row) const { return is_there_[row] != 0; }
  Scalar* block(Ordinal row) { return values_.data() + row * bs2_; }
  const Scalar* block(Ordinal row) const { return values_.data() + row * bs2_; }
  const std::vector<Ordinal>& rows() const { return rows_; } ///< as they were added

private:
  Offset bs2_;
  std::vector<Scalar> values_;
  std::vector<char> is_there_;
  std::vector<Ordinal> rows_;
};

/// Columns that are to be visited in ascending order, each once.
class ColumnHeap {
public:
  explicit ColumnHeap(Ordinal n) : is_there_(size_t(n), 0) {}

  void clear() {
    for (const Ordinal i : all_)
      is_there_[i] = 0;
    all_.clear();
    heap_.clear();
  }
  void add(Ordinal i) {
    if (is_there_[i] != 0)
      return;
    is_there_[i] = 1;
    all_.push_back(i);
    heap_.push_back(i);
    std::push_heap(heap_.begin(), heap_.end(), std::greater<Ordinal>());
  }
  bool empty() const { return heap_.empty(); }
  /// Takes out the first.
  Ordinal take() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<Ordinal>());
    const Ordinal i = heap_.back();
    heap_.pop_back();
    return i;
  }

private:
  std::vector<char> is_there_;
  std::vector<Ordinal> heap_, all_;
};

} // namespace detail
} // namespace ainvil
