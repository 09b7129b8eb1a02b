// SPDX-License-Identifier: BSD-3-Clause
/// \file
/// Collecting the rows of a pattern: the ways of hosts and of teams against sets of the standard
/// library, around the sizes from which on a row is collected elsewhere.

#include "core/graph/GraphSupport.hpp"
#include "graph/Ainvil_CollectRows.hpp"

#include <algorithm>
#include <set>

namespace {

using namespace ainvil;
using namespace ainvil::test;
using ainvil::detail::SortedLists;
using ainvil::detail::UnionOfLists;

/// Elements of the lists of a row one after the other: list k of row i begins at
/// begins(first(i) + k).
struct GivenLists {
  Kokkos::View<const Offset*, Device> first, begins;
  Kokkos::View<const Ordinal*, Device> elements;

  KOKKOS_FUNCTION Ordinal count(Ordinal row) const {
    return static_cast<Ordinal>(first(row + 1) - first(row));
  }
  KOKKOS_FUNCTION Ordinal length(Ordinal row, Ordinal k) const {
    return static_cast<Ordinal>(begins(first(row) + k + 1) - begins(first(row) + k));
  }
  KOKKOS_FUNCTION Offset begin(Ordinal row, Ordinal k) const { return begins(first(row) + k); }
  KOKKOS_FUNCTION Ordinal at(Offset position) const { return elements(position); }
  KOKKOS_FUNCTION Ordinal element(Ordinal row, Ordinal k, Ordinal m) const {
    return at(begin(row, k) + m);
  }
};

using ListsOfRows = std::vector<std::vector<std::vector<Ordinal>>>;

GivenLists onDevice(const ListsOfRows& rows) {
  std::vector<Offset> first{0}, begins{0};
  std::vector<Ordinal> elements;
  for (const auto& lists : rows) {
    for (const auto& list : lists) {
      elements.insert(elements.end(), list.begin(), list.end());
      begins.push_back(static_cast<Offset>(elements.size()));
    }
    first.push_back(static_cast<Offset>(begins.size()) - 1);
  }
  return {toDevice(first), toDevice(begins), toDevice(elements)};
}

Rows unions(const ListsOfRows& rows) {
  Rows result;
  for (const auto& lists : rows) {
    std::set<Ordinal> all;
    for (const auto& list : lists)
      all.insert(list.begin(), list.end());
    result.emplace_back(all.begin(), all.end());
  }
  return result;
}

/// Rows by the way of this device, and by teams that begin with the smallest table, with one in
/// between, and with the largest.
template <class Collector>
void expectCollected(Ordinal num_rows, Ordinal num_cols, const Collector& collector,
                     const Rows& expected) {
  EXPECT_EQ(rowsOf(ainvil::detail::collectRows<Device>(Exec(), "Ainvil::test", num_rows, num_cols,
                                                       collector, 10)),
            expected);
  for (const double columns : {0.0, 65.0, 1e9}) {
    SCOPED_TRACE(message(columns, " columns in the mean"));
    EXPECT_EQ(rowsOf(ainvil::detail::CollectByTeams<Device, Collector>(
                         Exec(), "Ainvil::test", num_rows, num_cols, collector)
                         .run(columns)),
              expected);
  }
}

/// `size` different columns, each in one to three of the lists, and in no order.
std::vector<std::vector<Ordinal>> listsOf(Ordinal size, Ordinal num_lists, Ordinal num_cols,
                                          Random& random) {
  std::set<Ordinal> columns;
  while (static_cast<Ordinal>(columns.size()) < size)
    columns.insert(random.below(num_cols));
  std::vector<std::vector<Ordinal>> lists(num_lists);
  for (const Ordinal j : columns)
    for (Ordinal copies = 1 + random.below(3); copies > 0; --copies)
      lists[random.below(num_lists)].push_back(j);
  for (auto& list : lists)
    random.shuffle(list);
  return lists;
}

/// A table of s slots, s = 64, 128, ... 4096, takes s / 2 columns.
TEST(CollectRows, UnitesListsOfAnySize) {
  for (const Ordinal num_cols : {1, 33, 64, 4097, 300000}) {
    Random random(num_cols);
    ListsOfRows rows;
    for (const Ordinal size : {0,   1,   2,   31,   32,   33,   64,   65,   128,  129, 256,
                               257, 512, 513, 1023, 1024, 1025, 2047, 2048, 2049, 4000})
      for (const Ordinal num_lists : {1, 3, 70})
        if (size <= num_cols)
          rows.push_back(listsOf(size, num_lists, num_cols, random));
    SCOPED_TRACE(message(num_cols, " columns, ", rows.size(), " rows"));
    expectCollected(static_cast<Ordinal>(rows.size()), num_cols,
                    ainvil::detail::UnionOfLists<GivenLists>{onDevice(rows)}, unions(rows));
  }
}

/// A row of 2049 columns fits into no table. Where there are more than 1024 of them a bitmap takes
/// several, one after the other.
TEST(CollectRows, BitmapsForgetTheRowBefore) {
  const Ordinal num_rows = 1100, length = 2049;
  ListsOfRows rows(num_rows);
  Rows expected(num_rows);
  for (Ordinal i = 0; i < num_rows; ++i) {
    for (Ordinal j = i; j < i + length; ++j)
      expected[i].push_back(j);
    rows[i] = {{expected[i].rbegin(), expected[i].rend()}};
  }
  expectCollected(num_rows, num_rows + length,
                  ainvil::detail::UnionOfLists<GivenLists>{onDevice(rows)}, expected);
}

/// Lists are short up to 64 elements, a lane's each; longer ones are shared.
TEST(CollectRows, UnitesShortListsAndLongOnes) {
  Random random(7);
  ListsOfRows rows;
  for (int row = 0; row < 40; ++row) {
    std::vector<std::vector<Ordinal>> lists;
    for (const Ordinal length : {0, 1, 63, 64, 65, 300, 2, 66})
      if (random.below(3) > 0) {
        lists.emplace_back();
        for (Ordinal m = 0; m < length; ++m)
          lists.back().push_back(random.below(2000));
      }
    rows.push_back(lists);
  }
  expectCollected(40, 2000, ainvil::detail::UnionOfLists<GivenLists>{onDevice(rows)}, unions(rows));
}

/// Sixteen lists are merged by a thread and seventeen are not, nor more than 2048 elements; equal
/// elements come in several lists and in one.
TEST(CollectRows, MergesSortedLists) {
  Random random(11);
  ListsOfRows rows;
  for (const Ordinal num_lists : {0, 1, 2, 15, 16, 17, 40})
    for (const Ordinal length : {0, 1, 5, 128, 129}) {
      std::vector<std::vector<Ordinal>> lists(num_lists);
      for (auto& list : lists) {
        for (Ordinal m = 0; m < length; ++m)
          list.push_back(random.below(400));
        std::sort(list.begin(), list.end());
      }
      rows.push_back(lists);
    }
  expectCollected(static_cast<Ordinal>(rows.size()), 400,
                  UnionOfLists<SortedLists<GivenLists>>{{onDevice(rows)}}, unions(rows));
}

TEST(CollectRows, OfNoRowsAndOfNoLists) {
  expectCollected(0, 5, ainvil::detail::UnionOfLists<GivenLists>{onDevice({})}, {});
  expectCollected(2, 5, ainvil::detail::UnionOfLists<GivenLists>{onDevice({{}, {{}, {}}})},
                  Rows(2));
}

/// What can be reached from row i by up to `steps` edges, and lies above a bound. No edge leads to
/// columns from `end` on: lists are left there.
struct Reach {
  Graph<Device> graph;
  int steps;
  Ordinal bound, end;

  KOKKOS_FUNCTION Ordinal above(Ordinal row) const { return row % 2 == 0 ? bound : -1; }
  template <class Group, class Set>
  KOKKOS_FUNCTION void collect(const Group& group, Ordinal row, Set& set) const {
    const auto visit = [&](Ordinal from, Ordinal m) {
      const Ordinal j = graph.entries(graph.row_map(from) + m);
      if (j >= end)
        return false;
      if (set.insert(j))
        set.remember(j);
      return true;
    };
    const auto length = [&](Ordinal from) {
      return static_cast<Ordinal>(graph.row_map(from + 1) - graph.row_map(from));
    };
    ainvil::detail::visitLists(
        group, 1, [&](Ordinal) { return length(row); },
        [&](Ordinal, Ordinal m) { return visit(row, m); });
    Ordinal begin = 0;
    for (int step = 1; step < steps && !set.full(); ++step) {
      const Ordinal listed = set.listed();
      group.join();
      ainvil::detail::visitLists(
          group, listed - begin, [&](Ordinal k) { return length(set.list(begin + k)); },
          [&](Ordinal k, Ordinal m) { return visit(set.list(begin + k), m); });
      begin = listed;
    }
  }
};

Rows reached(const Rows& rows, const Reach& reach) {
  Rows result;
  for (size_t i = 0; i < rows.size(); ++i) {
    std::set<Ordinal> all(rows[i].begin(), rows[i].end());
    for (int step = 1; step < reach.steps; ++step) {
      const std::set<Ordinal> before(all.begin(), all.lower_bound(reach.end));
      for (const Ordinal j : before)
        all.insert(rows[j].begin(), rows[j].end());
    }
    all.erase(all.lower_bound(reach.end), all.end());
    const auto kept = all.upper_bound(reach.above(static_cast<Ordinal>(i)));
    result.emplace_back(kept, all.end());
  }
  return result;
}

/// Rows of the third step have from a few entries to all 3000 columns: every way is taken, and
/// bitmaps by several rows a team.
TEST(CollectRows, RemembersWhatItIsToVisit) {
  const Ordinal n = 3000;
  Random random(3);
  Rows rows(n);
  for (Ordinal i = 0; i < n; ++i) {
    std::set<Ordinal> row;
    const Ordinal length = i % 97 == 0 ? 90 : i % 3;
    for (Ordinal m = 0; m < length; ++m)
      row.insert(random.below(n));
    rows[i].assign(row.begin(), row.end());
  }
  for (const int steps : {1, 2, 3, 4})
    for (const Ordinal end : {n, 2000}) {
      const Reach reach{deviceGraph(rows), steps, 1000, end};
      SCOPED_TRACE(message(steps, " steps, columns up to ", end));
      expectCollected(n, n, reach, reached(rows, reach));
    }
}

} // namespace
