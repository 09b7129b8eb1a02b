// SPDX-License-Identifier: BSD-3-Clause
#include "ilu/Ainvil_IlutRows.hpp"

#include "backend/Ainvil_LoopProgress.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "ilu/Ainvil_ThresholdRow.hpp"
#include "ilu/Ainvil_WorkRow.hpp"

#include <functional>

namespace ainvil {
namespace detail {
namespace {

/// ILUT, row after row.
template <int BS, class Scalar>
class IlutRows {
public:
  IlutRows(const BsrMatrix<Scalar, HostDevice>& a, const IlutRule& rule,
           const PivotInversion<Scalar>& pivots)
      : a_(a), rule_(rule), pivots_(pivots), bs_(BS > 0 ? BS : a.block_size),
        bs2_(Offset(bs_) * bs_), w_(a.numRows(), bs_), l_ik_(bs2_), inverse_(bs2_),
        room_(3 * size_t(bs_)), pivot_room_(bs_),
        most_beside_(rule.mostBeside(a.numEntries(), a.numRows())) {
    for (Factor* factor : {&lower_, &upper_})
      factor->row_map.assign(1, 0);
  }

  FillTriangles<HostDevice> run(LoopProgress progress) {
    for (Ordinal i = 0; i < a_.numRows(); ++i) {
      start(i);
      eliminate(i);
      keep(i);
      progress.tell(i + 1);
    }
    return {squareGraph(lower_.row_map, lower_.entries),
            squareGraph(upper_.row_map, upper_.entries)};
  }

private:
  struct Factor {
    std::vector<Offset> row_map;
    std::vector<Ordinal> entries;
    std::vector<Scalar> values; ///< of U
  };

  /// Adds a zero block to row i of w.
  void add(Ordinal i, Ordinal j) {
    w_.add(j);
    if (j < i) {
      below_.push_back(j);
      std::push_heap(below_.begin(), below_.end(), std::greater<Ordinal>());
    }
  }

  /// w = row i of A, with a diagonal block.
  void start(Ordinal i) {
    const Offset begin = a_.graph.row_map(i), end = a_.graph.row_map(i + 1);
    w_.clear();
    Scalar* const sizes = room_.data();
    std::fill_n(sizes, bs_, Scalar(0));
    for (Offset e = begin; e < end; ++e) {
      const Scalar* const from = a_.values.data() + e * bs2_;
      add(i, a_.graph.entries(e));
      std::copy_n(from, bs2_, w_.block(a_.graph.entries(e)));
      for (Offset v = 0; v < bs2_; ++v)
        sizes[v / bs_] = std::max(sizes[v / bs_], std::abs(from[v]));
    }
    least_ = Scalar(rule_.drop) * normOf(a_.values.data() + begin * bs2_, (end - begin) * bs2_);
    if (!w_.holds(i))
      add(i, i);
    pivots_.changeDiagonal(w_.block(i), bs_, sizes);
  }

  /// w_j -= w_k U_kj for all k < i that are kept, ascending; lists these.
  void eliminate(Ordinal i) {
    kept_.clear();
    while (!below_.empty()) {
      std::pop_heap(below_.begin(), below_.end(), std::greater<Ordinal>());
      const Ordinal k = below_.back();
      below_.pop_back();
      const Scalar size = w_.sizeOf(k);
      if (size < least_)
        continue;
      kept_.push_back({size, k});
      std::copy_n(w_.block(k), bs2_, l_ik_.data()); // w may move
      for (Offset e = upper_.row_map[k]; e < upper_.row_map[k + 1]; ++e) {
        const Ordinal j = upper_.entries[e];
        if (!w_.holds(j))
          add(i, j);
        if constexpr (BS == 1)
          *w_.block(j) -= l_ik_[0] * upper_.values[e];
        else
          subtractProduct<BS>(w_.block(j), l_ik_.data(), upper_.values.data() + e * bs2_, bs_);
      }
    }
  }

  /// Row i of both factors: the largest entries that there is room for.
  void keep(Ordinal i) {
    for (const Ordinal j : w_.columns())
      if (j > i)
        if (const Scalar size = w_.sizeOf(j); !(size < least_))
          kept_.push_back({size, j});
    const Offset used = Offset(lower_.entries.size() + upper_.entries.size()) - i;
    const Offset allowed =
        std::min(most_beside_, rule_.mostBeside(a_.graph.row_map(i + 1), i + 1)) - used;
    keepLargest(kept_, allowed);

    Scalar* const sizes = room_.data();
    pivots_.template invert<BS>(i, bs_, w_.block(i), sizes, inverse_.data(), pivot_room_.data(),
                                sizes + bs_);
    for (const auto& entry : kept_) {
      Factor& factor = entry.column < i ? lower_ : upper_;
      factor.entries.push_back(entry.column);
      if (entry.column < i)
        continue;
      const Offset at = upper_.values.size();
      upper_.values.resize(at + bs2_);
      Scalar* const u = upper_.values.data() + at;
      std::fill_n(u, bs2_, Scalar(0));
      subtractProduct<BS>(u, inverse_.data(), w_.block(entry.column), bs_);
      for (Offset v = 0; v < bs2_; ++v)
        u[v] = -u[v];
    }
    lower_.entries.push_back(i);
    lower_.row_map.push_back(lower_.entries.size());
    upper_.row_map.push_back(upper_.entries.size());
  }

  const BsrMatrix<Scalar, HostDevice>& a_;
  const IlutRule rule_;
  const PivotInversion<Scalar>& pivots_;
  const int bs_;
  const Offset bs2_;
  Factor lower_, upper_; ///< the rows so far
  // Row i:
  ThresholdRow<Scalar> w_;
  std::vector<Ordinal> below_; ///< a heap of the columns k < i that are still to come
  std::vector<SizedEntry<Scalar>> kept_;
  std::vector<Scalar> l_ik_, inverse_, room_;
  std::vector<int> pivot_room_;
  Scalar least_ = 0; ///< what is smaller is dropped
  const Offset most_beside_;
};

} // namespace

template <class Scalar>
FillTriangles<HostDevice> ilutPattern(const BsrMatrix<Scalar, HostDevice>& a, const IlutRule& rule,
                                      const PivotInversion<Scalar>& pivots,
                                      const std::function<void(Offset)>& progress) {
  FillTriangles<HostDevice> pattern;
  dispatchBlockSize(a.block_size, [&](auto bs) {
    pattern = IlutRows<decltype(bs)::value, Scalar>(a, rule, pivots).run({progress, a.numRows()});
  });
  return pattern;
}

template FillTriangles<HostDevice> ilutPattern<double>(const BsrMatrix<double, HostDevice>&,
                                                       const IlutRule&,
                                                       const PivotInversion<double>&,
                                                       const std::function<void(Offset)>&);
template FillTriangles<HostDevice> ilutPattern<float>(const BsrMatrix<float, HostDevice>&,
                                                      const IlutRule&, const PivotInversion<float>&,
                                                      const std::function<void(Offset)>&);

} // namespace detail
} // namespace ainvil
