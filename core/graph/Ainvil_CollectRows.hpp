// SPDX-License-Identifier: BSD-3-Clause
#pragma once
/// \file
/// New patterns whose rows are collected one by one, each from lists of columns in any order.

#include "Ainvil_BsrMatrix.hpp"
#include "backend/Ainvil_SizeClasses.hpp"
#include "graph/Ainvil_ColumnSets.hpp"
#include "graph/Ainvil_RowSearch.hpp"
#include "graph/Ainvil_SortRows.hpp"

#include <atomic>

namespace ainvil {
namespace detail {

// A collector says what a row is made of. It is copied to the device and has
//   template <class Group, class Set>
//   void collect(const Group& group, Ordinal row, Set& set) const;
// which inserts columns into an empty set, shared by the lanes of the group and joined at the end,
// and may stop early once set.full(); and
//   Ordinal above(Ordinal row) const;
// the columns that the row receives are those of the set above it, -1 for all.

/// On a host: by one pass. Threads take chunks of rows, so that long ones are levelled out, and
/// keep them where they are until the offsets are known. Memory: twice the result for a moment, and
/// for every thread an eighth of a byte a column, and an index for each that is remembered.
template <class Device, class Collector>
Graph<Device> collectOnHost(const typename Device::execution_space& exec, const char* label,
                            Ordinal num_rows, Ordinal num_cols, const Collector& collector) {
  using Exec = typename Device::execution_space;
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(num_rows) + 1);
  const int threads = std::max(1, exec.concurrency());
  const Ordinal chunk = std::max(1, std::min(256, num_rows / (8 * threads)));
  const Ordinal num_chunks = (num_rows + chunk - 1) / chunk;
  return reportingOutOfMemory(label, [&] {
    std::vector<std::vector<Ordinal>> found(num_chunks);
    std::vector<std::unique_ptr<HostColumnSet>> sets;
    for (Ordinal s = 0; s < std::min<Ordinal>(threads, num_chunks); ++s)
      sets.push_back(std::make_unique<HostColumnSet>(num_cols));
    // Each set works through chunks until none is left.
    std::atomic<Ordinal> next_chunk(0);
    std::atomic<bool> out_of_memory(false); // no exception may leave a parallel region
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, sets.size()), [&](const int s) {
      try {
        HostColumnSet& set = *sets[s];
        for (Ordinal c = next_chunk++; c < num_chunks; c = next_chunk++) {
          const Ordinal end = std::min<Offset>(num_rows, Offset(c + 1) * chunk);
          for (Ordinal row = c * chunk; row < end; ++row) {
            const std::size_t before = found[c].size();
            collector.collect(OneLane(), row, set);
            set.takeAbove(collector.above(row), found[c]);
            row_map(row) = static_cast<Offset>(found[c].size() - before);
          }
        }
      } catch (const std::bad_alloc&) {
        out_of_memory = true;
      }
    });
    compat::fence(exec, label);
    if (out_of_memory)
      throw std::bad_alloc();
    const Offset total = countsToOffsets(exec, row_map);
    const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", total);
    Kokkos::parallel_for(label, Kokkos::RangePolicy<Exec>(exec, 0, num_chunks), [&](const int c) {
      std::copy(found[c].begin(), found[c].end(), entries.data() + row_map(Offset(c) * chunk));
      std::vector<Ordinal>().swap(found[c]);
    });
    compat::fence(exec, label);
    return Graph<Device>(num_rows, num_cols, row_map, entries);
  });
}

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

template <class Device>
struct DoesNotFit {
  Kokkos::View<const Offset*, Device> counts;

  KOKKOS_FUNCTION Offset operator()(Offset row) const { return counts(row) < 0 ? 1 : 0; }
};
/// By teams: two passes, one that counts and one that fills. Rows begin with a small table, of a
/// size after the \p columns that collectors insert into a row in the mean, equal ones counted as
/// often as they come; those that do not fit go to larger ones, and then to a bitmap in memory, a
/// whole team a row. Memory: the result, and for the bitmaps as many teams as 256 MiB hold. Waits.
template <class Device, class Collector>
Graph<Device> collectByTeams(const typename Device::execution_space& exec, const char* label,
                             Ordinal num_rows, Ordinal num_cols, const Collector& collector,
                             double columns) {
  using Exec = typename Device::execution_space;
  using Bitmap = CollectInBitmap<Device, Collector, false>;
  using Policy = typename Bitmap::Policy;
  constexpr bool concurrent = Bitmap::concurrent;
  const auto row_map = allocate<Offset, Device>(exec, "Ainvil::row_map", size_t(num_rows) + 1);
  const auto slots_of = allocateZeros<Ordinal, Device>(exec, "Ainvil::slots", num_rows);

  struct SizeClass {
    Ordinal slots;                             ///< of the table
    Ordinal count;                             ///< rows that come to it
    Kokkos::View<const Ordinal*, Device> rows; ///< all if empty
  };
  const auto inTables = [&](auto fill, const SizeClass& rows,
                            const Kokkos::View<Ordinal*, Device>& entries) {
    using Table = CollectInTable<Device, Collector, decltype(fill)::value>;
    constexpr double slots_of_lane = 8;
    const RowTeams shape = RowTeams::forWork<Exec>(rows.slots / slots_of_lane);
    const Table body{collector, rows.rows, row_map, entries, slots_of, rows.slots, shape.lanes};
    forEachRow(exec, label, rows.count, shape, body, TableColumnSet<concurrent>::bytes(rows.slots));
  };
  const auto rest = allocate<Ordinal, Device>(exec, "Ainvil::rows", num_rows);
  const auto rowsLeft = [&] {
    const Ordinal left = selectSizes(exec, num_rows, DoesNotFit<Device>{row_map}, 0, 1, 0, rest);
    const auto rows = allocate<Ordinal, Device>(exec, "Ainvil::rows", left);
    Kokkos::deep_copy(exec, rows, ainvil::firstOf(rest, left));
    return Kokkos::View<const Ordinal*, Device>(rows);
  };

  constexpr int lanes_of_team = 256;
  const int vector = RowTeams::forWork<Exec>(lanes_of_team).lanes;
  const int threads = concurrent ? lanes_of_team / vector : 1;
  const int lanes = vector * threads;
  Kokkos::View<const Ordinal*, Device> huge; // rows beyond all tables
  Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, Device> bits;
  Kokkos::View<Ordinal**, Kokkos::LayoutRight, Device> lists;
  const auto inBitmaps = [&](auto fill, const Kokkos::View<Ordinal*, Device>& entries) {
    using Body = CollectInBitmap<Device, Collector, decltype(fill)::value>;
    Policy policy(exec, static_cast<int>(bits.extent(0)), threads, vector);
    policy.set_scratch_size(0, Kokkos::PerTeam((lanes + 1) * sizeof(Ordinal)));
    Kokkos::parallel_for(label, policy,
                         Body{collector, huge, row_map, entries, bits, lists, lanes});
  };

  const std::false_type counting;
  const std::true_type filling;
  constexpr Ordinal least_slots = 64, most_first_slots = 512, most_slots = 4096, growth = 4;
  Ordinal slots = least_slots;
  while (slots < most_first_slots && slots < columns)
    slots *= 2;
  std::vector<SizeClass> classes;
  for (SizeClass next{slots, num_rows, {}}; next.count > 0 && next.slots <= most_slots;
       next.slots *= growth) {
    inTables(counting, next, {});
    classes.push_back(next);
    huge = next.rows = rowsLeft();
    next.count = static_cast<Ordinal>(huge.extent(0));
  }
  if (huge.extent(0) > 0) {
    const Offset words = BitmapColumnSet<concurrent>::words(num_cols);
    const Offset bytes = words * 4 + (Offset(num_cols) + 1) * Offset(sizeof(Ordinal));
    constexpr Offset most_bytes = Offset(1) << 28;
    constexpr Offset most_teams = 1024;
    const Offset teams =
        std::max<Offset>(1, std::min({Offset(huge.extent(0)), most_teams, most_bytes / bytes}));
    bits = allocateView<decltype(bits)>(exec, "Ainvil::bits", teams, words);
    Kokkos::deep_copy(exec, bits, 0u);
    lists = allocateView<decltype(lists)>(exec, "Ainvil::lists", teams, size_t(num_cols) + 1);
    inBitmaps(counting, {});
  }
  const Offset total = countsToOffsets(exec, row_map);
  const auto entries = allocate<Ordinal, Device>(exec, "Ainvil::entries", total);
  for (const SizeClass& rows : classes)
    inTables(filling, rows, entries);
  if (huge.extent(0) > 0)
    inBitmaps(filling, entries);
  compat::fence(exec, label);
  return {num_rows, num_cols, row_map, entries};
}

/// The graph whose rows a collector collects, sorted; `columns` as in collectByTeams(). Waits.
template <class Device, class Collector>
Graph<Device> collectRows(const typename Device::execution_space& exec, const char* label,
                          Ordinal num_rows, Ordinal num_cols, const Collector& collector,
                          [[maybe_unused]] double columns) {
  if constexpr (compat::IsGpu<typename Device::execution_space>::value)
    return collectByTeams<Device>(exec, label, num_rows, num_cols, collector, columns);
  else
    return collectOnHost<Device>(exec, label, num_rows, num_cols, collector);
}

/// Collects unions of lists. `Lists` has count(row), how many there are; length(row, k) of list k;
/// and element(row, k, m), in any order.
template <class Lists>
struct UnionOfLists {
  Lists lists;

  KOKKOS_FUNCTION Ordinal above(Ordinal) const { return -1; }
  template <class Group, class Set>
  KOKKOS_FUNCTION void collect(const Group& group, Ordinal row, Set& set) const {
    visitLists(
        group, lists.count(row), [&](const Ordinal k) { return lists.length(row, k); },
        [&](const Ordinal k, const Ordinal m) { set.insert(lists.element(row, k, m)); });
  }
};

/// The graph whose row i is the union of lists k < lists.count(i) of row i, which have `columns`
/// elements in the mean of all rows; a wrong number costs time only. Cost: an insertion an element
/// of the lists, two on GPUs. Waits.
template <class Device, class Lists>
Graph<Device> unionGraph(const typename Device::execution_space& exec, const char* label,
                         Ordinal num_rows, Ordinal num_cols, const Lists& lists, double columns) {
  return collectRows<Device>(exec, label, num_rows, num_cols, UnionOfLists<Lists>{lists}, columns);
}

} // namespace detail
} // namespace ainvil
