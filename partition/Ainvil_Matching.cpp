// SPDX-License-Identifier: BSD-3-Clause
#include "Ainvil_Ordering.hpp"

#include "Ainvil_GraphAlgebra.hpp"
#include "backend/Ainvil_LoopProgress.hpp"
#include "backend/Ainvil_Profiling.hpp"
#include "dense/Ainvil_BlockArrays.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>
#include <vector>

namespace ainvil {
namespace {

using Exec = HostDevice::execution_space;
using HostGraph = Graph<HostDevice>;

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr Ordinal none = -1;

/// log |det B|^(1/b) of a block by elimination with row exchanges; that of eps times its largest
/// entry where a pivot vanishes, -infinity where all entries do.
class BlockWeight {
public:
  explicit BlockWeight(int block_size) : b_(block_size), block_(size_t(b_) * b_) {}

  template <class Scalar>
  double operator()(const Scalar* values) {
    double largest = 0;
    for (size_t e = 0; e < block_.size(); ++e)
      largest = std::max(largest, std::fabs(double(values[e])));
    if (largest == 0)
      return -infinity;
    if (b_ == 1)
      return std::log(largest);
    for (size_t e = 0; e < block_.size(); ++e)
      block_[e] = values[e] / largest;
    const double least = std::log(std::numeric_limits<Scalar>::epsilon());
    return std::log(largest) + std::max(least, logDeterminant() / b_);
  }

private:
  double logDeterminant() {
    double sum = 0;
    for (int k = 0; k < b_; ++k) {
      int p = k;
      for (int i = k + 1; i < b_; ++i)
        if (std::fabs(at(i, k)) > std::fabs(at(p, k)))
          p = i;
      if (at(p, k) == 0)
        return -infinity;
      std::swap_ranges(&at(k, 0), &at(k, 0) + b_, &at(p, 0));
      sum += std::log(std::fabs(at(k, k)));
      for (int i = k + 1; i < b_; ++i) {
        const double factor = at(i, k) / at(k, k);
        for (int j = k + 1; j < b_; ++j)
          at(i, j) -= factor * at(k, j);
      }
    }
    return sum;
  }
  double& at(int i, int j) { return block_[size_t(i) * b_ + j]; }

  int b_;
  std::vector<double> block_;
};

/// The assignment problem: pairs with the least sum of the costs
///   c_ij = max over k of log w_ik - log w_ij >= 0,
/// one in each row and column. With it come dual variables u, v: c_ij >= u_i + v_j, and equality
/// for the pairs. Rows without a pair get one along shortest paths, in the reduced costs c_ij - u_i
/// - v_j >= 0, to columns without one: each row on such a path takes the column that follows it.
class Assignment {
public:
  /// `progress` is told how many rows have a pair.
  Assignment(const HostGraph& graph, std::vector<double>& costs,
             const std::function<void(Offset)>& progress)
      : n_(graph.num_rows), graph_(graph), c_(costs), u_(n_, 0), v_(n_, infinity),
        row_of_(n_, none), column_of_(n_, none), distance_(n_, infinity), from_(n_, none),
        is_done_(n_, 0), root_(n_, none), has_path_(n_, 0) {
    chooseDuals();
    pairTightEntries();
    Offset paired = n_ - std::count(column_of_.begin(), column_of_.end(), none);
    detail::LoopProgress rows(progress, n_, paired);
    // A tree for each row is small in most matrices. Where trees are not, many are grown at once.
    const Offset few_passes = 20 * graph.numEntries();
    std::vector<Ordinal> left;
    for (Ordinal row = 0; row < n_; ++row) {
      if (column_of_[row] != none)
        continue;
      if (work_ > few_passes || !augment({row}))
        left.push_back(row);
      else
        rows.tell(++paired);
    }
    while (!left.empty() && augment(left)) {
      const size_t before = left.size();
      left.erase(std::remove_if(left.begin(), left.end(),
                                [&](Ordinal row) { return column_of_[row] != none; }),
                 left.end());
      rows.tellAnyway(paired += before - left.size());
    }
    rows.tellAnyway(n_);
    // Sums of path lengths have rounded: the pairs are to be tight.
    for (Ordinal row = 0; row < n_; ++row)
      forRow(row, [&](Ordinal j, double cost) {
        if (j == column_of_[row])
          u_[row] = cost - v_[j];
      });
  }

  const std::vector<double>& u() const { return u_; }
  const std::vector<double>& v() const { return v_; }
  std::vector<Ordinal>& rowOf() { return row_of_; }
  const std::vector<Ordinal>& columnOf() const { return column_of_; }

private:
  using Reached = std::pair<double, Ordinal>; ///< length of a path, column where it ends
  using Queue = std::priority_queue<Reached, std::vector<Reached>, std::greater<Reached>>;

  template <class Visit>
  void forRow(Ordinal row, const Visit& visit) const {
    for (Offset e = graph_.row_map(row); e < graph_.row_map(row + 1); ++e)
      if (c_[e] < infinity)
        visit(graph_.entries(e), c_[e]);
  }
  /// Not negative, rounding aside.
  double reduced(Ordinal row, Ordinal column, double cost) const {
    return std::max(0.0, (cost - v_[column]) - u_[row]);
  }

  /// The largest v for u = 0, then the largest u: every row and many columns have an entry of
  /// reduced cost 0.
  void chooseDuals() {
    for (Ordinal i = 0; i < n_; ++i)
      forRow(i, [&](Ordinal j, double cost) { v_[j] = std::min(v_[j], cost); });
    for (Ordinal i = 0; i < n_; ++i) {
      double least = infinity;
      forRow(i, [&](Ordinal j, double cost) { least = std::min(least, cost - v_[j]); });
      u_[i] = least < infinity ? least : 0;
    }
  }

  void pair(Ordinal row, Ordinal column) {
    row_of_[column] = row;
    column_of_[row] = column;
  }

  /// The first column of the row from entry `e` on that has no pair and reduced cost 0; `e` moves
  /// behind it.
  Ordinal nextFree(Ordinal row, Offset& e) const {
    for (; e < graph_.row_map(row + 1); ++e) {
      const Ordinal j = graph_.entries(e);
      if (c_[e] < infinity && row_of_[j] == none && reduced(row, j, c_[e]) == 0)
        return j;
    }
    return none;
  }

  /// Pairs of reduced cost 0: those on the diagonal, then any, then by giving another column to the
  /// row that has the one wanted. The last looks at each entry once.
  void pairTightEntries() {
    for (Ordinal i = 0; i < n_; ++i)
      forRow(i, [&](Ordinal j, double cost) {
        if (i == j && reduced(i, j, cost) == 0)
          pair(i, j);
      });
    std::vector<Offset> next(graph_.row_map.data(), graph_.row_map.data() + n_);
    for (Ordinal i = 0; i < n_; ++i)
      if (column_of_[i] == none) {
        const Ordinal j = nextFree(i, next[i]);
        if (j != none)
          pair(i, j);
      }
    for (Ordinal i = 0; i < n_; ++i) {
      for (Offset e = graph_.row_map(i); column_of_[i] == none && e < graph_.row_map(i + 1); ++e) {
        const Ordinal j = graph_.entries(e);
        if (!(c_[e] < infinity) || reduced(i, j, c_[e]) > 0)
          continue;
        const Ordinal other = row_of_[j];
        const Ordinal free = nextFree(other, next[other]);
        if (free != none) {
          pair(other, free);
          pair(i, j);
        }
      }
    }
  }

  /// The entries of a row that is reached by a path of that length. No path beyond `limit` counts.
  void reach(Ordinal row, double length, bool ends_soon, double& limit) {
    work_ += graph_.row_map(row + 1) - graph_.row_map(row);
    forRow(row, [&](Ordinal j, double cost) {
      const double path = length + reduced(row, j, cost);
      if (is_done_[j] || !(path < distance_[j]) || !(path < limit))
        return;
      if (distance_[j] == infinity)
        touched_.push_back(j);
      distance_[j] = path;
      from_[j] = row;
      if (ends_soon && row_of_[j] == none)
        limit = std::nextafter(path, infinity);
      queue_.emplace(path, j);
    });
  }

  /// Grows a tree of shortest paths from each of the rows, all at the same time by length, until a
  /// quarter of them has reached a column without a pair. Returns the first of these columns of
  /// each tree, and in `longest` the length of the longest path.
  std::vector<Ordinal> growTrees(const std::vector<Ordinal>& free_rows, double& longest) {
    const size_t wanted = (free_rows.size() + 3) / 4;
    double limit = infinity;
    std::vector<Ordinal> ends;
    queue_ = {};
    for (const Ordinal row : free_rows) {
      root_[row] = row;
      has_path_[row] = 0;
      reach(row, 0, wanted == 1, limit);
    }
    while (ends.size() < wanted && !queue_.empty()) {
      const auto [path, j] = queue_.top();
      queue_.pop();
      if (is_done_[j]) // reached by a shorter path before
        continue;
      is_done_[j] = 1;
      longest = path;
      const Ordinal root = root_[from_[j]], row = row_of_[j];
      if (row != none) {
        root_[row] = root;
        reach(row, path, wanted == 1, limit);
      } else if (!has_path_[root]) {
        has_path_[root] = 1;
        ends.push_back(j);
      }
    }
    return ends;
  }

  /// Pairs about a quarter of the rows. Trees have no column in common, and with duals moved by
  /// what the longest path leaves, all of their paths are of entries of reduced cost 0. False if no
  /// tree reaches a column without a pair: then none ever will.
  bool augment(const std::vector<Ordinal>& free_rows) {
    double longest = 0;
    const std::vector<Ordinal> ends = growTrees(free_rows, longest);
    if (!ends.empty())
      for (const Ordinal row : free_rows)
        u_[row] += longest;
    for (const Ordinal j : touched_) {
      if (is_done_[j] && !ends.empty()) {
        if (row_of_[j] != none)
          u_[row_of_[j]] += longest - distance_[j];
        v_[j] -= longest - distance_[j];
      }
      is_done_[j] = 0;
      distance_[j] = infinity;
    }
    touched_.clear();
    for (Ordinal j : ends)
      while (j != none) {
        const Ordinal row = from_[j], before = column_of_[row];
        pair(row, j);
        j = before;
      }
    return !ends.empty();
  }

  Ordinal n_;
  const HostGraph& graph_;
  const std::vector<double>& c_; ///< of each entry; infinity: it is not there
  std::vector<double> u_, v_;    ///< dual variables of rows and columns
  std::vector<Ordinal> row_of_, column_of_;
  // Of trees, by columns: length of the shortest path known, the row before its end, whether it is
  // the shortest of all; by rows: where the tree begins, and whether it has reached a free column.
  std::vector<double> distance_;
  std::vector<Ordinal> from_;
  std::vector<char> is_done_;
  std::vector<Ordinal> root_;
  std::vector<char> has_path_;
  std::vector<Ordinal> touched_; ///< columns with a path
  Queue queue_;
  Offset work_ = 0; ///< entries looked at by trees
};

/// Rows without a pair stay where they are if that column has none either; the others go in order
/// to the columns left.
void placeTheOthers(std::vector<Ordinal>& row_of, const std::vector<Ordinal>& column_of) {
  const Ordinal n = static_cast<Ordinal>(row_of.size());
  std::vector<Ordinal> others;
  for (Ordinal i = 0; i < n; ++i) {
    if (column_of[i] != none)
      continue;
    if (row_of[i] == none)
      row_of[i] = i;
    else
      others.push_back(i);
  }
  size_t next = 0;
  for (Ordinal& row : row_of)
    if (row == none)
      row = others[next++];
}

template <class T>
Kokkos::View<T*, HostDevice> newArray(const char* label, Ordinal n) {
  return allocate<T, HostDevice>(Exec(), label, size_t(n));
}

/// The costs of all entries and, in `largest`, the logarithm of the largest weight of each row.
template <class Scalar>
std::vector<double> costsOf(const BsrMatrix<Scalar, HostDevice>& a, std::vector<double>& largest) {
  const Offset bs2 = Offset(a.block_size) * a.block_size;
  std::vector<double> costs(size_t(a.numEntries()));
  BlockWeight weight(a.block_size);
  for (Ordinal i = 0; i < a.numRows(); ++i) {
    const Offset begin = a.graph.row_map(i), end = a.graph.row_map(i + 1);
    largest[i] = -infinity;
    for (Offset e = begin; e < end; ++e) {
      costs[e] = weight(a.values.data() + e * bs2);
      largest[i] = std::max(largest[i], costs[e]);
    }
    for (Offset e = begin; e < end; ++e)
      costs[e] = costs[e] == -infinity ? infinity : largest[i] - costs[e];
  }
  return costs;
}

} // namespace

template <class Scalar>
Matching maximumProductMatching(const BsrMatrix<Scalar, HostDevice>& a,
                                const std::function<void(Offset)>& progress) {
  ScopedRegion region("Ainvil::maximumProductMatching");
  const Exec exec;
  detail::requireSquare("a matching of rows and columns", a.numRows(), a.numCols());
  validate(exec, a.graph);
  detail::requireFiniteMatrix<Scalar, HostDevice>(exec, a.values);
  return detail::reportingOutOfMemory("maximumProductMatching()", [&] {
    const Ordinal n = a.numRows();
    std::vector<double> largest(n);
    std::vector<double> costs = costsOf(a, largest);
    Assignment found(a.graph, costs, progress);
    const auto row_of = newArray<Ordinal>("Ainvil::row_of", n);
    const auto rows = newArray<double>("Ainvil::row_scaling", n);
    const auto columns = newArray<double>("Ainvil::column_scaling", n);
    Matching matching;
    for (Ordinal i = n; i-- > 0;)
      if (found.columnOf()[i] != none)
        ++matching.num_matched;
      else
        matching.first_unmatched = i;
    placeTheOthers(found.rowOf(), found.columnOf());
    const bool all = matching.num_matched == n;
    for (Ordinal i = 0; i < n; ++i) {
      row_of(i) = found.rowOf()[i];
      // Weights times these: log w_ij - max_k log w_ik + u_i + v_j = u_i + v_j - c_ij <= 0.
      rows(i) = all ? std::exp(found.u()[i] - largest[i]) : 1;
      columns(i) = all ? std::exp(found.v()[i]) : 1;
    }
    matching.row_of = row_of;
    matching.row_scaling = rows;
    matching.column_scaling = columns;
    return matching;
  });
}

template Matching maximumProductMatching<double>(const BsrMatrix<double, HostDevice>& a,
                                                 const std::function<void(Offset)>&);
template Matching maximumProductMatching<float>(const BsrMatrix<float, HostDevice>& a,
                                                const std::function<void(Offset)>&);

} // namespace ainvil
