// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Rows of patterns that grow: the candidates of the largest gains.

#include "backend/Ainvil_Lanes.hpp"
#include "graph/Ainvil_RowSearch.hpp"

#include <cstdint>
#include <cstring>

namespace ainvil {
namespace detail {

/// Orders candidates by gain and, where that is the same up to single precision, by column; 0
/// stands for no candidate. The bits of positive floats are ordered as the numbers are.
using Rank = std::uint64_t;

KOKKOS_INLINE_FUNCTION Rank rankOf(double gain, Ordinal column) {
  const float rounded = gain > 0 ? static_cast<float>(gain) : 0.0f; // NaN gains nothing
  std::uint32_t bits;
  memcpy(&bits, &rounded, sizeof bits);
  return bits == 0 ? 0 : Rank(bits) << 32 | Rank(column);
}

KOKKOS_INLINE_FUNCTION Ordinal columnOf(Rank rank) {
  return static_cast<Ordinal>(rank & 0xffffffffu);
}

/// lowerBound() of a key that is expected near `begin`.
template <class Entries>
KOKKOS_INLINE_FUNCTION Offset gallop(const Entries& entries, Offset begin, Offset end,
                                     Ordinal key) {
  Offset step = 1;
  while (begin + step < end && entries(begin + step) < key) {
    begin += step;
    step *= 2;
  }
  return lowerBound(entries, begin, begin + step < end ? begin + step : end, key);
}

/// Walks the columns that row i of one graph and row j of another have in common.
template <class Device>
struct CommonColumns {
  const Graph<Device>& one;
  const Graph<Device>& other;
  Offset p, p_end, q, q_end;

  KOKKOS_INLINE_FUNCTION CommonColumns(const Graph<Device>& a, Ordinal i, const Graph<Device>& b,
                                       Ordinal j)
      : one(a), other(b), p(a.row_map(i)), p_end(a.row_map(i + 1)), q(b.row_map(j)),
        q_end(b.row_map(j + 1)) {}

  /// Moves on to positions p, q of equal columns, unless they are there.
  KOKKOS_INLINE_FUNCTION bool find() {
    while (p < p_end && q < q_end) {
      const Ordinal column = one.entries(p), wanted = other.entries(q);
      if (column == wanted)
        return true;
      if (column < wanted)
        p = gallop(one.entries, p + 1, p_end, wanted);
      else
        q = gallop(other.entries, q + 1, q_end, column);
    }
    return false;
  }
  KOKKOS_INLINE_FUNCTION void advance() {
    ++p;
    ++q;
  }
};

/// The candidates of a row with the largest ranks, which descend from best[0] on; the lanes of the
/// row share them, and the ranks of a batch of candidates, one a lane of a warp.
struct BestCandidates {
  static constexpr int batch = 32;

  Rank* best;
  Rank* ranks; ///< room for a batch
  int room;    ///< of `best`

  static std::size_t bytes(int room) { return (std::size_t(room) + batch) * sizeof(Rank); }

  /// Looks at the candidates first .. end - 1, which rank(candidate, lane) tells the ranks of, 0
  /// for those that do not count, and no two of them the same.
  template <class Member, class RankOf>
  KOKKOS_INLINE_FUNCTION void consider(const Member& member, Offset first, Offset end,
                                       const RankOf& rank) const {
    const ThreadLanes<Member> lanes{member, batch};
    Rank worst = best[room - 1];
    lanes.join(); // before one is inserted
    for (; first < end; first += batch) {
      const int width = end - first < batch ? static_cast<int>(end - first) : batch;
      Rank top = 0;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, width),
          [&](const int t, Rank& highest) {
            ranks[t] = rank(first + t, t);
            highest = ranks[t] > highest ? ranks[t] : highest;
          },
          Kokkos::Max<Rank>(top));
      while (top > worst) {
        lanes.forEach(1, [&](int) { insert(top); });
        worst = best[room - 1];
        lanes.join(); // before the next one is inserted
        Rank next = 0;
        Kokkos::parallel_reduce(
            Kokkos::ThreadVectorRange(member, width),
            [&](const int t, Rank& highest) {
              highest = ranks[t] < top && ranks[t] > highest ? ranks[t] : highest;
            },
            Kokkos::Max<Rank>(next));
        top = next;
      }
    }
  }

private:
  /// In place of the last one.
  KOKKOS_INLINE_FUNCTION void insert(Rank rank) const {
    int at = room - 1;
    for (; at > 0 && best[at - 1] < rank; --at)
      best[at] = best[at - 1];
    best[at] = rank;
  }
};

/// Lists of a row that has grown: its pattern, and each column it chose.
template <class Device>
struct GrownLists {
  Graph<Device> pattern;
  Kokkos::View<const Ordinal*, Device> chosen; ///< per_step columns a row, -1 where there are fewer
  int per_step;

  KOKKOS_FUNCTION Ordinal count(Ordinal) const { return 1 + per_step; }
  KOKKOS_FUNCTION Ordinal length(Ordinal row, Ordinal k) const {
    if (k == 0)
      return static_cast<Ordinal>(pattern.row_map(row + 1) - pattern.row_map(row));
    return chosen(Offset(row) * per_step + k - 1) >= 0 ? 1 : 0;
  }
  KOKKOS_FUNCTION Ordinal element(Ordinal row, Ordinal k, Ordinal m) const {
    return k == 0 ? pattern.entries(pattern.row_map(row) + m)
                  : chosen(Offset(row) * per_step + k - 1);
  }
};

} // namespace detail
} // namespace ainvil
