// SPDX-License-Identifier: BSD-3-Clause
#include "ainv/Ainvil_BlockInverseFactors.hpp"

#include "ainv/Ainvil_BlockColumn.hpp"
#include "ainv/Ainvil_Diagonal.hpp"
#include "backend/Ainvil_LoopProgress.hpp"
#include "backend/Ainvil_RowTeams.hpp"
#include "breakdown/Ainvil_PivotInverter.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace ainvil {
namespace detail {

/// One compute() of BlockInverseFactors with blocks of BS x BS, BS = 0 for any size.
template <int BS, class Scalar>
class BlockConjugation {
public:
  using Matrix = BsrMatrix<Scalar, HostDevice>;
  using Factors = BlockInverseFactors<Scalar>;

  BlockConjugation(Factors& factors, const Matrix& a, const Matrix& transposed)
      : factors_(factors), result_(factors.result_), parameters_(factors.parameters_), a_(a),
        transposed_(transposed), n_(a.numRows()), bs_(BS > 0 ? BS : a.block_size),
        bs2_(Offset(bs_) * bs_),
        drop_(static_cast<Scalar>(parameters_.drop * std::sqrt(double(bs_)))), x_(n_, bs_),
        v_(n_, bs_), heap_(n_), after_(bs2_), p_(bs2_), t_(bs2_), room_(2 * size_t(bs_)),
        int_room_(bs_), row_sizes_(size_t(n_) * bs_, Scalar(0)) {
    pivots_.policy = parameters_.breakdown;
    pivots_.shift = static_cast<Scalar>(parameters_.shift);
    // Every positive pivot of a symmetric matrix will do.
    pivots_.tolerance =
        parameters_.symmetric ? 0 : static_cast<Scalar>(parameters_.pivot_tolerance);
    pivots_.positive = parameters_.symmetric;
    pivots_.breakdowns =
        Kokkos::View<Ordinal*, HostDevice, Kokkos::MemoryTraits<Kokkos::Unmanaged>>(broken_.data(),
                                                                                    2);
    findRowSizes();
    if (parameters_.drop_rule == DropRule::Relative)
      findRoots();
  }

  void run(const ColumnProgress& progress) {
    LoopProgress columns(progress, n_);
    for (Ordinal j = 0; j < n_; ++j) {
      compute(j);
      columns.tell(j + 1);
      result_.is_too_full =
          parameters_.max_entries > 0 && result_.entries > parameters_.max_entries;
      if (result_.is_too_full ||
          (parameters_.breakdown == BreakdownPolicy::Fail && result_.breakdowns > 0))
        return;
    }
  }

private:
  /// Z_j, W_j and D_j.
  void compute(Ordinal j) {
    const int num_sides = parameters_.symmetric ? 1 : 2;
    Scalar* const d = factors_.pivots_.data() + j * bs2_;
    for (int s = 0; s < num_sides; ++s) {
      conjugate(s, j);
      limitLength(s, j);
      store(s, j);
      if (s != (parameters_.stabilized ? num_sides - 1 : 0))
        continue;
      findCoefficient(s, j, d);
      if (s == 1) // Z_j^T A^T W_j
        transposeBlock(d);
    }
    if (parameters_.symmetric)
      symmetrise(d);
    invert(j, d);
  }

  /// X_j and V = B X_j.
  void conjugate(int s, Ordinal j) {
    x_.clear();
    v_.clear();
    heap_.clear();
    x_.add(j);
    for (int r = 0; r < bs_; ++r)
      x_.block(j)[r * (bs_ + 1)] = 1;
    addToProduct(s, j, x_.block(j), j, -1);
    while (!heap_.empty()) {
      const Ordinal i = heap_.take();
      findCoefficient(s, i, p_.data());
      if (isZero(p_.data()))
        continue;
      std::fill_n(t_.data(), bs2_, Scalar(0));
      addProduct<BS>(s == 0 ? Trans::No : Trans::Yes, t_.data(),
                     factors_.inverses_.data() + i * bs2_, p_.data(), bs_);
      subtract(s, i, j);
    }
  }

  /// V += B E_k change. Rows that are new in V bring columns to visit, of which those in (last, j)
  /// are still to come.
  void addToProduct(int s, Ordinal k, const Scalar* change, Ordinal j, Ordinal last) {
    const Matrix& b_transposed = s == 0 ? transposed_ : a_;
    const auto& columns = columnsOfY(s);
    for (Offset e = b_transposed.graph.row_map(k); e < b_transposed.graph.row_map(k + 1); ++e) {
      const Ordinal l = b_transposed.graph.entries(e);
      if (!v_.holds(l)) {
        v_.add(l);
        if (parameters_.stabilized)
          columns.forColumnsOf(l, last, [&](const Ordinal i) {
            if (i < j)
              heap_.add(i);
          });
        else if (l > last && l < j)
          heap_.add(l);
      }
      addProduct<BS>(Trans::Yes, v_.block(l), b_transposed.values.data() + e * bs2_, change, bs_);
    }
  }

  /// p = Y_i^T V  (AINV: V_i)
  void findCoefficient(int s, Ordinal i, Scalar* p) const {
    std::fill_n(p, bs2_, Scalar(0));
    if (!parameters_.stabilized) {
      if (v_.holds(i))
        std::copy_n(v_.block(i), bs2_, p);
      return;
    }
    const auto& y = columnsOfY(s);
    for (Offset e = y.begins[i]; e < y.begins[i + 1]; ++e)
      if (v_.holds(y.rows[e]))
        addProduct<BS>(Trans::Yes, p, y.values.data() + e * bs2_, v_.block(y.rows[e]), bs_);
  }

  /// X_j -= X_i t, with dropping, and V follows.
  void subtract(int s, Ordinal i, Ordinal j) {
    const auto& x = factors_.columns_[s];
    for (Offset e = x.begins[i]; e < x.begins[i + 1]; ++e) {
      const Ordinal k = x.rows[e];
      std::fill_n(after_.data(), bs2_, Scalar(0));
      addProduct<BS>(Trans::No, after_.data(), x.values.data() + e * bs2_, t_.data(), bs_);
      const bool is_there = x_.holds(k);
      for (Offset v = 0; v < bs2_; ++v)
        after_[v] = (is_there ? x_.block(k)[v] : Scalar(0)) - after_[v];
      if (isDropped(k, j, after_.data()))
        std::fill_n(after_.data(), bs2_, Scalar(0));
      if (!is_there && isZero(after_.data()))
        continue;
      if (!is_there)
        x_.add(k);
      exchange(s, k, j, i);
    }
  }

  /// Block k of X_j becomes after_, and V follows.
  void exchange(int s, Ordinal k, Ordinal j, Ordinal last) {
    Scalar* const block = x_.block(k);
    for (Offset v = 0; v < bs2_; ++v) {
      const Scalar value = after_[v];
      after_[v] -= block[v];
      block[v] = value;
    }
    if (!isZero(after_.data()))
      addToProduct(s, k, after_.data(), j, last);
  }

  /// Whether the norm of block k of X_j is below the drop tolerance.
  bool isDropped(Ordinal k, Ordinal j, const Scalar* block) const {
    Scalar sum = 0;
    for (int r = 0; r < bs_; ++r)
      for (int c = 0; c < bs_; ++c) {
        Scalar value = block[r * bs_ + c];
        if (!roots_.empty())
          value *= roots_[Offset(k) * bs_ + r] / roots_[Offset(j) * bs_ + c];
        sum += value * value;
      }
    return std::sqrt(sum) < drop_;
  }

  /// Drops from the complete X_j all but its max_column largest blocks, that of the diagonal among
  /// them, of equal ones the upper, and from V what they brought.
  void limitLength(int s, Ordinal j) {
    rows_.clear();
    for (const Ordinal k : x_.rows())
      if (!isZero(x_.block(k)))
        rows_.push_back(k);
    std::sort(rows_.begin(), rows_.end());
    const size_t most = static_cast<size_t>(parameters_.max_column);
    if (most == 0 || rows_.size() <= most)
      return;
    by_size_.clear(); // without that of the diagonal, which is the last
    for (size_t q = 0; q + 1 < rows_.size(); ++q) {
      const Scalar* const block = x_.block(rows_[q]);
      Scalar sum = 0;
      for (Offset v = 0; v < bs2_; ++v)
        sum += block[v] * block[v];
      by_size_.push_back(
          {std::isnan(sum) ? std::numeric_limits<Scalar>::infinity() : sum, rows_[q]});
    }
    std::stable_sort(by_size_.begin(), by_size_.end(),
                     [](const auto& one, const auto& other) { return one.first > other.first; });
    rows_.assign(1, j);
    for (size_t q = 0; q < by_size_.size(); ++q) {
      const Ordinal k = by_size_[q].second;
      if (q + 1 < most) {
        rows_.push_back(k);
        continue;
      }
      std::fill_n(after_.data(), bs2_, Scalar(0));
      exchange(s, k, j, j);
    }
    std::sort(rows_.begin(), rows_.end());
  }

  /// Appends column j, whose blocks are in rows_.
  void store(int s, Ordinal j) {
    auto& x = factors_.columns_[s];
    for (const Ordinal k : rows_) {
      const Offset e = static_cast<Offset>(x.rows.size());
      x.rows.push_back(k);
      x.column.push_back(j);
      x.before.push_back(x.in_row[k]);
      x.in_row[k] = e;
      x.values.insert(x.values.end(), x_.block(k), x_.block(k) + bs2_);
    }
    x.begins.push_back(static_cast<Offset>(x.rows.size()));
    result_.entries += static_cast<Offset>(rows_.size()) * bs2_;
  }

  /// d^-1, and what takes the place of a bad d.
  void invert(Ordinal j, Scalar* d) {
    Scalar* const inverse = factors_.inverses_.data() + j * bs2_;
    const Scalar* const sizes = row_sizes_.data() + Offset(j) * bs_;
    const Scalar size = pivots_.sizeToShiftBy(d, bs_, sizes);
    pivots_.template invert<BS>(j, bs_, d, sizes, inverse, int_room_.data(), room_.data());
    if (broken_[0] == result_.breakdowns)
      return;
    result_.breakdowns = broken_[0];
    result_.first_breakdown = INT_MAX - broken_[1];
    if (!parameters_.symmetric)
      return;
    std::copy_n(d, bs2_, after_.data());
    if (pivots_.isPositive(after_.data(), bs_, sizes))
      return;
    for (Offset v = 0; v < bs2_; ++v) { // a shift was not enough
      const bool diagonal = v % (bs_ + 1) == 0;
      d[v] = diagonal ? size : Scalar(0);
      inverse[v] = diagonal ? 1 / size : Scalar(0);
    }
  }

  void findRowSizes() {
    for (Ordinal i = 0; i < n_; ++i)
      for (Offset v = a_.graph.row_map(i) * bs2_; v < a_.graph.row_map(i + 1) * bs2_; ++v) {
        Scalar& size = row_sizes_[Offset(i) * bs_ + v % bs2_ / bs_];
        size = std::max(size, std::abs(a_.values(v)));
      }
  }

  /// sqrt |a_rr|, 1 where that is 0.
  void findRoots() {
    roots_.assign(size_t(n_) * bs_, Scalar(1));
    for (Ordinal i = 0; i < n_; ++i) {
      const Offset at =
          findEntry(a_.graph.entries, a_.graph.row_map(i), a_.graph.row_map(i + 1), i);
      for (int r = 0; r < bs_ && at >= 0; ++r) {
        const Scalar size = std::abs(a_.values(at * bs2_ + r * (bs_ + 1)));
        if (size > 0)
          roots_[Offset(i) * bs_ + r] = std::sqrt(size);
      }
    }
  }

  const BlockColumns<Scalar>& columnsOfY(int s) const {
    return factors_.columns_[parameters_.symmetric ? 0 : 1 - s];
  }
  bool isZero(const Scalar* block) const {
    return std::all_of(block, block + bs2_, [](const Scalar value) { return value == Scalar(0); });
  }
  void transposeBlock(Scalar* block) const {
    for (int r = 0; r < bs_; ++r)
      for (int c = 0; c < r; ++c)
        std::swap(block[r * bs_ + c], block[c * bs_ + r]);
  }
  void symmetrise(Scalar* block) const {
    for (int r = 0; r < bs_; ++r)
      for (int c = 0; c < r; ++c) {
        const Scalar mean = (block[r * bs_ + c] + block[c * bs_ + r]) / 2;
        block[r * bs_ + c] = block[c * bs_ + r] = mean;
      }
  }

  Factors& factors_;
  InverseFactorsResult& result_;
  const InverseFactorsParameters& parameters_;
  const Matrix &a_, &transposed_;
  const Ordinal n_;
  const int bs_;
  const Offset bs2_;
  const Scalar drop_; ///< of ||X_kj||_F
  PivotInversion<Scalar> pivots_;
  std::vector<Ordinal> broken_ = {0, 0}; ///< what pivots_ counts; outside of the object, whose
                                         ///< members would have to be read again and again
  // Column j:
  BlockColumn<Scalar> x_, v_;
  ColumnHeap heap_;                                 ///< of the columns i < j that are to be visited
  std::vector<Ordinal> rows_;                       ///< of its blocks
  std::vector<std::pair<Scalar, Ordinal>> by_size_; ///< squares of norms, and rows
  std::vector<Scalar> after_;     ///< a block as it is to be, or by how much it changes
  std::vector<Scalar> p_, t_;     ///< P_ij and D_i^-1 P_ij
  std::vector<Scalar> room_;      ///< to invert in
  std::vector<int> int_room_;     ///< likewise
  std::vector<Scalar> row_sizes_; ///< of the point rows of A
  std::vector<Scalar> roots_;     ///< sqrt |a_rr|; empty: dropping is absolute
};

template <class Scalar>
void BlockColumns<Scalar>::clear(Ordinal n) {
  begins.assign(1, 0);
  rows.clear();
  values.clear();
  before.clear();
  column.clear();
  in_row.assign(size_t(n), -1);
}

template <class Scalar>
void BlockInverseFactors<Scalar>::compute(const Matrix& a, const Matrix& transposed,
                                          const ColumnProgress& progress) {
  for (auto& columns : columns_)
    columns.clear(a.numRows());
  const size_t scalars = size_t(a.numRows()) * a.block_size * a.block_size;
  pivots_.assign(scalars, Scalar(0));
  inverses_.assign(scalars, Scalar(0));
  result_ = {};
  dispatchBlockSize(a.block_size, [&](auto bs) {
    BlockConjugation<decltype(bs)::value, Scalar>(*this, a, transposed).run(progress);
  });
}

template class BlockInverseFactors<double>;
template class BlockInverseFactors<float>;

} // namespace detail
} // namespace ainvil
