// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_IctRows.hpp"

#include "backend/Ainvil_LoopProgress.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "ilu/Ainvil_ThresholdRow.hpp"
#include "ilu/Ainvil_WorkRow.hpp"

namespace ainvil {
namespace detail {
namespace {

/// ICT, row after row.
template <int BS, class Scalar>
class IctRows {
public:
  IctRows(const BsrMatrix<Scalar, HostDevice>& a, const IlutRule& rule,
          const PivotInversion<Scalar>& pivots, bool stops)
      : a_(a), rule_(rule), pivots_(pivots), stops_(stops), bs_(BS > 0 ? BS : a.block_size),
        bs2_(Offset(bs_) * bs_), row_map_(1, 0), inverses_(size_t(a.numRows()) * bs2_),
        first_in_(size_t(a.numRows()), -1), next_row_(size_t(a.numRows()), -1),
        next_entry_(size_t(a.numRows()), 0), w_(a.numRows(), bs_), multiplier_(bs2_),
        room_(3 * size_t(bs_)), pivot_room_(bs_),
        most_beside_(rule.mostBeside(a.numEntries(), a.numRows()) / 2) {}

  Graph<HostDevice> run(LoopProgress progress) {
    for (Ordinal i = 0; i < a_.numRows() && !(stops_ && pivots_.breakdowns(0) > 0); ++i) {
      start(i);
      eliminate(i);
      keep(i);
      progress.tell(i + 1);
    }
    return squareGraph(row_map_, entries_);
  }

private:
  Scalar* inverseOf(Ordinal i) { return inverses_.data() + i * bs2_; }

  /// w = row i of the upper triangle of A, with a diagonal block.
  void start(Ordinal i) {
    const Offset begin = a_.graph.row_map(i), end = a_.graph.row_map(i + 1);
    w_.clear();
    Scalar* const sizes = room_.data();
    std::fill_n(sizes, bs_, Scalar(0));
    for (Offset e = begin; e < end; ++e) {
      const Ordinal j = a_.graph.entries(e);
      const Scalar* const from = a_.values.data() + e * bs2_;
      for (Offset v = 0; v < bs2_; ++v)
        sizes[v / bs_] = std::max(sizes[v / bs_], std::abs(from[v]));
      if (j < i)
        continue;
      w_.add(j);
      std::copy_n(from, bs2_, w_.block(j));
    }
    in_triangle_ += Offset(w_.columns().size());
    least_ = Scalar(rule_.drop) * normOf(a_.values.data() + begin * bs2_, (end - begin) * bs2_);
    if (!w_.holds(i))
      w_.add(i);
    pivots_.changeDiagonal(w_.block(i), bs_, sizes);
  }

  /// w_ij -= w_ki^T D_k^-1 w_kj for all k that keep column i, which is their next one.
  void eliminate(Ordinal i) {
    for (Ordinal k = first_in_[i], after; k >= 0; k = after) {
      after = next_row_[k];
      const Offset ki = next_entry_[k];
      const Scalar* const w_ki = values_.data() + ki * bs2_;
      const Scalar* const d_k = inverseOf(k); // symmetric
      for (int r = 0; r < bs_; ++r)
        for (int c = 0; c < bs_; ++c) {
          Scalar sum = 0;
          for (int m = 0; m < bs_; ++m)
            sum += w_ki[m * bs_ + r] * d_k[m * bs_ + c];
          multiplier_[r * bs_ + c] = sum;
        }
      for (Offset e = ki; e < row_map_[k + 1]; ++e) {
        const Ordinal j = entries_[e];
        if (!w_.holds(j))
          w_.add(j);
        subtractProduct<BS>(w_.block(j), multiplier_.data(), values_.data() + e * bs2_, bs_);
      }
      wait(k, ki + 1);
    }
  }

  /// Row k is next needed in the column of its entry e.
  void wait(Ordinal k, Offset e) {
    next_entry_[k] = e;
    if (e == row_map_[k + 1])
      return;
    next_row_[k] = first_in_[entries_[e]];
    first_in_[entries_[e]] = k;
  }

  /// Row i of D U: the largest entries that there is room for.
  void keep(Ordinal i) {
    kept_.clear();
    for (const Ordinal j : w_.columns())
      if (j > i)
        if (const Scalar size = w_.sizeOf(j); !(size < least_))
          kept_.push_back({size, j});
    // The rows so far of both triangles have twice the entries of one, less a diagonal.
    const Offset allowed_so_far = rule_.mostBeside(2 * in_triangle_ - (i + 1), i + 1) / 2;
    keepLargest(kept_, std::min(most_beside_, allowed_so_far) - Offset(entries_.size()));

    makeSymmetric(w_.block(i));
    Scalar* const sizes = room_.data();
    pivots_.template invert<BS>(i, bs_, w_.block(i), sizes, inverseOf(i), pivot_room_.data(),
                                sizes + bs_);
    makeSymmetric(inverseOf(i));
    for (const auto& entry : kept_) {
      entries_.push_back(entry.column);
      const Scalar* const block = w_.block(entry.column);
      values_.insert(values_.end(), block, block + bs2_);
    }
    row_map_.push_back(entries_.size());
    wait(i, row_map_[i]);
  }

  /// Rounding makes the mirror images of a block differ.
  void makeSymmetric(Scalar* d) const {
    for (int r = 1; r < bs_; ++r)
      for (int c = 0; c < r; ++c)
        d[r * bs_ + c] = d[c * bs_ + r] = (d[r * bs_ + c] + d[c * bs_ + r]) / 2;
  }

  const BsrMatrix<Scalar, HostDevice>& a_;
  const IlutRule rule_;
  const PivotInversion<Scalar>& pivots_;
  const bool stops_; ///< where a pivot breaks down
  const int bs_;
  const Offset bs2_;
  // The rows so far: pattern of U, values of D U, D^-1.
  std::vector<Offset> row_map_;
  std::vector<Ordinal> entries_;
  std::vector<Scalar> values_, inverses_;
  // Lists of the rows that wait for a column:
  std::vector<Ordinal> first_in_;  ///< of column j, or -1
  std::vector<Ordinal> next_row_;  ///< behind row k, or -1
  std::vector<Offset> next_entry_; ///< of row k: that in the column it waits for
  // Row i:
  ThresholdRow<Scalar> w_;
  std::vector<SizedEntry<Scalar>> kept_;
  std::vector<Scalar> multiplier_, room_;
  std::vector<int> pivot_room_;
  Scalar least_ = 0;       ///< what is smaller is dropped
  Offset in_triangle_ = 0; ///< entries of the upper triangle of A up to this row
  const Offset most_beside_;
};

} // namespace

template <class Scalar>
Graph<HostDevice> ictPattern(const BsrMatrix<Scalar, HostDevice>& a, const IlutRule& rule,
                             const PivotInversion<Scalar>& pivots, bool stops,
                             const std::function<void(Offset)>& progress) {
  Graph<HostDevice> pattern;
  dispatchBlockSize(a.block_size, [&](auto bs) {
    pattern =
        IctRows<decltype(bs)::value, Scalar>(a, rule, pivots, stops).run({progress, a.numRows()});
  });
  return pattern;
}

template Graph<HostDevice> ictPattern<double>(const BsrMatrix<double, HostDevice>&, const IlutRule&,
                                              const PivotInversion<double>&, bool,
                                              const std::function<void(Offset)>&);
template Graph<HostDevice> ictPattern<float>(const BsrMatrix<float, HostDevice>&, const IlutRule&,
                                             const PivotInversion<float>&, bool,
                                             const std::function<void(Offset)>&);

} // namespace detail
} // namespace ainvil
