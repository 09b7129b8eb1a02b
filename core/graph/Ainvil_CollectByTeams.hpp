// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// Rows of new patterns on GPUs: by threads that merge, by warps with tables in scratch memory, and
/// by teams with bitmaps in global memory.

#include "Ainvil_BsrMatrix.hpp"
#include "backend/Ainvil_AllocateTogether.hpp"
#include "backend/Ainvil_SizeClasses.hpp"
#include "graph/Ainvil_ColumnSets.hpp"
#include "graph/Ainvil_MergeRows.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "graph/Ainvil_SortRows.hpp"

namespace ainvil {
namespace detail {

/// The set of a row in scratch memory. Counts the row, -1 where the table is full, or writes it in
/// ascending order: the columns, moved together from the slots of the table, go to their ranks,
///   column k of the row to position #{m : column_m < column_k},
/// or through a sorting network if they are many.
template <class Device, class Collector, bool Fill>
struct CollectInTable {
  static constexpr bool concurrent = compat::IsGpu<typename Device::execution_space>::value;
  Collector collector;
  Kokkos::View<const Ordinal*, Device> rows; ///< the rows to be collected; all if empty
  Kokkos::View<Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> entries;
  Kokkos::View<Ordinal*, Device> slots_of; ///< a row: those of the table that it fits into
  Ordinal slots;
  int lanes;

  template <class Member>
  KOKKOS_FUNCTION void operator()(const Member& member, Ordinal index, void* scratch) const {
    const Ordinal row = rows.data() == nullptr ? index : rows(index);
    if (Fill && slots_of(row) != slots)
      return;
    const ThreadLanes<Member> group{member, lanes};
    TableColumnSet<concurrent> set(scratch, slots);
    set.clear(group);
    collector.collect(group, row, set);
    const Ordinal least = collector.above(row);
    if constexpr (Fill) {
      write(member, set.takeAbove(member, least), row);
    } else {
      const Ordinal count = set.countAbove(member, least);
      Kokkos::single(Kokkos::PerThread(member), [&]() {
        const bool full = set.full();
        row_map(row) = full ? Offset(-1) : Offset(count);
        slots_of(row) = full ? 0 : slots;
      });
    }
  }

  template <class Member>
  KOKKOS_INLINE_FUNCTION void write(const Member& member, Ordinal* columns, Ordinal row) const {
    constexpr int ranks_of_lane = 8; // a rank costs a pass over the others
    const Offset begin = row_map(row);
    const Ordinal length = static_cast<Ordinal>(row_map(row + 1) - begin);
    if (length > ranks_of_lane * lanes) {
      sortingNetwork(member, length, [&](const Offset low, const Offset high) {
        const Ordinal first = columns[low], second = columns[high];
        if (first > second) {
          columns[low] = second;
          columns[high] = first;
        }
      });
      forLanes(member, length, [&](const Ordinal k) { entries(begin + k) = columns[k]; });
      return;
    }
    forLanes(member, length, [&](const Ordinal k) {
      const Ordinal own = columns[k];
      Ordinal rank = 0;
      for (Ordinal m = 0; m < length; ++m)
        rank += columns[m] < own ? 1 : 0;
      entries(begin + rank) = own;
    });
  }
};

/// The set of a row in global memory, a team a row. Counts rows, or writes them in ascending order:
/// the lanes share the words of the bitmap in contiguous parts.
template <class Device, class Collector, bool Fill>
struct CollectInBitmap {
  using Policy = Kokkos::TeamPolicy<typename Device::execution_space>;
  static constexpr bool concurrent = compat::IsGpu<typename Device::execution_space>::value;
  using Set = BitmapColumnSet<concurrent>;
  Collector collector;
  Kokkos::View<const Ordinal*, Device> rows;
  Kokkos::View<Offset*, Device> row_map;
  Kokkos::View<Ordinal*, Device> entries;
  Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, Device> bits; ///< of a team
  Kokkos::View<Ordinal**, Kokkos::LayoutRight, Device> lists;      ///< and its length, at the end
  int lanes;

  KOKKOS_FUNCTION void operator()(const typename Policy::member_type& member) const {
    const TeamLanes<typename Policy::member_type> group{member, lanes};
    const int team = member.league_rank();
    const Offset words = bits.extent(1);
    const Offset part = (words + lanes - 1) / lanes;
    Ordinal* const list_length = &lists(team, lists.extent(1) - 1);
    const Set set{&bits(team, 0), &lists(team, 0), list_length};
    Ordinal* const counts =
        static_cast<Ordinal*>(member.team_scratch(0).get_shmem((lanes + 1) * sizeof(Ordinal)));
    for (Offset index = team; index < Offset(rows.extent(0)); index += member.league_size()) {
      const Ordinal row = rows(index);
      group.forEach(1, [&](int) { *list_length = 0; });
      group.join();
      collector.collect(group, row, set);
      const Ordinal least = collector.above(row);
      // The columns above `least`, and nothing, of word w.
      const auto kept = [&](const Offset w) {
        const Offset below = Offset(least) + 1 - 32 * w; // bits of the word to be dropped
        const std::uint32_t word = set.bits[w];
        return below <= 0 ? word : below >= 32 ? 0 : word >> below << below;
      };
      group.forEach(lanes, [&](const int lane) {
        Ordinal count = 0;
        for (Offset w = lane * part; w < words && w < (lane + 1) * part; ++w)
          for (std::uint32_t rest = kept(w); rest != 0; rest &= rest - 1)
            ++count;
        counts[lane] = count;
      });
      group.join();
      group.forEach(lanes, [&](const int lane) {
        Offset at = 0;
        for (int before = 0; before < lane; ++before)
          at += counts[before];
        if constexpr (Fill)
          at += row_map(row);
        else if (lane == lanes - 1)
          row_map(row) = at + counts[lane];
        for (Offset w = lane * part; w < words && w < (lane + 1) * part; ++w) {
          if constexpr (Fill) {
            const std::uint32_t word = kept(w);
            for (int b = 0; b < 32 && word >> b != 0; ++b)
              if (word >> b & 1)
                entries(at++) = static_cast<Ordinal>(32 * w + b);
          }
          set.bits[w] = 0;
        }
      });
      group.join();
    }
  }
};

/// 1 for a row whose count is -1, so far.
template <class Device>
struct IsNotCounted {
  Kokkos::View<const Offset*, Device> counts;

  KOKKOS_FUNCTION Offset operator()(Offset row) const { return counts(row) < 0 ? 1 : 0; }
};

/// Collects the rows of a pattern in two passes, one that counts and one that fills. Rows of a few
/// sorted lists are merged. Others begin with a small table; those that do not fit go to larger
/// ones, and then to a bitmap, a whole team a row. Memory: the result; where not all rows are
/// merged two indices a row and, rarely, one more for those that a table did not take; and for the
/// bitmaps as many teams as 256 MiB hold.
template <class Device, class Collector>
class CollectByTeams {
public:
  CollectByTeams(const typename Device::execution_space& exec, const char* label, Ordinal num_rows,
                 Ordinal num_cols, const Collector& collector)
      : exec_(exec), label_(label), num_rows_(num_rows), num_cols_(num_cols), collector_(collector),
        row_map_(allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(num_rows) + 1)) {}

  /// The first table is made for the `columns` that a row is given in the mean, equal ones counted
  /// as often as they come; a wrong number costs time only. Waits.
  Graph<Device> run(double columns) {
    constexpr bool merged = IsMergeable<Collector>::value;
    if constexpr (merged)
      merge<false>({});
    if (!merged || largestSize(exec_, num_rows_, IsNotCounted<Device>{row_map_}, 1) > 0)
      countInSets(columns, merged);
    const Offset total = countsToOffsets(exec_, row_map_);
    const auto entries = allocate<Ordinal, Device>(exec_, "Ainvil::entries", total);
    if constexpr (merged)
      merge<true>(entries);
    for (const SizeClass& rows : classes_)
      runTables<true>(rows, entries);
    if (huge_.extent(0) > 0)
      runBitmaps<true>(entries);
    compat::fence(exec_, label_);
    return {num_rows_, num_cols_, row_map_, entries};
  }

private:
  using Exec = typename Device::execution_space;
  using Rows = Kokkos::View<const Ordinal*, Device>;
  using Entries = Kokkos::View<Ordinal*, Device>;
  using Policy = Kokkos::TeamPolicy<Exec>;
  static constexpr bool concurrent = compat::IsGpu<Exec>::value;

  struct SizeClass {
    Ordinal slots; ///< of the table
    Ordinal count; ///< rows that come to it
    Rows rows;     ///< all if empty
  };

  template <bool Fill>
  void merge(const Entries& entries) {
    using Lists = decltype(collector_.lists);
    Kokkos::parallel_for(label_, Range<Exec>(exec_, 0, num_rows_),
                         MergeRow<Device, Lists, Fill>{collector_.lists, row_map_, entries});
  }

  void countInSets(double columns, bool some_are_counted) {
    // Estimates: the largest table is 16 KiB, half of the scratch memory that is preferred for a
    // team; the first one fits most rows of the mean number of columns; a row pays for four times
    // its own.
    constexpr Ordinal least_slots = 64, most_first_slots = 512, most_slots = 4096, growth = 4;
    const auto [slots_of, room] =
        allocateTogether<Ordinal, Device>(exec_, "Ainvil::slots", num_rows_, num_rows_);
    slots_of_ = slots_of;
    room_ = room;
    Ordinal slots = least_slots;
    while (slots < most_first_slots && slots < columns)
      slots *= 2;
    SizeClass rows{slots, num_rows_, {}};
    if (some_are_counted)
      takeNotCounted(rows);
    for (; rows.count > 0 && rows.slots <= most_slots; rows.slots *= growth) {
      runTables<false>(rows, {});
      classes_.push_back(rows);
      takeNotCounted(rows);
    }
    if (rows.count > 0) {
      huge_ = rows.rows;
      allocateBitmaps();
      runBitmaps<false>({});
    }
  }

  /// Becomes those of its rows that are not counted yet.
  void takeNotCounted(SizeClass& rows) {
    if (rows.count > Offset(room_.extent(0)) - taken_) {
      room_ = allocate<Ordinal, Device>(exec_, "Ainvil::rows", rows.count);
      taken_ = 0;
    }
    const Ordinal end =
        selectSizes(exec_, num_rows_, IsNotCounted<Device>{row_map_}, 0, 1, taken_, room_);
    rows.rows = Kokkos::subview(room_, std::make_pair(taken_, end));
    rows.count = end - taken_;
    taken_ = end;
  }

  template <bool Fill>
  void runTables(const SizeClass& rows, const Entries& entries) const {
    constexpr double slots_of_lane = 8; // an estimate: clearing and reading them takes 8 steps
    const RowTeams shape = RowTeams::forWork<Exec>(rows.slots / slots_of_lane);
    const CollectInTable<Device, Collector, Fill> body{collector_, rows.rows,  row_map_,   entries,
                                                       slots_of_,  rows.slots, shape.lanes};
    forEachRow(exec_, label_, rows.count, shape, body,
               TableColumnSet<concurrent>::bytes(rows.slots));
  }

  void allocateBitmaps() {
    const Offset words = BitmapColumnSet<concurrent>::words(num_cols_);
    const Offset bytes = words * 4 + (Offset(num_cols_) + 1) * Offset(sizeof(Ordinal));
    // 256 MiB in all, an estimate; 1024 teams of 256 lanes are what an H200 runs at a time.
    constexpr Offset most_bytes = Offset(1) << 28;
    constexpr Offset most_teams = 1024;
    const Offset teams =
        std::max<Offset>(1, std::min({Offset(huge_.extent(0)), most_teams, most_bytes / bytes}));
    bits_ = allocateView<decltype(bits_)>(exec_, "Ainvil::bits", teams, words);
    Kokkos::deep_copy(exec_, bits_, 0u);
    lists_ = allocateView<decltype(lists_)>(exec_, "Ainvil::lists", teams, size_t(num_cols_) + 1);
  }

  template <bool Fill>
  void runBitmaps(const Entries& entries) const {
    constexpr int lanes_of_team = 256;
    const int vector = RowTeams::forWork<Exec>(lanes_of_team).lanes;
    const int threads = concurrent ? lanes_of_team / vector : 1;
    const int lanes = vector * threads;
    Policy policy(exec_, static_cast<int>(bits_.extent(0)), threads, vector);
    policy.set_scratch_size(0, Kokkos::PerTeam((lanes + 1) * sizeof(Ordinal)));
    Kokkos::parallel_for(label_, policy,
                         CollectInBitmap<Device, Collector, Fill>{collector_, huge_, row_map_,
                                                                  entries, bits_, lists_, lanes});
  }

  Exec exec_;
  const char* label_;
  Ordinal num_rows_, num_cols_;
  Collector collector_;
  Kokkos::View<Offset*, Device> row_map_; ///< counts of rows, -1 for none so far; then offsets
  Entries slots_of_;  ///< slots of the table that row i fits into, 0 if it fits into none
  Entries room_;      ///< the rows that fit into tables, one behind the other
  Ordinal taken_ = 0; ///< elements of room_ in use
  std::vector<SizeClass> classes_;
  Rows huge_; ///< rows beyond all tables
  Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, Device> bits_;
  Kokkos::View<Ordinal**, Kokkos::LayoutRight, Device> lists_;
};

} // namespace detail
} // namespace ainvil
