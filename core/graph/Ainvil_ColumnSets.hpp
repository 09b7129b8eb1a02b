// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Sets of columns, in which the rows of a new pattern are collected. One source serves all of
/// them:
///   set.insert(j)    adds column j; true if it was not there;
///   set.remember(j)  appends j to a list of the caller's, whose elements are set.list(k),
///   set.listed()     k < set.listed(), once lanes have been joined;
///   set.full()       whether a column did not fit any more: the row is to be collected elsewhere.
/// Several lanes may call insert() and remember() at a time, but for HostColumnSet.

#include "backend/Ainvil_Flags.hpp"
#include "backend/Ainvil_Lanes.hpp"
#include "graph/Ainvil_IndexTable.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace ainvil {
namespace detail {

/// For a thread of a host: a bit a column, and above these two levels of a bit a word below that
/// is not zero. Whatever the columns are, they are taken out in ascending order without sorting,
/// in O(their number + num_cols / 2^18).
class HostColumnSet {
public:
  explicit HostColumnSet(Ordinal num_cols)
      : memory_(words(num_cols) + words(words(num_cols)) + words(words(words(num_cols)))),
        room_(new Ordinal[num_cols]), num_tops_(words(words(words(num_cols)))),
        columns_(memory_.data()), words_(columns_ + words(num_cols)),
        tops_(words_ + words(words(num_cols))), list_(room_.get()) {}
  HostColumnSet(const HostColumnSet&) = delete;
  HostColumnSet& operator=(const HostColumnSet&) = delete;

  KOKKOS_INLINE_FUNCTION bool insert(Ordinal j) {
    std::uint64_t& word = columns_[j >> 6];
    const std::uint64_t bit = std::uint64_t(1) << (j & 63);
    if (word & bit)
      return false;
    if (word == 0) {
      words_[j >> 12] |= std::uint64_t(1) << (j >> 6 & 63);
      tops_[j >> 18] |= std::uint64_t(1) << (j >> 12 & 63);
    }
    word |= bit;
    ++size_;
    return true;
  }
  KOKKOS_INLINE_FUNCTION void remember(Ordinal j) { list_[listed_++] = j; }
  KOKKOS_INLINE_FUNCTION Ordinal listed() const { return listed_; }
  KOKKOS_INLINE_FUNCTION Ordinal list(Ordinal k) const { return list_[k]; }
  KOKKOS_INLINE_FUNCTION bool full() const { return false; }

  /// Appends the columns above `least` to `row`, ascending, and empties set and list.
  void takeAbove(Ordinal least, std::vector<Ordinal>& row) {
    const std::size_t before = row.size();
    row.resize(before + size_);
    Ordinal* next = row.data() + before;
    for (std::size_t t = 0; t < num_tops_; ++t)
      forEachBit(tops_[t], t, [&](std::size_t w) {
        forEachBit(words_[w], w, [&](std::size_t c) {
          if (64 * Offset(c) + 63 <= least) { // nothing above
            columns_[c] = 0;
            return;
          }
          forEachBit(columns_[c], c, [&](std::size_t j) {
            if (static_cast<Ordinal>(j) > least)
              *next++ = static_cast<Ordinal>(j);
          });
        });
      });
    row.resize(next - row.data());
    listed_ = 0;
    size_ = 0;
  }

private:
  static std::size_t words(std::size_t bits) { return (bits + 63) / 64; }

  /// f(64 index + b) for every bit b of word number `index`, ascending; the word becomes zero.
  template <class F>
  static void forEachBit(std::uint64_t& word, std::size_t index, const F& f) {
    for (std::uint64_t rest = word; rest != 0; rest &= rest - 1)
      f(64 * index + compat::trailingZeros(rest));
    word = 0;
  }

  std::vector<std::uint64_t> memory_;
  std::unique_ptr<Ordinal[]> room_; ///< touched only as far as columns are remembered
  std::size_t num_tops_;
  std::uint64_t *columns_, *words_, *tops_;
  Ordinal* list_;
  Ordinal listed_ = 0;
  std::size_t size_ = 0;
};

/// For the lanes of a thread: a hash table in scratch memory, full when half of its slots are used.
template <bool Concurrent>
struct TableColumnSet {
  IndexTable<Concurrent> table;

  /// Bytes that it takes for so many slots, a power of two.
  static std::size_t bytes(Ordinal slots) {
    return (std::size_t(slots) + roomOfList(slots) + 2) * sizeof(Ordinal);
  }

  KOKKOS_INLINE_FUNCTION TableColumnSet(void* memory, Ordinal slots) {
    Ordinal* const start = static_cast<Ordinal*>(memory);
    Ordinal* const counters = start + slots + roomOfList(slots);
    table = {start, start + slots, counters, counters + 1, slots};
  }
  template <class Group>
  KOKKOS_INLINE_FUNCTION void clear(const Group& group) const {
    group.forEach(table.size, [&](const int s) { table.keys[s] = -1; });
    group.forEach(1, [&](int) { *table.count = *table.used = 0; });
    group.join();
  }
  KOKKOS_INLINE_FUNCTION bool insert(Ordinal j) const {
    bool added = false;
    if (!full())
      table.insert(j, added);
    return added;
  }
  KOKKOS_INLINE_FUNCTION void remember(Ordinal j) const {
    table.list[IndexTable<Concurrent>::next(table.count)] = j;
  }
  KOKKOS_INLINE_FUNCTION Ordinal listed() const { return *table.count; }
  KOKKOS_INLINE_FUNCTION Ordinal list(Ordinal k) const { return table.list[k]; }
  KOKKOS_INLINE_FUNCTION bool full() const {
    return (Concurrent ? compat::volatileLoad(table.used) : *table.used) > table.size / 2;
  }

  /// The number of columns above `least`, for all lanes of the thread.
  template <class Member>
  KOKKOS_INLINE_FUNCTION Ordinal countAbove(const Member& member, Ordinal least) const {
    Ordinal count = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, table.size),
        [&](const Ordinal s, Ordinal& sum) { sum += table.keys[s] > least ? 1 : 0; }, count);
    return count;
  }
  /// These columns in the order of their slots, in the place of the list, which ends. Joins lanes.
  template <class Member>
  KOKKOS_INLINE_FUNCTION Ordinal* takeAbove(const Member& member, Ordinal least) const {
    Kokkos::parallel_scan(Kokkos::ThreadVectorRange(member, table.size),
                          [&](const Ordinal s, Ordinal& at, const bool final) {
                            const bool taken = table.keys[s] > least;
                            if (final && taken)
                              table.list[at] = table.keys[s];
                            at += taken ? 1 : 0;
                          });
    joinLanes(member);
    return table.list;
  }

private:
  /// No column is remembered that was not inserted; when the table is full every lane may be about
  /// to insert one more.
  KOKKOS_INLINE_FUNCTION static Ordinal roomOfList(Ordinal slots) { return slots / 2 + 64; }
};

/// For all lanes of a team: a bit a column in global memory, which is zero before and after.
template <bool Concurrent>
struct BitmapColumnSet {
  std::uint32_t* bits;  ///< words(num_cols)
  Ordinal* columns;     ///< room for the list: num_cols
  Ordinal* list_length; ///< of the list

  KOKKOS_INLINE_FUNCTION static Offset words(Offset num_cols) { return (num_cols + 31) / 32; }

  KOKKOS_INLINE_FUNCTION bool insert(Ordinal j) const {
    std::uint32_t* const word = bits + (j >> 5);
    const std::uint32_t bit = std::uint32_t(1) << (j & 31);
    if constexpr (Concurrent) {
      return !(compat::volatileLoad(word) & bit) && !(Kokkos::atomic_fetch_or(word, bit) & bit);
    } else {
      const bool added = !(*word & bit);
      *word |= bit;
      return added;
    }
  }
  KOKKOS_INLINE_FUNCTION void remember(Ordinal j) const {
    columns[IndexTable<Concurrent>::next(list_length)] = j;
  }
  KOKKOS_INLINE_FUNCTION Ordinal listed() const { return *list_length; }
  KOKKOS_INLINE_FUNCTION Ordinal list(Ordinal k) const { return columns[k]; }
  KOKKOS_INLINE_FUNCTION bool full() const { return false; }
};

/// The lanes of a thread or of a team, for Kokkos' loops over [begin, end).
template <class Member>
KOKKOS_INLINE_FUNCTION auto lanesOf(const ThreadLanes<Member>& group, Ordinal begin, Ordinal end) {
  return Kokkos::ThreadVectorRange(group.member, begin, end);
}
template <class Member>
KOKKOS_INLINE_FUNCTION auto lanesOf(const TeamLanes<Member>& group, Ordinal begin, Ordinal end) {
  return Kokkos::TeamVectorRange(group.member, begin, end);
}

/// visit(k, m) for the elements m < length(k) of lists k < count. Short lists are a lane's each,
/// long ones are shared by the lanes one after the other. Where visit() returns false the rest of
/// the list is of no interest: a lane that goes through it alone leaves it there. Joins lanes at
/// its end.
template <class Group, class Length, class Visit>
KOKKOS_INLINE_FUNCTION void visitLists(const Group& group, Ordinal count, const Length& length,
                                       const Visit& visit) {
  constexpr Ordinal short_list = 64; // two elements a lane of a warp; an estimate
  Ordinal longest = 0;
  Kokkos::parallel_reduce(
      lanesOf(group, 0, count),
      [&](const Ordinal k, Ordinal& most) {
        const Ordinal own = length(k);
        for (Ordinal m = 0; own <= short_list && m < own && visit(k, m); ++m) {
        }
        most = own > most ? own : most;
      },
      Kokkos::Max<Ordinal>(longest));
  group.join();
  if (longest <= short_list)
    return;
  const auto nextLong = [&](const Ordinal begin) {
    Ordinal first = count;
    Kokkos::parallel_reduce(
        lanesOf(group, begin, count),
        [&](const Ordinal k, Ordinal& least) {
          least = k < least && length(k) > short_list ? k : least;
        },
        Kokkos::Min<Ordinal>(first));
    return first < count ? first : count;
  };
  for (Ordinal k = nextLong(0); k < count; k = nextLong(k + 1))
    group.forEach(length(k), [&](const Ordinal m) { visit(k, m); });
}
template <class Length, class Visit>
KOKKOS_INLINE_FUNCTION void visitLists(const OneLane&, Ordinal count, const Length& length,
                                       const Visit& visit) {
  for (Ordinal k = 0; k < count; ++k) {
    const Ordinal own = length(k);
    for (Ordinal m = 0; m < own && visit(k, m); ++m) {
    }
  }
}

} // namespace detail
} // namespace ainvil
