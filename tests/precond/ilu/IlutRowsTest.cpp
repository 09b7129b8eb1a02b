// SPDX-License-Identifier: BSD-3-Clause
/// The sequential search for a pattern, against one on dense matrices.
#include "precond/ilu/IlutSupport.hpp"

#include "ilu/Ainvil_ThresholdRow.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <tuple>

namespace ainvil {
namespace {

using namespace test;

/// The rule of detail::ilutPattern() on dense block rows.
class PlainIlut {
public:
  PlainIlut(const HostBsr& a, double drop, double max_fill)
      : n_(a.numRows()), bs_(a.block_size), dense_(toDense(a)) {
    std::vector<double> u(dense_.size()); // U, with zeros where it has no entries
    Offset entries = 0, beside = 0;
    const double all = std::max(0.0, max_fill * double(a.numEntries()) - n_);
    for (Ordinal i = 0; i < n_; ++i) {
      const Offset length = a.graph.row_map(i + 1) - a.graph.row_map(i);
      entries += length;
      std::vector<bool> there(n_);
      for (Offset e = a.graph.row_map(i); e < a.graph.row_map(i + 1); ++e)
        there[a.graph.entries(e)] = true;
      std::vector<double> w(dense_.begin() + i * bs_ * size(),
                            dense_.begin() + (i + 1) * bs_ * size());
      const double least = drop * norm(w, 0, size());
      std::vector<std::tuple<double, Ordinal>> kept; // by size, then by column
      for (Ordinal k = 0; k < n_; ++k) {
        if (!there[k] || k == i || (k < i && norm(w, k * bs_, bs_) < least))
          continue;
        if (k > i)
          continue;
        kept.emplace_back(-norm(w, k * bs_, bs_), k);
        std::vector<double> l(size_t(bs_) * bs_);
        for (int r = 0; r < bs_; ++r)
          for (int c = 0; c < bs_; ++c)
            l[r * bs_ + c] = w[r * size() + k * bs_ + c];
        for (Ordinal j = k + 1; j < n_; ++j) {
          if (std::find(upper[k].begin(), upper[k].end(), j) == upper[k].end())
            continue;
          there[j] = true;
          for (int r = 0; r < bs_; ++r)
            for (int c = 0; c < bs_; ++c)
              for (int m = 0; m < bs_; ++m)
                w[r * size() + j * bs_ + c] -=
                    l[r * bs_ + m] * u[(k * bs_ + m) * size() + j * bs_ + c];
        }
      }
      for (Ordinal j = i + 1; j < n_; ++j)
        if (there[j] && norm(w, j * bs_, bs_) >= least)
          kept.emplace_back(-norm(w, j * bs_, bs_), j);
      std::sort(kept.begin(), kept.end());
      const double room =
          std::min(all, std::max(0.0, max_fill * double(entries) - (i + 1))) - double(beside);
      kept.resize(std::min(kept.size(), size_t(std::max(0.0, std::floor(room)))));
      beside += Offset(kept.size());
      std::vector<double> d(size_t(bs_) * bs_);
      for (int r = 0; r < bs_; ++r)
        for (int c = 0; c < bs_; ++c)
          d[r * bs_ + c] = w[r * size() + i * bs_ + c];
      const auto d_inverse = inverse(d, size_t(bs_));
      lower.emplace_back();
      upper.emplace_back();
      for (const auto& entry : kept) {
        const Ordinal j = std::get<1>(entry);
        (j < i ? lower : upper).back().push_back(j);
        for (int r = 0; j > i && r < bs_; ++r)
          for (int c = 0; c < bs_; ++c)
            for (int m = 0; m < bs_; ++m)
              u[(i * bs_ + r) * size() + j * bs_ + c] +=
                  d_inverse[r * bs_ + m] * w[m * size() + j * bs_ + c];
      }
      lower.back().push_back(i);
      for (auto* row : {&lower.back(), &upper.back()})
        std::sort(row->begin(), row->end());
    }
  }

  Rows lower, upper;

private:
  size_t size() const { return size_t(n_) * bs_; }
  /// Of `columns` point columns of a block row from `first` on.
  double norm(const std::vector<double>& w, size_t first, size_t columns) const {
    double sum = 0;
    for (int r = 0; r < bs_; ++r)
      for (size_t c = first; c < first + columns; ++c)
        sum += w[r * size() + c] * w[r * size() + c];
    return std::sqrt(sum);
  }

  Ordinal n_;
  int bs_;
  std::vector<double> dense_;
};

TEST(IlutRows, KeepWhatAPlainEliminationKeeps) {
  for (const int bs : {1, 2, 3, 4, 5, 9})
    for (const Pattern& pattern : {randomPattern(43, 4, 5), arrowPattern(40)}) {
      const HostBsr a = matrixOn(pattern, bs, 31);
      for (const double drop : {0.0, 0.003, 0.03, 0.3})
        for (const double max_fill : {0.7, 1.3, 2.0, 50.0}) {
          const PlainIlut expected(a, drop, max_fill);
          const auto m = ilutBy(message(",drop=", drop, ",max-fill=", max_fill, sequential), a);
          EXPECT_EQ(patternOf(m->factors()), std::make_pair(expected.lower, expected.upper))
              << bs << " " << drop << " " << max_fill;
        }
    }
}

TEST(IlutRows, OfLongRows) {
  const HostBsr a = matrixOn(longRowsPattern(536), 1, 32);
  for (const double drop : {0.0, 0.01}) {
    const PlainIlut expected(a, drop, 10);
    const auto m = ilutBy(message(",drop=", drop, sequential), a);
    EXPECT_EQ(patternOf(m->factors()), std::make_pair(expected.lower, expected.upper)) << drop;
  }
}

TEST(IlutRows, OfEqualEntriesTheFirstAreKept) {
  using Entries = std::vector<detail::SizedEntry<double>>;
  const auto kept = [](Entries entries, Offset allowed) {
    detail::keepLargest(entries, allowed);
    std::vector<Ordinal> columns;
    for (const auto& entry : entries)
      columns.push_back(entry.column);
    return columns;
  };
  const Entries entries = {{1, 5}, {1, 2}, {1, 7}, {2, 9}, {1, 3}, {0.5, 0}};
  EXPECT_EQ(kept(entries, 3), (std::vector<Ordinal>{2, 3, 9}));
  EXPECT_EQ(kept(entries, 4), (std::vector<Ordinal>{2, 3, 5, 9}));
  EXPECT_EQ(kept(entries, 6), (std::vector<Ordinal>{0, 2, 3, 5, 7, 9}));
  EXPECT_EQ(kept(entries, -1), std::vector<Ordinal>());
}

/// Four ones have the norm 2: each is exactly half of it.
TEST(IlutRows, AnEntryAtTheThresholdIsKept) {
  const Rows alone = {{0}, {1}, {2}, {3}}, none(4);
  Rows below = alone, above = alone;
  below[3] = above[0] = {0, 1, 2, 3};
  const auto patternBy = [](const Rows& rows, const std::string& drop, const char* search) {
    const HostBsr ones(makeGraph(rows), viewOf(std::vector<double>(7, 1.0)), 1);
    return patternOf(ilutBy(",drop=" + drop + search, ones)->factors());
  };
  for (const char* search : searches) {
    EXPECT_EQ(patternBy(below, "0.5", search), std::make_pair(below, none)) << search;
    EXPECT_EQ(patternBy(below, "0.501", search), std::make_pair(alone, none)) << search;
    EXPECT_EQ(patternBy(above, "0.5", search), std::make_pair(alone, Rows{{1, 2, 3}, {}, {}, {}}))
        << search;
    EXPECT_EQ(patternBy(above, "0.501", search), std::make_pair(alone, none)) << search;
  }
}

} // namespace
} // namespace ainvil
