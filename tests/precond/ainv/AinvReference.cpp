// SPDX-License-Identifier: BSD-3-Clause
#include "precond/ainv/AinvReference.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace ainvil {
namespace test {
namespace {

using Lists = std::vector<SparseColumn>; ///< rows or columns of a sparse matrix
using Doubles = std::vector<double>;

Lists rowsOfMatrix(const BsrMatrix<double, HostDevice>& a) {
  Lists rows(a.numRows());
  for (Ordinal i = 0; i < a.numRows(); ++i)
    for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
      rows[i].push_back({a.graph.entries(e), a.values(e)});
  return rows;
}

Lists transposedLists(const Lists& rows) {
  Lists columns(rows.size());
  for (size_t i = 0; i < rows.size(); ++i)
    for (const auto& [j, value] : rows[i])
      columns[j].push_back({static_cast<Ordinal>(i), value});
  return columns;
}

/// A sparse vector that is built in any order.
class Accumulator {
public:
  explicit Accumulator(size_t n) : values_(n, 0.0), is_there_(n, false) {}

  void clear() {
    for (const Ordinal k : rows_) {
      values_[k] = 0;
      is_there_[k] = false;
    }
    rows_.clear();
  }
  void add(double factor, const SparseColumn& column) {
    for (const auto& [k, value] : column) {
      if (!is_there_[k]) {
        is_there_[k] = true;
        rows_.push_back(k);
      }
      values_[k] += factor * value;
    }
  }
  double dot(const SparseColumn& column) const {
    double sum = 0;
    for (const auto& [k, value] : column)
      sum += values_[k] * value;
    return sum;
  }
  const std::vector<Ordinal>& rows() const { return rows_; }

private:
  Doubles values_;
  std::vector<bool> is_there_;
  std::vector<Ordinal> rows_;
};

/// Z or W while its columns are worked on.
class Columns {
public:
  Columns(const AinvReferenceOptions& options, const Doubles& roots)
      : options_(options), roots_(roots), columns_(roots.size()), in_row_(roots.size()) {
    for (Ordinal j = 0; j < Ordinal(roots.size()); ++j) {
      columns_[j] = {{j, 1.0}};
      in_row_[j].insert(j);
    }
  }

  /// Column i, which does not change any more.
  const SparseColumn& finish(Ordinal i) {
    SparseColumn& column = columns_[i];
    for (const auto& entry : column)
      in_row_[entry.first].erase(i);
    const size_t most = static_cast<size_t>(options_.max_column);
    if (most > 0 && column.size() > most) {
      std::stable_sort(column.begin(), column.end(), [&](const auto& a, const auto& b) {
        if (a.first == i || b.first == i)
          return a.first == i && b.first != i;
        return std::abs(a.second) > std::abs(b.second);
      });
      column.resize(most);
      std::sort(column.begin(), column.end());
    }
    return column;
  }

  /// column j -= (u . column j / pivot) column i, for all j > i.
  void update(Ordinal i, const Accumulator& u, double pivot) {
    std::set<Ordinal> reached;
    for (const Ordinal k : u.rows())
      reached.insert(in_row_[k].begin(), in_row_[k].end());
    for (const Ordinal j : reached) {
      const double p = u.dot(columns_[j]);
      if (p != 0)
        subtract(j, p / pivot, columns_[i]);
    }
  }

  Lists take() { return std::move(columns_); }

private:
  void subtract(Ordinal j, double factor, const SparseColumn& other) {
    const SparseColumn old = std::move(columns_[j]);
    SparseColumn& sum = columns_[j];
    sum.clear();
    auto from = old.begin();
    const auto keepOrDrop = [&](Ordinal k, double value, bool was_there) {
      const bool keep =
          k == j ||
          !(std::abs(value) < options_.drop * (options_.relative ? roots_[j] / roots_[k] : 1.0));
      if (keep)
        sum.push_back({k, value});
      if (keep && !was_there)
        in_row_[k].insert(j);
      else if (!keep && was_there)
        in_row_[k].erase(j);
    };
    for (const auto& [k, value] : other) {
      for (; from != old.end() && from->first < k; ++from)
        keepOrDrop(from->first, from->second, true);
      const bool was_there = from != old.end() && from->first == k;
      keepOrDrop(k, (was_there ? from++->second : 0.0) - factor * value, was_there);
    }
    for (; from != old.end(); ++from)
      keepOrDrop(from->first, from->second, true);
  }

  const AinvReferenceOptions& options_;
  const Doubles& roots_; ///< of |a_jj|, or 1
  Lists columns_;
  std::vector<std::set<Ordinal>> in_row_; ///< unfinished columns with an entry in this row
};

double pivotOf(double d, double diagonal, Ordinal i, const AinvReferenceOptions& options,
               AinvReference& result) {
  if (std::isfinite(d) && (options.symmetric ? d > 0 : d != 0))
    return d;
  if (result.breakdowns++ == 0)
    result.first_breakdown = i;
  const double base = diagonal != 0 ? std::abs(diagonal) : 1.0;
  return options.breakdown == BreakdownPolicy::Shift ? options.shift * base : base;
}

} // namespace

AinvReference ainvReference(const BsrMatrix<double, HostDevice>& a,
                            const AinvReferenceOptions& options) {
  if (a.block_size != 1 || a.numRows() != a.numCols())
    throw InvalidArgument("the reference takes square matrices of block size 1");
  const Ordinal n = a.numRows();
  const Lists rows = rowsOfMatrix(a), columns = transposedLists(rows);
  Doubles diagonal(n, 0.0), roots(n, 1.0);
  for (Ordinal i = 0; i < n; ++i)
    for (const auto& [j, value] : rows[i])
      if (i == j) {
        diagonal[i] = value;
        roots[i] = value != 0 ? std::sqrt(std::abs(value)) : 1.0;
      }

  AinvReference result;
  Columns z(options, roots), w(options, roots);
  Accumulator left(n), right(n); // w_i^T A or a_i^T; A z_i or A e_i
  for (Ordinal i = 0; i < n; ++i) {
    const SparseColumn unit{{i, 1.0}};
    const SparseColumn& z_i = z.finish(i);
    const SparseColumn& w_i = options.symmetric ? z_i : w.finish(i);
    left.clear();
    for (const auto& [k, value] : options.stabilized ? w_i : unit)
      left.add(value, rows[k]);
    result.pivots.push_back(pivotOf(left.dot(z_i), diagonal[i], i, options, result));
    z.update(i, left, result.pivots[i]);
    if (options.symmetric)
      continue;
    right.clear();
    for (const auto& [k, value] : options.stabilized ? z_i : unit)
      right.add(value, columns[k]);
    w.update(i, right, result.pivots[i]);
  }
  result.z = z.take();
  if (!options.symmetric)
    result.w = w.take();
  return result;
}

Offset numEntries(const std::vector<SparseColumn>& columns) {
  Offset sum = 0;
  for (const SparseColumn& column : columns)
    sum += Offset(column.size());
  return sum;
}

} // namespace test
} // namespace ainvil
