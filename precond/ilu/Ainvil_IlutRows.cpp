// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_IlutRows.hpp"

#include "backend/Ainvil_RowTeams.hpp"
#include "dense/Ainvil_BlockArrays.hpp"
#include "triangular/Ainvil_WorkRow.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

namespace ainvil {
namespace detail {
namespace {

/// ||b||_F of `count` numbers without squares that leave the range; the largest number where it is
/// not finite.
template <class Scalar>
Scalar normOf(const Scalar* b, Offset count) {
  Scalar largest = 0;
  for (Offset e = 0; e < count; ++e)
    largest = std::max(largest, std::abs(b[e]));
  if (count > 1 && largest > 0 && largest <= std::numeric_limits<Scalar>::max()) {
    Scalar sum = 0;
    for (Offset e = 0; e < count; ++e)
      sum += (b[e] / largest) * (b[e] / largest);
    largest *= std::sqrt(sum);
  }
  return largest <= std::numeric_limits<Scalar>::max() ? largest
                                                       : std::numeric_limits<Scalar>::max();
}

/// ILUT, row after row.
template <int BS, class Scalar>
class IlutRows {
public:
  IlutRows(const BsrMatrix<Scalar, HostDevice>& a, const IlutRule& rule,
           const PivotInversion<Scalar>& pivots)
      : a_(a), rule_(rule), pivots_(pivots), bs_(BS > 0 ? BS : a.block_size),
        bs2_(Offset(bs_) * bs_), position_(size_t(a.numRows()), -1), l_ik_(bs2_), inverse_(bs2_),
        room_(3 * size_t(bs_)), pivot_room_(bs_),
        most_beside_(rule.mostBeside(a.numEntries(), a.numRows())) {
    for (Factor* factor : {&lower_, &upper_})
      factor->row_map.assign(1, 0);
  }

  FillTriangles<HostDevice> run() {
    for (Ordinal i = 0; i < a_.numRows(); ++i) {
      start(i);
      eliminate(i);
      keep(i);
      for (const Ordinal j : columns_)
        position_[j] = -1;
    }
    return {graphOf(lower_), graphOf(upper_)};
  }

private:
  struct Factor {
    std::vector<Offset> row_map;
    std::vector<Ordinal> entries;
    std::vector<Scalar> values; ///< of U
  };
  struct Entry {
    Scalar size;
    Ordinal column;
    /// The larger one; of equal ones the one that comes first.
    bool operator<(const Entry& other) const {
      return size != other.size ? size > other.size : column < other.column;
    }
  };

  Scalar* block(Ordinal j) { return w_.data() + position_[j] * bs2_; }
  Scalar sizeOf(Ordinal j) { return normOf(block(j), bs2_); }

  /// Adds a zero block to row i of w.
  void add(Ordinal i, Ordinal j) {
    position_[j] = static_cast<Ordinal>(columns_.size());
    columns_.push_back(j);
    w_.resize(columns_.size() * bs2_);
    std::fill_n(block(j), bs2_, Scalar(0));
    if (j < i) {
      below_.push_back(j);
      std::push_heap(below_.begin(), below_.end(), std::greater<Ordinal>());
    }
  }

  /// w = row i of A, with a diagonal block.
  void start(Ordinal i) {
    const Offset begin = a_.graph.row_map(i), end = a_.graph.row_map(i + 1);
    columns_.clear();
    w_.clear();
    Scalar* const sizes = room_.data();
    std::fill_n(sizes, bs_, Scalar(0));
    for (Offset e = begin; e < end; ++e) {
      const Scalar* const from = a_.values.data() + e * bs2_;
      add(i, a_.graph.entries(e));
      std::copy_n(from, bs2_, block(a_.graph.entries(e)));
      for (Offset v = 0; v < bs2_; ++v)
        sizes[v / bs_] = std::max(sizes[v / bs_], std::abs(from[v]));
    }
    least_ = Scalar(rule_.drop) * normOf(a_.values.data() + begin * bs2_, (end - begin) * bs2_);
    if (position_[i] < 0)
      add(i, i);
  }

  /// w_j -= w_k U_kj for all k < i that are kept, ascending; lists these.
  void eliminate(Ordinal i) {
    kept_.clear();
    while (!below_.empty()) {
      std::pop_heap(below_.begin(), below_.end(), std::greater<Ordinal>());
      const Ordinal k = below_.back();
      below_.pop_back();
      const Scalar size = sizeOf(k);
      if (size < least_)
        continue;
      kept_.push_back({size, k});
      std::copy_n(block(k), bs2_, l_ik_.data()); // w may move
      for (Offset e = upper_.row_map[k]; e < upper_.row_map[k + 1]; ++e) {
        const Ordinal j = upper_.entries[e];
        if (position_[j] < 0)
          add(i, j);
        if constexpr (BS == 1)
          w_[position_[j]] -= l_ik_[0] * upper_.values[e];
        else
          subtractProduct<BS>(block(j), l_ik_.data(), upper_.values.data() + e * bs2_, bs_);
      }
    }
  }

  /// Row i of both factors: the largest entries that there is room for.
  void keep(Ordinal i) {
    for (const Ordinal j : columns_)
      if (j > i)
        if (const Scalar size = sizeOf(j); !(size < least_))
          kept_.push_back({size, j});
    const Offset used = Offset(lower_.entries.size() + upper_.entries.size()) - i;
    const Offset allowed =
        std::min(most_beside_, rule_.mostBeside(a_.graph.row_map(i + 1), i + 1)) - used;
    if (allowed < Offset(kept_.size())) {
      const auto end = kept_.begin() + std::max<Offset>(allowed, 0);
      std::nth_element(kept_.begin(), end, kept_.end());
      kept_.erase(end, kept_.end());
    }
    std::sort(kept_.begin(), kept_.end(),
              [](const Entry& one, const Entry& other) { return one.column < other.column; });

    Scalar* const sizes = room_.data();
    pivots_.template invert<BS>(i, bs_, block(i), sizes, inverse_.data(), pivot_room_.data(),
                                sizes + bs_);
    for (const Entry& entry : kept_) {
      Factor& factor = entry.column < i ? lower_ : upper_;
      factor.entries.push_back(entry.column);
      if (entry.column < i)
        continue;
      const Offset at = upper_.values.size();
      upper_.values.resize(at + bs2_);
      Scalar* const u = upper_.values.data() + at;
      std::fill_n(u, bs2_, Scalar(0));
      subtractProduct<BS>(u, inverse_.data(), block(entry.column), bs_);
      for (Offset v = 0; v < bs2_; ++v)
        u[v] = -u[v];
    }
    lower_.entries.push_back(i);
    lower_.row_map.push_back(lower_.entries.size());
    upper_.row_map.push_back(upper_.entries.size());
  }

  Graph<HostDevice> graphOf(const Factor& factor) const {
    const HostDevice::execution_space exec;
    const auto row_map =
        allocate<Offset, HostDevice>(exec, "Ainvil::row_map", factor.row_map.size());
    const auto entries =
        allocate<Ordinal, HostDevice>(exec, "Ainvil::entries", factor.entries.size());
    std::copy(factor.row_map.begin(), factor.row_map.end(), row_map.data());
    std::copy(factor.entries.begin(), factor.entries.end(), entries.data());
    return {a_.numRows(), a_.numRows(), row_map, entries};
  }

  const BsrMatrix<Scalar, HostDevice>& a_;
  const IlutRule rule_;
  const PivotInversion<Scalar>& pivots_;
  const int bs_;
  const Offset bs2_;
  Factor lower_, upper_; ///< the rows so far
  // Row i:
  std::vector<Scalar> w_;
  std::vector<Ordinal> columns_;  ///< of the blocks of w
  std::vector<Ordinal> position_; ///< of column j in w, or -1
  std::vector<Ordinal> below_;    ///< a heap of the columns k < i that are still to come
  std::vector<Entry> kept_;
  std::vector<Scalar> l_ik_, inverse_, room_;
  std::vector<int> pivot_room_;
  Scalar least_ = 0; ///< what is smaller is dropped
  const Offset most_beside_;
};

} // namespace

template <class Scalar>
FillTriangles<HostDevice> ilutPattern(const BsrMatrix<Scalar, HostDevice>& a, const IlutRule& rule,
                                      const PivotInversion<Scalar>& pivots) {
  FillTriangles<HostDevice> pattern;
  dispatchBlockSize(a.block_size, [&](auto bs) {
    pattern = IlutRows<decltype(bs)::value, Scalar>(a, rule, pivots).run();
  });
  return pattern;
}

template FillTriangles<HostDevice> ilutPattern<double>(const BsrMatrix<double, HostDevice>&,
                                                       const IlutRule&,
                                                       const PivotInversion<double>&);
template FillTriangles<HostDevice> ilutPattern<float>(const BsrMatrix<float, HostDevice>&,
                                                      const IlutRule&,
                                                      const PivotInversion<float>&);

} // namespace detail
} // namespace ainvil
