// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// The row of which a sequential factorisation by threshold keeps the largest entries.

#include "Ainvil_BsrMatrix.hpp"
#include "backend/Ainvil_FiniteNumbers.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace ainvil {
namespace detail {

/// ||b||_F of `count` numbers by safeNorm(); the largest number where it is not finite.
template <class Scalar>
Scalar normOf(const Scalar* b, Offset count) {
  const double norm = count == 1 ? std::abs(double(b[0])) : safeNorm([&](const auto& f) {
    for (Offset e = 0; e < count; ++e)
      f(b[e]);
  });
  constexpr double most = std::numeric_limits<Scalar>::max();
  return Scalar(norm <= most ? norm : most);
}

/// A sparse row of blocks, found by their columns.
template <class Scalar>
class ThresholdRow {
public:
  /// With n possible columns.
  ThresholdRow(Ordinal n, int bs) : bs2_(Offset(bs) * bs), position_(size_t(n), -1) {}

  /// No block is left.
  void clear() {
    for (const Ordinal j : columns_)
      position_[j] = -1;
    columns_.clear();
    values_.clear();
  }
  /// A zero block in a column that has none. Blocks may move.
  void add(Ordinal j) {
    position_[j] = static_cast<Ordinal>(columns_.size());
    columns_.push_back(j);
    values_.resize(columns_.size() * bs2_, Scalar(0));
  }
  bool holds(Ordinal j) const { return position_[j] >= 0; }
  Scalar* block(Ordinal j) { return values_.data() + position_[j] * bs2_; }
  Scalar sizeOf(Ordinal j) { return normOf(block(j), bs2_); }
  const std::vector<Ordinal>& columns() const { return columns_; } ///< as they were added

private:
  Offset bs2_;
  std::vector<Scalar> values_;
  std::vector<Ordinal> columns_;
  std::vector<Ordinal> position_; ///< of column j among the blocks, or -1
};

/// An entry of a row that may be kept.
template <class Scalar>
struct SizedEntry {
  Scalar size;
  Ordinal column;
  /// The larger one; of equal ones the one that comes first.
  bool operator<(const SizedEntry& other) const {
    return size != other.size ? size > other.size : column < other.column;
  }
};

/// Leaves of the entries the `allowed` largest, by column.
template <class Scalar>
void keepLargest(std::vector<SizedEntry<Scalar>>& entries, Offset allowed) {
  if (allowed < Offset(entries.size())) {
    const auto end = entries.begin() + std::max<Offset>(allowed, 0);
    std::nth_element(entries.begin(), end, entries.end());
    entries.erase(end, entries.end());
  }
  std::sort(entries.begin(), entries.end(),
            [](const auto& one, const auto& other) { return one.column < other.column; });
}

/// A square graph with a row for each but the last element of `row_map`.
inline Graph<HostDevice> squareGraph(const std::vector<Offset>& row_map,
                                     const std::vector<Ordinal>& entries) {
  const HostDevice::execution_space exec;
  const auto map = allocate<Offset, HostDevice>(exec, "Ainvil::row_map", row_map.size());
  const auto columns = allocate<Ordinal, HostDevice>(exec, "Ainvil::entries", entries.size());
  std::copy(row_map.begin(), row_map.end(), map.data());
  std::copy(entries.begin(), entries.end(), columns.data());
  const Ordinal n = static_cast<Ordinal>(row_map.size() - 1);
  return {n, n, map, columns};
}

} // namespace detail
} // namespace ainvil
